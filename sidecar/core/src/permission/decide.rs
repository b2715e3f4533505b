//! The decision. It must stay one pure function whose order is the list above it.

use toolgate_protocol::notices::Mode;

use super::line_rules::{covers, met};
use super::names::host;
use super::programs::Use;
use super::proof::{touches_protected, Need, Proof, Touch};
use super::protected::{critical, indirect};
use super::question::{Decision, HookOpinion, Question, Verdict};
use super::reach::LineView;
use super::rule::{List, Rule, EDITORS};
use super::rule_set::RuleSet;
use super::shell_line::Part;
use super::suggest;
use crate::shown::shown;

/// Decides about a call (spec: permissions.md 1.2).
///
/// 1. The input is valid, and `denied` was asked before: that is the caller's part.
/// 2. A hook's deny ends it.
/// 3. **Deny** rules of any source: one match denies, in every mode. Mode `plan` denies edits:
///    here and not at 6, so that no ask rule softens it (law 7).
/// 4. **Ask** rules, a hook's ask, and what could meet an ask or deny rule unseen: asks.
/// 5. The floor, which no allow lifts: protected writes, critical removals.
/// 6. Modes `plan` and `bypassPermissions`.
/// 7. A hook's allow, or **allow** rules that cover every part of the call.
/// 8. Built-in: reads inside the working directories; in `acceptEdits` also edits there.
/// 9. Otherwise it asks.
///
/// In mode `dontAsk` every question of this list is a denial.
pub fn decide(question: &Question<'_>, rules: &RuleSet) -> Decision {
    let case = Case::of(question, rules);
    let mut decision = case.decide();
    if decision.verdict != Verdict::Ask {
        return decision;
    }
    if question.mode == Mode::DontAsk {
        decision.verdict = Verdict::Deny;
        decision.text = format!("{} Nothing is asked in this mode.", decision.text);
        return decision;
    }
    let wanted = case.suggestions();
    let mut wider = rules.clone();
    let added = wanted
        .iter()
        .all(|rule| wider.add(rule, true, "suggestion").is_ok());
    // A rule is offered only if it answers the question for good.
    if added && !wanted.is_empty() {
        let then = Case::of(question, &wider).decide();
        if then.verdict == Verdict::Allow {
            decision.suggestions = wanted;
        }
    }
    decision
}

/// The denial of a call by deny rules alone (gate 2); none where they are silent.
pub fn denied(question: &Question<'_>, rules: &RuleSet) -> Option<Decision> {
    Case::of(question, rules).by_rules(List::Deny)
}

/// A call together with what was read out of it.
struct Case<'a> {
    proof: Proof<'a>,
    view: Option<LineView>,
}

impl<'a> Case<'a> {
    fn of(question: &'a Question<'a>, rules: &'a RuleSet) -> Self {
        Self {
            proof: Proof::of(question, rules),
            view: question
                .command
                .map(|command| LineView::of(command, question.fold_case)),
        }
    }

    fn decide(&self) -> Decision {
        let hook = self.proof.question.hook;
        if hook == Some(HookOpinion::Deny) {
            return built_in(Verdict::Deny, "A hook denies it.");
        }
        self.by_rules(List::Deny)
            .or_else(|| self.planned())
            .or_else(|| self.asked())
            .or_else(|| self.floor())
            .or_else(|| self.by_mode())
            .or_else(|| match hook {
                Some(HookOpinion::Allow) => Some(built_in(Verdict::Allow, "A hook allows it.")),
                Some(HookOpinion::Ask | HookOpinion::Deny) | None => None,
            })
            .or_else(|| self.allowed())
            .unwrap_or_else(|| built_in(Verdict::Ask, &self.why_asked()))
    }

    /// Steps 3 and 4: the ask or deny rule that the call meets.
    fn by_rules(&self, list: List) -> Option<Decision> {
        let Proof {
            question,
            rules,
            ground,
        } = &self.proof;
        let named = rules.list(list).iter().find(|rule| {
            rule.covers_all(question.tool) || rule.covers_input(question.tool, question.input)
        });
        let command = || met(rules.list(list), self.view.as_ref()?);
        let path = || {
            let mut touches = self.touches().into_iter();
            touches.find_map(|touch| {
                let closes = |path: &str| rules.closes(list, path, touch.change, ground);
                let found = touch.paths().find_map(closes);
                found
            })
        };
        let rule = named.or_else(command).or_else(path)?;
        let verdict = match list {
            List::Deny => Verdict::Deny,
            List::Ask => Verdict::Ask,
            List::Allow => Verdict::Allow,
        };
        Some(by_rule(verdict, rule, list))
    }

    /// All paths that the call names: those of its input, and those of its command line.
    fn touches(&self) -> Vec<Touch<'a>> {
        let reaches = self.view.iter().flat_map(|view| &view.reaches);
        let mut touches = self.proof.answered();
        touches.extend(reaches.flat_map(|reach| self.proof.touches(reach)));
        touches
    }

    /// Step 3, the mode's part.
    fn planned(&self) -> Option<Decision> {
        let question = self.proof.question;
        let changes = || self.proof.answered().iter().any(|touch| touch.change);
        let edits = EDITORS.contains(&question.tool) || (self.view.is_none() && changes());
        (question.mode == Mode::Plan && edits)
            .then(|| built_in(Verdict::Deny, "Nothing is changed in plan mode."))
    }

    /// Step 4.
    fn asked(&self) -> Option<Decision> {
        let Proof {
            question, rules, ..
        } = &self.proof;
        if let Some((text, source)) = rules.broken(question.tool) {
            return Some(Decision {
                rule: Some(text.to_owned()),
                source: Some(source.to_owned()),
                ..built_in(
                    Verdict::Ask,
                    "A rule about this tool cannot be read and needs repair.",
                )
            });
        }
        if let Some(decision) = self.by_rules(List::Ask) {
            return Some(decision);
        }
        if question.hook == Some(HookOpinion::Ask) {
            return Some(built_in(Verdict::Ask, "A hook wants it asked."));
        }
        let view = self.view.as_ref()?;
        if view.unseen && rules.closes_commands() {
            let why = "It could run a command that a rule denies or asks about.";
            return Some(built_in(Verdict::Ask, why));
        }
        if view.unnamed && rules.closes_paths() {
            let why = "It could touch a file that a rule denies or asks about.";
            return Some(built_in(Verdict::Ask, why));
        }
        None
    }

    /// Step 5.
    fn floor(&self) -> Option<Decision> {
        let Proof {
            question, rules, ..
        } = &self.proof;
        let ask = |why: &str| Some(built_in(Verdict::Ask, why));
        if self.removes_critical() {
            return ask("It could remove a directory that too much depends on.");
        }
        let touches = self.touches();
        let bypass = question.mode == Mode::BypassPermissions;
        let unclear_url = question.tool == "WebFetch"
            && question
                .input
                .get("url")
                .and_then(|url| url.as_str())
                .and_then(host)
                .is_none();
        if unclear_url && (!bypass || rules.closes_hosts()) {
            return ask("Where the address leads cannot be told for certain.");
        }
        if touches.iter().any(|touch| touch.paths().any(indirect))
            && (!bypass || rules.closes_paths())
        {
            return ask("The path is another name of a process's own files.");
        }
        if bypass {
            return None;
        }
        if touches_protected(&touches) {
            return ask("It writes what an editor, a shell or a tool obeys.");
        }
        let shared =
            |touch: &Touch<'_>| touch.change && touch.answer.is_some_and(|answer| answer.links > 1);
        if touches.iter().any(shared) {
            return ask("The file has another name, which would change with it.");
        }
        let failed = touches
            .iter()
            .any(|touch| touch.answer.is_some_and(|a| a.error.is_some()));
        failed.then(|| built_in(Verdict::Ask, "A path could not be looked at."))
    }

    fn removes_critical(&self) -> bool {
        let question = self.proof.question;
        let Some(view) = &self.view else {
            return false;
        };
        let is_critical =
            |path: &str, glob| critical(path, glob, question.home, question.roots, question.cwd);
        view.blind_removal
            || view
                .reaches
                .iter()
                .filter(|reach| reach.used == Use::Remove)
                .any(|reach| {
                    let touches = self.proof.touches(reach);
                    // What a link leads to is not removed with it, but `link/` may be.
                    touches
                        .iter()
                        .any(|touch| touch.paths().any(|path| is_critical(path, reach.glob)))
                })
    }

    /// Step 6.
    fn by_mode(&self) -> Option<Decision> {
        let question = self.proof.question;
        match question.mode {
            Mode::Default | Mode::AcceptEdits | Mode::DontAsk => None,
            Mode::BypassPermissions => Some(built_in(Verdict::Allow, "The mode asks nothing.")),
            Mode::Plan => {
                if let Some(decision) = self.proven() {
                    return Some(decision);
                }
                // What reads elsewhere is still a question of rules.
                if question.effects.read_only && self.view.is_none() {
                    return None;
                }
                Some(built_in(
                    Verdict::Ask,
                    "It is not known to change nothing, in plan mode.",
                ))
            }
        }
    }

    /// Steps 7 and 8.
    fn allowed(&self) -> Option<Decision> {
        let Proof {
            question,
            rules,
            ground,
        } = &self.proof;
        if self.view.is_some() {
            return self.parts_allowed();
        }
        let allow = rules.list(List::Allow);
        let named = allow.iter().find(|rule| {
            rule.covers_all(question.tool) || rule.covers_input(question.tool, question.input)
        });
        if let Some(rule) = named {
            return Some(by_rule(Verdict::Allow, rule, List::Allow));
        }
        if let Some(decision) = self.proven() {
            return Some(decision);
        }
        let by_path =
            EDITORS.contains(&question.tool) || super::rule::READERS.contains(&question.tool);
        let touches = self.proof.answered();
        if !by_path || touches.is_empty() || !touches.iter().all(|touch| self.proof.opened(touch)) {
            return None;
        }
        let first = touches.first()?;
        let rule = rules.opens(&first.lexical, first.change, ground)?;
        Some(by_rule(Verdict::Allow, rule, List::Allow))
    }

    /// Step 8, without any rule.
    fn proven(&self) -> Option<Decision> {
        if let Some(view) = &self.view {
            let parts = view.parts.as_ref().ok()?;
            let needs = self.proof.needs(parts);
            let proven = !needs.is_empty() && needs.iter().all(|(_, need)| *need == Need::Nothing);
            return proven.then(|| built_in(Verdict::Allow, INSIDE));
        }
        if self.proof.session_only() {
            let why = "It changes nothing outside this session.";
            return Some(built_in(Verdict::Allow, why));
        }
        let edits = self.proof.question.mode == Mode::AcceptEdits && self.proof.edits_inside();
        (edits || self.proof.reads_inside()).then(|| built_in(Verdict::Allow, INSIDE))
    }

    /// Every part is covered by a rule or proven harmless.
    fn parts_allowed(&self) -> Option<Decision> {
        let parts = self.view.as_ref()?.parts.as_ref().ok()?;
        let mut used = None;
        if parts.is_empty() {
            return None;
        }
        for (part, need) in self.proof.needs(parts) {
            match need {
                Need::Nothing => {}
                Need::Redirect => return None,
                Need::Rule => used = Some(self.rule_for(part, parts)?),
            }
        }
        match used {
            Some(rule) => Some(by_rule(Verdict::Allow, rule, List::Allow)),
            None => Some(built_in(Verdict::Allow, INSIDE)),
        }
    }

    fn rule_for(&self, part: &Part, parts: &[Part]) -> Option<&'a Rule> {
        let moves = |part: &Part| {
            let mut words = part.words.iter();
            words.any(|word| matches!(word.text.as_str(), "cd" | "pushd" | "popd"))
        };
        let moved = parts.iter().any(moves);
        let allow = self.proof.rules.list(List::Allow);
        covers(allow, self.proof.question.tool, part, moved)
    }

    /// The parts that neither a rule nor a proof lets through.
    fn open_parts(&self) -> Vec<(&Part, Need)> {
        let Some(Ok(parts)) = self.view.as_ref().map(|view| view.parts.as_ref()) else {
            return Vec::new();
        };
        let mut open = self.proof.needs(parts);
        open.retain(|(part, need)| match need {
            Need::Nothing => false,
            Need::Redirect => true,
            Need::Rule => self.rule_for(part, parts).is_none(),
        });
        open
    }

    fn why_asked(&self) -> String {
        match self.view.as_ref().map(|view| &view.parts) {
            Some(Err(why)) => format!("The command is not understood: it {why}."),
            Some(Ok(_)) => match self.open_parts().first() {
                Some((_, Need::Redirect)) => "No rule covers the file it redirects to.".to_owned(),
                Some((part, _)) => {
                    let text = super::looks_through::joined(&part.words);
                    format!("No rule covers `{}`.", shown(&text))
                }
                None => "It runs nothing.".to_owned(),
            },
            None => "No rule covers it.".to_owned(),
        }
    }

    fn suggestions(&self) -> Vec<String> {
        if self.view.is_none() {
            return suggest::for_tool(self.proof.question);
        }
        let open = self.open_parts();
        if open.iter().any(|(_, need)| *need == Need::Redirect) {
            return Vec::new();
        }
        let parts: Vec<&Part> = open.iter().map(|(part, _)| *part).collect();
        suggest::for_parts(&parts)
    }
}

const INSIDE: &str = "It stays inside the working directories.";

fn built_in(verdict: Verdict, text: &str) -> Decision {
    Decision {
        verdict,
        text: text.to_owned(),
        rule: None,
        source: None,
        suggestions: Vec::new(),
    }
}

fn by_rule(verdict: Verdict, rule: &Rule, list: List) -> Decision {
    let source = shown(&rule.source);
    let text = format!(
        "The {} rule `{}` ({source}) decides.",
        list.name(),
        shown(&rule.text)
    );
    Decision {
        verdict,
        text,
        rule: Some(rule.text.clone()),
        source: Some(rule.source.clone()),
        suggestions: Vec::new(),
    }
}

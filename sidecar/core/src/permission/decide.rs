//! The decision (permissions.md 1.2). Precedence, the first that speaks decides:
//!
//! 1. the input is valid (the shape gate has seen to that)
//! 2. a hook's deny
//! 3. deny rules of any source, in every mode
//! 4. ask rules, or a hook's ask, in every mode (dontAsk: denies)
//! 5. the floor: protected places ask (bypassPermissions: allowed), catastrophes always ask
//! 6. mode plan: edits are denied, readers allowed, other commands ask; bypassPermissions: allow
//! 7. a hook's allow, or allow rules that cover every part
//! 8. readers inside the working directories; in acceptEdits edits there too
//! 9. ask (dontAsk: deny)

use serde_json::Value;
use toolgate_protocol::notices::Mode;

use super::command;
use super::protected::is_protected;
use super::rule::{names, wild, Rule, RuleSet, Spec};
use crate::definition::Effects;
use crate::place::{within, PathAnswer, Purpose};

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// The person is asked.
    Ask,
    /// It may not run.
    Deny,
}

/// A decision, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What was decided.
    pub verdict: Verdict,
    /// Why, for the person.
    pub text: String,
    /// The rule that decided, as written.
    pub rule: Option<String>,
    /// Where it stands.
    pub source: Option<String>,
    /// Rules that "for this session" and "always" would add; none: these are not offered.
    pub suggestions: Vec<String>,
}

/// What a hook said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookOpinion {
    /// Allow.
    Allow,
    /// Ask.
    Ask,
    /// Deny.
    Deny,
}

/// A call with all that is known of it.
pub struct Question<'a> {
    /// The tool's own name.
    pub tool: &'a str,
    /// The input, which fits the schema.
    pub input: &'a Value,
    /// What it would do.
    pub effects: &'a Effects,
    /// Its paths, links resolved.
    pub answers: &'a [PathAnswer],
    /// The command line that it runs.
    pub command: Option<&'a str>,
    /// Working directory.
    pub cwd: &'a str,
    /// Home directory.
    pub home: &'a str,
    /// Working directories of the workspace, canonical.
    pub roots: &'a [String],
    /// The mode.
    pub mode: Mode,
    /// What a hook said.
    pub hook: Option<HookOpinion>,
    /// True when the file system folds case.
    pub fold_case: bool,
}

/// Deny rules alone, on names and paths: gate 2, before any byte of a file is read.
pub fn denied(question: &Question<'_>, rules: &RuleSet) -> Option<Decision> {
    met(question, &rules.deny)
        .filter(|rule| !matches!(rule.spec, Spec::Broken))
        .map(|rule| by_rule(Verdict::Deny, "denied by a rule", rule))
}

/// Does a deny rule keep this path from the model? For tools that list and search.
pub fn keeps_back(rules: &RuleSet, path: &str, cwd: &str, home: &str) -> bool {
    let concerns = |rule: &&Rule| rule.tool == "Read" || names(&rule.tool, "Read");
    rules
        .deny
        .iter()
        .filter(concerns)
        .any(|rule| match &rule.spec {
            Spec::Path(pattern, false) => pattern.matches(path, cwd, home, false),
            Spec::Whole => true,
            Spec::Path(_, true) | Spec::Command(_) | Spec::Parameter(..) | Spec::Broken => false,
        })
}

/// Decides. Pure: the same question and rules give the same answer.
pub fn decide(question: &Question<'_>, rules: &RuleSet) -> Decision {
    let decision = consider(question, rules);
    match decision.verdict {
        // In dontAsk what would be asked is denied.
        Verdict::Ask if question.mode == Mode::DontAsk => Decision {
            verdict: Verdict::Deny,
            text: format!("{} (and the mode is dontAsk)", decision.text),
            suggestions: Vec::new(),
            ..decision
        },
        Verdict::Ask => {
            // What an ask rule or the floor asks about cannot be allowed for ever.
            let offered = decision.rule.is_none() && decision.source.as_deref() != Some("floor");
            let suggestions = if offered {
                suggest(question, rules)
            } else {
                Vec::new()
            };
            Decision {
                suggestions,
                ..decision
            }
        }
        Verdict::Allow | Verdict::Deny => decision,
    }
}

fn consider(question: &Question<'_>, rules: &RuleSet) -> Decision {
    if question.hook == Some(HookOpinion::Deny) {
        return plain(Verdict::Deny, "a hook denies it", "hook");
    }
    if let Some(rule) = met(question, &rules.deny) {
        // A deny rule that cannot be read asks: fail closed, and say so.
        return match rule.spec {
            Spec::Broken => by_rule(Verdict::Ask, "a deny rule cannot be read", rule),
            _ => by_rule(Verdict::Deny, "denied by a rule", rule),
        };
    }
    if let Some(rule) = met(question, &rules.ask) {
        return by_rule(Verdict::Ask, "a rule asks", rule);
    }
    if question.hook == Some(HookOpinion::Ask) {
        return plain(Verdict::Ask, "a hook asks", "hook");
    }
    if let Some(decision) = floor(question) {
        return decision;
    }
    match question.mode {
        Mode::BypassPermissions => {
            return plain(Verdict::Allow, "the mode is bypassPermissions", "mode")
        }
        Mode::Plan => return plan_mode(question),
        Mode::Default | Mode::AcceptEdits | Mode::DontAsk => {}
    }
    if question.hook == Some(HookOpinion::Allow) {
        return plain(Verdict::Allow, "a hook allows it", "hook");
    }
    match question.command {
        Some(line) => match command::allowed(line, rules, question) {
            Ok(Some(rule)) => by_rule(Verdict::Allow, "allowed by a rule", rule),
            Ok(None) => plain(Verdict::Allow, "it only reads", "built-in"),
            Err(why) => plain(Verdict::Ask, &why, "built-in"),
        },
        None => paths(question, rules),
    }
}

/// The first rule of an ask or deny list that meets the call.
fn met<'a>(question: &Question<'_>, rules: &'a [Rule]) -> Option<&'a Rule> {
    if let Some(line) = question.command {
        return command::met_by(line, rules, question);
    }
    rules.iter().find(|rule| match &rule.spec {
        Spec::Whole | Spec::Broken => {
            names(&rule.tool, question.tool) || covers_tool(&rule.tool, question.tool)
        }
        Spec::Parameter(name, value) => {
            names(&rule.tool, question.tool) && parameter(question.input, name, value)
        }
        Spec::Path(pattern, false) => {
            let hit = |answer: &PathAnswer| {
                let matches = |path: &str| {
                    pattern.matches(path, question.cwd, question.home, question.fold_case)
                };
                matches(&answer.lexical) || matches(answer.place.path())
            };
            // A Read deny also blocks edits and creation.
            let concerns = covers_tool(&rule.tool, question.tool)
                || (rule.tool == "Read" && covers_tool("Edit", question.tool));
            concerns
                && question
                    .answers
                    .iter()
                    .any(|a| hit(a) && !reopened(question, rules, rule, a))
        }
        Spec::Path(_, true) | Spec::Command(_) => false,
    })
}

fn reopened(question: &Question<'_>, rules: &[Rule], rule: &Rule, answer: &PathAnswer) -> bool {
    let later = rules
        .iter()
        .skip_while(|other| !std::ptr::eq(*other, rule))
        .skip(1);
    later
        .filter(|other| other.source == rule.source)
        .any(|other| match &other.spec {
            Spec::Path(pattern, true) => {
                let matches = |path: &str| {
                    pattern.matches(path, question.cwd, question.home, question.fold_case)
                };
                matches(&answer.lexical) && matches(answer.place.path())
            }
            _ => false,
        })
}

fn parameter(input: &Value, name: &str, pattern: &str) -> bool {
    match input.get(name) {
        Some(Value::String(text)) => wild(pattern, text),
        Some(value @ (Value::Bool(_) | Value::Number(_))) => wild(pattern, &value.to_string()),
        _ => false,
    }
}

/// `Edit` speaks of every editing tool, `Read` of every reading one.
fn covers_tool(rule_tool: &str, tool: &str) -> bool {
    match rule_tool {
        "Edit" => matches!(tool, "Edit" | "Write" | "MultiEdit" | "NotebookEdit"),
        "Read" => matches!(tool, "Read" | "Grep" | "Glob"),
        _ => false,
    }
}

fn floor(question: &Question<'_>) -> Option<Decision> {
    if let Some(line) = question.command {
        let (why, always) = command::floor(line, question)?;
        let lifted = question.mode == Mode::BypassPermissions && !always;
        return (!lifted).then(|| plain(Verdict::Ask, &why, "floor"));
    }
    if question.mode == Mode::BypassPermissions {
        return None;
    }
    let answer = question
        .answers
        .iter()
        .filter(|answer| answer.aim.purpose == Purpose::Write)
        .find(|a| is_protected(&a.lexical) || is_protected(a.place.path()))?;
    Some(plain(
        Verdict::Ask,
        &format!("{} is a protected place", answer.lexical),
        "floor",
    ))
}

fn plan_mode(question: &Question<'_>) -> Decision {
    if let Some(line) = question.command {
        let verdict = command::only_reads(line, question);
        return plain(verdict, "the mode is plan: only reading is free", "mode");
    }
    if question
        .answers
        .iter()
        .any(|answer| answer.aim.purpose == Purpose::Write)
    {
        return plain(Verdict::Deny, "the mode is plan: nothing is edited", "mode");
    }
    match question.effects.read_only && inside(question) {
        true => plain(Verdict::Allow, "it only reads", "mode"),
        false => plain(
            Verdict::Ask,
            "the mode is plan: only reading is free",
            "mode",
        ),
    }
}

/// Calls without a command line: allow rules, then what needs no rule.
fn paths(question: &Question<'_>, rules: &RuleSet) -> Decision {
    let writes = question
        .answers
        .iter()
        .any(|answer| answer.aim.purpose == Purpose::Write);
    let known = !question.tool.starts_with("mcp__");
    let allowed = rules.allow.iter().find(|rule| match &rule.spec {
        Spec::Whole => names(&rule.tool, question.tool) || covers_tool(&rule.tool, question.tool),
        Spec::Path(pattern, _) => {
            let matches =
                |path: &str| pattern.matches(path, question.cwd, question.home, question.fold_case);
            // An Edit allow also allows reading.
            let concerns = covers_tool(&rule.tool, question.tool)
                || (rule.tool == "Edit" && covers_tool("Read", question.tool));
            concerns
                && !question.answers.is_empty()
                && question
                    .answers
                    .iter()
                    .all(|a| matches(&a.lexical) && matches(a.place.path()))
        }
        Spec::Parameter(..) | Spec::Command(_) | Spec::Broken => false,
    });
    if let Some(rule) = allowed {
        return by_rule(Verdict::Allow, "allowed by a rule", rule);
    }
    if known && question.effects.read_only && !question.effects.open_world && inside(question) {
        return plain(
            Verdict::Allow,
            "it only reads, inside the working directories",
            "built-in",
        );
    }
    let state_only = known && question.answers.is_empty() && is_state_only(question.effects);
    if state_only {
        return plain(
            Verdict::Allow,
            "it changes nothing outside the session",
            "built-in",
        );
    }
    if writes && question.mode == Mode::AcceptEdits && inside(question) {
        return plain(Verdict::Allow, "the mode is acceptEdits", "mode");
    }
    let outside = question
        .answers
        .iter()
        .find(|answer| !is_inside(question, answer));
    let why = match outside {
        Some(answer) => format!("{} is outside the working directories", answer.lexical),
        None if writes => "an edit needs your approval".to_owned(),
        None => "no rule allows it".to_owned(),
    };
    plain(Verdict::Ask, &why, "built-in")
}

/// It writes parts of the session's state and nothing else.
fn is_state_only(effects: &Effects) -> bool {
    use crate::definition::{Access, Resource};
    match &effects.access {
        Access::Known { reads, writes } => {
            let state = |resource: &Resource| matches!(resource, Resource::State(_));
            !writes.is_empty() && reads.iter().all(state) && writes.iter().all(state)
        }
        Access::Unknown | Access::ReadsAll => false,
    }
}

fn inside(question: &Question<'_>) -> bool {
    question
        .answers
        .iter()
        .all(|answer| is_inside(question, answer))
}

fn is_inside(question: &Question<'_>, answer: &PathAnswer) -> bool {
    let within_roots = |path: &str| question.roots.iter().any(|root| within(path, root));
    within_roots(&answer.lexical) && within_roots(answer.place.path())
}

fn suggest(question: &Question<'_>, rules: &RuleSet) -> Vec<String> {
    if let Some(line) = question.command {
        return command::suggestions(line, rules, question);
    }
    let glob = |c: char| "*?[]{}!\\".contains(c);
    let clean = |path: &str| !path.chars().any(|c| glob(c) || c.is_control());
    let tool = if covers_tool("Edit", question.tool) {
        "Edit"
    } else {
        "Read"
    };
    match question.answers {
        [] if !question.tool.contains('*') => vec![question.tool.to_owned()],
        [answer] if clean(answer.place.path()) && clean(&answer.lexical) => {
            vec![format!("{tool}(/{})", answer.place.path())]
        }
        _ => Vec::new(),
    }
}

fn plain(verdict: Verdict, text: &str, source: &str) -> Decision {
    Decision {
        verdict,
        text: text.to_owned(),
        rule: None,
        source: Some(source.to_owned()),
        suggestions: Vec::new(),
    }
}

fn by_rule(verdict: Verdict, text: &str, rule: &Rule) -> Decision {
    Decision {
        verdict,
        text: format!("{text}: {} ({})", rule.text, rule.source),
        rule: Some(rule.text.clone()),
        source: Some(rule.source.clone()),
        suggestions: Vec::new(),
    }
}

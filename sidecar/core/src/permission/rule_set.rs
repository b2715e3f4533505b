//! The rules of all sources together.
//!
//! Order and specificity never matter, and nothing here may drop a rule that closes something: an
//! ask or deny rule that does not parse makes its tool ask until it is repaired.

use super::names::star_matches;
use super::paths::Ground;
use super::question::RuleList;
use super::rule::{List, Rule, Spec, EDITORS, READERS};

/// A rule that did not parse.
#[derive(Clone, Debug)]
struct BrokenRule {
    text: String,
    source: String,
    tool: Option<String>,
}

/// Allow, ask and deny rules of all sources, parsed.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    allow: Vec<Rule>,
    ask: Vec<Rule>,
    deny: Vec<Rule>,
    broken: Vec<BrokenRule>,
}

impl RuleSet {
    /// Parses the rules of all sources; the warnings are for the person.
    pub fn parse(lists: &[RuleList]) -> (Self, Vec<String>) {
        let mut set = Self::default();
        let mut warnings = Vec::new();
        for list in lists {
            let kinds = [
                (List::Deny, &list.deny),
                (List::Ask, &list.ask),
                (List::Allow, &list.allow),
            ];
            for (kind, texts) in kinds {
                for text in texts {
                    set.take(text, kind, list, &mut warnings);
                }
            }
            if !list.source.may_allow() && !list.allow.is_empty() {
                warnings.push(format!(
                    "{}: its allow rules count only once you trust the project",
                    list.name
                ));
            }
        }
        (set, warnings)
    }

    fn take(&mut self, text: &str, kind: List, list: &RuleList, warnings: &mut Vec<String>) {
        let text = text.trim();
        let mut warn = |why: &str| {
            warnings.push(format!(
                "{}: {} rule `{text}`: {why}",
                list.name,
                kind.name()
            ));
        };
        match Rule::parse(text, kind, &list.name, &list.root) {
            Ok(rule) => {
                if let Some(why) = rule.warning() {
                    warn(&why);
                }
                match kind {
                    List::Allow if list.source.may_allow() => self.allow.push(rule),
                    List::Allow => {}
                    List::Ask => self.ask.push(rule),
                    List::Deny => self.deny.push(rule),
                }
            }
            Err(broken) if kind == List::Allow => {
                warn(&format!("{}; it allows nothing", broken.why));
            }
            Err(broken) => {
                let calls = broken.tool.as_deref().unwrap_or("all tools");
                warn(&format!(
                    "{}; until it is repaired, calls of {calls} ask",
                    broken.why
                ));
                self.broken.push(BrokenRule {
                    text: text.to_owned(),
                    source: list.name.clone(),
                    tool: broken.tool,
                });
            }
        }
    }

    /// Adds one rule that allows or denies; used for the person's answers.
    pub fn add(&mut self, rule: &str, allow: bool, source: &str) -> Result<(), String> {
        let list = if allow { List::Allow } else { List::Deny };
        let parsed = Rule::parse(rule.trim(), list, source, "")
            .map_err(|broken| format!("`{rule}` is no rule: {}", broken.why))?;
        match list {
            List::Allow => self.allow.push(parsed),
            List::Ask | List::Deny => self.deny.push(parsed),
        }
        Ok(())
    }

    /// True when a deny rule covers every call of a tool, so that the model need not see it.
    pub fn removes(&self, tool: &str) -> bool {
        self.deny.iter().any(|rule| rule.covers_all(tool))
    }

    /// True when a deny rule closes a path to reading: a search leaves it out.
    ///
    /// `lexical` and `resolved` are the two spellings of the path; either one is enough.
    pub fn hides(
        &self,
        lexical: &str,
        resolved: &str,
        cwd: &str,
        home: &str,
        roots: &[String],
        fold: bool,
    ) -> bool {
        let ground = Ground {
            cwd,
            home,
            roots,
            fold,
        };
        self.closes(List::Deny, lexical, false, &ground).is_some()
            || self.closes(List::Deny, resolved, false, &ground).is_some()
    }

    pub(super) fn list(&self, list: List) -> &[Rule] {
        match list {
            List::Allow => &self.allow,
            List::Ask => &self.ask,
            List::Deny => &self.deny,
        }
    }

    /// The ask or deny rule that closes a path. `change`: the path is written or removed.
    ///
    /// A `!p` re-opens what an earlier rule of the same source and kind closed.
    pub(super) fn closes(
        &self,
        list: List,
        path: &str,
        change: bool,
        ground: &Ground<'_>,
    ) -> Option<&Rule> {
        let mut closed: Vec<&Rule> = Vec::new();
        for rule in self.list(list) {
            let (pattern, edit) = match &rule.spec {
                // A denial of reading also blocks changes.
                Spec::Read(pattern) => (pattern, false),
                Spec::Edit(pattern) if change => (pattern, true),
                Spec::Edit(_)
                | Spec::Bare
                | Spec::Command(_)
                | Spec::Host(_)
                | Spec::Name(_)
                | Spec::Never => continue,
            };
            if !pattern.matches(path, ground) {
                continue;
            }
            if pattern.negated {
                closed.retain(|other| {
                    let same = matches!(&other.spec, Spec::Edit(_)) == edit;
                    other.source != rule.source || !same
                });
            } else {
                closed.push(rule);
            }
        }
        closed.first().copied()
    }

    /// The allow rule that opens a path. An `Edit` rule also opens it to reading.
    pub(super) fn opens(&self, path: &str, change: bool, ground: &Ground<'_>) -> Option<&Rule> {
        self.allow.iter().find(|rule| match &rule.spec {
            Spec::Edit(pattern) => pattern.matches(path, ground),
            Spec::Read(pattern) => !change && pattern.matches(path, ground),
            Spec::Bare | Spec::Command(_) | Spec::Host(_) | Spec::Name(_) | Spec::Never => false,
        })
    }

    /// The rule, as written, and the source of a broken rule that makes this tool ask.
    pub(super) fn broken(&self, tool: &str) -> Option<(&str, &str)> {
        let concerns = |named: &Option<String>| match named.as_deref() {
            None => true,
            Some("Edit") => EDITORS.contains(&tool),
            Some("Read") => READERS.contains(&tool) || EDITORS.contains(&tool),
            Some(named) => star_matches(named, tool) || tool.starts_with(&format!("{named}__")),
        };
        let found = self.broken.iter().find(|rule| concerns(&rule.tool))?;
        Some((&found.text, &found.source))
    }

    /// True when an ask or deny rule speaks of paths.
    pub(super) fn closes_paths(&self) -> bool {
        let speaks = |rule: &Rule| matches!(&rule.spec, Spec::Read(_) | Spec::Edit(_));
        self.deny.iter().chain(&self.ask).any(speaks)
    }

    /// True when an ask or deny rule speaks of hosts.
    pub(super) fn closes_hosts(&self) -> bool {
        let speaks = |rule: &Rule| matches!(&rule.spec, Spec::Host(_));
        self.deny.iter().chain(&self.ask).any(speaks)
    }

    /// True when an ask or deny rule speaks of commands.
    pub(super) fn closes_commands(&self) -> bool {
        let speaks = |rule: &Rule| matches!(&rule.spec, Spec::Command(_));
        self.deny.iter().chain(&self.ask).any(speaks)
    }
}

//! The grammar of rules and the set of all of them (permissions.md 1.1).
//!
//! A rule that does not parse approves nothing in `allow`; in `ask` and `deny` its tool asks until
//! it is repaired. Allow rules of a project count only after trust.

use super::paths::PathPattern;

/// Where rules come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// The command line.
    Flag,
    /// The person's own file.
    User,
    /// A file of the workspace.
    Project {
        /// True once the person trusts it.
        trusted: bool,
    },
    /// The workspace's local file.
    Local {
        /// True once the person trusts it.
        trusted: bool,
    },
    /// Given for this session.
    Session,
    /// The editor's settings.
    Editor,
}

/// The rules of one source.
#[derive(Clone, Debug)]
pub struct RuleList {
    /// What kind of source.
    pub source: SourceKind,
    /// Its name, for the person: a file, or `flag`.
    pub name: String,
    /// The directory that `/path` is relative to.
    pub root: String,
    /// Rules that allow.
    pub allow: Vec<String>,
    /// Rules that ask.
    pub ask: Vec<String>,
    /// Rules that deny.
    pub deny: Vec<String>,
}

impl RuleList {
    /// No rules yet.
    pub fn new(source: SourceKind, name: String, root: String) -> Self {
        Self {
            source,
            name,
            root,
            allow: Vec::new(),
            ask: Vec::new(),
            deny: Vec::new(),
        }
    }
}

/// What a rule says of the calls of its tool.
#[derive(Clone, Debug)]
pub enum Spec {
    /// All of them.
    Whole,
    /// A command line, with stars.
    Command(String),
    /// A path pattern; true: it re-opens what an earlier rule of its source closed.
    Path(PathPattern, bool),
    /// A top-level input with this scalar value, with stars.
    Parameter(String, String),
    /// It could not be parsed: its tool asks.
    Broken,
}

/// One parsed rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// As written.
    pub text: String,
    /// The tool's name, perhaps with stars; empty for a broken rule that names none.
    pub tool: String,
    /// Which calls.
    pub spec: Spec,
    /// Its source's name.
    pub source: String,
}

/// All rules.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    /// Rules that allow.
    pub allow: Vec<Rule>,
    /// Rules that ask.
    pub ask: Vec<Rule>,
    /// Rules that deny.
    pub deny: Vec<Rule>,
}

/// Which list a rule stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// `allow`.
    Allow,
    /// `ask`.
    Ask,
    /// `deny`.
    Deny,
}

impl RuleSet {
    /// All rules of all sources, and what is wrong with any, one line each.
    pub fn parse(lists: &[RuleList]) -> (Self, Vec<String>) {
        let mut set = Self::default();
        let mut warnings = Vec::new();
        for source in lists {
            let trusted = !matches!(
                source.source,
                SourceKind::Project { trusted: false } | SourceKind::Local { trusted: false }
            );
            if !trusted && !source.allow.is_empty() {
                warnings.push(format!(
                    "{}: its allow rules count only after the workspace is trusted",
                    source.name
                ));
            }
            let allow = if trusted {
                source.allow.as_slice()
            } else {
                &[]
            };
            for (list, texts) in [
                (List::Allow, allow),
                (List::Ask, source.ask.as_slice()),
                (List::Deny, source.deny.as_slice()),
            ] {
                for text in texts {
                    if let Err(warning) = set.insert(text, list, &source.name, &source.root) {
                        warnings.push(format!("{}: {warning}", source.name));
                    }
                }
            }
        }
        (set, warnings)
    }

    /// Adds a rule that the person gave.
    pub fn add(&mut self, rule: &str, allow: bool, source: &str) -> Result<(), String> {
        let list = if allow { List::Allow } else { List::Deny };
        self.insert(rule, list, source, "/")
    }

    /// True when a bare rule denies the whole tool.
    pub fn removes(&self, tool: &str) -> bool {
        self.deny
            .iter()
            .any(|rule| matches!(rule.spec, Spec::Whole) && names(&rule.tool, tool))
    }

    fn insert(&mut self, text: &str, list: List, source: &str, root: &str) -> Result<(), String> {
        let parsed = parse(text, list, root);
        let rules = match list {
            List::Allow => &mut self.allow,
            List::Ask => &mut self.ask,
            List::Deny => &mut self.deny,
        };
        let rule = |tool: String, spec: Spec| Rule {
            text: text.to_owned(),
            tool,
            spec,
            source: source.to_owned(),
        };
        match parsed {
            Ok(Some((tool, spec))) => {
                rules.push(rule(tool, spec));
                Ok(())
            }
            Ok(None) => Err(format!(
                "the rule {text:?} is ignored: it can never count here"
            )),
            Err(error) if list == List::Allow => {
                Err(format!("the rule {text:?} approves nothing: {error}"))
            }
            Err(error) => {
                let tool = text.split('(').next().unwrap_or_default().trim().to_owned();
                rules.push(rule(tool, Spec::Broken));
                Err(format!(
                    "the rule {text:?} is broken ({error}); its tool asks until repaired"
                ))
            }
        }
    }
}

/// Does the tool part of a rule name this tool? Stars stand for any text; `mcp__server` names all
/// tools of that server.
pub fn names(pattern: &str, tool: &str) -> bool {
    wild(pattern, tool)
        || (pattern.starts_with("mcp__")
            && tool
                .strip_prefix(pattern)
                .is_some_and(|rest| rest.starts_with("__")))
}

/// Matches a text against a pattern in which `*` stands for any text.
pub fn wild(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(first) = pieces.next() else {
        return text.is_empty();
    };
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else {
        return rest.is_empty();
    };
    for piece in middle {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

const PATH_TOOLS: &[&str] = &["Write", "MultiEdit", "NotebookEdit", "Glob", "Grep"];
const MAIN_FIELDS: &[&str] = &["command", "file_path", "path", "notebook_path", "url"];

/// Tool and spec of a rule; none: it can never count in this list.
fn parse(text: &str, list: List, root: &str) -> Result<Option<(String, Spec)>, String> {
    let text = text.trim();
    let (tool, spec) = match text.split_once('(') {
        None => (text, None),
        Some((tool, rest)) => {
            let spec = rest
                .strip_suffix(')')
                .ok_or("the closing bracket is missing")?;
            (tool, Some(spec))
        }
    };
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*');
    if tool.is_empty() || !tool.chars().all(known) {
        return Err("it does not begin with a tool's name".to_owned());
    }
    let tool = if tool == "Task" { "Agent" } else { tool };
    if tool.contains('*') && list == List::Allow && !allowed_star(tool) {
        return Ok(None);
    }
    let spec = match spec {
        None | Some("*") => Spec::Whole,
        Some("") => return Err("an empty specifier matches nothing".to_owned()),
        Some(spec) => match specifier(tool, spec, list, root)? {
            Some(spec) => spec,
            None => return Ok(None),
        },
    };
    Ok(Some((tool.to_owned(), spec)))
}

/// In `allow` a star counts only in the last part of an MCP name behind a literal server.
fn allowed_star(tool: &str) -> bool {
    let Some(rest) = tool.strip_prefix("mcp__") else {
        return false;
    };
    let Some((server, last)) = rest.split_once("__") else {
        return false;
    };
    !server.is_empty() && !server.contains('*') && last.ends_with('*')
}

fn specifier(tool: &str, spec: &str, list: List, root: &str) -> Result<Option<Spec>, String> {
    if PATH_TOOLS.contains(&tool) {
        return Ok(None);
    }
    if tool == "Read" || tool == "Edit" {
        let (spec, reopens) = match spec.strip_prefix('!') {
            Some(spec) if list != List::Allow => (spec, true),
            Some(_) => return Ok(None),
            None => (spec, false),
        };
        return Ok(Some(Spec::Path(
            PathPattern::parse(spec, root, list == List::Allow),
            reopens,
        )));
    }
    let parameter = spec.split_once(':').filter(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    if tool == "Bash" {
        return Ok(match parameter {
            Some(("command", _)) => None,
            Some((name @ ("run_in_background" | "timeout"), value)) if list != List::Allow => {
                Some(Spec::Parameter(name.to_owned(), value.to_owned()))
            }
            _ => Some(Spec::Command(command_pattern(spec))),
        });
    }
    match parameter {
        Some((name, _)) if MAIN_FIELDS.contains(&name) => Ok(None),
        Some((name, value)) if list != List::Allow => {
            Ok(Some(Spec::Parameter(name.to_owned(), value.to_owned())))
        }
        _ => Err("this kind of specifier is not built yet".to_owned()),
    }
}

/// `prefix:*` at the end is `prefix *`.
fn command_pattern(spec: &str) -> String {
    match spec.strip_suffix(":*") {
        Some(prefix) => format!("{prefix} *"),
        None => spec.to_owned(),
    }
}

/// Does a command pattern match the text of a part?
pub fn command_matches(pattern: &str, text: &str) -> bool {
    if !pattern.contains('*') {
        return pattern == text;
    }
    match pattern.strip_suffix(" *") {
        Some(prefix) => wild(prefix, text) || wild(pattern, text),
        None => wild(pattern, text),
    }
}

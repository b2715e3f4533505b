//! One permission rule: its grammar and what it covers (spec: permissions.md 1.1, 1.3–1.5).
//!
//! A rule that allows is read in the narrowest way, one that asks or denies in the widest. What
//! does not parse never becomes a rule: `parse` says why, and the caller fails closed.

use regex::Regex;
use serde_json::Value;

use super::names::{host, host_matches, mcp_parts, star_matches};
use super::paths::PathPattern;

/// Longer rules are refused.
const MAX_RULE: usize = 4_000;

/// Which list a rule stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Allow,
    Ask,
    Deny,
}

impl List {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// The tools that change files: `Edit` rules cover all of them.
pub(super) const EDITORS: &[&str] = &["Edit", "MultiEdit", "NotebookEdit", "Write"];
/// The tools that read files: `Read` rules cover all of them.
pub(super) const READERS: &[&str] = &["Glob", "Grep", "Read"];
/// Other tools that a rule may name; a name that is not known only gets a warning.
const OTHERS: &[&str] = &[
    "Agent",
    "Bash",
    "Skill",
    "Task",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
];
/// Inputs that have a grammar of their own, so that no parameter rule may name them.
const PRIMARY: &[&str] = &["command", "file_path", "notebook_path", "path", "url"];

/// A parsed rule.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// As written.
    pub(super) text: String,
    /// Where it stands.
    pub(super) source: String,
    tool: String,
    allows: bool,
    pub(super) spec: Spec,
    /// `Tool(name:value)`, in ask and deny.
    parameter: Option<(String, String)>,
}

/// What stands in the parentheses.
#[derive(Clone, Debug)]
pub(super) enum Spec {
    /// Nothing, or `*`: every call of the tool.
    Bare,
    /// A command.
    Command(CommandPattern),
    /// A path that is read.
    Read(PathPattern),
    /// A path that is changed.
    Edit(PathPattern),
    /// A host.
    Host(String),
    /// The name of an agent or a skill.
    Name(String),
    /// Only the parameter counts, or nothing does.
    Never,
}

/// A pattern for a command's text.
#[derive(Clone, Debug)]
pub(super) struct CommandPattern {
    whole: Regex,
    anywhere: Regex,
    /// No star: only the exact text.
    pub(super) exact: bool,
}

impl CommandPattern {
    /// True when it covers the whole text of a command.
    pub(super) fn covers(&self, text: &str) -> bool {
        self.whole.is_match(text)
    }

    /// True when it occurs in a text of words, at a word's border.
    pub(super) fn occurs(&self, text: &str) -> bool {
        self.anywhere.is_match(text)
    }

    fn parse(spec: &str, allows: bool) -> Result<Option<Self>, String> {
        let spec = spec.trim();
        let spec = match spec.strip_suffix(":*") {
            Some(head) => format!("{head} *"),
            None => spec.to_owned(),
        };
        if spec.trim_start_matches([' ', '*']).is_empty() {
            return if allows && spec.contains(' ') {
                Err("the command is missing".to_owned())
            } else {
                Ok(None)
            };
        }
        let mut body = body(&spec);
        if !allows {
            // Texts are compared without quotes and with single blanks; so is such a rule.
            let bare: String = spec.chars().filter(|c| !"'\"\\".contains(*c)).collect();
            let plain = bare.split_whitespace().collect::<Vec<_>>().join(" ");
            if plain != spec && !plain.is_empty() {
                body = format!("(?:{body}|{})", self::body(&plain));
            }
        }
        let build =
            |text: String| Regex::new(&text).map_err(|_| "the rule is too large".to_owned());
        Ok(Some(Self {
            whole: build(format!("(?s)^{body}$"))?,
            anywhere: build(format!("(?s)(?:^| ){body}(?: |$)"))?,
            exact: !spec.contains('*'),
        }))
    }
}

/// The regular expression of a command pattern. A trailing ` *` also stands for nothing.
fn body(spec: &str) -> String {
    let (head, tail) = match spec.strip_suffix(" *") {
        Some(head) => (head, "(?: .*)?"),
        None => (spec, ""),
    };
    let pieces: Vec<String> = head.split('*').map(regex::escape).collect();
    format!("{}{tail}", pieces.join(".*"))
}

/// Why a text is no rule.
#[derive(Clone, Debug)]
pub(super) struct Broken {
    /// The tool it names; none when not even that can be read.
    pub(super) tool: Option<String>,
    /// Why.
    pub(super) why: String,
}

impl Rule {
    /// Parses a rule. `root` is the directory of its source.
    pub(super) fn parse(text: &str, list: List, source: &str, root: &str) -> Result<Self, Broken> {
        let (tool, spec) = parts(text)?;
        let broken = |why: String| Broken {
            tool: Some(tool.to_owned()),
            why,
        };
        let allows = list == List::Allow;
        if allows {
            allowed_glob(tool).map_err(broken)?;
        }
        let mut rule = Self {
            text: text.to_owned(),
            source: source.to_owned(),
            tool: tool.to_owned(),
            allows,
            spec: Spec::Bare,
            parameter: None,
        };
        let Some(spec) = spec else {
            return Ok(rule);
        };
        if !allows {
            rule.parameter = parameter(tool, spec);
        }
        rule.spec = match specifier(tool, spec, root, allows) {
            // Only the parameter was meant.
            Err(_) if rule.parameter.is_some() => Spec::Never,
            other => other.map_err(broken)?,
        };
        Ok(rule)
    }

    /// What the person should know about a rule that parses but does less than it seems to.
    pub(super) fn warning(&self) -> Option<String> {
        let known = [EDITORS, READERS, OTHERS]
            .iter()
            .any(|list| list.contains(&self.tool.as_str()));
        let (_, spec) = parts(&self.text).ok()?;
        if spec == Some("") {
            return Some("an empty specifier matches nothing".to_owned());
        }
        if !known && !self.tool.contains('*') && !self.tool.starts_with("mcp__") {
            return Some(format!("`{}` is no tool of this program", self.tool));
        }
        let main = spec
            .and_then(|spec| spec.split_once(':'))
            .map(|(name, _)| name);
        if main.is_some_and(|name| PRIMARY.contains(&name)) {
            return Some(
                "a rule about the main input of a tool is not written like this".to_owned(),
            );
        }
        match (&self.spec, self.parameter.is_some()) {
            (Spec::Never, false) => Some(format!(
                "paths are only looked up in rules for `Read` and `Edit`, never in one for `{}`",
                self.tool
            )),
            _ => None,
        }
    }

    /// True when the rule names the tool, whatever its specifier.
    pub(super) fn names(&self, tool: &str) -> bool {
        if self.allows {
            return names_narrowly(&self.tool, tool);
        }
        let joined =
            self.tool.starts_with("mcp__") && tool.starts_with(&format!("{}__", self.tool));
        // A denial of reading also blocks editing.
        let read = self.tool == "Read" && EDITORS.contains(&tool);
        names_narrowly(&self.tool, tool) || joined || read || star_matches(&self.tool, tool)
    }

    /// True when the rule covers every call of the tool.
    pub(super) fn covers_all(&self, tool: &str) -> bool {
        matches!(self.spec, Spec::Bare) && self.names(tool)
    }

    /// True when the rule's host, name or parameter fits the input. Commands and paths are
    /// compared elsewhere.
    pub(super) fn covers_input(&self, tool: &str, input: &Value) -> bool {
        if !self.names(tool) {
            return false;
        }
        if let Some((name, wanted)) = &self.parameter {
            if scalar(input.get(name)).is_some_and(|value| star_matches(wanted, &value)) {
                return true;
            }
        }
        match &self.spec {
            Spec::Host(pattern) => host_fits(pattern, input, self.allows),
            Spec::Name(pattern) => ["subagent_type", "name", "skill"].iter().any(|field| {
                let given = scalar(input.get(*field));
                given.is_some_and(|given| star_matches(pattern, &given))
            }),
            Spec::Bare | Spec::Command(_) | Spec::Read(_) | Spec::Edit(_) | Spec::Never => false,
        }
    }
}

fn host_fits(pattern: &str, input: &Value, allows: bool) -> bool {
    let Some(url) = input.get("url").and_then(Value::as_str) else {
        return false;
    };
    match host(url) {
        // A star of a rule that closes something covers addresses, too.
        Some(host) => host_matches(pattern, &host) || (!allows && star_matches(pattern, &host)),
        // Nobody knows where it leads; a denied name in it is enough.
        None => {
            let url = url.to_lowercase();
            let pieces = pattern.trim_start_matches("*.").split('*');
            !allows && pieces.into_iter().all(|piece| url.contains(piece))
        }
    }
}

/// `Tool` or `Tool(spec)`; `Tool(*)` is `Tool`.
fn parts(text: &str) -> Result<(&str, Option<&str>), Broken> {
    let (tool, rest) = match text.find('(') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let letters = |c: char| c.is_ascii_alphanumeric() || "_-.*".contains(c);
    let named = !tool.is_empty() && tool.chars().all(letters);
    let broken = |why: &str| Broken {
        tool: named.then(|| tool.to_owned()),
        why: why.to_owned(),
    };
    if text.len() > MAX_RULE {
        return Err(broken("it is too long"));
    }
    if !named {
        return Err(broken("it does not begin with the name of a tool"));
    }
    if rest.is_empty() {
        return Ok((tool, None));
    }
    let spec = rest[1..]
        .strip_suffix(')')
        .ok_or_else(|| broken("its `)` is missing at the end"))?;
    Ok((tool, (spec != "*").then_some(spec)))
}

/// A star in an allow rule's tool counts only behind a literal server.
fn allowed_glob(tool: &str) -> Result<(), String> {
    let literal = match tool
        .strip_prefix("mcp__")
        .and_then(|rest| rest.split_once("__"))
    {
        Some((server, _)) => server,
        None => tool,
    };
    if literal.contains('*') {
        return Err("an allow rule names its tool, or `mcp__server__*`".to_owned());
    }
    Ok(())
}

fn names_narrowly(rule: &str, tool: &str) -> bool {
    if rule == tool {
        return true;
    }
    if rule == "Edit" {
        return EDITORS.contains(&tool);
    }
    if rule == "Read" {
        return READERS.contains(&tool);
    }
    let Some(wanted) = rule.strip_prefix("mcp__") else {
        return false;
    };
    let Some((server, name)) = mcp_parts(tool) else {
        return false;
    };
    match wanted.split_once("__") {
        Some((rule_server, glob)) => {
            glob.contains('*') && rule_server == server && star_matches(glob, name)
        }
        None => wanted == server,
    }
}

/// `name:value` for a top-level input that has no grammar of its own.
fn parameter(tool: &str, spec: &str) -> Option<(String, String)> {
    let (name, value) = spec.split_once(':')?;
    let identifier = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    // `npm:*` is a command's prefix; `domain:` belongs to hosts.
    let other = (tool == "Bash" && value == "*") || (tool == "WebFetch" && name == "domain");
    (identifier && !other && !PRIMARY.contains(&name)).then(|| (name.to_owned(), value.to_owned()))
}

fn specifier(tool: &str, spec: &str, root: &str, allows: bool) -> Result<Spec, String> {
    if spec.is_empty() {
        return Ok(Spec::Never);
    }
    let primary = spec
        .split_once(':')
        .is_some_and(|(name, _)| PRIMARY.contains(&name));
    match tool {
        "Bash" => Ok(CommandPattern::parse(spec, allows)?.map_or(Spec::Bare, Spec::Command)),
        _ if primary => Ok(Spec::Never),
        "Read" => PathPattern::parse(spec, root, allows).map(Spec::Read),
        "Edit" => PathPattern::parse(spec, root, allows).map(Spec::Edit),
        "WebFetch" => {
            let pattern = spec.strip_prefix("domain:").map(str::trim);
            let pattern =
                pattern.ok_or("a rule for WebFetch is written `WebFetch(domain:host)`")?;
            let pattern = pattern
                .strip_suffix('.')
                .unwrap_or(pattern)
                .to_ascii_lowercase();
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_.*".contains(c);
            if pattern.is_empty() || !pattern.chars().all(plain) {
                return Err(
                    "the host is not understood; write names in their ASCII form".to_owned(),
                );
            }
            Ok(Spec::Host(pattern))
        }
        "Agent" | "Task" | "Skill" if allows && spec.contains('*') => {
            Err("an allow rule names what it allows".to_owned())
        }
        "Agent" | "Task" | "Skill" => Ok(Spec::Name(spec.to_owned())),
        _ if EDITORS.contains(&tool) || READERS.contains(&tool) => Ok(Spec::Never),
        _ => Err(format!("`{tool}` has no specifiers")),
    }
}

fn scalar(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

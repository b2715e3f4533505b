//! What permission is asked, and what it answers; never how the answer is found.

use serde_json::Value;
use toolgate_protocol::notices::Mode;

use crate::definition::Effects;
use crate::place::PathAnswer;

/// What was decided, from the mildest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// The person is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// The answer, and what decided it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What was decided.
    pub verdict: Verdict,
    /// Why, for the person: one sentence, control characters spelt out.
    pub text: String,
    /// The rule that decided, as written; none where a built-in rule did.
    pub rule: Option<String>,
    /// Where that rule stands.
    pub source: Option<String>,
    /// The rules that "always" would save. Empty: not offered.
    pub suggestions: Vec<String>,
}

/// What the hooks said about a call, combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookOpinion {
    /// It needs no question of its own.
    Allow,
    /// It must be asked.
    Ask,
    /// It must not run.
    Deny,
}

/// Where a list of rules comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// The command line.
    Flag,
    /// The person's own settings.
    User,
    /// Settings that lie in the project.
    Project {
        /// True when the person trusted the project.
        trusted: bool,
    },
    /// The person's settings for one project, which lie in it.
    Local {
        /// True when the person trusted the project.
        trusted: bool,
    },
    /// Answers given in this session.
    Session,
    /// The editor's settings.
    Editor,
}

impl SourceKind {
    /// True when its allow rules count. Its ask and deny rules always do.
    pub(super) fn may_allow(self) -> bool {
        match self {
            Self::Flag | Self::User | Self::Session | Self::Editor => true,
            Self::Project { trusted } | Self::Local { trusted } => trusted,
        }
    }
}

/// The rules of one settings source, as written.
#[derive(Clone, Debug)]
pub struct RuleList {
    /// What kind of source it is.
    pub source: SourceKind,
    /// Its name for the person: a file, or "flag".
    pub name: String,
    /// The directory that a pattern `/p` is relative to. Empty: such patterns are refused.
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

/// A call, as permission sees it.
pub struct Question<'a> {
    /// The tool's name in the catalog.
    pub tool: &'a str,
    /// Its input; it passed the tool's schema.
    pub input: &'a Value,
    /// What the call would do.
    pub effects: &'a Effects,
    /// What stands at the paths it names. For a command line, those of `command_aims`.
    pub answers: &'a [PathAnswer],
    /// The command line that it runs, if it runs one.
    pub command: Option<&'a str>,
    /// The working directory, canonical.
    pub cwd: &'a str,
    /// The person's home directory.
    pub home: &'a str,
    /// The working directories that count as the workspace, canonical; the first is the
    /// workspace itself.
    pub roots: &'a [String],
    /// The permission mode.
    pub mode: Mode,
    /// What the hooks said.
    pub hook: Option<HookOpinion>,
    /// True when the file system does not tell upper from lower case.
    pub fold_case: bool,
}

//! What the laws know of one call: what it touches, by an idea of our own, and what happened to it.

use std::collections::BTreeSet;

use serde_json::Value;
use toolgate_core::command::Task;
use toolgate_core::outcome::{Effect, Stage};
use toolgate_core::permission::RuleList;

/// The file that a task writes, if it writes one.
pub fn writes(task: &Task) -> Option<String> {
    let writer = matches!(task.tool.as_str(), "Edit" | "Write");
    let answer = task.answers.first().filter(|_| writer);
    answer.map(|answer| answer.place.path().to_owned())
}

/// What a call does, by our own idea: what it reads, what it writes, whether that is everything.
#[derive(Clone, Debug, Default)]
pub struct Touch {
    pub reads: BTreeSet<String>,
    pub writes: BTreeSet<String>,
    pub reads_all: bool,
    pub unknown: bool,
}

impl Touch {
    pub fn meets(&self, other: &Self) -> bool {
        if self.unknown || other.unknown {
            return true;
        }
        let hits = |one: &Self, two: &Self| {
            (one.reads_all && !two.writes.is_empty())
                || one
                    .writes
                    .iter()
                    .any(|w| two.writes.contains(w) || two.reads.contains(w))
        };
        hits(self, other) || hits(other, self)
    }

    pub fn read_only(&self) -> bool {
        !self.unknown && self.writes.is_empty()
    }

    /// True when something outside the session may be another afterwards.
    pub fn has_effects(&self) -> bool {
        self.unknown || self.writes.iter().any(|written| written != "todo")
    }
}

/// A call, as it is known from the outside.
#[derive(Clone, Debug)]
pub struct Known {
    pub name: String,
    pub input: Value,
    pub touch: Touch,
    pub denied: bool,
    pub must_ask: bool,
    pub asked: bool,
    /// What was shown to the person, and what they refused of it.
    pub shown: Option<(String, Vec<String>)>,
    pub refused: Vec<String>,
    pub allowed: bool,
    pub ran: bool,
    pub executed: Option<(Stage, Effect)>,
    pub started_at: Option<usize>,
    pub ended_at: Option<usize>,
    pub forgotten: bool,
    /// What a Read returned, or what a write turned into what.
    pub result: Option<(String, String)>,
}

impl Known {
    /// A call that arrived, with our own idea of what it does and may do.
    pub fn new(name: &str, input: Value, list: &RuleList) -> Self {
        let path = input["file_path"].as_str().unwrap_or_default().to_owned();
        let command = input["command"].as_str().unwrap_or_default();
        let mut touch = Touch::default();
        match name {
            "Read" => {
                touch.reads.insert(path.clone());
            }
            "Edit" | "Write" => {
                touch.writes.insert(path.clone());
            }
            "Bash" if command.starts_with("cat ") => touch.reads_all = true,
            "TodoWrite" => {
                touch.writes.insert("todo".to_owned());
            }
            _ => touch.unknown = true,
        }
        let has = |list: &[String], rule: &str| list.iter().any(|text| text == rule);
        let secret = path == "/w/secret" || command == "cat secret";
        let denied = (secret && has(&list.deny, "Read(/secret)"))
            || (command.starts_with("rm ") && has(&list.deny, "Bash(rm *)"));
        // A Read rule speaks of what reads, and of what a known reader's line names.
        let reads_c = (name == "Read" && path == "/w/c") || command == "cat c";
        let must_ask = (command == "make b" && has(&list.ask, "Bash(make b)"))
            || (reads_c && has(&list.ask, "Read(/c)"))
            || matches!(name, "Odd" | "Panics")
            || ((name == "Edit" || name == "Write") && path.contains("/.git/"))
            || path.starts_with("/out/");
        Self {
            name: name.to_owned(),
            input,
            touch,
            denied,
            must_ask,
            asked: false,
            shown: None,
            refused: Vec::new(),
            allowed: false,
            ran: false,
            executed: None,
            started_at: None,
            ended_at: None,
            forgotten: false,
            result: None,
        }
    }
}

/// Does the diff in a refusal show every line of this text?
pub fn shows_all(block: &str, text: &str) -> bool {
    let block: Value = serde_json::from_str(block).unwrap_or_default();
    let content = block["content"].as_str().unwrap_or_default();
    let Some((_, diff)) = content.split_once("in full:\n") else {
        return false;
    };
    let shown = diff
        .lines()
        .filter_map(|line| line.strip_prefix(' ').or_else(|| line.strip_prefix('+')));
    shown.eq(text.lines())
}

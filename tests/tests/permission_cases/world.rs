//! A call and what the runner would find at its paths, for permission's tests. It must never
//! decide anything itself, and never look at a real disk.

use std::collections::BTreeMap;

use serde_json::{json, Value};
use toolgate_core::definition::{Access, Effects};
use toolgate_core::permission::{
    command_aims, decide, Decision, HookOpinion, Question, RuleList, RuleSet, SourceKind,
};
use toolgate_core::place::{normalise, Aim, Kind, PathAnswer, Place, Purpose};
use toolgate_protocol::notices::Mode;

pub const HOME: &str = "/home/dev";
pub const PROJECT: &str = "/home/dev/proj";

/// A call in the words of the rows, with what the runner would find at its paths.
pub struct World {
    pub tool: String,
    pub input: Value,
    pub cwd: String,
    pub mode: Mode,
    pub hook: Option<HookOpinion>,
    pub fold: bool,
    pub links: BTreeMap<String, String>,
    /// Paths that are directories; all others are files.
    pub directories: Vec<String>,
    /// The runner looks at paths; without it nothing is known of them.
    pub looks: bool,
}

impl World {
    pub fn new(tool: &str, input: Value) -> Self {
        Self {
            tool: tool.to_owned(),
            input,
            cwd: PROJECT.to_owned(),
            mode: Mode::Default,
            hook: None,
            fold: false,
            links: BTreeMap::new(),
            directories: vec![PROJECT.to_owned(), format!("{PROJECT}/src")],
            looks: true,
        }
    }

    pub fn of_row(call: &Value) -> Self {
        let text = |field: &str| call[field].as_str().unwrap_or_default().to_owned();
        let mut world = Self::new(&text("tool"), call["input"].clone());
        world.cwd = text("cwd");
        world.mode = match call["mode"].as_str() {
            None => Mode::Default,
            Some(_) => serde_json::from_value(call["mode"].clone()).expect("a mode"),
        };
        world.hook = call["hook"].as_str().map(|hook| match hook {
            "allow" => HookOpinion::Allow,
            "ask" => HookOpinion::Ask,
            "deny" => HookOpinion::Deny,
            other => panic!("hook {other}"),
        });
        world.fold = call["fs"]["case_insensitive"] == json!(true);
        if let Some(links) = call["fs"]["links"].as_object() {
            for (link, target) in links {
                let target = target.as_str().expect("a target").to_owned();
                world.links.insert(link.clone(), target);
            }
        }
        world
    }

    fn resolved(&self, path: &str) -> String {
        let mut done = String::new();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            done = format!("{done}/{part}");
            if let Some(target) = self.links.get(&done) {
                done = target.clone();
            }
        }
        done
    }

    fn answers(&self) -> Vec<PathAnswer> {
        let field = |name: &str| self.input[name].as_str().map(str::to_owned);
        let aim = |path: Option<String>, purpose| path.map(|path| Aim { path, purpose });
        let aims: Vec<Aim> = match self.tool.as_str() {
            "Bash" => command_aims(self.input["command"].as_str().unwrap_or_default()),
            "Read" => aim(field("file_path"), Purpose::Read).into_iter().collect(),
            "Grep" | "Glob" => aim(field("path"), Purpose::Search).into_iter().collect(),
            "Edit" | "Write" => aim(field("file_path"), Purpose::Write)
                .into_iter()
                .collect(),
            _ => Vec::new(),
        };
        if !self.looks {
            return Vec::new();
        }
        let answer = |aim: Aim| {
            let lexical = normalise(&aim.path, &self.cwd, HOME);
            let place = self.resolved(&lexical);
            let kind = match self.directories.contains(&place) {
                true => Kind::Directory,
                false => Kind::File(1),
            };
            PathAnswer {
                place: Place::canonical(&place),
                lexical,
                aim,
                kind,
                links: 1,
                open: false,
                error: None,
            }
        };
        aims.into_iter().map(answer).collect()
    }

    fn effects(&self, answers: &[PathAnswer]) -> Effects {
        let places = answers.iter().map(|answer| answer.place.clone());
        match self.tool.as_str() {
            "Read" => Effects::reading(Access::reads(places)),
            "Grep" | "Glob" => Effects::reading(Access::ReadsAll),
            "Edit" | "Write" => Effects::writing(places),
            // A server that claims too much is not believed.
            name if name.starts_with("mcp__") => Effects::reading(Access::none()),
            _ => Effects::unknown(),
        }
    }

    pub fn ask<T>(&self, rules: &RuleSet, ask: impl Fn(&Question<'_>, &RuleSet) -> T) -> T {
        let answers = self.answers();
        let effects = self.effects(&answers);
        let roots = [match self.cwd.starts_with('/') {
            true => PROJECT.to_owned(),
            false => self.cwd.clone(),
        }];
        let question = Question {
            tool: &self.tool,
            input: &self.input,
            effects: &effects,
            answers: &answers,
            command: (self.tool == "Bash")
                .then(|| self.input["command"].as_str().expect("a command")),
            cwd: &self.cwd,
            home: HOME,
            roots: &roots,
            mode: self.mode,
            hook: self.hook,
            fold_case: self.fold,
        };
        ask(&question, rules)
    }

    pub fn decide(&self, rules: &RuleSet) -> Decision {
        self.ask(rules, decide)
    }
}

fn strings(value: &Value) -> Vec<String> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |value: &Value| value.as_str().expect("a rule").to_owned();
    list.iter().map(text).collect()
}

pub fn rules_of(row: &Value) -> RuleSet {
    let rules = &row["rules"];
    let trusted = row["call"]["trusted"].as_bool().unwrap_or(true);
    let (source, root) = match rules["source"].as_str() {
        Some("user") => (SourceKind::User, "/home/dev/.config/toolgate"),
        Some("local") => (SourceKind::Local { trusted }, PROJECT),
        _ => (SourceKind::Project { trusted }, PROJECT),
    };
    let list = RuleList {
        source,
        name: "settings".to_owned(),
        root: root.to_owned(),
        allow: strings(&rules["allow"]),
        ask: strings(&rules["ask"]),
        deny: strings(&rules["deny"]),
    };
    RuleSet::parse(&[list]).0
}

pub fn set(allow: &[&str], ask: &[&str], deny: &[&str]) -> (RuleSet, Vec<String>) {
    let owned = |list: &[&str]| list.iter().map(|rule| (*rule).to_owned()).collect();
    RuleSet::parse(&[RuleList {
        source: SourceKind::User,
        name: "user".to_owned(),
        root: PROJECT.to_owned(),
        allow: owned(allow),
        ask: owned(ask),
        deny: owned(deny),
    }])
}

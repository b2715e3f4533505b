//! What a session is made with: its folders, rules, limits and tools, from the settings and from
//! what the person chose to keep. It decides nothing about a call.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;
use toolgate_core::ledger::ReadPolicy;
use toolgate_core::permission::{RuleList, RuleSet, SourceKind};
use toolgate_core::schedule::{CancelSiblings, EarlyStart, Policy, Rules};
use toolgate_core::session::{Limits, Setup, State};
use toolgate_protocol::ids::SessionId;
use toolgate_protocol::notices::Mode;

use crate::crew::frame;
use crate::crew::hub::Hub;
use crate::crew::inbox::Refusal;
use crate::look;
use crate::settings::{Settings, Source};
use crate::store::rfc3339;

impl Hub {
    pub(crate) fn setup(&self, id: &SessionId, cwd: &str) -> (Arc<Setup>, State) {
        let settings = &self.config.settings;
        let mut roots = self.config.roots.clone();
        if !roots
            .iter()
            .any(|root| toolgate_core::place::within(cwd, root))
        {
            roots.push(cwd.to_owned());
        }
        for (_, list) in settings.lists("permissions.additional_directories") {
            roots.extend(
                list.iter()
                    .filter_map(|folder| canonical_folder(folder).ok()),
            );
        }
        let setup = Setup {
            session: id.clone(),
            catalog: self.catalog.clone(),
            system: frame::system(cwd, &self.config.home, &rfc3339(SystemTime::now())),
            home: self.config.home.clone(),
            roots,
            fold_case: false,
            scheduler: scheduler(settings),
            read_policy: match settings.text("files.read_before_edit").as_str() {
                "whole" => ReadPolicy::Whole,
                "relaxed" => ReadPolicy::Relaxed,
                _ => ReadPolicy::Auto,
            },
            limits: limits(settings),
        };
        let (rules, warnings) = self.rules(cwd);
        for warning in warnings {
            tracing::warn!("{warning}");
        }
        let mode = serde_json::from_value(settings.get("permissions.mode").0);
        let state = State {
            mode: mode.unwrap_or(Mode::Default),
            model: settings.text("provider.model"),
            cwd: cwd.to_owned(),
            rules,
        };
        (Arc::new(setup), state)
    }

    /// All permission rules, and what is wrong with any.
    pub(crate) fn rules(&self, cwd: &str) -> (RuleSet, Vec<String>) {
        let settings = &self.config.settings;
        let mut lists: Vec<RuleList> = Vec::new();
        for (key, field) in [
            ("permissions.allow", 0usize),
            ("permissions.ask", 1),
            ("permissions.deny", 2),
        ] {
            for (source, rules) in settings.lists(key) {
                let (kind, root) = self.rule_source(&source, cwd);
                let mut list = RuleList::new(kind, source.label(), root);
                match field {
                    0 => list.allow = rules,
                    1 => list.ask = rules,
                    _ => list.deny = rules,
                }
                lists.push(list);
            }
        }
        let mut flags = RuleList::new(SourceKind::Flag, "flag".to_owned(), cwd.to_owned());
        flags.allow.clone_from(&self.config.flag_rules);
        lists.push(flags);
        lists.push(self.saved_rules(cwd));
        RuleSet::parse(&lists)
    }

    fn rule_source(&self, source: &Source, cwd: &str) -> (SourceKind, String) {
        match source {
            Source::User(path) | Source::Workspace(path) => {
                let root = PathBuf::from(path)
                    .parent()
                    .map_or(cwd.to_owned(), |folder| folder.display().to_string());
                match source {
                    Source::Workspace(_) => (SourceKind::Project { trusted: false }, root),
                    _ => (SourceKind::User, root),
                }
            }
            Source::Editor => (SourceKind::Editor, cwd.to_owned()),
            Source::Flag | Source::Default => (SourceKind::Flag, cwd.to_owned()),
        }
    }

    /// What deny rules keep from the model, for tools that list and search.
    pub(crate) fn denied_paths(&self, id: &SessionId) -> crate::tools::Denied {
        let Some(live) = self.sessions.get(id) else {
            return Arc::new(|_| true);
        };
        let state = live.session.state();
        let (rules, cwd) = (state.rules.clone(), state.cwd.clone());
        let (home, roots) = (self.config.home.clone(), self.config.roots.clone());
        Arc::new(move |path| rules.hides(path, path, &cwd, &home, &roots, false))
    }

    /// Where the rules are kept that the person chose to keep for a folder.
    fn saved_rules_path(&self, cwd: &str) -> PathBuf {
        let name = blake3::hash(cwd.as_bytes()).to_hex();
        self.config
            .state
            .join("rules")
            .join(format!("{}.json", &name[..16]))
    }

    fn saved_rules(&self, cwd: &str) -> RuleList {
        let path = self.saved_rules_path(cwd);
        let name = path.display().to_string();
        let mut list = RuleList::new(SourceKind::User, name, cwd.to_owned());
        let Ok(text) = std::fs::read_to_string(&path) else {
            return list;
        };
        let saved: Value = serde_json::from_str(&text).unwrap_or_default();
        let texts = |field: &str| -> Vec<String> {
            let items = saved[field]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default();
            items
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        };
        list.allow = texts("allow");
        list.deny = texts("deny");
        list
    }

    /// Keeps a rule that the person chose to keep, outside the workspace.
    pub(crate) fn save_rule(&mut self, id: &SessionId, rule: &str, allow: bool) {
        let Some(live) = self.sessions.get(id) else {
            return;
        };
        let cwd = live.session.state().cwd.clone();
        let mut list = self.saved_rules(&cwd);
        let rules = if allow {
            &mut list.allow
        } else {
            &mut list.deny
        };
        if !rules.iter().any(|known| known == rule) {
            rules.push(rule.to_owned());
        }
        let text = serde_json::json!({"allow": list.allow, "deny": list.deny}).to_string();
        let path = self.saved_rules_path(&cwd);
        if let Err(error) = look::keep_private(&path, text.as_bytes()) {
            tracing::error!(
                "the rule {rule} could not be kept in {}: {error}",
                path.display()
            );
        }
    }
}

pub(crate) fn canonical_folder(folder: &str) -> Result<String, Refusal> {
    let path = std::fs::canonicalize(folder)
        .map_err(|error| Refusal(format!("the folder {folder} cannot be used: {error}")))?;
    if !path.is_dir() {
        return Err(Refusal(format!("{folder} is no folder")));
    }
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| Refusal(format!("the path of {folder} is not valid UTF-8")))
}

fn scheduler(settings: &Settings) -> Rules {
    Rules {
        policy: match settings.text("scheduler.policy").as_str() {
            "batches" => Policy::Batches,
            "sequential" => Policy::Sequential,
            _ => Policy::Resources,
        },
        max_concurrency: settings.number("scheduler.max_concurrency").unwrap_or(10) as usize,
        early_start: match settings.text("scheduler.early_start").as_str() {
            "all" => EarlyStart::All,
            "off" => EarlyStart::Off,
            _ => EarlyStart::Safe,
        },
        cancel_siblings: match settings.text("scheduler.cancel_siblings").as_str() {
            "bash" => CancelSiblings::Bash,
            "never" => CancelSiblings::Never,
            _ => CancelSiblings::BashEffectful,
        },
        whole_response: settings.text("scheduler.sequential_tool") == "whole_response",
    }
}

fn limits(settings: &Settings) -> Limits {
    let number = |key: &str| settings.number(key).and_then(|n| u32::try_from(n).ok());
    let default = Limits::default();
    Limits {
        max_turns: number("limits.max_turns"),
        max_answer_tokens: number("provider.max_tokens").unwrap_or(default.max_answer_tokens),
        repetition: number("limits.repetition").unwrap_or(default.repetition),
        max_retries: number("provider.max_retries").unwrap_or(default.max_retries),
    }
}

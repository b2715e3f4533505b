//! The laws, checked from the outside.
//!
//! Nothing in here asks the core: it sees the events that go in and the commands that come out,
//! and has its own, slower idea of what conflicts, what was seen, what was allowed. A broken law
//! is noted with what happened; the tests say which law each of them is about.

use std::collections::BTreeMap;

use serde_json::Value;
use toolgate_core::command::{Command, Request, Task};
use toolgate_core::event::{Event, StreamEvent};
use toolgate_core::fact::{Fact, ModelBlock, UserBlock};
use toolgate_core::outcome::{Effect, Raw, Stage};
use toolgate_core::pairing;
use toolgate_core::permission::RuleList;
use toolgate_core::schedule::Rules;
use toolgate_protocol::asks::{Ask, OptionKind};
use toolgate_protocol::ids::{AskId, CallId};
use toolgate_protocol::notices::{CallState, Update};

pub use super::known::writes;
use super::known::{shows_all, Known};

/// What was seen to happen, and what broke a law.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Events so far.
    pub events: u64,
    /// How often each law was looked at.
    pub looks: BTreeMap<u32, u64>,
    /// What broke a law: its number and what happened, the first few of each.
    pub broken: BTreeMap<u32, Vec<String>>,
    /// How often each thing happened.
    pub counts: BTreeMap<String, u64>,
}

impl Report {
    /// Notes that a law was looked at, and whether it held.
    pub fn law(&mut self, law: u32, holds: bool, what: impl FnOnce() -> String) {
        *self.looks.entry(law).or_default() += 1;
        if !holds {
            let broken = self.broken.entry(law).or_default();
            if broken.len() < 5 {
                broken.push(what());
            }
        }
    }

    /// Counts something that happened.
    pub fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }
}

/// What is known of one session from the outside.
#[derive(Clone, Debug)]
pub struct Checks {
    pub(super) rules: Rules,
    pub(super) list: RuleList,
    pub(super) calls: BTreeMap<CallId, Known>,
    /// Calls of the present answer, in order.
    pub(super) answer: Vec<CallId>,
    /// What the model saw of files, and whether it saw the whole.
    pub(super) seen: BTreeMap<String, (String, bool)>,
    pub(super) looked: BTreeMap<CallId, String>,
    pub(super) asks: BTreeMap<AskId, CallId>,
    pub(super) cancelled: bool,
    pub(super) facts: usize,
    pub(super) durable: usize,
    pub(super) last: Option<String>,
    pub(super) frame: Option<(String, String)>,
    /// Files at the answer's begin; none when somebody else wrote meanwhile.
    pub(super) before: Option<BTreeMap<String, String>>,
}

impl Checks {
    /// Nothing has happened yet.
    pub fn new(rules: Rules, list: &RuleList) -> Self {
        Self {
            rules,
            list: list.clone(),
            calls: BTreeMap::new(),
            answer: Vec::new(),
            seen: BTreeMap::new(),
            looked: BTreeMap::new(),
            asks: BTreeMap::new(),
            cancelled: false,
            facts: 0,
            durable: 0,
            last: None,
            frame: None,
            before: None,
        }
    }

    /// How many facts were appended.
    pub fn facts(&self) -> usize {
        self.facts
    }

    /// So many facts are on disk now.
    pub fn durable(&mut self, facts: usize) {
        self.durable = self.durable.max(facts);
    }

    /// Somebody else wrote a file: this answer is not replayed.
    pub fn disturbed(&mut self) {
        self.before = None;
    }

    /// What the model saw of a file.
    pub fn seen_text(&self, path: &str) -> Option<String> {
        self.seen.get(path).map(|(text, _)| text.clone())
    }

    /// Something goes in.
    pub fn event(&mut self, event: &Event, report: &mut Report) {
        match event {
            Event::Cancel => {
                self.cancelled = true;
                report.count("cancel");
            }
            Event::Answer(answer) => {
                let Some(call) = self.asks.get(&answer.ask).cloned() else {
                    return;
                };
                let Some(known) = self.calls.get_mut(&call) else {
                    return;
                };
                let digest = known.shown.as_ref().map(|(digest, _)| digest.clone());
                if digest.as_deref() != Some(&answer.digest) {
                    return;
                }
                known.allowed |= answer.option.allows();
                known.refused = answer
                    .hunks
                    .iter()
                    .filter(|hunk| !hunk.accept)
                    .map(|hunk| hunk.hunk_id.0.clone())
                    .collect();
                if matches!(
                    answer.option,
                    OptionKind::AllowSession | OptionKind::AllowAlways
                ) {
                    report.count("allowed for the session");
                }
                if answer.option == OptionKind::RejectAndStop {
                    self.cancelled = true;
                }
            }
            Event::Looked {
                call,
                found: toolgate_core::event::Found::Text { text, .. },
            } => {
                self.looked.insert(call.clone(), text.text().to_owned());
            }
            Event::Stream {
                event: StreamEvent::Failed(_),
                ..
            } => report.count("stream break"),
            _ => {}
        }
    }

    /// Something comes out.
    pub fn command(
        &mut self,
        command: &Command,
        files: &BTreeMap<String, String>,
        report: &mut Report,
    ) {
        match command {
            Command::Append(fact) => {
                self.facts += 1;
                self.fact(fact, files, report);
            }
            Command::Request(request) => self.request(request, files, report),
            Command::Run(task) => self.run(task, report),
            Command::Ask { opened, plan } => {
                report.count("ask");
                if let Ask::Permission(ask) = &opened.ask {
                    self.asks.insert(opened.ask_id.clone(), ask.call_id.clone());
                    if let Some(known) = self.calls.get_mut(&ask.call_id) {
                        let name = &known.name;
                        let denied = known.denied;
                        report.law(7, !denied, || {
                            format!("{name} was denied and is asked about")
                        });
                        known.asked = true;
                        let hunks = plan.as_ref().map_or_else(Vec::new, |plan| {
                            plan.hunks.iter().map(|hunk| format!("{hunk:?}")).collect()
                        });
                        known.shown = Some((ask.digest.clone(), hunks));
                    }
                }
            }
            Command::Tell(Update::CallState {
                call_id,
                state,
                waits,
            }) => {
                self.state(call_id, *state, waits.as_deref(), report);
            }
            Command::Tell(Update::TurnStarted { .. }) => self.cancelled = false,
            _ => {}
        }
    }

    fn state(&mut self, call: &CallId, state: CallState, waits: Option<&str>, report: &mut Report) {
        report.count(&format!("state {state:?}"));
        if waits.is_some_and(|waits| waits.starts_with("after ")) {
            report.count("conflict");
        }
        let known = self
            .calls
            .get(call)
            .is_some_and(|known| known.ended_at.is_none());
        report.law(1, known, || format!("{call} has a state after its end"));
    }

    fn fact(&mut self, fact: &Fact, files: &BTreeMap<String, String>, report: &mut Report) {
        match fact {
            Fact::Block {
                block:
                    ModelBlock::Call {
                        call, name, input, ..
                    },
            } => {
                report.count("call");
                let input: Value = serde_json::from_str(input).unwrap_or_default();
                let known = Known::new(name, input, &self.list);
                self.answer.push(call.clone());
                self.calls.insert(call.clone(), known);
            }
            Fact::AnswerDropped => {
                report.count("answer dropped");
                for call in self.answer.drain(..) {
                    if let Some(known) = self.calls.get_mut(&call) {
                        known.forgotten = true;
                    }
                }
            }
            Fact::Started { call, .. } => {
                if let Some(known) = self.calls.get_mut(call) {
                    known.started_at = Some(self.facts);
                }
            }
            Fact::Ended { call, block, .. } => self.ended(call, block, report),
            Fact::User { blocks } => {
                let results: Vec<&CallId> = blocks
                    .iter()
                    .filter_map(|block| match block {
                        UserBlock::Result(call) => Some(call),
                        UserBlock::Json(_) => None,
                    })
                    .collect();
                let want: Vec<&CallId> = self.answer.iter().collect();
                report.law(1, results == want, || {
                    format!("results {results:?} for {want:?}")
                });
                self.replay(files, report);
                self.answer.clear();
            }
            _ => {}
        }
    }

    fn ended(&mut self, call: &CallId, block: &str, report: &mut Report) {
        report.count("outcome");
        let facts = self.facts;
        let Some(known) = self.calls.get_mut(call) else {
            return report.law(1, false, || {
                format!("{call} has an outcome and never arrived")
            });
        };
        let first = known.ended_at.is_none();
        report.law(1, first, || format!("{call} has two outcomes"));
        known.ended_at = Some(facts);
        let path = known.input["file_path"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        match (&known.result, known.name.as_str()) {
            (Some((_, text)), "Read") => {
                let whole = known.input.get("limit").is_none();
                let same = self
                    .seen
                    .get(&path)
                    .is_some_and(|(old, all)| old == text && *all);
                self.seen.insert(
                    path,
                    (text.clone(), whole || same || text.lines().count() < 2),
                );
            }
            (Some((_, after)), "Edit" | "Write") => {
                self.seen.insert(path, (after.clone(), true));
            }
            // A change that is told in full counts as seen, as far as the diff shows the file.
            _ if block.contains("What changed, in full") => {
                let whole = self.seen.get(&path).is_none_or(|(_, whole)| *whole);
                if let Some(text) = self.looked.get(call) {
                    let whole = whole || shows_all(block, text);
                    self.seen.insert(path, (text.clone(), whole));
                }
            }
            _ => {}
        }
    }

    /// What an executor did, before the core hears of it.
    pub fn executed(&mut self, task: &Task, raw: &Raw) {
        let Some(known) = self.calls.get_mut(&task.call) else {
            return;
        };
        known.executed = Some((raw.stage, raw.effect));
        let text = |shown: &toolgate_core::outcome::Shown| {
            shown
                .text
                .as_ref()
                .map_or(String::new(), |text| text.to_string())
        };
        if let Some(shown) = raw.shown.first() {
            let before = task
                .plan
                .as_ref()
                .and_then(|plan| plan.base.as_ref())
                .map_or(String::new(), |base| base.text().to_owned());
            known.result = Some((before, text(shown)));
        }
    }

    fn request(
        &mut self,
        request: &Request,
        files: &BTreeMap<String, String>,
        report: &mut Report,
    ) {
        report.count("request");
        let messages: String = request.messages.iter().map(|part| part.as_ref()).collect();
        let valid = pairing::validate(&messages);
        report.law(1, valid.is_ok(), || format!("{valid:?}: {messages}"));
        let frame = (request.tools.to_string(), request.system.to_string());
        if let Some(last) = &self.last {
            let same = messages.starts_with(last) && self.frame.as_ref() == Some(&frame);
            report.law(9, same, || format!("{last}\nis no prefix of\n{messages}"));
        }
        self.last = Some(messages);
        self.frame = Some(frame);
        let durable = self.durable;
        let open = self.calls.values().find(|known| {
            known.ran
                && known.touch.has_effects()
                && known.ended_at.is_none_or(|ended| ended > durable)
        });
        report.law(11, open.is_none(), || {
            format!("a request before {open:?} is durable")
        });
        self.before = Some(files.clone());
    }

    /// Law 3 as a value: the answer's calls, one after the other, give the same files and the
    /// same reads.
    fn replay(&mut self, files: &BTreeMap<String, String>, report: &mut Report) {
        let Some(mut serial) = self.before.take() else {
            return;
        };
        for call in &self.answer {
            let Some(known) = self.calls.get(call) else {
                continue;
            };
            let Some((stage, effect)) = known.executed else {
                continue;
            };
            let path = known.input["file_path"].as_str().unwrap_or_default();
            match (known.name.as_str(), stage, &known.result) {
                ("Read", Stage::Done, Some((_, text))) => {
                    let same = serial.get(path) == Some(text);
                    report.law(3, same, || format!("{call} read what no serial run shows"));
                }
                ("Edit" | "Write", Stage::Done, Some((before, after))) => {
                    let stood = serial.get(path).cloned().unwrap_or_default();
                    report.law(3, stood == *before, || {
                        format!("{call} wrote over other text")
                    });
                    serial.insert(path.to_owned(), after.clone());
                }
                ("Bash", _, _) if effect == Effect::Happened => return,
                _ => {}
            }
        }
        report.law(3, serial == *files, || {
            "the files differ from a serial run's".to_owned()
        });
        report.count("answer replayed serially");
    }

    /// Everything has come to its end.
    pub fn at_the_end(&self, idle: bool, report: &mut Report) {
        report.law(1, idle, || "a turn never ends".to_owned());
        for (call, known) in &self.calls {
            let answered = known.ended_at.is_some() || known.forgotten;
            report.law(1, answered || !idle, || format!("{call} has no outcome"));
        }
    }
}

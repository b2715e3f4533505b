//! A session from its facts (spec: outcomes.md, "Transcript"): folds, and never decides again.
//!
//! History, ledger, rules, mode and directory come out as they were, to the byte. Calls that were
//! open are settled: one that had started and has an intent is told by what stands on disk now
//! (done, not done, unknown); one that had started without an intent is unknown and is never
//! repeated; one that had not started did not happen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use toolgate_protocol::ids::CallId;
use toolgate_protocol::notices::{CallStatus, Mode};

use crate::command::Command;
use crate::fact::{Fact, Intent, ModelBlock, UserBlock};
use crate::message::{quote, text_block, tool_use, Part};
use crate::outcome::{Lines, Shown};
use crate::place::Place;
use crate::session::{Session, Setup, State};
use crate::version::Version;

/// What a call of the transcript is known to have done.
#[derive(Clone, Debug, Default)]
struct Known {
    started: bool,
    effects: bool,
    intent: Option<Intent>,
    block: Option<Part>,
}

/// The writes that had begun and have no outcome: the caller looks at their files.
pub fn open_intents(facts: &[Fact]) -> Vec<Intent> {
    let mut open: BTreeMap<&CallId, &Intent> = BTreeMap::new();
    for fact in facts {
        match fact {
            Fact::Started {
                call,
                intent: Some(intent),
                ..
            } => {
                open.insert(call, intent);
            }
            Fact::Ended { call, .. } => {
                open.remove(call);
            }
            _ => {}
        }
    }
    open.into_values().cloned().collect()
}

/// The session that these facts tell of. `now` holds, for the path of each open intent, the hex
/// of the version that stands there; absent: nothing stands there. The commands are the facts
/// that settle what was open.
pub fn resume(
    setup: Arc<Setup>,
    state: State,
    facts: &[Fact],
    now: &BTreeMap<String, String>,
) -> (Session, Vec<Command>) {
    let mut fold = Fold {
        session: Session::bare(setup, state),
        calls: BTreeMap::new(),
        answer: Vec::new(),
        owed: Vec::new(),
        turn_open: false,
        facts: Vec::new(),
    };
    for fact in facts {
        fold.take(fact);
    }
    fold.close(now);
    let commands = fold.facts.into_iter().map(Command::Append).collect();
    (fold.session, commands)
}

struct Fold {
    session: Session,
    calls: BTreeMap<CallId, Known>,
    /// Blocks of an answer that has not ended.
    answer: Vec<ModelBlock>,
    /// Calls of the last answer that no message answers yet, with the provider's ids.
    owed: Vec<(CallId, String)>,
    turn_open: bool,
    facts: Vec<Fact>,
}

impl Fold {
    fn take(&mut self, fact: &Fact) {
        let session = &mut self.session;
        match fact {
            Fact::Frame { tools, system } => {
                session.frame.tools = Part::clone(tools);
                session.frame.system = Part::clone(system);
            }
            Fact::TurnStarted { .. } => self.turn_open = true,
            Fact::TurnEnded { .. } => self.turn_open = false,
            Fact::User { blocks } => self.user(blocks),
            Fact::Block { block } => self.block(block),
            Fact::AnswerEnd { .. } => self.answer_end(),
            Fact::AnswerDropped => self.answer.clear(),
            Fact::Started {
                call,
                effects,
                intent,
            } => {
                let known = self.calls.entry(call.clone()).or_default();
                known.started = true;
                known.effects = *effects;
                known.intent.clone_from(intent);
            }
            Fact::Ended { call, block, .. } => {
                self.calls.entry(call.clone()).or_default().block = Some(Part::clone(block));
            }
            Fact::Shown {
                path,
                version,
                lines,
                total_lines,
                one_read_shows_all,
                ..
            } => {
                shown(
                    session,
                    path,
                    version,
                    lines,
                    *total_lines,
                    *one_read_shows_all,
                );
            }
            Fact::Mode { mode } => session.state.mode = safe_mode(*mode, session.state.mode),
            Fact::Model { model } => session.state.model.clone_from(model),
            Fact::SessionRule { rule, allow } => {
                // A rule that an older version could parse and this one cannot holds no longer.
                let _ = session.state.rules.add(rule, *allow, "session");
            }
            Fact::Cwd { cwd } => session.state.cwd.clone_from(cwd),
            Fact::Session { .. }
            | Fact::Decision { .. }
            | Fact::Todo { .. }
            | Fact::Usage { .. }
            | Fact::Unknown => {}
        }
    }

    fn user(&mut self, blocks: &[UserBlock]) {
        let parts: Vec<Part> = blocks
            .iter()
            .filter_map(|block| match block {
                UserBlock::Json(json) => Some(Part::clone(json)),
                UserBlock::Result(call) => self.calls.get(call).and_then(|k| k.block.clone()),
            })
            .collect();
        self.session.history.push_user(&parts);
        self.owed.clear();
    }

    fn block(&mut self, block: &ModelBlock) {
        if let ModelBlock::Call { call, id, .. } = block {
            self.session.history.unique_id(id);
            let number = call.0.trim_start_matches('c').parse().unwrap_or(0);
            self.session.counters.calls = self.session.counters.calls.max(number);
        }
        self.answer.push(block.clone());
    }

    fn answer_end(&mut self) {
        let answer = std::mem::take(&mut self.answer);
        let blocks = answer
            .iter()
            .map(|block| match block {
                ModelBlock::Json(json) => vec![Part::clone(json)],
                ModelBlock::Call {
                    id, name, input, ..
                } => tool_use(id, name, input),
            })
            .collect();
        self.session.history.push_assistant(blocks);
        self.owed = answer
            .into_iter()
            .filter_map(|block| match block {
                ModelBlock::Call { call, id, .. } => Some((call, id)),
                ModelBlock::Json(_) => None,
            })
            .collect();
    }

    /// Settles what was open when the program ended.
    fn close(&mut self, now: &BTreeMap<String, String>) {
        if !self.answer.is_empty() {
            self.facts.push(Fact::AnswerEnd { whole: false });
            self.answer_end();
        }
        let owed = std::mem::take(&mut self.owed);
        if !owed.is_empty() {
            let mut blocks = Vec::new();
            for (call, provider_id) in &owed {
                self.settle(call, provider_id, now);
                blocks.push(UserBlock::Result(call.clone()));
            }
            self.user(&blocks);
            self.facts.push(Fact::User { blocks });
        }
        if self.turn_open {
            let text = "[The program ended while your last answer was being worked on.]";
            self.session.ahead.pending.push(text_block(text));
        }
    }

    fn settle(&mut self, call: &CallId, provider_id: &str, now: &BTreeMap<String, String>) {
        let known = self.calls.entry(call.clone()).or_default();
        if known.block.is_some() {
            return;
        }
        let (text, status) = ended_text(known, now);
        let error = if status == CallStatus::Completed {
            ""
        } else {
            ",\"is_error\":true"
        };
        let block: Part = Arc::from(format!(
            "{{\"type\":\"tool_result\",\"tool_use_id\":{},\"content\":{}{error}}}",
            quote(provider_id),
            quote(&text)
        ));
        known.block = Some(Part::clone(&block));
        self.facts.push(Fact::Ended {
            call: call.clone(),
            block,
            status,
            structured: None,
            ms: 0,
        });
    }
}

fn ended_text(known: &Known, now: &BTreeMap<String, String>) -> (String, CallStatus) {
    if !known.started {
        let text = "Not started: the program ended before this call ran. Nothing was changed by \
                    it; call it again if it is still wanted.";
        return (text.to_owned(), CallStatus::Cancelled);
    }
    let Some(intent) = &known.intent else {
        let text = if known.effects {
            "Outcome unknown: the program ended while this call ran. It may have had its effect, \
             in whole or in part. Check the state before you repeat it."
        } else {
            "Interrupted: the program ended while this call ran. It only reads; call it again if \
             it is still wanted."
        };
        return (text.to_owned(), CallStatus::Unknown);
    };
    let stands = now.get(&intent.path);
    if stands == Some(&intent.new) {
        let text = format!(
            "The program ended while this call ran, but the change is done: {} holds what it was \
             to hold.",
            intent.path
        );
        return (text, CallStatus::Completed);
    }
    if stands == intent.base.as_ref() {
        let text = format!(
            "Not done: the program ended before the change was written. {} is as it was before; \
             call it again if it is still wanted.",
            intent.path
        );
        return (text, CallStatus::Cancelled);
    }
    let text = format!(
        "Outcome unknown: the program ended while this call ran, and {} now holds neither what it \
         held before nor what it was to hold. Read it before you go on.",
        intent.path
    );
    (text, CallStatus::Unknown)
}

/// A transcript cannot give more than the person gave this time.
fn safe_mode(recorded: Mode, present: Mode) -> Mode {
    match recorded {
        Mode::BypassPermissions => present,
        Mode::Default | Mode::AcceptEdits | Mode::Plan | Mode::DontAsk => recorded,
    }
}

fn shown(
    session: &mut Session,
    path: &str,
    version: &str,
    lines: &[u32],
    total_lines: u32,
    one_read_shows_all: bool,
) {
    let Some(version) = Version::from_hex(version) else {
        return;
    };
    let pairs: BTreeSet<(u32, u32)> = lines
        .chunks_exact(2)
        .map(|pair| (pair[0], pair[1]))
        .collect();
    let shown = Shown {
        place: Place::canonical(path),
        version,
        lines: pairs
            .into_iter()
            .map(|(first, last)| Lines { first, last })
            .collect(),
        total_lines,
        one_read_shows_all,
        text: None,
    };
    session.memory.ledger.show(&shown, None);
}

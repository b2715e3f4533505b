//! Outcomes: every way a call can end leads through here (law 1; spec: call-lifecycle.md, gate 8).
//!
//! `refuse` and `finished` hand a `Raw` to the `Settle` job; `settled` fills the call's slot, once.
//! Only then are its places given back, its record appended and its session changes applied.

use toolgate_protocol::asks::Why;
use toolgate_protocol::ids::CallId;
use toolgate_protocol::notices::{CallStatus, Update};
use toolgate_protocol::render::{Content, Payload};

use crate::call::{Call, Step};
use crate::command::{Command, StopSource};
use crate::definition::CallKind;
use crate::fact::Fact;
use crate::job::Job;
use crate::message::Part;
use crate::outcome::{Gate, Outcome, Raw, Shown, Stage};
use crate::schedule::CancelSiblings;
use crate::session::Session;

impl Session {
    /// A gate refuses the call at `index`. Nothing has run.
    pub(crate) fn refuse(&mut self, index: usize, raw: Raw) {
        let cancelled = raw.stage == Stage::NotStarted(Gate::Schedule);
        self.settle(index, raw, cancelled, None);
    }

    /// A job refused a call.
    pub(crate) fn refused(&mut self, id: &CallId, raw: Raw) {
        let waits = |call: &Call| matches!(call.progress.step, Step::Fit | Step::Plan);
        let Some(index) = self
            .index_of(id)
            .filter(|index| waits(&self.calls()[*index]))
        else {
            return;
        };
        self.refuse(index, raw);
    }

    fn settle(&mut self, index: usize, raw: Raw, cancelled: bool, note: Option<String>) {
        let Some(call) = self.call_mut(index) else {
            return;
        };
        if matches!(call.progress.step, Step::Settle | Step::Ended) {
            return;
        }
        call.progress.step = Step::Settle;
        let job = Job::Settle {
            provider_id: call.provider_id.clone(),
            raw: Box::new(raw),
            denied: call.progress.denied,
            cancelled,
            notes: note.into_iter().chain(call.found.comment.take()).collect(),
        };
        let id = call.id.clone();
        self.push(Command::Compute {
            call: Some(id),
            job,
        });
    }

    /// An executor has ended.
    pub(crate) fn finished(&mut self, id: &CallId, raw: Raw, ms: u32) {
        let running = |call: &Call| matches!(call.progress.step, Step::Run | Step::Stop);
        let Some(index) = self
            .index_of(id)
            .filter(|index| running(&self.calls()[*index]))
        else {
            return;
        };
        let Some(call) = self.call_mut(index) else {
            return;
        };
        call.progress.ms = ms;
        let stopped = call.progress.stop.clone();
        let cancelled = stopped.is_some() && raw.is_error();
        let note = stopped
            .filter(|_| cancelled)
            .map(|source| format!("[Interrupted: {}.]", self.source_text(&source)));
        if raw.command_failed {
            self.cancel_siblings(index);
        }
        self.settle(index, raw, cancelled, note);
    }

    fn source_text(&self, source: &StopSource) -> String {
        match source {
            StopSource::Turn => "the person stopped the turn".to_owned(),
            StopSource::Call => "the person stopped this call".to_owned(),
            StopSource::Message => "the person sent a new message".to_owned(),
            StopSource::Sibling(id) => match self.index_of(id) {
                Some(index) => {
                    format!("the call before it failed: {}", self.calls()[index].title())
                }
                None => "a call before it failed".to_owned(),
            },
        }
    }

    /// A command failed: those behind it may form a chain with it.
    fn cancel_siblings(&mut self, failed: usize) {
        let reads = |call: &Call| call.found.effects.as_ref().is_some_and(|e| e.read_only);
        let is_command = |call: &Call| {
            call.entry
                .as_ref()
                .is_some_and(|entry| entry.face.kind() == CallKind::Execute)
        };
        let whom: Vec<usize> = match self.setup.scheduler.cancel_siblings {
            CancelSiblings::Never => return,
            CancelSiblings::BashEffectful if reads(&self.calls()[failed]) => return,
            CancelSiblings::BashEffectful => (failed + 1..self.calls().len())
                .filter(|index| is_command(&self.calls()[*index]))
                .collect(),
            CancelSiblings::Bash => (0..self.calls().len()).filter(|i| *i != failed).collect(),
        };
        let id = self.calls()[failed].id.clone();
        let why = format!(
            "the call before it failed: {}",
            self.calls()[failed].title()
        );
        for index in whom {
            self.stop_call(index, StopSource::Sibling(id.clone()), &why);
        }
    }

    /// Ends one call: not started, it is settled; running, it is told to stop and keeps its
    /// places until it has truly ended (laws 2 and 4).
    pub(crate) fn stop_call(&mut self, index: usize, source: StopSource, why: &str) {
        let Some(call) = self.calls().get(index) else {
            return;
        };
        if call.unstarted() {
            self.withdraw(index);
            let text =
                format!("Not started: cancelled, because {why}. Nothing was changed by this call.");
            return self.refuse(index, Raw::refused(Gate::Schedule, text));
        }
        let Some(call) = self.call_mut(index) else {
            return;
        };
        if call.progress.step == Step::Run {
            call.progress.step = Step::Stop;
            call.progress.stop = Some(source.clone());
            let id = call.id.clone();
            self.push(Command::Stop { call: id, source });
        }
    }

    /// An outcome was made: the slot is filled, once.
    pub(crate) fn settled(&mut self, id: &CallId, mut outcome: Outcome) {
        let Some(index) = self.at_step(id, &Step::Settle) else {
            return;
        };
        let payload = std::mem::replace(
            &mut outcome.payload,
            Payload::Text {
                text: String::new(),
            },
        );
        let raw = outcome.raw.clone();
        let block = Part::clone(&outcome.block);
        let structured = outcome.structured.clone();
        let status = outcome.status;
        let Some(call) = self.call_mut(index) else {
            return;
        };
        call.progress.step = Step::Ended;
        call.outcome = Some(outcome);
        call.ask = None;
        let ms = call.progress.ms;
        let announced = call.progress.announced;
        let acquired = call.progress.acquired;
        let why = call.found.decision.as_ref().map(|decision| Why {
            text: decision.text.clone(),
            rule: decision.rule.clone(),
            source: decision.source.clone(),
        });
        // A file that an answer read and then changed itself is no longer only just read.
        for place in &raw.changed {
            self.memory.read_now.remove(place);
        }
        for shown in &raw.shown {
            self.saw(id, shown, raw.changed.contains(&shown.place));
        }
        self.append(Fact::Ended {
            call: id.clone(),
            block,
            status,
            structured,
            ms,
        });
        if acquired {
            self.push(Command::Release(id.clone()));
        }
        self.apply(&raw, &payload);
        if !announced {
            self.announce_late(index);
        }
        self.tell(Update::CallSettled {
            call_id: id.clone(),
            status,
            content: Content::whole(payload),
            why,
            duration_ms: ms,
        });
    }

    fn announce_late(&mut self, index: usize) {
        let update = crate::admit::started_update(&self.calls()[index]);
        self.tell(update);
        if let Some(call) = self.call_mut(index) {
            call.progress.announced = true;
        }
    }

    /// The model saw lines of a file, or Toolgate wrote it.
    fn saw(&mut self, id: &CallId, shown: &Shown, written: bool) {
        let plan = self
            .index_of(id)
            .and_then(|index| self.calls()[index].found.plan.clone())
            .filter(|_| written);
        let ledger = &mut self.memory.ledger;
        match (plan, &shown.text) {
            (Some(plan), _) if plan.after_version == shown.version => {
                ledger.wrote(&shown.place, shown.version, plan.after.clone());
            }
            // Somebody else's changes stand in it too: a rebased edit, a formatter.
            (Some(_), Some(text)) => {
                ledger.edited(&shown.place, shown.version, text.clone(), &shown.lines);
            }
            _ => {
                let before = ledger.seen(&shown.place);
                ledger.show(shown, shown.text.clone());
                self.memory
                    .read_now
                    .entry(shown.place.clone())
                    .or_insert(before);
            }
        }
        let seen = self.memory.ledger.seen(&shown.place);
        let lines = seen.map_or_else(Vec::new, |seen| seen.lines().to_vec());
        self.append(Fact::Shown {
            call: id.clone(),
            path: shown.place.path().to_owned(),
            version: shown.version.hex(),
            lines: lines
                .iter()
                .flat_map(|lines| [lines.first, lines.last])
                .collect(),
            total_lines: shown.total_lines,
            one_read_shows_all: shown.one_read_shows_all,
        });
    }

    /// Changes to the session's state that an outcome brings.
    fn apply(&mut self, raw: &Raw, payload: &Payload) {
        if let Some(cwd) = &raw.cwd {
            self.state.cwd.clone_from(cwd);
            self.append(Fact::Cwd { cwd: cwd.clone() });
        }
        if let Payload::Plan { entries } = payload {
            let todos = serde_json::to_value(entries).unwrap_or_default();
            self.append(Fact::Todo { todos });
            self.tell(Update::Plan {
                entries: entries.clone(),
            });
        }
        if !raw.changed.is_empty() {
            let files = raw
                .changed
                .iter()
                .map(|place| place.path().to_owned())
                .collect();
            self.tell(Update::FilesChanged { files });
        }
    }

    /// The same call failing the same way so often in a row that the person should know.
    pub(crate) fn repeats(&mut self, calls: &[Call]) -> Option<String> {
        for call in calls {
            let Some(outcome) = &call.outcome else {
                continue;
            };
            let failed = outcome.raw.is_error() && outcome.status != CallStatus::Cancelled;
            if !failed {
                self.memory.repeated = None;
                continue;
            }
            let key = format!(
                "{} {} {}",
                call.name, call.found.input_digest, outcome.text_digest
            );
            let count = match &self.memory.repeated {
                Some((last, count)) if *last == key => count + 1,
                _ => 1,
            };
            self.memory.repeated = Some((key, count));
            if count >= self.setup.limits.repetition.max(1) {
                self.memory.repeated = None;
                let title = call.title();
                return Some(format!("\"{title}\" failed {count} times in the same way."));
            }
        }
        None
    }
}

/// The card of a call that is forgotten with its broken answer.
pub(crate) fn dropped(call_id: CallId) -> Update {
    Update::CallSettled {
        call_id,
        status: CallStatus::Cancelled,
        content: Content::whole(Payload::Text {
            text: "The model's answer broke before this call started; it is asked again."
                .to_owned(),
        }),
        why: None,
        duration_ms: 0,
    }
}

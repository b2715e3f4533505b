//! A session that is loaded: the core's session, its transcript, what runs for it, and what the
//! editor was told of it.

use std::collections::BTreeMap;

use tokio_util::sync::CancellationToken;
use toolgate_core::command::Command;
use toolgate_core::event::RequestId;
use toolgate_core::fact::{Fact, ModelBlock};
use toolgate_core::session::Session;
use toolgate_protocol::asks::AskOpened;
use toolgate_protocol::ids::{AskId, CallId, SessionId};
use toolgate_protocol::notices::{SessionUpdate, Update};

use crate::crew::bound;
use crate::crew::contents::Contents;
use crate::crew::inbox::{Outgoing, Outlet};
use crate::crew::projection::CallRecord;
use crate::store::Transcript;

/// Most updates that are kept for a client that missed some; older ones come from the transcript.
const MOST_KEPT: usize = 20_000;

/// A loaded session.
pub struct Live {
    /// What decides.
    pub session: Session,
    /// What is remembered on disk.
    pub transcript: Transcript,
    /// What runs.
    pub running: Running,
    /// What the editor was told.
    pub told: Told,
    /// What was too large to tell.
    pub contents: Contents,
    /// All calls of the session.
    pub records: BTreeMap<CallId, CallRecord>,
    /// Refused answers of the present event, by prompt.
    pub refused: BTreeMap<AskId, String>,
    /// Prompts that are over, and how each ended: for an answer that comes too late.
    pub over: BTreeMap<AskId, String>,
}

/// What runs for a session.
#[derive(Default)]
pub struct Running {
    /// The open request.
    pub request: Option<(RequestId, CancellationToken)>,
    /// Calls that run.
    pub calls: BTreeMap<CallId, CancellationToken>,
    /// Prompts that are open, with what ends their deadline.
    pub asks: BTreeMap<AskId, (AskOpened, CancellationToken)>,
}

/// What the editor was told: numbered, kept for `load`, deltas merged.
pub struct Told {
    session: SessionId,
    epoch: String,
    seq: u32,
    kept: Vec<SessionUpdate>,
    delta: Option<Update>,
    outlet: Outlet,
}

impl Told {
    /// Nothing was told yet.
    pub fn new(session: SessionId, epoch: String, outlet: Outlet) -> Self {
        Self {
            session,
            epoch,
            seq: 0,
            kept: Vec::new(),
            delta: None,
            outlet,
        }
    }

    /// Tells an update. Streamed text and progress are held back until `flush` or until
    /// something else is told, and merge meanwhile: text is never lost, progress keeps the newest.
    /// True: something is held back.
    pub fn tell(&mut self, update: Update) -> bool {
        let merged = match (&mut self.delta, update) {
            (
                Some(Update::AgentMessageDelta { text }),
                Update::AgentMessageDelta { text: more },
            )
            | (Some(Update::ThoughtDelta { text }), Update::ThoughtDelta { text: more })
                if text.len() + more.len() < 16 * 1024 =>
            {
                text.push_str(&more);
                None
            }
            (
                Some(Update::CallProgress {
                    call_id,
                    text,
                    bytes,
                }),
                Update::CallProgress {
                    call_id: same,
                    text: newest,
                    bytes: more,
                },
            ) if *call_id == same => {
                *text = newest;
                *bytes = more;
                None
            }
            (_, update) => Some(update),
        };
        let Some(update) = merged else { return true };
        self.flush();
        let holds = matches!(
            update,
            Update::AgentMessageDelta { .. }
                | Update::ThoughtDelta { .. }
                | Update::CallProgress { .. }
        );
        match holds {
            true => self.delta = Some(update),
            false => self.send(update, true),
        }
        holds
    }

    /// True when something is held back.
    pub fn holds(&self) -> bool {
        self.delta.is_some()
    }

    /// Sends what is held back.
    pub fn flush(&mut self) {
        if let Some(update) = self.delta.take() {
            self.send(update, true);
        }
    }

    /// Remembers an update without sending it: what a transcript tells.
    pub fn remember(&mut self, update: Update) {
        self.send(update, false);
    }

    fn send(&mut self, update: Update, out: bool) {
        for update in bound::updates(update) {
            self.send_one(update, out);
        }
    }

    fn send_one(&mut self, update: Update, out: bool) {
        self.seq += 1;
        let update = SessionUpdate {
            session_id: self.session.clone(),
            epoch: self.epoch.clone(),
            seq: self.seq,
            agent_id: None,
            parent_call_id: None,
            update,
        };
        // Progress is worth nothing later, and would fill the memory of a long command.
        if !matches!(update.update, Update::CallProgress { .. }) {
            self.kept.push(update.clone());
        }
        if self.kept.len() > MOST_KEPT {
            self.kept.drain(..MOST_KEPT / 2);
        }
        if out {
            // A door that is gone has nobody left to tell.
            let _ = self.outlet.send(Outgoing::Update(update));
        }
    }

    /// The updates after number `seq`; none when they are no longer kept.
    pub fn since(&self, seq: u32) -> Option<&[SessionUpdate]> {
        let first = self.kept.first().map_or(self.seq + 1, |update| update.seq);
        if seq + 1 < first && first > 1 {
            return None;
        }
        let from = self.kept.partition_point(|update| update.seq <= seq);
        Some(&self.kept[from..])
    }

    /// All updates that are kept.
    pub fn all(&self) -> &[SessionUpdate] {
        &self.kept
    }
}

impl Live {
    /// A session that was just made or loaded.
    pub fn new(session: Session, transcript: Transcript, told: Told) -> Self {
        Self {
            session,
            transcript,
            running: Running::default(),
            told,
            contents: Contents::default(),
            records: BTreeMap::new(),
            refused: BTreeMap::new(),
            over: BTreeMap::new(),
        }
    }

    /// Keeps what `call/get` will be asked for.
    pub fn record(&mut self, command: &Command) {
        match command {
            Command::Append(Fact::Block {
                block:
                    ModelBlock::Call {
                        call, name, input, ..
                    },
            }) => {
                self.records
                    .insert(call.clone(), CallRecord::of(name, input));
            }
            Command::Append(Fact::Ended {
                call,
                block,
                structured,
                ..
            }) => {
                if let Some(record) = self.records.get_mut(call) {
                    record.block = serde_json::from_str(block).ok();
                    record.structured = structured.as_deref().cloned();
                }
            }
            _ => {}
        }
    }

    /// Ends everything that runs without waiting for it: the program ends.
    pub fn abandon(&mut self) {
        if let Some((_, token)) = self.running.request.take() {
            token.cancel();
        }
        for token in self.running.calls.values() {
            token.cancel();
        }
        for (_, token) in self.running.asks.values() {
            token.cancel();
        }
    }
}

//! One session: what it owns, and the one function through which everything happens to it.
//!
//! Invariants: `handle` is pure (no clock, no I/O) and cheap (it moves shared parts and never
//! touches more than 64 KiB). Everything the session wants leaves through `out`, in order. A call
//! that is accepted lives in `turn.calls` until it has its outcome; history only grows, and only
//! by a whole answer or by the message that answers all its calls. The files beside this one hold
//! the session's parts: `turn` (requests and answers), `admit` (gates), `asks` (the person),
//! `settle` (outcomes).

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use toolgate_protocol::ids::{CallId, SessionId, TurnId};
use toolgate_protocol::notices::{Mode, NoticeLevel, Update};
use toolgate_protocol::requests::{PromptBlock, When};

use crate::call::Call;
use crate::catalog::Catalog;
use crate::command::{Command, StopSource};
use crate::event::Event;
use crate::fact::Fact;
use crate::job::{Done, Job};
use crate::ledger::{Ledger, ReadPolicy, Seen};
use crate::message::{History, Part};
use crate::permission::RuleSet;
use crate::place::Place;
use crate::schedule;
use crate::turn::{Phase, Turn};
use crate::version::Version;

/// What is fixed for a session.
pub struct Setup {
    /// Its name.
    pub session: SessionId,
    /// Its tools.
    pub catalog: Catalog,
    /// The `system` array, serialised once.
    pub system: Part,
    /// The home directory.
    pub home: String,
    /// Workspace roots and additional directories, canonical.
    pub roots: Vec<String>,
    /// True when the file system folds case.
    pub fold_case: bool,
    /// The scheduler's settings.
    pub scheduler: schedule::Rules,
    /// `files.read_before_edit`.
    pub read_policy: ReadPolicy,
    /// Limits of a turn.
    pub limits: Limits,
}

/// Limits of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most requests of a turn.
    pub max_turns: Option<u32>,
    /// Most tokens of one answer.
    pub max_answer_tokens: u32,
    /// The same call failing the same way so many times in a row asks the person.
    pub repetition: u32,
    /// Most tries of one request after the first.
    pub max_retries: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_turns: None,
            max_answer_tokens: 32_000,
            repetition: 3,
            max_retries: 8,
        }
    }
}

/// What may change while a session lives.
#[derive(Clone, Debug)]
pub struct State {
    /// The permission mode.
    pub mode: Mode,
    /// The model.
    pub model: String,
    /// The working directory.
    pub cwd: String,
    /// Permission rules: those of the settings, and those of the session.
    pub rules: RuleSet,
}

/// Numbers that only grow: ids come from here (law 10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Calls so far.
    pub calls: u32,
    /// Prompts to the person so far.
    pub asks: u32,
    /// Requests so far.
    pub requests: u32,
    /// Sync tokens so far.
    pub tokens: u32,
}

/// A prompt that waits for its turn.
#[derive(Clone, Debug)]
pub struct Queued {
    /// The turn it will be.
    pub turn: TurnId,
    /// What is said.
    pub content: Vec<PromptBlock>,
}

/// What goes before every request: fixed for the session.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The `tools` array.
    pub tools: Part,
    /// The `system` array.
    pub system: Part,
}

/// What the model saw and did.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// What it saw of files.
    pub ledger: Ledger,
    /// Files read in the present answer, and what the model had seen of them before: a Write of
    /// the same answer was written before its content was seen.
    pub read_now: BTreeMap<Place, Option<Seen>>,
    /// Files that are another now than the model saw, as far as hints tell: told with the next
    /// request.
    pub changed: BTreeMap<Place, Option<Version>>,
    /// The failure that came last, and how often in a row.
    pub repeated: Option<(String, u32)>,
}

/// What waits for the turn to end.
#[derive(Clone, Debug, Default)]
pub struct Ahead {
    /// Prompts.
    pub queue: VecDeque<Queued>,
    /// Texts for the model that go before the next prompt.
    pub pending: Vec<Part>,
}

/// One session.
pub struct Session {
    pub(crate) setup: Arc<Setup>,
    pub(crate) state: State,
    pub(crate) frame: Frame,
    pub(crate) history: History,
    pub(crate) memory: Memory,
    pub(crate) turn: Option<Turn>,
    pub(crate) ahead: Ahead,
    pub(crate) counters: Counters,
    pub(crate) out: Vec<Command>,
}

impl Session {
    /// A session that has not said anything yet. Its first commands are its first facts.
    pub fn new(setup: Arc<Setup>, state: State) -> (Self, Vec<Command>) {
        let facts = vec![
            Command::Append(Fact::Session {
                version: crate::fact::VERSION,
                session: setup.session.clone(),
                cwd: state.cwd.clone(),
            }),
            Command::Append(Fact::Frame {
                tools: setup.catalog.bytes(),
                system: Part::clone(&setup.system),
            }),
            Command::Append(Fact::Mode { mode: state.mode }),
            Command::Append(Fact::Model {
                model: state.model.clone(),
            }),
        ];
        (Self::bare(setup, state), facts)
    }

    pub(crate) fn bare(setup: Arc<Setup>, state: State) -> Self {
        let frame = Frame {
            tools: setup.catalog.bytes(),
            system: Part::clone(&setup.system),
        };
        Self {
            setup,
            state,
            frame,
            history: History::default(),
            memory: Memory::default(),
            turn: None,
            ahead: Ahead::default(),
            counters: Counters::default(),
            out: Vec::new(),
        }
    }

    /// The running turn.
    pub fn turn_id(&self) -> Option<&TurnId> {
        self.turn.as_ref().map(|turn| &turn.id)
    }

    /// What may change: mode, model, directory, rules.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The history as it will be sent.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// What the model saw.
    pub fn ledger(&self) -> &Ledger {
        &self.memory.ledger
    }

    /// The calls of the answer that is being worked on.
    pub fn calls(&self) -> &[Call] {
        self.turn.as_ref().map_or(&[], |turn| &turn.calls)
    }

    /// The one function: what happened, and what the session wants because of it.
    pub fn handle(&mut self, event: Event) -> Vec<Command> {
        match event {
            Event::Prompt {
                turn,
                content,
                when,
            } => self.prompt(turn, content, when),
            Event::Cancel => self.cancel(),
            Event::CancelCall(call) => self.cancel_call(&call),
            Event::Answer(answer) => self.answered(answer),
            Event::AskExpired(ask) => self.unanswered(&ask, true),
            Event::NobodyToAsk(ask) => self.unanswered(&ask, false),
            Event::SetMode(mode) => self.set_mode(mode),
            Event::SetModel(model) => self.set_model(model),
            Event::Stream { request, event } => self.streamed(request, event),
            Event::Probed { call, answers } => self.probed(&call, answers),
            Event::Looked { call, found } => self.looked(&call, found),
            Event::Computed { call, done } => self.computed(call, done),
            Event::Granted { call, documents } => self.granted(&call, documents),
            Event::Durable { token } => self.durable(token),
            Event::FileChanged { place, version } => {
                self.memory.changed.insert(place, version);
            }
            Event::TranscriptFailed(text) => self.transcript_failed(text),
            Event::Progress { call, text, bytes } => self.progressed(call, text, bytes),
            Event::Finished { call, raw, ms } => self.finished(&call, *raw, ms),
        }
        self.advance();
        std::mem::take(&mut self.out)
    }

    pub(crate) fn push(&mut self, command: Command) {
        self.out.push(command);
    }

    pub(crate) fn tell(&mut self, update: Update) {
        self.out.push(Command::Tell(update));
    }

    pub(crate) fn append(&mut self, fact: Fact) {
        self.out.push(Command::Append(fact));
    }

    pub(crate) fn notice(&mut self, level: NoticeLevel, text: String) {
        self.tell(Update::Notice { level, text });
    }

    pub(crate) fn next_token(&mut self) -> u32 {
        self.counters.tokens += 1;
        self.counters.tokens
    }

    /// The position of a call among those of the answer that is being worked on.
    pub(crate) fn index_of(&self, id: &CallId) -> Option<usize> {
        self.calls().iter().position(|call| call.id == *id)
    }

    pub(crate) fn call_mut(&mut self, index: usize) -> Option<&mut Call> {
        self.turn
            .as_mut()
            .and_then(|turn| turn.calls.get_mut(index))
    }

    fn prompt(&mut self, id: TurnId, content: Vec<PromptBlock>, when: When) {
        if self.turn.is_none() {
            return self.begin(Queued { turn: id, content });
        }
        match when {
            When::NextRequest => self.interject(content),
            When::Steer => {
                self.skip_unstarted();
                self.interject(content);
            }
            When::Interrupt => {
                self.ahead.queue.push_front(Queued { turn: id, content });
                self.cancel();
            }
            When::AfterTurn => self.ahead.queue.push_back(Queued { turn: id, content }),
        }
    }

    fn interject(&mut self, content: Vec<PromptBlock>) {
        if let Some(turn) = &mut self.turn {
            turn.freezing += 1;
        }
        self.push(Command::Compute {
            call: None,
            job: Job::Freeze(content),
        });
    }

    pub(crate) fn begin(&mut self, queued: Queued) {
        self.tell(Update::TurnStarted {
            turn_id: queued.turn.clone(),
        });
        self.turn = Some(Turn::new(queued.turn));
        self.push(Command::Compute {
            call: None,
            job: Job::Freeze(queued.content),
        });
    }

    fn computed(&mut self, call: Option<CallId>, done: Done) {
        match (call, done) {
            (None, Done::Frozen { blocks, text }) => self.frozen(blocks, text),
            (Some(call), Done::Fits { input, digest }) => self.fits(&call, input, digest),
            (Some(call), Done::Planned { plan, note }) => self.planned(&call, plan, note),
            (Some(call), Done::Refused(raw)) => self.refused(&call, *raw),
            (Some(call), Done::Settled(outcome)) => self.settled(&call, *outcome),
            // A result without its call, or with one it cannot be for: void.
            (None, _) | (Some(_), Done::Frozen { .. }) => {}
        }
    }

    fn set_mode(&mut self, mode: Mode) {
        self.state.mode = mode;
        self.append(Fact::Mode { mode });
        self.tell(Update::Mode { mode });
    }

    fn set_model(&mut self, model: String) {
        self.append(Fact::Model {
            model: model.clone(),
        });
        self.tell(Update::Model {
            model: model.clone(),
        });
        self.state.model = model;
    }

    fn transcript_failed(&mut self, text: String) {
        self.notice(
            NoticeLevel::Error,
            format!("The transcript can no longer be written: {text}. The turn ends here."),
        );
        if let Some(turn) = &mut self.turn {
            turn.fatal = Some(format!("the transcript can no longer be written: {text}"));
            turn.lost = true;
            if matches!(turn.phase, Phase::Syncing(_)) {
                turn.phase = Phase::Settling;
            }
        }
        self.stop_all(StopSource::Turn, "the transcript can no longer be written");
    }

    /// The person ends the turn.
    pub(crate) fn cancel(&mut self) {
        match &mut self.turn {
            None => return,
            Some(turn) => turn.cancelled = true,
        }
        self.stop_all(StopSource::Turn, "the person stopped the turn");
    }

    /// Ends the stream, withdraws prompts, settles what has not started, stops what runs.
    fn stop_all(&mut self, source: StopSource, why: &str) {
        let Some(turn) = &self.turn else { return };
        if turn.phase == Phase::Streaming {
            let request = turn.request;
            self.push(Command::StopRequest(request));
            self.answer_over(false);
        }
        self.close_repetition();
        for index in 0..self.calls().len() {
            self.stop_call(index, source.clone(), why);
        }
    }

    fn cancel_call(&mut self, id: &CallId) {
        if let Some(index) = self.index_of(id) {
            self.stop_call(index, StopSource::Call, "the person stopped this call");
        }
    }

    fn skip_unstarted(&mut self) {
        for index in 0..self.calls().len() {
            if self.calls()[index].unstarted() {
                self.stop_call(index, StopSource::Message, "the person sent a new message");
            }
        }
    }
}

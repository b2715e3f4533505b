//! One call and how far it is.
//!
//! The visible states are closed: `Arrived → Fitting → Hooking → Asking → Waiting → Running →
//! Stopping → Ended`; `legal` is the one table of steps between them. Within a state a `Step`
//! says what the call waits for. Accepting a call makes its outcome slot; `end` fills it once and
//! only `end` leads to `Ended` (law 1).

use std::sync::Arc;

use serde_json::Value;
use toolgate_protocol::asks::AskOption;
use toolgate_protocol::ids::{AskId, CallId};
pub use toolgate_protocol::notices::CallState;

use crate::catalog::Entry;
use crate::command::StopSource;
use crate::definition::Effects;
use crate::document::Documents;
use crate::edit::Plan;
use crate::message::Part;
use crate::outcome::Outcome;
use crate::permission::Decision;
use crate::place::PathAnswer;
use crate::schedule::Phase;
use crate::shown::shown;

/// What a call waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Its shape is checked on a worker.
    Fit,
    /// Its paths are looked at.
    Probe,
    /// Earlier conflicting calls have not ended.
    Order,
    /// The content of the file it changes is looked at.
    Look,
    /// The change is planned on a worker.
    Plan,
    /// Earlier calls have not been asked about yet, or the message has not ended.
    AskTurn,
    /// The person's answer.
    Ask,
    /// The end of the message, or a free place among the running.
    Start,
    /// The desk gives its places.
    Acquire,
    /// Its paths are looked at a last time.
    Recheck,
    /// Its `started` record is made durable.
    Sync,
    /// It runs.
    Run,
    /// It was told to stop and has not ended.
    Stop,
    /// Its outcome is made on a worker.
    Settle,
    /// It has its outcome.
    Ended,
}

impl Step {
    /// The visible state. A call that is being settled keeps the state it came from.
    fn state(&self) -> Option<CallState> {
        match self {
            Self::Fit | Self::Probe | Self::Order | Self::Look | Self::Plan => {
                Some(CallState::Fitting)
            }
            Self::AskTurn | Self::Ask => Some(CallState::Asking),
            Self::Start | Self::Acquire | Self::Recheck | Self::Sync => Some(CallState::Waiting),
            Self::Run => Some(CallState::Running),
            Self::Stop => Some(CallState::Stopping),
            Self::Settle | Self::Ended => None,
        }
    }

    /// How the scheduler sees it. A call that asked the desk holds a place among the running
    /// until it has truly ended (law 4).
    pub fn phase(&self) -> Phase {
        match self {
            Self::Fit
            | Self::Probe
            | Self::Order
            | Self::Look
            | Self::Plan
            | Self::AskTurn
            | Self::Ask
            | Self::Start => Phase::Before,
            Self::Acquire | Self::Recheck | Self::Sync | Self::Run | Self::Stop | Self::Settle => {
                Phase::Running
            }
            Self::Ended => Phase::Ended,
        }
    }
}

/// The table of legal steps between visible states; `None` is the end.
pub fn legal(from: CallState, to: Option<CallState>) -> bool {
    use CallState::{Arrived, Asking, Fitting, Hooking, Running, Stopping, Waiting};
    match (from, to) {
        (_, None) => true,
        (Arrived, Some(Fitting)) => true,
        (Fitting, Some(Fitting | Hooking | Asking | Waiting)) => true,
        (Hooking, Some(Fitting | Asking | Waiting)) => true,
        (Asking, Some(Asking | Waiting)) => true,
        (Waiting, Some(Waiting | Running)) => true,
        (Running, Some(Stopping)) => true,
        (Arrived | Fitting | Hooking | Asking | Waiting | Running | Stopping, Some(_)) => false,
    }
}

/// A prompt that is open for a call.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenAsk {
    /// The prompt.
    pub id: AskId,
    /// Of what would run.
    pub digest: String,
    /// What may be answered.
    pub options: Vec<AskOption>,
}

/// What the gates found out about a call.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The input, once it fits.
    pub input: Option<Arc<Value>>,
    /// blake3 of the canonical input.
    pub input_digest: String,
    /// Its paths.
    pub answers: Vec<PathAnswer>,
    /// What it would do; none while that is not computed.
    pub effects: Option<Effects>,
    /// The change of a file.
    pub plan: Option<Arc<Plan>>,
    /// What was decided.
    pub decision: Option<Decision>,
    /// blake3 of what was allowed.
    pub allowed: Option<String>,
    /// What the desk knew at the grant.
    pub documents: Documents,
    /// A word of the person that goes with the outcome.
    pub comment: Option<String>,
}

/// One call.
#[derive(Clone)]
pub struct Call {
    /// Our id.
    pub id: CallId,
    /// The provider's id, made unique.
    pub provider_id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The input as received.
    pub raw_input: Part,
    /// The tool, if there is one.
    pub entry: Option<Entry>,
    /// What the gates found out.
    pub found: Findings,
    /// What it waits for, and what the editor was told.
    pub progress: Progress,
    /// The prompt that is open.
    pub ask: Option<OpenAsk>,
    /// Its outcome: filled once.
    pub outcome: Option<Outcome>,
}

/// How far a call is, and what the editor was told of that.
#[derive(Clone, Debug)]
pub struct Progress {
    /// What it waits for.
    pub step: Step,
    /// The state that was told last.
    pub told: CallState,
    /// Why it waits now.
    pub waits: Option<String>,
    /// The reason that the editor was told last.
    pub waits_told: Option<String>,
    /// True once `call_started` was told.
    pub announced: bool,
    /// True when it had to wait for another call: its paths are looked at again.
    pub waited: bool,
    /// Who told it to stop.
    pub stop: Option<StopSource>,
    /// True once the desk was asked for its places: they are given back at the end.
    pub acquired: bool,
    /// Token of the sync that makes its `started` record durable.
    pub token: u32,
    /// True once it was given to an executor.
    pub ran: bool,
    /// Milliseconds that it ran.
    pub ms: u32,
    /// True when the person or a rule said no.
    pub denied: bool,
}

impl Call {
    /// A call that has just arrived.
    pub fn new(id: CallId, provider_id: String, name: String, raw_input: Part) -> Self {
        Self {
            id,
            provider_id,
            name,
            raw_input,
            entry: None,
            found: Findings::default(),
            progress: Progress {
                step: Step::Fit,
                told: CallState::Arrived,
                waits: None,
                waits_told: None,
                announced: false,
                waited: false,
                stop: None,
                acquired: false,
                token: 0,
                ran: false,
                ms: 0,
                denied: false,
            },
            ask: None,
            outcome: None,
        }
    }

    /// The state that the editor should see.
    pub fn state(&self) -> CallState {
        self.progress.step.state().unwrap_or(self.progress.told)
    }

    /// True once its outcome is there.
    pub fn ended(&self) -> bool {
        self.progress.step == Step::Ended
    }

    /// True when no executor has been given it, and no outcome is being made.
    pub fn unstarted(&self) -> bool {
        !self.progress.ran && !matches!(self.progress.step, Step::Settle | Step::Ended)
    }

    /// For the person: made from the input.
    pub fn title(&self) -> String {
        match (&self.entry, &self.found.input) {
            (Some(entry), Some(input)) => shown(&entry.face.describe(input)),
            _ => shown(&self.name),
        }
    }
}

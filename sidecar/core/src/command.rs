//! Everything a session can want from the world: one closed list.
//!
//! The runner carries out commands in their order and answers with events. It decides nothing:
//! what runs is, to the byte, what stands here (law 6).

use std::sync::Arc;

use serde_json::Value;
use toolgate_protocol::asks::{AskClosed, AskOpened};
use toolgate_protocol::ids::{AskId, CallId};
use toolgate_protocol::notices::Update;

use crate::document::Documents;
use crate::edit::Plan;
use crate::event::RequestId;
use crate::fact::Fact;
use crate::job::Job;
use crate::message::Part;
use crate::place::{Aim, PathAnswer, Place};

/// Something the session wants.
#[derive(Clone, Debug)]
pub enum Command {
    /// Send this request; answered by `Event::Stream`.
    Request(Request),
    /// Drop the request's stream.
    StopRequest(RequestId),
    /// Look at paths; answered by `Event::Probed`.
    Probe {
        /// The call.
        call: CallId,
        /// Directory that relative paths start from.
        cwd: String,
        /// The paths.
        aims: Vec<Aim>,
    },
    /// Look at a file's content; answered by `Event::Looked`.
    Look {
        /// The call.
        call: CallId,
        /// The file.
        place: Place,
    },
    /// Carry out a pure job on a worker; answered by `Event::Computed`.
    Compute {
        /// The call it is for; none for a prompt.
        call: Option<CallId>,
        /// The job.
        job: Job,
    },
    /// Ask the desk for places; answered by `Event::Granted`.
    Acquire {
        /// The call.
        call: CallId,
        /// The places, and whether they are written.
        claims: Vec<Claim>,
    },
    /// Give the places back: the call has truly ended.
    Release(CallId),
    /// Append facts to the transcript, in order.
    Append(Fact),
    /// Make all appended facts durable; answered by `Event::Durable`.
    Sync {
        /// Comes back in the answer.
        token: u32,
    },
    /// Execute; answered by `Event::Progress` and one `Event::Finished`.
    Run(Task),
    /// Tell a running call to stop; it still ends with `Event::Finished`.
    Stop {
        /// The call.
        call: CallId,
        /// Who stops it, for the outcome's text.
        source: StopSource,
    },
    /// Ask the person; answered by `Event::Answer`, `AskExpired` or `NobodyToAsk`.
    Ask {
        /// The prompt; its content is filled from the plan by the runner.
        opened: Box<AskOpened>,
        /// The change that is asked about: shown as it will be written.
        plan: Option<Arc<Plan>>,
    },
    /// The prompt is over.
    CloseAsk(AskClosed),
    /// An answer was not taken; the one who sent it is told why.
    RefuseAnswer {
        /// The prompt it was for.
        ask: AskId,
        /// Why, and who decided.
        why: String,
    },
    /// Tell the editor.
    Tell(Update),
    /// Save a rule for good, as the person chose.
    SaveRule {
        /// The rule, as written.
        rule: String,
        /// True: an allow rule; false: a deny rule.
        allow: bool,
    },
}

/// Who ended a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopSource {
    /// The person ended the turn.
    Turn,
    /// The person ended this call.
    Call,
    /// A call before it failed.
    Sibling(CallId),
    /// A new message of the person.
    Message,
}

/// A place that a call wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The place.
    pub place: Place,
    /// True when it is written.
    pub write: bool,
}

/// One model request. The body is, in this order: model and limits, `tools`, `system`,
/// `messages`; all of it but the last two brackets is a prefix of the next request.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its number.
    pub id: RequestId,
    /// The model.
    pub model: String,
    /// Most tokens of the answer.
    pub max_tokens: u32,
    /// The tools array, serialised once for the session.
    pub tools: Part,
    /// The system array, serialised once for the session.
    pub system: Part,
    /// The parts of the messages array, without its brackets.
    pub messages: Arc<Vec<Part>>,
    /// 0 for the first try.
    pub attempt: u32,
    /// Milliseconds to wait before it is sent; the runner adds jitter.
    pub delay_ms: u64,
}

/// What runs, to the byte.
#[derive(Clone, Debug)]
pub struct Task {
    /// The call.
    pub call: CallId,
    /// The tool's own name (not an alias).
    pub tool: String,
    /// The input that was allowed.
    pub input: Arc<Value>,
    /// Its paths, looked at again right before the start.
    pub answers: Vec<PathAnswer>,
    /// What the desk knows of open documents.
    pub documents: Documents,
    /// The change of a file, with what was refused by the person already taken out.
    pub plan: Option<Arc<Plan>>,
    /// Working directory.
    pub cwd: String,
}

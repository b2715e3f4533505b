//! A turn as data: its phase, the calls and blocks of the answer that is being worked on, what
//! goes with the next request, and its tally. What happens to it is in `answer`.

use toolgate_protocol::ids::{AskId, TurnId};
use toolgate_protocol::notices::Usage;

use crate::call::Call;
use crate::event::{ModelStop, RequestId};
use crate::message::Part;

/// Where a turn is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Its prompt is being serialised.
    Freezing,
    /// A request is open.
    Streaming,
    /// The answer is over; its calls have not all ended.
    Settling,
    /// All calls have ended; their records are being made durable.
    Syncing(u32),
    /// The person is asked whether to go on.
    Repeating(AskId),
}

/// A complete block of the answer.
#[derive(Clone, Debug)]
pub enum Received {
    /// Bytes to pass back.
    Json(Part),
    /// The call with this index.
    Call(usize),
}

/// One turn.
pub struct Turn {
    /// Its name.
    pub id: TurnId,
    /// Where it is.
    pub phase: Phase,
    /// The request that is open, or was last.
    pub request: RequestId,
    /// The calls of the answer that is being worked on, in order.
    pub calls: Vec<Call>,
    /// Its complete blocks.
    pub blocks: Vec<Received>,
    /// What goes with the next request.
    pub next: Next,
    /// Tokens and tries.
    pub tally: Tally,
    /// Prompts of the person that are being serialised.
    pub freezing: u32,
    /// True once the person stopped it.
    pub cancelled: bool,
    /// Why it cannot go on, once that is so.
    pub fatal: Option<String>,
    /// True once the transcript can no longer be written: nothing can be made durable.
    pub lost: bool,
    /// Why the model stopped last.
    pub stop: Option<ModelStop>,
}

/// What goes with the next request, behind the results.
#[derive(Clone, Debug, Default)]
pub struct Next {
    /// Texts of ours for the model.
    pub notes: Vec<Part>,
    /// What the person said meanwhile.
    pub said: Vec<Part>,
}

/// Tokens and tries of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Requests so far, tries of one request counted once.
    pub requests: u32,
    /// Tries of the present request after the first.
    pub attempt: u32,
    /// Tokens of the requests before the present one.
    pub before: Usage,
    /// Tokens of the present request.
    pub present: Usage,
}

impl Tally {
    /// Tokens of the whole turn.
    pub fn total(&self) -> Usage {
        Usage {
            input_tokens: self
                .before
                .input_tokens
                .saturating_add(self.present.input_tokens),
            output_tokens: self
                .before
                .output_tokens
                .saturating_add(self.present.output_tokens),
            cache_read_tokens: self
                .before
                .cache_read_tokens
                .saturating_add(self.present.cache_read_tokens),
            cache_write_tokens: self
                .before
                .cache_write_tokens
                .saturating_add(self.present.cache_write_tokens),
        }
    }
}

impl Turn {
    /// A turn whose prompt is being serialised.
    pub fn new(id: TurnId) -> Self {
        Self {
            id,
            phase: Phase::Freezing,
            request: 0,
            calls: Vec::new(),
            blocks: Vec::new(),
            next: Next::default(),
            tally: Tally::default(),
            freezing: 1,
            cancelled: false,
            fatal: None,
            lost: false,
            stop: None,
        }
    }
}

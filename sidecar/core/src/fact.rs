//! What the transcript holds: facts, versioned, from which resume rebuilds the session without
//! deciding anything again (spec: architecture.md, "Two logs"; outcomes.md, "Transcript").
//!
//! A fact is written as one line of JSON. It never holds keystrokes, stream deltas, progress or
//! file bytes. New kinds may come; a reader keeps what it does not know and goes on.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolgate_protocol::ids::{CallId, SessionId, TurnId};
use toolgate_protocol::notices::{CallStatus, Mode, StopReason, Usage};

use crate::message::Part;

/// Version of the facts' form.
pub const VERSION: u32 = 1;

/// One fact of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum Fact {
    /// The first of every transcript.
    Session {
        /// `VERSION`.
        version: u32,
        /// The session.
        session: SessionId,
        /// Its working directory.
        cwd: String,
    },
    /// The tool set and system prompt, as sent from now on, to the byte.
    Frame {
        /// The `tools` array.
        tools: Part,
        /// The `system` array.
        system: Part,
    },
    /// A turn began.
    TurnStarted {
        /// The turn.
        turn: TurnId,
        /// What the person said, for lists of sessions and the panel.
        text: String,
    },
    /// A message of the person entered history: serialised blocks.
    User {
        /// The blocks, in order; a result is named, not repeated.
        blocks: Vec<UserBlock>,
    },
    /// A block of the model's answer is complete.
    Block {
        /// It.
        block: ModelBlock,
    },
    /// The answer is over: the blocks since the last such mark enter history.
    AnswerEnd {
        /// False when the stream broke or was stopped before its end.
        whole: bool,
    },
    /// The answer broke before anything started: its blocks are forgotten, the request is sent
    /// again.
    AnswerDropped,
    /// A decision about a call.
    Decision {
        /// The call.
        call: CallId,
        /// `allow`, `ask` or `deny`.
        verdict: String,
        /// The rule that decided, and where it stands.
        rule: String,
        /// Digest of what was decided on.
        digest: String,
    },
    /// A call is about to start.
    Started {
        /// The call.
        call: CallId,
        /// True when it may have effects: the record is durable before it starts (law 11).
        effects: bool,
        /// What a write intends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        intent: Option<Intent>,
    },
    /// A call has its outcome.
    Ended {
        /// The call.
        call: CallId,
        /// The model's view: one `tool_result` block, to the byte.
        block: Part,
        /// How it ended.
        status: CallStatus,
        /// The structured output.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        structured: Option<Arc<serde_json::Value>>,
        /// Milliseconds that it ran.
        ms: u32,
    },
    /// What the model saw of a file, or what Toolgate wrote there.
    Shown {
        /// The call.
        call: CallId,
        /// Canonical path.
        path: String,
        /// Hex of the version.
        version: String,
        /// First and last lines, counted from 1: pairs, flat.
        lines: Vec<u32>,
        /// How many lines the text has.
        total_lines: u32,
        /// True when one Read shows all of it.
        one_read_shows_all: bool,
    },
    /// The permission mode changed.
    Mode {
        /// The mode.
        mode: Mode,
    },
    /// The model changed.
    Model {
        /// Its name.
        model: String,
    },
    /// A rule holds until the session ends.
    SessionRule {
        /// The rule, as written.
        rule: String,
        /// True: an allow rule.
        allow: bool,
    },
    /// The working directory changed.
    Cwd {
        /// Absolute path.
        cwd: String,
    },
    /// The model's plan changed.
    Todo {
        /// The tool's input.
        todos: serde_json::Value,
    },
    /// A request's tokens.
    Usage {
        /// They.
        usage: Usage,
    },
    /// A turn ended.
    TurnEnded {
        /// The turn.
        turn: TurnId,
        /// Why.
        reason: StopReason,
    },
    /// A kind of a later version: kept out of the way.
    #[serde(other)]
    Unknown,
}

/// One block of a user message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UserBlock {
    /// The block of this call's `Ended`.
    Result(CallId),
    /// A serialised block.
    Json(Part),
}

/// One block of the model's message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelBlock {
    /// A serialised block.
    Json(Part),
    /// A call.
    Call {
        /// Our id.
        call: CallId,
        /// The provider's id, made unique.
        id: String,
        /// The tool's name as written.
        name: String,
        /// The input as received.
        input: Part,
    },
}

/// What a write intends: lets resume tell whether it happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    /// Canonical path.
    pub path: String,
    /// Hex of the version before; none for a new file.
    pub base: Option<String>,
    /// Hex of the version after.
    pub new: String,
}

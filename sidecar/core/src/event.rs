//! Everything that can happen to a session: one closed list (style rule 2).
//!
//! New input means a new variant. Events carry facts, never decisions; time and ids that the
//! core could not know arrive as their fields. A trace of events replays a session (law 10).

use std::sync::Arc;

use serde_json::Value;
use toolgate_protocol::asks::{HunkChoice, OptionKind};
use toolgate_protocol::ids::{AskId, CallId, TurnId};
use toolgate_protocol::notices::{Mode, Usage};
use toolgate_protocol::requests::{PromptBlock, When};

use crate::document::{Documents, OpenDocument};
use crate::job::Done;
use crate::message::AssistantBlock;
use crate::outcome::Raw;
use crate::place::{PathAnswer, Place};
use crate::text::FileText;
use crate::version::Version;

/// Number of a model request within its session.
pub type RequestId = u32;

/// Something that happened to a session.
#[derive(Clone, Debug)]
pub enum Event {
    /// The person says something.
    Prompt {
        /// The turn that this prompt will be, should it begin one.
        turn: TurnId,
        /// What is said.
        content: Vec<PromptBlock>,
        /// What becomes of a turn that runs.
        when: When,
    },
    /// The person ends the turn.
    Cancel,
    /// The person ends one call.
    CancelCall(CallId),
    /// The person answers a prompt.
    Answer(Answer),
    /// Nobody answered in time.
    AskExpired(AskId),
    /// There is nobody who could answer this prompt (headless).
    NobodyToAsk(AskId),
    /// The permission mode is set.
    SetMode(Mode),
    /// The model is set.
    SetModel(String),
    /// Something came from the provider.
    Stream {
        /// The request it belongs to; events of another request are void.
        request: RequestId,
        /// What came.
        event: StreamEvent,
    },
    /// Paths were looked at; one answer an aim, in their order.
    Probed {
        /// The call that asked.
        call: CallId,
        /// The answers.
        answers: Vec<PathAnswer>,
    },
    /// A file's content was looked at: the open document's, else the disk's.
    Looked {
        /// The call that asked.
        call: CallId,
        /// What was found.
        found: Found,
    },
    /// A job is done.
    Computed {
        /// The call it was for; none for a prompt.
        call: Option<CallId>,
        /// Its result.
        done: Done,
    },
    /// The desk gives the places.
    Granted {
        /// The call that asked.
        call: CallId,
        /// Documents of its places that are open, and what is unsaved anywhere.
        documents: Documents,
    },
    /// Facts appended with this token are on disk.
    Durable {
        /// The token.
        token: u32,
    },
    /// A file that the model saw may be another now: what stands there, none where nothing or no
    /// text does. A hint: a lost one costs nothing but an earlier word to the model.
    FileChanged {
        /// The file.
        place: Place,
        /// What stands there.
        version: Option<Version>,
    },
    /// The transcript can no longer be written.
    TranscriptFailed(String),
    /// A running call goes on.
    Progress {
        /// The call.
        call: CallId,
        /// Newest lines, or what it is doing.
        text: String,
        /// Bytes of output so far.
        bytes: u64,
    },
    /// A running call has ended.
    Finished {
        /// The call.
        call: CallId,
        /// What it hands back.
        raw: Box<Raw>,
        /// Milliseconds that it ran.
        ms: u32,
    },
}

/// What the person said to a prompt.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The prompt.
    pub ask: AskId,
    /// The digest that it carried.
    pub digest: String,
    /// What was chosen.
    pub option: OptionKind,
    /// A word to the model.
    pub message: Option<String>,
    /// The input as the person changed it.
    pub input: Option<Arc<Value>>,
    /// Hunks taken or refused.
    pub hunks: Vec<HunkChoice>,
}

/// What a look at a file's content found.
#[derive(Clone, Debug)]
pub enum Found {
    /// Nothing stands there.
    Absent,
    /// A text.
    Text {
        /// It.
        text: Arc<FileText>,
        /// The document's version when it is open in the editor.
        open: Option<OpenDocument>,
    },
    /// Something that cannot be edited as text, or not be read: why, for the model.
    Unfit(String),
}

/// One event of the provider's stream, in one form for all providers.
#[derive(Clone, Debug)]
pub enum StreamEvent {
    /// More text.
    Text(String),
    /// More thinking.
    Thinking(String),
    /// A block is complete.
    Block(AssistantBlock),
    /// Tokens used by this request so far.
    Usage(Usage),
    /// The message is whole.
    Ended(ModelStop),
    /// The stream broke, or the request failed.
    Failed(Failure),
}

/// Why the model stopped. Never trusted alone: complete blocks decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelStop {
    /// It has nothing more to say.
    EndTurn,
    /// It waits for results.
    ToolUse,
    /// Its limit cut it.
    MaxTokens,
    /// It refused.
    Refusal,
    /// It wants to go on in another request.
    Pause,
    /// Anything else.
    Other(String),
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind.
    pub kind: FailureKind,
    /// For the person, without any key.
    pub text: String,
    /// Milliseconds that the provider asks to wait.
    pub retry_after_ms: Option<u64>,
}

/// What kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// 429, 529, 5xx, or an error event that says so: wait and try again.
    Overloaded,
    /// Connection refused, reset, timed out, idle, or cut: try again.
    Transport,
    /// The request is wrong (400): no retry.
    BadRequest,
    /// The key is wrong or missing (401, 403): no retry.
    Auth,
    /// The context is too long: no retry without compaction.
    TooLong,
    /// The stream broke the protocol: try again.
    Protocol,
    /// A script has no response left, or its expectation does not hold: no retry.
    Script,
}

impl FailureKind {
    /// True when the same request may succeed later.
    pub fn retryable(self) -> bool {
        match self {
            Self::Overloaded | Self::Transport | Self::Protocol => true,
            Self::BadRequest | Self::Auth | Self::TooLong | Self::Script => false,
        }
    }
}

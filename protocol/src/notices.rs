//! What the sidecar tells without being asked: the updates of a session
//! (spec: protocol.md, "Sidecar → client").

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::asks::Why;
use crate::ids::{AgentId, CallId, SessionId, TurnId};
use crate::render::{Content, Diff, PlanEntry};

/// `toolgate/session/update`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionUpdate {
    /// The session.
    pub session_id: SessionId,
    /// One sidecar process; another epoch means that `seq` starts again.
    pub epoch: String,
    /// Grows by one with every update of the session.
    pub seq: u32,
    /// The nested agent it is about, if it is not the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The call that the nested agent serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_call_id: Option<CallId>,
    /// What happened.
    pub update: Update,
}

/// What happened in a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "kind",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum Update {
    /// A turn began.
    TurnStarted {
        /// The turn.
        turn_id: TurnId,
    },
    /// What the person said.
    UserMessage {
        /// The text.
        text: String,
    },
    /// More of the model's answer.
    AgentMessageDelta {
        /// Text to append.
        text: String,
    },
    /// More of the model's thinking.
    ThoughtDelta {
        /// Text to append.
        text: String,
    },
    /// The model wrote a complete call.
    CallStarted {
        /// The call.
        call_id: CallId,
        /// The tool's name as the model wrote it.
        tool: String,
        /// What kind of call it is.
        call_kind: CallKind,
        /// Made from the input, for the person.
        title: String,
        /// The files it is about, absolute.
        #[serde(default)]
        locations: Vec<String>,
    },
    /// The call is in another state, or waits for another reason.
    CallState {
        /// The call.
        call_id: CallId,
        /// Its state.
        state: CallState,
        /// Why it waits, for the person: "after Edit a.rs", "your approval".
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waits: Option<String>,
    },
    /// The call goes on.
    CallProgress {
        /// The call.
        call_id: CallId,
        /// The newest lines of output, or what it is doing.
        text: String,
        /// Bytes of output so far.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<u32>,
    },
    /// The call has its outcome.
    CallSettled {
        /// The call.
        call_id: CallId,
        /// Whether it did what it should.
        status: CallStatus,
        /// What is drawn.
        content: Content,
        /// Who decided, if a decision was made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<Why>,
        /// Milliseconds from start to end; 0 if it never started.
        duration_ms: u32,
    },
    /// The tool set changed.
    ToolsChanged {
        /// The names, in the order sent to the model.
        tools: Vec<String>,
    },
    /// Hunks changed their state.
    ReviewChanged {
        /// The call they belong to.
        call_id: CallId,
        /// The file and its hunks as they are now.
        diff: Diff,
    },
    /// The model's plan changed.
    Plan {
        /// All entries.
        entries: Vec<PlanEntry>,
    },
    /// The permission mode changed.
    Mode {
        /// The mode.
        mode: Mode,
    },
    /// The model changed.
    Model {
        /// The model's name.
        model: String,
    },
    /// Tokens used.
    Usage(Usage),
    /// Files that calls changed.
    FilesChanged {
        /// Absolute paths.
        files: Vec<String>,
    },
    /// Something the person should know: a retry, a limit, a fault.
    Notice {
        /// How grave it is.
        level: NoticeLevel,
        /// For the person.
        text: String,
    },
    /// The turn is over.
    TurnEnded {
        /// The turn.
        turn_id: TurnId,
        /// Why it ended.
        stop_reason: StopReason,
        /// An explanation, where the reason needs one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// Tokens of the whole turn.
        usage: Usage,
    },
}

/// The states of a call (spec: architecture.md). An ended call is told by `call_settled`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// Complete, not looked at.
    Arrived,
    /// Its shape, places and meaning are checked.
    Fitting,
    /// Hooks look at it.
    Hooking,
    /// The person is asked.
    Asking,
    /// Allowed; waits for its turn.
    Waiting,
    /// Running.
    Running,
    /// Told to stop, not yet ended.
    Stopping,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// It did what it should.
    Completed,
    /// It ran and failed.
    Failed,
    /// It did not run: refused by a gate.
    Refused,
    /// It did not run: refused by the person or a rule.
    Denied,
    /// It was cancelled, before or while it ran.
    Cancelled,
    /// Whether it took effect cannot be told.
    Unknown,
}

/// What kind of call it is; chooses the icon. Names are those of the Agent Client Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// Reads a file.
    Read,
    /// Changes a file.
    Edit,
    /// Deletes.
    Delete,
    /// Searches.
    Search,
    /// Runs a command.
    Execute,
    /// Plans.
    Think,
    /// Fetches from the network.
    Fetch,
    /// Anything else.
    Other,
}

/// What a call would do (spec: call-lifecycle.md, "Traits").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Traits {
    /// Changes nothing.
    pub read_only: bool,
    /// Hard to undo.
    pub destructive: bool,
    /// Crosses the machine's boundary.
    pub open_world: bool,
}

/// The permission mode (spec: permissions.md 1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Ask where no rule decides.
    Default,
    /// Edits inside the working directories need no question.
    AcceptEdits,
    /// Edits are denied.
    Plan,
    /// What would be asked is denied.
    DontAsk,
    /// Nothing is asked but what the floor asks.
    BypassPermissions,
}

/// Tokens used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens read that were not in the cache.
    pub input_tokens: u32,
    /// Tokens written.
    pub output_tokens: u32,
    /// Tokens read from the cache.
    pub cache_read_tokens: u32,
    /// Tokens put into the cache.
    pub cache_write_tokens: u32,
}

/// How grave a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Something did not go as it should.
    Warning,
    /// Something failed.
    Error,
}

/// Why a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model has nothing more to say.
    EndTurn,
    /// The answer was cut by the model's limit.
    MaxTokens,
    /// `limits.max_turns` is reached.
    MaxTurnRequests,
    /// The model refused.
    Refusal,
    /// The person stopped it.
    Cancelled,
    /// A call kept failing in the same way.
    Repetition,
    /// The provider or the host failed; `message` says how.
    Error,
}

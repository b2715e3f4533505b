//! Asking the person: a notification with its own id, answered by a request of the client
//! (spec: protocol.md, `toolgate/ask/*`; permissions.md section 5).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, AskId, CallId, HunkId, SessionId};
use crate::notices::{CallKind, Traits};
use crate::render::Content;

/// `toolgate/ask/opened`: the person is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskOpened {
    /// The session that asks.
    pub session_id: SessionId,
    /// The prompt's name; an answer carries it.
    pub ask_id: AskId,
    /// The nested agent that asks, if it is not the main one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// What is asked.
    pub ask: Ask,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Ask {
    /// May this call run?
    Permission(Box<PermissionAsk>),
    /// The same call failed in the same way several times: go on?
    Repetition {
        /// The call that failed last.
        #[serde(rename = "callId")]
        call_id: CallId,
        /// What happened, for the person.
        text: String,
        /// What may be answered.
        options: Vec<AskOption>,
    },
    /// May this workspace contribute rules, hooks and servers?
    Trust {
        /// The folder.
        folder: String,
        /// What it wants to contribute, one line each.
        wants: Vec<String>,
        /// What may be answered.
        options: Vec<AskOption>,
    },
}

/// May this call run?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionAsk {
    /// The call.
    pub call_id: CallId,
    /// The tool's name.
    pub tool: String,
    /// What kind of call it is.
    pub call_kind: CallKind,
    /// Made from the input, plain text, control characters escaped.
    pub title: String,
    /// What the call would do.
    pub traits: Traits,
    /// The whole command, diff or input. While `content_ref` is there, allow options stay
    /// disabled until all its pages were fetched and shown.
    pub content: Content,
    /// Why it asks.
    pub why: Why,
    /// What may be answered, the safest first.
    pub options: Vec<AskOption>,
    /// blake3 of what would run: an answer must repeat it.
    pub digest: String,
    /// A text that the model wrote about the call, marked as such; never the basis of a decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_description: Option<String>,
}

/// Why a call was allowed, asked about or denied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Why {
    /// For the person.
    pub text: String,
    /// The rule that decided, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Where the rule stands: `flag`, `session`, `built-in`, or a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// One thing that may be answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskOption {
    /// What it means.
    pub option: OptionKind,
    /// For the person.
    pub label: String,
    /// The rules it would save or use, as written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
}

/// What an option means.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum OptionKind {
    /// Refuse this call; the model goes on.
    RejectOnce,
    /// Refuse this call and those like it, for good.
    RejectAlways,
    /// Refuse this call and stop the turn.
    RejectAndStop,
    /// Allow this call.
    AllowOnce,
    /// Allow this call and those like it until the session ends.
    AllowSession,
    /// Allow this call and those like it, for good.
    AllowAlways,
}

impl OptionKind {
    /// True when the option lets the call run.
    pub fn allows(self) -> bool {
        match self {
            Self::AllowOnce | Self::AllowSession | Self::AllowAlways => true,
            Self::RejectOnce | Self::RejectAlways | Self::RejectAndStop => false,
        }
    }
}

/// `toolgate/ask/answer`: what the person said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskAnswerParams {
    /// The prompt.
    pub ask_id: AskId,
    /// The digest that the prompt carried.
    pub digest: String,
    /// What was chosen.
    pub option: OptionKind,
    /// A word to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The input as the person changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<serde_json::Value>,
    /// For a diff: the hunks that the person takes or refuses. A hunk that is not named follows
    /// the option.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<HunkChoice>,
}

/// What the person said of one hunk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HunkChoice {
    /// The hunk.
    pub hunk_id: HunkId,
    /// True: it is written.
    pub accept: bool,
}

/// The answer to `toolgate/ask/answer`. A refused answer (other digest, closed prompt) is an
/// LSP error that says who decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskAnswerResult {
    /// The prompt that is now closed.
    pub ask_id: AskId,
}

/// `toolgate/ask/closed`: the prompt is over, everywhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskClosed {
    /// The session that asked.
    pub session_id: SessionId,
    /// The prompt.
    pub ask_id: AskId,
    /// How it ended.
    pub by: ClosedBy,
}

/// How a prompt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClosedBy {
    /// By an answer.
    Answered,
    /// The turn or the call was cancelled.
    Withdrawn,
    /// Nobody answered in time. Not a denial.
    Expired,
}

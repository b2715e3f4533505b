//! What a client asks of the sidecar, and what the sidecar asks of a client
//! (spec: protocol.md).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::asks::AskOpened;
use crate::ids::{CallId, HunkId, SessionId, TurnId};
use crate::notices::{Mode, SessionUpdate};
use crate::render::{Content, Diff};

/// `initializationOptions.toolgate`: what the client can do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ClientHello {
    /// The protocol's version: 1.
    pub protocol: u32,
    /// What the client shows and does itself.
    pub ui: Ui,
    /// Settings, keys as in the settings reference, nested by dots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<serde_json::Value>,
}

/// What a client shows and does itself; everything else falls back to plain LSP.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Ui {
    /// Shows `toolgate/ask/opened` of kind `permission`.
    pub permission: bool,
    /// Shows the model's questions.
    pub question: bool,
    /// Shows hunks in the buffer.
    pub review: bool,
    /// Kinds of renderer payload it draws; others come as `fallback`.
    pub render: Vec<String>,
    /// Answers `toolgate/document/edit`.
    pub edit: bool,
    /// Answers `toolgate/document/save`.
    pub save: bool,
    /// Answers `toolgate/diagnostics`.
    pub diagnostics: bool,
}

/// `capabilities.experimental.toolgate`: what the sidecar is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerHello {
    /// The protocol's version: 1.
    pub protocol: u32,
    /// The sidecar's version.
    pub version: String,
    /// This process; `seq` counts within it.
    pub epoch: String,
}

/// An answer that says only that the request was done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Empty {}

/// `toolgate/session/new`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct NewSessionParams {
    /// Working directory; the first workspace folder by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Permission mode; the setting by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Model; the setting by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// The session that was made or loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionInfo {
    /// Its name.
    pub session_id: SessionId,
    /// This process.
    pub epoch: String,
    /// Working directory.
    pub cwd: String,
    /// Permission mode.
    pub mode: Mode,
    /// Model.
    pub model: String,
    /// The turn that runs, if one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
}

/// `toolgate/session/load`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoadSessionParams {
    /// The session.
    pub session_id: SessionId,
    /// What the client has already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Since>,
}

/// The last update a client has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Since {
    /// The sidecar process it came from.
    pub epoch: String,
    /// Its number.
    pub seq: u32,
}

/// The answer to `toolgate/session/load`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoadSessionResult {
    /// The session.
    pub session: SessionInfo,
    /// True: forget what you have, `updates` tells everything from the start.
    pub reset: bool,
    /// What the client missed, in order, at most one page.
    pub updates: Vec<SessionUpdate>,
    /// True: more follows; call again with `since` = the last update of this page.
    pub more: bool,
    /// Prompts that are open now.
    pub asks: Vec<AskOpened>,
}

/// `toolgate/session/list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ListSessionsParams {
    /// Only sessions of this folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Only sessions whose title holds this text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
}

/// The answer to `toolgate/session/list`, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListSessionsResult {
    /// The sessions.
    pub sessions: Vec<SessionSummary>,
}

/// One row of a list of sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    /// Its name.
    pub session_id: SessionId,
    /// Working directory.
    pub cwd: String,
    /// The beginning of the first prompt.
    pub title: String,
    /// Last change, in RFC 3339.
    pub updated: String,
}

/// Names one session: `close`, `delete`, `cancel`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionParams {
    /// The session.
    pub session_id: SessionId,
}

/// `toolgate/session/prompt`. Answered at once; the turn's end is the update `turn_ended`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptParams {
    /// The session.
    pub session_id: SessionId,
    /// What the person says.
    pub content: Vec<PromptBlock>,
    /// What becomes of a turn that runs.
    #[serde(default)]
    pub when: When,
}

/// One part of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum PromptBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// For instance `image/png`.
        media_type: String,
        /// The bytes in base64.
        data: String,
    },
    /// A file the model should look at.
    ResourceLink {
        /// Its URI.
        uri: String,
    },
    /// What is selected in the editor.
    Selection {
        /// The document's URI.
        uri: String,
        /// First line, counted from 0.
        start_line: u32,
        /// Last line, counted from 0.
        end_line: u32,
        /// The selected text.
        text: String,
    },
}

/// What a prompt does to a turn that runs (spec: model-loop.md, "Interruption").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Nothing is stopped; the model gets it with the next request.
    #[default]
    NextRequest,
    /// Running calls finish, calls not started do not start.
    Steer,
    /// As stop, then the prompt.
    Interrupt,
    /// After the turn.
    AfterTurn,
}

/// The answer to `toolgate/session/prompt`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptResult {
    /// The turn that takes the prompt.
    pub turn_id: TurnId,
}

/// `toolgate/session/cancelCall`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CancelCallParams {
    /// The session.
    pub session_id: SessionId,
    /// The call.
    pub call_id: CallId,
}

/// `toolgate/session/setMode`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetModeParams {
    /// The session.
    pub session_id: SessionId,
    /// The mode.
    pub mode: Mode,
}

/// `toolgate/session/setModel`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetModelParams {
    /// The session.
    pub session_id: SessionId,
    /// The model's name.
    pub model: String,
}

/// `toolgate/call/get`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GetCallParams {
    /// The session.
    pub session_id: SessionId,
    /// The call.
    pub call_id: CallId,
}

/// The SDK's view of one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallView {
    /// The call.
    pub call_id: CallId,
    /// The tool's name.
    pub tool: String,
    /// The input as the model wrote it.
    pub input: serde_json::Value,
    /// What the model got; absent while the call is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_text: Option<String>,
    /// The structured output, with the field names of the tool's output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<serde_json::Value>,
    /// What is drawn; absent while the call is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
}

/// `toolgate/call/output`: a page of a large payload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputParams {
    /// The session.
    pub session_id: SessionId,
    /// The name that came in `contentRef`.
    pub content_ref: String,
    /// Where to begin, in bytes; moved back to the start of a character.
    #[serde(default)]
    pub offset: u32,
}

/// The answer to `toolgate/call/output`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputPage {
    /// The text of the page.
    pub text: String,
    /// Where the next page begins; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<u32>,
    /// Size of the whole in bytes.
    pub total_bytes: u32,
}

/// `toolgate/review/list`: what is proposed or applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewListResult {
    /// One entry a call and file.
    pub reviews: Vec<Review>,
}

/// The hunks of one call in one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Review {
    /// The call.
    pub call_id: CallId,
    /// The file and its hunks.
    pub diff: Diff,
}

/// `toolgate/review/accept` and `reject`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewParams {
    /// The session.
    pub session_id: SessionId,
    /// The hunks.
    pub hunk_ids: Vec<HunkId>,
}

/// `toolgate/status`: what a health check shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusResult {
    /// The sidecar's version.
    pub version: String,
    /// The provider and model, and whether a key was found.
    pub provider: String,
    /// True when requests can be sent (a key is there, or none is needed).
    pub ready: bool,
    /// What is wrong, one line each; empty when all is well.
    pub problems: Vec<String>,
    /// Documents that the editor has open.
    pub open_documents: u32,
    /// Sessions that are loaded.
    pub sessions: u32,
}

/// `toolgate/document/edit` (sidecar → client): a checked edit of an open document, in one
/// tick of the editor, as one undo step. The client refuses unless version and hash are both
/// those of its buffer and every `oldLines` stands where the hunk says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentEditParams {
    /// The document.
    pub uri: String,
    /// The LSP version that the sidecar's mirror has.
    pub version: i32,
    /// SHA-256 (hex) of the text with LF line endings and without BOM, as the mirror has it.
    pub hash: String,
    /// What is replaced: in order, not overlapping, all lines of the text before the edit.
    pub edits: Vec<LineEdit>,
    /// For the undo list.
    pub label: String,
}

/// Whole lines that are replaced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LineEdit {
    /// First line that goes, counted from 0; with no old lines, the line before which the new
    /// ones are put.
    pub start_line: u32,
    /// The lines that go, without endings.
    pub old_lines: Vec<String>,
    /// The lines that come, without endings. The client uses the document's own line ending.
    pub new_lines: Vec<String>,
    /// Present when the edit touches the end of the text: whether the text ends with a line
    /// ending afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_newline: Option<bool>,
}

/// The answer to `toolgate/document/edit`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentEditResult {
    /// False: nothing was changed.
    pub applied: bool,
    /// The buffer's version now.
    pub version: i32,
    /// SHA-256 (hex) of the buffer's text now, LF line endings, without BOM.
    pub hash: String,
    /// Why nothing was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// `toolgate/document/save` (sidecar → client).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentSaveParams {
    /// The document.
    pub uri: String,
}

/// The answer to `toolgate/document/save`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentSaveResult {
    /// True: it is on disk.
    pub saved: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

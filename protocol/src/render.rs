//! Renderer payloads: declarative, so that a new tool needs no new editor code
//! (spec: outcomes.md, "Renderer payloads").

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::HunkId;

/// What an editor draws for a call, a prompt or an outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Payload {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// Markdown.
    Markdown {
        /// The Markdown source.
        text: String,
    },
    /// A change of one file.
    Diff(Diff),
    /// What a command printed.
    Terminal(Terminal),
    /// A list of files.
    FileList {
        /// Absolute paths.
        files: Vec<String>,
        /// How many there are in all, when `files` is cut.
        total: u32,
    },
    /// Search hits.
    Matches {
        /// Hits, grouped by file in the order found.
        matches: Vec<Match>,
        /// How many there are in all, when `matches` is cut.
        total: u32,
    },
    /// Any JSON value.
    Json {
        /// The value.
        value: serde_json::Value,
    },
    /// An image.
    Image {
        /// For instance `image/png`.
        media_type: String,
        /// The bytes in base64; absent when only a reference is sent.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<String>,
    },
    /// The model's plan.
    Plan {
        /// The entries, in the model's order.
        entries: Vec<PlanEntry>,
    },
    /// Something that did not fit its own payload: shown as text, never dropped.
    Fallback {
        /// The text.
        text: String,
    },
}

/// A change of one file, as hunks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// Absolute path.
    pub path: String,
    /// The document's URI when it is open in the editor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// True when the file does not exist before the change.
    pub creates: bool,
    /// The LSP version of the open document that the line numbers speak of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    /// The hunks, in order, not overlapping.
    pub hunks: Vec<Hunk>,
}

/// One group of changed lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// Its name.
    pub hunk_id: HunkId,
    /// First line that goes, counted from 0. With no old lines: the line before which the new
    /// lines are put.
    pub old_start: u32,
    /// The lines that go, without line endings.
    pub old_lines: Vec<String>,
    /// First line of the new text in the result, counted from 0.
    pub new_start: u32,
    /// The lines that come, without line endings.
    pub new_lines: Vec<String>,
    /// Where the hunk stands.
    pub state: HunkState,
}

/// Where a hunk stands (spec: protocol.md, `toolgate/review/*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HunkState {
    /// Shown to the person, not in the text.
    Proposed,
    /// Taken by the person, about to be written.
    Accepted,
    /// Refused by the person; never written.
    Rejected,
    /// The text beneath it changed while it was proposed; not written.
    Conflict,
    /// In the text without a question.
    Applied,
    /// Applied, and the person said that it stays.
    Kept,
    /// Applied, and taken back since.
    Reverted,
}

/// What a command printed, as the panel shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Terminal {
    /// The command line.
    pub command: String,
    /// Output in order of arrival; escape sequences other than colours are removed.
    pub output: String,
    /// True when `output` is only a part of it.
    pub truncated: bool,
    /// Exit code, once it ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
}

/// One search hit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Match {
    /// Absolute path.
    pub path: String,
    /// Line, counted from 1.
    pub line: u32,
    /// The line's text.
    pub text: String,
}

/// One entry of the model's plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanEntry {
    /// What is to be done.
    pub content: String,
    /// How it is said while it is being done.
    pub active_form: String,
    /// How far it is.
    pub status: PlanStatus,
}

/// How far an entry of the plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

/// A payload too large for one message (64 KiB): its first part, and where the rest is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Content {
    /// What is shown; only the beginning when `content_ref` is there.
    pub payload: Payload,
    /// Name under which `toolgate/call/output` pages the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_ref: Option<String>,
    /// Size of the whole in bytes, when `content_ref` is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_bytes: Option<u32>,
}

impl Content {
    /// A payload that is whole.
    pub fn whole(payload: Payload) -> Self {
        Self {
            payload,
            content_ref: None,
            total_bytes: None,
        }
    }
}

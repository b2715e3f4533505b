//! What became of a call: one outcome, four readers (spec: outcomes.md).
//!
//! `Raw` is what an executor hands back. `Outcome` is what the core makes of it, whole. The
//! views — model, editor, SDK, telemetry — are projections made here and nowhere else, so that a
//! tool's author never has to delete a field by hand.

use std::sync::Arc;

use serde_json::Value;
pub use toolgate_protocol::notices::CallStatus;
use toolgate_protocol::render::Payload;

use crate::place::Place;
use crate::version::Version;

/// Which gate refused a call that did not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// No such tool.
    Find,
    /// The input does not fit the schema.
    Shape,
    /// The input does not fit the present state.
    Meaning,
    /// A rule, the mode or the person said no.
    Permission,
    /// It was cancelled or skipped before it started.
    Schedule,
}

/// How far a call came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It ran and did what it should.
    Done,
    /// It never started: this gate refused it.
    NotStarted(Gate),
    /// It ran and returned failure.
    Failed,
    /// The response was lost; the effect may have happened.
    Unknown,
}

/// What it changed outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// All that it should.
    Happened,
    /// Some of it.
    Partial,
    /// Cannot be told. Never repeated by itself.
    Unknown,
}

/// Lines of a text that went to the model, counted from 1, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// First line.
    pub first: u32,
    /// Last line.
    pub last: u32,
}

/// What an outcome showed the model of a file, or what Toolgate wrote there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The file.
    pub place: Place,
    /// Of which content.
    pub version: Version,
    /// Which lines; lines cut for length are left out.
    pub lines: Vec<Lines>,
    /// How many lines the text has.
    pub total_lines: u32,
    /// True when one Read shows all of it (at most 2,000 lines, none cut, within its limit).
    pub one_read_shows_all: bool,
    /// The whole text, for the diff that a later change is told with; none when it is too large
    /// to keep.
    pub text: Option<Arc<str>>,
}

/// What an executor hands back.
#[derive(Clone, Debug)]
pub struct Raw {
    /// How far it came.
    pub stage: Stage,
    /// What it changed.
    pub effect: Effect,
    /// The text for the model.
    pub text: String,
    /// A text that must stay inline for the person and the model beside a large `text`.
    pub notice: Option<String>,
    /// Images for the model: media type and base64. Never with an error.
    pub images: Vec<ImageData>,
    /// The tool's structured output, with the field names of compat.md 2.1.
    pub structured: Option<Value>,
    /// What the editor draws; the text as `fallback` when absent.
    pub payload: Option<Payload>,
    /// What the model saw or Toolgate wrote.
    pub shown: Vec<Shown>,
    /// Files it changed.
    pub changed: Vec<Place>,
    /// Where the whole result lies, when it was kept aside: absolute path.
    pub persisted: Option<String>,
    /// A new working directory.
    pub cwd: Option<String>,
    /// A failure of a kind that the scheduler must know (a failing command that has effects).
    pub command_failed: bool,
}

/// An image for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageData {
    /// For instance `image/png`.
    pub media_type: String,
    /// The bytes in base64.
    pub base64: String,
}

impl Raw {
    /// Success with a text.
    pub fn done(text: impl Into<String>) -> Self {
        Self {
            stage: Stage::Done,
            effect: Effect::None,
            text: text.into(),
            notice: None,
            images: Vec::new(),
            structured: None,
            payload: None,
            shown: Vec::new(),
            changed: Vec::new(),
            persisted: None,
            cwd: None,
            command_failed: false,
        }
    }

    /// Failure with a text; says what took effect.
    pub fn failed(text: impl Into<String>, effect: Effect) -> Self {
        Self {
            stage: Stage::Failed,
            effect,
            ..Self::done(text)
        }
    }

    /// A gate's refusal.
    pub fn refused(gate: Gate, text: impl Into<String>) -> Self {
        Self {
            stage: Stage::NotStarted(gate),
            ..Self::done(text)
        }
    }

    /// True unless the call did what it should.
    pub fn is_error(&self) -> bool {
        self.stage != Stage::Done
    }
}

/// An outcome whose model view is fixed: bytes that never change again (law 9).
#[derive(Clone, Debug)]
pub struct Outcome {
    /// All of it.
    pub raw: Arc<Raw>,
    /// The model's view: one `tool_result` block, serialised once.
    pub block: Arc<str>,
    /// blake3 of the text: two failures with the same are the same failure.
    pub text_digest: String,
    /// The structured output.
    pub structured: Option<Arc<Value>>,
    /// What the editor draws.
    pub payload: Payload,
    /// How it ended, for the editor.
    pub status: CallStatus,
}

/// How an outcome is shown to the person.
pub fn status(raw: &Raw, denied: bool, cancelled: bool) -> CallStatus {
    match raw.stage {
        Stage::Done => CallStatus::Completed,
        Stage::Unknown => CallStatus::Unknown,
        _ if cancelled => CallStatus::Cancelled,
        _ if denied => CallStatus::Denied,
        Stage::NotStarted(_) => CallStatus::Refused,
        Stage::Failed => CallStatus::Failed,
    }
}

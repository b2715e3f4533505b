//! What all providers share about a stream of events.
//!
//! A stop word that is not known must never become a known one: the core decides by complete
//! blocks.

use tokio_util::sync::CancellationToken;
use toolgate_core::event::{Failure, FailureKind, ModelStop, StreamEvent};

/// Ends a request from outside.
pub type Cancel = CancellationToken;

/// Where a provider puts its events: it must not block.
pub type Out<'a> = &'a mut (dyn FnMut(StreamEvent) + Send);

/// A failure that names no time to wait.
pub fn failure(kind: FailureKind, text: impl Into<String>) -> Failure {
    Failure {
        kind,
        text: text.into(),
        retry_after_ms: None,
    }
}

/// What a `stop_reason` of the Messages API means.
pub fn stop_reason(word: &str) -> ModelStop {
    match word {
        "end_turn" | "stop_sequence" => ModelStop::EndTurn,
        "tool_use" => ModelStop::ToolUse,
        "max_tokens" => ModelStop::MaxTokens,
        "refusal" => ModelStop::Refusal,
        "pause_turn" => ModelStop::Pause,
        other => ModelStop::Other(other.to_owned()),
    }
}

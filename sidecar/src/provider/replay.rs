//! The provider `replay`: plays a script inside the process.
//!
//! It gives the events that the real provider would give for the same response, in the same
//! order, so that a run against it differs from a real one by its words only. It must never play
//! past an expectation that does not hold, and never pass over a field that it cannot play.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use serde_json::json;
use toolgate_core::command::Request;
use toolgate_core::event::{FailureKind, StreamEvent};
use toolgate_core::message::AssistantBlock;
use toolgate_protocol::notices::Usage;

use super::script::{Block, Response, Script, Served, Tokens};
use super::stream::{failure, stop_reason, Cancel, Out};
use super::{backoff, body, input};

/// A script and how far it was played.
#[derive(Debug)]
pub struct Replay {
    script: Script,
    played: AtomicU64,
}

impl Replay {
    /// Begins a script.
    pub fn new(script: Script) -> Self {
        Self {
            script,
            played: AtomicU64::new(0),
        }
    }

    /// Plays the next response; says nothing more once cancelled.
    pub async fn stream(&self, request: &Request, out: Out<'_>, cancel: &Cancel) {
        if !backoff::wait(request.delay_ms, cancel).await {
            return;
        }
        let played = self.played.fetch_add(1, Ordering::Relaxed);
        match self.next(played, request) {
            Ok(response) => play(response, played, out),
            Err(text) => out(StreamEvent::Failed(failure(FailureKind::Script, text))),
        }
    }

    fn next(&self, played: u64, request: &Request) -> Result<&Response, String> {
        let number = played + 1;
        let response = self.script.response(played).ok_or_else(|| {
            format!("the script has no response left: this is request {number}, it holds {played}")
        })?;
        if response.served != Served::default() {
            return Err(format!(
                "response {number} of the script holds, cuts or replaces its stream: only the fake server can play that"
            ));
        }
        if let Some(missing) = response.missing(&body::text(request)) {
            return Err(format!(
                "response {number} of the script expects a request that holds {missing:?}; this one does not"
            ));
        }
        Ok(response)
    }
}

/// Sends a response's events.
fn play(response: &Response, played: u64, out: Out<'_>) {
    for block in response.blocks(played) {
        play_block(block, response.delta, out);
    }
    out(StreamEvent::Usage(usage(response.usage)));
    out(StreamEvent::Ended(stop_reason(&response.stop_reason)));
}

fn play_block(block: Block, delta: usize, out: Out<'_>) {
    let block = match block {
        // As from the wire: an empty text is dropped.
        Block::Text(text) if text.trim().is_empty() => return,
        Block::Text(text) => {
            deltas(&text, delta).for_each(|piece| out(StreamEvent::Text(piece)));
            AssistantBlock::Text {
                json: Arc::from(json!({"type": "text", "text": text}).to_string()),
            }
        }
        Block::Thinking {
            thinking,
            signature,
        } => {
            deltas(&thinking, delta).for_each(|piece| out(StreamEvent::Thinking(piece)));
            let json = json!({"type": "thinking", "thinking": thinking, "signature": signature});
            AssistantBlock::Thinking {
                json: Arc::from(json.to_string()),
            }
        }
        Block::ToolUse { id, name, input } => input::tool_use(id.unwrap_or_default(), name, input),
        Block::Other(json) => AssistantBlock::Other {
            json: Arc::from(json),
        },
    };
    out(StreamEvent::Block(block));
}

/// A text in pieces of so many characters.
fn deltas(text: &str, size: usize) -> impl Iterator<Item = String> + '_ {
    let mut rest = text.chars();
    std::iter::from_fn(move || {
        let piece: String = rest.by_ref().take(size).collect();
        (!piece.is_empty()).then_some(piece)
    })
}

fn usage(tokens: Tokens) -> Usage {
    Usage {
        input_tokens: tokens.input_tokens,
        output_tokens: tokens.output_tokens,
        cache_read_tokens: tokens.cache_read_input_tokens,
        cache_write_tokens: tokens.cache_creation_input_tokens,
    }
}

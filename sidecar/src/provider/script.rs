//! A script: what a scripted model answers, response by response.
//!
//! The provider `replay` plays it inside the sidecar; the tests' `fake-model` plays it over HTTP.
//! This module says what a script is, `written` reads it; neither may ever decide how a response
//! is delivered.
//!
//! # The format
//! One JSON object: `{ "responses": [ RESPONSE… ], "loop": false }`. Each model request takes the
//! next response; `loop` begins again after the last. An unknown field is an error. A RESPONSE is
//! an object with these fields, all of them optional:
//!
//! | field | meaning |
//! |---|---|
//! | `content` | blocks: `{"type":"text","text":…}`, `{"type":"thinking","thinking":…,"signature":…}`, `{"type":"tool_use","name":…,"input":{…},"id":…}`; any other type is sent as it stands. An `id` that is not given is `toolu_R_N`: response R, its N-th call |
//! | `stop_reason` | default `tool_use` when there is a call, else `end_turn` |
//! | `usage` | `input_tokens`, `output_tokens`, `cache_read_input_tokens`, `cache_creation_input_tokens` |
//! | `expect` | texts that the request must hold, as they stand or as they stand inside a JSON string |
//! | `delta` | characters of a delta, default 16 |
//! | `repeat` | how often the response is played, default 1 |
//! | `broken_input` | text that is sent as the input of the last call, valid or not |
//!
//! and these, which only the fake server can play:
//!
//! | field | meaning |
//! |---|---|
//! | `hold` | a name: everything but the end of the message is sent, the end after `POST /control/release/NAME` |
//! | `status`, `headers`, `body` | the HTTP status, more headers, and the whole body, in place of a stream |
//! | `raw_events` | texts sent as they stand after the blocks, each closed by an empty line |
//! | `cut_after_block`, `cut_in_block` | the connection closes after so many blocks, or in the middle of this one (the first is 1) |
//! | `reset` | the cut is a reset of the connection |
//! | `close_delimited` | the stream's length is not framed: its end is that of the connection |
//! | `stall` | where it would be cut, else before the end of the message, the stream falls silent |
//! | `split` | bytes of one write |
//!
//! `{{cwd}}` and `{{NAME}}` in any string are replaced by the values given to `Script::parse`; a
//! name without a value is an error. A literal `{{name}}` is written `\u007b{name}}`.

use std::collections::BTreeMap;

use serde::Deserialize;
use toolgate_core::message::quote;

/// A script that was read and checked.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// The responses in their order.
    pub responses: Vec<Response>,
    /// True when it begins again after the last one.
    pub looped: bool,
}

/// One response of the model.
#[derive(Clone, Debug)]
pub struct Response {
    /// Its blocks.
    pub content: Vec<Block>,
    /// Why the model stops, as on the wire.
    pub stop_reason: String,
    /// Tokens that it claims.
    pub usage: Tokens,
    /// Texts that the request must hold.
    pub expect: Vec<String>,
    /// Characters of a delta.
    pub delta: usize,
    /// How often it is played.
    pub repeat: u32,
    /// What only a server can do.
    pub served: Served,
}

/// One block of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Text.
    Text(String),
    /// Thinking and its signature.
    Thinking {
        /// The thoughts.
        thinking: String,
        /// The signature, opaque.
        signature: String,
    },
    /// A call.
    ToolUse {
        /// The id, when the script gives one.
        id: Option<String>,
        /// The tool.
        name: String,
        /// The input's text, valid or not.
        input: String,
    },
    /// Any other block, as it stands.
    Other(String),
}

/// Tokens that a response claims; names as on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tokens {
    /// Read, not from the cache.
    pub input_tokens: u32,
    /// Written.
    pub output_tokens: u32,
    /// Read from the cache.
    pub cache_read_input_tokens: u32,
    /// Put into the cache.
    pub cache_creation_input_tokens: u32,
}

/// What only a server can do: holding back, and faults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Name under which the end of the message waits.
    pub hold: Option<String>,
    /// An answer that is not a stream made of the blocks.
    pub plain: Option<Plain>,
    /// More events.
    pub raw_events: Vec<String>,
    /// Where the stream ends too early.
    pub cut: Option<Cut>,
    /// What the end of the stream is like.
    pub ending: Ending,
    /// True when the stream's length is not framed.
    pub close_delimited: bool,
    /// Bytes of one write.
    pub split: Option<usize>,
}

/// An answer with its own status, headers and body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain {
    /// The HTTP status.
    pub status: u16,
    /// More headers.
    pub headers: BTreeMap<String, String>,
    /// The body; none: an error object that fits the status.
    pub body: Option<String>,
}

/// Where a stream ends too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// After so many blocks.
    AfterBlock(usize),
    /// In the middle of this block; the first is 1.
    InBlock(usize),
}

/// What the end of a stream is like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// It closes.
    #[default]
    Close,
    /// The connection is reset.
    Reset,
    /// Nothing more comes, and it stays open.
    Stall,
}

/// Why a script cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("script, line {line} column {column}: {what}")]
pub struct ScriptError {
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
    /// What is wrong there.
    pub what: String,
}

impl Script {
    /// The response to the request number `played`, from 0; none when the script is over.
    pub fn response(&self, played: u64) -> Option<&Response> {
        let total: u64 = self.responses.iter().map(|r| u64::from(r.repeat)).sum();
        let mut left = if self.looped && total > 0 {
            played % total
        } else {
            played
        };
        self.responses.iter().find(|response| {
            let here = left < u64::from(response.repeat);
            left = left.saturating_sub(u64::from(response.repeat));
            here
        })
    }
}

impl Response {
    /// The blocks with the ids that they have in the response number `played`, from 0.
    pub fn blocks(&self, played: u64) -> Vec<Block> {
        let mut calls = 0;
        let mut blocks = self.content.clone();
        for block in &mut blocks {
            if let Block::ToolUse { id, .. } = block {
                calls += 1;
                id.get_or_insert_with(|| format!("toolu_{}_{calls}", played + 1));
            }
        }
        blocks
    }

    /// The first expected text that a request does not hold.
    pub fn missing(&self, body: &str) -> Option<&str> {
        let holds = |text: &str| {
            let quoted = quote(text);
            body.contains(text) || body.contains(&quoted[1..quoted.len() - 1])
        };
        self.expect
            .iter()
            .map(String::as_str)
            .find(|text| !holds(text))
    }
}

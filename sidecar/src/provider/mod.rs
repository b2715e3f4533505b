//! Providers: each turns its wire format into one stream of events and one message form.
//!
//! A provider makes one attempt per request and decides nothing: whether and when to try again is
//! the core's. Per request it gives any number of events and then exactly one of `Ended` and
//! `Failed`, which is the last one; once cancelled it gives none. It must never let a key reach an
//! event, an error text or a log, and never panic on what a server sends.
//!
//! Modules in reading order; a file imports only from modules above it.

// what all share
pub mod body;
pub mod stream;

// rules, without the world
mod input;
mod refusal;
mod sse;

mod block;

mod assemble;

pub mod script;

mod written;

// the world
mod backoff;

pub mod anthropic;
pub mod replay;

use std::collections::BTreeMap;

use toolgate_core::command::Request;

use anthropic::{Anthropic, AnthropicConfig};
use replay::Replay;
use stream::{Cancel, Out};

/// The provider that a session uses.
#[derive(Debug)]
pub enum Provider {
    /// The Messages API.
    Anthropic(Box<Anthropic>),
    /// A script.
    Replay(Replay),
}

impl Provider {
    /// A script, its text; `cwd` is what `{{cwd}}` in it means.
    pub fn replay(text: &str, cwd: &str) -> Result<Self, String> {
        let vars = BTreeMap::from([("cwd".to_owned(), cwd.to_owned())]);
        let script = script::Script::parse(text, &vars).map_err(|error| error.to_string())?;
        Ok(Self::Replay(Replay::new(script)))
    }

    /// The Messages API.
    pub fn anthropic(config: AnthropicConfig) -> Result<Self, String> {
        match Anthropic::new(config) {
            Ok(anthropic) => Ok(Self::Anthropic(Box::new(anthropic))),
            Err(failure) => Err(failure.text),
        }
    }

    /// What answers, for the person.
    pub fn describe(&self) -> String {
        match self {
            Self::Anthropic(anthropic) => format!("provider anthropic at {}", anthropic.server()),
            Self::Replay(_) => "provider replay (a script)".to_owned(),
        }
    }

    /// What is missing before a request can be sent.
    pub fn missing(&self) -> Option<String> {
        match self {
            Self::Anthropic(anthropic) => anthropic.missing(),
            Self::Replay(_) => None,
        }
    }

    /// Makes one attempt: waits as long as the request says, sends it, and gives its events.
    pub async fn stream(&self, request: &Request, out: Out<'_>, cancel: &Cancel) {
        match self {
            Self::Anthropic(anthropic) => anthropic.stream(request, out, cancel).await,
            Self::Replay(replay) => replay.stream(request, out, cancel).await,
        }
    }
}

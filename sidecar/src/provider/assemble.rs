//! The events of the Messages API, put together to blocks.
//!
//! Pure: one event in, what it means out. It must never pass on a block that was not closed, and
//! never panic on an order of events that no server should send: what is lost makes the whole
//! answer fail, what is merely new is passed over.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::Value;
use toolgate_core::event::{Failure, FailureKind, ModelStop, StreamEvent};
use toolgate_protocol::notices::Usage;

use super::block::Open;
use super::refusal::{clean, of_event};
use super::sse::SseEvent;
use super::stream::{failure, stop_reason, Out};

/// The event types of the protocol that mean something here.
const KNOWN: [&str; 7] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "error",
];

/// What was put together so far.
#[derive(Debug, Default)]
pub struct Assembler {
    open: BTreeMap<u64, Open>,
    usage: Usage,
    stop: Option<ModelStop>,
    begun: bool,
}

/// The fields of an event that are used.
#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    content_block: Option<&'a RawValue>,
    #[serde(borrow, default)]
    delta: Option<&'a RawValue>,
    #[serde(default)]
    message: Option<Message>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct MessageDelta {
    #[serde(default)]
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct Typed {
    #[serde(rename = "type", default)]
    kind: String,
}

impl Assembler {
    /// Takes one event; gives why the model stopped when the message is whole.
    pub fn take(&mut self, event: &SseEvent, out: Out<'_>) -> Result<Option<ModelStop>, Failure> {
        // The type is read alone first: an event that is not known may hold anything.
        let named = Some(event.name.as_str()).filter(|name| !name.is_empty());
        let typed = || serde_json::from_str(&event.data).map(|Typed { kind }| kind);
        let kind = match named {
            Some(name) => name.to_owned(),
            None => typed().unwrap_or_default(),
        };
        if !KNOWN.contains(&kind.as_str()) {
            return Ok(None);
        }
        if kind == "error" {
            return Err(of_event(&event.data));
        }
        let wire: Wire<'_> = serde_json::from_str(&event.data)
            .map_err(|error| broken(format!("{kind} cannot be read: {error}")))?;
        let wrong = |what: String| broken(format!("{kind}: {what}"));
        if wire.kind.as_deref().is_some_and(|inner| inner != kind) {
            return Err(wrong("its data is of another type".to_owned()));
        }
        match kind.as_str() {
            "message_start" => self.message_start(wire.message, out).map_err(wrong)?,
            "content_block_start" => self.block_start(&wire, out).map_err(wrong)?,
            "content_block_delta" => self.block_delta(&wire, out).map_err(wrong)?,
            "content_block_stop" => self.block_stop(wire.index, out).map_err(wrong)?,
            "message_delta" => self.message_delta(&wire, out).map_err(wrong)?,
            _ => return self.message_stop(out).map(Some),
        }
        Ok(None)
    }

    fn message_start(&mut self, message: Option<Message>, out: Out<'_>) -> Result<(), String> {
        if std::mem::replace(&mut self.begun, true) {
            return Err("a second one in one answer".to_owned());
        }
        let usage = message.map(|message| message.usage).unwrap_or_default();
        self.count(&usage, out);
        Ok(())
    }

    fn block_start(&mut self, wire: &Wire<'_>, out: Out<'_>) -> Result<(), String> {
        let index = wire.index.ok_or("no index")?;
        let block = wire.content_block.ok_or("no content_block")?;
        if self.open.contains_key(&index) {
            return Err(format!("block {index} is open already"));
        }
        self.open.insert(index, Open::start(block.get(), out)?);
        Ok(())
    }

    fn block_delta(&mut self, wire: &Wire<'_>, out: Out<'_>) -> Result<(), String> {
        let index = wire.index.ok_or("no index")?;
        let delta = wire.delta.ok_or("no delta")?;
        let open = self.open.get_mut(&index);
        open.ok_or_else(|| format!("block {index} is not open"))?
            .delta(delta.get(), out)
    }

    /// Closes a block. A stop for none that is open takes nothing away: it is passed over.
    fn block_stop(&mut self, index: Option<u64>, out: Out<'_>) -> Result<(), String> {
        let open = index.and_then(|index| self.open.remove(&index));
        if let Some(block) = open.map(Open::close).transpose()?.flatten() {
            out(StreamEvent::Block(block));
        }
        Ok(())
    }

    fn message_delta(&mut self, wire: &Wire<'_>, out: Out<'_>) -> Result<(), String> {
        if let Some(delta) = wire.delta {
            let delta: MessageDelta =
                serde_json::from_str(delta.get()).map_err(|error| error.to_string())?;
            if let Some(word) = delta.stop_reason {
                let short: String = clean(&word).chars().take(80).collect();
                self.stop = Some(stop_reason(&short));
            }
        }
        self.count(&wire.usage, out);
        Ok(())
    }

    fn message_stop(&mut self, out: Out<'_>) -> Result<ModelStop, Failure> {
        let stop = self.stop.take();
        let stop = stop.unwrap_or_else(|| ModelStop::Other("none".to_owned()));
        let open = std::mem::take(&mut self.open);
        if stop != ModelStop::MaxTokens {
            if let Some(index) = open.keys().next() {
                return Err(broken(format!("block {index} was never closed")));
            }
        }
        for block in open.into_values().filter_map(Open::cut) {
            out(StreamEvent::Block(block));
        }
        Ok(stop)
    }

    /// Takes the token counts that are given; what is no count is passed over.
    fn count(&mut self, usage: &Value, out: Out<'_>) {
        let before = self.usage;
        let fields = [
            ("input_tokens", &mut self.usage.input_tokens),
            ("output_tokens", &mut self.usage.output_tokens),
            ("cache_read_input_tokens", &mut self.usage.cache_read_tokens),
            (
                "cache_creation_input_tokens",
                &mut self.usage.cache_write_tokens,
            ),
        ];
        for (name, field) in fields {
            if let Some(count) = usage.get(name).and_then(Value::as_u64) {
                *field = u32::try_from(count).unwrap_or(u32::MAX);
            }
        }
        if self.usage != before {
            out(StreamEvent::Usage(self.usage));
        }
    }
}

fn broken(what: String) -> Failure {
    failure(
        FailureKind::Protocol,
        format!("the provider's stream broke the protocol: {}", clean(&what)),
    )
}

#[cfg(test)]
mod tests {
    use super::super::sse::SseParser;
    use super::*;

    /// An answer with all kinds of blocks.
    const ANSWER: &str = concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\n\n",
        "event: content_block_start\ndata: {\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"日本\\n\"}}\n\n",
        "event: content_block_stop\ndata: {\"index\":0}\n\n: ping\r\n\r\n",
        "event: content_block_start\ndata: {\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Read\"}}\n\n",
        "event: content_block_delta\ndata: {\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":[1]}\"}}\n\n",
        "event: content_block_stop\ndata: {\"index\":1}\n\n",
        "event: content_block_start\ndata: {\"index\":2,\"content_block\":{\"type\":\"thinking\"}}\n\n",
        "event: content_block_delta\ndata: {\"index\":2,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"s\"}}\n\n",
        "event: content_block_stop\ndata: {\"index\":2}\n\n",
        "event: content_block_start\ndata: {\"index\":3,\"content_block\":{\"type\":\"new\",\"x\":{}}}\n\n",
        "event: content_block_stop\ndata: {\"index\":3}\n\n",
        "event: message_delta\ndata: {\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":5}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    );

    /// All that these pieces of a stream give.
    fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> String {
        let mut parser = SseParser::new();
        let mut assembler = Assembler::default();
        let mut told = String::new();
        for piece in pieces {
            let mut events = Vec::new();
            let parsed = parser.push(piece, &mut events);
            for event in events {
                let mut out = |event| told.push_str(&format!("{event:?}\n"));
                match assembler.take(&event, &mut out) {
                    Ok(None) => {}
                    end => return told + &format!("{end:?}"),
                }
            }
            if let Err(error) = parsed {
                return told + &format!("{error:?}");
            }
        }
        told + "cut"
    }

    #[test]
    fn a_damaged_answer_is_read_the_same_way_however_split() {
        assert!(read(std::iter::once(ANSWER.as_bytes())).ends_with("Ok(Some(ToolUse))"));
        // A small generator of its own: the same damage in every run.
        let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = move |below: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed % below as u64) as usize
        };
        let (mut whole_ends, mut failures) = (0, 0);
        for _ in 0..4_000 {
            let mut bytes = ANSWER.as_bytes().to_vec();
            for _ in 0..=next(3) {
                let (at, length) = (next(bytes.len()), next(60));
                let end = (at + length).min(bytes.len());
                match next(4) {
                    0 => bytes[at] ^= 1 << next(8),
                    1 => drop(bytes.drain(at..end)),
                    2 => {
                        let copy = bytes[at..end].to_vec();
                        let to = next(bytes.len());
                        bytes.splice(to..to, copy);
                    }
                    _ => bytes[at] = b"\n\r{}[]\":,0\\"[next(11)],
                }
            }
            let told = read(std::iter::once(bytes.as_slice()));
            assert_eq!(read(bytes.chunks(1 + next(40))), told);
            whole_ends += usize::from(told.contains("Ok(Some("));
            failures += usize::from(told.contains("Failure"));
        }
        // Both happened often: the damage is neither too small nor too great to say something.
        assert!(
            whole_ends > 200 && failures > 200,
            "{whole_ends} {failures}"
        );
    }
}

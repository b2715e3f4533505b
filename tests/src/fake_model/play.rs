//! A response of a script as the bytes and pauses of an event stream.
//!
//! Pure: what is sent, in which order, and where it stops. It must never send an event that the
//! real protocol would not send, unless the script says so.

use serde_json::{json, Value};
use toolgate::provider::script::{Block, Cut, Ending, Response, Tokens};

/// One step of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// These bytes go out.
    Send(String),
    /// Nothing goes out until this name is released.
    Hold(String),
    /// The stream ends as it should.
    Finish,
    /// The stream ends too early.
    Break(Ending),
}

/// The steps of the response number `played`, from 0.
pub fn steps(response: &Response, played: u64, model: &str) -> Vec<Step> {
    let served = &response.served;
    let mut sent = start(response.usage, played, model);
    let blocks = response.blocks(played);
    let whole = match served.cut {
        Some(Cut::AfterBlock(count)) => count,
        Some(Cut::InBlock(number)) => number - 1,
        None => blocks.len(),
    };
    for (index, block) in blocks.iter().take(whole).enumerate() {
        sent.push_str(&block_events(block, index, response.delta).concat());
    }
    if let Some(cut) = served.cut {
        if let (Cut::InBlock(_), Some(block)) = (cut, blocks.get(whole)) {
            sent.push_str(&half(&block_events(block, whole, response.delta)));
        }
        return vec![Step::Send(sent), Step::Break(served.ending)];
    }
    for raw in &served.raw_events {
        sent.push_str(raw.trim_end_matches('\n'));
        sent.push_str("\n\n");
    }
    let mut steps = vec![Step::Send(sent)];
    if let Some(name) = &served.hold {
        steps.push(Step::Hold(name.clone()));
    }
    if served.ending == Ending::Stall {
        steps.push(Step::Break(Ending::Stall));
        return steps;
    }
    steps.push(Step::Send(end(response)));
    steps.push(Step::Finish);
    steps
}

fn start(usage: Tokens, played: u64, model: &str) -> String {
    let message = json!({
        "id": format!("msg_{}", played + 1),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": {
            "input_tokens": usage.input_tokens,
            "cache_creation_input_tokens": usage.cache_creation_input_tokens,
            "cache_read_input_tokens": usage.cache_read_input_tokens,
            "output_tokens": 1,
        },
    });
    event("message_start", json!({ "message": message })) + &event("ping", json!({}))
}

fn end(response: &Response) -> String {
    let delta = json!({
        "delta": { "stop_reason": response.stop_reason, "stop_sequence": null },
        "usage": { "output_tokens": response.usage.output_tokens },
    });
    event("message_delta", delta) + &event("message_stop", json!({}))
}

/// The events of one block.
fn block_events(block: &Block, index: usize, size: usize) -> Vec<String> {
    let delta = |delta: Value| {
        event(
            "content_block_delta",
            json!({ "index": index, "delta": delta }),
        )
    };
    let (first, deltas) = match block {
        Block::Text(text) => (
            json!({ "type": "text", "text": "" }),
            pieces(text, size)
                .map(|text| delta(json!({ "type": "text_delta", "text": text })))
                .collect(),
        ),
        Block::Thinking {
            thinking,
            signature,
        } => {
            let mut deltas: Vec<_> = pieces(thinking, size)
                .map(|text| delta(json!({ "type": "thinking_delta", "thinking": text })))
                .collect();
            deltas.push(delta(
                json!({ "type": "signature_delta", "signature": signature }),
            ));
            (
                json!({ "type": "thinking", "thinking": "", "signature": "" }),
                deltas,
            )
        }
        Block::ToolUse { id, name, input } => {
            let part = |text| delta(json!({ "type": "input_json_delta", "partial_json": text }));
            // The real server begins with an empty piece, and sends no other for `{}`.
            let rest = if input == "{}" { "" } else { input.as_str() };
            let pieces = std::iter::once(String::new()).chain(pieces(rest, size));
            (
                json!({ "type": "tool_use", "id": id, "name": name, "input": {} }),
                pieces.map(part).collect::<Vec<_>>(),
            )
        }
        // The script's own text, so that no reader in between can change it.
        Block::Other(json) => return other_events(json, index),
    };
    let mut events = vec![event(
        "content_block_start",
        json!({ "index": index, "content_block": first }),
    )];
    events.extend(deltas);
    events.push(stop(index));
    events
}

fn other_events(block: &str, index: usize) -> Vec<String> {
    let block = block.replace(['\r', '\n'], " ");
    let start = format!(
        "event: content_block_start\ndata: {{\"type\":\"content_block_start\",\"index\":{index},\"content_block\":{block}}}\n\n"
    );
    vec![start, stop(index)]
}

fn stop(index: usize) -> String {
    event("content_block_stop", json!({ "index": index }))
}

/// A block up to its middle: half of its events, and half of the next one.
fn half(events: &[String]) -> String {
    let (sent, rest) = events.split_at(events.len() / 2);
    let broken = rest.first().map_or("", |event| {
        let mut middle = event.len() / 2;
        while !event.is_char_boundary(middle) {
            middle -= 1;
        }
        &event[..middle]
    });
    sent.concat() + broken
}

fn event(name: &str, mut data: Value) -> String {
    data["type"] = name.into();
    format!("event: {name}\ndata: {data}\n\n")
}

/// A text in pieces of so many characters.
fn pieces(text: &str, size: usize) -> impl Iterator<Item = String> + '_ {
    let mut rest = text.chars();
    std::iter::from_fn(move || {
        let piece: String = rest.by_ref().take(size).collect();
        (!piece.is_empty()).then_some(piece)
    })
}

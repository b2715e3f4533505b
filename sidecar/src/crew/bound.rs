//! Keeps what leaves below the protocol's size (spec: protocol.md). Sizes are those of the JSON
//! that is sent: a control character is one byte in a text and six on the wire.
//!
//! Streamed text is split and never lost; other texts are cut, and say that they were. What a
//! person must see whole before they answer is never cut here but in `contents`, which pages it.

use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::Value;
use toolgate_protocol::asks::{Ask, AskOpened, AskOption};
use toolgate_protocol::notices::{SessionUpdate, Update};

/// Room for the content of one message; the rest is for its frame.
pub const ROOM: usize = 60 * 1024;

/// Room for one piece of streamed text.
const PIECE: usize = 16 * 1024;

/// Room for updates in one page of `load`, and for prompts in it.
pub const PAGE_ROOM: usize = 28 * 1024;

/// Bytes that a value takes on the wire.
pub fn size<T: Serialize + ?Sized>(value: &T) -> usize {
    serde_json::to_string(value).map_or(usize::MAX, |text| text.len())
}

/// The longest beginning of a text that takes so many bytes on the wire.
pub fn head(text: &str, room: usize) -> &str {
    let mut left = room;
    for (at, c) in text.char_indices() {
        let cost = match c {
            '"' | '\\' | '\n' | '\r' | '\t' => 2,
            c if c.is_control() => 6,
            c => c.len_utf8(),
        };
        if cost > left {
            return &text[..at];
        }
        left -= cost;
    }
    text
}

/// A text that takes at most so many bytes; a cut one says how much is missing.
pub fn cut(text: &str, room: usize) -> String {
    let start = head(text, room);
    if start.len() == text.len() {
        return text.to_owned();
    }
    let start = head(text, room.saturating_sub(40));
    format!("{start}… [{} more bytes]", text.len() - start.len())
}

/// An update as updates that each fit: streamed text in pieces, others cut.
pub fn updates(update: Update) -> Vec<Update> {
    let pieces = |text: &str, make: &dyn Fn(String) -> Update| {
        let mut all = Vec::new();
        let mut rest = text;
        loop {
            let piece = head(rest, PIECE);
            all.push(make(piece.to_owned()));
            rest = &rest[piece.len()..];
            if rest.is_empty() {
                return all;
            }
        }
    };
    match update {
        Update::AgentMessageDelta { text } => {
            pieces(&text, &|text| Update::AgentMessageDelta { text })
        }
        Update::ThoughtDelta { text } => pieces(&text, &|text| Update::ThoughtDelta { text }),
        update => vec![fit(update)],
    }
}

/// A value that fits: its texts and lists are cut as far as needed.
fn fit<T: Serialize + DeserializeOwned>(value: T) -> T {
    if size(&value) <= ROOM {
        return value;
    }
    let Ok(whole) = serde_json::to_value(&value) else {
        return value;
    };
    for (text, list) in [(8 * 1024, 400), (2 * 1024, 100), (512, 50), (128, 20)] {
        let less = shrink(&whole, text, list);
        if size(&less) <= ROOM {
            return serde_json::from_value(less).unwrap_or(value);
        }
    }
    value
}

fn shrink(value: &Value, text: usize, list: usize) -> Value {
    match value {
        Value::String(long) => Value::String(cut(long, text)),
        Value::Array(items) => {
            let items = items.iter().take(list);
            items.map(|item| shrink(item, text, list)).collect()
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            fields
                .map(|(name, field)| (name.clone(), shrink(field, text, list)))
                .collect()
        }
        other => other.clone(),
    }
}

/// A prompt that fits, its content aside: that is cut and paged by `contents`.
pub fn ask(opened: &mut AskOpened) {
    let bound = |options: &mut Vec<AskOption>| {
        for option in options {
            option.label = cut(&option.label, 1024);
            option.rules.truncate(8);
            for rule in &mut option.rules {
                *rule = cut(rule, 256);
            }
        }
    };
    match &mut opened.ask {
        Ask::Permission(ask) => {
            ask.title = cut(&ask.title, 2 * 1024);
            ask.why.text = cut(&ask.why.text, 2 * 1024);
            ask.why.rule = ask.why.rule.as_deref().map(|rule| cut(rule, 512));
            let described = ask.model_description.as_deref();
            ask.model_description = described.map(|text| cut(text, 2 * 1024));
            bound(&mut ask.options);
        }
        Ask::Repetition { text, options, .. } => {
            *text = cut(text, PIECE);
            bound(options);
        }
        Ask::Trust { wants, options, .. } => {
            wants.truncate(50);
            for want in wants {
                *want = cut(want, 512);
            }
            bound(options);
        }
    }
}

/// The first of these updates that go together on one page; at least one, if there is one.
pub fn page(updates: &[SessionUpdate], most: usize) -> Vec<SessionUpdate> {
    let mut left = PAGE_ROOM;
    let mut page = Vec::new();
    for update in updates.iter().take(most) {
        let size = size(update);
        if size > left && !page.is_empty() {
            break;
        }
        left = left.saturating_sub(size);
        page.push(update.clone());
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_protocol::ids::CallId;

    #[test]
    fn streamed_text_is_split_and_not_lost() {
        let text = "a\u{1}😀\"\n".repeat(20_000);
        let mut joined = String::new();
        for update in updates(Update::AgentMessageDelta { text: text.clone() }) {
            assert!(size(&update) < ROOM);
            if let Update::AgentMessageDelta { text } = update {
                joined.push_str(&text);
            }
        }
        assert_eq!(joined, text);
        let empty = updates(Update::ThoughtDelta {
            text: String::new(),
        });
        assert_eq!(empty.len(), 1);
    }

    #[test]
    fn other_texts_are_cut_and_say_so() {
        let update = Update::CallProgress {
            call_id: CallId::from("c1"),
            text: "\u{1b}".repeat(200_000),
            bytes: None,
        };
        let fitted = updates(update);
        assert!(size(&fitted[0]) < ROOM);
        let Update::CallProgress { call_id, text, .. } = &fitted[0] else {
            panic!("another kind");
        };
        assert_eq!(call_id.0, "c1");
        assert!(
            text.ends_with(" more bytes]"),
            "{}",
            &text[text.len() - 40..]
        );
    }
}

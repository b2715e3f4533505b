//! The strict reading of a call's input.
//!
//! A call can only be made from a closed block whose input is one whole JSON object: no repeated
//! key (two readers would see two inputs), no trailing text, no unpaired surrogate, no nesting
//! that would break a later reader. It must never repair an input: what does not fit becomes a
//! fault that quotes where it broke, so that the model can write it again.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use toolgate_core::message::AssistantBlock;

/// Characters quoted on either side of the place where an input broke.
const QUOTED: usize = 30;

/// Makes a call's block of what was received; a broken input is a fault, never a guess.
pub fn tool_use(id: String, name: String, text: String) -> AssistantBlock {
    // No delta at all is how a call without arguments is streamed.
    let text = if text.trim().is_empty() {
        "{}".to_owned()
    } else {
        text
    };
    let fault = object(&text).err();
    let input = if fault.is_some() { "{}" } else { &text };
    AssistantBlock::ToolUse {
        id,
        name,
        input: Arc::from(input),
        fault,
    }
}

/// Says that a call's block was not finished when the answer ended.
pub fn cut_tool_use(id: String, name: String, text: &str) -> AssistantBlock {
    let tail: String = last_chars(text, QUOTED);
    AssistantBlock::ToolUse {
        id,
        name,
        input: Arc::from("{}"),
        fault: Some(format!(
            "the answer reached its token limit and the input was cut off at column {}, after: {tail:?}",
            text.len() + 1
        )),
    }
}

/// Checks that a text is one JSON object that every reader understands in the same way.
pub fn object(text: &str) -> Result<(), String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = Kind::deserialize(&mut reader).and_then(|kind| reader.end().map(|()| kind));
    match read {
        Ok(Kind::Object) => Ok(()),
        Ok(kind) => Err(format!(
            "the input must be one JSON object, but it is {}: column 1: {:?}",
            kind.name(),
            first_chars(text, QUOTED)
        )),
        Err(error) if error.is_eof() => Err(format!(
            "the input was cut off: {error}: …{:?}",
            last_chars(text, QUOTED)
        )),
        Err(error) => Err(format!(
            "the input is not valid JSON: {error}: {}",
            place(text, error.line(), error.column())
        )),
    }
}

/// Quotes the text around a place.
fn place(text: &str, line: usize, column: usize) -> String {
    let start: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    let mut offset = (start + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let (before, after) = text.split_at(offset);
    format!(
        "…{:?} <here> {:?}…",
        last_chars(before, QUOTED),
        first_chars(after, QUOTED)
    )
}

fn first_chars(text: &str, count: usize) -> String {
    text.chars().take(count).collect()
}

fn last_chars(text: &str, count: usize) -> String {
    let skip = text.char_indices().rev().take(count).last();
    text[skip.map_or(text.len(), |(at, _)| at)..].to_owned()
}

/// What kind of JSON value a text was; reading one visits, and so checks, all that is in it.
enum Kind {
    Object,
    Array,
    Text,
    Number,
    Boolean,
    Null,
}

impl Kind {
    fn name(&self) -> &'static str {
        match self {
            Self::Object => "an object",
            Self::Array => "an array",
            Self::Text => "a string",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Null => "null",
        }
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Strict)
    }
}

/// Walks a value and refuses repeated keys, which serde_json's own types let pass.
struct Strict;

impl<'de> Visitor<'de> for Strict {
    type Value = Kind;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Kind, E> {
        Ok(Kind::Boolean)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Kind, E> {
        Ok(Kind::Number)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Kind, E> {
        Ok(Kind::Number)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Kind, E> {
        Ok(Kind::Number)
    }

    fn visit_str<E>(self, _: &str) -> Result<Kind, E> {
        Ok(Kind::Text)
    }

    fn visit_unit<E>(self) -> Result<Kind, E> {
        Ok(Kind::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Kind, A::Error> {
        while items.next_element::<Kind>()?.is_some() {}
        Ok(Kind::Array)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Kind, A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if seen.contains(&key) {
                let key = first_chars(&key, QUOTED);
                return Err(A::Error::custom(format_args!(
                    "the key {key:?} stands twice"
                )));
            }
            seen.insert(key);
            entries.next_value::<Kind>()?;
        }
        Ok(Kind::Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: &str) {
        match object(text) {
            Ok(()) => assert_eq!(wanted, "ok", "{text}"),
            Err(fault) => assert!(fault.contains(wanted), "{text}: {fault}"),
        }
    }

    #[test]
    fn one_whole_object_or_a_fault_that_quotes_the_place() {
        check(r#"{"a":{"b":[1,2.5,null,true,"x"]}}"#, "ok");
        check("\n{ \"a\" : 1 }\n", "ok");
        check(
            r#"{"file_path": "a.txt" "limit": 3}"#,
            r#"" <here> "\"limit\": 3}""#,
        );
        check(r#"{"file_path": "a.t"#, "cut off");
        check(r#"{"a":1,"a":2}"#, "the key \"a\" stands twice");
        check(r#"{"a":{"b":1,"b":2}}"#, "the key \"b\" stands twice");
        check(r#"{"a":1,"\u0061":2}"#, "stands twice");
        check(r#"[{"a":1}]"#, "but it is an array");
        check("null", "but it is null");
        check(r#"{"a":1}{"b":2}"#, "trailing characters");
        check(r#"{"a":"\ud800"}"#, "line 1 column");
        check(r#"{"a":1e999}"#, "out of range");
        check("{\"ä\":\n\"ü\" ö}", "line 2 column");
        check(
            &format!("{{\"a\":{}", "[".repeat(100_000)),
            "recursion limit",
        );
    }

    #[test]
    fn nothing_is_an_empty_object() {
        let empty = AssistantBlock::ToolUse {
            id: "t".into(),
            name: "Read".into(),
            input: Arc::from("{}"),
            fault: None,
        };
        assert_eq!(tool_use("t".into(), "Read".into(), " ".into()), empty);
    }
}

//! One block of an answer while it streams, and what it becomes when it is closed.
//!
//! What is known is rebuilt once from its deltas; what is not known is kept as it came. It must
//! never give a block that could not be sent back: text is not blank, JSON is valid and whole.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{json, Map, Value};
use toolgate_core::event::StreamEvent;
use toolgate_core::message::{AssistantBlock, Part};

use super::input;
use super::stream::Out;

/// A block that is not closed yet.
#[derive(Debug)]
pub enum Open {
    /// Text, with the citations that came for it.
    Text { text: String, citations: Vec<Value> },
    /// Thinking and its signature.
    Thinking { text: String, signature: String },
    /// A call; `given` is the input that came with its start, `text` that of its deltas.
    ToolUse {
        id: String,
        name: String,
        given: String,
        text: String,
    },
    /// Any other block: as it came, and what came after.
    Other { json: String, later: Later },
}

/// What deltas added to a block that is not known.
#[derive(Debug, Default)]
pub struct Later {
    /// Text of `input_json_delta`.
    input: String,
    /// Texts by the name of their field.
    texts: Map<String, Value>,
    citations: Vec<Value>,
}

#[derive(Deserialize)]
struct Typed {
    #[serde(rename = "type", default)]
    kind: String,
}

#[derive(Deserialize)]
struct Start<'a> {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    signature: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    signature: Option<String>,
    #[serde(default)]
    partial_json: Option<String>,
    #[serde(default)]
    citation: Option<Value>,
}

impl Open {
    /// Begins a block from its `content_block`.
    pub fn start(json: &str, out: Out<'_>) -> Result<Self, String> {
        let Typed { kind } = parse(json)?;
        if !["text", "thinking", "tool_use"].contains(&kind.as_str()) {
            // Checked here, where it can still be refused: it goes into every later request.
            parse::<Map<String, Value>>(json)?;
            return Ok(Self::Other {
                json: json.to_owned(),
                later: Later::default(),
            });
        }
        let start: Start<'_> = parse(json)?;
        let text = start.text.unwrap_or_default();
        let thinking = start.thinking.unwrap_or_default();
        if !text.is_empty() {
            out(StreamEvent::Text(text.clone()));
        }
        if !thinking.is_empty() {
            out(StreamEvent::Thinking(thinking.clone()));
        }
        Ok(match kind.as_str() {
            "text" => Self::Text {
                text,
                citations: Vec::new(),
            },
            "thinking" => Self::Thinking {
                text: thinking,
                signature: start.signature.unwrap_or_default(),
            },
            _ => Self::ToolUse {
                id: start.id.unwrap_or_default(),
                name: start.name.unwrap_or_default(),
                given: start.input.map_or("", RawValue::get).to_owned(),
                text: String::new(),
            },
        })
    }

    /// Adds a delta. One of an unknown kind is passed over; one that belongs to another kind of
    /// block is an error, because something of this answer was lost.
    pub fn delta(&mut self, json: &str, out: Out<'_>) -> Result<(), String> {
        let Typed { kind } = parse(json)?;
        let known = [
            "text_delta",
            "thinking_delta",
            "signature_delta",
            "input_json_delta",
            "citations_delta",
        ];
        if !known.contains(&kind.as_str()) {
            return Ok(());
        }
        let delta: Delta = parse(json)?;
        match (self, kind.as_str()) {
            (Self::Text { text, .. }, "text_delta") => {
                let more = delta.text.unwrap_or_default();
                text.push_str(&more);
                if !more.is_empty() {
                    out(StreamEvent::Text(more));
                }
            }
            (Self::Text { citations, .. }, "citations_delta") => citations.extend(delta.citation),
            (Self::Thinking { text, .. }, "thinking_delta") => {
                let more = delta.thinking.unwrap_or_default();
                text.push_str(&more);
                if !more.is_empty() {
                    out(StreamEvent::Thinking(more));
                }
            }
            (Self::Thinking { signature, .. }, "signature_delta") => {
                signature.push_str(&delta.signature.unwrap_or_default());
            }
            (Self::ToolUse { text, .. }, "input_json_delta") => {
                text.push_str(&delta.partial_json.unwrap_or_default());
            }
            (Self::Other { later, .. }, _) => later.add(delta),
            (_, kind) => return Err(format!("a {kind} does not belong to this block")),
        }
        Ok(())
    }

    /// Closes the block; none when there is nothing in it to keep.
    pub fn close(self) -> Result<Option<AssistantBlock>, String> {
        Ok(Some(match self {
            Self::Text { text, .. } if text.trim().is_empty() => return Ok(None),
            Self::Text { text, citations } => {
                let mut block = json!({ "type": "text", "text": text });
                if !citations.is_empty() {
                    block["citations"] = citations.into();
                }
                AssistantBlock::Text { json: part(&block) }
            }
            Self::Thinking { text, signature } if text.is_empty() && signature.is_empty() => {
                return Ok(None)
            }
            Self::Thinking { text, signature } => AssistantBlock::Thinking {
                json: part(&json!({
                    "type": "thinking",
                    "thinking": text,
                    "signature": signature,
                })),
            },
            Self::ToolUse {
                id,
                name,
                given,
                text,
            } => {
                // Some servers send the whole input with the start and no delta.
                let whole = if text.trim().is_empty() { given } else { text };
                input::tool_use(id, name, whole)
            }
            Self::Other { json, later } => AssistantBlock::Other {
                json: later.merge(json)?,
            },
        }))
    }

    /// Ends a block that the token limit cut. Thinking without its end has no signature, and a
    /// block that is not known may be half: neither could be sent back.
    pub fn cut(self) -> Option<AssistantBlock> {
        match self {
            Self::Text { .. } => self.close().ok().flatten(),
            Self::ToolUse { id, name, text, .. } => Some(input::cut_tool_use(id, name, &text)),
            Self::Thinking { .. } | Self::Other { .. } => None,
        }
    }
}

impl Later {
    fn add(&mut self, delta: Delta) {
        self.input.push_str(&delta.partial_json.unwrap_or_default());
        self.citations.extend(delta.citation);
        let texts = [
            ("text", delta.text),
            ("thinking", delta.thinking),
            ("signature", delta.signature),
        ];
        for (name, more) in texts {
            if let Some(more) = more {
                match self.texts.get_mut(name) {
                    Some(Value::String(text)) => text.push_str(&more),
                    _ => {
                        self.texts.insert(name.to_owned(), more.into());
                    }
                }
            }
        }
    }

    /// The block with what came after its start; as received, to the byte, when nothing did.
    fn merge(self, json: String) -> Result<Part, String> {
        if self.input.trim().is_empty() && self.texts.is_empty() && self.citations.is_empty() {
            return Ok(Arc::from(json));
        }
        let mut block: Map<String, Value> = parse(&json)?;
        if !self.input.trim().is_empty() {
            input::object(&self.input)?;
            block.insert("input".to_owned(), parse(&self.input)?);
        }
        for (name, more) in self.texts {
            let before = block.get(&name).and_then(Value::as_str).unwrap_or_default();
            let text = before.to_owned() + more.as_str().unwrap_or_default();
            block.insert(name, text.into());
        }
        if !self.citations.is_empty() {
            let list = block.entry("citations").or_insert_with(|| json!([]));
            match list {
                Value::Array(list) => list.extend(self.citations),
                other => *other = self.citations.into(),
            }
        }
        Ok(part(&Value::Object(block)))
    }
}

fn part(value: &Value) -> Part {
    Arc::from(value.to_string())
}

fn parse<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

//! A session from its transcript, as updates for an editor that has none of it: what `load` tells
//! after a restart (spec: protocol.md, "Sidecar → client").

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toolgate_core::definition::CallKind;
use toolgate_core::fact::{Fact, ModelBlock};
use toolgate_core::shown::shown;
use toolgate_protocol::ids::{CallId, TurnId};
use toolgate_protocol::notices::{CallStatus, Update, Usage};
use toolgate_protocol::render::{Content, Payload};
use toolgate_protocol::requests::CallView;

use crate::crew::bound;
use crate::crew::contents::Contents;

/// What is known of one call: what `call/get` answers.
#[derive(Clone, Debug)]
pub struct CallRecord {
    /// The tool's name as the model wrote it.
    pub tool: String,
    /// The input as received.
    pub input: Value,
    /// The model's view, once it has ended: one `tool_result` block.
    pub block: Option<Value>,
    /// The structured output.
    pub structured: Option<Value>,
    /// What the editor was shown.
    pub content: Option<Content>,
}

impl CallRecord {
    /// The record of a call that a fact tells of.
    pub fn of(name: &str, input: &str) -> Self {
        Self {
            tool: name.to_owned(),
            input: serde_json::from_str(input).unwrap_or_default(),
            block: None,
            structured: None,
            content: None,
        }
    }

    /// As `call/get` answers; what is too large for a message is paged under a reference.
    pub fn view(&self, call_id: &CallId, contents: &mut Contents) -> CallView {
        let mut value =
            |value: &Value, what: &str| contents.fit_value(&format!("{call_id}.{what}"), value);
        let input = value(&self.input, "input");
        let structured = self.structured.as_ref().map(|it| value(it, "structured"));
        let text = self.block.as_ref().map(text_of);
        CallView {
            call_id: call_id.clone(),
            tool: bound::cut(&self.tool, 512),
            input,
            model_text: text.map(|it| contents.fit_text(&format!("{call_id}.text"), &it)),
            structured,
            content: self.content.clone(),
        }
    }

    /// The file in this folder that the whole output was kept in, if it was.
    pub fn kept_in(&self, folder: &Path) -> Option<PathBuf> {
        let path = self.structured.as_ref()?["persistedOutputPath"].as_str()?;
        let path = PathBuf::from(path);
        // Only a file that Toolgate itself put there: an output's fields are a tool's words.
        (path.parent() == Some(folder)).then_some(path)
    }
}

/// The text of a `tool_result` block.
fn text_of(block: &Value) -> String {
    match &block["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// The updates that tell a transcript from its start. `face` knows a tool's kind and how it describes an input,
/// `results` is the session's folder of results that are kept aside.
pub fn updates(
    facts: &[Fact],
    records: &mut BTreeMap<CallId, CallRecord>,
    contents: &mut Contents,
    results: &Path,
    face: &dyn Fn(&str, &Value) -> (CallKind, String),
) -> Vec<Update> {
    let mut out = Vec::new();
    for fact in facts {
        match fact {
            Fact::TurnStarted { turn, text } => {
                out.push(Update::TurnStarted {
                    turn_id: turn.clone(),
                });
                out.push(Update::UserMessage { text: text.clone() });
            }
            Fact::Block {
                block: ModelBlock::Json(json),
            } => out.extend(block_update(json)),
            Fact::Block {
                block:
                    ModelBlock::Call {
                        call, name, input, ..
                    },
            } => {
                let record = CallRecord::of(name, input);
                let (call_kind, title) = face(name, &record.input);
                out.push(Update::CallStarted {
                    call_id: call.clone(),
                    tool: shown(name),
                    call_kind,
                    title,
                    locations: Vec::new(),
                });
                records.insert(call.clone(), record);
            }
            Fact::Ended {
                call,
                block,
                status,
                structured,
                ms,
            } => {
                let block: Value = serde_json::from_str(block).unwrap_or_default();
                let payload = Payload::Fallback {
                    text: shown(&text_of(&block)),
                };
                let mut content = contents.fit(&call.0, payload);
                if let Some(record) = records.get_mut(call) {
                    record.block = Some(block);
                    record.structured = structured.as_deref().cloned();
                    contents.refer(&call.0, record.kept_in(results), &mut content);
                    record.content = Some(content.clone());
                }
                out.push(settled(call, *status, content, *ms));
            }
            Fact::Mode { mode } => out.push(Update::Mode { mode: *mode }),
            Fact::TurnEnded { turn, reason } => out.push(ended(turn, *reason)),
            _ => {}
        }
    }
    out
}

fn settled(call: &CallId, status: CallStatus, content: Content, duration_ms: u32) -> Update {
    Update::CallSettled {
        call_id: call.clone(),
        status,
        content,
        why: None,
        duration_ms,
    }
}

fn ended(turn: &TurnId, stop_reason: toolgate_protocol::notices::StopReason) -> Update {
    Update::TurnEnded {
        turn_id: turn.clone(),
        stop_reason,
        message: None,
        usage: Usage::default(),
    }
}

fn block_update(json: &str) -> Option<Update> {
    let block: Value = serde_json::from_str(json).ok()?;
    let text = |name: &str| block[name].as_str().map(str::to_owned);
    match block["type"].as_str()? {
        "text" => Some(Update::AgentMessageDelta {
            text: text("text")?,
        }),
        "thinking" => Some(Update::ThoughtDelta {
            text: text("thinking")?,
        }),
        _ => None,
    }
}

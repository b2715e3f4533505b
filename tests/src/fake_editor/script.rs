//! Scripts for the fake model, written in Rust: what a test needs to say of an answer, no more.
//!
//! The format itself is `toolgate::provider::script`.

use std::collections::BTreeMap;

use serde_json::{json, Value};
use toolgate::provider::script::Script;

use crate::fake_model::FakeModel;

/// An answer made of these blocks.
pub fn turn(blocks: impl IntoIterator<Item = Value>) -> Value {
    json!({ "content": blocks.into_iter().collect::<Vec<_>>() })
}

/// An answer that only says something.
pub fn says(text: &str) -> Value {
    turn([json!({ "type": "text", "text": text })])
}

/// A call.
pub fn call(name: &str, input: Value) -> Value {
    json!({ "type": "tool_use", "name": name, "input": input })
}

/// A Read.
pub fn read(path: &str) -> Value {
    call("Read", json!({ "file_path": path }))
}

/// An Edit of one place.
pub fn edit(path: &str, old: &str, new: &str) -> Value {
    let input = json!({ "file_path": path, "old_string": old, "new_string": new });
    call("Edit", input)
}

/// A Write.
pub fn write(path: &str, content: &str) -> Value {
    call("Write", json!({ "file_path": path, "content": content }))
}

/// A Bash.
pub fn bash(command: &str) -> Value {
    call("Bash", json!({ "command": command }))
}

/// A fake model that gives these answers in order.
pub async fn model(answers: impl IntoIterator<Item = Value>) -> FakeModel {
    let answers: Vec<Value> = answers.into_iter().collect();
    start(&json!({ "responses": answers }).to_string()).await
}

/// A fake model that plays this script.
pub async fn start(text: &str) -> FakeModel {
    let script = Script::parse(text, &BTreeMap::new());
    let script = script.unwrap_or_else(|error| panic!("{error}\n{text}"));
    FakeModel::start(script).await.expect("a port")
}

/// The results that a request brings for the calls of the answer before it, in order: texts.
pub fn results(request: &str) -> Vec<String> {
    let body: Value = serde_json::from_str(request).expect("the fake model checked it");
    let messages = body["messages"].as_array().expect("messages");
    let last = messages.last().expect("a message");
    let blocks = last["content"].as_array().cloned().unwrap_or_default();
    blocks
        .iter()
        .filter(|block| block["type"] == "tool_result")
        .map(text_of)
        .collect()
}

/// The text of a block or a result.
pub fn text_of(block: &Value) -> String {
    match (&block["content"], &block["text"]) {
        (_, Value::String(text)) | (Value::String(text), _) => text.clone(),
        (Value::Array(blocks), _) => blocks.iter().map(text_of).collect(),
        _ => String::new(),
    }
}

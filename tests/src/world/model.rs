//! The model of the random world: it writes whatever a model may write, sense and nonsense.

use std::sync::Arc;

use serde_json::{json, Value};
use toolgate_core::definition::{Access, Definition, Effects, Face};
use toolgate_core::event::{Failure, FailureKind, ModelStop, StreamEvent};
use toolgate_core::message::{text_block, AssistantBlock};
use toolgate_core::place::PathAnswer;

use super::rng::Rng;

/// The files of the random world.
pub const FILES: &[&str] = &[
    "/w/a",
    "/w/b",
    "/w/c",
    "/w/secret",
    "/w/.git/config",
    "/out/x",
];

/// A tool that says nothing about itself: alone, not read-only, asks (law 8).
pub struct Odd;

impl Face for Odd {
    fn definition(&self) -> Definition {
        odd("Odd")
    }
}

/// A tool whose trait functions panic: the same (law 8).
pub struct Panics;

impl Face for Panics {
    fn definition(&self) -> Definition {
        odd("Panics")
    }

    fn effects(&self, _: &Value, _: &[PathAnswer]) -> Effects {
        if std::env::var_os("TOOLGATE_NEVER_SET").is_none() {
            std::panic::panic_any("a trait function fails");
        }
        Effects::reading(Access::none())
    }
}

fn odd(name: &str) -> Definition {
    Definition {
        name: name.to_owned(),
        description: "Does something.".to_owned(),
        input_schema: json!({"type": "object"}),
    }
}

/// One answer of the model: its events in order. `seen` is what the model saw of files.
pub fn answer(rng: &mut Rng, seen: &dyn Fn(&str) -> Option<String>) -> Vec<StreamEvent> {
    let mut events = Vec::new();
    let ends = rng.permille(250);
    let calls = if ends { 0 } else { 1 + rng.below(5) };
    for number in 0..calls {
        if rng.permille(200) {
            events.push(StreamEvent::Text("thinking aloud ".to_owned()));
            events.push(StreamEvent::Block(AssistantBlock::Text {
                json: text_block("aloud"),
            }));
        }
        events.push(StreamEvent::Block(call(rng, number, seen)));
    }
    if ends || rng.permille(300) {
        events.push(StreamEvent::Block(AssistantBlock::Text {
            json: text_block("done"),
        }));
    }
    events.push(end(rng, calls > 0));
    events
}

fn end(rng: &mut Rng, calls: bool) -> StreamEvent {
    if rng.permille(60) {
        let kind = *rng.pick(&[
            FailureKind::Transport,
            FailureKind::Overloaded,
            FailureKind::Protocol,
            FailureKind::BadRequest,
        ]);
        let text = "the connection broke".to_owned();
        return StreamEvent::Failed(Failure {
            kind,
            text,
            retry_after_ms: None,
        });
    }
    StreamEvent::Ended(match (calls, rng.permille(50)) {
        (_, true) => ModelStop::MaxTokens,
        (true, false) => ModelStop::ToolUse,
        (false, false) => ModelStop::EndTurn,
    })
}

fn call(rng: &mut Rng, number: usize, seen: &dyn Fn(&str) -> Option<String>) -> AssistantBlock {
    // Ids repeat now and then, within an answer and across answers.
    let id = format!(
        "toolu_{}",
        if rng.permille(100) {
            0
        } else {
            rng.below(1_000) + number
        }
    );
    let usual = rng.permille(850);
    let path = *rng.pick(if usual { &FILES[..3] } else { FILES });
    let (name, input) = match rng.below(100) {
        0..=29 if rng.permille(150) => ("Read", json!({"file_path": path, "limit": 1})),
        0..=29 => ("Read", json!({"file_path": path})),
        30..=57 => ("Edit", edit(rng, path, seen)),
        58..=65 => ("Write", json!({"file_path": path, "content": line(rng)})),
        66..=75 => ("Bash", json!({"command": format!("cat {}", &path[3..])})),
        76..=85 => ("Bash", json!({"command": format!("make {}", &path[3..])})),
        86..=88 => ("TodoWrite", json!({"todos": []})),
        89..=90 => ("Odd", json!({"n": 1})),
        91..=92 => ("Panics", json!({"n": 1})),
        93..=94 => ("Nothing", json!({})),
        95..=96 => ("Read", json!({"file_path": [path]})),
        97 => ("Bash", json!({"command": "rm -rf /"})),
        _ => {
            return AssistantBlock::ToolUse {
                id,
                name: "Read".to_owned(),
                input: Arc::from("{}"),
                fault: Some("column 3: a brace is missing".to_owned()),
            }
        }
    };
    AssistantBlock::ToolUse {
        id,
        name: name.to_owned(),
        input: Arc::from(input.to_string()),
        fault: None,
    }
}

fn line(rng: &mut Rng) -> String {
    format!("line {}\nline {}\n", rng.below(50), rng.below(50))
}

/// Mostly an edit of what the model saw, sometimes one of what it did not.
fn edit(rng: &mut Rng, path: &str, seen: &dyn Fn(&str) -> Option<String>) -> Value {
    let known = seen(path).unwrap_or_default();
    let lines: Vec<&str> = known.lines().collect();
    let old = match lines.is_empty() || rng.permille(80) {
        true => "line 7".to_owned(),
        false => (*rng.pick(&lines)).to_owned(),
    };
    let new = format!("line {}", rng.below(1_000));
    json!({"file_path": path, "old_string": old, "new_string": new, "replace_all": true})
}

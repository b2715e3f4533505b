//! `Write`: creates a file or replaces the whole of one.
//!
//! A file that exists must have been seen whole; that check is the core's. A new file gets the
//! bytes of the input as they are; an existing one keeps its encoding, mark and line endings.

use serde_json::{json, Value};
use toolgate_core::command::Task;
use toolgate_core::definition::{CallKind, Change, Definition, Effects, Face};
use toolgate_core::hunks;
use toolgate_core::outcome::Raw;
use toolgate_core::place::{Aim, PathAnswer, Purpose};

use super::edit::lexical;
use super::{apply, count, places, text, Context};

/// The tool.
pub struct Write;

const DESCRIPTION: &str = "\
Creates a file, or replaces the whole content of one. Prefer Edit for a change of a file that \
exists.

- A file that exists must have been shown to you whole, at its present version, in an earlier \
answer: a Read in the same answer does not count, because you wrote this call before you saw its \
result.
- A new file needs no Read. When a file appears there in the meantime, nothing is written.
- Missing directories are made, and the result names them.
- content is written as it is; no newline is added at its end. An existing file keeps its \
encoding, byte order mark and line endings.
- The person may reject parts of the change; the result says which, and they are then not in the \
file.
- An open document is changed in the editor, so that the person can undo it.";

impl Face for Write {
    fn definition(&self) -> Definition {
        Definition {
            name: "Write".to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "file_path": {
                        "type": "string",
                        "description": "The file, absolute or relative to the working directory.",
                    },
                    "content": { "type": "string", "description": "The whole new content." },
                },
                "required": ["file_path", "content"],
                "additionalProperties": false,
            }),
        }
    }

    fn kind(&self) -> CallKind {
        CallKind::Edit
    }

    fn aims(&self, input: &Value) -> Vec<Aim> {
        vec![Aim {
            path: text(input, "file_path").to_owned(),
            purpose: Purpose::Write,
        }]
    }

    fn effects(&self, _input: &Value, answers: &[PathAnswer]) -> Effects {
        Effects::writing(places(answers))
    }

    fn describe(&self, input: &Value) -> String {
        let lines = text(input, "content").split_inclusive('\n').count();
        let lines = count(lines, "line", "lines");
        format!("Write {} ({lines})", text(input, "file_path"))
    }

    fn change(&self, input: &Value) -> Option<Change> {
        Some(Change::Whole(text(input, "content").to_owned()))
    }
}

/// Makes the change that was planned and allowed.
pub async fn execute(task: Task, context: &Context) -> Raw {
    let applied = match apply::apply(&task, context).await {
        Ok(applied) => applied,
        Err(raw) => return *raw,
    };
    let patch = if applied.creates {
        json!([])
    } else {
        hunks::structured_patch(&applied.before, &applied.hunks)
    };
    let structured = json!({
        "type": if applied.creates { "create" } else { "update" },
        "filePath": lexical(&task),
        "content": text(&task.input, "content"),
        "structuredPatch": patch,
        "originalFile": applied.original(),
        "userModified": !applied.rejected.is_empty(),
    });
    let lines = count(applied.after.line_count(), "line", "lines");
    let what = if applied.creates {
        format!("Created {} ({lines}).", lexical(&task))
    } else {
        format!("Replaced the content of {} ({lines} now).", lexical(&task))
    };
    applied.into_raw(&task, &what, structured)
}

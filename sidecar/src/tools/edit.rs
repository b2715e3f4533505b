//! `Edit`: replaces texts of one file, all or none.
//!
//! Matching, and whether the model saw what it changes, are the core's; here is only what the
//! model and the person read about it. Replacement text is literal, always.

use serde_json::{json, Value};
use toolgate_core::command::Task;
use toolgate_core::definition::{CallKind, Change, Definition, Effects, Face, Replacement};
use toolgate_core::hunks;
use toolgate_core::outcome::Raw;
use toolgate_core::place::{Aim, PathAnswer, Purpose};

use super::{apply, flag, places, text, Context};

/// The tool.
pub struct Edit;

const DESCRIPTION: &str = "\
Replaces old_string by new_string in a file. Read the file first: every line that old_string \
covers must have been shown to you at its present version (for a file that one Read can show, the \
whole file).

- old_string must stand in the file exactly, indentation and blanks included, and exactly once; \
give more lines around it, or set replace_all to replace every place. The line numbers of Read \
are no part of it. The difference between LF and CRLF does not matter.
- new_string is taken literally. The file keeps its encoding, byte order mark and line endings.
- edits takes several replacements, instead of old_string and new_string. All are matched against \
the file as it is now, must not overlap, and are made all or none.
- An empty old_string creates a file that does not exist yet.
- The person may reject parts of the change; the result says which, and they are then not in the \
file.
- An open document is edited in the editor, so that the person can undo it.
- When the file changed since you saw it, nothing is written and the answer shows what changed.";

impl Face for Edit {
    fn definition(&self) -> Definition {
        let replace_all = json!({
            "type": "boolean",
            "description": "Replace every place where old_string stands; false by default.",
        });
        Definition {
            name: "Edit".to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "file_path": {
                        "type": "string",
                        "description": "The file, absolute or relative to the working directory.",
                    },
                    "old_string": { "type": "string", "description": "The text to replace." },
                    "new_string": {
                        "type": "string",
                        "description": "What comes in its stead; different from old_string.",
                    },
                    "replace_all": replace_all,
                    "edits": {
                        "type": "array",
                        "minItems": 1,
                        "maxItems": 100,
                        "description": "Several replacements, instead of old_string and \
                                        new_string.",
                        "items": {
                            "type": "object",
                            "properties": {
                                "old_string": { "type": "string" },
                                "new_string": { "type": "string" },
                                "replace_all": { "type": "boolean" },
                            },
                            "required": ["old_string", "new_string"],
                            "additionalProperties": false,
                        },
                    },
                },
                "required": ["file_path"],
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
        let path = text(input, "file_path");
        match replacements(input).as_slice() {
            [one] if one.all => format!("Edit {path}: replace every occurrence of a text"),
            [_] | [] => format!("Edit {path}"),
            several => format!("Edit {path}: {} replacements", several.len()),
        }
    }

    fn change(&self, input: &Value) -> Option<Change> {
        Some(Change::Replace(replacements(input)))
    }

    /// One form or the other: providers take no `oneOf` at the top of a schema.
    fn check(&self, input: &Value, _answers: &[PathAnswer]) -> Result<(), String> {
        let has = |field: &str| input.get(field).is_some();
        let one = has("old_string") || has("new_string") || has("replace_all");
        let wrong = match (has("edits"), has("old_string") && has("new_string")) {
            (true, _) if one => "both `edits` and a single replacement were given",
            (true, _) | (false, true) => return Ok(()),
            (false, false) => "`old_string` and `new_string` (or `edits`) are missing",
        };
        Err(format!(
            "{wrong}. Nothing was changed; give either old_string and new_string, or edits."
        ))
    }
}

fn replacements(input: &Value) -> Vec<Replacement> {
    let one = |value: &Value| Replacement {
        old: text(value, "old_string").to_owned(),
        new: text(value, "new_string").to_owned(),
        all: flag(value, "replace_all"),
    };
    match input.get("edits").and_then(Value::as_array) {
        Some(edits) => edits.iter().map(one).collect(),
        None => vec![one(input)],
    }
}

/// Makes the change that was planned and allowed.
pub async fn execute(task: Task, context: &Context) -> Raw {
    let applied = match apply::apply(&task, context).await {
        Ok(applied) => applied,
        Err(raw) => return *raw,
    };
    let wanted = replacements(&task.input);
    let first = wanted.first();
    let mut structured = json!({
        "filePath": lexical(&task),
        "oldString": first.map(|one| one.old.as_str()),
        "newString": first.map(|one| one.new.as_str()),
        "originalFile": applied.original(),
        "structuredPatch": hunks::structured_patch(&applied.before, &applied.hunks),
        "userModified": !applied.rejected.is_empty(),
        "replaceAll": first.is_some_and(|one| one.all),
    });
    if let (Some(edits), Some(fields)) = (task.input.get("edits"), structured.as_object_mut()) {
        fields.insert("edits".to_owned(), edits.clone());
    }
    let what = if applied.creates {
        format!("Created {}.", lexical(&task))
    } else {
        format!("Edited {}.", lexical(&task))
    };
    applied.into_raw(&task, &what, structured)
}

/// The path as it is told to the model.
pub(super) fn lexical(task: &Task) -> &str {
    task.answers
        .first()
        .map_or("the file", |answer| answer.lexical.as_str())
}

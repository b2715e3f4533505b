//! `Grep`: a regular expression in files, with ripgrep's engine; open documents with unsaved
//! changes are searched in the place of their files.
//!
//! What it shows does not count as read: an Edit needs a Read.

use std::path::{Path, PathBuf};

use serde_json::{json, Value};
use toolgate_core::command::Task;
use toolgate_core::definition::{Access, CallKind, Definition, Effects, Face};
use toolgate_core::outcome::{Effect, Raw};
use toolgate_core::place::{Aim, PathAnswer, Purpose};

use super::glob::searched;
use super::hits::{Mode, Page, Report, LIMIT, MOST_INLINE};
use super::{first_answer, flag, number, text, Context, Denied};
use crate::hands::disk;
use crate::hands::search::{self, Instead, Walk, Wanted};

/// The tool.
pub struct Grep;

const DESCRIPTION: &str = "\
Searches the content of files with a regular expression (Rust's syntax: no look-around, no \
back-references; escape { and } to find them).

- output_mode: files_with_matches (paths, newest first; the default), content (matching lines), \
count (matching lines a file).
- path is a file or directory; the working directory by default. Narrow with glob (*.ts, \
!*.test.ts, src/**) or type (rust, js, py, ...).
- For content: -n line numbers (on by default), -A, -B, -C or context for lines around a hit, -o \
for the matching part only. A long line is cut around its hit.
- -i ignores case. multiline lets the pattern reach over lines, and . match a line end.
- At most head_limit entries are shown (250 by default, 0 for all); offset skips entries, for the \
next page. The total is told.
- Hidden files are searched; git-ignored files, binary files and files within .git are not. A file \
that is named by path is always searched.
- Open documents are searched as they are in the editor.
- A search does not count as reading: Read a file before you Edit it.";

impl Face for Grep {
    fn definition(&self) -> Definition {
        Definition {
            name: "Grep".to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": properties(),
                "required": ["pattern"],
                "additionalProperties": false,
            }),
        }
    }

    fn kind(&self) -> CallKind {
        CallKind::Search
    }

    fn aims(&self, input: &Value) -> Vec<Aim> {
        let path = input.get("path").and_then(Value::as_str).unwrap_or(".");
        vec![Aim {
            path: path.to_owned(),
            purpose: Purpose::Search,
        }]
    }

    fn effects(&self, _input: &Value, _answers: &[PathAnswer]) -> Effects {
        Effects::reading(Access::ReadsAll)
    }

    fn describe(&self, input: &Value) -> String {
        let mut title = format!("Search for {}", text(input, "pattern"));
        for (field, word) in [
            ("path", "in"),
            ("glob", "in files"),
            ("type", "in files of type"),
        ] {
            if let Some(value) = input.get(field).and_then(Value::as_str) {
                title.push_str(&format!(" {word} {value}"));
            }
        }
        title
    }

    fn max_result_size(&self) -> usize {
        MOST_INLINE
    }
}

fn properties() -> Value {
    let lines = |what: &str| {
        json!({
            "type": "integer",
            "minimum": 0,
            "maximum": 1_000,
            "description": format!("Lines shown {what}; for content."),
        })
    };
    let yes = |what: &str| json!({ "type": "boolean", "description": what });
    json!({
        "pattern": {
            "type": "string",
            "minLength": 1,
            "maxLength": 10_000,
            "description": "The regular expression.",
        },
        "path": {
            "type": "string",
            "minLength": 1,
            "description": "File or directory to search; the working directory by default.",
        },
        "glob": {
            "type": "string",
            "minLength": 1,
            "description": "Only files that match this glob; several are separated by blanks.",
        },
        "type": {
            "type": "string",
            "description": "Only files of this type, by ripgrep's names: rust, js, py, md, ...",
        },
        "output_mode": {
            "type": "string",
            "enum": ["files_with_matches", "content", "count"],
            "description": "What is shown; files_with_matches by default.",
        },
        "-i": yes("Ignore case."),
        "-n": yes("Line numbers, for content; true by default."),
        "-o": yes("Only the matching parts, for content."),
        "-A": lines("after each hit"),
        "-B": lines("before each hit"),
        "-C": lines("before and after each hit"),
        "context": lines("before and after each hit, as -C"),
        "head_limit": {
            "type": "integer",
            "minimum": 0,
            "maximum": 1_000_000,
            "description": "Most entries shown (lines, files); 250 by default, 0 for all.",
        },
        "offset": {
            "type": "integer",
            "minimum": 0,
            "maximum": 1_000_000,
            "description": "Entries that are skipped before the first one shown.",
        },
        "multiline": yes("The pattern may reach over lines."),
    })
}

fn wanted(input: &Value, mode: Mode, page: Page) -> Wanted {
    let around = number(input, "-C")
        .or_else(|| number(input, "context"))
        .unwrap_or(0);
    let content = mode == Mode::Content;
    let side = |field: &str| number(input, field).unwrap_or(around);
    Wanted {
        pattern: text(input, "pattern").to_owned(),
        ignore_case: flag(input, "-i"),
        multiline: flag(input, "multiline"),
        globs: text(input, "glob")
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
        file_type: input.get("type").and_then(Value::as_str).map(str::to_owned),
        only_matching: content && flag(input, "-o"),
        context: if content {
            (side("-B"), side("-A"))
        } else {
            (0, 0)
        },
        keep: if content { page.offset + page.limit } else { 0 },
        first_only: mode == Mode::Files,
    }
}

/// Searches.
pub async fn execute(task: Task, context: &Context) -> Raw {
    let answer = match first_answer(&task) {
        Ok(answer) => answer.clone(),
        Err(raw) => return *raw,
    };
    let denied = context.denied.clone();
    let cancel = context.cancel.clone();
    let folder = context.results_dir.clone();
    super::blocking(move || {
        let root = match searched(&answer, &denied) {
            Ok(root) => root,
            Err(raw) => return *raw,
        };
        let stop = || cancel.is_cancelled();
        search_in(&task, &root, &denied, &stop, &folder)
    })
    .await
}

fn search_in(
    task: &Task,
    root: &Path,
    denied: &Denied,
    stop: &(dyn Fn() -> bool + Sync),
    folder: &Path,
) -> Raw {
    let mode = Mode::of(&task.input);
    let page = Page::of(&task.input);
    let wanted = wanted(&task.input, mode, page);
    let walk = Walk {
        root,
        denied: &|path| denied(path),
        own: &disk::is_temporary,
        stop,
        limit: LIMIT,
    };
    let dirty = task
        .documents
        .open
        .iter()
        .filter(|open| open.document.dirty);
    let instead: Vec<Instead> = dirty
        .map(|open| Instead {
            path: PathBuf::from(&open.path),
            text: open.rope.to_string(),
        })
        .collect();
    let mut found = match search::lines(&walk, &wanted, &instead) {
        Ok(found) => found,
        Err(why) => return Raw::failed(why, Effect::None),
    };
    if mode == Mode::Files {
        found.files.sort_by(|a, b| {
            b.modified
                .cmp(&a.modified)
                .then_with(|| a.path.cmp(&b.path))
        });
    }
    let report = Report {
        task,
        mode,
        page,
        found: &found,
        single: !root.is_dir(),
    };
    report.raw(folder)
}

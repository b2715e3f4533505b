//! `Grep`: a regular expression in files, with ripgrep's engine; open documents with unsaved
//! changes are searched in the place of their files.
//!
//! What it shows does not count as read: an Edit needs a Read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{json, Value};
use toolgate_core::command::Task;
use toolgate_core::definition::{Access, CallKind, Definition, Effects, Face};
use toolgate_core::outcome::{Effect, Raw};
use toolgate_core::place::{Aim, PathAnswer, Purpose};
use toolgate_protocol::render::{Match, Payload};

use super::glob::{searched, told, unfinished};
use super::{count, first_answer, flag, large, number, text, Context, Denied};
use crate::hands::disk;
use crate::hands::search::{self, FileHits, Found, HitKind, Instead, Walk, Wanted};

/// Entries shown when `head_limit` is not given.
const DEFAULT_HEAD: usize = 250;

/// Entries that are ever kept, `head_limit` 0 included.
const MOST_ENTRIES: usize = 100_000;

/// Hits that the panel gets.
const MOST_DRAWN: usize = 200;

/// Characters for the model; more is kept aside.
const MOST_INLINE: usize = 50_000;

/// How long a search may take.
const LIMIT: Duration = Duration::from_secs(60);

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Files,
    Content,
    Count,
}

impl Mode {
    fn of(input: &Value) -> Self {
        match text(input, "output_mode") {
            "content" => Self::Content,
            "count" => Self::Count,
            _ => Self::Files,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Files => "files_with_matches",
            Self::Content => "content",
            Self::Count => "count",
        }
    }
}

/// Which part of all entries is shown.
#[derive(Clone, Copy, Debug)]
struct Page {
    offset: usize,
    limit: usize,
}

impl Page {
    fn of(input: &Value) -> Self {
        let limit = number(input, "head_limit").unwrap_or(DEFAULT_HEAD);
        Self {
            offset: number(input, "offset").unwrap_or(0).min(MOST_ENTRIES),
            limit: if limit == 0 {
                MOST_ENTRIES
            } else {
                limit.min(MOST_ENTRIES)
            },
        }
    }

    fn of_entries<T>(self, entries: impl IntoIterator<Item = T>) -> Vec<T> {
        entries
            .into_iter()
            .skip(self.offset)
            .take(self.limit)
            .collect()
    }
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
        // The panel draws some hits in every mode but the first.
        keep: match mode {
            Mode::Files => 0,
            Mode::Count => 0,
            Mode::Content => page.offset + page.limit,
        },
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

struct Report<'a> {
    task: &'a Task,
    mode: Mode,
    page: Page,
    found: &'a Found,
    single: bool,
}

impl Report<'_> {
    fn raw(&self, folder: &Path) -> Raw {
        let (entries, total) = match self.mode {
            Mode::Files => self.files(),
            Mode::Content => self.content(),
            Mode::Count => self.counts(),
        };
        let mut body = entries.join("\n");
        let mut notes: Vec<String> = Vec::new();
        let shown = entries.len();
        if shown == 0 {
            body = if total == 0 {
                "No matches found".to_owned()
            } else {
                format!(
                    "Nothing is left behind offset {}: there are {total} entries",
                    self.page.offset
                )
            };
        } else if self.page.offset + shown < total {
            notes.push(format!(
                "[Entries {} to {} of {total}; go on with offset {}.]",
                self.page.offset + 1,
                self.page.offset + shown,
                self.page.offset + shown
            ));
        }
        if self.found.binary > 0 {
            let files = count(self.found.binary, "file", "files");
            notes.push(format!("[{files} skipped: binary.]"));
        }
        let unsaved: Vec<String> = self
            .found
            .files
            .iter()
            .filter(|file| file.unsaved)
            .map(|file| told(&file.path, &self.task.cwd))
            .collect();
        if !unsaved.is_empty() {
            notes.push(format!(
                "[Searched as in the editor, unsaved: {}.]",
                unsaved.join(", ")
            ));
        }
        notes.extend(unfinished(self.found.finish, LIMIT));
        let structured = self.structured(&body, shown, total);
        let mut persisted = None;
        let text = if body.chars().count() > MOST_INLINE {
            match large::keep(folder, &self.task.call.0, body.as_bytes()) {
                Ok(path) => {
                    let text = large::list(&path, &body);
                    persisted = Some(path);
                    text
                }
                Err(why) => {
                    notes.push(why);
                    super::head(&body, MOST_INLINE).to_owned()
                }
            }
        } else {
            body
        };
        Raw {
            notice: (!notes.is_empty()).then(|| notes.join("\n")),
            structured: Some(structured),
            payload: Some(self.payload(total)),
            persisted,
            ..Raw::done(text)
        }
    }

    fn files(&self) -> (Vec<String>, usize) {
        let files = self.found.files.iter();
        let names = self
            .page
            .of_entries(files.map(|file| told(&file.path, &self.task.cwd)));
        (names, self.found.files.len())
    }

    fn counts(&self) -> (Vec<String>, usize) {
        let files = self.found.files.iter();
        let lines =
            files.map(|file| format!("{}:{}", told(&file.path, &self.task.cwd), file.lines));
        (self.page.of_entries(lines), self.found.files.len())
    }

    fn content(&self) -> (Vec<String>, usize) {
        let numbers = self.task.input.get("-n").and_then(Value::as_bool) != Some(false);
        let mut lines: Vec<String> = Vec::new();
        let end = self.page.offset + self.page.limit;
        'files: for file in &self.found.files {
            let name = told(&file.path, &self.task.cwd);
            for hit in &file.hits {
                if lines.len() >= end {
                    break 'files;
                }
                let mark = match hit.kind {
                    HitKind::Match => ':',
                    HitKind::Context => '-',
                    HitKind::Gap => {
                        lines.push("--".to_owned());
                        continue;
                    }
                };
                let mut line = String::new();
                if !self.single {
                    line.push_str(&format!("{name}{mark}"));
                }
                if numbers {
                    line.push_str(&format!("{}{mark}", hit.line));
                }
                line.push_str(&hit.text);
                lines.push(line);
            }
        }
        let held = lines.len();
        let matching: u64 = self.found.files.iter().map(|file| file.lines).sum();
        let only = super::flag(&self.task.input, "-o");
        let matches: u64 = self.found.files.iter().map(|file| file.matches).sum();
        let all = usize::try_from(if only { matches } else { matching }).unwrap_or(usize::MAX);
        // With context there are more entries than hits; what is behind the page is not counted.
        let total = if held < end { held } else { all.max(held) };
        (self.page.of_entries(lines), total)
    }

    fn structured(&self, body: &str, shown: usize, total: usize) -> Value {
        let files: &[FileHits] = &self.found.files;
        let names: Vec<String> = match self.mode {
            Mode::Files | Mode::Count => self.page.of_entries(
                files
                    .iter()
                    .map(|file| file.path.to_string_lossy().into_owned()),
            ),
            Mode::Content => Vec::new(),
        };
        let matches: u64 = files.iter().map(|file| file.matches).sum();
        let lines: u64 = files.iter().map(|file| file.lines).sum();
        let mut value = json!({
            "mode": self.mode.name(),
            "filenames": names,
            "numFiles": if self.mode == Mode::Content { files.len() } else { names.len() },
            "totalFiles": files.len(),
        });
        let Some(fields) = value.as_object_mut() else {
            return value;
        };
        let mut add = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        if self.mode == Mode::Content {
            add("content", json!(super::head(body, MOST_INLINE)));
            add("numLines", json!(shown));
            add("totalLines", json!(lines));
        }
        if self.mode != Mode::Files {
            add("numMatches", json!(matches));
        }
        if self.page.offset + shown < total {
            add("appliedLimit", json!(self.page.limit));
        }
        if self.page.offset > 0 {
            add("appliedOffset", json!(self.page.offset));
        }
        value
    }

    fn payload(&self, total: usize) -> Payload {
        let total = u32::try_from(total).unwrap_or(u32::MAX);
        let files = &self.found.files;
        if self.mode != Mode::Content {
            let names = files
                .iter()
                .map(|file| file.path.to_string_lossy().into_owned());
            return Payload::FileList {
                files: self
                    .page
                    .of_entries(names)
                    .into_iter()
                    .take(MOST_DRAWN)
                    .collect(),
                total,
            };
        }
        let hits = files.iter().flat_map(|file| {
            let hits = file.hits.iter().filter(|hit| hit.kind == HitKind::Match);
            hits.map(|hit| Match {
                path: file.path.to_string_lossy().into_owned(),
                line: u32::try_from(hit.line).unwrap_or(u32::MAX),
                text: hit.text.clone(),
            })
        });
        Payload::Matches {
            matches: hits
                .skip(self.page.offset)
                .take(self.page.limit.min(MOST_DRAWN))
                .collect(),
            total,
        }
    }
}

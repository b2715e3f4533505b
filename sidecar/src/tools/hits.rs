//! What a search's result reads like: pages of entries, for the model, the panel and the SDK.

use std::time::Duration;

use std::path::Path;

use serde_json::{json, Value};
use toolgate_core::command::Task;
use toolgate_core::outcome::Raw;
use toolgate_protocol::render::{Match, Payload};

use super::glob::{told, unfinished};
use super::{count, large, number, text};

/// How long a search may take.
pub(super) const LIMIT: Duration = Duration::from_secs(60);
use crate::hands::search::{FileHits, Found, HitKind};

/// Entries shown when `head_limit` is not given.
const DEFAULT_HEAD: usize = 250;

/// Entries that are ever kept, `head_limit` 0 included.
const MOST_ENTRIES: usize = 100_000;

/// Hits that the panel gets.
const MOST_DRAWN: usize = 200;

/// Characters for the model; more is kept aside.
pub(super) const MOST_INLINE: usize = 50_000;

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Paths.
    Files,
    /// Lines.
    Content,
    /// Numbers.
    Count,
}

impl Mode {
    /// From a Grep's input.
    pub(super) fn of(input: &Value) -> Self {
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
pub(super) struct Page {
    /// Entries before it.
    pub offset: usize,
    /// Most entries in it.
    pub limit: usize,
}

impl Page {
    /// From a Grep's input.
    pub(super) fn of(input: &Value) -> Self {
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

/// What a search found, on its way to the model.
pub(super) struct Report<'a> {
    /// The call.
    pub task: &'a Task,
    /// What is shown.
    pub mode: Mode,
    /// Which part of it.
    pub page: Page,
    /// All of it.
    pub found: &'a Found,
    /// True when one file was searched: its name is not repeated.
    pub single: bool,
}

impl Report<'_> {
    /// The outcome; one that is too large is kept in `folder`.
    pub(super) fn raw(&self, folder: &Path) -> Raw {
        let (entries, total) = match self.mode {
            Mode::Files => self.files(),
            Mode::Content => self.content(),
            Mode::Count => self.counts(),
        };
        let shown = entries.len();
        let body = match (shown, total) {
            (0, 0) => "No matches found".to_owned(),
            (0, _) => format!(
                "Nothing is left behind offset {}: there are {total} entries",
                self.page.offset
            ),
            _ => entries.join("\n"),
        };
        let mut notes = self.notes(shown, total);
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

    /// What the model must know beside the entries.
    fn notes(&self, shown: usize, total: usize) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        let last = self.page.offset + shown;
        if shown > 0 && last < total {
            notes.push(format!(
                "[Entries {} to {last} of {total}; go on with offset {last}.]",
                self.page.offset + 1
            ));
        }
        if self.found.binary > 0 {
            let files = count(self.found.binary, "file", "files");
            notes.push(format!("[{files} skipped: binary.]"));
        }
        let unsaved = self.found.files.iter().filter(|file| file.unsaved);
        let unsaved: Vec<String> = unsaved
            .map(|file| told(&file.path, &self.task.cwd))
            .collect();
        if !unsaved.is_empty() {
            notes.push(format!(
                "[Searched as in the editor, unsaved: {}.]",
                unsaved.join(", ")
            ));
        }
        notes.extend(unfinished(self.found.finish, LIMIT));
        notes
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

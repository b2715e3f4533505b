//! `Glob`: files by name, newest first.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use toolgate_core::command::Task;
use toolgate_core::definition::{Access, CallKind, Definition, Effects, Face};
use toolgate_core::outcome::{Effect, Raw};
use toolgate_core::place::{Aim, Kind, PathAnswer, Purpose};
use toolgate_protocol::render::Payload;

use super::{count, first_answer, nearby, text, Context, Denied};
use crate::hands::disk;
use crate::hands::search::{self, Finish, Walk};

/// Most files of one result.
const MOST: usize = 100;

/// How long a search may take.
const LIMIT: Duration = Duration::from_secs(20);

/// The tool.
pub struct Glob;

const DESCRIPTION: &str = "\
Finds files by name, newest first: 100 at most, and tells how many there are. For text in files \
use Grep.

- pattern is a glob: * (within one name), ** (any directories), ? , [abc], {a,b}. With a slash it \
is matched against the path below the directory searched (src/**/*.rs); without one against the \
names of files at any depth (*.rs).
- path is the directory to search; the working directory by default.
- Hidden and git-ignored files are found too, files within .git are not. Links are not followed.
- New documents that are open and not saved yet are found, and marked.
- When there are more than 100, narrow the pattern or the path.
- A search ends after 20 seconds and says that it is not complete.";

impl Face for Glob {
    fn definition(&self) -> Definition {
        Definition {
            name: "Glob".to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "pattern": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 4_096,
                        "description": "The glob, for instance **/*.ts.",
                    },
                    "path": {
                        "type": "string",
                        "minLength": 1,
                        "description": "The directory to search; the working directory by default.",
                    },
                },
                "required": ["pattern"],
                "additionalProperties": false,
            }),
        }
    }

    fn kind(&self) -> CallKind {
        CallKind::Search
    }

    fn aims(&self, input: &Value) -> Vec<Aim> {
        vec![Aim {
            path: target(input).0,
            purpose: Purpose::Search,
        }]
    }

    fn effects(&self, _input: &Value, _answers: &[PathAnswer]) -> Effects {
        Effects::reading(Access::ReadsAll)
    }

    fn describe(&self, input: &Value) -> String {
        match input.get("path").and_then(Value::as_str) {
            Some(path) => format!("Find files {} in {path}", text(input, "pattern")),
            None => format!("Find files {}", text(input, "pattern")),
        }
    }

    fn check(&self, input: &Value, _answers: &[PathAnswer]) -> Result<(), String> {
        let checked = search::glob(&target(input).1);
        checked.map(|_| ()).map_err(|error| {
            format!("The pattern is no glob: {error}. A \\ in front of a special character takes it literally.")
        })
    }
}

/// The directory to search, and the pattern below it: a pattern may begin with a path of its own.
fn target(input: &Value) -> (String, String) {
    let pattern = text(input, "pattern");
    let path = input.get("path").and_then(Value::as_str).unwrap_or(".");
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    if !pattern.contains('/') {
        return (path.to_owned(), format!("**/{pattern}"));
    }
    let rooted = pattern.starts_with('/') || pattern.starts_with("~/");
    if !rooted && !pattern.starts_with("../") {
        return (path.to_owned(), pattern.to_owned());
    }
    let special = pattern.find(['*', '?', '[', '{', '\\']);
    let literal = pattern.get(..special.unwrap_or(pattern.len()));
    let cut = literal.and_then(|literal| literal.rfind('/')).unwrap_or(0);
    let folder = match pattern.get(..cut) {
        Some("") | None => "/",
        Some(folder) => folder,
    };
    let rest = pattern.get(cut + 1..).unwrap_or_default().to_owned();
    if rooted {
        (folder.to_owned(), rest)
    } else {
        (format!("{path}/{folder}"), rest)
    }
}

/// A path as the model gets it: relative where it lies below the working directory.
pub(super) fn told(path: &Path, cwd: &str) -> String {
    let below = path
        .strip_prefix(cwd)
        .ok()
        .filter(|rest| !rest.as_os_str().is_empty());
    below.unwrap_or(path).to_string_lossy().into_owned()
}

/// The directory or file to search; why not, where there is none.
pub(super) fn searched(answer: &PathAnswer, denied: &Denied) -> Result<PathBuf, Box<Raw>> {
    match answer.kind {
        Kind::Absent => Err(Box::new(Raw::failed(
            nearby::missing(answer, denied),
            Effect::None,
        ))),
        Kind::Special => Err(Box::new(Raw::failed(
            format!("{} is no file and no directory.", answer.lexical),
            Effect::None,
        ))),
        Kind::Directory | Kind::File(_) => Ok(PathBuf::from(answer.place.path())),
    }
}

/// What to say when a search did not look at everything.
pub(super) fn unfinished(finish: Finish, limit: Duration) -> Option<String> {
    match finish {
        Finish::Complete => None,
        Finish::TimedOut => Some(format!(
            "[The search was ended after {} s: there may be more. Narrow it.]",
            limit.as_secs()
        )),
        Finish::Stopped => Some("[The search was interrupted: there may be more.]".to_owned()),
    }
}

/// Finds the files.
pub async fn execute(task: Task, context: &Context) -> Raw {
    let answer = match first_answer(&task) {
        Ok(answer) => answer.clone(),
        Err(raw) => return *raw,
    };
    let denied = context.denied.clone();
    let cancel = context.cancel.clone();
    super::blocking(move || {
        let root = match searched(&answer, &denied) {
            Ok(root) => root,
            Err(raw) => return *raw,
        };
        let stop = || cancel.is_cancelled();
        find(&task, &root, &denied, &stop)
    })
    .await
}

fn find(task: &Task, root: &Path, denied: &Denied, stop: &(dyn Fn() -> bool + Sync)) -> Raw {
    if !root.is_dir() {
        let text = format!("{} is a file; Glob searches directories.", root.display());
        return Raw::failed(text, Effect::None);
    }
    let pattern = match search::glob(&target(&task.input).1) {
        Ok(pattern) => pattern,
        Err(error) => return Raw::failed(format!("No glob: {error}."), Effect::None),
    };
    let started = Instant::now();
    let walk = Walk {
        root,
        denied: &|path| denied(path),
        own: &disk::is_temporary,
        stop,
        limit: LIMIT,
    };
    let found = search::files(&walk, &pattern);
    let mut files: Vec<(PathBuf, bool)> = Vec::new();
    for open in &task.documents.open {
        // What is nowhere but in the editor is newer than all that is on disk.
        let path = Path::new(&open.path);
        let fits = path
            .strip_prefix(root)
            .is_ok_and(|below| pattern.is_match(below));
        if fits && open.document.dirty && !path.exists() && !denied(&open.path) {
            files.push((path.to_owned(), true));
        }
    }
    files.extend(found.files.into_iter().map(|(path, _)| (path, false)));
    let total = files.len();
    files.truncate(MOST);
    outcome(task, root, &files, total, found.finish, started.elapsed())
}

fn outcome(
    task: &Task,
    root: &Path,
    files: &[(PathBuf, bool)],
    total: usize,
    finish: Finish,
    took: Duration,
) -> Raw {
    let mut text = String::new();
    for (path, unsaved) in files {
        text.push_str(&told(path, &task.cwd));
        text.push_str(if *unsaved {
            " [open, not saved yet]\n"
        } else {
            "\n"
        });
    }
    if files.is_empty() {
        text = format!("No files found below {}.\n", told(root, &task.cwd));
    } else if files.len() < total {
        text.push_str(&format!(
            "[The {MOST} newest of {}. Narrow pattern or path for the others.]\n",
            count(total, "file", "files")
        ));
    }
    let names: Vec<String> = files
        .iter()
        .map(|(path, _)| path.to_string_lossy().into_owned())
        .collect();
    let structured = json!({
        "filenames": names,
        "numFiles": names.len(),
        "truncated": names.len() < total,
        "durationMs": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "totalMatches": total,
        "countIsComplete": finish == Finish::Complete,
    });
    Raw {
        notice: unfinished(finish, LIMIT),
        structured: Some(structured),
        payload: Some(Payload::FileList {
            files: names,
            total: u32::try_from(total).unwrap_or(u32::MAX),
        }),
        ..Raw::done(text.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_may_begin_with_a_path() {
        let check = |pattern: &str, path: Option<&str>, want: (&str, &str)| {
            let mut input = json!({ "pattern": pattern });
            if let (Some(path), Some(fields)) = (path, input.as_object_mut()) {
                fields.insert("path".to_owned(), json!(path));
            }
            assert_eq!(target(&input), (want.0.to_owned(), want.1.to_owned()));
        };
        check("*.rs", None, (".", "**/*.rs"));
        check("./src/*.rs", None, (".", "src/*.rs"));
        check("src/**/*.rs", Some("a"), ("a", "src/**/*.rs"));
        check("/a/b/**/*.rs", Some("x"), ("/a/b", "**/*.rs"));
        check("/*.rs", None, ("/", "*.rs"));
        check("~/a/{b,c}", None, ("~/a", "{b,c}"));
        check("../x/*.rs", Some("a"), ("a/../x", "*.rs"));
    }
}

//! Transcripts: append-only JSONL, the single source of truth of a session
//! (spec: outcomes.md, "Transcript"; crates.md section 11).
//!
//! One line a fact: `{"sum":…,"at":…,"fact":…}`. `sum` is the beginning of blake3 over the fact's
//! text, so that a damaged line is seen. A torn last line is dropped at load; a damaged one in the
//! middle is reported with its position and what follows is still read. One writer a file, by a
//! lock that names its owner; a dead owner's lock is gone with it. A failed write or sync is an
//! error and is never retried. Files are readable by their owner only.

use std::collections::hash_map::RandomState;
use std::fs::{DirBuilder, File, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{flock, FlockOperation};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use thiserror::Error;
use toolgate_core::fact::Fact;
use toolgate_protocol::ids::SessionId;
use toolgate_protocol::requests::SessionSummary;

/// Why a transcript cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The system said no.
    #[error("{path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
    /// Another process has it.
    #[error("session {id} is open in another Toolgate ({owner}); close it there first")]
    Locked {
        /// The session.
        id: String,
        /// Process id and start.
        owner: String,
    },
    /// There is none of that name.
    #[error("there is no session called {0}; `toolgate sessions` lists them")]
    Missing(String),
    /// It does not begin as a transcript does.
    #[error("{path}: this is no transcript that this version reads: {what}")]
    Foreign {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> StoreError + '_ {
    move |source| StoreError::Io {
        path: path.to_owned(),
        source,
    }
}

#[derive(Serialize, Deserialize)]
struct Line<'a> {
    sum: &'a str,
    at: u64,
    #[serde(borrow)]
    fact: &'a RawValue,
}

/// All sessions of this person.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

/// A transcript that is open for writing.
#[derive(Debug)]
pub struct Transcript {
    file: File,
    folder: PathBuf,
    // Held for its lock.
    _lock: File,
}

/// What a transcript holds.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Its facts, in order.
    pub facts: Vec<Fact>,
    /// Damaged lines, one message each.
    pub problems: Vec<String>,
}

impl Store {
    /// The store under this state directory.
    pub fn new(state: &Path) -> Self {
        Self {
            root: state.join("sessions"),
        }
    }

    fn folder(&self, id: &SessionId) -> Result<PathBuf, StoreError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if id.0.is_empty() || id.0.len() > 64 || !id.0.chars().all(plain) {
            return Err(StoreError::Missing(id.0.chars().take(64).collect()));
        }
        Ok(self.root.join(&id.0))
    }

    /// A new transcript.
    pub fn create(&self, id: &SessionId) -> Result<Transcript, StoreError> {
        let folder = self.folder(id)?;
        let results = folder.join("tool-results");
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&results)
            .map_err(io(&results))?;
        let lock = lock(&folder, id)?;
        let path = folder.join("transcript.jsonl");
        let file = OpenOptions::new()
            .create_new(true)
            .append(true)
            .mode(0o600)
            .open(&path)
            .map_err(io(&path))?;
        File::open(&folder)
            .and_then(|dir| dir.sync_all())
            .map_err(io(&folder))?;
        Ok(Transcript {
            file,
            folder,
            _lock: lock,
        })
    }

    /// An old transcript, and what it holds. A torn last line is cut off.
    pub fn load(&self, id: &SessionId) -> Result<(Transcript, Loaded), StoreError> {
        let folder = self.folder(id)?;
        let path = folder.join("transcript.jsonl");
        if !path.is_file() {
            return Err(StoreError::Missing(id.0.clone()));
        }
        let lock = lock(&folder, id)?;
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(&path)
            .map_err(io(&path))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io(&path))?;
        let (loaded, whole) = parse(&bytes);
        match loaded.facts.first() {
            Some(Fact::Session { version, .. }) if *version <= toolgate_core::fact::VERSION => {}
            Some(Fact::Session { version, .. }) => {
                return Err(StoreError::Foreign {
                    path,
                    what: format!("version {version}"),
                })
            }
            _ => {
                let what = "its first record is not a session's".to_owned();
                return Err(StoreError::Foreign { path, what });
            }
        }
        file.set_len(whole as u64).map_err(io(&path))?;
        file.seek(SeekFrom::End(0)).map_err(io(&path))?;
        Ok((
            Transcript {
                file,
                folder,
                _lock: lock,
            },
            loaded,
        ))
    }

    /// The sessions of this machine, newest first.
    pub fn list(&self, workspace: Option<&str>, query: Option<&str>) -> Vec<SessionSummary> {
        let Ok(entries) = std::fs::read_dir(&self.root) else {
            return Vec::new();
        };
        let mut found: Vec<(SystemTime, SessionSummary)> = entries
            .flatten()
            .filter_map(|entry| summary(&entry.path()))
            .filter(|(_, s)| workspace.is_none_or(|folder| s.cwd == folder))
            .filter(|(_, s)| query.is_none_or(|text| s.title.contains(text)))
            .collect();
        found.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        found.into_iter().map(|(_, summary)| summary).collect()
    }

    /// Deletes a session that nobody has open.
    pub fn delete(&self, id: &SessionId) -> Result<(), StoreError> {
        let folder = self.folder(id)?;
        if !folder.is_dir() {
            return Err(StoreError::Missing(id.0.clone()));
        }
        let _lock = lock(&folder, id)?;
        std::fs::remove_dir_all(&folder).map_err(io(&folder))
    }
}

impl Transcript {
    /// Appends a fact. It is on disk only after `sync`.
    pub fn append(&mut self, fact: &Fact) -> std::io::Result<()> {
        let text = serde_json::to_string(fact)?;
        let sum = blake3::hash(text.as_bytes()).to_hex();
        let at = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |t| t.as_millis());
        let line = format!(
            "{{\"sum\":\"{}\",\"at\":{at},\"fact\":{text}}}\n",
            &sum[..8]
        );
        self.file.write_all(line.as_bytes())
    }

    /// Makes everything appended so far durable.
    pub fn sync(&mut self) -> std::io::Result<()> {
        self.file.sync_data()
    }

    /// A second handle on the file, so that a worker can sync it.
    pub fn handle(&self) -> std::io::Result<File> {
        self.file.try_clone()
    }

    /// Where large results are kept.
    pub fn results(&self) -> PathBuf {
        self.folder.join("tool-results")
    }

    /// The transcript's file.
    pub fn path(&self) -> PathBuf {
        self.folder.join("transcript.jsonl")
    }
}

/// The facts of a transcript, and how many of its bytes are whole lines.
fn parse(bytes: &[u8]) -> (Loaded, usize) {
    let mut loaded = Loaded::default();
    let mut start = 0;
    let mut number = 0;
    while let Some(length) = bytes[start..].iter().position(|byte| *byte == b'\n') {
        number += 1;
        match fact_of(&bytes[start..start + length]) {
            Ok(fact) => loaded.facts.push(fact),
            Err(what) => loaded
                .problems
                .push(format!("line {number}: {what}; it is left out")),
        }
        start += length + 1;
    }
    (loaded, start)
}

fn fact_of(line: &[u8]) -> Result<Fact, String> {
    let text = std::str::from_utf8(line).map_err(|error| error.to_string())?;
    let line: Line<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let fact = line.fact.get();
    if blake3::hash(fact.as_bytes()).to_hex()[..8] != *line.sum {
        return Err("its checksum is wrong".to_owned());
    }
    serde_json::from_str(fact).map_err(|error| error.to_string())
}

fn lock(folder: &Path, id: &SessionId) -> Result<File, StoreError> {
    let path = folder.join("lock");
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(io(&path))?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        let mut owner = String::new();
        // The owner's name only serves the message.
        let _ = file.read_to_string(&mut owner);
        return Err(StoreError::Locked {
            id: id.0.clone(),
            owner: owner.trim().to_owned(),
        });
    }
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |t| t.as_secs());
    file.set_len(0).map_err(io(&path))?;
    writeln!(file, "process {}, since {now}", std::process::id()).map_err(io(&path))?;
    Ok(file)
}

fn summary(folder: &Path) -> Option<(SystemTime, SessionSummary)> {
    let path = folder.join("transcript.jsonl");
    let changed = path.metadata().ok()?.modified().ok()?;
    let mut head = Vec::new();
    File::open(&path)
        .ok()?
        .take(256 * 1024)
        .read_to_end(&mut head)
        .ok()?;
    let (loaded, _) = parse(&head);
    let Some(Fact::Session { session, cwd, .. }) = loaded.facts.first() else {
        return None;
    };
    let title = loaded.facts.iter().find_map(|fact| match fact {
        Fact::TurnStarted { text, .. } => Some(text.clone()),
        _ => None,
    });
    let summary = SessionSummary {
        session_id: session.clone(),
        cwd: cwd.clone(),
        title: title.unwrap_or_default(),
        updated: rfc3339(changed),
    };
    Some((changed, summary))
}

/// A name that no other run of Toolgate gives.
pub fn fresh_id(prefix: &str) -> String {
    let stamp = rfc3339(SystemTime::now())
        .replace([':', '-'], "")
        .replace('T', "-");
    let random = RandomState::new().build_hasher().finish();
    format!(
        "{prefix}{}-{:08x}",
        stamp.trim_end_matches('Z'),
        random & 0xffff_ffff
    )
}

/// A time in RFC 3339, UTC, to the second.
pub fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        rest / 3_600,
        rest / 60 % 60,
        rest % 60
    )
}

/// Year, month and day of a number of days since 1970-01-01, in the Gregorian calendar.
fn civil(days: u64) -> (u64, u64, u64) {
    // Counted from 0000-03-01, so that a leap day ends a year of the count.
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = era * 400 + year + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_protocol::notices::Mode;

    fn first(id: &SessionId) -> Fact {
        Fact::Session {
            version: 1,
            session: id.clone(),
            cwd: "/w".to_owned(),
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        let id = SessionId::from("s-1");
        let mut transcript = store.create(&id).unwrap();
        transcript.append(&first(&id)).unwrap();
        transcript.append(&Fact::Mode { mode: Mode::Plan }).unwrap();
        assert!(matches!(store.load(&id), Err(StoreError::Locked { .. })));
        drop(transcript);
        let (_transcript, loaded) = store.load(&id).unwrap();
        assert_eq!(loaded.facts, [first(&id), Fact::Mode { mode: Mode::Plan }]);
        assert_eq!(store.list(Some("/w"), None).len(), 1);
        assert!(store.list(Some("/other"), None).is_empty());
    }

    #[test]
    fn a_torn_end_is_dropped_and_a_damaged_middle_reported() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        let id = SessionId::from("s-2");
        let mut transcript = store.create(&id).unwrap();
        for fact in [
            first(&id),
            Fact::AnswerDropped,
            Fact::Mode { mode: Mode::Plan },
        ] {
            transcript.append(&fact).unwrap();
        }
        let path = transcript.path();
        drop(transcript);
        let text =
            std::fs::read_to_string(&path)
                .unwrap()
                .replacen("answer_dropped", "answer_DROPPED", 1);
        std::fs::write(&path, format!("{text}{{\"sum\":\"12")).unwrap();
        let (mut transcript, loaded) = store.load(&id).unwrap();
        assert_eq!(loaded.facts.len(), 2);
        assert!(
            loaded.problems[0].starts_with("line 2"),
            "{:?}",
            loaded.problems
        );
        transcript.append(&Fact::AnswerDropped).unwrap();
        drop(transcript);
        assert_eq!(store.load(&id).unwrap().1.facts.len(), 3);
    }

    #[test]
    fn hostile_names_are_no_paths() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        for name in ["../x", "", "a/b", "."] {
            assert!(store.create(&SessionId::from(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn times() {
        let at = |seconds| rfc3339(UNIX_EPOCH + std::time::Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_796_083_199), "2026-11-30T23:59:59Z");
    }
}

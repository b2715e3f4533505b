//! The search room: walks folders and searches in files, with ripgrep's own engine.
//!
//! It never follows a link, opens a device or shows what a deny rule keeps back; it looks at the
//! stop sign at every file. Its results do not depend on which thread was faster. All of it
//! blocks.

// This room is where folders are walked (style rule 16).
#![allow(clippy::disallowed_methods)]

mod lines;

pub use lines::{Hit, HitKind};

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use globset::GlobMatcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use ignore::{DirEntry, Match, WalkBuilder, WalkState};

use lines::Searching;

/// Most threads of one search.
const MOST_THREADS: usize = 4;

/// Folders of version control: their files are never a result.
const CONTROL: &[&str] = &[".git", ".hg", ".svn", ".jj"];

/// What a search goes by.
pub struct Walk<'a> {
    /// The file or folder, canonical.
    pub root: &'a Path,
    /// True for a path that a deny rule keeps from the model.
    pub denied: &'a (dyn Fn(&str) -> bool + Sync),
    /// True for a file of the sidecar's own.
    pub own: &'a (dyn Fn(&str) -> bool + Sync),
    /// True when the search is to stop.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// How long it may take.
    pub limit: Duration,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// Everything was looked at.
    Complete,
    /// The time was over.
    TimedOut,
    /// It was told to stop.
    Stopped,
}

/// Files by name.
#[derive(Debug)]
pub struct Files {
    /// Newest first, then by path.
    pub files: Vec<(PathBuf, SystemTime)>,
    /// How the search ended.
    pub finish: Finish,
}

/// Watches stop sign and clock.
struct Sign<'a> {
    stop: &'a (dyn Fn() -> bool + Sync),
    deadline: Instant,
    stopped: AtomicBool,
    late: AtomicBool,
}

impl<'a> Sign<'a> {
    fn new(walk: &'a Walk<'_>) -> Self {
        Self {
            stop: walk.stop,
            deadline: Instant::now() + walk.limit,
            stopped: AtomicBool::new(false),
            late: AtomicBool::new(false),
        }
    }

    fn halts(&self) -> bool {
        if (self.stop)() {
            self.stopped.store(true, Ordering::Relaxed);
        } else if Instant::now() >= self.deadline {
            self.late.store(true, Ordering::Relaxed);
        } else {
            return false;
        }
        true
    }

    fn finish(&self) -> Finish {
        if self.stopped.load(Ordering::Relaxed) {
            Finish::Stopped
        } else if self.late.load(Ordering::Relaxed) {
            Finish::TimedOut
        } else {
            Finish::Complete
        }
    }
}

/// Compiles a pattern of `files`, matched against paths relative to the root.
pub fn glob(pattern: &str) -> Result<GlobMatcher, String> {
    let glob = globset::GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| error.to_string())
}

/// Finds files by name beneath a folder; hidden and ignored ones too.
pub fn files(walk: &Walk<'_>, pattern: &GlobMatcher) -> Files {
    let sign = Sign::new(walk);
    let found: Mutex<Vec<(PathBuf, SystemTime)>> = Mutex::new(Vec::new());
    let mut builder = builder(walk);
    builder.standard_filters(false);
    each(&builder, walk, &sign, &|entry| {
        let relative = entry.path().strip_prefix(walk.root);
        if !relative.is_ok_and(|relative| pattern.is_match(relative)) {
            return;
        }
        let modified = entry.metadata().ok().and_then(|data| data.modified().ok());
        let modified = modified.unwrap_or(SystemTime::UNIX_EPOCH);
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        found.push((entry.path().to_owned(), modified));
    });
    let mut files = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    files.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Files {
        files,
        finish: sign.finish(),
    }
}

fn builder(walk: &Walk<'_>) -> WalkBuilder {
    let mut builder = WalkBuilder::new(walk.root);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    builder
        .threads(threads.min(MOST_THREADS))
        .follow_links(false);
    builder.filter_entry(|entry| {
        let name = entry.file_name().to_str().unwrap_or_default();
        // The root itself may be such a folder: then it is meant.
        entry.depth() == 0 || !CONTROL.contains(&name)
    });
    builder
}

/// Calls `visit` for every regular file that may be shown.
fn each(
    builder: &WalkBuilder,
    walk: &Walk<'_>,
    sign: &Sign<'_>,
    visit: &(dyn Fn(&DirEntry) + Sync),
) {
    builder.build_parallel().run(|| {
        Box::new(|entry| {
            if sign.halts() {
                return WalkState::Quit;
            }
            // A folder that cannot be read is left out, like its files.
            let Ok(entry) = entry else {
                return WalkState::Continue;
            };
            let regular = entry.file_type().is_some_and(|kind| kind.is_file());
            if regular && shown(walk, entry.path()) {
                visit(&entry);
            }
            WalkState::Continue
        })
    });
}

fn shown(walk: &Walk<'_>, path: &Path) -> bool {
    let Some(text) = path.to_str() else {
        // A path that is no UTF-8 can be named by no call.
        return false;
    };
    let name = text.rsplit('/').next().unwrap_or(text);
    !(walk.own)(name) && !(walk.denied)(text)
}

/// What is looked for in files.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The regular expression.
    pub pattern: String,
    /// Upper and lower case are the same.
    pub ignore_case: bool,
    /// The expression may reach over lines, and `.` matches a line end.
    pub multiline: bool,
    /// Only files that these globs let through; `!` in front of one keeps files out.
    pub globs: Vec<String>,
    /// Only files of this type, by ripgrep's names.
    pub file_type: Option<String>,
    /// Only what matches, a hit a line.
    pub only_matching: bool,
    /// Lines of context before and after.
    pub context: (usize, usize),
    /// Lines that are kept a file: 0 for none, only counts.
    pub keep: usize,
    /// Stop in each file at its first hit.
    pub first_only: bool,
}

/// A text that stands in the place of a file: an open document with unsaved changes.
#[derive(Clone, Debug)]
pub struct Instead {
    /// The file's canonical path.
    pub path: PathBuf,
    /// The text.
    pub text: String,
}

/// What was found in one file.
#[derive(Clone, Debug)]
pub struct FileHits {
    /// The file, canonical.
    pub path: PathBuf,
    /// When it was changed.
    pub modified: SystemTime,
    /// Matching lines.
    pub lines: u64,
    /// Matches.
    pub matches: u64,
    /// The first lines with their context, at most `keep`.
    pub hits: Vec<Hit>,
    /// True when it was searched as it is in the editor, unsaved.
    pub unsaved: bool,
}

/// What was found.
#[derive(Debug)]
pub struct Found {
    /// By path. Of files far behind the first `keep` lines only the counts are kept.
    pub files: Vec<FileHits>,
    /// How many files were left out because they hold no text.
    pub binary: usize,
    /// How the search ended.
    pub finish: Finish,
}

/// The compiled question.
struct Question {
    matcher: RegexMatcher,
    overrides: Override,
    types: Types,
}

impl Question {
    fn new(walk: &Walk<'_>, wanted: &Wanted) -> Result<Self, String> {
        let mut builder = RegexMatcherBuilder::new();
        builder
            .case_insensitive(wanted.ignore_case)
            .multi_line(true)
            .dot_matches_new_line(wanted.multiline);
        if !wanted.multiline {
            builder.line_terminator(Some(b'\n'));
        }
        let matcher = builder
            .build(&wanted.pattern)
            .map_err(|error| format!("The pattern is no regular expression: {error}"))?;
        let base = if walk.root.is_dir() {
            walk.root
        } else {
            walk.root.parent().unwrap_or(walk.root)
        };
        let mut overrides = OverrideBuilder::new(base);
        for glob in &wanted.globs {
            let added = overrides.add(glob);
            added.map_err(|error| format!("The glob {glob:?} is none: {error}"))?;
        }
        let overrides = overrides.build().map_err(|error| error.to_string())?;
        let mut types = TypesBuilder::new();
        types.add_defaults();
        if let Some(name) = &wanted.file_type {
            types.select(name);
        }
        let types = types
            .build()
            .map_err(|error| format!("{error}. Use glob instead, for instance *.ext."))?;
        Ok(Self {
            matcher,
            overrides,
            types,
        })
    }

    /// Whether globs and type let a file through that no walk came upon.
    fn lets_through(&self, path: &Path) -> bool {
        let by_glob = match self.overrides.matched(path, false) {
            Match::Ignore(_) => false,
            Match::Whitelist(_) => true,
            Match::None => self.overrides.num_whitelists() == 0,
        };
        by_glob && !self.types.matched(path, false).is_ignore()
    }
}

/// Searches in files beneath a folder, or in one file. Ignored files are left out, hidden ones
/// are not. The error is for the model.
pub fn lines(walk: &Walk<'_>, wanted: &Wanted, instead: &[Instead]) -> Result<Found, String> {
    let question = Question::new(walk, wanted)?;
    let sign = Sign::new(walk);
    let kept = Kept {
        state: Mutex::new((Vec::new(), 0)),
        keep: wanted.keep,
    };
    let binary = AtomicUsize::new(0);
    let mut builder = builder(walk);
    builder
        .hidden(false)
        .require_git(false)
        .overrides(question.overrides.clone())
        .types(question.types.clone());
    each(&builder, walk, &sign, &|entry| {
        if instead.iter().any(|text| text.path == entry.path()) {
            return;
        }
        let modified = entry.metadata().ok().and_then(|data| data.modified().ok());
        let modified = modified.unwrap_or(SystemTime::UNIX_EPOCH);
        let mut searching = Searching::new(&question.matcher, wanted);
        match searching.file(entry.path()) {
            Ok(true) => kept.add(searching.into_hits(entry.path(), modified, false)),
            // Not searched to its end: what it seems to hold is no text.
            Ok(false) => {
                binary.fetch_add(1, Ordering::Relaxed);
            }
            Err(_) => {}
        }
    });
    for text in instead {
        let beneath = text.path.starts_with(walk.root) && shown(walk, &text.path);
        let meant = text.path == walk.root || question.lets_through(&text.path);
        if beneath && meant && !sign.halts() {
            let mut searching = Searching::new(&question.matcher, wanted);
            if searching.text(&text.text).is_ok() {
                // Nothing is newer than what is not saved yet.
                kept.add(searching.into_hits(&text.path, SystemTime::now(), true));
            }
        }
    }
    Ok(Found {
        files: kept.finish(),
        binary: binary.into_inner(),
        finish: sign.finish(),
    })
}

/// Results so far, bounded: lines that cannot be among the first `keep` are dropped.
struct Kept {
    state: Mutex<(Vec<FileHits>, usize)>,
    keep: usize,
}

impl Kept {
    fn add(&self, hits: FileHits) {
        if hits.lines == 0 {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.1 += hits.hits.len();
        state.0.push(hits);
        if state.1 > self.keep.saturating_mul(4).max(10_000) {
            state.1 = prune(&mut state.0, self.keep);
        }
    }

    fn finish(self) -> Vec<FileHits> {
        let state = self.state.into_inner();
        let (mut files, _) = state.unwrap_or_else(PoisonError::into_inner);
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        files
    }
}

fn prune(files: &mut [FileHits], keep: usize) -> usize {
    files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let mut held = 0;
    for file in files {
        if held >= keep {
            file.hits = Vec::new();
        }
        held += file.hits.len();
    }
    held
}

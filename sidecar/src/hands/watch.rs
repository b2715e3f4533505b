//! The watcher: hints that a file may have changed, never more (spec: files.md, "The ledger").
//!
//! A lost, late, merged or doubled hint costs a hash, never a wrong answer: who gets one looks
//! again. Watched are the folders of touched files, never the files (a rename takes a file's watch
//! away) and never whole trees (each folder costs a watch). What only reads makes no hint, or our
//! own reads would feed the loop. The callback never blocks.

// This room is where changes are listened to (style rule 16).
#![allow(clippy::disallowed_methods)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, CreateKind};
use notify::{Config, ErrorKind, Event, EventKind, PollWatcher, RecommendedWatcher};
use notify::{RecursiveMode, Watcher};
use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver, UnboundedSender};

/// How often folders are looked at when the system does not tell of changes.
const POLL: Duration = Duration::from_secs(2);

/// Entries of a new folder that are listed; a larger one asks for a look at everything.
const MOST_LISTED: usize = 1_000;

/// How deep new folders are listed.
const MOST_DEPTH: usize = 16;

/// Something may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// This file or folder.
    Path(PathBuf),
    /// Anything: hints were lost.
    Rescan,
    /// For the person: watching goes on in a worse way, and why.
    Degraded(String),
}

/// Watches folders.
pub struct Watch {
    watcher: Kind,
    folders: BTreeSet<PathBuf>,
    hints: UnboundedSender<Hint>,
}

enum Kind {
    System(RecommendedWatcher),
    Poll(PollWatcher),
    /// Nothing can be watched; hashes decide alone.
    None,
}

impl Watch {
    /// A watcher that watches nothing yet, and where its hints arrive.
    pub fn new() -> (Self, UnboundedReceiver<Hint>) {
        let (hints, receiver) = unbounded_channel();
        let watcher = RecommendedWatcher::new(callback(&hints), Config::default());
        let mut watch = Self {
            watcher: Kind::None,
            folders: BTreeSet::new(),
            hints,
        };
        match watcher {
            Ok(watcher) => watch.watcher = Kind::System(watcher),
            Err(error) => watch.poll(&error),
        }
        (watch, receiver)
    }

    /// A watcher that polls from the start, every `interval`.
    pub fn polling(interval: Duration) -> (Self, UnboundedReceiver<Hint>) {
        let (hints, receiver) = unbounded_channel();
        let watcher = poll_watcher(&hints, interval);
        let watch = Self {
            watcher: watcher.map_or(Kind::None, Kind::Poll),
            folders: BTreeSet::new(),
            hints,
        };
        (watch, receiver)
    }

    /// From now on changes of this file make hints. Cheap when its folder is watched already.
    pub fn touch(&mut self, file: &Path) {
        let Some(folder) = file.parent() else { return };
        if self.folders.contains(folder) {
            return;
        }
        match self.watch(folder) {
            Ok(()) => {
                self.folders.insert(folder.to_owned());
            }
            Err(error) if exhausted(&error) && matches!(self.watcher, Kind::System(_)) => {
                self.folders.insert(folder.to_owned());
                self.poll(&error);
            }
            // It does not exist yet, or may not be watched: the next touch tries again.
            Err(_) => {}
        }
    }

    /// No longer watches the folder of this file, nor of any other file in it.
    pub fn forget(&mut self, file: &Path) {
        let Some(folder) = file.parent() else { return };
        if self.folders.remove(folder) {
            let _ = match &mut self.watcher {
                Kind::System(watcher) => watcher.unwatch(folder),
                Kind::Poll(watcher) => watcher.unwatch(folder),
                Kind::None => Ok(()),
            };
        }
    }

    fn watch(&mut self, folder: &Path) -> notify::Result<()> {
        match &mut self.watcher {
            Kind::System(watcher) => watcher.watch(folder, RecursiveMode::NonRecursive),
            Kind::Poll(watcher) => watcher.watch(folder, RecursiveMode::NonRecursive),
            Kind::None => Ok(()),
        }
    }

    /// The system's watches are used up: all folders are polled instead.
    fn poll(&mut self, why: &notify::Error) {
        let mut message = format!(
            "The system does not watch more folders ({why}); changes of files are looked for every \
             {} s instead.",
            POLL.as_secs()
        );
        match poll_watcher(&self.hints, POLL) {
            Ok(watcher) => self.watcher = Kind::Poll(watcher),
            Err(error) => {
                self.watcher = Kind::None;
                message = format!(
                    "Changes of files cannot be watched ({error}); they are noticed when a file is \
                     used."
                );
            }
        }
        let folders: Vec<PathBuf> = self.folders.iter().cloned().collect();
        for folder in folders {
            if self.watch(&folder).is_err() {
                self.folders.remove(&folder);
            }
        }
        let _ = self.hints.send(Hint::Degraded(message));
        // What changed while nobody looked is not known.
        let _ = self.hints.send(Hint::Rescan);
    }
}

fn poll_watcher(hints: &UnboundedSender<Hint>, interval: Duration) -> notify::Result<PollWatcher> {
    let config = Config::default()
        .with_poll_interval(interval)
        .with_compare_contents(false);
    PollWatcher::new(callback(hints), config)
}

fn exhausted(error: &notify::Error) -> bool {
    match &error.kind {
        ErrorKind::MaxFilesWatch => true,
        // ENOSPC: watches; EMFILE: instances.
        ErrorKind::Io(error) => matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EMFILE)),
        _ => false,
    }
}

fn callback(hints: &UnboundedSender<Hint>) -> impl FnMut(notify::Result<Event>) + Send + 'static {
    let hints = hints.clone();
    move |event| {
        // The receiver is gone when the session is over: then nobody needs the hint.
        for hint in hints_of(event) {
            let _ = hints.send(hint);
        }
    }
}

fn hints_of(event: notify::Result<Event>) -> Vec<Hint> {
    let Ok(event) = event else {
        return vec![Hint::Rescan];
    };
    if event.need_rescan() {
        return vec![Hint::Rescan];
    }
    let reads = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => false,
        EventKind::Access(_) => true,
        _ => false,
    };
    if reads {
        return Vec::new();
    }
    let folder = matches!(event.kind, EventKind::Create(CreateKind::Folder));
    let mut hints = Vec::new();
    for path in event.paths {
        if folder {
            // What was put into it before anybody watched it made no event.
            list(&path, MOST_DEPTH, &mut hints);
        }
        hints.push(Hint::Path(path));
    }
    hints
}

fn list(folder: &Path, depth: usize, hints: &mut Vec<Hint>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        if hints.len() >= MOST_LISTED || depth == 0 {
            hints.push(Hint::Rescan);
            return;
        }
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            list(&path, depth - 1, hints);
        }
        hints.push(Hint::Path(path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_make_no_hint_and_lost_events_ask_for_a_look() {
        let event = |kind| Ok(Event::new(kind).add_path(PathBuf::from("/a")));
        let path = vec![Hint::Path(PathBuf::from("/a"))];
        let read = EventKind::Access(AccessKind::Open(AccessMode::Read));
        assert_eq!(hints_of(event(read)), []);
        let wrote = EventKind::Access(AccessKind::Close(AccessMode::Write));
        assert_eq!(hints_of(event(wrote)), path);
        assert_eq!(hints_of(event(EventKind::Any)), path);
        let lost = Event::new(EventKind::Other).set_flag(notify::event::Flag::Rescan);
        assert_eq!(hints_of(Ok(lost)), [Hint::Rescan]);
        assert_eq!(hints_of(Err(notify::Error::generic("x"))), [Hint::Rescan]);
    }

    #[test]
    fn a_used_up_limit_is_recognised() {
        let io = |code| notify::Error::io(std::io::Error::from_raw_os_error(code));
        assert!(exhausted(&notify::Error::new(ErrorKind::MaxFilesWatch)));
        assert!(exhausted(&io(libc::ENOSPC)));
        assert!(!exhausted(&io(libc::ENOENT)));
    }
}

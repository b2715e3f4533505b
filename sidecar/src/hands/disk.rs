//! The disk room: looks at paths, loads files, lists folders, and (in `commit`) writes files.
//!
//! It never opens a device, FIFO, socket or a window into the kernel, and never follows a link
//! that was not there when the path was resolved. Everything here blocks: callers are on a
//! blocking thread.

// This room is where the disk is touched (style rule 16).
#![allow(clippy::disallowed_methods)]

mod commit;

pub use commit::{commit, CommitError, Committed, Durability};

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{self as sys, FileType, Mode, OFlags, ResolveFlags, Stat, CWD};
use rustix::io::Errno;
use toolgate_core::place::{normalise, Aim, Kind, PathAnswer, Place};

/// How the name of a temporary file begins; the watcher and searches leave such names out.
pub const TEMP_PREFIX: &str = ".toolgate-";

/// How the name of a temporary file ends.
pub const TEMP_SUFFIX: &str = ".tmp";

/// Most links that a path may lead through, as the kernel's own limit.
const MOST_LINKS: usize = 40;

/// True for the name of a temporary file of ours.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMP_PREFIX) && name.ends_with(TEMP_SUFFIX)
}

/// Why something could not be looked at or loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct DiskError {
    /// What stands there instead of a file that could be loaded; `Absent` only where nothing does.
    pub kind: Kind,
    /// For the model: what is wrong, without the path.
    pub text: String,
}

/// A file's bytes.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// All of them.
    pub bytes: Arc<[u8]>,
}

/// Looks at one path: where it leads and what stands there.
///
/// A path whose end does not exist is resolved as far as it does; a link to a missing file leads
/// to that file, so that creating it never replaces the link.
pub fn resolve(aim: &Aim, cwd: &str, home: &str) -> PathAnswer {
    let lexical = normalise(&aim.path, cwd, home);
    let mut answer = PathAnswer {
        aim: aim.clone(),
        place: Place::canonical(&lexical),
        lexical,
        kind: Kind::Absent,
        links: 1,
        open: false,
        error: None,
    };
    if aim.path.is_empty() {
        answer.error = Some("the path is empty".to_owned());
        return answer;
    }
    if answer.lexical.contains('\0') {
        answer.error = Some("a path cannot hold a NUL character".to_owned());
        return answer;
    }
    let canonical = match follow(Path::new(&answer.lexical), 0) {
        Ok(canonical) => canonical,
        Err(error) => {
            answer.error = Some(reason(&error));
            return answer;
        }
    };
    let Some(text) = canonical.to_str() else {
        answer.error = Some("it leads to a path that is not valid UTF-8".to_owned());
        return answer;
    };
    answer.place = Place::canonical(text);
    match sys::stat(&canonical) {
        Ok(stat) => {
            answer.kind = kind_at(&canonical, &stat);
            answer.links = match answer.kind {
                Kind::File(_) => links(&stat),
                Kind::Absent | Kind::Directory | Kind::Special => 1,
            };
        }
        Err(Errno::NOENT) => {}
        Err(error) => answer.error = Some(reason(&error.into())),
    }
    answer
}

/// The path with all links resolved; what does not exist is kept as it is spelt.
fn follow(path: &Path, depth: usize) -> io::Result<PathBuf> {
    if depth > MOST_LINKS {
        return Err(Errno::LOOP.into());
    }
    match std::fs::canonicalize(path) {
        Ok(canonical) => return Ok(canonical),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(path.to_owned());
    };
    // A missing parent may itself be a link to a missing folder, hence the same way for it.
    let parent = follow(parent, depth + 1)?;
    let candidate = parent.join(name);
    match std::fs::read_link(&candidate) {
        Ok(target) => follow(&parent.join(target), depth + 1),
        Err(_) => {
            // Tells "no such file" from "the name is too long" or "may not look".
            match sys::lstat(&candidate) {
                Ok(_) | Err(Errno::NOENT) => Ok(candidate),
                Err(error) => Err(error.into()),
            }
        }
    }
}

fn kind_at(path: &Path, stat: &Stat) -> Kind {
    let kind = kind_of(stat);
    let unreal = matches!(kind, Kind::File(_))
        && sys::statfs(path).is_ok_and(|fs| is_pseudo(fs.f_type as u64));
    if unreal {
        Kind::Special
    } else {
        kind
    }
}

fn kind_of(stat: &Stat) -> Kind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Kind::File(stat.st_size as u64),
        FileType::Directory => Kind::Directory,
        _ => Kind::Special,
    }
}

fn links(stat: &Stat) -> u64 {
    // On other machines the field is narrower.
    #[allow(clippy::useless_conversion)]
    u64::from(stat.st_nlink)
}

/// File systems whose files are windows into the kernel: reading them may block, act, or tell
/// secrets of other processes.
fn is_pseudo(magic: u64) -> bool {
    // proc, sysfs, debugfs, tracefs, securityfs, cgroup, cgroup2, bpf, devpts, configfs, efivarfs
    matches!(
        magic & 0xffff_ffff,
        0x9fa0
            | 0x6265_6572
            | 0x6462_6720
            | 0x7472_6163
            | 0x7363_6673
            | 0x0027_e0eb
            | 0x6367_7270
            | 0xcafe_4a11
            | 0x1cd1
            | 0x6265_6570
            | 0xde5e_81e4
    )
}

/// Opens a canonical path. A link anywhere in it means that the path was changed since it was
/// resolved: refused.
fn open_canonical(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    match sys::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // An old kernel or a filter without the call: the last component is still not followed.
        Err(Errno::NOSYS | Errno::PERM) => sys::openat(CWD, path, flags, Mode::empty()),
        other => other,
    }
}

/// Opens a regular file for reading; nothing else is ever opened.
pub fn open(place: &Place) -> Result<(File, u64), DiskError> {
    let path = Path::new(place.path());
    let fail = |error: Errno| DiskError {
        kind: match error {
            Errno::NOENT => Kind::Absent,
            // What stands there cannot be told, so nothing is claimed of it.
            _ => Kind::Special,
        },
        text: reason(&error.into()),
    };
    // Opening a device can act on it already, hence a look without opening comes first.
    let before = sys::lstat(path).map_err(fail)?;
    regular(kind_at(path, &before))?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = open_canonical(path, flags).map_err(fail)?;
    let stat = sys::fstat(&file).map_err(fail)?;
    let size = regular(kind_of(&stat))?;
    Ok((File::from(file), size))
}

fn regular(kind: Kind) -> Result<u64, DiskError> {
    let text = match kind {
        Kind::File(size) => return Ok(size),
        Kind::Directory => "it is a directory",
        Kind::Absent => "it does not exist",
        Kind::Special => "it is a device, FIFO, socket or kernel file, which is never opened",
    };
    Err(DiskError {
        kind,
        text: text.to_owned(),
    })
}

/// Loads a file of at most `limit` bytes.
pub fn load(place: &Place, limit: u64) -> Result<Loaded, DiskError> {
    let (mut file, size) = open(place)?;
    let bytes = read_all(&mut file, size, limit).map_err(|error| DiskError {
        kind: Kind::File(size),
        text: reason(&error),
    })?;
    match bytes {
        Some(bytes) => Ok(Loaded {
            bytes: Arc::from(bytes),
        }),
        None => Err(DiskError {
            kind: Kind::File(size),
            text: format!("it has {size} bytes, more than the {limit} that are loaded at once"),
        }),
    }
}

/// All bytes, or none when there are more than `limit`: the file may be growing.
fn read_all(file: &mut File, size: u64, limit: u64) -> io::Result<Option<Vec<u8>>> {
    if size > limit {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// One name in a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The name; bytes that are no UTF-8 are replaced.
    pub name: String,
    /// True for a directory; a link is not followed.
    pub directory: bool,
}

/// The names in a directory, sorted, at most `most` of them, and how many there are.
pub fn list(path: &str, most: usize) -> io::Result<(Vec<Entry>, usize)> {
    let mut entries: Vec<Entry> = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        entries.push(Entry {
            name: entry.file_name().to_string_lossy().into_owned(),
            directory: entry.file_type().is_ok_and(|kind| kind.is_dir()),
        });
    }
    entries.sort();
    let total = entries.len();
    entries.truncate(most);
    Ok((entries, total))
}

/// True when a directory stands there.
pub fn is_directory(path: &str) -> bool {
    sys::stat(path).is_ok_and(|stat| kind_of(&stat) == Kind::Directory)
}

/// Makes a file of the sidecar's own (a result kept aside), readable by its owner only; an
/// existing one is never written over.
pub fn create_private(folder: &Path, name: &str) -> io::Result<(File, PathBuf)> {
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let path = folder.join(name);
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600);
    Ok((file.open(&path)?, path))
}

/// Reads and removes a small file of the sidecar's own.
pub fn take_private(path: &Path, limit: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes));
    let removed = std::fs::remove_file(path);
    (read.is_ok() && removed.is_ok()).then_some(bytes)
}

/// Removes temporary files in a folder that a dead sidecar left behind; tells how many.
pub fn remove_leftovers(folder: &str) -> usize {
    let Ok((entries, _)) = list(folder, usize::MAX) else {
        return 0;
    };
    let dead = |name: &str| {
        let owner = name.strip_prefix(TEMP_PREFIX)?.split('-').next()?;
        let owner: i32 = owner.parse().ok()?;
        let pid = rustix::process::Pid::from_raw(owner)?;
        Some(rustix::process::test_kill_process(pid) == Err(Errno::SRCH))
    };
    let mut removed = 0;
    for entry in entries {
        let ours = !entry.directory && is_temporary(&entry.name);
        if ours && dead(&entry.name) == Some(true) {
            let path = Path::new(folder).join(&entry.name);
            removed += usize::from(std::fs::remove_file(path).is_ok());
        }
    }
    removed
}

/// What a failure of the system means, for the model.
fn reason(error: &io::Error) -> String {
    let text = match Errno::from_io_error(error) {
        Some(Errno::NOENT) => "it does not exist",
        Some(Errno::NOTDIR) => "a part of the path is a file, not a directory",
        Some(Errno::ACCESS | Errno::PERM) => "the system does not permit it",
        Some(Errno::ROFS) => "the file system is read-only",
        Some(Errno::NOSPC | Errno::DQUOT) => "the disk is full",
        Some(Errno::NAMETOOLONG) => "the path or a name in it is too long",
        Some(Errno::ISDIR) => "it is a directory",
        Some(Errno::LOOP) => "a link in the path leads in a circle, or was put there just now",
        Some(Errno::TXTBSY) => "it is a program that runs right now",
        Some(Errno::FBIG) => "the file would be larger than the system permits",
        _ => return error.to_string(),
    };
    text.to_owned()
}

//! The commit: the only function of the sidecar that gives a file of the person new content.
//!
//! It alone knows of temporary files, metadata, renames and syncs (spec: architecture.md, rule 3).
//! It never writes over content whose hash is not the one it was given, and a crash at any instant
//! leaves the old content or the new one (a file with several names excepted: it is written in
//! place, because a rename would tear its names apart).
//!
//! What it does not promise yet: a writer that changes the file between the last look and the
//! rename loses its change. Exchange and lease close that gap; only `replace` will change then.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{
    self as sys, Access, AtFlags, Gid, Mode, OFlags, RenameFlags, Stat, Uid, XattrFlags,
};
use rustix::io::Errno;
use toolgate_core::outcome::Effect;
use toolgate_core::place::Place;
use toolgate_core::version::RawHash;

use super::{kind_of, links, open_canonical, read_all, reason, regular, TEMP_PREFIX, TEMP_SUFFIX};

/// How much a write waits for the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// File and folder are synced: a crash leaves the old content or the new.
    #[default]
    Full,
    /// Nothing is synced.
    None,
}

/// What a commit did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Hash of the bytes that stand there now.
    pub raw: RawHash,
    /// Directories that were made, outermost first.
    pub created: Vec<String>,
    /// True when the file was written in place: it has several names, or metadata that a new
    /// file could not get.
    pub in_place: bool,
}

/// Why a commit did not happen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// What stands there is not what the change was made for.
    #[error("the file changed since it was looked at")]
    Changed,
    /// A file appeared where a new one was to be made.
    #[error("a file appeared there in the meantime")]
    Appeared,
    /// The system refused.
    #[error("{text}")]
    Refused {
        /// For the model.
        text: String,
        /// What of the file is changed nevertheless.
        effect: Effect,
    },
}

impl CommitError {
    fn from_errno(error: Errno) -> Self {
        Self::Refused {
            text: reason(&error.into()),
            effect: Effect::None,
        }
    }

    fn from_io(error: &io::Error) -> Self {
        Self::Refused {
            text: reason(error),
            effect: Effect::None,
        }
    }
}

/// Gives the file at `place` new content, if and only if what stands there hashes to `base`
/// (none: nothing may stand there). The one function that writes a file of the person.
pub fn commit(
    place: &Place,
    base: Option<RawHash>,
    bytes: &[u8],
    durability: Durability,
) -> Result<Committed, CommitError> {
    let path = Path::new(place.path());
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(CommitError::from_errno(Errno::ISDIR));
    };
    let job = Job {
        name,
        bytes,
        durability,
    };
    let Some(base) = base else {
        return create(&job, parent);
    };
    let folder = open_folder(parent).map_err(|error| match error {
        Errno::NOENT | Errno::NOTDIR => CommitError::Changed,
        error => CommitError::from_errno(error),
    })?;
    replace(&job, &folder, base)
}

struct Job<'a> {
    name: &'a OsStr,
    bytes: &'a [u8],
    durability: Durability,
}

fn open_folder(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    match open_canonical(path, flags) {
        // A folder that may be entered and not listed can still be written in.
        Err(Errno::ACCESS) => open_canonical(path, OFlags::PATH | OFlags::DIRECTORY),
        other => other,
    }
}

fn create(job: &Job<'_>, parent: &Path) -> Result<Committed, CommitError> {
    let created = make_folders(parent)?;
    let made = open_folder(parent)
        .map_err(CommitError::from_errno)
        .and_then(|folder| create_in(job, &folder));
    if let Err(error) = made {
        // Nothing was made, so nothing stays: innermost first, and only what is still empty.
        for folder in created.iter().rev() {
            let _ = sys::rmdir(folder.as_str());
        }
        return Err(error);
    }
    Ok(Committed {
        raw: RawHash::of(job.bytes),
        created,
        in_place: false,
    })
}

fn create_in(job: &Job<'_>, folder: &OwnedFd) -> Result<(), CommitError> {
    match sys::statat(folder, job.name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => {}
        Ok(_) => return Err(CommitError::Appeared),
        Err(error) => return Err(CommitError::from_errno(error)),
    }
    // The kernel applies the umask and the folder's default rights.
    let temp = Temp::create(folder, Mode::from_raw_mode(0o666))?;
    temp.fill(job)?;
    let placed = sys::renameat_with(
        folder,
        temp.name(),
        folder,
        job.name,
        RenameFlags::NOREPLACE,
    );
    match placed {
        Ok(()) => temp.keep(),
        Err(Errno::EXIST) => return Err(CommitError::Appeared),
        Err(Errno::INVAL | Errno::NOSYS) => {
            // A file system without that rename: a second name is made just as exclusively.
            let link = sys::linkat(folder, temp.name(), folder, job.name, AtFlags::empty());
            link.map_err(|error| match error {
                Errno::EXIST => CommitError::Appeared,
                error => CommitError::from_errno(error),
            })?;
        }
        Err(error) => return Err(CommitError::from_errno(error)),
    }
    sync_folder(job, folder)
}

fn make_folders(folder: &Path) -> Result<Vec<String>, CommitError> {
    let mut missing: Vec<&Path> = Vec::new();
    let mut at = folder;
    while let Err(Errno::NOENT) = sys::lstat(at) {
        missing.push(at);
        match at.parent() {
            Some(parent) => at = parent,
            None => break,
        }
    }
    let mut created: Vec<String> = Vec::new();
    for path in missing.into_iter().rev() {
        match sys::mkdir(path, Mode::from_raw_mode(0o777)) {
            Ok(()) => created.push(path.to_string_lossy().into_owned()),
            Err(Errno::EXIST) => {}
            Err(error) => {
                for made in created.iter().rev() {
                    let _ = sys::rmdir(made.as_str());
                }
                return Err(CommitError::from_errno(error));
            }
        }
    }
    Ok(created)
}

/// Replaces a file whose content hashes to `base`.
fn replace(job: &Job<'_>, folder: &OwnedFd, base: RawHash) -> Result<Committed, CommitError> {
    let (_, stat) = unchanged(job, folder, base)?;
    // A rename would get around the file's own write protection.
    sys::accessat(folder, job.name, Access::WRITE_OK, AtFlags::EACCESS).map_err(
        |error| match error {
            Errno::ACCESS | Errno::PERM => CommitError::Refused {
                text: "the file is read-only".to_owned(),
                effect: Effect::None,
            },
            error => CommitError::from_errno(error),
        },
    )?;
    let done = |in_place| Committed {
        raw: RawHash::of(job.bytes),
        created: Vec::new(),
        in_place,
    };
    if links(&stat) > 1 {
        in_place(job, folder, base)?;
        return Ok(done(true));
    }
    let temp = Temp::create(folder, Mode::from_raw_mode(0o600))?;
    temp.fill(job)?;
    let (now, stat) = unchanged(job, folder, base)?;
    if !temp.take_metadata(&now, &stat)? {
        drop(temp);
        in_place(job, folder, base)?;
        return Ok(done(true));
    }
    sys::renameat(folder, temp.name(), folder, job.name).map_err(CommitError::from_errno)?;
    temp.keep();
    sync_folder(job, folder)?;
    Ok(done(false))
}

/// The file as it stands there, if its content still hashes to `base`.
fn unchanged(job: &Job<'_>, folder: &OwnedFd, base: RawHash) -> Result<(File, Stat), CommitError> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY;
    let file =
        sys::openat(folder, job.name, flags | OFlags::CLOEXEC, Mode::empty()).map_err(|error| {
            match error {
                Errno::NOENT | Errno::LOOP => CommitError::Changed,
                error => CommitError::from_errno(error),
            }
        })?;
    let stat = sys::fstat(&file).map_err(CommitError::from_errno)?;
    let size = regular(kind_of(&stat)).map_err(|_| CommitError::Changed)?;
    let mut file = File::from(file);
    let bytes = read_all(&mut file, size, u64::MAX - 1);
    let bytes = bytes.map_err(|error| CommitError::from_io(&error))?;
    if bytes.is_some_and(|bytes| RawHash::of(&bytes) == base) {
        Ok((file, stat))
    } else {
        Err(CommitError::Changed)
    }
}

/// Writes into the file itself. The old bytes are kept until the new ones are there, and put back
/// when the system refuses in the middle.
fn in_place(job: &Job<'_>, folder: &OwnedFd, base: RawHash) -> Result<(), CommitError> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = sys::openat(folder, job.name, flags | OFlags::CLOEXEC, Mode::empty());
    let mut file = File::from(file.map_err(CommitError::from_errno)?);
    let stat = sys::fstat(&file).map_err(CommitError::from_errno)?;
    let size = regular(kind_of(&stat)).map_err(|_| CommitError::Changed)?;
    let old = read_all(&mut file, size, u64::MAX - 1);
    let old = old.map_err(|error| CommitError::from_io(&error))?;
    let Some(old) = old.filter(|old| RawHash::of(old) == base) else {
        return Err(CommitError::Changed);
    };
    let mut write = |bytes: &[u8]| -> io::Result<()> {
        file.rewind()?;
        file.write_all(bytes)?;
        sys::ftruncate(&file, bytes.len() as u64)?;
        if job.durability == Durability::Full {
            file.sync_data()?;
        }
        Ok(())
    };
    write(job.bytes).map_err(|error| {
        let restored = write(&old).is_ok();
        CommitError::Refused {
            text: reason(&error),
            effect: if restored {
                Effect::None
            } else {
                Effect::Partial
            },
        }
    })
}

fn sync_folder(job: &Job<'_>, folder: &OwnedFd) -> Result<(), CommitError> {
    if job.durability == Durability::None {
        return Ok(());
    }
    match sys::fsync(folder) {
        // A folder that could only be entered, or a file system that does not sync folders.
        Ok(()) | Err(Errno::BADF | Errno::INVAL | Errno::NOTSUP) => Ok(()),
        Err(error) => Err(CommitError::Refused {
            text: format!(
                "the file was written, but the folder could not be synced: {}",
                reason(&error.into())
            ),
            effect: Effect::Happened,
        }),
    }
}

/// A temporary file beside the target; gone when dropped, unless kept.
struct Temp<'a> {
    folder: &'a OwnedFd,
    file: File,
    name: OsString,
    kept: bool,
}

impl<'a> Temp<'a> {
    fn create(folder: &'a OwnedFd, mode: Mode) -> Result<Self, CommitError> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        loop {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let owner = std::process::id();
            let name = OsString::from(format!("{TEMP_PREFIX}{owner}-{number}{TEMP_SUFFIX}"));
            match sys::openat(folder, &name, flags | OFlags::CLOEXEC, mode) {
                Ok(file) => {
                    return Ok(Self {
                        folder,
                        file: File::from(file),
                        name,
                        kept: false,
                    })
                }
                // Left behind by a process that had our id.
                Err(Errno::EXIST) => {}
                Err(error) => return Err(CommitError::from_errno(error)),
            }
        }
    }

    fn name(&self) -> &OsStr {
        &self.name
    }

    fn keep(mut self) {
        self.kept = true;
    }

    fn fill(&self, job: &Job<'_>) -> Result<(), CommitError> {
        let written = (&self.file).write_all(job.bytes).and_then(|()| {
            if job.durability == Durability::Full {
                self.file.sync_data()?;
            }
            Ok(())
        });
        written.map_err(|error| CommitError::from_io(&error))
    }

    /// Takes over owner, attributes and mode, in this order: at no moment may somebody read the
    /// new file who could not read the old one. False when it cannot be had.
    fn take_metadata(&self, old: &File, stat: &Stat) -> Result<bool, CommitError> {
        let mine = sys::fstat(&self.file).map_err(CommitError::from_errno)?;
        if mine.st_uid != stat.st_uid || mine.st_gid != stat.st_gid {
            let (uid, gid) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
            if sys::fchown(&self.file, Some(uid), Some(gid)).is_err() {
                return Ok(false);
            }
        }
        if !copy_attributes(old, &self.file) {
            return Ok(false);
        }
        let mode = Mode::from_raw_mode(stat.st_mode & 0o7777);
        sys::fchmod(&self.file, mode).map_err(CommitError::from_errno)?;
        Ok(true)
    }
}

impl Drop for Temp<'_> {
    fn drop(&mut self) {
        if !self.kept {
            let _ = sys::unlinkat(self.folder, &self.name, AtFlags::empty());
        }
    }
}

/// Copies extended attributes. False when one that the person can see (`user.*`, access lists)
/// could not be copied; the system's own marks are made anew by the system.
fn copy_attributes(from: &File, to: &File) -> bool {
    let Ok(size) = sys::flistxattr(from, &mut [] as &mut [u8]) else {
        return true;
    };
    let mut names = vec![0_u8; size];
    let Ok(used) = sys::flistxattr(from, names.as_mut_slice()) else {
        return size == 0;
    };
    let names = names.get(..used).unwrap_or_default();
    for name in names
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
    {
        let copied = || -> Result<(), Errno> {
            let size = sys::fgetxattr(from, name, &mut [] as &mut [u8])?;
            let mut value = vec![0_u8; size];
            let used = sys::fgetxattr(from, name, value.as_mut_slice())?;
            let value = value.get(..used).unwrap_or_default();
            sys::fsetxattr(to, name, value, XattrFlags::empty())
        };
        let visible = name.starts_with(b"user.") || name.starts_with(b"system.posix_acl");
        if copied().is_err() && visible {
            return false;
        }
    }
    true
}

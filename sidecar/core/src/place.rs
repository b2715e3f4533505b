//! A file's one identity, and what the runner tells about a path.
//!
//! A *place* is the canonical path: the parent resolved, plus the name. An atomic replacement by
//! anyone changes the inode and not the place. Lexical rules are pure and live here; what needs a
//! look at the disk (links, kind, size) arrives as `PathAnswer`, the answer to a probe.

use std::fmt;
use std::sync::Arc;

/// A file's one identity: its canonical absolute path. The key of ledger, queues and permission.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(Arc<str>);

impl Place {
    /// The place with this canonical path. Only the disk room and tests may claim that.
    pub fn canonical(path: &str) -> Self {
        Self(Arc::from(path))
    }

    /// The canonical path.
    pub fn path(&self) -> &str {
        &self.0
    }

    /// The last component, for titles and waits.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({})", self.0)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a call wants with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Its content is read.
    Read,
    /// It is created or its content replaced.
    Write,
    /// What lies beneath it is searched.
    Search,
}

/// A path that a call names, as the model wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aim {
    /// As written in the input.
    pub path: String,
    /// What for.
    pub purpose: Purpose,
}

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Absent,
    /// A regular file of so many bytes.
    File(u64),
    /// A directory.
    Directory,
    /// A device, FIFO, socket or the like: never opened.
    Special,
}

/// What the runner found out about one `Aim`. Answers come in the order of the aims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathAnswer {
    /// The aim it answers.
    pub aim: Aim,
    /// Absolute, `~` expanded, `.`, `..` and doubled slashes removed by text alone.
    pub lexical: String,
    /// With all links resolved; for a new file its nearest existing parent resolved.
    pub place: Place,
    /// What stands there, links followed.
    pub kind: Kind,
    /// Number of hard links, 1 where it is not a file.
    pub links: u64,
    /// True when the document is open in the editor.
    pub open: bool,
    /// Why the path could not be looked at (too long, no permission, a loop of links).
    pub error: Option<String>,
}

/// Makes a path absolute and removes `.`, `..` and doubled slashes, by text alone.
///
/// `~` and `~/…` mean the home directory. The result never ends in a slash but for the root.
pub fn normalise(path: &str, cwd: &str, home: &str) -> String {
    let expanded = match path.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => format!("{home}{rest}"),
        _ => path.to_owned(),
    };
    let absolute = if expanded.starts_with('/') {
        expanded
    } else {
        format!("{cwd}/{expanded}")
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in absolute.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    format!("/{}", parts.join("/"))
}

/// True when `path` is `directory` or lies beneath it, compared by components.
pub fn within(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    match path.strip_prefix(directory) {
        Some(rest) => rest.is_empty() || rest.starts_with('/'),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalised_by_text() {
        let check = |path, want| assert_eq!(normalise(path, "/w/p", "/home/d"), want);
        check("a.txt", "/w/p/a.txt");
        check("../a//b/./c", "/w/a/b/c");
        check("~/x", "/home/d/x");
        check("~", "/home/d");
        check("~x/y", "/w/p/~x/y");
        check("/../../etc", "/etc");
        check("", "/w/p");
    }

    #[test]
    fn within_compares_components() {
        assert!(within("/a/b", "/a/b"));
        assert!(within("/a/b/c", "/a/b/"));
        assert!(!within("/a/bc", "/a/b"));
        assert!(within("/anything", "/"));
    }
}

//! One file's search: lines with context, bounded in number and length.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::SystemTime;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch,
};

use super::{FileHits, Wanted};

/// Characters of a line that are shown, around the first match in it.
const MOST_LINE: usize = 500;

/// Memory for one line, or for one file in multiline mode.
const MOST_HEAP: usize = 64 * 1024 * 1024;

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitKind {
    /// It matches, or is a match.
    Match,
    /// It stands beside one that does.
    Context,
    /// Lines are left out here.
    Gap,
}

/// One line of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// What it is.
    pub kind: HitKind,
    /// Its number, counted from 1; 0 for a gap.
    pub line: u64,
    /// Its text without the ending; cut around the match when it is long.
    pub text: String,
}

/// Searches one file.
pub(super) struct Searching<'a> {
    matcher: &'a RegexMatcher,
    wanted: &'a Wanted,
    lines: u64,
    matches: u64,
    hits: Vec<Hit>,
    binary: bool,
}

impl<'a> Searching<'a> {
    pub(super) fn new(matcher: &'a RegexMatcher, wanted: &'a Wanted) -> Self {
        Self {
            matcher,
            wanted,
            lines: 0,
            matches: 0,
            hits: Vec::new(),
            binary: false,
        }
    }

    fn searcher(&self) -> Searcher {
        let (before, after) = self.wanted.context;
        SearcherBuilder::new()
            .line_number(true)
            .multi_line(self.wanted.multiline)
            .before_context(before)
            .after_context(after)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(MOST_HEAP))
            .build()
    }

    /// Searches a file. False when it holds no text.
    pub(super) fn file(&mut self, path: &Path) -> io::Result<bool> {
        // Between the walk and here it may have become a FIFO, or a link out of the workspace.
        let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_NOCTTY;
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(path)?;
        if !file.metadata()?.is_file() {
            return Ok(true);
        }
        let matcher = self.matcher;
        self.searcher().search_file(matcher, &file, &mut *self)?;
        Ok(!self.binary)
    }

    /// Searches a text.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        let matcher = self.matcher;
        self.searcher()
            .search_slice(matcher, text.as_bytes(), &mut *self)
    }

    pub(super) fn into_hits(self, path: &Path, modified: SystemTime, unsaved: bool) -> FileHits {
        FileHits {
            path: path.to_owned(),
            modified,
            lines: self.lines,
            matches: self.matches,
            hits: self.hits,
            unsaved,
        }
    }

    fn keep(&mut self, kind: HitKind, line: u64, bytes: &[u8], at: usize) {
        if self.hits.len() < self.wanted.keep {
            let text = excerpt(bytes, at);
            self.hits.push(Hit { kind, line, text });
        }
    }

    /// Counts the matches in a line, and keeps each when only they are wanted. Gives where the
    /// first begins.
    fn count(&mut self, number: u64, line: &[u8]) -> io::Result<usize> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        let mut total = 0;
        let most = self.wanted.keep;
        let only = self.wanted.only_matching;
        self.matcher.find_iter(line, |one| {
            total += 1;
            if found.is_empty() || (only && found.len() < most) {
                found.push((one.start(), one.end()));
            }
            true
        })?;
        self.matches += total;
        let first = found.first().map_or(0, |one| one.0);
        if only {
            for (start, end) in found {
                let text = line.get(start..end).unwrap_or_default();
                self.keep(HitKind::Match, number, text, 0);
            }
        }
        Ok(first)
    }
}

impl Sink for &mut Searching<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let number = found.line_number().unwrap_or(0);
        let first = self.count(number, found.bytes())?;
        let mut offset = 0;
        for (index, line) in found.lines().enumerate() {
            self.lines += 1;
            if !self.wanted.only_matching {
                let at = if index == 0 { first } else { 0 };
                self.keep(HitKind::Match, number + index as u64, line, at);
            }
            offset += line.len();
        }
        debug_assert_eq!(offset, found.bytes().len());
        Ok(!self.wanted.first_only)
    }

    fn context(&mut self, _searcher: &Searcher, line: &SinkContext<'_>) -> io::Result<bool> {
        if !self.wanted.only_matching {
            let number = line.line_number().unwrap_or(0);
            self.keep(HitKind::Context, number, line.bytes(), 0);
        }
        Ok(true)
    }

    fn context_break(&mut self, _searcher: &Searcher) -> io::Result<bool> {
        if !self.wanted.only_matching {
            self.keep(HitKind::Gap, 0, b"", 0);
        }
        Ok(true)
    }

    fn finish(&mut self, _searcher: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// A line as text; a long one around the byte where its match begins.
fn excerpt(bytes: &[u8], at: usize) -> String {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= MOST_LINE {
        return String::from_utf8_lossy(line).into_owned();
    }
    // A character has at most four bytes: this many surely hold enough characters on each side.
    let start = at.saturating_sub(MOST_LINE / 4 * 4);
    let end = (at + MOST_LINE * 4).min(line.len());
    let before = String::from_utf8_lossy(line.get(start..at.min(line.len())).unwrap_or_default());
    let after = String::from_utf8_lossy(line.get(at.min(line.len())..end).unwrap_or_default());
    let lead: Vec<char> = before.chars().rev().take(MOST_LINE / 4).collect();
    let room = MOST_LINE - lead.len();
    let shown: String = lead
        .iter()
        .rev()
        .chain(&after.chars().take(room).collect::<Vec<_>>())
        .collect();
    let cut_before = start > 0 || lead.len() < before.chars().count();
    let cut_after = end < line.len() || after.chars().count() > room;
    let mark = |cut| if cut { "[...]" } else { "" };
    format!("{}{shown}{}", mark(cut_before), mark(cut_after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_around_its_match() {
        let line = format!(
            "{}needle{}\r\n",
            "\u{2713}".repeat(3_000),
            "y".repeat(3_000)
        );
        let cut = excerpt(line.as_bytes(), 9_000);
        assert!(
            cut.starts_with("[...]\u{2713}") && cut.ends_with("y[...]"),
            "{cut}"
        );
        assert!(cut.contains("needle"));
        assert!(!cut.contains(char::REPLACEMENT_CHARACTER));
        assert_eq!(cut.chars().count(), MOST_LINE + 10);
        assert_eq!(excerpt(b"short\r\n", 0), "short");
    }
}

//! A file's text beside its bytes.
//!
//! Decoded text is for showing and matching only and cannot be turned back into file bytes: the
//! only way to new bytes is `splice`, which leaves every byte outside the replaced lines as it
//! was. Line endings are LF in the decoded text whatever the file has; each line's own ending is
//! remembered.

use std::sync::Arc;

use crate::version::{RawHash, Version};

/// How the bytes spell the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, little end first.
    Utf16Le,
    /// UTF-16, big end first.
    Utf16Be,
    /// One of the web's legacy encodings.
    Legacy(&'static encoding_rs::Encoding),
}

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// `\n`.
    Lf,
    /// `\r\n`.
    CrLf,
    /// Nothing: the last line of a text without final newline.
    None,
}

/// Where one line lies in the bytes, its ending not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineAt {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// First byte in the decoded text.
    pub shown: usize,
    /// Its ending.
    pub ending: Ending,
}

/// A file's text beside its bytes. Made by `decode` or `from_document` only.
#[derive(Clone, Debug)]
pub struct FileText {
    pub(crate) raw: Arc<[u8]>,
    pub(crate) encoding: Encoding,
    pub(crate) bom: bool,
    pub(crate) text: Arc<str>,
    pub(crate) lines: Arc<[LineAt]>,
    pub(crate) version: Version,
}

impl FileText {
    /// The text of an open document: UTF-8, no BOM, each line's ending remembered.
    ///
    /// A leading U+FEFF is an ordinary character here: the editor has it as one, and a line that
    /// is sent back to the editor must not lose it.
    pub fn from_document(text: &str) -> Self {
        let raw: Arc<[u8]> = Arc::from(text.as_bytes());
        let mut lines = Vec::new();
        let mut scan = Scan::default();
        for (at, byte) in text.bytes().enumerate() {
            scan.unit(u32::from(byte), at, 1, &mut lines);
        }
        scan.close(raw.len(), &mut lines);
        Self::assemble(raw, Encoding::Utf8, false, text, lines)
    }

    /// Puts the parts together; `lines` were scanned over `raw`, `full` still has its `\r\n`.
    pub(crate) fn assemble(
        raw: Arc<[u8]>,
        encoding: Encoding,
        bom: bool,
        full: &str,
        mut lines: Vec<LineAt>,
    ) -> Self {
        let text = to_lf(full, &mut lines);
        let version = Version::of(&text);
        Self {
            raw,
            encoding,
            bom,
            text: Arc::from(text),
            lines: Arc::from(lines),
            version,
        }
    }

    /// The bytes.
    pub fn raw(&self) -> &Arc<[u8]> {
        &self.raw
    }

    /// Hash of the bytes, for the compare-and-swap.
    pub fn raw_hash(&self) -> RawHash {
        RawHash::of(&self.raw)
    }

    /// The encoding.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// True when the bytes begin with a byte order mark.
    pub fn bom(&self) -> bool {
        self.bom
    }

    /// The decoded text: no BOM, LF line endings.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The decoded text, shared.
    pub fn shared_text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// The version of the decoded text.
    pub fn version(&self) -> Version {
        self.version
    }

    /// How many lines there are; an empty text has none, and a final newline begins no line.
    pub fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// One line of the decoded text without its ending; empty when there is no such line.
    pub fn line(&self, index: usize) -> &str {
        let Some(line) = self.lines.get(index) else {
            return "";
        };
        let end = match self.lines.get(index + 1) {
            Some(next) => next.shown - 1,
            None => self.text.len() - usize::from(line.ending != Ending::None),
        };
        &self.text[line.shown..end]
    }

    /// How a line ends; `None` too when there is no such line.
    pub fn ending(&self, index: usize) -> Ending {
        self.lines
            .get(index)
            .map_or(Ending::None, |line| line.ending)
    }

    /// The ending that most lines have; LF when none has one.
    pub fn main_ending(&self) -> Ending {
        let count = |wanted| self.lines.iter().filter(|l| l.ending == wanted).count();
        if count(Ending::CrLf) > count(Ending::Lf) {
            Ending::CrLf
        } else {
            Ending::Lf
        }
    }

    /// First byte of a line in the decoded text; its length for the line after the last.
    pub fn line_offset(&self, index: usize) -> usize {
        self.lines
            .get(index)
            .map_or(self.text.len(), |line| line.shown)
    }

    /// The line (counted from 0) in which a byte of the decoded text lies; the last one for an
    /// offset at or beyond the end.
    pub fn line_of(&self, offset: usize) -> usize {
        self.lines
            .partition_point(|line| line.shown <= offset)
            .saturating_sub(1)
    }
}

/// Finds lines in a sequence of code units: bytes, or halves of UTF-16.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    start: usize,
    after_cr: Option<usize>,
    open: bool,
}

impl Scan {
    /// A scan whose first line begins at this byte.
    pub(crate) fn from(start: usize) -> Self {
        Self {
            start,
            after_cr: None,
            open: false,
        }
    }

    /// Takes the next unit, which lies at byte `at` and is `width` bytes long.
    pub(crate) fn unit(&mut self, unit: u32, at: usize, width: usize, lines: &mut Vec<LineAt>) {
        if unit != u32::from(b'\n') {
            self.after_cr = (unit == u32::from(b'\r')).then_some(at);
            self.open = true;
            return;
        }
        let (end, ending) = match self.after_cr {
            Some(cr) => (cr, Ending::CrLf),
            None => (at, Ending::Lf),
        };
        self.push(end, ending, lines);
        *self = Self::from(at + width);
    }

    /// Ends the scan: what follows the last newline is a line of its own.
    pub(crate) fn close(self, length: usize, lines: &mut Vec<LineAt>) {
        if self.open {
            self.push(length, Ending::None, lines);
        }
    }

    fn push(&self, end: usize, ending: Ending, lines: &mut Vec<LineAt>) {
        lines.push(LineAt {
            start: self.start,
            end,
            shown: 0,
            ending,
        });
    }
}

/// Takes the `\r` of each `\r\n` away and notes where each line begins in the result.
fn to_lf(full: &str, lines: &mut [LineAt]) -> String {
    let mut text = String::with_capacity(full.len());
    for (line, piece) in lines.iter_mut().zip(full.split_inclusive('\n')) {
        line.shown = text.len();
        match piece.strip_suffix("\r\n") {
            Some(content) => {
                text.push_str(content);
                text.push('\n');
            }
            None => text.push_str(piece),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &FileText) -> String {
        let mut out = String::new();
        for index in 0..text.line_count() {
            let ending = match text.ending(index) {
                Ending::Lf => "L",
                Ending::CrLf => "C",
                Ending::None => "-",
            };
            out.push_str(&format!("{}{ending} ", text.line(index).escape_debug()));
        }
        out.trim_end().to_owned()
    }

    #[test]
    fn each_line_keeps_its_ending() {
        let check = |text: &str, want: &str| {
            assert_eq!(shape(&FileText::from_document(text)), want, "{text:?}");
        };
        check("", "");
        check("a", "a-");
        check("a\n", "aL");
        check("a\r\nb\nc", "aC bL c-");
        check("\r\n\n", "C L");
        check("a\rb\n", "a\\rbL");
        check("a\r\r\n", "a\\rC");
        check("a\r", "a\\r-");
        check("\u{feff}é\n", "\\u{feff}éL");
    }

    #[test]
    fn the_majority_of_endings_is_the_main_one() {
        let check = |text: &str, want| {
            assert_eq!(
                FileText::from_document(text).main_ending(),
                want,
                "{text:?}"
            );
        };
        check("", Ending::Lf);
        check("a", Ending::Lf);
        check("a\r\nb\r\nc\n", Ending::CrLf);
        check("a\r\nb\n", Ending::Lf);
    }

    #[test]
    fn offsets_lead_to_lines() {
        let text = FileText::from_document("ab\r\nc\n\nd");
        let check = |offset, want| assert_eq!(text.line_of(offset), want, "{offset}");
        check(0, 0);
        check(2, 0);
        check(3, 1);
        check(5, 2);
        check(6, 3);
        check(99, 3);
        assert_eq!(text.line(7), "");
    }

    #[test]
    fn the_version_ignores_line_endings() {
        let version = |text| FileText::from_document(text).version();
        assert_eq!(version("a\r\nb"), version("a\nb"));
        assert_ne!(version("a\nb"), version("a\nb\n"));
    }
}

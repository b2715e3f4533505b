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

    /// The version of the decoded text.
    pub fn version(&self) -> Version {
        self.version
    }

    /// How many lines there are; an empty text has none, and a final newline begins no line.
    pub fn line_count(&self) -> usize {
        self.lines.len()
    }
}

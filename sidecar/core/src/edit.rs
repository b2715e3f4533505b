//! From a wanted change to a plan: line hunks over a known base.
//!
//! Matching works on decoded text with LF endings; what comes out are whole-line hunks that
//! `FileText::splice` turns into bytes. A plan never exists for a text that does not match: a
//! near miss is refused with what is there (spec: files.md, "Admission of an edit").

use std::sync::Arc;

use crate::document::OpenDocument;
pub use crate::hunks::LineHunk;
use crate::place::Place;
use crate::text::FileText;
use crate::version::Version;

/// A change of one file, ready to be shown, approved and written.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The file.
    pub place: Place,
    /// What it is based on; none for a new file.
    pub base: Option<Arc<FileText>>,
    /// The document, when the base is an open one.
    pub open: Option<OpenDocument>,
    /// What is written: in order, not overlapping.
    pub hunks: Vec<LineHunk>,
    /// What the person refused: never written, told to the model.
    pub rejected: Vec<LineHunk>,
    /// The text after `hunks`.
    pub after: Arc<str>,
    /// Its version.
    pub after_version: Version,
}

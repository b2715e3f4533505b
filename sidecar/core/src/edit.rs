//! From a wanted change to a plan: line hunks over a known base.
//!
//! Matching works on decoded text with LF endings; what comes out are whole-line hunks that
//! `FileText::splice` turns into bytes. A plan never exists for a text that does not match: a
//! near miss is refused with what is there (spec: files.md, "Admission of an edit").

use std::sync::Arc;

use toolgate_protocol::ids::HunkId;

use crate::document::OpenDocument;
use crate::place::Place;
use crate::text::FileText;
use crate::version::Version;

/// Whole lines that are replaced, by line numbers of the base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineHunk {
    /// Its name, unique within the session.
    pub id: HunkId,
    /// First line that goes, counted from 0; with no old lines, the line before which the new
    /// ones are put.
    pub old_start: usize,
    /// The lines that go, without endings.
    pub old_lines: Vec<String>,
    /// The lines that come, without endings.
    pub new_lines: Vec<String>,
    /// Present when the hunk reaches the end of the text: whether the text ends with a line
    /// ending afterwards.
    pub final_newline: Option<bool>,
}

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
use crate::definition::Change;
pub fn plan(
    _prefix: &str,
    _p: &Place,
    _b: Option<&Arc<FileText>>,
    _o: Option<OpenDocument>,
    _c: &Change,
) -> Result<Plan, String> {
    Err(String::new())
}
impl Plan {
    pub fn keep(&self, _f: &dyn Fn(&HunkId) -> bool) -> Option<Plan> {
        None
    }
}

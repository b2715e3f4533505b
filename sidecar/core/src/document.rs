//! A document that is open in the editor: it belongs to the editor, and the mirror of its text
//! moves only by what the editor sends (spec: architecture.md, rule 4).

/// A document that is open in the editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenDocument {
    /// Its URI, as the editor spells it.
    pub uri: String,
    /// Its LSP version.
    pub version: i32,
    /// True when it has changes that are not on disk.
    pub dirty: bool,
}

/// What the desk knows of open documents at the moment of a grant.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    /// All open documents: canonical path, document, text.
    pub open: Vec<DocumentText>,
    /// Paths of all documents with unsaved changes.
    pub unsaved: Vec<String>,
}

/// An open document and its text.
#[derive(Clone, Debug)]
pub struct DocumentText {
    /// Canonical path.
    pub path: String,
    /// Which document.
    pub document: OpenDocument,
    /// Its text; cheap to clone.
    pub rope: ropey::Rope,
}

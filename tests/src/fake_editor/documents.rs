//! The fake editor's open documents: plain strings, changed by the person and by
//! `toolgate/document/edit`, with the checks that a real client makes.
//!
//! It shares no code with the sidecar's mirror or with its edits: both could be wrong together.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{json, Value};
use sha2::{Digest, Sha256};

/// One open document.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its file, if it has one.
    pub path: Option<PathBuf>,
    /// Its version.
    pub version: i32,
    /// Its text, line endings as they are.
    pub text: String,
    /// Texts before each step, the newest last: what undo goes back to.
    pub undo: Vec<String>,
}

/// All open documents, by URI.
#[derive(Clone, Debug, Default)]
pub struct Documents(pub BTreeMap<String, Document>);

impl Documents {
    /// Replaces a document's text as one step; the `didChange` that tells it.
    pub fn set(&mut self, uri: &str, text: String) -> Value {
        let document = self.0.get_mut(uri).expect("the document is open");
        let change = change(&document.text, &text);
        document
            .undo
            .push(std::mem::replace(&mut document.text, text));
        document.version += 1;
        json!({
            "textDocument": { "uri": uri, "version": document.version },
            "contentChanges": [change],
        })
    }

    /// Writes a document to its file.
    pub fn save(&self, uri: &Value) -> Result<(), String> {
        let document = self.0.get(uri.as_str().unwrap_or_default());
        let document = document.ok_or("the document is not open")?;
        let path = document.path.as_ref().ok_or("it has no file")?;
        std::fs::write(path, &document.text).map_err(|error| error.to_string())
    }

    /// Answers `toolgate/document/edit`; with the `didChange` to send first, when it was applied.
    pub fn edit(&mut self, params: &Value) -> (Value, Option<Value>) {
        let uri = params["uri"].as_str().unwrap_or_default();
        let Some(document) = self.0.get(uri) else {
            let answer = json!({
                "applied": false, "version": 0, "hash": "", "reason": "the document is not open",
            });
            return (answer, None);
        };
        match edited(document, params) {
            Ok(text) => {
                let told = self.set(uri, text);
                (answer(&self.0[uri], None), Some(told))
            }
            Err(reason) => (answer(document, Some(&reason)), None),
        }
    }
}

fn answer(document: &Document, reason: Option<&str>) -> Value {
    let mut answer = json!({
        "applied": reason.is_none(),
        "version": document.version,
        "hash": hash(&document.text),
    });
    if let Some(reason) = reason {
        answer["reason"] = reason.into();
    }
    answer
}

/// SHA-256 of a text with LF endings and without BOM.
pub fn hash(text: &str) -> String {
    let plain = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let digest = Sha256::digest(plain.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The document's text after an edit, if all of it can be made.
fn edited(document: &Document, params: &Value) -> Result<String, String> {
    if params["version"] != document.version {
        return Err(format!("the buffer is at version {}", document.version));
    }
    if params["hash"] != hash(&document.text) {
        return Err("the buffer holds another text".to_owned());
    }
    let ending = match document.text.find('\n') {
        Some(at) if document.text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    };
    let plain = document.text.replace("\r\n", "\n");
    let mut lines: Vec<&str> = plain.split('\n').collect();
    let mut newline = lines.last() == Some(&"");
    if newline || plain.is_empty() {
        lines.pop();
    }
    let mut out: Vec<&str> = Vec::new();
    let mut done = 0;
    for edit in params["edits"].as_array().into_iter().flatten() {
        let start = edit["startLine"].as_u64().unwrap_or(u64::MAX) as usize;
        let old = texts(&edit["oldLines"]);
        let kept = lines
            .get(done..start)
            .ok_or("edits overlap or lie outside")?;
        out.extend(kept);
        if lines.get(start..start + old.len()) != Some(&old[..]) {
            return Err(format!("line {start} is not what the edit says"));
        }
        out.extend(texts(&edit["newLines"]));
        done = start + old.len();
        if let Some(ends) = edit["finalNewline"].as_bool() {
            newline = ends;
        }
    }
    out.extend(&lines[done..]);
    let mut text = out.join(ending);
    if newline && !out.is_empty() {
        text.push_str(ending);
    }
    Ok(text)
}

fn texts(value: &Value) -> Vec<&str> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).collect()
}

/// The smallest change from one text to another, in UTF-16 positions.
fn change(old: &str, new: &str) -> Value {
    let same = |(a, b): &(char, char)| a == b;
    let before: usize = old
        .chars()
        .zip(new.chars())
        .take_while(same)
        .map(|(c, _)| c.len_utf8())
        .sum();
    let (old_rest, new_rest) = (&old[before..], &new[before..]);
    let behind: usize = old_rest
        .chars()
        .rev()
        .zip(new_rest.chars().rev())
        .take_while(same)
        .map(|(c, _)| c.len_utf8())
        .sum();
    // A change that begins or ends inside a CRLF has no position: take the whole text then.
    let end = old.len() - behind;
    let splits = |at: usize| old[..at].ends_with('\r') && old[at..].starts_with('\n');
    if splits(before) || splits(end) {
        return json!({ "text": new });
    }
    json!({
        "range": { "start": position(old, before), "end": position(old, end) },
        "text": new_rest[..new_rest.len() - behind],
    })
}

/// The LSP position of a byte offset, in UTF-16 units.
pub fn position(text: &str, at: usize) -> Value {
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count();
    let character = before[line_start..].encode_utf16().count();
    json!({ "line": line, "character": character })
}

/// The file URI of a path, as editors spell it.
pub fn uri_of(path: &std::path::Path) -> String {
    let mut uri = "file://".to_owned();
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

//! Keeps every message below the protocol's size: a larger payload is cut, and the whole is kept
//! here under a reference that `call/output` pages (spec: protocol.md).

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{json, Value};
use toolgate_protocol::render::{Content, Diff, Payload};
use toolgate_protocol::requests::OutputPage;

use crate::crew::bound::{head, size};

/// Largest payload that is sent whole, in bytes of JSON; leaves room for the rest of a message.
const WHOLE: usize = 40 * 1024;

/// What is shown of a larger one, in bytes of JSON.
const SHOWN: usize = 16 * 1024;

/// What a part of `call/get` may take, in bytes of JSON.
const PART: usize = 6 * 1024;

/// Size of a page, in bytes of JSON.
const PAGE: usize = 24 * 1024;

/// The payloads that were too large to send.
#[derive(Debug, Default)]
pub struct Contents {
    kept: BTreeMap<String, Kept>,
}

/// Where a whole text is.
#[derive(Debug)]
enum Kept {
    /// Here.
    Text(Arc<str>),
    /// In a file of the session.
    File(PathBuf),
}

impl Contents {
    /// A content that fits: the payload itself, or its beginning and a reference named `name`.
    pub fn fit(&mut self, name: &str, payload: Payload) -> Content {
        if size(&payload) <= WHOLE {
            return Content::whole(payload);
        }
        let text = plain(&payload);
        let mut payload = cut(payload);
        if size(&payload) > WHOLE {
            payload = Payload::Fallback {
                text: beginning(&text),
            };
        }
        let total = self.keep(name, text);
        Content {
            payload,
            content_ref: Some(name.to_owned()),
            total_bytes: Some(total),
        }
    }

    fn keep(&mut self, name: &str, text: String) -> u32 {
        let total = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let kept = Kept::Text(Arc::from(text));
        self.kept.insert(name.to_owned(), kept);
        total
    }

    /// Refers a content to the file that holds the whole of it, where there is one.
    pub fn refer(&mut self, name: &str, file: Option<PathBuf>, content: &mut Content) {
        let Some(file) = file else { return };
        let Ok(about) = file.metadata() else { return };
        self.kept.insert(name.to_owned(), Kept::File(file));
        content.content_ref = Some(name.to_owned());
        content.total_bytes = Some(u32::try_from(about.len()).unwrap_or(u32::MAX));
    }

    /// A JSON value that fits beside others, or a reference to it.
    pub fn fit_value(&mut self, name: &str, value: &Value) -> Value {
        if size(value) <= PART {
            return value.clone();
        }
        let total = self.keep(name, format!("{value:#}"));
        json!({ "contentRef": name, "totalBytes": total })
    }

    /// A text that fits beside others; a cut one names the reference to the whole.
    pub fn fit_text(&mut self, name: &str, text: &str) -> String {
        let start = head(text, PART);
        if start.len() == text.len() {
            return text.to_owned();
        }
        let total = self.keep(name, text.to_owned());
        format!("{start}\n[Cut here: {total} bytes in all, contentRef {name}]")
    }

    /// A page of a kept text, from a byte offset that is moved back to a character's start.
    pub fn page(&self, name: &str, offset: u32) -> Option<OutputPage> {
        let text = match self.kept.get(name)? {
            Kept::Text(text) => text,
            Kept::File(path) => return page_of_file(path, offset).ok(),
        };
        let start = boundary(text, offset as usize);
        let end = start + head(&text[start..], PAGE).len();
        Some(OutputPage {
            text: text[start..end].to_owned(),
            next: (end < text.len()).then(|| u32::try_from(end).unwrap_or(u32::MAX)),
            total_bytes: u32::try_from(text.len()).unwrap_or(u32::MAX),
        })
    }
}

/// The nearest start of a character at or before an offset.
fn boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// A page of a file. Bytes that are no UTF-8 are shown as replacement characters; a character that
/// a page's end would cut stands on the next page.
fn page_of_file(path: &Path, offset: u32) -> std::io::Result<OutputPage> {
    let mut file = std::fs::File::open(path)?;
    let total = file.metadata()?.len();
    let start = u64::from(offset).min(total);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(PAGE as u64).read_to_end(&mut bytes)?;
    let last = start + bytes.len() as u64 == total;
    if let (false, Err(error)) = (last, std::str::from_utf8(&bytes)) {
        if error.error_len().is_none() {
            bytes.truncate(error.valid_up_to());
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let fits = head(&text, PAGE);
    // A page of many control characters is shorter; what was replaced is not counted then.
    let taken = match fits.len() == text.len() {
        true => bytes.len(),
        false => fits.len().min(bytes.len()),
    };
    let end = start + taken as u64;
    Ok(OutputPage {
        text: fits.to_owned(),
        next: (end < total).then(|| u32::try_from(end).unwrap_or(u32::MAX)),
        total_bytes: u32::try_from(total).unwrap_or(u32::MAX),
    })
}

fn beginning(text: &str) -> String {
    head(text, SHOWN).to_owned()
}

fn ending(text: &str) -> String {
    let mut start = text.len().saturating_sub(SHOWN);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    // Control characters take more room on the wire than here.
    while size(&text[start..]) > WHOLE / 2 {
        start += (text.len() - start) / 2;
        while !text.is_char_boundary(start) {
            start += 1;
        }
    }
    text[start..].to_owned()
}

fn cut(payload: Payload) -> Payload {
    match payload {
        Payload::Text { text } => Payload::Text {
            text: beginning(&text),
        },
        Payload::Markdown { text } => Payload::Markdown {
            text: beginning(&text),
        },
        Payload::Fallback { text } => Payload::Fallback {
            text: beginning(&text),
        },
        Payload::Terminal(mut terminal) => {
            terminal.command = beginning(&terminal.command);
            terminal.output = ending(&terminal.output);
            terminal.truncated = true;
            Payload::Terminal(terminal)
        }
        Payload::Diff(diff) => Payload::Diff(cut_diff(diff)),
        Payload::FileList { files, total } => Payload::FileList {
            files: files.into_iter().take(100).collect(),
            total,
        },
        Payload::Matches { matches, total } => Payload::Matches {
            matches: matches.into_iter().take(50).collect(),
            total,
        },
        Payload::Json { value } => Payload::Fallback {
            text: beginning(&format!("{value:#}")),
        },
        Payload::Image { media_type, .. } => Payload::Image {
            media_type,
            data: None,
        },
        Payload::Plan { entries } => Payload::Plan {
            entries: entries.into_iter().take(50).collect(),
        },
    }
}

/// The first hunks that fit, whole.
fn cut_diff(mut diff: Diff) -> Diff {
    let mut room = SHOWN;
    diff.hunks.retain(|hunk| {
        let fits = size(hunk) <= room;
        room = if fits { room - size(hunk) } else { 0 };
        fits
    });
    diff
}

/// The whole payload as text for a person.
pub fn plain(payload: &Payload) -> String {
    match payload {
        Payload::Text { text } | Payload::Markdown { text } | Payload::Fallback { text } => {
            text.clone()
        }
        Payload::Terminal(terminal) if terminal.output.is_empty() => terminal.command.clone(),
        Payload::Terminal(terminal) => format!("$ {}\n{}", terminal.command, terminal.output),
        Payload::Diff(diff) => plain_diff(diff),
        Payload::FileList { files, .. } => files.join("\n"),
        Payload::Matches { matches, .. } => {
            let lines = matches
                .iter()
                .map(|m| format!("{}:{}:{}", m.path, m.line, m.text));
            lines.collect::<Vec<_>>().join("\n")
        }
        Payload::Json { value } => format!("{value:#}"),
        Payload::Image { media_type, .. } => format!("[{media_type}]"),
        Payload::Plan { entries } => entries
            .iter()
            .map(|entry| entry.content.clone())
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

fn plain_diff(diff: &Diff) -> String {
    let mut text = format!("{}\n", diff.path);
    for hunk in &diff.hunks {
        text.push_str(&format!("@@ line {} @@\n", hunk.old_start + 1));
        for line in &hunk.old_lines {
            text.push_str(&format!("-{line}\n"));
        }
        for line in &hunk.new_lines {
            text.push_str(&format!("+{line}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_payload_is_paged_whole() {
        let mut contents = Contents::default();
        let text = "äöü€".repeat(30_000);
        let content = contents.fit("c1", Payload::Text { text: text.clone() });
        assert!(serde_json::to_string(&content).unwrap().len() < 64 * 1024);
        let name = content.content_ref.unwrap();
        let mut read = String::new();
        let mut next = Some(0);
        while let Some(offset) = next {
            let page = contents.page(&name, offset).unwrap();
            assert!(page.text.len() <= PAGE);
            read.push_str(&page.text);
            next = page.next;
        }
        assert_eq!(read, text);
    }

    #[test]
    fn a_small_payload_is_sent_whole() {
        let payload = Payload::Text {
            text: "hi".to_owned(),
        };
        assert_eq!(
            Contents::default().fit("c1", payload.clone()),
            Content::whole(payload)
        );
    }
}

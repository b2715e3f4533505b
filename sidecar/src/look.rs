//! Looks at files for the crew: what stands at a place as text, which version, and where a URI of
//! the editor leads. It joins the disk room and the detection of encodings; it writes nothing but
//! Toolgate's own small files.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use toolgate_core::event::Found;
use toolgate_core::place::{Aim, Kind, Place, Purpose};
use toolgate_core::text::FileText;
use toolgate_core::version::Version;

use crate::hands::decode::{self, Content};
use crate::hands::disk;

/// Larger files are not edited: they would be held in memory several times.
const MOST: u64 = 256 * 1024 * 1024;

/// What stands at a place, as text that can be edited.
pub fn found(place: &Place) -> Found {
    let loaded = match disk::load(place, MOST) {
        Ok(loaded) => loaded,
        Err(error) if error.kind == Kind::Absent => return Found::Absent,
        Err(error) => return Found::Unfit(format!("{}.", error.text)),
    };
    let encoding = match decode::detect(&loaded.bytes) {
        Content::Text(encoding) => encoding,
        Content::Image(kind) => return Found::Unfit(format!("it is an image ({kind}), no text.")),
        Content::Binary(kind) => return Found::Unfit(format!("it is no text: {kind}.")),
    };
    match FileText::decode(loaded.bytes, encoding) {
        Ok(text) => Found::Text {
            text: Arc::new(text),
            open: None,
        },
        Err(error) => Found::Unfit(error),
    }
}

/// The version that stands at a place; none where nothing or no text stands.
pub fn version(place: &Place) -> Option<Version> {
    match found(place) {
        Found::Text { text, .. } => Some(text.version()),
        Found::Absent | Found::Unfit(_) => None,
    }
}

/// Does the file hold exactly this text, line endings and BOM aside?
pub fn holds(place: &Place, text: &str) -> bool {
    version(place) == Some(FileText::from_document(text).version())
}

/// The absolute path of a `file:` URI, however the editor spells it.
pub fn path_of_uri(uri: &str) -> Result<String, String> {
    let rest = uri
        .strip_prefix("file://")
        .ok_or_else(|| format!("{uri} is no file URI"))?;
    // An authority other than the local one names another machine.
    let path = match rest.find('/') {
        Some(0) => rest,
        Some(at) if rest[..at].eq_ignore_ascii_case("localhost") => &rest[at..],
        _ => return Err(format!("{uri} is on another machine")),
    };
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next().unwrap_or(b'?'), rest.next().unwrap_or(b'?')];
        let text = std::str::from_utf8(&digits).unwrap_or("?");
        let value = u8::from_str_radix(text, 16);
        bytes.push(value.map_err(|_| format!("{uri} is not percent-encoded"))?);
    }
    String::from_utf8(bytes).map_err(|_| format!("{uri} is not valid UTF-8"))
}

/// The place of a document; a document without a file is a place of its own.
pub fn place_of_uri(uri: &str) -> Place {
    match path_of_uri(uri) {
        Ok(path) => {
            disk::resolve(
                &Aim {
                    path,
                    purpose: Purpose::Read,
                },
                "/",
                "/",
            )
            .place
        }
        Err(_) => Place::canonical(uri),
    }
}

/// Keeps a small file of Toolgate's own: owner only, replaced as a whole.
pub fn keep_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let fresh = path.with_extension(format!("new-{}", std::process::id()));
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&fresh)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&fresh, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_in_several_spellings() {
        let check = |uri, want: Option<&str>| {
            assert_eq!(path_of_uri(uri).ok().as_deref(), want, "{uri}");
        };
        check("file:///a/b%20c", Some("/a/b c"));
        check("file:///a/b c", Some("/a/b c"));
        check("file://localhost/a", Some("/a"));
        check("file:///a/%C3%BC", Some("/a/ü"));
        check("file://other/a", None);
        check("untitled:Untitled-1", None);
        check("file:///a%2", None);
    }
}

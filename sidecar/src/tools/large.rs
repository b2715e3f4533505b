//! Results that are too large for the model: written whole to the session's folder, and replaced
//! by a reference with a preview (spec: outcomes.md, "Large results").

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use toolgate_core::preview::{self, Part};

use crate::hands::disk;

/// Characters of a preview.
const PREVIEW: usize = 2_048;

/// Names that are tried for one result: a call that ran before a crash keeps its file.
const MOST_NAMES: usize = 1_000;

/// Makes the file for a call's result: its id plus an ending, never one that exists.
pub(super) fn create(folder: &Path, call: &str, ending: &str) -> io::Result<(File, PathBuf)> {
    // Ids are the core's own, but a file name is made of nothing else than these.
    let call: String = call
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        .collect();
    let mut number = 1;
    loop {
        let name = if number == 1 {
            format!("{call}.{ending}")
        } else {
            format!("{call}-{number}.{ending}")
        };
        match disk::create_private(folder, &name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < MOST_NAMES => {
                number += 1;
            }
            made => return made,
        }
    }
}

/// Writes a result aside; tells where it lies.
pub(super) fn keep(folder: &Path, call: &str, bytes: &[u8]) -> Result<String, String> {
    let made = create(folder, call, "txt").and_then(|(mut file, path)| {
        file.write_all(bytes)?;
        Ok(path)
    });
    match made {
        Ok(path) => Ok(path.to_string_lossy().into_owned()),
        Err(error) => Err(format!(
            "[The whole result could not be kept: {error}. Only the part above is there.]"
        )),
    }
}

/// The reference to a log that is kept aside. `text` is what is in memory of it.
pub(super) fn log(path: &str, bytes: u64, lines: u64, text: &str) -> String {
    let shown = preview::log(text, PREVIEW);
    with_way_on(
        path,
        preview::persisted(path, bytes, lines, Part::Ends, &shown),
    )
}

/// The reference to a list of hits or files that is kept aside.
pub(super) fn list(path: &str, text: &str) -> String {
    let shown = preview::head(text, PREVIEW);
    let lines = text.lines().count() as u64;
    let reference = preview::persisted(path, text.len() as u64, lines, Part::Head, &shown);
    with_way_on(path, reference)
}

fn with_way_on(path: &str, reference: String) -> String {
    match preview::read_on(path, true, true) {
        Some(way) => format!("{reference}\n{way}"),
        None => reference,
    }
}

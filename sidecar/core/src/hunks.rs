//! stub
use crate::edit::LineHunk;
use toolgate_protocol::render::{Diff, HunkState};
pub fn payload(
    path: &str,
    uri: Option<String>,
    version: Option<i32>,
    creates: bool,
    _h: &[LineHunk],
    _r: &[LineHunk],
    _s: HunkState,
) -> Diff {
    Diff {
        path: path.into(),
        uri,
        creates,
        version,
        hunks: vec![],
    }
}

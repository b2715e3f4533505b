//! The hands: the rooms that touch the world. A room never imports another one; whoever needs two
//! of them is a tool or the runner.
//!
//! | room | the only place that |
//! |---|---|
//! | `disk` | looks at paths, reads files and writes them |
//! | `decode` | tells what bytes are: text in some encoding, an image, something else |
//! | `process` | starts, reads and ends processes |
//! | `search` | walks folders and searches in files |
//! | `watch` | listens to changes of files |

pub mod decode;
pub mod disk;
pub mod process;
pub mod search;
pub mod watch;

use std::sync::Arc;

use toolgate_core::event::Found;
use toolgate_core::place::{Kind, Place};
use toolgate_core::text::FileText;

use decode::Content;

/// Larger files are read by windows and cannot be edited, in bytes.
pub const MOST_LOADED: u64 = 64 * 1024 * 1024;

/// What stands on disk at a place, as text: what an edit is planned on. Blocks.
pub fn look(place: &Place) -> Found {
    let bytes = match disk::load(place, MOST_LOADED) {
        Ok(loaded) => loaded.bytes,
        Err(error) if error.kind == Kind::Absent => return Found::Absent,
        Err(error) => return Found::Unfit(format!("{}.", error.text)),
    };
    match decode::detect(&bytes) {
        Content::Text(encoding) => match FileText::decode(bytes, encoding) {
            Ok(text) => Found::Text {
                text: Arc::new(text),
                open: None,
            },
            Err(why) => Found::Unfit(format!("{why}.")),
        },
        Content::Image(what) | Content::Binary(what) => {
            Found::Unfit(format!("it is no text: {what}."))
        }
    }
}

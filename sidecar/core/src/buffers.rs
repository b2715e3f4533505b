//! The mirror of the editor's open documents (spec: files.md; architecture.md, rule 4 and 13).
//!
//! It moves only by what the editor sends, in the order in which it came. Positions arrive in
//! UTF-8, UTF-16 or UTF-32 units and are clamped, never trusted: this is the one conversion.

use ropey::Rope;

use crate::document::{DocumentText, OpenDocument};
use crate::place::Place;

/// The unit of a position's `character`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, LSP's default.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

/// A position as it came: line and character, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line.
    pub line: u32,
    /// Character, in the negotiated unit.
    pub character: u32,
}

/// One change of a text as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextChange {
    /// What is replaced; none: the whole text.
    pub range: Option<(Position, Position)>,
    /// What comes.
    pub text: String,
}

/// One open document.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// The file.
    pub place: Place,
    /// Which document.
    pub document: OpenDocument,
    /// Its text.
    pub rope: Rope,
}

impl Buffer {
    /// A document that was just opened.
    pub fn new(place: Place, uri: String, version: i32, text: &str) -> Self {
        let document = OpenDocument {
            uri,
            version,
            dirty: false,
        };
        Self {
            place,
            document,
            rope: Rope::from_str(text),
        }
    }

    /// Applies changes in their order and takes the new version.
    pub fn change(&mut self, version: i32, changes: &[TextChange], unit: Unit) {
        for change in changes {
            match change.range {
                None => self.rope = Rope::from_str(&change.text),
                Some((start, end)) => {
                    let from = offset(&self.rope, start, unit);
                    let to = offset(&self.rope, end, unit).max(from);
                    // Both offsets are clamped to the text, and from <= to.
                    let _ = self.rope.try_remove(from..to);
                    let _ = self.rope.try_insert(from, &change.text);
                }
            }
        }
        self.document.version = version;
        self.document.dirty = true;
    }

    /// The document and its text; cheap.
    pub fn snapshot(&self) -> DocumentText {
        DocumentText {
            path: self.place.path().to_owned(),
            document: self.document.clone(),
            rope: self.rope.clone(),
        }
    }
}

/// The character offset of a position, clamped to the text; a position inside a surrogate pair
/// means the character's start, one behind the line's end means the line's end.
fn offset(rope: &Rope, position: Position, unit: Unit) -> usize {
    let Ok(line_start) = rope.try_line_to_char(position.line as usize) else {
        return rope.len_chars();
    };
    let Some(line) = rope.get_line(position.line as usize) else {
        return rope.len_chars();
    };
    let mut content = line.len_chars();
    while content > 0 && matches!(line.get_char(content - 1), Some('\n' | '\r')) {
        content -= 1;
    }
    let wanted = position.character as usize;
    let within = match unit {
        Unit::Utf32 => wanted,
        Unit::Utf16 if wanted >= line.len_utf16_cu() => content,
        Unit::Utf16 => line.try_utf16_cu_to_char(wanted).unwrap_or(content),
        Unit::Utf8 if wanted >= line.len_bytes() => content,
        Unit::Utf8 => line.try_byte_to_char(wanted).unwrap_or(content),
    };
    line_start + within.min(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, range: (u32, u32, u32, u32), text: &str, after: &str) {
        let mut buffer = Buffer::new(Place::canonical("/a"), "file:///a".into(), 1, before);
        let (l1, c1, l2, c2) = range;
        let range = Some((
            Position {
                line: l1,
                character: c1,
            },
            Position {
                line: l2,
                character: c2,
            },
        ));
        let change = TextChange {
            range,
            text: text.to_owned(),
        };
        buffer.change(2, &[change], Unit::Utf16);
        assert_eq!(buffer.rope.to_string(), after);
    }

    #[test]
    fn positions_are_utf16_and_clamped() {
        check("a😀b\n", (0, 3, 0, 4), "X", "a😀X\n");
        check("a😀b\n", (0, 2, 0, 4), "X", "aX\n");
        check("ab\r\ncd", (0, 9, 0, 9), "!", "ab!\r\ncd");
        check("ab\r\ncd", (0, 2, 1, 0), "", "abcd");
        check("ab", (7, 0, 9, 0), "!", "ab!");
        check("", (0, 0, 0, 0), "x", "x");
    }

    #[test]
    fn only_lf_cr_and_crlf_end_lines() {
        let buffer = Buffer::new(
            Place::canonical("/a"),
            String::new(),
            1,
            "a\u{2028}b\u{0B}c\nd",
        );
        assert_eq!(buffer.rope.len_lines(), 2);
    }
}

//! From bytes to a `FileText`, and from hunks to new bytes.
//!
//! `splice` is the only way to a file's new bytes. It copies every byte outside the replaced
//! lines, encodes the new lines alone, and then decodes what it made: bytes that do not say
//! exactly the text that was approved are never handed out. Nothing here guesses an encoding;
//! that is the disk room's.

use std::sync::Arc;

use crate::hunks::{apply, ends_with_newline, LineHunk};
use crate::text::{Encoding, Ending, FileText, Scan};

impl FileText {
    /// Reads bytes as text. Refuses what would not give the same bytes when written again.
    pub fn decode(raw: Arc<[u8]>, encoding: Encoding) -> Result<Self, String> {
        let mark = bom_of(encoding);
        let bom = !mark.is_empty() && raw.starts_with(mark);
        let start = if bom { mark.len() } else { 0 };
        let body = &raw[start..];
        let full = decode_all(body, encoding)?;
        let mut lines = Vec::new();
        let mut scan = Scan::from(start);
        match encoding {
            Encoding::Utf16Le | Encoding::Utf16Be => {
                for (index, pair) in body.chunks_exact(2).enumerate() {
                    let unit = unit_of(pair, encoding);
                    scan.unit(u32::from(unit), start + 2 * index, 2, &mut lines);
                }
            }
            Encoding::Utf8 | Encoding::Legacy(_) => {
                for (index, byte) in body.iter().enumerate() {
                    scan.unit(u32::from(*byte), start + index, 1, &mut lines);
                }
            }
        }
        scan.close(raw.len(), &mut lines);
        if lines.len() != full.split_inclusive('\n').count() {
            return Err(format!(
                "line breaks in {} are not single bytes here",
                name_of(encoding)
            ));
        }
        Ok(Self::assemble(raw, encoding, bom, &full, lines))
    }

    /// The bytes after the hunks: all bytes outside the replaced lines are as they were.
    ///
    /// A new line takes the ending of the line it replaces at that offset, else of its neighbour,
    /// else the one that most lines have. Refused: hunks that do not fit, and characters that the
    /// encoding cannot write.
    pub fn splice(&self, hunks: &[LineHunk]) -> Result<Vec<u8>, String> {
        self.fits(hunks)?;
        let mut out = Vec::with_capacity(self.raw.len());
        let mut cursor = 0;
        for (index, hunk) in hunks.iter().enumerate() {
            out.extend_from_slice(&self.raw[cursor..self.line_start(hunk.old_start)]);
            cursor = self.line_start(hunk.old_end());
            self.put_lines(hunk, index + 1 == hunks.len(), &mut out)?;
        }
        out.extend_from_slice(&self.raw[cursor..]);
        self.verify(out, hunks)
    }

    /// Refuses hunks that are out of order or whose old lines are not those of this text.
    fn fits(&self, hunks: &[LineHunk]) -> Result<(), String> {
        let mut next = 0;
        for hunk in hunks {
            let same = |(index, line): (usize, &String)| self.line(hunk.old_start + index) == line;
            if hunk.old_start < next || hunk.old_end() > self.line_count() {
                return Err(format!("hunk {} lies outside the text", hunk.id));
            }
            if !hunk.old_lines.iter().enumerate().all(same) {
                return Err(format!("hunk {} is not about this text", hunk.id));
            }
            next = hunk.old_end();
        }
        Ok(())
    }

    /// First byte of a line; the end of the bytes for the line after the last.
    fn line_start(&self, index: usize) -> usize {
        self.lines
            .get(index)
            .map_or(self.raw.len(), |line| line.start)
    }

    fn put_lines(&self, hunk: &LineHunk, last: bool, out: &mut Vec<u8>) -> Result<(), String> {
        let count = self.line_count();
        let reaches_end = last && hunk.old_end() == count;
        let open_end = count > 0 && self.ending(count - 1) == Ending::None;
        if hunk.old_start == count && open_end && !hunk.new_lines.is_empty() {
            self.put_ending(self.ending_near(count - 1), out)?;
        }
        for (index, line) in hunk.new_lines.iter().enumerate() {
            encode_into(line, self.encoding, out)?;
            let at_end = reaches_end && index + 1 == hunk.new_lines.len();
            if at_end && !ends_with_newline(!open_end, hunk) {
                continue;
            }
            let model = match hunk.old_lines.len() {
                0 => hunk.old_start.saturating_sub(1),
                old => hunk.old_start + index.min(old - 1),
            };
            self.put_ending(self.ending_near(model), out)?;
        }
        Ok(())
    }

    /// The ending for a line that stands where this one stands.
    fn ending_near(&self, index: usize) -> Ending {
        let own = self.ending(index);
        let above = || match index.checked_sub(1) {
            Some(above) => self.ending(above),
            None => Ending::None,
        };
        [own, above()]
            .into_iter()
            .find(|ending| *ending != Ending::None)
            .unwrap_or_else(|| self.main_ending())
    }

    fn put_ending(&self, ending: Ending, out: &mut Vec<u8>) -> Result<(), String> {
        match ending {
            Ending::Lf => encode_into("\n", self.encoding, out),
            Ending::CrLf => encode_into("\r\n", self.encoding, out),
            Ending::None => Ok(()),
        }
    }

    /// Reads bytes as this text was read. In an open document U+FEFF is a character.
    fn read_again(&self, bytes: &[u8]) -> Result<Self, String> {
        let as_character = !self.bom && self.raw.starts_with(bom_of(self.encoding));
        match (self.encoding, as_character) {
            (Encoding::Utf8, true) => {
                decode_all(bytes, Encoding::Utf8).map(|text| Self::from_document(&text))
            }
            _ => Self::decode(Arc::from(bytes), self.encoding),
        }
    }

    /// Hands the bytes out only when they say what the hunks say. What fails here: a new line
    /// that ends in `\r` before a bare LF, a BOM as first character of a text without one, and
    /// encodings whose state reaches over lines.
    fn verify(&self, bytes: Vec<u8>, hunks: &[LineHunk]) -> Result<Vec<u8>, String> {
        let fault = match self.read_again(&bytes) {
            Ok(made) if made.bom != self.bom => "it would begin with a byte order mark",
            Ok(made) if made.text() == apply(&self.text, hunks) => return Ok(bytes),
            Ok(_) => "a line that ends in a carriage return, or a shift state, would change others",
            Err(_) => "other lines would not be readable any more",
        };
        Err(format!(
            "the new text cannot be written in {} as it is: {fault}",
            name_of(self.encoding)
        ))
    }
}

/// The bytes of a text in an encoding, without BOM.
pub fn encode_into(text: &str, encoding: Encoding, out: &mut Vec<u8>) -> Result<(), String> {
    match encoding {
        Encoding::Utf8 => out.extend_from_slice(text.as_bytes()),
        Encoding::Utf16Le => out.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
        Encoding::Utf16Be => out.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
        Encoding::Legacy(legacy) => {
            // encoding_rs would write UTF-8 in place of these two without a word.
            if legacy.output_encoding() != legacy {
                return Err(format!("{} cannot be written", legacy.name()));
            }
            let (bytes, _, unmappable) = legacy.encode(text);
            if unmappable {
                return Err(unwritable(text, legacy));
            }
            out.extend_from_slice(&bytes);
        }
    }
    Ok(())
}

/// Names the first character that an encoding cannot write.
fn unwritable(text: &str, legacy: &'static encoding_rs::Encoding) -> String {
    let mut buffer = [0; 4];
    let culprit = text
        .chars()
        .find(|c| legacy.encode(c.encode_utf8(&mut buffer)).2);
    match culprit {
        Some(c) => format!(
            "the character \"{}\" (U+{:04X}) cannot be written in {}, the file's encoding",
            c.escape_debug(),
            u32::from(c),
            legacy.name()
        ),
        None => format!("the text cannot be written in {}", legacy.name()),
    }
}

fn decode_all(body: &[u8], encoding: Encoding) -> Result<String, String> {
    match encoding {
        Encoding::Utf8 => match std::str::from_utf8(body) {
            Ok(text) => Ok(text.to_owned()),
            Err(error) => Err(format!("not UTF-8 at byte {}", error.valid_up_to())),
        },
        Encoding::Utf16Le | Encoding::Utf16Be => {
            if !body.len().is_multiple_of(2) {
                return Err("not UTF-16: an odd number of bytes".to_owned());
            }
            let units = body.chunks_exact(2).map(|pair| unit_of(pair, encoding));
            char::decode_utf16(units)
                .collect::<Result<String, _>>()
                .map_err(|_| "not UTF-16: half of a surrogate pair".to_owned())
        }
        Encoding::Legacy(legacy) => {
            let text = legacy
                .decode_without_bom_handling_and_without_replacement(body)
                .ok_or_else(|| format!("not {}", legacy.name()))?;
            let mut again = Vec::with_capacity(body.len());
            encode_into(&text, encoding, &mut again)?;
            if again != body {
                return Err(format!(
                    "{} text that would not give the same bytes when written again",
                    legacy.name()
                ));
            }
            Ok(text.into_owned())
        }
    }
}

/// One unit of UTF-16 from two bytes.
fn unit_of(pair: &[u8], encoding: Encoding) -> u16 {
    let (first, second) = match pair {
        [first, second] => (*first, *second),
        // `chunks_exact(2)` gives nothing else.
        _ => (0, 0),
    };
    match encoding {
        Encoding::Utf16Be => u16::from_be_bytes([first, second]),
        Encoding::Utf16Le | Encoding::Utf8 | Encoding::Legacy(_) => {
            u16::from_le_bytes([first, second])
        }
    }
}

fn bom_of(encoding: Encoding) -> &'static [u8] {
    match encoding {
        Encoding::Utf8 => b"\xef\xbb\xbf",
        Encoding::Utf16Le => b"\xff\xfe",
        Encoding::Utf16Be => b"\xfe\xff",
        Encoding::Legacy(_) => b"",
    }
}

/// An encoding's name, for people and models.
pub fn name_of(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Utf8 => "UTF-8",
        Encoding::Utf16Le => "UTF-16LE",
        Encoding::Utf16Be => "UTF-16BE",
        Encoding::Legacy(legacy) => legacy.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hunks::diff;
    use proptest::prelude::*;

    const LATIN: Encoding = Encoding::Legacy(encoding_rs::WINDOWS_1252);

    fn read(bytes: &[u8], encoding: Encoding) -> Result<FileText, String> {
        FileText::decode(Arc::from(bytes), encoding)
    }

    fn edit(bytes: &[u8], encoding: Encoding, after: &str) -> Result<Vec<u8>, String> {
        let text = read(bytes, encoding)?;
        text.splice(&diff("h", text.text(), after))
    }

    #[test]
    fn bytes_become_text() {
        let check = |bytes: &[u8], encoding, want: Result<&str, &str>| {
            let got = read(bytes, encoding).map(|text| text.text().to_owned());
            assert_eq!(got.as_deref().map_err(|e| e.as_str()), want);
        };
        check(b"", Encoding::Utf8, Ok(""));
        check(b"\xef\xbb\xbf", Encoding::Utf8, Ok(""));
        check(b"\xef\xbb\xbfa\r\n", Encoding::Utf8, Ok("a\n"));
        check(b"a\xff", Encoding::Utf8, Err("not UTF-8 at byte 1"));
        check(b"\xff\xfea\0\r\0\n\0", Encoding::Utf16Le, Ok("a\n"));
        check(b"\0a\0\n\x0a\x00", Encoding::Utf16Be, Ok("a\n\u{a00}"));
        check(
            b"\0\xd8",
            Encoding::Utf16Le,
            Err("not UTF-16: half of a surrogate pair"),
        );
        check(
            b"a",
            Encoding::Utf16Le,
            Err("not UTF-16: an odd number of bytes"),
        );
        check(b"n\xe3o\r\n", LATIN, Ok("não\n"));
        let jis = Encoding::Legacy(encoding_rs::SHIFT_JIS);
        check(b"\x82\xa0\n", jis, Ok("あ\n"));
        check(b"\x82", jis, Err("not Shift_JIS"));
        let utf16 = Encoding::Legacy(encoding_rs::UTF_16LE);
        check(b"a\0", utf16, Err("UTF-16LE cannot be written"));
    }

    #[test]
    fn new_lines_take_the_ending_of_what_they_replace() {
        let check = |before: &[u8], encoding, after: &str, want: &[u8]| {
            let got = edit(before, encoding, after).unwrap();
            assert_eq!(got, want, "{:?}", String::from_utf8_lossy(&got));
        };
        check(
            b"a\r\nb\r\nc\r\n",
            Encoding::Utf8,
            "a\nB\nc\n",
            b"a\r\nB\r\nc\r\n",
        );
        check(
            b"a\nb\r\nc\n",
            Encoding::Utf8,
            "a\nX\nY\nc\n",
            b"a\nX\r\nY\r\nc\n",
        );
        check(b"a\nb\r\nc\n", Encoding::Utf8, "A\nB\nC\n", b"A\nB\r\nC\n");
        check(
            b"a\r\nb\n",
            Encoding::Utf8,
            "a\nnew\nb\n",
            b"a\r\nnew\r\nb\n",
        );
        check(b"a\r\nb", Encoding::Utf8, "a\nb\nc", b"a\r\nb\r\nc");
        check(b"a\r\nb", Encoding::Utf8, "a\nb\n", b"a\r\nb\r\n");
        check(b"a\nb\n", Encoding::Utf8, "a\nb", b"a\nb");
        check(b"a\r\nb\r\n", Encoding::Utf8, "", b"");
        check(b"", Encoding::Utf8, "x\ny", b"x\ny");
        check(b"\xef\xbb\xbf", Encoding::Utf8, "x\n", b"\xef\xbb\xbfx\n");
        check(
            b"\xef\xbb\xbfa\r\n",
            Encoding::Utf8,
            "b\n",
            b"\xef\xbb\xbfb\r\n",
        );
        check(
            b"\xff\xfea\0\r\0\n\0",
            Encoding::Utf16Le,
            "a\n\u{1f600}\n",
            b"\xff\xfea\0\r\0\n\0\x3d\xd8\x00\xde\r\0\n\0",
        );
        check(
            b"// \xe7\xe3\n:=1;\n",
            LATIN,
            "// çã\n:=2;\n",
            b"// \xe7\xe3\n:=2;\n",
        );
        check(b"a\rb\n", Encoding::Utf8, "a\rB\n", b"a\rB\n");
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        let check = |before: &[u8], encoding, after: &str, part: &str| {
            let got = edit(before, encoding, after).unwrap_err();
            assert!(got.contains(part), "{got}");
        };
        check(
            b"a\n",
            LATIN,
            "→\n",
            "\"→\" (U+2192) cannot be written in windows-1252",
        );
        check(b"a\n", Encoding::Utf8, "\u{feff}a\n", "byte order mark");
        check(b"a\n", Encoding::Utf8, "b\r\n", "carriage return");
    }

    #[test]
    fn a_mark_in_an_open_document_is_a_character() {
        let text = FileText::from_document("\u{feff}a\nb\n");
        let check = |after: &str| {
            let made = text.splice(&diff("h", text.text(), after)).unwrap();
            assert_eq!(made, after.as_bytes());
        };
        check("\u{feff}a\nB\n");
        check("\u{feff}A\nb\n");
        check("a\nb\n");
    }

    #[test]
    fn hunks_of_another_text_are_refused() {
        let text = read(b"a\nb\n", Encoding::Utf8).unwrap();
        let check = |hunks: &[LineHunk], part: &str| {
            let got = text.splice(hunks).unwrap_err();
            assert!(got.contains(part), "{got}");
        };
        check(&diff("h", "a\nx\n", "a\ny\n"), "not about this text");
        check(&diff("h", "a\nb\nc\n", "a\nb\n"), "outside");
        let mut two = diff("h", "a\nb\n", "A\nb\n");
        two.extend(two.clone());
        check(&two, "outside");
    }

    /// A line, with characters that windows-1252 has.
    fn line() -> impl Strategy<Value = String> {
        proptest::string::string_regex("[a-c é€}\t]{0,4}").unwrap()
    }

    fn file() -> impl Strategy<Value = (Vec<u8>, Encoding)> {
        let encodings = prop_oneof![
            Just(Encoding::Utf8),
            Just(Encoding::Utf16Le),
            Just(Encoding::Utf16Be),
            Just(LATIN)
        ];
        let lines = proptest::collection::vec((line(), any::<bool>()), 0..10);
        (lines, encodings, any::<bool>(), any::<bool>()).prop_map(
            |(lines, encoding, bom, newline)| {
                let mut bytes = if bom {
                    bom_of(encoding).to_vec()
                } else {
                    Vec::new()
                };
                let last = lines.len();
                for (index, (line, crlf)) in lines.iter().enumerate() {
                    encode_into(line, encoding, &mut bytes).unwrap();
                    if index + 1 < last || newline {
                        encode_into(if *crlf { "\r\n" } else { "\n" }, encoding, &mut bytes)
                            .unwrap();
                    }
                }
                (bytes, encoding)
            },
        )
    }

    proptest! {
        #[test]
        fn a_decoded_text_keeps_its_bytes((bytes, encoding) in file()) {
            let text = read(&bytes, encoding).unwrap();
            prop_assert_eq!(&text.raw()[..], &bytes[..]);
            prop_assert_eq!(text.splice(&[]).unwrap(), bytes);
            let joined: Vec<&str> = (0..text.line_count()).map(|i| text.line(i)).collect();
            let whole: Vec<&str> = crate::hunks::lines_of(text.text());
            prop_assert_eq!(joined, whole);
        }

        #[test]
        fn bytes_outside_the_replaced_lines_are_identical(
            (bytes, encoding) in file(),
            after in proptest::collection::vec(line(), 0..10),
            newline in any::<bool>(),
        ) {
            let text = read(&bytes, encoding).unwrap();
            let after = after.join("\n") + if newline { "\n" } else { "" };
            let hunks = diff("h", text.text(), &after);
            let made = text.splice(&hunks).unwrap();
            let again = read(&made, encoding).unwrap();
            prop_assert_eq!(again.text(), &after);
            // Walk both files line by line: each kept line has the same bytes, ending included.
            let span = |text: &FileText, line: usize| {
                text.raw()[text.line_start(line)..text.line_start(line + 1)].to_vec()
            };
            let (mut old, mut new) = (0, 0);
            for hunk in &hunks {
                while old < hunk.old_start {
                    prop_assert_eq!(span(&text, old), span(&again, new));
                    (old, new) = (old + 1, new + 1);
                }
                (old, new) = (old + hunk.old_lines.len(), new + hunk.new_lines.len());
            }
            while old < text.line_count() {
                prop_assert_eq!(span(&text, old), span(&again, new));
                (old, new) = (old + 1, new + 1);
            }
            prop_assert_eq!(again.bom(), text.bom());
        }
    }
}

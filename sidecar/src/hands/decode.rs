//! What bytes are: text in some encoding, an image, or something else.
//!
//! Pure. A guess is accepted only when encoding the text again gives the same bytes, so that an
//! edit can never turn a file into a mix of two encodings.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use toolgate_core::text::Encoding;

/// How many bytes are looked at when the whole is not there.
pub const SAMPLE: usize = 64 * 1024;

/// What bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text, spelt so.
    Text(Encoding),
    /// An image that models take: its media type.
    Image(&'static str),
    /// Anything else: what, for a person.
    Binary(&'static str),
}

/// Beginnings of files that are no text, and what they are.
const MAGIC: &[(&[u8], &str)] = &[
    (b"\x7fELF", "ELF program or library"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive or office document"),
    (b"\x1f\x8b", "gzip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\x00", "xz archive"),
    (b"\x28\xb5\x2f\xfd", "zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"\x00asm", "WebAssembly module"),
    (b"\xca\xfe\xba\xbe", "Java class or Mach-O program"),
    (b"\xcf\xfa\xed\xfe", "Mach-O program"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
    (b"\xff\xfe\x00\x00", "UTF-32 text, which is not supported"),
    (b"\x00\x00\xfe\xff", "UTF-32 text, which is not supported"),
];

/// Tells what a whole file is.
pub fn detect(bytes: &[u8]) -> Content {
    detect_in(bytes, true)
}

/// Tells what a file is from its first bytes; `whole` when these are all.
pub fn detect_in(bytes: &[u8], whole: bool) -> Content {
    if let Some(image) = image(bytes) {
        return Content::Image(image);
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return utf8(bytes, whole).unwrap_or(Content::Binary("damaged UTF-8 text"));
    }
    if let Some(text) = utf16(bytes) {
        return text;
    }
    let known = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic));
    // Two bytes may be a coincidence: a text that holds no NUL and is valid stays a text.
    let has_nul = bytes.contains(&0);
    if has_nul {
        return Content::Binary(known.map_or("binary data", |(_, name)| name));
    }
    if let Some((_, name)) = known.filter(|(magic, _)| *magic == b"%PDF-") {
        return Content::Binary(name);
    }
    if let Some(text) = utf8(bytes, whole) {
        return text;
    }
    if let Some((_, name)) = known {
        return Content::Binary(name);
    }
    guess(bytes, whole)
}

fn utf8(bytes: &[u8], whole: bool) -> Option<Content> {
    match std::str::from_utf8(bytes) {
        Ok(_) => Some(Content::Text(Encoding::Utf8)),
        // A sample may end within a character.
        Err(error) if !whole && error.error_len().is_none() => Some(Content::Text(Encoding::Utf8)),
        Err(_) => None,
    }
}

fn utf16(bytes: &[u8]) -> Option<Content> {
    // FF FE 00 00 is UTF-32.
    let little = bytes.starts_with(b"\xff\xfe") && !bytes.starts_with(b"\xff\xfe\x00\x00");
    if little {
        return Some(Content::Text(Encoding::Utf16Le));
    }
    let big = bytes.starts_with(b"\xfe\xff");
    big.then_some(Content::Text(Encoding::Utf16Be))
}

fn guess(bytes: &[u8], whole: bool) -> Content {
    let control = |byte: &u8| matches!(byte, 0x01..=0x08 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    // Text of any legacy encoding has next to none of these.
    if bytes.iter().filter(|byte| control(byte)).count() * 100 > bytes.len() {
        return Content::Binary("binary data");
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, whole);
    let encoding = detector.guess(None, Utf8Detection::Deny);
    let (text, _, malformed) = encoding.decode(bytes);
    if malformed && whole {
        return Content::Binary("binary data, or text of an unknown encoding");
    }
    let (again, written, unwritable) = encoding.encode(&text);
    let same = written == encoding && !unwritable && again == bytes;
    if same || !whole {
        Content::Text(Encoding::Legacy(encoding))
    } else {
        Content::Binary("binary data, or text of an unknown encoding")
    }
}

/// The media type of an image that models take, by its first bytes.
fn image(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some("image/png");
    }
    if bytes.starts_with(b"\xff\xd8\xff") {
        return Some("image/jpeg");
    }
    let gif = bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a");
    if gif && bytes.contains(&0) {
        return Some("image/gif");
    }
    let webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    webp.then_some("image/webp")
}

/// A decoder for reading a file piece by piece.
pub fn decoder(encoding: Encoding) -> encoding_rs::Decoder {
    match encoding {
        Encoding::Utf8 => encoding_rs::UTF_8.new_decoder_with_bom_removal(),
        Encoding::Utf16Le => encoding_rs::UTF_16LE.new_decoder_with_bom_removal(),
        Encoding::Utf16Be => encoding_rs::UTF_16BE.new_decoder_with_bom_removal(),
        Encoding::Legacy(encoding) => encoding.new_decoder_without_bom_handling(),
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes in base64, padded.
pub fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            if place <= chunk.len() {
                let index = (group >> (18 - 6 * place)) & 63;
                // Masked to 6 bits: always within the 64 letters.
                out.push(char::from(ALPHABET[index as usize]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_told_in_order() {
        let check = |bytes: &[u8], want: Content| assert_eq!(detect(bytes), want, "{bytes:?}");
        let latin = Content::Text(Encoding::Legacy(encoding_rs::WINDOWS_1252));
        check(b"", Content::Text(Encoding::Utf8));
        check(b"plain\n", Content::Text(Encoding::Utf8));
        check("\u{feff}é".as_bytes(), Content::Text(Encoding::Utf8));
        check(b"\xff\xfea\0", Content::Text(Encoding::Utf16Le));
        check(b"\xfe\xff\0a", Content::Text(Encoding::Utf16Be));
        check(b"// configura\xe7\xe3o da caixa\nx:=1;\n", latin);
        check(
            b"\x7fELF\0\0\0\x01\xff",
            Content::Binary("ELF program or library"),
        );
        check(b"a\0b", Content::Binary("binary data"));
        check(b"\x89PNG\r\n\x1a\n....", Content::Image("image/png"));
        check(
            b"GIF89a is how a text may begin",
            Content::Text(Encoding::Utf8),
        );
        check(b"BZh is no archive", Content::Text(Encoding::Utf8));
    }

    #[test]
    fn base64_pads() {
        let check = |bytes: &[u8], want| assert_eq!(base64(bytes), want);
        check(b"", "");
        check(b"f", "Zg==");
        check(b"fo", "Zm8=");
        check(b"foo", "Zm9v");
        check(b"\xff\xfe\xfd\xfc", "//79/A==");
    }
}

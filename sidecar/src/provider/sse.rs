//! Server-sent events out of bytes that were split anywhere.
//!
//! Pure and incremental: the same bytes give the same events, however they are cut. It must never
//! hold more than the cap, never give an event that its blank line has not closed, and never
//! replace what is not UTF-8: a mended byte could end up in a file.

/// Most bytes of one event, its names and line ends included.
pub const EVENT_CAP: usize = 16 * 1024 * 1024;

/// The mark that may stand before the first line.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// Its type; empty when none was given.
    pub name: String,
    /// Its data; lines are joined by `\n`.
    pub data: String,
}

/// Why a stream can be read no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// One event passes the cap.
    #[error("an event is larger than {EVENT_CAP} bytes")]
    TooLarge,
    /// A line is not UTF-8.
    #[error("the stream is not UTF-8")]
    NotUtf8,
}

/// Reads events; feed it with `push`.
#[derive(Clone, Debug, Default)]
pub struct SseParser {
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// True when a `\n` would belong to the line end before it.
    after_cr: bool,
    /// True when the first line is over.
    begun: bool,
    event: SseEvent,
    /// True when the event has a data line, perhaps an empty one.
    has_data: bool,
    /// Bytes of the event so far.
    size: usize,
}

impl SseParser {
    /// Nothing read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads more bytes; `events` gets what became whole, also before an error.
    pub fn push(&mut self, mut bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), SseError> {
        while let Some(&first) = bytes.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            let (part, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            self.size += part.len();
            if self.size > EVENT_CAP {
                return Err(SseError::TooLarge);
            }
            let Some(&ended_by) = rest.first() else {
                self.line.extend_from_slice(part);
                return Ok(());
            };
            self.after_cr = ended_by == b'\r';
            bytes = &rest[1..];
            if self.line.is_empty() {
                self.end_line(part, events)?;
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(part);
                self.end_line(&line, events)?;
            }
        }
        Ok(())
    }

    fn end_line(&mut self, line: &[u8], events: &mut Vec<SseEvent>) -> Result<(), SseError> {
        let line = if std::mem::replace(&mut self.begun, true) {
            line
        } else {
            line.strip_prefix(BOM).unwrap_or(line)
        };
        if line.is_empty() {
            self.size = 0;
            let event = std::mem::take(&mut self.event);
            // By the standard, an event without a data line is none.
            if std::mem::take(&mut self.has_data) {
                events.push(event);
            }
            return Ok(());
        }
        let line = std::str::from_utf8(line).map_err(|_| SseError::NotUtf8)?;
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            // Comments have no name; `id` and `retry` are for reconnecting, which is not ours.
            _ => {
                // Keep-alive comments would otherwise add up to the cap between two events.
                if !self.has_data && self.event.name.is_empty() {
                    self.size = 0;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> (Vec<(String, String)>, Option<SseError>) {
        let mut parser = SseParser::new();
        let mut events = Vec::new();
        let error = pieces
            .iter()
            .find_map(|piece| parser.push(piece, &mut events).err());
        let events = events.into_iter().map(|e| (e.name, e.data)).collect();
        (events, error)
    }

    /// What stands in a stream, and name and data of the events in it.
    type Case = (&'static [u8], &'static [(&'static str, &'static str)]);

    const CORPUS: &[Case] = &[
        (
            b"event: a\ndata: 1\n\ndata: 2\n\n",
            &[("a", "1"), ("", "2")],
        ),
        (
            b"event: a\r\ndata: 1\r\n\r\ndata:2\r\n\r\n",
            &[("a", "1"), ("", "2")],
        ),
        (
            b"event: a\rdata: 1\r\rdata:  2\r\r",
            &[("a", "1"), ("", " 2")],
        ),
        (
            b"data: 1\r\n\ndata: 2\n\r\ndata: 3\r\n\r",
            &[("", "1"), ("", "2"), ("", "3")],
        ),
        (
            b"\xEF\xBB\xBFdata: bom\n\n\xEF\xBB\xBFdata: none\n\n",
            &[("", "bom")],
        ),
        (b"\xEF\xBB\xBF\n\ndata: x\n\n", &[("", "x")]),
        (
            b": ping\n\n:\n\ndata: x\n: within\ndata: y\n\n",
            &[("", "x\ny")],
        ),
        (b"data\n\ndata:\ndata:\n\n", &[("", ""), ("", "\n")]),
        (
            b"event: lost\n\nid: 7\nretry: 9\nfoo: bar\nfoo\ndata: x\n\n",
            &[("", "x")],
        ),
        (
            "event: é\ndata: 日本 \u{1F600}\u{2028}z\n\n".as_bytes(),
            &[("é", "日本 \u{1F600}\u{2028}z")],
        ),
        (b"data: a: b\ndata:c:d\n\n", &[("", "a: b\nc:d")]),
        (b"data: whole\n\ndata: never closed\n", &[("", "whole")]),
        (b"event: a\nevent: b\ndata: x\n\n", &[("b", "x")]),
        (b"\n\n\r\r\r\n\r\ndata: x\n\n", &[("", "x")]),
        (b"data: nul \0 within\n\n", &[("", "nul \0 within")]),
        (b"", &[]),
    ];

    #[test]
    fn every_split_gives_the_same_events() {
        let mut splits = 0;
        for (bytes, wanted) in CORPUS {
            let wanted: Vec<_> = wanted
                .iter()
                .map(|(name, data)| (String::from(*name), String::from(*data)))
                .collect();
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(
                read(&single),
                (wanted.clone(), None),
                "{bytes:?} byte by byte"
            );
            for first in 0..=bytes.len() {
                for second in first..=bytes.len() {
                    let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                    let text = String::from_utf8_lossy(bytes);
                    assert_eq!(
                        read(&pieces),
                        (wanted.clone(), None),
                        "{text:?} {first} {second}"
                    );
                    splits += 1;
                }
            }
        }
        assert!(splits > 5_000, "{splits}");
    }

    #[test]
    fn any_bytes_are_read_the_same_way_however_split() {
        // A small generator of its own: the same bytes in every run.
        let mut seed = 0x2545_F491_4F6C_DD1D_u64;
        let mut next = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        let words: &[&[u8]] = &[
            b"data: ",
            b"event:",
            b"\n",
            b"\r",
            b"\r\n",
            b":",
            b" ",
            b"x",
            b"\xEF\xBB\xBF",
            b"\xC3\xA9",
            b"\xFF",
            b"\0",
        ];
        for _ in 0..2_000 {
            let count = next() % 24;
            let bytes: Vec<u8> = (0..count)
                .flat_map(|_| words[next() as usize % words.len()].iter().copied())
                .collect();
            let whole = read(&[&bytes]);
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(read(&single), whole, "{bytes:?}");
        }
    }

    #[test]
    fn caps_and_encoding_are_errors_after_whole_events() {
        let (events, error) = read(&[b"data: x\n\ndata: \xFF\n\n"]);
        assert_eq!((events.len(), error), (1, Some(SseError::NotUtf8)));
        let long = vec![b'x'; EVENT_CAP / 2];
        let (events, error) = read(&[b"data: x\n\ndata:", &long, b"\ndata:", &long]);
        assert_eq!((events.len(), error), (1, Some(SseError::TooLarge)));
        let (events, error) = read(&[
            b"data:",
            &long,
            b"\n\ndata:",
            &long,
            b"\n\n:",
            &long,
            b"\n:",
            &long,
        ]);
        assert_eq!((events.len(), error), (2, None));
    }
}

//! What a process prints, in bounded memory: the first and the last bytes of both streams in
//! order of arrival, and everything in a spill file once that is more (spec: architecture.md,
//! rule 11). Constant work a chunk.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

/// Bytes kept from the beginning.
const HEAD: usize = 128 * 1024;

/// Bytes kept from the end.
const TAIL: usize = 128 * 1024;

/// Bytes kept for progress.
const NEWEST: usize = 2 * 1024;

/// Where a chunk came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Bytes of one stream that came together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Where they came from.
    pub stream: Stream,
    /// They.
    pub bytes: Vec<u8>,
}

/// Makes the spill file when it is needed.
pub type SpillMaker = Box<dyn FnOnce() -> io::Result<(File, PathBuf)> + Send>;

/// What a process printed.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// The first chunks.
    pub head: Vec<Chunk>,
    /// Bytes between `head` and `tail` that are not in memory.
    pub left_out: u64,
    /// The last chunks; empty when `head` is all.
    pub tail: Vec<Chunk>,
    /// All bytes.
    pub total: u64,
    /// All line ends.
    pub lines: u64,
    /// Where the whole lies, when not all is in memory.
    pub spilled: Option<PathBuf>,
    /// Bytes that are in no file either: past the cap, or the file could not be written.
    pub lost: u64,
    /// Why the spill file could not be written.
    pub spill_error: Option<String>,
}

impl Output {
    /// All chunks in memory, in order of arrival.
    pub fn chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.head.iter().chain(&self.tail)
    }

    /// The text in order of arrival; a gap is marked.
    pub fn text(&self) -> String {
        self.render(|_| true)
    }

    /// The text of one stream; a gap is marked.
    pub fn of(&self, stream: Stream) -> String {
        self.render(|chunk| chunk == stream)
    }

    fn render(&self, wanted: impl Fn(Stream) -> bool) -> String {
        let mut head = Decoder::default();
        for chunk in self.head.iter().filter(|chunk| wanted(chunk.stream)) {
            head.push(chunk);
        }
        if self.left_out == 0 {
            for chunk in self.tail.iter().filter(|chunk| wanted(chunk.stream)) {
                head.push(chunk);
            }
            return head.finish(true);
        }
        let mut tail = Decoder::default();
        for chunk in self.tail.iter().filter(|chunk| wanted(chunk.stream)) {
            tail.push(chunk);
        }
        // What the cut tore apart is left out on both sides.
        let before = head.finish(false);
        let after = tail.finish(true);
        let after = after.trim_start_matches(char::REPLACEMENT_CHARACTER);
        format!(
            "{before}\n[... {} bytes left out ...]\n{after}",
            self.left_out
        )
    }
}

/// Decodes chunks of two interleaved streams; a character may be split between two chunks of one.
#[derive(Default)]
struct Decoder {
    text: String,
    rest: [Vec<u8>; 2],
}

impl Decoder {
    fn push(&mut self, chunk: &Chunk) {
        let rest = match chunk.stream {
            Stream::Out => &mut self.rest[0],
            Stream::Err => &mut self.rest[1],
        };
        let mut bytes = std::mem::take(rest);
        bytes.extend_from_slice(&chunk.bytes);
        let torn = torn_at(&bytes);
        *rest = bytes.split_off(torn);
        self.text.push_str(&String::from_utf8_lossy(&bytes));
    }

    fn finish(mut self, with_rest: bool) -> String {
        for rest in self.rest.iter().filter(|_| with_rest) {
            self.text.push_str(&String::from_utf8_lossy(rest));
        }
        self.text
    }
}

/// Where an unfinished character at the end begins; the length when there is none.
fn torn_at(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let at = bytes.len() - back;
        // `at` is below the length by construction.
        let byte = bytes[at];
        let width = match byte {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => continue,
            _ => return bytes.len(),
        };
        return if width > back { at } else { bytes.len() };
    }
    bytes.len()
}

/// Collects chunks as they come.
pub(super) struct Collector {
    output: Output,
    head_bytes: usize,
    tail: VecDeque<Chunk>,
    tail_bytes: usize,
    newest: Vec<u8>,
    maker: Option<SpillMaker>,
    file: Option<File>,
    cap: u64,
}

impl Collector {
    pub(super) fn new(maker: SpillMaker, cap: u64) -> Self {
        Self {
            output: Output::default(),
            head_bytes: 0,
            tail: VecDeque::new(),
            tail_bytes: 0,
            newest: Vec::new(),
            maker: Some(maker),
            file: None,
            cap,
        }
    }

    /// Takes bytes of one stream.
    pub(super) fn take(&mut self, stream: Stream, bytes: &[u8]) {
        let held = (self.head_bytes + self.tail_bytes) as u64;
        if self.maker.is_some() && held + bytes.len() as u64 > (HEAD + TAIL) as u64 {
            self.open_spill();
        }
        if self.maker.is_none() {
            self.spill(bytes);
        }
        self.output.total += bytes.len() as u64;
        self.output.lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        let room = HEAD - self.head_bytes;
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        if !first.is_empty() {
            self.head_bytes += first.len();
            append(&mut self.output.head, stream, first);
        }
        if !rest.is_empty() {
            self.tail_bytes += rest.len();
            match self.tail.back_mut() {
                Some(last) if last.stream == stream && last.bytes.len() < TAIL / 8 => {
                    last.bytes.extend_from_slice(rest);
                }
                _ => self.tail.push_back(Chunk {
                    stream,
                    bytes: rest.to_vec(),
                }),
            }
            self.trim();
        }
        self.newest.extend_from_slice(tail_of(bytes, NEWEST));
        let surplus = self.newest.len().saturating_sub(NEWEST);
        self.newest.drain(..surplus);
    }

    fn trim(&mut self) {
        while self.tail_bytes > TAIL {
            let Some(first) = self.tail.front_mut() else {
                return;
            };
            let surplus = self.tail_bytes - TAIL;
            let gone = if first.bytes.len() <= surplus {
                let gone = first.bytes.len();
                self.tail.pop_front();
                gone
            } else {
                first.bytes.drain(..surplus);
                surplus
            };
            self.tail_bytes -= gone;
            self.output.left_out += gone as u64;
        }
    }

    fn open_spill(&mut self) {
        let Some(maker) = self.maker.take() else {
            return;
        };
        match maker() {
            Ok((file, path)) => {
                self.file = Some(file);
                self.output.spilled = Some(path);
            }
            Err(error) => self.output.spill_error = Some(error.to_string()),
        }
        // Until now everything is in memory, in order.
        let held: Vec<Chunk> = self.output.head.drain(..).collect();
        for chunk in &held {
            self.spill(&chunk.bytes);
        }
        self.output.head = held;
        let held = std::mem::take(&mut self.tail);
        for chunk in &held {
            self.spill(&chunk.bytes);
        }
        self.tail = held;
    }

    fn spill(&mut self, bytes: &[u8]) {
        let room = usize::try_from(self.cap).unwrap_or(usize::MAX);
        let (kept, lost) = bytes.split_at(room.min(bytes.len()));
        self.output.lost += lost.len() as u64;
        self.cap -= kept.len() as u64;
        let Some(file) = &mut self.file else {
            self.output.lost += kept.len() as u64;
            return;
        };
        if let Err(error) = file.write_all(kept) {
            // A full disk must not stop the command; what is lost is said.
            self.output.spill_error = Some(error.to_string());
            self.output.lost += kept.len() as u64;
            self.file = None;
        }
    }

    /// The newest bytes as text, for progress.
    pub(super) fn newest(&self) -> String {
        String::from_utf8_lossy(&self.newest)
            .trim_start_matches(char::REPLACEMENT_CHARACTER)
            .to_owned()
    }

    pub(super) fn total(&self) -> u64 {
        self.output.total
    }

    pub(super) fn finish(mut self) -> Output {
        self.output.tail = self.tail.into();
        self.output
    }
}

fn append(chunks: &mut Vec<Chunk>, stream: Stream, bytes: &[u8]) {
    match chunks.last_mut() {
        Some(last) if last.stream == stream => last.bytes.extend_from_slice(bytes),
        _ => chunks.push(Chunk {
            stream,
            bytes: bytes.to_vec(),
        }),
    }
}

fn tail_of(bytes: &[u8], most: usize) -> &[u8] {
    &bytes[bytes.len().saturating_sub(most)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(chunks: &[(Stream, &[u8])]) -> Output {
        let maker: SpillMaker = Box::new(|| Err(io::Error::other("no spill here")));
        let mut collector = Collector::new(maker, u64::MAX);
        for (stream, bytes) in chunks {
            collector.take(*stream, bytes);
        }
        collector.finish()
    }

    #[test]
    fn a_character_may_be_split_between_chunks() {
        let output = collect(&[
            (Stream::Out, b"a\xe2\x9c"),
            (Stream::Err, b"!"),
            (Stream::Out, b"\x93b"),
        ]);
        assert_eq!(output.text(), "a!\u{2713}b");
        assert_eq!(output.of(Stream::Out), "a\u{2713}b");
        assert_eq!(output.of(Stream::Err), "!");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(
            collect(&[(Stream::Out, b"a\xffb\xe2")]).text(),
            "a\u{fffd}b\u{fffd}"
        );
    }

    #[test]
    fn memory_is_bounded_and_cuts_tear_no_character() {
        let piece = "\u{2713}\u{1f30d}".repeat(1_000);
        let chunk: (Stream, &[u8]) = (Stream::Out, piece.as_bytes());
        let output = collect(&vec![chunk; 200]);
        let held: usize = output.chunks().map(|chunk| chunk.bytes.len()).sum();
        assert!(held <= HEAD + TAIL);
        assert_eq!(output.total, 200 * piece.len() as u64);
        assert_eq!(output.left_out + held as u64, output.total);
        assert_eq!(
            output.lost, output.total,
            "there is no spill file in this test"
        );
        assert!(!output.text().contains(char::REPLACEMENT_CHARACTER));
    }
}

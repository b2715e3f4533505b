//! `Read`: a file as the person sees it, with line numbers; the open document before the disk.
//!
//! It never shows a line without its number, never opens what is no regular file, and never loads
//! a file that is too large: of such a one it reads the window asked for.

use std::io::Read as _;

use serde_json::{json, Value};
use toolgate_core::command::Task;
use toolgate_core::definition::{Access, CallKind, Definition, Effects, Face};
use toolgate_core::outcome::{Effect, ImageData, Raw};
use toolgate_core::place::{Aim, Kind, PathAnswer, Purpose};
use toolgate_core::text::{Encoding, FileText};
use toolgate_protocol::render::Payload;

use super::window::{self, Wanted, Window};
use super::{first_answer, nearby, open_document, places, text, Context};
use crate::hands::decode::{self, Content, SAMPLE};
use crate::hands::disk;

/// Larger files are read by windows. They never count as seen, so they cannot be edited either.
const MOST_LOADED: u64 = 64 * 1024 * 1024;

/// Larger images are refused by providers.
const MOST_IMAGE: u64 = 3_750_000;

/// Larger images go to the editor as a mark only.
const MOST_IMAGE_SHOWN: usize = 40_000;

/// The tool.
pub struct Read;

const DESCRIPTION: &str = "\
Shows a file: text with line numbers (number, tab, line), or an image (PNG, JPEG, GIF, WebP). \
Shows what the person sees: unsaved changes of an open document included, which the result then \
says. Read a file before you change it with Edit or Write.

- By default up to 2,000 lines from the beginning. Use offset and limit for a part of a longer \
file; several Reads of an unchanged file add up.
- At most 2,000 characters of a line are shown, the rest is cut and marked; column moves that \
window.
- At most 100,000 characters in all. A larger window is refused, and the answer names one that \
fits.
- Line numbers and the tab behind them are no part of the file.
- A directory, a binary file or a missing path is an error that says what stands there.";

impl Face for Read {
    fn definition(&self) -> Definition {
        Definition {
            name: "Read".to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "file_path": {
                        "type": "string",
                        "description": "The file, absolute or relative to the working directory.",
                    },
                    "offset": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 4_294_967_295_u32,
                        "description": "First line, counted from 1.",
                    },
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 4_294_967_295_u32,
                        "description": "Most lines; 2,000 by default.",
                    },
                    "column": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 4_294_967_295_u32,
                        "description": "First character of each line that is shown, counted \
                                        from 1; for lines longer than 2,000 characters.",
                    },
                },
                "required": ["file_path"],
                "additionalProperties": false,
            }),
        }
    }

    fn kind(&self) -> CallKind {
        CallKind::Read
    }

    fn aims(&self, input: &Value) -> Vec<Aim> {
        vec![Aim {
            path: text(input, "file_path").to_owned(),
            purpose: Purpose::Read,
        }]
    }

    fn effects(&self, _input: &Value, answers: &[PathAnswer]) -> Effects {
        Effects::reading(Access::reads(places(answers)))
    }

    fn describe(&self, input: &Value) -> String {
        let path = text(input, "file_path");
        let offset = input.get("offset").and_then(Value::as_u64);
        let limit = input.get("limit").and_then(Value::as_u64);
        match (offset, limit) {
            (None, None) => format!("Read {path}"),
            (Some(offset), None) => format!("Read {path} from line {offset}"),
            (offset, Some(limit)) => {
                let first = offset.unwrap_or(1);
                let last = first.saturating_add(limit).saturating_sub(1);
                format!("Read {path}, lines {first}-{last}")
            }
        }
    }

    fn check(&self, _input: &Value, answers: &[PathAnswer]) -> Result<(), String> {
        match answers.first() {
            Some(answer) if answer.kind == Kind::Special && !answer.open => Err(format!(
                "{} is a device, FIFO, socket or kernel file, which is never opened.",
                answer.lexical
            )),
            _ => Ok(()),
        }
    }

    fn max_result_size(&self) -> usize {
        // Refused beyond its window and never kept aside.
        usize::MAX
    }
}

/// Shows the file.
pub async fn execute(task: Task, context: &Context) -> Raw {
    let answer = match first_answer(&task) {
        Ok(answer) => answer.clone(),
        Err(raw) => return *raw,
    };
    let wanted = Wanted::of(&task.input);
    if let Some(open) = open_document(&task, &answer.place) {
        let (rope, dirty) = (open.rope.clone(), open.document.dirty);
        return super::blocking(move || {
            let file = FileText::from_document(&rope.to_string());
            let mut raw = show(&answer, &file, wanted);
            if dirty {
                let unsaved = "[This is the open document with unsaved changes, which are not on \
                               disk.]";
                let before = raw.notice.take().unwrap_or_default();
                raw.notice = Some(format!("{before}\n{unsaved}").trim_start().to_owned());
            }
            raw
        })
        .await;
    }
    let denied = context.denied.clone();
    let cancel = context.cancel.clone();
    super::blocking(move || match answer.kind {
        Kind::Absent => Raw::failed(nearby::missing(&answer, &denied), Effect::None),
        Kind::Directory => Raw::failed(nearby::directory(&answer, &denied), Effect::None),
        Kind::Special => unreadable(&answer, "it is no regular file, and is never opened"),
        Kind::File(size) if size > MOST_LOADED => {
            let stop = || cancel.is_cancelled();
            stream(&answer, wanted, &stop)
        }
        Kind::File(_) => load(&answer, wanted),
    })
    .await
}

fn unreadable(answer: &PathAnswer, why: &str) -> Raw {
    let text = format!("{} cannot be read: {why}.", answer.lexical);
    Raw::failed(text, Effect::None)
}

fn load(answer: &PathAnswer, wanted: Wanted) -> Raw {
    let loaded = match disk::load(&answer.place, MOST_LOADED) {
        Ok(loaded) => loaded,
        Err(error) => return unreadable(answer, &error.text),
    };
    let size = loaded.bytes.len();
    match decode::detect(&loaded.bytes) {
        Content::Text(encoding) => match FileText::decode(loaded.bytes, encoding) {
            Ok(file) => show(answer, &file, wanted),
            Err(why) => unreadable(answer, &why),
        },
        Content::Image(media_type) => image(answer, media_type, &loaded.bytes),
        Content::Binary(what) => binary(answer, what, size as u64),
    }
}

fn binary(answer: &PathAnswer, what: &str, size: u64) -> Raw {
    let text = format!(
        "{} is no text: {what}, {size} bytes. Its content is not shown. Use Bash with a program \
         that knows the format.",
        answer.lexical
    );
    Raw::failed(text, Effect::None)
}

fn image(answer: &PathAnswer, media_type: &str, bytes: &[u8]) -> Raw {
    let size = bytes.len() as u64;
    if size > MOST_IMAGE {
        let text = format!(
            "{} is an image ({media_type}) of {size} bytes, more than the {MOST_IMAGE} that a \
             model takes. Make a smaller one first.",
            answer.lexical
        );
        return Raw::failed(text, Effect::None);
    }
    let base64 = decode::base64(bytes);
    let structured = json!({
        "type": "image",
        "file": { "base64": base64, "type": media_type, "originalSize": size },
    });
    let data = (base64.len() <= MOST_IMAGE_SHOWN).then(|| base64.clone());
    Raw {
        images: vec![ImageData {
            media_type: media_type.to_owned(),
            base64,
        }],
        structured: Some(structured),
        payload: Some(Payload::Image {
            media_type: media_type.to_owned(),
            data,
        }),
        ..Raw::done(format!("{media_type}, {size} bytes"))
    }
}

/// The outcome for a text that is there whole.
fn show(answer: &PathAnswer, file: &FileText, wanted: Wanted) -> Raw {
    let total = file.line_count();
    if total == 0 || wanted.offset > total {
        let text = if total == 0 {
            format!("[{} exists and is empty: it has 0 lines.]", answer.lexical)
        } else {
            format!(
                "[{} has {total} lines; line {} is behind its end. Nothing is shown.]",
                answer.lexical, wanted.offset
            )
        };
        return Raw {
            structured: Some(structured(
                answer,
                &Window::new(wanted),
                wanted,
                Some(total),
            )),
            payload: Some(Payload::Text { text: text.clone() }),
            shown: vec![window::shown(&answer.place, file, Vec::new())],
            ..Raw::done(text)
        };
    }
    let made = match window::of_text(file, wanted) {
        Ok(made) => made,
        Err(refusal) => return Raw::failed(refusal, Effect::None),
    };
    let structured = structured(answer, &made, wanted, Some(total));
    let seen = window::shown(&answer.place, file, made.whole.clone());
    let summary = format!(
        "{} of {total}, from line {}",
        super::count(made.lines, "line", "lines"),
        wanted.offset
    );
    Raw {
        notice: made.notes(Some(total)),
        structured: Some(structured),
        payload: Some(Payload::Text { text: summary }),
        shown: vec![seen],
        ..Raw::done(made.numbered)
    }
}

fn structured(answer: &PathAnswer, window: &Window, wanted: Wanted, total: Option<usize>) -> Value {
    json!({
        "type": "text",
        "file": {
            "filePath": answer.lexical,
            "content": window.plain,
            "numLines": window.lines,
            "startLine": wanted.offset,
            "totalLines": total,
            "truncatedByTokenCap": false,
        },
    })
}

/// The window of a file that is too large to load: read up to the window's end and no further.
fn stream(answer: &PathAnswer, wanted: Wanted, stop: &dyn Fn() -> bool) -> Raw {
    let (mut file, size) = match disk::open(&answer.place) {
        Ok(opened) => opened,
        Err(error) => return unreadable(answer, &error.text),
    };
    let mut buffer = vec![0_u8; SAMPLE];
    let mut read = match file.read(&mut buffer) {
        Ok(read) => read,
        Err(error) => return unreadable(answer, &error.to_string()),
    };
    let sample = buffer.get(..read).unwrap_or_default();
    let encoding = match decode::detect_in(sample, false) {
        Content::Text(encoding) => encoding,
        Content::Image(what) | Content::Binary(what) => return binary(answer, what, size),
    };
    let mut reader = Reader::new(wanted, encoding);
    loop {
        let bytes = buffer.get(..read).unwrap_or_default();
        match reader.feed(bytes, read == 0) {
            Step::More => {}
            Step::Full => return Raw::failed(reader.window.too_large(), Effect::None),
            Step::Done => break,
        }
        if stop() {
            return Raw::failed("Interrupted; nothing is shown.", Effect::None);
        }
        read = match file.read(&mut buffer) {
            Ok(read) => read,
            Err(error) => return unreadable(answer, &error.to_string()),
        };
    }
    let window = reader.window;
    if window.lines == 0 {
        let text = format!("[{} ends before line {}.]", answer.lexical, wanted.offset);
        return Raw::done(text);
    }
    let structured = structured(answer, &window, wanted, None);
    let notes = window.notes(None).unwrap_or_default();
    let large = format!(
        "[The file has {size} bytes: too large to be loaded whole. Edit and Write need a file of \
         at most {MOST_LOADED} bytes.]"
    );
    Raw {
        notice: Some(format!("{notes}\n{large}")),
        structured: Some(structured),
        payload: Some(Payload::Text {
            text: super::count(window.lines, "line", "lines"),
        }),
        ..Raw::done(window.numbered)
    }
}

/// What became of a piece.
enum Step {
    /// The window goes on.
    More,
    /// It became too large.
    Full,
    /// It is complete.
    Done,
}

/// Makes a window piece by piece; holds no more of a line than is shown of it.
struct Reader {
    window: Window,
    wanted: Wanted,
    decoder: encoding_rs::Decoder,
    number: usize,
    at: usize,
    line: String,
    held: usize,
}

/// Characters of a line that are held: one more than is shown, which tells that it is cut.
const HELD: usize = toolgate_core::ledger::READ_LINE_CHARS + 1;

impl Reader {
    fn new(wanted: Wanted, encoding: Encoding) -> Self {
        Self {
            window: Window::new(wanted),
            wanted,
            decoder: decode::decoder(encoding),
            number: 1,
            at: 1,
            line: String::new(),
            held: 0,
        }
    }

    fn feed(&mut self, bytes: &[u8], last: bool) -> Step {
        let mut text = String::with_capacity(bytes.len() * 3 + 16);
        let mut rest = bytes;
        loop {
            let (result, used, _) = self.decoder.decode_to_string(rest, &mut text, last);
            rest = rest.get(used..).unwrap_or_default();
            for character in text.chars() {
                match self.take(character) {
                    Step::More => {}
                    other => return other,
                }
            }
            text.clear();
            if matches!(result, encoding_rs::CoderResult::InputEmpty) {
                break;
            }
        }
        if !last {
            return Step::More;
        }
        // The last line may have no ending.
        if self.at > 1 {
            if let Step::Full = self.end_line() {
                return Step::Full;
            }
        }
        Step::Done
    }

    fn take(&mut self, character: char) -> Step {
        if character == '\n' {
            return self.end_line();
        }
        let inside = self.number >= self.wanted.offset && self.at >= self.wanted.column;
        if inside && self.held < HELD {
            self.line.push(character);
            self.held += 1;
        }
        self.at += 1;
        Step::More
    }

    fn end_line(&mut self) -> Step {
        if self.number >= self.wanted.offset {
            let partial = self.wanted.column > 1 && self.at > 1;
            let line = self.line.strip_suffix('\r').unwrap_or(&self.line);
            if !self.window.push(self.number, line, partial) {
                return Step::Full;
            }
        }
        self.line.clear();
        self.held = 0;
        self.at = 1;
        self.number += 1;
        if self.window.lines >= self.wanted.limit {
            Step::Done
        } else {
            Step::More
        }
    }
}

//! What a command's end reads like, for the model, the panel and the SDK. Touches nothing but the
//! file that a large output is kept in.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use serde_json::{json, Value};
use toolgate_core::outcome::{Effect, Raw, Stage};
use toolgate_core::preview;
use toolgate_protocol::render::{Payload, Terminal};

use super::{count, exit_code, large, terminal};
use crate::hands::process::{End, Ended, Output, Stream};

/// Characters of a successful command's output that stand inline.
pub(super) const MOST_INLINE: usize = 30_000;

/// Characters of a failed command's output that stand inline.
const MOST_ERROR: usize = 10_000;

/// An ended command as an outcome.
pub(super) struct Report<'a> {
    /// The command line.
    pub command: &'a str,
    /// The call's id.
    pub call: &'a str,
    /// Where large results are kept.
    pub folder: PathBuf,
    /// How long it might run.
    pub timeout: Duration,
    /// True when the line was proven to only read.
    pub read_only: bool,
    /// What became of it.
    pub ended: &'a Ended,
}

impl Report<'_> {
    /// The outcome. `notes` stand behind the output, whatever becomes of it.
    pub(super) fn raw(&self, mut notes: Vec<String>) -> Raw {
        let output = &self.ended.output;
        let arrived = terminal::plain(&output.text());
        let meaning = self.meaning();
        let good = matches!(self.ended.end, End::Exited(status) if status.success());
        let failed = !good && meaning.is_none();
        let body = if failed {
            self.failure()
        } else {
            arrived.clone()
        };
        let limit = if failed { MOST_ERROR } else { MOST_INLINE };
        let large = output.left_out > 0 || body.chars().count() > limit;
        let kept = if large { self.keep(&mut notes) } else { None };
        let told = match (&kept, failed) {
            (_, false) if !large && body.trim().is_empty() => "(no output)".to_owned(),
            (_, _) if !large => body,
            (Some(path), false) => large::log(path, output.total, output.lines, &arrived),
            (None, false) => preview::log(&body, limit),
            (path, true) => {
                if let Some(path) = path {
                    notes.push(format!(
                        "[The full output, {} bytes in {}, is saved to: {path}]",
                        output.total,
                        count(output.lines as usize, "line", "lines")
                    ));
                }
                preview::bounded_error(&body)
            }
        };
        let told = match (meaning, failed) {
            (Some(meaning), false) => format!("{told}\n[Exit code 1: {meaning}.]"),
            _ => told,
        };
        let (stage, effect) = match (failed, self.read_only) {
            (true, false) => (Stage::Failed, Effect::Unknown),
            (true, true) => (Stage::Failed, Effect::None),
            (false, false) => (Stage::Done, Effect::Happened),
            (false, true) => (Stage::Done, Effect::None),
        };
        let cancelled = self.ended.end == End::Cancelled;
        Raw {
            stage,
            effect,
            structured: Some(self.structured(&arrived, meaning, kept.as_deref(), &notes)),
            payload: Some(Payload::Terminal(self.terminal())),
            notice: (!notes.is_empty()).then(|| notes.join("\n")),
            persisted: kept,
            command_failed: failed && !cancelled,
            ..Raw::done(told.trim_end())
        }
    }

    fn meaning(&self) -> Option<&'static str> {
        match self.ended.end {
            End::Exited(status) if status.code() == Some(1) => {
                exit_code::meaning_of_one(self.command)
            }
            End::Exited(_) | End::TimedOut | End::Cancelled => None,
        }
    }

    /// First why, then stderr, then stdout.
    fn failure(&self) -> String {
        let why = match self.ended.end {
            End::Exited(status) => exit_line(status),
            End::TimedOut => format!(
                "Timed out after {} ms. The command and all that it started were ended; what it \
                 had done until then is done.",
                self.timeout.as_millis()
            ),
            End::Cancelled => "Interrupted. The command and all that it started were ended; what \
                               it had done until then is done."
                .to_owned(),
        };
        let output = &self.ended.output;
        let mut text = why;
        for stream in [Stream::Err, Stream::Out] {
            let part = terminal::plain(&output.of(stream));
            if !part.trim().is_empty() {
                text.push('\n');
                text.push_str(part.trim_end());
            }
        }
        text
    }

    /// Where the whole output lies: in the spill file, or written now.
    fn keep(&self, notes: &mut Vec<String>) -> Option<String> {
        let output = &self.ended.output;
        if let Some(path) = &output.spilled {
            return Some(path.to_string_lossy().into_owned());
        }
        if output.left_out > 0 {
            // It was too large for memory and could not be spilled either: said by `told`.
            return None;
        }
        let bytes: Vec<u8> = output
            .chunks()
            .flat_map(|chunk| chunk.bytes.iter().copied())
            .collect();
        match large::keep(&self.folder, self.call, &bytes) {
            Ok(path) => Some(path),
            Err(why) => {
                notes.push(why);
                None
            }
        }
    }

    fn structured(
        &self,
        arrived: &str,
        meaning: Option<&str>,
        kept: Option<&str>,
        notes: &[String],
    ) -> Value {
        let output = &self.ended.output;
        let timed_out = self.ended.end == End::TimedOut;
        let mut value = json!({
            "stdout": preview::log(arrived, MOST_INLINE),
            "stderr": notes.join("\n"),
            "interrupted": self.ended.end == End::Cancelled,
            "isImage": false,
            "chunks": chunks(output),
        });
        let Some(fields) = value.as_object_mut() else {
            return value;
        };
        if let End::Exited(status) = self.ended.end {
            fields.insert("exitCode".to_owned(), json!(code(status)));
        }
        if timed_out {
            let ms = json!(self.timeout.as_millis() as u64);
            fields.insert("timedOutAfterMs".to_owned(), ms);
        }
        if let Some(meaning) = meaning {
            fields.insert("returnCodeInterpretation".to_owned(), json!(meaning));
        }
        if let Some(kept) = kept {
            fields.insert("persistedOutputPath".to_owned(), json!(kept));
            fields.insert("persistedOutputSize".to_owned(), json!(output.total));
        }
        value
    }

    fn terminal(&self) -> Terminal {
        let whole = terminal::coloured(&self.ended.output.text());
        let output = preview::log(&whole, MOST_INLINE);
        Terminal {
            command: self.command.to_owned(),
            truncated: self.ended.output.left_out > 0 || output != whole,
            output,
            exit_code: match self.ended.end {
                End::Exited(status) => Some(code(status)),
                End::TimedOut | End::Cancelled => None,
            },
        }
    }
}

/// The streams apart, as far as they stand inline.
fn chunks(output: &Output) -> Value {
    if output.total > MOST_INLINE as u64 {
        return json!([]);
    }
    let chunks = output.chunks().map(|chunk| {
        let stream = match chunk.stream {
            Stream::Out => "stdout",
            Stream::Err => "stderr",
        };
        json!({ "stream": stream, "text": String::from_utf8_lossy(&chunk.bytes) })
    });
    chunks.collect()
}

/// The exit code as a shell tells it: 128 and the signal's number for one that was killed.
fn code(status: ExitStatus) -> i32 {
    let killed = || status.signal().map(|signal| 128 + signal);
    status.code().or_else(killed).unwrap_or(-1)
}

fn exit_line(status: ExitStatus) -> String {
    let name = match status.signal() {
        Some(1) => " (SIGHUP)",
        Some(2) => " (SIGINT)",
        Some(6) => " (SIGABRT)",
        Some(9) => " (SIGKILL)",
        Some(11) => " (SIGSEGV)",
        Some(13) => " (SIGPIPE)",
        Some(15) => " (SIGTERM)",
        Some(_) => " (killed by a signal)",
        None => "",
    };
    format!("Exit code {}{name}", code(status))
}

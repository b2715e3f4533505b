//! A script as its author writes it: the JSON fields, checked, and turned into a `Script`.
//!
//! It must never accept a field that would then have no effect: a script that says more than is
//! played would prove less than it seems to.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::Deserialize;
use serde_json::value::RawValue;
use toolgate_core::message::quote;

use super::script::{Block, Cut, Ending, Plain, Response, Script, ScriptError, Served, Tokens};

/// Characters of a delta when the script does not say.
const DELTA: usize = 16;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenScript<'a> {
    #[serde(borrow)]
    responses: Vec<&'a RawValue>,
    #[serde(default, rename = "loop")]
    looped: bool,
}

/// The fields of the format, one to one; `Response` is the form to work with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenResponse<'a> {
    #[serde(borrow, default)]
    content: Vec<&'a RawValue>,
    stop_reason: Option<String>,
    usage: Option<Tokens>,
    #[serde(default)]
    expect: Vec<String>,
    hold: Option<String>,
    delta: Option<usize>,
    repeat: Option<u32>,
    status: Option<u16>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<String>,
    cut_after_block: Option<usize>,
    cut_in_block: Option<usize>,
    #[serde(default)]
    reset: bool,
    #[serde(default)]
    close_delimited: bool,
    #[serde(default)]
    raw_events: Vec<String>,
    broken_input: Option<String>,
    split: Option<usize>,
    #[serde(default)]
    stall: bool,
}

#[derive(Deserialize)]
struct Typed {
    r#type: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenText {
    #[serde(rename = "type")]
    _type: IgnoredAny,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenThinking {
    #[serde(rename = "type")]
    _type: IgnoredAny,
    thinking: String,
    #[serde(default)]
    signature: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCall<'a> {
    #[serde(rename = "type")]
    _type: IgnoredAny,
    id: Option<String>,
    name: String,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

impl Script {
    /// Reads a script; `vars` are the values of its placeholders.
    pub fn parse(text: &str, vars: &BTreeMap<String, String>) -> Result<Self, ScriptError> {
        let filled = fill(text, vars)?;
        read(&filled).map_err(|error| {
            // Values that were put in move the columns: the place in the text as written is
            // the one that its author can find.
            read(text).err().unwrap_or(error)
        })
    }
}

/// Reads a script whose placeholders are filled.
fn read(text: &str) -> Result<Script, ScriptError> {
    let written: WrittenScript<'_> =
        serde_json::from_str(text).map_err(|error| inner_error(text, 0, &error))?;
    let responses = written
        .responses
        .into_iter()
        .map(|response| read_response(text, response))
        .collect::<Result<_, _>>()?;
    Ok(Script {
        responses,
        looped: written.looped,
    })
}

fn read_response(text: &str, raw: &RawValue) -> Result<Response, ScriptError> {
    let written: WrittenResponse<'_> = parse_in(text, raw)?;
    let wrong = |what: &str| error_at(text, offset_of(text, raw), what.to_owned());
    let mut content = written
        .content
        .iter()
        .map(|block| read_block(text, block))
        .collect::<Result<Vec<_>, _>>()?;
    if let Some(broken) = &written.broken_input {
        let last = content.iter_mut().rev().find_map(|block| match block {
            Block::ToolUse { input, .. } => Some(input),
            Block::Text(_) | Block::Thinking { .. } | Block::Other(_) => None,
        });
        *last.ok_or_else(|| wrong("`broken_input` needs a tool_use block"))? = broken.clone();
    }
    let served = read_served(&written, &content).map_err(wrong)?;
    if written.delta == Some(0) || written.split == Some(0) || written.repeat == Some(0) {
        return Err(wrong("`delta`, `split` and `repeat` are at least 1"));
    }
    let calls = content.iter().any(|b| matches!(b, Block::ToolUse { .. }));
    let usual = if calls { "tool_use" } else { "end_turn" };
    Ok(Response {
        content,
        stop_reason: written.stop_reason.unwrap_or_else(|| usual.to_owned()),
        usage: written.usage.unwrap_or_default(),
        expect: written.expect,
        delta: written.delta.unwrap_or(DELTA),
        repeat: written.repeat.unwrap_or(1),
        served,
    })
}

/// What only a server can do; an error says which fields contradict each other.
fn read_served(written: &WrittenResponse<'_>, content: &[Block]) -> Result<Served, &'static str> {
    let cut = match (written.cut_after_block, written.cut_in_block) {
        (Some(_), Some(_)) => {
            return Err("`cut_after_block` and `cut_in_block` exclude each other")
        }
        (Some(count), None) if count > content.len() => {
            return Err("`cut_after_block` names more blocks than there are")
        }
        (None, Some(number)) if number == 0 || number > content.len() => {
            return Err("`cut_in_block` names no block: the first is 1")
        }
        (Some(count), None) => Some(Cut::AfterBlock(count)),
        (None, Some(number)) => Some(Cut::InBlock(number)),
        (None, None) => None,
    };
    let ending = match (written.reset, written.stall) {
        (true, true) => return Err("`reset` and `stall` exclude each other"),
        (true, false) if cut.is_none() => return Err("`reset` needs a place where it is cut"),
        (true, false) => Ending::Reset,
        (false, true) => Ending::Stall,
        (false, false) => Ending::Close,
    };
    let is_plain =
        written.status.is_some() || written.body.is_some() || !written.headers.is_empty();
    let streams = !content.is_empty() || cut.is_some() || !written.raw_events.is_empty();
    if is_plain && streams {
        return Err("`status`, `headers` and `body` replace the stream: no blocks beside them");
    }
    if is_plain && (written.hold.is_some() || ending != Ending::Close) {
        return Err("`hold`, `stall` and `reset` belong to a stream");
    }
    if cut.is_some() && (written.hold.is_some() || !written.raw_events.is_empty()) {
        return Err("`hold` and `raw_events` come after the blocks, where a cut stream never gets");
    }
    let name_fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if let Some(name) = &written.hold {
        if name.is_empty() || !name.chars().all(name_fits) {
            return Err("`hold` is a name of letters, digits, `.`, `_` and `-`");
        }
    }
    if !(200..=599).contains(&written.status.unwrap_or(200)) {
        return Err("`status` is between 200 and 599");
    }
    Ok(Served {
        hold: written.hold.clone(),
        plain: is_plain.then(|| Plain {
            status: written.status.unwrap_or(200),
            headers: written.headers.clone(),
            body: written.body.clone(),
        }),
        raw_events: written.raw_events.clone(),
        cut,
        ending,
        close_delimited: written.close_delimited,
        split: written.split,
    })
}

fn read_block(text: &str, raw: &RawValue) -> Result<Block, ScriptError> {
    let Typed { r#type } = parse_in(text, raw)?;
    Ok(match r#type.as_str() {
        "text" => Block::Text(parse_in::<WrittenText>(text, raw)?.text),
        "thinking" => {
            let written: WrittenThinking = parse_in(text, raw)?;
            Block::Thinking {
                thinking: written.thinking,
                signature: written.signature,
            }
        }
        "tool_use" => {
            let written: WrittenCall<'_> = parse_in(text, raw)?;
            Block::ToolUse {
                id: written.id,
                name: written.name,
                input: written.input.map_or("{}", RawValue::get).to_owned(),
            }
        }
        _ => Block::Other(raw.get().to_owned()),
    })
}

/// Parses a piece of the text; an error tells its place in the whole.
fn parse_in<'a, T: Deserialize<'a>>(text: &str, raw: &'a RawValue) -> Result<T, ScriptError> {
    serde_json::from_str(raw.get()).map_err(|error| inner_error(text, offset_of(text, raw), &error))
}

/// The place of an error inside a piece that begins at `start`.
fn inner_error(text: &str, start: usize, error: &serde_json::Error) -> ScriptError {
    let outer = error_at(text, start, String::new());
    let full = error.to_string();
    let what = full
        .rsplit_once(" at line ")
        .map_or(full.as_str(), |(what, _)| what);
    let (line, column) = match error.line() {
        // Serde knows no place when a whole value does not fit.
        0 => (outer.line, outer.column),
        1 => (outer.line, outer.column + error.column().saturating_sub(1)),
        later => (outer.line + later - 1, error.column()),
    };
    ScriptError {
        line,
        column,
        what: what.to_owned(),
    }
}

/// Replaces the placeholders. It works on the text before it is parsed: two braces in a row can
/// only stand inside a string there.
fn fill(text: &str, vars: &BTreeMap<String, String>) -> Result<String, ScriptError> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let (before, from) = rest.split_at(start);
        filled.push_str(before);
        match placeholder(from) {
            Some(name) => {
                let value = vars.get(name).ok_or_else(|| {
                    let at = text.len() - from.len();
                    error_at(text, at, format!("`{{{{{name}}}}}` has no value"))
                })?;
                let quoted = quote(value);
                filled.push_str(&quoted[1..quoted.len() - 1]);
                rest = &from[name.len() + 4..];
            }
            None => {
                filled.push('{');
                rest = &from[1..];
            }
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

/// The name in `{{name}}`, if that is how the text begins.
fn placeholder(text: &str) -> Option<&str> {
    let (name, _) = text.strip_prefix("{{")?.split_once("}}")?;
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(fits)).then_some(name)
}

/// An error at a byte of the text.
fn error_at(text: &str, offset: usize, what: String) -> ScriptError {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n');
    ScriptError {
        line,
        column: before.len() - start.map_or(0, |at| at + 1) + 1,
        what,
    }
}

/// Where a value stands in the text that it was borrowed from.
fn offset_of(text: &str, value: &RawValue) -> usize {
    (value.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

//! What is shown of a text that is too long to be shown whole (spec: outcomes.md).
//!
//! Limits are in characters. A cut never falls inside a character or an ANSI escape, and what is
//! left out is always named. Nothing here decides where the whole is kept.

use serde_json::{Map, Value};

/// Characters of an error's text that stay inline.
const ERROR_LIMIT: usize = 10_000;
/// Lines that look like errors, shown beside the head and the tail of a log.
const ERROR_LINES: usize = 20;
/// Characters of such a line.
const ERROR_LINE_CHARS: usize = 300;
/// JSON texts larger than this (in bytes) are not taken apart.
const JSON_BYTES: usize = 16 << 20;
/// How deep, and how wide, the shape of a JSON value is told.
const SHAPE_DEPTH: usize = 4;
const SHAPE_KEYS: usize = 40;
/// An ANSI escape longer than this (in bytes) is taken for text.
const ESCAPE_BYTES: usize = 4_096;

/// What part of the whole a preview shows: named in the heading that the model reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The whole.
    Whole,
    /// The beginning.
    Head,
    /// The first and the last lines, and lines that look like errors.
    Ends,
    /// The shape of a JSON value and its first elements.
    Shape,
    /// The places around search hits.
    Hits,
}

/// The end of one character, or of the whole escape that begins there.
fn escape_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let after = |at: usize| text.len().min(at);
    let limit = after(start + ESCAPE_BYTES);
    match bytes.get(start + 1) {
        // CSI: parameters up to a final byte.
        Some(b'[') => {
            let rest = bytes.get(start + 2..limit).unwrap_or_default();
            match rest.iter().position(|b| !(0x20..=0x3f).contains(b)) {
                Some(at) if (0x40..=0x7e).contains(&rest[at]) => start + 2 + at + 1,
                _ => start + 1,
            }
        }
        // OSC and other strings: up to BEL or ESC backslash.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let rest = bytes.get(start + 2..limit).unwrap_or_default();
            let ends = |at: &usize| {
                rest[*at] == 7 || (rest[*at] == 0x1b && rest.get(at + 1) == Some(&b'\\'))
            };
            match (0..rest.len()).find(ends) {
                Some(at) => start + 2 + at + if rest[at] == 7 { 1 } else { 2 },
                None => start + 1,
            }
        }
        Some(0x20..=0x7e) => start + 2,
        _ => start + 1,
    }
}

/// The escape that a byte offset lies in, as its first byte and one past its last.
fn escape_around(text: &str, at: usize) -> Option<(usize, usize)> {
    let from = at.saturating_sub(ESCAPE_BYTES);
    let window = text.as_bytes().get(from..at)?;
    let starts = window.iter().enumerate().rev();
    starts
        .filter(|(_, byte)| **byte == 0x1b)
        .take(64)
        .map(|(index, _)| (from + index, escape_end(text, from + index)))
        .filter(|(_, end)| *end > at)
        .last()
}

/// The first `limit` characters or a little less.
fn first_chars(text: &str, limit: usize) -> &str {
    let at = text.char_indices().nth(limit).map_or(text.len(), |c| c.0);
    match escape_around(text, at) {
        Some((start, _)) => &text[..start],
        None => &text[..at],
    }
}

/// The last `limit` characters or a little less.
fn last_chars(text: &str, limit: usize) -> &str {
    let Some(back) = limit.checked_sub(1) else {
        return "";
    };
    let at = text.char_indices().nth_back(back).map_or(0, |c| c.0);
    match escape_around(text, at) {
        Some((_, end)) => &text[end..],
        None => &text[at..],
    }
}

/// True when a text has at most so many characters, without counting them all.
fn fits(text: &str, limit: usize) -> bool {
    text.len() <= limit || text.chars().nth(limit).is_none()
}

/// Ends a beginning at a line's end, unless that would throw half of it away.
fn whole_lines(text: &str) -> &str {
    match text.rfind('\n') {
        Some(at) if at * 2 >= text.len() => &text[..=at],
        _ => text,
    }
}

/// Begins an end at a line's start, unless that would throw half of it away.
fn from_line(text: &str) -> &str {
    match text.find('\n') {
        Some(at) if at * 2 <= text.len() => &text[at + 1..],
        _ => text,
    }
}

/// An error's text: whole up to 10,000 characters, else its first and last 5,000 with what is
/// left out named between them.
pub fn bounded_error(text: &str) -> String {
    if fits(text, ERROR_LIMIT) {
        return text.to_owned();
    }
    let head = first_chars(text, ERROR_LIMIT / 2);
    let tail = last_chars(text, ERROR_LIMIT / 2);
    let left_out = text[head.len()..text.len() - tail.len()].chars().count();
    format!("{head}\n\n... [{left_out} characters left out] ...\n\n{tail}")
}

/// The beginning, in whole lines where that is possible.
pub fn head(text: &str, limit: usize) -> String {
    if fits(text, limit) {
        return text.to_owned();
    }
    whole_lines(first_chars(text, limit)).to_owned()
}

/// True for a line that a reader of a log looks for first.
fn looks_like_error(line: &str) -> bool {
    const SIGNS: [&str; 8] = [
        "error",
        "fail",
        "panic",
        "exception",
        "fatal",
        "traceback",
        "assert",
        "undefined",
    ];
    let start: String = first_chars(line, ERROR_LINE_CHARS).to_lowercase();
    SIGNS.iter().any(|sign| start.contains(sign))
}

/// The first and the last lines of a log, and between them lines that look like errors, with
/// their numbers: a fifth of the limit for the head, the rest for the tail, errors included.
pub fn log(text: &str, limit: usize) -> String {
    if fits(text, limit) {
        return text.to_owned();
    }
    let head = whole_lines(first_chars(text, limit / 5));
    let tail = last_chars(text, limit - limit / 5);
    let tail_from = text.len() - tail.len();
    let errors = error_lines(text, head, tail_from, limit / 5);
    // The errors' room is taken from the tail.
    let room = (limit - limit / 5).saturating_sub(errors.chars().count());
    let tail = from_line(last_chars(text, room));
    let middle = &text[head.len()..text.len() - tail.len()];
    let (chars, lines) = (middle.chars().count(), middle.matches('\n').count());
    let gap = if head.ends_with('\n') { "" } else { "\n" };
    let told = format!("{head}{gap}... [{chars} characters, {lines} line breaks left out");
    if errors.is_empty() {
        format!("{told}] ...\n{tail}")
    } else {
        format!("{told}; of these, lines that look like errors:] ...\n{errors}...\n{tail}")
    }
}

/// Lines between head and tail that look like errors.
fn error_lines(text: &str, head: &str, tail_from: usize, room: usize) -> String {
    let mut out = String::new();
    let mut found = 0;
    let mut left = room;
    let middle = text.get(head.len()..tail_from).unwrap_or_default();
    let first = head.matches('\n').count() + 1;
    for (index, line) in middle.split('\n').enumerate() {
        // Where the head ends within a line, the rest of that line is no line.
        if (index == 0 && !head.ends_with('\n')) || !looks_like_error(line) {
            continue;
        }
        let line = first_chars(line, ERROR_LINE_CHARS).trim_end();
        let told = format!("{}: {line}\n", first + index);
        let Some(rest) = left.checked_sub(told.chars().count()) else {
            break;
        };
        left = rest;
        out.push_str(&told);
        found += 1;
        if found == ERROR_LINES {
            break;
        }
    }
    out
}

/// A JSON text as JSON: its shape, then as many whole elements as fit. What is no JSON, or too
/// large to take apart, is shown by its beginning.
pub fn json(text: &str, limit: usize) -> String {
    if fits(text, limit) {
        return text.to_owned();
    }
    let parsed = (text.len() <= JSON_BYTES)
        .then(|| serde_json::from_str::<Value>(text).ok())
        .flatten();
    let Some(value) = parsed else {
        return head(text, limit);
    };
    // The shape may take half; the deepest telling that fits is taken.
    let shape = (0..=SHAPE_DEPTH)
        .rev()
        .map(|depth| shape_of(&value, depth))
        .find(|shape| size(shape) <= limit / 2)
        .unwrap_or(Value::Null);
    let frame = r#"{"shape":,"part":}"#.len();
    let room = limit.saturating_sub(size(&shape) + frame);
    let part = pruned(&value, room).unwrap_or(Value::Null);
    // Written by hand so that the shape comes first whatever order a map has.
    let whole = format!(r#"{{"shape":{shape},"part":{part}}}"#);
    if fits(&whole, limit) {
        whole
    } else {
        "null".to_owned()
    }
}

fn size(value: &Value) -> usize {
    value.to_string().chars().count()
}

/// What a value consists of: keys, lengths and kinds.
fn shape_of(value: &Value, depth: usize) -> Value {
    let text = |text: String| Value::String(text);
    match value {
        Value::Null => text("null".to_owned()),
        Value::Bool(_) => text("boolean".to_owned()),
        Value::Number(_) => text("number".to_owned()),
        Value::String(s) => text(format!("string of {} characters", s.chars().count())),
        Value::Array(items) => match items.first() {
            Some(first) if depth > 0 => {
                let mut map = Map::new();
                let key = format!("array of {}, the first", items.len());
                map.insert(key, shape_of(first, depth - 1));
                Value::Object(map)
            }
            Some(_) | None => text(format!("array of {}", items.len())),
        },
        Value::Object(fields) if depth == 0 => text(format!("object of {} keys", fields.len())),
        Value::Object(fields) => {
            let mut map = Map::new();
            for (key, value) in fields.iter().take(SHAPE_KEYS) {
                map.insert(key.clone(), shape_of(value, depth - 1));
            }
            if let Some(more @ 1..) = fields.len().checked_sub(SHAPE_KEYS) {
                map.insert("…".to_owned(), text(format!("{more} more keys")));
            }
            Value::Object(map)
        }
    }
}

/// A value cut to whole elements, at most `room` characters when written; none when nothing
/// whole fits.
fn pruned(value: &Value, room: usize) -> Option<Value> {
    match value {
        Value::Array(items) => {
            let mut left = room.checked_sub(2)?;
            let mut kept = Vec::new();
            for item in items {
                let comma = usize::from(!kept.is_empty());
                let Some(part) = left
                    .checked_sub(comma)
                    .and_then(|left| whole_or_cut(item, left))
                else {
                    break;
                };
                left = left.saturating_sub(comma + size(&part));
                let cut = part != *item;
                kept.push(part);
                if cut {
                    break;
                }
            }
            Some(Value::Array(kept))
        }
        Value::Object(fields) => {
            let mut left = room.checked_sub(2)?;
            let mut kept = Map::new();
            for (key, item) in fields {
                let name = size(&Value::String(key.clone())) + 1 + usize::from(!kept.is_empty());
                // A field that does not fit is left out; a smaller one after it may.
                let Some(part) = left
                    .checked_sub(name)
                    .and_then(|left| whole_or_cut(item, left))
                else {
                    continue;
                };
                left = left.saturating_sub(name + size(&part));
                kept.insert(key.clone(), part);
            }
            Some(Value::Object(kept))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            (size(value) <= room).then(|| value.clone())
        }
    }
}

/// An element whole when it fits, else cut when it is a container with something left in it.
fn whole_or_cut(item: &Value, room: usize) -> Option<Value> {
    if size_within(item, room) {
        return Some(item.clone());
    }
    pruned(item, room).filter(|part| match part {
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    })
}

/// True when a value, written, has at most so many characters. Stops when it has more.
fn size_within(value: &Value, room: usize) -> bool {
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            // Continuation bytes begin no character.
            let chars = bytes.iter().filter(|b| **b & 0xc0 != 0x80).count();
            self.0 = self
                .0
                .checked_sub(chars)
                .ok_or(std::io::ErrorKind::WriteZero)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    serde_json::to_writer(Counter(room), value).is_ok()
}

/// The reference that stands for a result that is kept aside, as the model knows it
/// (compat.md 2.11): path, size, and which part follows.
pub fn persisted(path: &str, bytes: u64, lines: u64, part: Part, preview: &str) -> String {
    let shown = told_size(preview.len() as u64);
    let heading = match part {
        Part::Whole => "the whole".to_owned(),
        Part::Head => format!("first {shown}"),
        Part::Ends => format!("{shown}: first and last lines"),
        Part::Shape => format!("{shown}: shape, then the first elements"),
        Part::Hits => format!("{shown}: around the hits"),
    };
    // The output must not be able to end its own wrapper.
    let preview = preview.replace("</persisted-output>", "<\\/persisted-output>");
    let preview = preview.trim_end_matches('\n');
    format!(
        "<persisted-output>\nOutput too large ({}, {lines} lines). Full output saved to: {path}\n\n\
         Preview ({heading}):\n{preview}\n</persisted-output>",
        told_size(bytes)
    )
}

/// How the model can read on; none when it has neither tool.
pub fn read_on(path: &str, read: bool, grep: bool) -> Option<String> {
    let with_read = format!("Read with file_path {path} and an offset");
    let with_grep = format!("Grep with a pattern and path {path}");
    match (read, grep) {
        (true, true) => Some(format!("To see more: {with_read}, or {with_grep}.")),
        (true, false) => Some(format!("To see more: {with_read}.")),
        (false, true) => Some(format!("To see more: {with_grep}.")),
        (false, false) => None,
    }
}

/// A size as people read it: `812B`, `820KB`, `1.5MB`.
fn told_size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1024 {
        return format!("{bytes}B");
    }
    let mut tenths = bytes.saturating_mul(10) / 1024;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if tenths < 10_240 {
            break;
        }
        tenths /= 1024;
        unit = next;
    }
    match tenths % 10 {
        0 => format!("{}{unit}", tenths / 10),
        tenth if tenths < 1_000 => format!("{}.{tenth}{unit}", tenths / 10),
        _ => format!("{}{unit}", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chars(text: &str) -> usize {
        text.chars().count()
    }

    #[test]
    fn an_error_keeps_both_ends() {
        let check = |text: &str, want: &str| assert_eq!(bounded_error(text), want);
        check("short", "short");
        check(&"é".repeat(10_000), &"é".repeat(10_000));
        let long = format!(
            "{}{}{}",
            "a".repeat(5_000),
            "é".repeat(7),
            "z".repeat(5_000)
        );
        let marker = "\n\n... [7 characters left out] ...\n\n";
        check(
            &long,
            &format!("{}{marker}{}", "a".repeat(5_000), "z".repeat(5_000)),
        );
        // A colour sequence that lies over the cut goes as a whole.
        let coloured = format!("{}\u{1b}[31m{}", "a".repeat(4_998), "z".repeat(9_000));
        let got = bounded_error(&coloured);
        assert!(
            got.starts_with(&format!("{}\n\n... [4005 ", "a".repeat(4_998))),
            "{}",
            &got[4_990..5_050]
        );
    }

    #[test]
    fn cuts_spare_escapes() {
        let check = |text: &str, limit, head_want: &str, tail_want: &str| {
            assert_eq!(first_chars(text, limit), head_want, "{text:?}");
            assert_eq!(last_chars(text, limit), tail_want, "{text:?}");
        };
        check("ab\u{1b}[1;31mcd", 4, "ab", "cd");
        check("ab\u{1b}[0m", 6, "ab\u{1b}[0m", "ab\u{1b}[0m");
        check("ab\u{1b}]8;;http://x\u{7}cd", 5, "ab", "cd");
        check("ab\u{1b}]8;;x\u{1b}\\cd", 9, "ab", "cd");
        check("日本語", 2, "日本", "本語");
        check("\u{1b}\u{1b}[31mx", 3, "\u{1b}", "x");
        check("", 3, "", "");
    }

    #[test]
    fn a_log_shows_head_tail_and_errors() {
        let mut lines: Vec<String> = (1..=1000).map(|n| format!("ok {n}")).collect();
        lines[499] = "src/a.rs:3: error: no such thing".to_owned();
        let got = log(&lines.join("\n"), 1_000);
        assert!(got.starts_with("ok 1\nok 2\n"));
        assert!(got.ends_with("ok 999\nok 1000"));
        assert!(
            got.contains("\n500: src/a.rs:3: error: no such thing\n"),
            "{got}"
        );
        assert!(got.contains(" characters, "), "{got}");
        assert!(chars(&got) < 1_150);
        assert_eq!(log("a\nb\n", 10), "a\nb\n");
        let one = "x".repeat(5_000);
        let got = log(&one, 1_000);
        assert!(
            got.contains("[4000 characters, 0 line breaks left out] ..."),
            "{got}"
        );
        let many = "error\n".repeat(10_000);
        assert_eq!(log(&many, 10_000).matches(": error\n").count(), ERROR_LINES);
    }

    #[test]
    fn a_head_ends_at_a_line() {
        let check = |text: &str, limit, want: &str| assert_eq!(head(text, limit), want);
        check("a\nb\n", 10, "a\nb\n");
        check("aaaa\nbbbb\ncccc\n", 12, "aaaa\nbbbb\n");
        check("a\nbbbbbbbbbbbbbb", 8, "a\nbbbbbb");
    }

    #[test]
    fn json_stays_json() {
        let check = |text: &str, limit, want: &str| {
            let got = json(text, limit);
            assert_eq!(got, want);
            assert!(chars(&got) <= limit, "{}", chars(&got));
        };
        check("[1, 2]", 10, "[1, 2]");
        check(
            "[1111111,2222222,3333333,4444444,5555555,6666666,7777777,8888888]",
            64,
            r#"{"shape":"array of 8","part":[1111111,2222222,3333333,4444444]}"#,
        );
        check(
            &format!(
                r#"{{"a":"{}","b":[1,2],"c":{{"d":true}}}}"#,
                "x".repeat(300)
            ),
            150,
            r#"{"shape":{"a":"string of 300 characters","b":"array of 2","c":"object of 1 keys"},"part":{"b":[1,2],"c":{"d":true}}}"#,
        );
        check("not json at all, only long", 10, "not json a");
        assert_eq!(json(&"[".repeat(10_000), 10), "[[[[[[[[[[");
    }

    #[test]
    fn a_kept_result_is_referred_to() {
        let check = |bytes, part, preview: &str, want: &str| {
            assert_eq!(persisted("/s/call_1.txt", bytes, 12, part, preview), want);
        };
        check(
            839_680,
            Part::Head,
            &format!("{}\n", "x".repeat(2_047)),
            &format!(
                "<persisted-output>\nOutput too large (820KB, 12 lines). Full output saved to: \
                 /s/call_1.txt\n\nPreview (first 2KB):\n{}\n</persisted-output>",
                "x".repeat(2_047)
            ),
        );
        check(
            1_572_864,
            Part::Ends,
            "a</persisted-output>b",
            "<persisted-output>\nOutput too large (1.5MB, 12 lines). Full output saved to: \
             /s/call_1.txt\n\nPreview (21B: first and last lines):\na<\\/persisted-output>b\n\
             </persisted-output>",
        );
        assert_eq!(read_on("/x", false, false), None);
        assert!(read_on("/x", true, true).unwrap().contains("Grep"));
    }

    fn noisy() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("a"),
            Just("\n"),
            Just("日"),
            Just("😀"),
            Just("\u{1b}[31m"),
            Just("\u{1b}]8;;u\u{7}"),
            Just("error\n"),
            Just("\u{1b}")
        ];
        proptest::collection::vec(piece, 0..80).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn previews_hold_their_limits(text in noisy(), limit in 1usize..60) {
            let (first, last) = (first_chars(&text, limit), last_chars(&text, limit));
            prop_assert!(text.starts_with(first) && chars(first) <= limit);
            prop_assert!(text.ends_with(last) && chars(last) <= limit);
            prop_assert!(chars(&head(&text, limit)) <= limit);
            for at in [first.len(), text.len() - last.len()] {
                prop_assert!(at == 0 || at == text.len() || escape_around(&text, at).is_none());
            }
            // A log's own words come on top of what it shows.
            prop_assert!(chars(&log(&text, limit)) <= limit + 120);
        }

        #[test]
        fn a_json_preview_is_json(
            items in proptest::collection::vec("[a-zé\"\\\\]{0,9}", 0..20), limit in 1usize..200
        ) {
            let value = serde_json::json!({"list": items, "n": [1, {"deep": items}]});
            let text = value.to_string();
            let got = json(&text, limit);
            prop_assert!(chars(&got) <= limit.max(4));
            prop_assert!(serde_json::from_str::<Value>(&got).is_ok(), "{got}");
        }
    }
}

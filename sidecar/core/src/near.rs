//! What stands in a file where a text was looked for and not found.
//!
//! It only tells: nothing here ever decides that a near miss is good enough. Bounded in what it
//! writes and linear in the file, so that ten megabytes or one huge line cost a fraction of a
//! second. First the text is sought with blanks, quotes, Unicode form and letter case set aside,
//! which also tells what differs; then by equal lines; then by common words.

use std::collections::BTreeMap;

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use crate::hunks::lines_of;
use crate::text::FileText;

/// At most so many places are described.
const PLACES: usize = 3;
/// A place or a wanted text longer than this (in bytes) is located but not compared.
const COMPARED: usize = 20_000;
/// Lines longer than this (in bytes) are not searched for similarity.
const LONG_LINE: usize = 10_000;
/// So many lines of the wanted text are compared with the file's.
const WANTED_LINES: usize = 500;
/// Characters shown of a line.
const SHOWN: usize = 120;

/// One way in which two texts can differ without saying something else.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trait {
    TrailingBlanks,
    Indentation,
    InnerBlanks,
    LineBreaks,
    Quotes,
    UnicodeForm,
    Case,
}

impl Trait {
    /// The vague ones first: a difference that a sharper one explains is told as that.
    const ALL: [Self; 7] = [
        Self::UnicodeForm,
        Self::LineBreaks,
        Self::InnerBlanks,
        Self::TrailingBlanks,
        Self::Indentation,
        Self::Quotes,
        Self::Case,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::TrailingBlanks => "blanks at the ends of lines",
            Self::Indentation => "indentation",
            Self::InnerBlanks => "blanks within lines",
            Self::LineBreaks => "line breaks",
            Self::Quotes => "quotes or dashes",
            Self::UnicodeForm => "Unicode form",
            Self::Case => "letter case",
        }
    }
}

/// Where the text that was not found nearly stands, and what differs. Several lines, bounded.
pub fn report(text: &FileText, wanted: &str) -> String {
    if wanted.trim().is_empty() {
        return "It holds only blanks, which stand nowhere in this number and order.".to_owned();
    }
    let spans = loose_spans(text.text(), wanted);
    if !spans.is_empty() {
        return told_spans(text, wanted, &spans);
    }
    by_lines(text, wanted)
        .or_else(|| by_words(text, wanted))
        .unwrap_or_else(|| "Nothing similar stands in the file.".to_owned())
}

fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}'
    )
}

/// Quotes of all kinds as one, dashes of all kinds as one.
fn plain_quote(c: char) -> char {
    match c {
        '"' | '`' | '´' | '\u{2018}'..='\u{201f}' | '\u{2032}'..='\u{2036}' | '«' | '»' => '\'',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        other => other,
    }
}

/// What is left of a character when every `Trait` is set aside.
fn squash(c: char, out: &mut String) {
    if c.is_ascii() {
        if !c.is_ascii_whitespace() {
            out.push(plain_quote(c).to_ascii_lowercase());
        }
        return;
    }
    // Before and after decomposition: '´' decomposes to a blank and a mark.
    decompose_compatible(plain_quote(c), |part| {
        if !part.is_whitespace() && !is_combining_mark(part) && !is_invisible(part) {
            out.extend(plain_quote(part).to_lowercase());
        }
    });
}

fn squashed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| squash(c, &mut out));
    out
}

/// Byte ranges of `text` that say `wanted` when every `Trait` is set aside.
fn loose_spans(text: &str, wanted: &str) -> Vec<(usize, usize)> {
    let needle = squashed(wanted);
    if needle.is_empty() {
        return Vec::new();
    }
    let hay = squashed(text);
    let found: Vec<usize> = hay
        .match_indices(&needle)
        .map(|(at, _)| at)
        .take(PLACES)
        .collect();
    let mut spans = Vec::new();
    let mut start = None;
    let (mut done, mut part) = (0, String::new());
    // A second walk instead of a table of offsets, which would be larger than the file.
    for (at, c) in text.char_indices() {
        let Some(hit) = found.get(spans.len()) else {
            break;
        };
        part.clear();
        squash(c, &mut part);
        let next = done + part.len();
        if start.is_none() && (done..next).contains(hit) {
            start = Some(at);
        }
        if let (Some(from), true) = (start, next >= hit + needle.len()) {
            spans.push(stretch(text, wanted, from, at + c.len_utf8()));
            start = None;
        }
        done = next;
    }
    spans
}

/// Takes in the blanks around a place that correspond to blanks around the wanted text.
fn stretch(text: &str, wanted: &str, mut from: usize, mut to: usize) -> (usize, usize) {
    let (head, tail) = (&text[..from], &text[to..]);
    if wanted.starts_with(char::is_whitespace) {
        let kept = head.trim_end_matches(|c: char| c.is_whitespace() && c != '\n');
        from = kept.len();
    }
    let marks = tail.len() - tail.trim_start_matches(is_combining_mark).len();
    to += marks;
    let ending = &wanted[wanted.trim_end().len()..];
    let mut breaks = ending.matches('\n').count();
    for c in text[to..].chars() {
        let wanted_break = c == '\n' && breaks > 0;
        if ending.is_empty() || !c.is_whitespace() || (c == '\n' && !wanted_break) {
            break;
        }
        breaks -= usize::from(c == '\n');
        to += c.len_utf8();
        if wanted_break && breaks == 0 {
            break;
        }
    }
    (from, to)
}

fn told_spans(text: &FileText, wanted: &str, spans: &[(usize, usize)]) -> String {
    let mut out = String::from("Nearly the same text stands");
    for (index, (from, to)) in spans.iter().enumerate() {
        let place = &text.text()[*from..*to];
        let lines = told_lines(text.line_of(*from), text.line_of(to.saturating_sub(1)));
        out.push_str(if index == 0 { " at " } else { "\nand at " });
        out.push_str(&lines);
        if place.len().max(wanted.len()) > COMPARED {
            out.push_str("; too long to compare here");
            continue;
        }
        let traits = differences(place, wanted);
        let names: Vec<&str> = traits.iter().map(|t| t.name()).collect();
        out.push_str(&format!("; it differs in {}:", names.join(", ")));
        let open_end = *to == text.text().len() && !place.ends_with('\n');
        if open_end && wanted.ends_with('\n') {
            out.push_str(" (the file does not end with a line break)");
        }
        let spelled = traits.contains(&Trait::UnicodeForm) || traits.contains(&Trait::Quotes);
        out.push_str(&first_difference(
            text.line_of(*from),
            place,
            wanted,
            spelled,
        ));
    }
    out
}

fn told_lines(first: usize, last: usize) -> String {
    if first == last {
        format!("line {}", first + 1)
    } else {
        format!("lines {}-{}", first + 1, last + 1)
    }
}

/// A smallest set of traits that, set aside, makes the two texts equal.
fn differences(place: &str, wanted: &str) -> Vec<Trait> {
    let mut aside = Trait::ALL.to_vec();
    for candidate in Trait::ALL {
        let fewer: Vec<Trait> = aside.iter().copied().filter(|t| *t != candidate).collect();
        if fold(place, &fewer) == fold(wanted, &fewer) {
            aside = fewer;
        }
    }
    aside
}

/// The text with some traits set aside.
fn fold(text: &str, aside: &[Trait]) -> String {
    let without = |wanted| aside.contains(&wanted);
    let unified: String = if without(Trait::UnicodeForm) {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            let c = if without(Trait::Quotes) {
                plain_quote(c)
            } else {
                c
            };
            decompose_compatible(c, |part| {
                if !is_combining_mark(part) && !is_invisible(part) {
                    out.push(part);
                }
            });
        }
        out
    } else {
        text.to_owned()
    };
    let mut out = String::with_capacity(unified.len());
    for (index, line) in unified.split('\n').enumerate() {
        if index > 0 && !without(Trait::LineBreaks) {
            out.push('\n');
        }
        let core = line.trim();
        let (lead, trail) = match line.find(core) {
            Some(at) if !core.is_empty() => (&line[..at], &line[at + core.len()..]),
            _ => ("", line),
        };
        if !without(Trait::Indentation) {
            out.push_str(lead);
        }
        for c in core.chars() {
            let c = if without(Trait::Quotes) {
                plain_quote(c)
            } else {
                c
            };
            if c.is_whitespace() && without(Trait::InnerBlanks) {
                continue;
            }
            if without(Trait::Case) {
                out.extend(c.to_lowercase());
            } else {
                out.push(c);
            }
        }
        if !without(Trait::TrailingBlanks) {
            out.push_str(trail);
        }
    }
    out
}

/// The two lines in which two texts first differ.
fn first_difference(first_line: usize, place: &str, wanted: &str, spelled: bool) -> String {
    let pairs = place.char_indices().zip(wanted.chars());
    let same = |((_, a), b): &((usize, char), char)| a == b;
    let common = pairs
        .take_while(same)
        .last()
        .map_or(0, |((at, c), _)| at + c.len_utf8());
    let line_start = place[..common].rfind('\n').map_or(0, |at| at + 1);
    let column = place[line_start..common].chars().count();
    let line = first_line + place[..common].matches('\n').count();
    let of = |text: &str| -> String {
        let rest = text.get(line_start..).unwrap_or_default();
        window(rest.split('\n').next().unwrap_or_default(), column, spelled)
    };
    format!(
        "\n  file, line {}: |{}|\n  looked for:   |{}|",
        line + 1,
        of(place),
        of(wanted)
    )
}

/// Some characters of a line around a column; what the eye can't tell apart is spelled out.
fn window(line: &str, column: usize, spelled: bool) -> String {
    let from = column.saturating_sub(SHOWN / 3);
    let mut out = String::new();
    if from > 0 {
        out.push('…');
    }
    let mut chars = line.chars().skip(from);
    for c in chars.by_ref().take(SHOWN) {
        let hidden = c.is_control() || is_combining_mark(c) || is_invisible(c);
        match c {
            ' ' => out.push(' '),
            '\t' => out.push_str("\\t"),
            _ if hidden || c.is_whitespace() || (spelled && !c.is_ascii()) => {
                out.extend(c.escape_unicode());
            }
            _ => out.push(c),
        }
    }
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

/// The place that shares most lines with the wanted text, at least a third of them.
fn by_lines(text: &FileText, wanted: &str) -> Option<String> {
    let wanted_lines = lines_of(wanted);
    let mut index: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut telling = 0;
    for (number, line) in wanted_lines.iter().take(WANTED_LINES).enumerate() {
        let key = squashed(line);
        // A lone brace stands everywhere and tells nothing.
        if key.len() < 3 || key.len() > LONG_LINE {
            continue;
        }
        telling += 1;
        let lines = index.entry(key).or_default();
        if lines.len() < 4 {
            lines.push(number);
        }
    }
    if wanted_lines.len() < 2 || telling == 0 {
        return None;
    }
    let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
    let mut key = String::new();
    for number in 0..text.line_count() {
        let line = text.line(number);
        if line.len() > LONG_LINE {
            continue;
        }
        key.clear();
        line.chars().for_each(|c| squash(c, &mut key));
        for wanted_line in index.get(&key).into_iter().flatten() {
            if let Some(start) = number.checked_sub(*wanted_line) {
                *votes.entry(start).or_default() += 1;
            }
        }
    }
    let (start, shared) = votes
        .into_iter()
        .max_by_key(|(start, shared)| (*shared, std::cmp::Reverse(*start)))?;
    if shared * 3 < telling {
        return None;
    }
    let end = (start + wanted_lines.len()).min(text.line_count());
    let place: Vec<&str> = (start..end).map(|line| text.line(line)).collect();
    Some(format!(
        "The nearest place is {}, which shares {shared} of {} lines; the first that differs:{}",
        told_lines(start, end.saturating_sub(1)),
        wanted_lines.len(),
        first_difference(start, &place.join("\n"), wanted, false)
    ))
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.len() > 1)
}

/// The line that shares most words with the longest wanted line, at least half of them by length.
fn by_words(text: &FileText, wanted: &str) -> Option<String> {
    let longest = wanted
        .split('\n')
        .filter(|line| line.len() <= LONG_LINE)
        .max_by_key(|line| line.trim().len())?;
    // The word's bit in a set of those seen in a line: 64 are enough to tell lines apart.
    let mut bits: BTreeMap<&str, u64> = BTreeMap::new();
    for word in words(longest) {
        let next = bits.len();
        if next < 64 {
            bits.entry(word).or_insert(1 << next);
        }
    }
    let total: usize = bits.keys().map(|word| word.len()).sum();
    let mut best = (0, 0);
    for number in 0..text.line_count() {
        let line = text.line(number);
        if line.len() > LONG_LINE {
            continue;
        }
        let (mut seen, mut score) = (0, 0);
        for word in words(line) {
            let bit = bits.get(word).copied().unwrap_or(0);
            if bit & !seen != 0 {
                seen |= bit;
                score += word.len();
            }
        }
        if score > best.0 {
            best = (score, number);
        }
    }
    let (score, number) = best;
    (total > 0 && score * 2 >= total).then(|| {
        format!(
            "The nearest line is {}:\n  file, line {}: |{}|\n  looked for:   |{}|",
            number + 1,
            number + 1,
            window(text.line(number).trim_end(), 0, false),
            window(longest.trim_end(), 0, false)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(file: &str, wanted: &str) -> String {
        report(&FileText::from_document(file), wanted)
    }

    #[test]
    fn a_near_miss_is_told_by_what_differs() {
        let check = |file: &str, wanted: &str, parts: &[&str]| {
            let got = told(file, wanted);
            for part in parts {
                assert!(got.contains(part), "{part:?} is not in:\n{got}");
            }
        };
        check(
            "fn a() {\n\tone();\n\ttwo();\n}\n",
            "    one();\n    two();\n",
            &[
                "at lines 2-3; it differs in indentation:",
                "line 2: |\\tone();|",
                "|    one();|",
            ],
        );
        check(
            "a  \nb\n",
            "a\nb\n",
            &["at lines 1-2; it differs in blanks at the ends of lines:"],
        );
        check(
            "say(‘hi’)\n",
            "say('hi')",
            &["in quotes or dashes:", "|say(\\u{2018}hi\\u{2019})|"],
        );
        check("say(\"hi\")\n", "say('hi')", &["in quotes or dashes:"]);
        check("a – b\n", "a - b", &["in quotes or dashes:"]);
        check(
            "cafe\u{301} x\n",
            "café x",
            &["in Unicode form:", "|cafe\\u{301} x|", "|caf\\u{e9} x|"],
        );
        check(
            "a\u{a0}b\n",
            "a b",
            &["in blanks within lines:", "|a\\u{a0}b|"],
        );
        check("Foo\n", "foo", &["in letter case:"]);
        check(
            "x = f(a,\n  b)\n",
            "x = f(a, b)",
            &["lines 1-2", "line breaks"],
        );
        check(
            "a\nb",
            "a\nb\n",
            &["line breaks: (the file does not end with a line break)"],
        );
        check(
            "  X(\"a\")  \n",
            "\tx('a')\n",
            &["blanks at the ends of lines, indentation, quotes or dashes, letter case:"],
        );
        check(
            "foo\nx\n foo\ny\n foo\nz\n foo\n",
            "f oo",
            &["at line 1;", "and at line 5;"],
        );
    }

    #[test]
    fn a_changed_text_is_found_by_lines_and_words() {
        let check = |file: &str, wanted: &str, parts: &[&str]| {
            let got = told(file, wanted);
            for part in parts {
                assert!(got.contains(part), "{part:?} is not in:\n{got}");
            }
        };
        check(
            "x\n\nfn a() {\n    one();\n    three();\n}\n",
            "fn a() {\n    one();\n    two();\n}\n",
            &[
                "lines 3-6, which shares 2 of 4 lines",
                "line 5: |    three();|",
                "|    two();|",
            ],
        );
        check(
            "let a = 1;\nlet total_count = compute(items, 3);\n",
            "let total_count = compute(items);",
            &["The nearest line is 2:"],
        );
        check("a\n", "completely different", &["Nothing similar"]);
        check("a\n", " \n \n", &["only blanks"]);
        check("", "x", &["Nothing similar"]);
    }

    #[test]
    fn a_report_is_bounded_in_huge_files() {
        let line = "some words \"that\" stand here, é and more of it ".repeat(4);
        let check = |file: &str, wanted: &str, part: &str| {
            let got = told(file, wanted);
            assert!(got.contains(part), "{}", &got[..got.len().min(400)]);
            assert!(got.len() < 6_000, "{}", got.len());
        };
        let many = format!("{line}\n").repeat(20_000);
        check(
            &many,
            "some words 'that' stand here, é and less",
            "The nearest line is 1:",
        );
        check(&format!("{many}the  End"), "the end", "at line 20001;");
        let one = line.repeat(20_000);
        check(&one, "nowhere to be seen", "Nothing similar");
        check(&format!("{one}the  End{one}"), "the end", "at line 1;");
        check(&many, &many.replace('"', "'"), "too long to compare here");
        let repeated = "aa ".repeat(1_000_000);
        check(&repeated, &("aa".repeat(400_000) + "b"), "Nothing similar");
    }
}

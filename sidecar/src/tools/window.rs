//! The window of a text that a Read shows: line numbers, limits, cut lines. Pure.
//!
//! A line that is cut does not count as seen, and a window that is too large is refused with one
//! that fits: what the model saw is always exactly what stands in its text.

use serde_json::Value;
use toolgate_core::ledger::{one_read_shows_all, READ_CHARS, READ_LINES, READ_LINE_CHARS};
use toolgate_core::outcome::{Lines, Shown};
use toolgate_core::place::Place;
use toolgate_core::text::FileText;

use super::{head, number};

/// What part of a text is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// First line, counted from 1.
    pub offset: usize,
    /// Most lines.
    pub limit: usize,
    /// First character of each line, counted from 1.
    pub column: usize,
}

impl Wanted {
    /// From a Read's input.
    pub(super) fn of(input: &Value) -> Self {
        Self {
            offset: number(input, "offset").unwrap_or(1).max(1),
            limit: number(input, "limit").unwrap_or(READ_LINES).max(1),
            column: number(input, "column").unwrap_or(1).max(1),
        }
    }
}

/// A window that was made.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// With line numbers, for the model.
    pub numbered: String,
    /// As it stands in the file.
    pub plain: String,
    /// Lines in it.
    pub lines: usize,
    /// Lines that are shown whole.
    pub whole: Vec<Lines>,
    /// Numbers of lines that are shown in part.
    pub cut: Vec<usize>,
    chars: usize,
    wanted: Option<Wanted>,
}

impl Window {
    pub(super) fn new(wanted: Wanted) -> Self {
        Self {
            wanted: Some(wanted),
            ..Self::default()
        }
    }

    /// Adds the next line. `shown` begins at the wanted column, or is more than a line shows;
    /// `partial` when the line has other characters too. False when the window is full.
    pub(super) fn push(&mut self, number: usize, shown: &str, partial: bool) -> bool {
        let visible = head(shown, READ_LINE_CHARS);
        let cut = partial || visible.len() < shown.len();
        let mark = if cut { " [line cut]" } else { "" };
        let line = format!("{number:>6}\t{visible}{mark}\n");
        let chars = line.chars().count();
        if self.chars + chars > READ_CHARS {
            return false;
        }
        self.chars += chars;
        self.numbered.push_str(&line);
        self.plain.push_str(visible);
        self.plain.push('\n');
        self.lines += 1;
        if cut {
            self.cut.push(number);
        } else {
            self.seen(number);
        }
        true
    }

    fn seen(&mut self, number: usize) {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        match self.whole.last_mut() {
            Some(last) if last.last.checked_add(1) == Some(number) => last.last = number,
            _ => self.whole.push(Lines {
                first: number,
                last: number,
            }),
        }
    }

    /// Why a window that became full is refused, and which one fits.
    pub(super) fn too_large(&self) -> String {
        let wanted = self.wanted.unwrap_or(Wanted {
            offset: 1,
            limit: READ_LINES,
            column: 1,
        });
        format!(
            "Lines {} and following make more than the {READ_CHARS} characters that one Read \
             shows. Nothing is shown. Call Read with offset {} and limit {}, or use Grep to find \
             the place.",
            wanted.offset,
            wanted.offset,
            self.lines.max(1)
        )
    }

    /// What the model must know beside the lines.
    pub(super) fn notes(&self, total: Option<usize>) -> Option<String> {
        let mut notes: Vec<String> = Vec::new();
        let first = self.wanted.map_or(1, |wanted| wanted.offset);
        let last = first + self.lines.saturating_sub(1);
        match total {
            Some(total) if first > 1 || last < total => {
                let on = if last < total {
                    format!("; Read on with offset {}", last + 1)
                } else {
                    String::new()
                };
                notes.push(format!("Lines {first}-{last} of {total}{on}."));
            }
            Some(_) => {}
            None => notes.push(format!("Lines {first}-{last}.")),
        }
        if !self.cut.is_empty() {
            let numbers: Vec<String> = self.cut.iter().take(20).map(usize::to_string).collect();
            let more = if self.cut.len() > 20 {
                " and others"
            } else {
                ""
            };
            notes.push(format!(
                "Shown in part: line {}{more}. At most {READ_LINE_CHARS} characters of a line are \
                 shown; give column (the first character shown) to see the rest.",
                numbers.join(", ")
            ));
        }
        (!notes.is_empty()).then(|| format!("[{}]", notes.join(" ")))
    }
}

/// The window of a whole text; the refusal when it is too large.
pub(super) fn of_text(text: &FileText, wanted: Wanted) -> Result<Window, String> {
    let mut window = Window::new(wanted);
    let end = (wanted.offset - 1)
        .saturating_add(wanted.limit)
        .min(text.line_count());
    for index in wanted.offset - 1..end {
        let line = text.line(index);
        let shown = from_column(line, wanted.column);
        if !window.push(index + 1, shown, shown.len() < line.len()) {
            return Err(window.too_large());
        }
    }
    Ok(window)
}

/// The line from its `column`th character on.
fn from_column(line: &str, column: usize) -> &str {
    match line.char_indices().nth(column - 1) {
        Some((at, _)) => &line[at..],
        None if column == 1 => line,
        None => "",
    }
}

/// Texts up to this size, in bytes, are kept beside what the model saw of them.
const KEPT: usize = 4 * 1024 * 1024;

/// What the model saw of a text, or Toolgate wrote of it.
pub(super) fn shown(place: &Place, text: &FileText, lines: Vec<Lines>) -> Shown {
    Shown {
        place: place.clone(),
        version: text.version(),
        lines,
        total_lines: u32::try_from(text.line_count()).unwrap_or(u32::MAX),
        one_read_shows_all: one_read_shows_all(text),
        // Kept for the diff that a later change is told with; a huge text is not worth its memory.
        text: (text.text().len() <= KEPT).then(|| text.shared_text()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(text: &str, offset: usize, limit: usize, column: usize) -> Window {
        let wanted = Wanted {
            offset,
            limit,
            column,
        };
        of_text(&FileText::from_document(text), wanted).unwrap()
    }

    #[test]
    fn lines_are_numbered_and_seen() {
        let all = window("a\r\nb\nc", 1, 9, 1);
        assert_eq!(all.numbered, "     1\ta\n     2\tb\n     3\tc\n");
        assert_eq!(all.whole, [Lines { first: 1, last: 3 }]);
        assert_eq!(all.notes(Some(3)), None);
        let part = window("a\nb\nc\n", 2, 1, 1);
        assert_eq!(part.numbered, "     2\tb\n");
        let notes = part.notes(Some(3)).unwrap();
        assert_eq!(notes, "[Lines 2-2 of 3; Read on with offset 3.]");
    }

    #[test]
    fn a_cut_line_is_not_seen_and_a_column_shows_the_rest() {
        let long = "\u{2713}".repeat(2_500);
        let cut = window(&format!("a\n{long}\nb\n"), 1, 9, 1);
        let seen = [Lines { first: 1, last: 1 }, Lines { first: 3, last: 3 }];
        assert_eq!(cut.whole, seen);
        assert_eq!(cut.cut, [2]);
        let rest = window(&long, 1, 1, 2_001);
        assert_eq!(rest.plain.trim_end().chars().count(), 500);
        assert!(rest.whole.is_empty());
    }

    #[test]
    fn a_window_that_is_too_large_names_one_that_fits() {
        let text = FileText::from_document(&format!("{}\n", "x".repeat(1_000)).repeat(500));
        let wanted = Wanted {
            offset: 11,
            limit: 400,
            column: 1,
        };
        let refusal = of_text(&text, wanted).unwrap_err();
        assert!(refusal.contains("offset 11 and limit 99,"), "{refusal}");
        let fits = Wanted {
            limit: 99,
            ..wanted
        };
        assert_eq!(of_text(&text, fits).unwrap().lines, 99);
    }
}

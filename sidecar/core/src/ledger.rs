//! Who saw which version of a file (spec: files.md, "The ledger").
//!
//! Here only what the *model* saw: for each place the newest version that it saw, and of that
//! the lines. What the editor has is the desk's, what is on disk is asked anew each time. Several
//! Reads of one version add up; a look at another version begins anew, because the model now
//! believes that one. No time stamp is kept: content decides.
//!
//! Law 5 lives here: `admit_edit` and `admit_write` never answer `Ok` for a line that was not
//! shown at the present version, and a version that was only partly seen stays so after an edit.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::hunks::{self, changed, Changed};
use crate::outcome::{Lines, Shown};
use crate::place::Place;
use crate::text::FileText;
use crate::version::Version;

/// Lines that one Read shows at most.
pub const READ_LINES: usize = 2_000;
/// Characters of a line that a Read shows uncut.
pub const READ_LINE_CHARS: usize = 2_000;
/// Characters that one Read shows at most, line numbers included.
pub const READ_CHARS: usize = 100_000;
/// Characters of a diff that a refusal carries at most.
const DIFF_CHARS: usize = 4_000;
/// Line number and tab before each line that a Read shows.
const NUMBER_CHARS: usize = 7;

const EVERY_LINE: Lines = Lines {
    first: 1,
    last: u32::MAX,
};

/// What one model (a session's or a nested agent's) saw.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub(crate) places: BTreeMap<Place, Seen>,
}

/// What the model saw of one file: the newest version, its lines and text. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Seen(Arc<View>);

#[derive(Debug)]
struct View {
    place: Place,
    version: Version,
    /// Sorted, neither touching nor overlapping, within `total`.
    lines: Vec<Lines>,
    total: u32,
    one_read_shows_all: bool,
    text: Option<Arc<str>>,
}

/// How much must have been seen before an Edit (`files.read_before_edit`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadPolicy {
    /// The whole where one Read shows it, else the lines that the edit covers.
    #[default]
    Auto,
    /// The whole, always; a diff does not count as a read.
    Whole,
    /// Nothing, as the old text must match anyway; what was not seen is told.
    Relaxed,
}

/// Whether a change may go on.
#[derive(Clone, Debug, PartialEq)]
pub enum Admission {
    /// It may.
    Ok,
    /// It may, and this must be told to the model with the outcome.
    Noted(String),
    /// It may not: lines were not shown. For the model.
    Unread(String),
    /// It may not: the file is another than the model saw.
    Stale {
        /// For the model: what changed and what to do.
        text: String,
        /// There when the text holds the whole difference: the model has then seen the present
        /// version as far as it had seen the old one. Goes into the outcome's `shown`.
        shown: Option<Box<Shown>>,
    },
}

impl Admission {
    /// Adds who changed the file, where that is known: "the person, in the editor".
    pub fn changed_by(self, who: &str) -> Self {
        match self {
            Self::Stale { text, shown } => Self::Stale {
                text: format!("Changed by {who}: {text}"),
                shown,
            },
            other @ (Self::Ok | Self::Noted(_) | Self::Unread(_)) => other,
        }
    }
}

impl Seen {
    /// The version that was seen.
    pub fn version(&self) -> Version {
        self.0.version
    }

    /// The lines that were seen: sorted, apart from each other.
    pub fn lines(&self) -> &[Lines] {
        &self.0.lines
    }

    /// True when every line was seen.
    pub fn whole(&self) -> bool {
        self.0.total == 0 || self.covers(1, self.0.total)
    }

    fn covers(&self, first: u32, last: u32) -> bool {
        let holds = |lines: &Lines| lines.first <= first && last <= lines.last;
        self.0.lines.iter().any(holds)
    }
}

impl Ledger {
    /// Notes what a request showed the model. `text` is the whole text of that version, where it
    /// is at hand: it makes later changes tellable.
    pub fn show(&mut self, shown: &Shown, text: Option<Arc<str>>) {
        let old = self.places.get(&shown.place);
        let same = old.filter(|seen| seen.0.version == shown.version);
        let mut lines = same.map_or_else(Vec::new, |seen| seen.0.lines.clone());
        lines.extend_from_slice(&shown.lines);
        let kept = same.and_then(|seen| seen.0.text.clone());
        self.put(View {
            place: shown.place.clone(),
            version: shown.version,
            lines: tidy(lines, shown.total_lines),
            total: shown.total_lines,
            one_read_shows_all: shown.one_read_shows_all,
            text: text.or(kept),
        });
    }

    /// Notes what Toolgate wrote for the model: the whole text is seen, unless the model had
    /// seen only a part of what was there before. Then it has seen that part and what is new.
    ///
    /// For a text that may hold somebody else's changes too, use `edited`.
    pub fn wrote(&mut self, place: &Place, version: Version, text: Arc<str>) {
        let lines = match self.places.get(place) {
            Some(seen) if !seen.whole() => match &seen.0.text {
                Some(old) => carried(&seen.0.lines, &changed(old, &text), None),
                None => Vec::new(),
            },
            Some(_) | None => vec![EVERY_LINE],
        };
        self.put_text(place, version, text, lines);
    }

    /// Notes a text of which Toolgate wrote these lines (`Plan::written`): seen are they, and the
    /// lines that were seen before and still stand. Lines that somebody else put there are not.
    pub fn edited(&mut self, place: &Place, version: Version, text: Arc<str>, written: &[Lines]) {
        let old = self.places.get(place).map(|seen| &seen.0);
        let mut lines = written.to_vec();
        if let Some((view, before)) = old.and_then(|view| Some((view, view.text.as_ref()?))) {
            lines.extend(carried(&view.lines, &changed(before, &text), Some(written)));
        }
        self.put_text(place, version, text, lines);
    }

    /// What the model saw of a place.
    pub fn seen(&self, place: &Place) -> Option<Seen> {
        self.places.get(place).cloned()
    }

    /// The places that the model saw something of.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.places.keys()
    }

    /// Forgets a place, for instance one that is gone.
    pub fn forget(&mut self, place: &Place) {
        self.places.remove(place);
    }

    /// Whether an Edit that relies on these lines of the present text (`Plan::covered`) may go
    /// on. With no lines it asks only whether the present version is the one that was seen, which
    /// is the better refusal when no plan could be made.
    pub fn admit_edit(
        place: &Place,
        seen: Option<&Seen>,
        text: &FileText,
        covered: &[Lines],
        policy: ReadPolicy,
    ) -> Admission {
        let Some(seen) = seen else {
            return unread_file(place, text, policy);
        };
        if seen.0.version != text.version() {
            return match policy {
                ReadPolicy::Relaxed => Admission::Noted(format!(
                    "{place} had changed since you last saw it: it has other changes too. Read it \
                     before you rely on more of it."
                )),
                ReadPolicy::Auto | ReadPolicy::Whole => stale(place, seen, text, policy),
            };
        }
        let (first, last) = match missing(seen, covered, policy) {
            Some(missing) => missing,
            None => return Admission::Ok,
        };
        let need = if seen.0.one_read_shows_all || policy == ReadPolicy::Whole {
            format!("You have not seen all of {place}: lines {first}-{last} were not shown to you.")
        } else {
            format!(
                "Lines {first}-{last} of {place}, which the edit covers, were not shown to you."
            )
        };
        Admission::Unread(format!("{need} {}", read_lines(first, last)))
    }

    /// Whether a Write over this text, which stands there now, may go on. Where nothing stands
    /// nothing can be lost, and nobody needs to ask.
    pub fn admit_write(
        place: &Place,
        seen: Option<&Seen>,
        text: &FileText,
        policy: ReadPolicy,
    ) -> Admission {
        // A partial or outdated read never satisfies a Write, in no policy.
        let strict = match policy {
            ReadPolicy::Auto | ReadPolicy::Relaxed => ReadPolicy::Auto,
            ReadPolicy::Whole => ReadPolicy::Whole,
        };
        let Some(seen) = seen else {
            return unread_file(place, text, strict);
        };
        if seen.0.version != text.version() {
            return stale(place, seen, text, strict);
        }
        match missing(seen, &[], ReadPolicy::Whole) {
            None => Admission::Ok,
            Some((first, last)) => Admission::Unread(format!(
                "Write replaces the whole of {}, but its lines {first}-{last} were not shown to \
                 you. {} Or change a part of it with Edit.",
                place,
                read_lines(first, last)
            )),
        }
    }

    fn put_text(&mut self, place: &Place, version: Version, text: Arc<str>, lines: Vec<Lines>) {
        let total = count(&text);
        self.put(View {
            place: place.clone(),
            version,
            lines: tidy(lines, total),
            total,
            one_read_shows_all: fits_one_read(text.split_inclusive('\n')),
            text: Some(text),
        });
    }

    fn put(&mut self, view: View) {
        self.places.insert(view.place.clone(), Seen(Arc::new(view)));
    }
}

/// True when one Read call shows all of a text: few enough lines, none cut, within its limit.
pub fn one_read_shows_all(text: &FileText) -> bool {
    fits_one_read(text.text().split_inclusive('\n'))
}

fn fits_one_read<'a>(lines: impl Iterator<Item = &'a str>) -> bool {
    let mut chars = 0;
    for (index, line) in lines.enumerate() {
        let own = line.trim_end_matches('\n').chars().count();
        chars += own + NUMBER_CHARS + 1;
        if index >= READ_LINES || own > READ_LINE_CHARS || chars > READ_CHARS {
            return false;
        }
    }
    true
}

fn count(text: &str) -> u32 {
    u32::try_from(text.split_inclusive('\n').count()).unwrap_or(u32::MAX)
}

/// Sorts and joins ranges, and cuts what is not a line of the text.
fn tidy(mut lines: Vec<Lines>, total: u32) -> Vec<Lines> {
    lines.sort_by_key(|range| range.first);
    let mut out: Vec<Lines> = Vec::new();
    for range in lines {
        let (first, last) = (range.first.max(1), range.last.min(total));
        if first > last {
            continue;
        }
        match out.last_mut() {
            Some(before) if first <= before.last.saturating_add(1) => {
                before.last = before.last.max(last);
            }
            _ => out.push(Lines { first, last }),
        }
    }
    out
}

/// The first lines that should have been seen and were not.
fn missing(seen: &Seen, covered: &[Lines], policy: ReadPolicy) -> Option<(u32, u32)> {
    let all = [Lines {
        first: 1,
        last: seen.0.total,
    }];
    let needed = match policy {
        ReadPolicy::Relaxed => return None,
        ReadPolicy::Auto if !seen.0.one_read_shows_all => covered,
        ReadPolicy::Auto | ReadPolicy::Whole if seen.0.total == 0 => return None,
        ReadPolicy::Auto | ReadPolicy::Whole => &all,
    };
    needed.iter().find_map(|range| {
        let mut first = range.first;
        for known in &seen.0.lines {
            if known.last < first {
                continue;
            }
            if known.first > first {
                return Some((first, range.last.min(known.first - 1)));
            }
            first = known.last.saturating_add(1);
            if first > range.last {
                return None;
            }
        }
        (first <= range.last).then_some((first, range.last))
    })
}

fn read_lines(first: u32, last: u32) -> String {
    format!(
        "Nothing was changed. Read it first (offset {first}, limit {}), then repeat the call.",
        (last - first).saturating_add(1)
    )
}

/// A file of which the model saw nothing. In an empty one there is nothing to see.
fn unread_file(place: &Place, text: &FileText, policy: ReadPolicy) -> Admission {
    match policy {
        _ if text.line_count() == 0 => Admission::Ok,
        ReadPolicy::Relaxed => Admission::Noted(format!(
            "You have not read {place}. Read it before you rely on more of it."
        )),
        ReadPolicy::Auto | ReadPolicy::Whole => Admission::Unread(format!(
            "{place} exists and was not shown to you. Nothing was changed. Read it first, then \
             repeat the call."
        )),
    }
}

/// The lines of the new text that the model knows after a change that it was shown or that it
/// made: the seen ones that are still there, and the new ones — all of them, or those `written`.
fn carried(seen: &[Lines], changes: &[Changed], written: Option<&[Lines]>) -> Vec<Lines> {
    let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
    let mut out = written.map_or_else(Vec::new, <[Lines]>::to_vec);
    let (mut old, mut new) = (0, 0);
    let ends = changes.iter().map(|c| (c.before.clone(), c.after.clone()));
    let rest = std::iter::once((usize::MAX..usize::MAX, usize::MAX..usize::MAX));
    for (before, after) in ends.chain(rest) {
        // Lines `old..before.start` (from 0) are equal and stand `new - old` further down.
        for range in seen {
            let from = (range.first as usize).saturating_sub(1).max(old);
            let to = (range.last as usize).min(before.start);
            if from < to {
                out.push(Lines {
                    first: number(from - old + new + 1),
                    last: number(to - old + new),
                });
            }
        }
        if after.start < after.end && written.is_none() {
            out.push(Lines {
                first: number(after.start + 1),
                last: number(after.end),
            });
        }
        (old, new) = (before.end, after.end);
    }
    out
}

/// The refusal of a change over another version than the one seen.
fn stale(place: &Place, seen: &Seen, text: &FileText, policy: ReadPolicy) -> Admission {
    let told =
        format!("{place} has changed since you last saw it. Nothing was changed by this call.");
    let Some(old) = &seen.0.text else {
        return Admission::Stale {
            text: format!("{told} Read it again, then repeat the call."),
            shown: None,
        };
    };
    let diff = hunks::unified(old, &hunks::diff("stale", old, text.text()), 3);
    let whole = diff.chars().count() <= DIFF_CHARS;
    if !whole || policy == ReadPolicy::Whole {
        let (part, cut) = if whole {
            (diff.as_str(), "")
        } else {
            (cut_lines(&diff), "…\n")
        };
        return Admission::Stale {
            text: format!(
                "{told} What changed{}:\n{part}{cut}Read it again, then repeat the call.",
                if whole { "" } else { " (only the beginning)" }
            ),
            shown: None,
        };
    }
    let total = u32::try_from(text.line_count()).unwrap_or(u32::MAX);
    let lines = carried(&seen.0.lines, &changed(old, text.text()), None);
    let shown = Shown {
        place: place.clone(),
        version: text.version(),
        lines: tidy(lines, total),
        total_lines: total,
        one_read_shows_all: one_read_shows_all(text),
        text: Some(text.shared_text()),
    };
    Admission::Stale {
        text: format!(
            "{told} What changed, in full:\n{diff}This counts as a Read of the new lines: repeat \
             the call on the text as it is now, if it is still what you want."
        ),
        shown: Some(Box::new(shown)),
    }
}

/// The first whole lines of a diff within its bound.
fn cut_lines(diff: &str) -> &str {
    let end = diff
        .char_indices()
        .nth(DIFF_CHARS)
        .map_or(diff.len(), |(at, _)| at);
    let end = diff[..end].rfind('\n').map_or(0, |at| at + 1);
    &diff[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hunks::apply;
    use proptest::prelude::*;

    fn place() -> Place {
        Place::canonical("/p/a.txt")
    }

    fn spans(lines: &[(u32, u32)]) -> Vec<Lines> {
        let span = |(first, last): &(u32, u32)| Lines {
            first: *first,
            last: *last,
        };
        lines.iter().map(span).collect()
    }

    fn numbered(count: usize) -> String {
        (1..=count).map(|n| format!("line {n}\n")).collect()
    }

    /// A ledger that was shown these lines of a text.
    fn shown(text: &str, lines: &[(u32, u32)]) -> Ledger {
        let mut ledger = Ledger::default();
        let file = FileText::from_document(text);
        for range in lines {
            let shown = Shown {
                place: place(),
                version: file.version(),
                lines: spans(&[*range]),
                total_lines: u32::try_from(file.line_count()).unwrap(),
                one_read_shows_all: one_read_shows_all(&file),
                text: None,
            };
            ledger.show(&shown, Some(file.shared_text()));
        }
        ledger
    }

    fn seen_lines(ledger: &Ledger) -> Vec<(u32, u32)> {
        let seen = ledger.seen(&place());
        let lines = seen.as_ref().map_or(&[][..], |seen| seen.lines());
        lines.iter().map(|l| (l.first, l.last)).collect()
    }

    fn word(admission: &Admission) -> String {
        match admission {
            Admission::Ok => "ok".to_owned(),
            Admission::Noted(text) => format!("noted: {text}"),
            Admission::Unread(text) => format!("unread: {text}"),
            Admission::Stale { text, shown } => format!("stale {}: {text}", shown.is_some()),
        }
    }

    #[test]
    fn an_edit_needs_the_lines_it_relies_on() {
        use ReadPolicy::{Auto, Relaxed, Whole};
        let check = |total, seen: &[(u32, u32)], covered: &[(u32, u32)], policy, want: &str| {
            let text = numbered(total);
            let ledger = shown(&text, seen);
            let file = FileText::from_document(&text);
            let seen = ledger.seen(&place());
            let got = Ledger::admit_edit(&place(), seen.as_ref(), &file, &spans(covered), policy);
            assert!(word(&got).starts_with(want), "{}", word(&got));
        };
        check(10, &[(1, 10)], &[(3, 3)], Auto, "ok");
        check(10, &[(1, 4), (5, 10)], &[(3, 6)], Auto, "ok");
        check(10, &[(5, 10), (1, 4)], &[(3, 6)], Whole, "ok");
        check(10, &[], &[(3, 3)], Auto, "unread: /p/a.txt exists");
        check(
            10,
            &[(3, 3)],
            &[(3, 3)],
            Auto,
            "unread: You have not seen all of /p/a.txt: lines 1-2",
        );
        check(
            10,
            &[(1, 9)],
            &[(3, 3)],
            Auto,
            "unread: You have not seen all of /p/a.txt: lines 10-10",
        );
        check(3000, &[(1, 50)], &[(20, 30)], Auto, "ok");
        check(
            3000,
            &[(1, 50)],
            &[(20, 30)],
            Whole,
            "unread: You have not seen all",
        );
        check(3000, &[(1, 50)], &[(2, 2), (45, 60)], Auto,
            "unread: Lines 51-60 of /p/a.txt, which the edit covers, were not shown to you. Nothing \
             was changed. Read it first (offset 51, limit 10)");
        check(
            3000,
            &[(1, 50), (60, 70)],
            &[(45, 65)],
            Auto,
            "unread: Lines 51-59",
        );
        check(10, &[], &[(3, 3)], Relaxed, "noted: You have not read /p");
        check(10, &[(3, 3)], &[(4, 4)], Relaxed, "ok");
        check(0, &[], &[], Whole, "ok");
    }

    #[test]
    fn a_write_needs_the_whole() {
        use ReadPolicy::{Auto, Relaxed, Whole};
        let check = |total, seen: &[(u32, u32)], policy, want: &str| {
            let text = numbered(total);
            let ledger = shown(&text, seen);
            let file = FileText::from_document(&text);
            let seen = ledger.seen(&place());
            let got = Ledger::admit_write(&place(), seen.as_ref(), &file, policy);
            assert!(word(&got).starts_with(want), "{}", word(&got));
        };
        check(10, &[(1, 10)], Auto, "ok");
        check(3000, &[(1, 2000), (2001, 3000)], Whole, "ok");
        check(
            3000,
            &[(1, 2000)],
            Auto,
            "unread: Write replaces the whole of /p/a.txt, but its lines 2001-3000",
        );
        check(10, &[(1, 9)], Relaxed, "unread: Write");
        check(10, &[], Relaxed, "unread: /p/a.txt exists");
        check(0, &[], Auto, "ok");
    }

    #[test]
    fn a_changed_file_is_told() {
        use ReadPolicy::{Auto, Relaxed, Whole};
        let check = |before: &str, now: &str, policy, parts: &[&str]| {
            let ledger = shown(before, &[(1, 5000)]);
            let file = FileText::from_document(now);
            let seen = ledger.seen(&place());
            let got = word(&Ledger::admit_edit(
                &place(),
                seen.as_ref(),
                &file,
                &spans(&[(1, 1)]),
                policy,
            ));
            for part in parts {
                assert!(got.contains(part), "{part:?} is not in:\n{got}");
            }
            assert!(got.len() < 5_000);
        };
        let diff = "@@ -1,2 +1,2 @@\n a\n-b\n+B\n";
        check(
            "a\nb\n",
            "a\nB\n",
            Auto,
            &["stale true: /p/a.txt has changed", diff, "counts as a Read"],
        );
        check(
            "a\nb\n",
            "a\nB\n",
            Whole,
            &["stale false:", diff, "Read it again"],
        );
        check(
            "a\nb\n",
            "a\nB\n",
            Relaxed,
            &["noted: /p/a.txt had changed"],
        );
        check(
            &numbered(2000),
            "x\n",
            Auto,
            &["stale false:", "(only the beginning)", "…\nRead it again"],
        );
        check(
            &"x".repeat(9000),
            "y\n",
            Auto,
            &["stale false:", "Read it again"],
        );
        check("a\nb\n", "a\r\nb\r\n", Auto, &["ok"]);
        check("a\n", "", Auto, &["stale true:", "-a"]);
    }

    #[test]
    fn a_change_without_the_old_text_asks_for_a_read() {
        use ReadPolicy::Auto;
        let by = Admission::Stale {
            text: "x".to_owned(),
            shown: None,
        };
        assert_eq!(
            word(&by.changed_by("the person, in the editor")),
            "stale false: Changed by the person, in the editor: x"
        );
        // Without the old text there is nothing to compare with.
        let mut ledger = Ledger::default();
        let old = FileText::from_document("a\n");
        ledger.show(
            &Shown {
                place: place(),
                version: old.version(),
                lines: spans(&[(1, 1)]),
                total_lines: 1,
                one_read_shows_all: true,
                text: None,
            },
            None,
        );
        let now = FileText::from_document("b\n");
        let got = Ledger::admit_write(&place(), ledger.seen(&place()).as_ref(), &now, Auto);
        assert!(word(&got).contains("Read it again"));
    }

    #[test]
    fn a_stale_diff_shown_whole_counts_as_seen() {
        let check = |before: &str, seen: &[(u32, u32)], now: &str, want: &[(u32, u32)]| {
            let mut ledger = shown(before, seen);
            let file = FileText::from_document(now);
            let admission = Ledger::admit_edit(
                &place(),
                ledger.seen(&place()).as_ref(),
                &file,
                &[],
                ReadPolicy::Auto,
            );
            let Admission::Stale {
                shown: Some(shown), ..
            } = admission
            else {
                panic!("{admission:?}");
            };
            ledger.show(&shown, Some(file.shared_text()));
            assert_eq!(seen_lines(&ledger), want);
        };
        check("a\nb\nc\n", &[(1, 3)], "a\nX\nY\nc\n", &[(1, 4)]);
        let long = numbered(3000);
        let more = format!("new\n{}", long.replace("line 2500\n", "other\n"));
        check(&long, &[(10, 20)], &more, &[(1, 1), (11, 21), (2501, 2501)]);
    }

    #[test]
    fn an_edit_leaves_seen_what_was_seen() {
        let check = |before: &str,
                     seen: &[(u32, u32)],
                     now: &str,
                     written: Option<&[(u32, u32)]>,
                     want: &[(u32, u32)]| {
            let mut ledger = shown(before, seen);
            let version = Version::of(now);
            match written {
                Some(lines) => ledger.edited(&place(), version, Arc::from(now), &spans(lines)),
                None => ledger.wrote(&place(), version, Arc::from(now)),
            }
            assert_eq!(seen_lines(&ledger), want);
        };
        check("a\n", &[], "x\ny\n", None, &[(1, 2)]);
        check("a\n", &[(1, 1)], "x\ny\n", None, &[(1, 2)]);
        check("a\nb\nc\n", &[(1, 2)], "A\nA\nb\nc\n", None, &[(1, 3)]);
        // The person's line 4 came with the text that Toolgate wrote, and was not shown.
        check(
            "a\nb\nc\nd\n",
            &[(1, 4)],
            "A\nb\nc\nD\n",
            Some(&[(1, 1)]),
            &[(1, 3)],
        );
        check("a\n", &[], "A\n", Some(&[(1, 1)]), &[(1, 1)]);
    }

    #[test]
    fn another_version_begins_anew() {
        let mut ledger = shown(&numbered(3000), &[(1, 10), (11, 20), (500, 600)]);
        assert_eq!(seen_lines(&ledger), [(1, 20), (500, 600)]);
        let other = FileText::from_document("x\ny\n");
        let odd = spans(&[(0, 1), (9, 3), (7, 900)]);
        ledger.show(
            &Shown {
                place: place(),
                version: other.version(),
                lines: odd,
                total_lines: 2,
                one_read_shows_all: true,
                text: None,
            },
            None,
        );
        assert_eq!(seen_lines(&ledger), [(1, 1)]);
        ledger.forget(&place());
        assert!(ledger.seen(&place()).is_none());
    }

    proptest! {
        /// Law 5 for one file: whatever was read, edited and changed outside, a line that the
        /// ledger calls seen has text that some Read, diff or write showed.
        #[test]
        fn no_line_is_seen_that_was_not_shown(
            steps in proptest::collection::vec((0u8..3, 0usize..8, 0usize..8, "[a-c]"), 1..20)
        ) {
            let mut ledger = Ledger::default();
            let mut text = numbered(8);
            let mut known = std::collections::BTreeSet::new();
            for (what, from, to, new) in steps {
                let file = FileText::from_document(&text);
                let (from, to) = (from.min(to).min(file.line_count()), from.max(to).min(file.line_count()));
                let hunk = hunks::LineHunk {
                    id: toolgate_protocol::ids::HunkId("h".to_owned()),
                    old_start: from,
                    old_lines: (from..to).map(|l| file.line(l).to_owned()).collect(),
                    new_lines: vec![new.clone()],
                    final_newline: None,
                };
                let number = |line: usize| u32::try_from(line).unwrap();
                match what {
                    // Read some lines.
                    0 => {
                        known.extend((from..to).map(|line| file.line(line).to_owned()));
                        let lines = vec![Lines { first: number(from + 1), last: number(to) }];
                        ledger.show(&Shown { place: place(), version: file.version(), lines,
                            total_lines: number(file.line_count()), one_read_shows_all: true, text: None },
                            Some(file.shared_text()));
                    }
                    // Toolgate writes one line.
                    1 => {
                        text = apply(&text, &[hunk]);
                        known.insert(new);
                        let written = [Lines { first: number(from + 1), last: number(from + 1) }];
                        ledger.edited(&place(), Version::of(&text), Arc::from(text.as_str()), &written);
                    }
                    // Somebody else writes a line nobody showed.
                    _ => text = apply(&text, &[hunks::LineHunk { new_lines: vec![format!("{new} secret")], ..hunk }]),
                }
                if let Some(seen) = ledger.seen(&place()) {
                    let view = seen.0.text.clone().unwrap();
                    let lines = hunks::lines_of(&view);
                    for range in seen.lines() {
                        for line in range.first..=range.last {
                            let line = lines[line as usize - 1];
                            prop_assert!(known.contains(line), "{line:?} of {lines:?}");
                        }
                    }
                }
            }
        }
    }
}

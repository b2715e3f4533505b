//! From a wanted change to a plan: line hunks over a known base.
//!
//! Matching works on decoded text with LF endings; what comes out are whole-line hunks that
//! `FileText::splice` turns into bytes. A plan never exists for a text that does not match: a
//! near miss is refused with what is there (spec: files.md, "Admission of an edit"). Whether the
//! model has seen what it changes is the ledger's question and not asked here.

use std::sync::Arc;

use toolgate_protocol::ids::HunkId;

use crate::definition::{Change, Replacement};
use crate::document::OpenDocument;
use crate::hunks;
pub use crate::hunks::LineHunk;
use crate::near;
use crate::outcome::Lines;
use crate::place::Place;
use crate::text::{Encoding, FileText};
use crate::version::Version;

/// So many places are listed when a text stands more than once.
const LISTED: usize = 20;
/// So many places are replaced by one replacement at most.
const MOST: usize = 1_000_000;

/// A change of one file, ready to be shown, approved and written.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The file.
    pub place: Place,
    /// What it is based on; none for a new file.
    pub base: Option<Arc<FileText>>,
    /// The document, when the base is an open one.
    pub open: Option<OpenDocument>,
    /// The lines of the base that the change relies on, which are more than it replaces: all
    /// that the old texts cover, or the whole. What the ledger must have seen.
    pub covered: Vec<Lines>,
    /// What is written: in order, not overlapping.
    pub hunks: Vec<LineHunk>,
    /// What the person refused: never written, told to the model.
    pub rejected: Vec<LineHunk>,
    /// The bytes of a new file as the model wrote them, line endings included.
    pub created: Option<Arc<[u8]>>,
    /// The text after `hunks`.
    pub after: Arc<str>,
    /// Its version.
    pub after_version: Version,
}

impl Plan {
    /// The bytes of the file after the change, by its own encoding, BOM and line endings.
    pub fn bytes(&self) -> Result<Vec<u8>, String> {
        match (&self.base, &self.created) {
            (Some(base), _) => base.splice(&self.hunks),
            (None, Some(bytes)) => Ok(bytes.to_vec()),
            (None, None) => Err("a plan without a base and without content".to_owned()),
        }
    }

    /// The lines of `after` that this plan writes.
    pub fn written(&self) -> Vec<Lines> {
        let mut delta: isize = 0;
        let mut out = Vec::new();
        for hunk in &self.hunks {
            let start = hunk.old_start.saturating_add_signed(delta);
            if !hunk.new_lines.is_empty() {
                out.push(lines_between(start, start + hunk.new_lines.len() - 1));
            }
            delta += hunk.new_lines.len() as isize - hunk.old_lines.len() as isize;
        }
        out
    }

    /// The plan with the hunks that are not accepted moved to `rejected`; none when nothing is
    /// left to write.
    pub fn keep(&self, accept: &dyn Fn(&HunkId) -> bool) -> Option<Self> {
        let (kept, refused): (Vec<_>, Vec<_>) =
            self.hunks.iter().cloned().partition(|h| accept(&h.id));
        if kept.is_empty() {
            return None;
        }
        let mut plan = self.clone();
        if !refused.is_empty() {
            let base = self.base.as_ref().map_or("", |base| base.text());
            plan.after = Arc::from(hunks::apply(base, &kept));
            plan.after_version = Version::of(&plan.after);
        }
        plan.hunks = kept;
        plan.rejected.extend(refused);
        plan.rejected.sort_by_key(|hunk| hunk.old_start);
        Some(plan)
    }
}

/// Makes the plan of a change, or says why it cannot be made and what the model can do.
///
/// `base` is what stands at the place now: the open document's text when there is one, else the
/// disk's; none when nothing stands there. Hunks are named `PREFIX.1` and so on.
pub fn plan(
    prefix: &str,
    place: &Place,
    base: Option<&Arc<FileText>>,
    open: Option<OpenDocument>,
    change: &Change,
) -> Result<Plan, String> {
    let Some(base) = base else {
        return create(prefix, place, new_content(place, change)?);
    };
    let (after, covered, hunks) = match change {
        Change::Replace(replacements) => replace(prefix, place, base, replacements)?,
        Change::Whole(content) => whole(prefix, base, content),
    };
    if hunks.is_empty() {
        return Err(format!(
            "{place} has exactly this content already (line endings are kept as they are); \
             nothing was written. No further step is needed."
        ));
    }
    // What cannot be written must not be shown for approval.
    base.splice(&hunks).map_err(|fault| {
        format!("{place} was not changed: {fault}. Use other characters, or ask the person.")
    })?;
    Ok(Plan {
        place: place.clone(),
        base: Some(Arc::clone(base)),
        open,
        covered,
        hunks,
        rejected: Vec::new(),
        created: None,
        after_version: Version::of(&after),
        after: Arc::from(after),
    })
}

/// The plan of a file that does not exist yet.
fn create(prefix: &str, place: &Place, content: &str) -> Result<Plan, String> {
    let bytes: Arc<[u8]> = Arc::from(content.as_bytes());
    let made = FileText::decode(Arc::clone(&bytes), Encoding::Utf8)?;
    let mut hunks = hunks::diff(prefix, "", made.text());
    if hunks.is_empty() {
        // An empty file is a change too, and the person must have something to accept.
        hunks.push(LineHunk {
            id: HunkId(format!("{prefix}.1")),
            old_start: 0,
            old_lines: Vec::new(),
            new_lines: Vec::new(),
            final_newline: Some(false),
        });
    }
    Ok(Plan {
        place: place.clone(),
        base: None,
        open: None,
        covered: Vec::new(),
        hunks,
        rejected: Vec::new(),
        created: Some(bytes),
        after: made.shared_text(),
        after_version: made.version(),
    })
}

/// The content of a new file.
fn new_content<'a>(place: &Place, change: &'a Change) -> Result<&'a str, String> {
    match change {
        Change::Whole(content) => Ok(content),
        Change::Replace(replacements) => match replacements.as_slice() {
            [only] if only.old.is_empty() => Ok(&only.new),
            _ => Err(format!(
                "{place} does not exist, so there is no text to replace. Look for the right path \
                 with Glob, or create the file with Write."
            )),
        },
    }
}

fn to_lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}

fn all_lines(base: &FileText) -> Vec<Lines> {
    match base.line_count() {
        0 => Vec::new(),
        count => vec![lines_between(0, count - 1)],
    }
}

/// Lines counted from 0, as `Lines`.
fn lines_between(first: usize, last: usize) -> Lines {
    let number = |line: usize| u32::try_from(line + 1).unwrap_or(u32::MAX);
    Lines {
        first: number(first),
        last: number(last),
    }
}

/// A text after a change, the lines that the change relies on, and its hunks.
type Changed = (String, Vec<Lines>, Vec<LineHunk>);

/// A Write over an existing file, which keeps its BOM.
fn whole(prefix: &str, base: &FileText, content: &str) -> Changed {
    let content = match content.strip_prefix('\u{feff}') {
        Some(rest) if base.bom() => rest,
        _ => content,
    };
    let after = to_lf(content);
    let hunks = hunks::diff(prefix, base.text(), &after);
    (after, all_lines(base), hunks)
}

/// One replacement on its way: where its old text stands in the base.
struct Found {
    index: usize,
    start: usize,
    end: usize,
}

/// All replacements of an Edit, matched against one text.
fn replace(
    prefix: &str,
    place: &Place,
    base: &FileText,
    replacements: &[Replacement],
) -> Result<Changed, String> {
    if let ([only], true) = (replacements, base.text().is_empty()) {
        if only.old.is_empty() {
            return Ok(whole(prefix, base, &only.new));
        }
    }
    if replacements.is_empty() {
        return Err("no replacement is given. Name at least one.".to_owned());
    }
    let news: Vec<String> = replacements.iter().map(|r| to_lf(&r.new)).collect();
    let mut found: Vec<Found> = Vec::new();
    for (index, replacement) in replacements.iter().enumerate() {
        let name = name_of(index, replacements.len());
        let old = to_lf(&replacement.old);
        check_texts(place, &name, &old, &news[index])?;
        let starts = find(place, base, &name, &old, replacement.all)?;
        found.extend(starts.into_iter().map(|start| Found {
            index,
            start,
            end: start + old.len(),
        }));
    }
    found.sort_by_key(|hit| (hit.start, hit.end));
    refuse_overlap(base, &found)?;
    let mut after = String::with_capacity(base.text().len());
    let (mut covered, mut hunks) = (Vec::new(), Vec::new());
    let (mut done, mut rest) = (0, found.as_slice());
    while !rest.is_empty() {
        let region = Region::of(base, &mut rest, &news);
        after.push_str(&base.text()[done..base.line_offset(region.first)]);
        after.push_str(&region.after);
        done = base.line_offset(region.end);
        covered.push(lines_between(region.first, region.end - 1));
        region.diff(prefix, base, &mut hunks);
    }
    after.push_str(&base.text()[done..]);
    Ok((after, covered, hunks))
}

/// Whole lines that some replacements touch, and what becomes of them.
///
/// Hunks are made region by region: a diff of the whole could slide a hunk along equal lines to
/// one that the old text does not cover, which the model may not have seen (law 5).
struct Region {
    first: usize,
    end: usize,
    after: String,
}

impl Region {
    /// Takes from `rest` the hits of the next region: those on the same or adjoining lines.
    fn of(base: &FileText, rest: &mut &[Found], news: &[String]) -> Self {
        let text = base.text();
        let first = rest.first().map_or(0, |hit| base.line_of(hit.start));
        let mut region = Self {
            first,
            end: first,
            after: String::new(),
        };
        let mut taken = base.line_offset(first);
        loop {
            while let Some((hit, others)) = rest.split_first() {
                if base.line_of(hit.start) > region.end {
                    break;
                }
                region.after.push_str(&text[taken..hit.start]);
                region.after.push_str(&news[hit.index]);
                taken = hit.end;
                region.end = region.end.max(base.line_of(hit.end - 1) + 1);
                *rest = others;
            }
            let tail = &text[taken..base.line_offset(region.end)];
            let last = tail.chars().last().or(region.after.chars().last());
            if matches!(last, None | Some('\n')) || region.end == base.line_count() {
                region.after.push_str(tail);
                return region;
            }
            // The line break is replaced too, so that the next line is joined: it belongs here.
            region.end += 1;
        }
    }

    /// Adds the region's hunks, by line numbers of the whole.
    fn diff(&self, prefix: &str, base: &FileText, hunks: &mut Vec<LineHunk>) {
        let lines = base.line_offset(self.first)..base.line_offset(self.end);
        for mut hunk in hunks::diff(prefix, &base.text()[lines], &self.after) {
            hunk.id = HunkId(format!("{prefix}.{}", hunks.len() + 1));
            hunk.old_start += self.first;
            if self.end < base.line_count() {
                hunk.final_newline = None;
            }
            hunks.push(hunk);
        }
    }
}

/// How the model calls a replacement's fields.
fn name_of(index: usize, count: usize) -> String {
    if count == 1 {
        String::new()
    } else {
        format!("edits[{index}].")
    }
}

fn check_texts(place: &Place, name: &str, old: &str, new: &str) -> Result<(), String> {
    if old.is_empty() {
        return Err(format!(
            "{name}old_string is empty, but {place} has content. Name the text to replace, or \
             replace the whole file with Write."
        ));
    }
    if old == new {
        return Err(format!(
            "{name}old_string and {name}new_string are the same (line endings are not compared). \
             Nothing was changed; give the text as it should become."
        ));
    }
    Ok(())
}

/// Where the old text stands: once, or everywhere with `all`.
fn find(
    place: &Place,
    base: &FileText,
    name: &str,
    old: &str,
    all: bool,
) -> Result<Vec<usize>, String> {
    let text = base.text();
    let mut hits = text.match_indices(old).map(|(at, _)| at);
    let Some(first) = hits.next() else {
        return Err(format!(
            "{name}old_string was not found in {place}; nothing was changed. {} Repeat the call \
             with the text exactly as it stands in the file; Read it again when in doubt.",
            sentence(&near::report(base, old))
        ));
    };
    if all {
        let starts: Vec<usize> = std::iter::once(first).chain(hits).take(MOST + 1).collect();
        if starts.len() > MOST {
            return Err(format!(
                "{name}old_string stands more than {MOST} times in {place}; nothing was changed. \
                 Use a longer old_string, or a command."
            ));
        }
        return Ok(starts);
    }
    // `aa` stands twice in `aaa`: the second hit may overlap the first.
    let step = text[first..].chars().next().map_or(1, char::len_utf8);
    let Some(second) = text[first + step..].find(old) else {
        return Ok(vec![first]);
    };
    let second = first + step + second;
    let known = [first, second].into_iter();
    Err(not_unique(
        place,
        base,
        name,
        known.chain(hits.filter(|at| *at > second)),
    ))
}

/// Ends a report as a sentence, or as lines of its own.
fn sentence(report: &str) -> String {
    if report.contains('\n') {
        format!("{report}\n")
    } else {
        report.to_owned()
    }
}

fn not_unique(
    place: &Place,
    base: &FileText,
    name: &str,
    mut hits: impl Iterator<Item = usize>,
) -> String {
    let listed: Vec<String> = hits
        .by_ref()
        .take(LISTED)
        .map(|at| (base.line_of(at) + 1).to_string())
        .collect();
    let more = hits.count();
    let told = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{name}old_string stands {} times in {place}, at lines {}{told}; nothing was changed. Give \
         more of the surrounding text so that it stands once, or set replace_all to replace every \
         one.",
        listed.len() + more,
        listed.join(", ")
    )
}

fn refuse_overlap(base: &FileText, found: &[Found]) -> Result<(), String> {
    for pair in found.windows(2) {
        let [a, b] = pair else { continue };
        if b.start < a.end {
            let (low, high) = (a.index.min(b.index), a.index.max(b.index));
            return Err(format!(
                "edits[{low}] and edits[{high}] overlap at line {}; nothing was changed. All edits \
                 of a call are matched against the same text: join these two into one.",
                base.line_of(b.start) + 1
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn swap(old: &str, new: &str) -> Replacement {
        Replacement {
            old: old.to_owned(),
            new: new.to_owned(),
            all: false,
        }
    }

    fn make(file: Option<&str>, change: &Change) -> Result<Plan, String> {
        let base = file.map(|text| Arc::new(FileText::from_document(text)));
        let place = Place::canonical("/p/a.txt");
        plan("c1", &place, base.as_ref(), None, change)
    }

    fn bytes(plan: Result<Plan, String>) -> Result<String, String> {
        plan.and_then(|plan| plan.bytes())
            .map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn an_edit_replaces_what_stands_exactly_once() {
        let check = |file: &str, old: &str, new: &str, want: &str| {
            let change = Change::Replace(vec![swap(old, new)]);
            assert_eq!(bytes(make(Some(file), &change)).as_deref(), Ok(want));
        };
        check("one\ntwo\n", "two", "2", "one\n2\n");
        check("a\r\nb\r\nc\r\n", "a\nb", "a\nB", "a\r\nB\r\nc\r\n");
        check("a\nb\n", "a\r\nb", "a\r\nB", "a\nB\n");
        check(
            "all:\n\techo PID\n",
            "echo PID",
            "echo $$PID $1 \\1 ${x}",
            "all:\n\techo $$PID $1 \\1 ${x}\n",
        );
        check("a  \nb\t\nlast", "b\t", "B\t", "a  \nB\t\nlast");
        check(
            "l’art et l'art\n",
            "et l'art",
            "et l’art",
            "l’art et l’art\n",
        );
        check("", "", "x\n", "x\n");
        check("a\nb\n", "b\n", "", "a\n");
    }

    #[test]
    fn a_refusal_says_what_can_be_done() {
        let check = |file: Option<&str>, change: &Change, parts: &[&str]| {
            let got = make(file, change).unwrap_err();
            for part in parts {
                assert!(got.contains(part), "{part:?} is not in:\n{got}");
            }
        };
        let one = |old, new| Change::Replace(vec![swap(old, new)]);
        check(
            Some("aaa\n"),
            &one("aa", "b"),
            &["stands 2 times", "lines 1, 1;", "replace_all"],
        );
        check(Some("x\ny\nx\n"), &one("x", "b"), &["at lines 1, 3;"]);
        check(
            Some(&"x\n".repeat(50)),
            &one("x", "b"),
            &["50 times", "20 and 30 more"],
        );
        check(
            Some("a\n"),
            &one("", "b"),
            &["is empty, but /p/a.txt has content", "with Write"],
        );
        check(Some("a\n"), &one("a", "a"), &["are the same"]);
        check(Some("a\n"), &one("a\r\n", "a\n"), &["are the same"]);
        check(
            Some("\tfoo\n"),
            &one("  foo", "x"),
            &["not found", "indentation", "as it stands"],
        );
        check(None, &one("a", "b"), &["does not exist", "with Write"]);
        check(
            Some("a\n"),
            &Change::Whole("a\r\n".to_owned()),
            &["exactly this content"],
        );
        check(
            Some("a\n"),
            &Change::Whole("\u{feff}a\n".to_owned()),
            &["byte order mark"],
        );
        check(
            Some("a\n"),
            &Change::Replace(Vec::new()),
            &["no replacement"],
        );
    }

    #[test]
    fn several_replacements_are_matched_against_one_text() {
        let check = |file: &str, edits: &[(&str, &str)], want: Result<&str, &str>| {
            let edits = edits.iter().map(|(old, new)| swap(old, new)).collect();
            match (bytes(make(Some(file), &Change::Replace(edits))), want) {
                (Ok(got), Ok(want)) => assert_eq!(got, want),
                (Err(got), Err(part)) => assert!(got.contains(part), "{got}"),
                (got, want) => panic!("{got:?}, not {want:?}"),
            }
        };
        check("a b c\n", &[("c", "b"), ("b", "c")], Ok("a c b\n"));
        check(
            "abc\n",
            &[("ab", "x"), ("bc", "y")],
            Err("edits[0] and edits[1] overlap at line 1"),
        );
        check("abc\n", &[("ab", "x"), ("c", "y")], Ok("xy\n"));
        check(
            "abc\n",
            &[("a", "x"), ("z", "y")],
            Err("edits[1].old_string was not found"),
        );
        check(
            "a\n",
            &[("a", "b"), ("b", "c")],
            Err("edits[1].old_string was not found"),
        );
        check(
            "",
            &[("", "b"), ("", "c")],
            Err("edits[0].old_string is empty"),
        );
    }

    #[test]
    fn a_plan_names_the_lines_that_it_relies_on() {
        let check = |change: &Change, want: &[(u32, u32)]| {
            let plan = make(Some("a\nb\nc\nd\ne\na\n"), change).unwrap();
            let got: Vec<_> = plan.covered.iter().map(|l| (l.first, l.last)).collect();
            assert_eq!(got, want);
        };
        let mut all = swap("a", "A");
        all.all = true;
        check(&Change::Replace(vec![all]), &[(1, 1), (6, 6)]);
        // The hunk is line 3 alone, but the model relied on 2 to 4.
        check(
            &Change::Replace(vec![swap("b\nc\nd", "b\nC\nd")]),
            &[(2, 4)],
        );
        check(&Change::Replace(vec![swap("c\n", "")]), &[(3, 3)]);
        // What joins the next line relies on that one too.
        check(&Change::Replace(vec![swap("c\n", "C")]), &[(3, 4)]);
        check(
            &Change::Replace(vec![swap("b\nc", "x"), swap("e\na", "y")]),
            &[(2, 3), (5, 6)],
        );
        check(&Change::Whole("x".to_owned()), &[(1, 6)]);
    }

    #[test]
    fn a_write_keeps_what_the_file_is_and_a_new_file_is_as_written() {
        let check = |file: Option<&[u8]>, content: &str, want: &[u8]| {
            let base = file
                .map(|bytes| Arc::new(FileText::decode(Arc::from(bytes), Encoding::Utf8).unwrap()));
            let place = Place::canonical("/p/a.txt");
            let change = Change::Whole(content.to_owned());
            let plan = plan("c1", &place, base.as_ref(), None, &change).unwrap();
            assert_eq!(plan.bytes().unwrap(), want);
            let after = FileText::decode(Arc::from(want), Encoding::Utf8).unwrap();
            assert_eq!(plan.after_version, after.version());
            assert!(plan.hunks.iter().all(|hunk| hunk.id.0.starts_with("c1.")));
            assert!(!plan.hunks.is_empty());
        };
        check(Some(b"\xef\xbb\xbfa\r\n"), "txt\n", b"\xef\xbb\xbftxt\r\n");
        check(
            Some(b"\xef\xbb\xbfa\r\n"),
            "\u{feff}txt",
            b"\xef\xbb\xbftxt",
        );
        check(None, "x  \ny", b"x  \ny");
        check(None, "a\r\nb\n", b"a\r\nb\n");
        check(None, "\u{feff}a", b"\xef\xbb\xbfa");
        check(None, "", b"");
        check(Some(b"a\n"), "", b"");
    }

    #[test]
    fn refused_hunks_are_kept_aside() {
        let change = Change::Whole("A\nb\nC\nd\nE\n".to_owned());
        let plan = make(Some("a\nb\nc\nd\ne\n"), &change).unwrap();
        let kept = plan.keep(&|id| id.0 != "c1.2").unwrap();
        assert_eq!(&*kept.after, "A\nb\nc\nd\nE\n");
        assert_eq!(kept.after_version, Version::of("A\nb\nc\nd\nE\n"));
        assert_eq!(kept.rejected.len(), 1);
        let fewer = kept.keep(&|id| id.0 == "c1.3").unwrap();
        assert_eq!(&*fewer.after, "a\nb\nc\nd\nE\n");
        let refused: Vec<_> = fewer.rejected.iter().map(|h| h.id.0.as_str()).collect();
        assert_eq!(refused, ["c1.1", "c1.2"]);
        assert!(plan.keep(&|_| false).is_none());
        assert_eq!(plan.keep(&|_| true).unwrap().hunks, plan.hunks);
    }

    proptest! {
        #[test]
        fn several_edits_are_as_if_done_at_once(
            lines in proptest::collection::vec("[ab\n]{0,3}", 1..8),
            news in proptest::collection::vec("[c\n]{0,3}", 8),
        ) {
            let mut edits = Vec::new();
            let (mut file, mut want) = (String::new(), String::new());
            for (index, line) in lines.iter().enumerate() {
                edits.push(swap(&format!("<{index}\n>"), &news[index]));
                file.push_str(&format!("{line}<{index}\n>"));
                want.push_str(&format!("{line}{}", news[index]));
            }
            edits.reverse();
            let plan = make(Some(&file), &Change::Replace(edits)).unwrap();
            prop_assert_eq!(&*plan.after, want.as_str());
            prop_assert_eq!(plan.bytes().unwrap(), want.into_bytes());
            prop_assert_eq!(hunks::apply(&file, &plan.hunks), plan.after.to_string());
        }

        #[test]
        fn an_edit_changes_what_it_names_and_nothing_else(
            head in "[ab\n]{0,12}", old in "[x\n]{0,4}x[x\n]{0,3}", tail in "[ab\n]{0,12}", new in "[a-c$\n]{0,6}",
        ) {
            let file = format!("{head}{old}{tail}");
            let plan = make(Some(&file), &Change::Replace(vec![swap(&old, &new)]));
            let want = format!("{head}{new}{tail}");
            if file.matches(&old).count() == 1 {
                let plan = plan.unwrap();
                prop_assert_eq!(&*plan.after, want.as_str());
                prop_assert_eq!(plan.bytes().unwrap(), want.into_bytes());
                // No hunk takes a line that the model need not have seen.
                let covers = |line: usize| {
                    let line = line as u32 + 1;
                    plan.covered.iter().any(|l| l.first <= line && line <= l.last)
                };
                for hunk in &plan.hunks {
                    prop_assert!((hunk.old_start..hunk.old_end()).all(covers), "{hunk:?}");
                }
            }
        }
    }
}

//! Line hunks: made from two texts, applied to one, and shown.
//!
//! All works on decoded text with LF endings and whole lines; bytes are `encode`'s. A hunk that
//! does not fit its base is never forced: `apply` is called only with hunks of that base, and
//! `encode` checks them again before a byte is made.

use imara_diff::{Algorithm, Diff as LineDiff, InternedInput};
use serde_json::{json, Value};
use toolgate_protocol::ids::HunkId;
use toolgate_protocol::render::{Diff, Hunk, HunkState};

/// Whole lines that are replaced, by line numbers of the base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineHunk {
    /// Its name, unique within the session.
    pub id: HunkId,
    /// First line that goes, counted from 0; with no old lines, the line before which the new
    /// ones are put.
    pub old_start: usize,
    /// The lines that go, without endings.
    pub old_lines: Vec<String>,
    /// The lines that come, without endings.
    pub new_lines: Vec<String>,
    /// Present when the hunk reaches the end of the text: whether the text ends with a line
    /// ending afterwards. Says nothing when no new line comes: then the line before decides.
    pub final_newline: Option<bool>,
}

impl LineHunk {
    /// One past the last line that goes.
    pub fn old_end(&self) -> usize {
        self.old_start + self.old_lines.len()
    }
}

/// Lines of both texts together up to which the more readable and less bounded algorithm is taken.
const HISTOGRAM_LINES: usize = 4_000;

/// Ranges of lines, in two texts, that differ; everything between them is equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Changed {
    /// Lines of the first text.
    pub(crate) before: std::ops::Range<usize>,
    /// Lines of the second.
    pub(crate) after: std::ops::Range<usize>,
}

/// The lines of a text, without endings. A final newline begins no line.
pub(crate) fn lines_of(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').map(bare).collect()
}

fn bare(line: &str) -> &str {
    line.strip_suffix('\n').unwrap_or(line)
}

/// The lines that differ between two texts. A last line with and without ending differ.
pub(crate) fn changed(before: &str, after: &str) -> Vec<Changed> {
    let input = InternedInput::new(before, after);
    // Histogram reads better and takes 24 s for 50,000 scattered changes, Myers 60 ms.
    let algorithm = if input.before.len() + input.after.len() > HISTOGRAM_LINES {
        Algorithm::Myers
    } else {
        Algorithm::Histogram
    };
    let mut diff = LineDiff::compute(algorithm, &input);
    diff.postprocess_lines(&input);
    let wide = |range: std::ops::Range<u32>| range.start as usize..range.end as usize;
    diff.hunks()
        .map(|hunk| Changed {
            before: wide(hunk.before),
            after: wide(hunk.after),
        })
        .collect()
}

/// The hunks that make `after` of `base`, named `PREFIX.1`, `PREFIX.2` and so on.
pub fn diff(place_prefix_for_ids: &str, base: &str, after: &str) -> Vec<LineHunk> {
    if base == after {
        return Vec::new();
    }
    let (old, new) = (lines_of(base), lines_of(after));
    let pick = |lines: &[&str], range: std::ops::Range<usize>| {
        lines[range].iter().map(|line| (*line).to_owned()).collect()
    };
    changed(base, after)
        .into_iter()
        .enumerate()
        .map(|(index, change)| LineHunk {
            id: HunkId(format!("{place_prefix_for_ids}.{}", index + 1)),
            old_start: change.before.start,
            final_newline: (change.before.end == old.len()).then(|| after.ends_with('\n')),
            old_lines: pick(&old, change.before),
            new_lines: pick(&new, change.after),
        })
        .collect()
}

/// The text after the hunks, which must be in order, not overlap and fit `base`.
pub fn apply(base: &str, hunks: &[LineHunk]) -> String {
    let lines: Vec<&str> = base.split_inclusive('\n').collect();
    let mut out = String::with_capacity(base.len());
    let mut next = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let start = hunk.old_start.clamp(next, lines.len());
        lines[next..start]
            .iter()
            .for_each(|line| out.push_str(line));
        next = hunk.old_end().clamp(start, lines.len());
        if hunk.new_lines.is_empty() {
            continue;
        }
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        for line in &hunk.new_lines {
            out.push_str(line);
            out.push('\n');
        }
        let last = index + 1 == hunks.len() && next == lines.len();
        if last && !ends_with_newline(base.is_empty() || base.ends_with('\n'), hunk) {
            out.pop();
        }
    }
    lines[next..].iter().for_each(|line| out.push_str(line));
    out
}

/// Whether the text ends with a line ending after its last hunk, which reaches the end and
/// brings new lines.
pub(crate) fn ends_with_newline(base: bool, hunk: &LineHunk) -> bool {
    hunk.final_newline.unwrap_or(base)
}

/// One group of hunks with the unchanged lines around them.
struct Group {
    old_start: usize,
    old_count: usize,
    new_start: usize,
    new_count: usize,
    lines: Vec<String>,
}

const NO_NEWLINE: &str = "\\ No newline at end of file";

/// The hunks in groups: two that share lines of context are in one.
fn groups(base: &str, hunks: &[LineHunk], context: usize) -> Vec<Group> {
    let lines = lines_of(base);
    let base_newline = base.is_empty() || base.ends_with('\n');
    let mut groups: Vec<Group> = Vec::new();
    let mut delta: isize = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let before = index.checked_sub(1).map_or(0, |i| hunks[i].old_end());
        let joined = index > 0 && hunk.old_start <= before.saturating_add(2 * context);
        let from = if joined {
            before
        } else {
            before.max(hunk.old_start.saturating_sub(context))
        };
        if !joined {
            groups.push(Group {
                old_start: from,
                old_count: 0,
                new_start: from.saturating_add_signed(delta),
                new_count: 0,
                lines: Vec::new(),
            });
        }
        let after = hunks.get(index + 1).map(|next| next.old_start);
        let tail = hunk.old_end().saturating_add(context).min(lines.len());
        let to = match after {
            Some(next) if next <= hunk.old_end().saturating_add(2 * context) => hunk.old_end(),
            Some(next) => tail.min(next),
            None => tail,
        };
        if let Some(group) = groups.last_mut() {
            let head = lines.get(from..hunk.old_start).unwrap_or_default();
            let foot = lines.get(hunk.old_end()..to).unwrap_or_default();
            let reaches_end = hunk.old_end() == lines.len();
            group.context(head);
            group.hunk(hunk, reaches_end.then_some(base_newline));
            group.context(foot);
            if to == lines.len() && !foot.is_empty() && !base_newline {
                group.lines.push(NO_NEWLINE.to_owned());
            }
        }
        delta += hunk.new_lines.len() as isize - hunk.old_lines.len() as isize;
    }
    groups
}

impl Group {
    fn context(&mut self, lines: &[&str]) {
        self.old_count += lines.len();
        self.new_count += lines.len();
        self.lines
            .extend(lines.iter().map(|line| format!(" {line}")));
    }

    /// Adds a hunk; `end` says, for one that reaches the end, whether the base ends with a
    /// newline.
    fn hunk(&mut self, hunk: &LineHunk, end: Option<bool>) {
        self.old_count += hunk.old_lines.len();
        self.new_count += hunk.new_lines.len();
        let old = hunk.old_lines.iter().map(|line| format!("-{line}"));
        self.lines.extend(old);
        if end == Some(false) && !hunk.old_lines.is_empty() {
            self.lines.push(NO_NEWLINE.to_owned());
        }
        let new = hunk.new_lines.iter().map(|line| format!("+{line}"));
        self.lines.extend(new);
        let newline = end.map(|base| ends_with_newline(base, hunk));
        if newline == Some(false) && !hunk.new_lines.is_empty() {
            self.lines.push(NO_NEWLINE.to_owned());
        }
    }
}

/// The hunks as `structuredPatch` of compat.md 2.1, with three lines of context.
///
/// Line numbers count from 1, also where no line goes or comes, as the SDK's users know it.
pub fn structured_patch(base: &str, hunks: &[LineHunk]) -> Value {
    let patch = groups(base, hunks, 3).into_iter().map(|group| {
        json!({
            "oldStart": group.old_start + 1,
            "oldLines": group.old_count,
            "newStart": group.new_start + 1,
            "newLines": group.new_count,
            "lines": group.lines,
        })
    });
    Value::Array(patch.collect())
}

/// The hunks as a unified diff without file names, for the model.
pub fn unified(base: &str, hunks: &[LineHunk], context: usize) -> String {
    let mut out = String::new();
    for group in groups(base, hunks, context) {
        let start = |line: usize, count: usize| if count == 0 { line } else { line + 1 };
        out.push_str(&format!(
            "@@ -{},{} +{},{} @@\n",
            start(group.old_start, group.old_count),
            group.old_count,
            start(group.new_start, group.new_count),
            group.new_count,
        ));
        for line in &group.lines {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// The hunks as an editor draws them: `hunks` in `state`, `rejected` as refused.
///
/// `newStart` of a rejected hunk is the line of the result before which its lines would stand.
pub fn payload(
    path: &str,
    uri: Option<String>,
    version: Option<i32>,
    creates: bool,
    hunks: &[LineHunk],
    rejected: &[LineHunk],
    state: HunkState,
) -> Diff {
    let taken = hunks.iter().map(|hunk| (hunk, state));
    let refused = rejected.iter().map(|hunk| (hunk, HunkState::Rejected));
    let mut all: Vec<(&LineHunk, HunkState)> = taken.chain(refused).collect();
    all.sort_by_key(|(hunk, _)| hunk.old_start);
    let mut delta: isize = 0;
    let mut drawn = Vec::with_capacity(all.len());
    for (hunk, state) in all {
        drawn.push(Hunk {
            hunk_id: hunk.id.clone(),
            old_start: number(hunk.old_start),
            old_lines: hunk.old_lines.clone(),
            new_start: number(hunk.old_start.saturating_add_signed(delta)),
            new_lines: hunk.new_lines.clone(),
            state,
        });
        if state != HunkState::Rejected {
            delta += hunk.new_lines.len() as isize - hunk.old_lines.len() as isize;
        }
    }
    Diff {
        path: path.to_owned(),
        uri,
        creates,
        version,
        hunks: drawn,
    }
}

/// A line number for the wire; a text of more than 2^32 lines is never loaded.
fn number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shape(hunks: &[LineHunk]) -> String {
        let one = |hunk: &LineHunk| {
            let end = match hunk.final_newline {
                Some(true) => " nl",
                Some(false) => " no-nl",
                None => "",
            };
            format!(
                "{}@{}[{}|{}]{end}",
                hunk.id,
                hunk.old_start,
                hunk.old_lines.join(","),
                hunk.new_lines.join(",")
            )
        };
        hunks.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn two_texts_make_whole_line_hunks() {
        let check = |base: &str, after: &str, want: &str| {
            let hunks = diff("c", base, after);
            assert_eq!(shape(&hunks), want, "{base:?} -> {after:?}");
            assert_eq!(apply(base, &hunks), after, "{base:?} -> {after:?}");
        };
        check("a\n", "a\n", "");
        check("", "a\nb\n", "c.1@0[|a,b] nl");
        check("", "a", "c.1@0[|a] no-nl");
        check("", "\n", "c.1@0[|] nl");
        check("a\n", "", "c.1@0[a|] no-nl");
        check("a\nb\nc\n", "a\nB\nc\n", "c.1@1[b|B]");
        check("a\nb\nc\n", "A\nb\nC\n", "c.1@0[a|A] c.2@2[c|C] nl");
        check("a\nb", "a\nb\n", "c.1@1[b|b] nl");
        check("a\nb\n", "a\nb", "c.1@1[b|b] no-nl");
        check("a", "a\nb", "c.1@0[a|a,b] no-nl");
        check("a\n", "a\nb", "c.1@1[|b] no-nl");
        check("a\nb\n", "a\n", "c.1@1[b|] nl");
    }

    #[test]
    fn the_model_reads_a_unified_diff() {
        let check = |base: &str, after: &str, context, want: &str| {
            assert_eq!(unified(base, &diff("c", base, after), context), want);
        };
        check("", "a\n", 3, "@@ -0,0 +1,1 @@\n+a\n");
        check("a\n", "", 3, "@@ -1,1 +0,0 @@\n-a\n");
        check(
            "1\n2\n3\n4\n5\n6\n7\n",
            "1\nX\n3\n4\n5\nY\n7\n",
            1,
            "@@ -1,3 +1,3 @@\n 1\n-2\n+X\n 3\n@@ -5,3 +5,3 @@\n 5\n-6\n+Y\n 7\n",
        );
        check(
            "1\n2\n3\n4\n5\n",
            "1\nX\n3\nY\nZ\n5\n",
            1,
            "@@ -1,5 +1,6 @@\n 1\n-2\n+X\n 3\n-4\n+Y\n+Z\n 5\n",
        );
        check(
            "a\nb",
            "a\nc\n",
            3,
            "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n",
        );
        check(
            "a\nb",
            "x\nb",
            3,
            "@@ -1,2 +1,2 @@\n-a\n+x\n b\n\\ No newline at end of file\n",
        );
    }

    #[test]
    fn the_structured_patch_has_the_known_fields() {
        let base = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let hunks = diff("c", base, "1\n2\n3\n4\nX\nY\n6\n7\n8\n9\n");
        let want = json!([{
            "oldStart": 2, "oldLines": 7, "newStart": 2, "newLines": 8,
            "lines": [" 2", " 3", " 4", "-5", "+X", "+Y", " 6", " 7", " 8"],
        }]);
        assert_eq!(structured_patch(base, &hunks), want);
        assert_eq!(structured_patch(base, &[]), json!([]));
    }

    #[test]
    fn a_rejected_hunk_does_not_move_what_follows() {
        let base = "a\nb\nc\nd\ne\n";
        let hunks = diff("c", base, "a\nB\nB2\nc\nD\nD2\ne\nf\n");
        let drawn = payload(
            "/a",
            None,
            Some(3),
            false,
            &[hunks[0].clone(), hunks[2].clone()],
            &hunks[1..2],
            HunkState::Proposed,
        );
        let starts: Vec<_> = drawn.hunks.iter().map(|h| (h.new_start, h.state)).collect();
        assert_eq!(
            starts,
            [
                (1, HunkState::Proposed),
                (4, HunkState::Rejected),
                (6, HunkState::Proposed)
            ]
        );
    }

    #[test]
    fn scattered_changes_of_a_long_text_are_found() {
        let text = |every: usize| -> String {
            let line = |n: usize| match n % every {
                0 => format!("changed {n}\n"),
                _ => format!("line {n}\n"),
            };
            (1..=60_000).map(line).collect()
        };
        let (base, after) = (text(60_001), text(3));
        let hunks = diff("h", &base, &after);
        assert_eq!(hunks.len(), 20_000);
        assert_eq!(apply(&base, &hunks), after);
    }

    fn texts() -> impl Strategy<Value = String> {
        let line = prop_oneof![Just("a"), Just("b"), Just(""), Just("}"), Just("\tc é")];
        (proptest::collection::vec(line, 0..12), any::<bool>()).prop_map(|(lines, newline)| {
            let mut text = lines.join("\n");
            if newline && !lines.is_empty() {
                text.push('\n');
            }
            text
        })
    }

    proptest! {
        #[test]
        fn a_diff_applied_gives_the_other_text(base in texts(), after in texts()) {
            let hunks = diff("p", &base, &after);
            prop_assert_eq!(apply(&base, &hunks), after);
            prop_assert!(hunks.windows(2).all(|w| w[0].old_end() < w[1].old_start));
        }

        #[test]
        fn a_unified_diff_counts_its_lines(base in texts(), after in texts(), context in 0usize..4) {
            for group in groups(&base, &diff("p", &base, &after), context) {
                let count = |sign: &[char]| group.lines.iter().filter(|l| l.starts_with(sign)).count();
                prop_assert_eq!(count(&[' ', '-']), group.old_count);
                prop_assert_eq!(count(&[' ', '+']), group.new_count);
            }
        }
    }
}

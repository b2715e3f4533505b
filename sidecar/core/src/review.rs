//! What becomes of a plan when the text beneath it moves.
//!
//! A proposal binds hunks, not the file: a change of other lines moves a hunk, a change of its
//! own lines makes it a conflict, which is never written (spec: files.md, "Writing"). What was
//! approved are the hunk's lines; rebasing moves them and never alters them.

use std::sync::Arc;

use crate::document::OpenDocument;
use crate::edit::Plan;
use crate::hunks::{apply, changed, lines_of, Changed, LineHunk};
use crate::outcome::Lines;
use crate::text::FileText;
use crate::version::Version;

/// A plan moved to another text.
#[derive(Clone, Debug)]
pub struct Rebased {
    /// What can still be written; none when nothing is left.
    pub plan: Option<Plan>,
    /// Hunks whose lines were changed by somebody else, by line numbers of the old base.
    pub conflicts: Vec<LineHunk>,
}

impl Plan {
    /// The plan over the text that stands there now.
    ///
    /// A hunk is a conflict when one of the lines that it replaces was touched, or something was
    /// put between them; an insertion when the lines on both sides of it were touched.
    pub fn rebase(&self, current: &Arc<FileText>, open: Option<OpenDocument>) -> Rebased {
        let Some(base) = &self.base else {
            // A file appeared where a new one was to be.
            return Rebased {
                plan: None,
                conflicts: self.hunks.clone(),
            };
        };
        let map = Map::between(base.text(), current.text());
        let mut hunks = Vec::new();
        let mut conflicts = Vec::new();
        for hunk in &self.hunks {
            match map.moved(hunk) {
                Some(moved) => hunks.push(moved),
                None => conflicts.push(hunk.clone()),
            }
        }
        if hunks.is_empty() {
            return Rebased {
                plan: None,
                conflicts,
            };
        }
        let rejected = self.rejected.iter();
        let after: Arc<str> = Arc::from(apply(current.text(), &hunks));
        let plan = Self {
            place: self.place.clone(),
            base: Some(Arc::clone(current)),
            open,
            covered: map.covered(&self.covered),
            hunks,
            // Only told, never written: where it cannot be moved the old place must do.
            rejected: rejected
                .map(|hunk| map.moved(hunk).unwrap_or_else(|| hunk.clone()))
                .collect(),
            created: None,
            after_version: Version::of(&after),
            after,
        };
        Rebased {
            plan: Some(plan),
            conflicts,
        }
    }
}

/// Where the lines of one text stand in another.
struct Map {
    changes: Vec<Changed>,
    base_lines: usize,
    lines: usize,
}

impl Map {
    fn between(base: &str, current: &str) -> Self {
        let changes = if base == current {
            Vec::new()
        } else {
            changed(base, current)
        };
        Self {
            changes,
            base_lines: lines_of(base).len(),
            lines: lines_of(current).len(),
        }
    }

    /// Where a line of the base stands now; none when it was touched.
    fn line(&self, line: usize) -> Option<usize> {
        let before = self.changes.partition_point(|c| c.before.end <= line);
        if self
            .changes
            .get(before)
            .is_some_and(|c| c.before.start <= line)
        {
            return None;
        }
        // Of the changes above, the last one tells the distance.
        match before
            .checked_sub(1)
            .and_then(|index| self.changes.get(index))
        {
            Some(above) => Some(line - above.before.end + above.after.end),
            None => Some(line),
        }
    }

    /// A hunk on its new lines; none when it conflicts.
    fn moved(&self, hunk: &LineHunk) -> Option<LineHunk> {
        let start = if hunk.old_lines.is_empty() {
            self.insertion(hunk.old_start)?
        } else {
            self.replacement(hunk)?
        };
        let mut moved = hunk.clone();
        moved.old_start = start;
        if moved.old_end() != self.lines || hunk.new_lines.is_empty() {
            moved.final_newline = None;
        }
        // All that it wanted was another end of the text, and the end is elsewhere now.
        let idle = moved.final_newline.is_none() && moved.old_lines == moved.new_lines;
        (!idle).then_some(moved)
    }

    /// Where the first replaced line stands, when all of them still stand together.
    fn replacement(&self, hunk: &LineHunk) -> Option<usize> {
        let start = self.line(hunk.old_start)?;
        let last = self.line(hunk.old_end() - 1)?;
        // Nothing between first and last was touched exactly when no change lies there.
        let next = self
            .changes
            .partition_point(|c| c.before.end <= hunk.old_start);
        let quiet = self
            .changes
            .get(next)
            .is_none_or(|c| c.before.start >= hunk.old_end());
        (quiet && last + 1 - start == hunk.old_lines.len()).then_some(start)
    }

    /// Where lines are put that stood before line `point`: after the line above it, else before
    /// the one below. The two ends of the text count as touched when a change reaches them.
    fn insertion(&self, point: usize) -> Option<usize> {
        let first = self.changes.first();
        let last = self.changes.last();
        let above = match point.checked_sub(1) {
            Some(above) => self.line(above).map(|line| line + 1),
            None if first.is_some_and(|c| c.before.start == 0) => None,
            None => Some(0),
        };
        above.or_else(|| {
            if point < self.base_lines {
                self.line(point)
            } else if last.is_some_and(|c| c.before.end == self.base_lines) {
                None
            } else {
                Some(self.lines)
            }
        })
    }

    /// The covered lines as far as they still stand.
    fn covered(&self, covered: &[Lines]) -> Vec<Lines> {
        let mut out: Vec<Lines> = Vec::new();
        for range in covered {
            for line in range.first..=range.last {
                let Some(now) = self.line((line as usize).saturating_sub(1)) else {
                    continue;
                };
                let now = u32::try_from(now + 1).unwrap_or(u32::MAX);
                match out.last_mut() {
                    Some(last) if last.last.checked_add(1) == Some(now) => last.last = now,
                    _ => out.push(Lines {
                        first: now,
                        last: now,
                    }),
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Change;
    use crate::edit::plan;
    use crate::place::Place;
    use proptest::prelude::*;

    fn file(text: &str) -> Arc<FileText> {
        Arc::new(FileText::from_document(text))
    }

    fn change(base: &str, after: &str) -> Plan {
        let place = Place::canonical("/p/a.txt");
        let content = Change::Whole(after.to_owned());
        plan("h", &place, Some(&file(base)), None, &content).unwrap()
    }

    fn check(base: &str, after: &str, current: &str, want: Option<&str>, conflicts: &[&str]) {
        let rebased = change(base, after).rebase(&file(current), None);
        let got = rebased.plan.as_ref().map(|plan| plan.after.to_string());
        assert_eq!(got.as_deref(), want, "{base:?} {after:?} {current:?}");
        let ids: Vec<_> = rebased.conflicts.iter().map(|h| h.id.0.as_str()).collect();
        assert_eq!(ids, conflicts, "{base:?} {after:?} {current:?}");
        if let Some(plan) = &rebased.plan {
            assert_eq!(plan.bytes().unwrap(), plan.after.as_bytes());
            assert_eq!(plan.after_version, Version::of(&plan.after));
        }
    }

    #[test]
    fn hunks_move_with_their_lines_or_conflict() {
        check(
            "a\nb\nc\n",
            "a\nB\nc\n",
            "a\nb\nc\n",
            Some("a\nB\nc\n"),
            &[],
        );
        check(
            "a\nb\nc\n",
            "a\nB\nc\n",
            "new\na\nb\nc\n",
            Some("new\na\nB\nc\n"),
            &[],
        );
        check("a\nb\nc\n", "a\nB\nc\n", "a\nx\nc\n", None, &["h.1"]);
        check(
            "a\nb\nc\n",
            "a\nB\nc\n",
            "a\nb\nC\nd\n",
            Some("a\nB\nC\nd\n"),
            &[],
        );
        // Typing right above and right below touches no line of the hunk.
        check(
            "a\nb\nc\n",
            "a\nB\nc\n",
            "a\nx\nb\ny\nc\n",
            Some("a\nx\nB\ny\nc\n"),
            &[],
        );
        // Something put between two replaced lines.
        check(
            "a\nb\nc\nd\n",
            "a\nB\nC\nd\n",
            "a\nb\nx\nc\nd\n",
            None,
            &["h.1"],
        );
        // One of two hunks.
        check(
            "a\nb\nc\nd\ne\n",
            "A\nb\nc\nd\nE\n",
            "x\nb\nc\nd\ne\n",
            Some("x\nb\nc\nd\nE\n"),
            &["h.1"],
        );
    }

    #[test]
    fn insertions_hold_on_to_one_side() {
        check("a\nb\n", "a\nN\nb\n", "A\nb\n", Some("A\nN\nb\n"), &[]);
        check("a\nb\n", "a\nN\nb\n", "a\nB\n", Some("a\nN\nB\n"), &[]);
        check("a\nb\n", "a\nN\nb\n", "A\nB\n", None, &["h.1"]);
        check(
            "a\nb\n",
            "a\nN\nb\n",
            "a\nx\nb\n",
            Some("a\nN\nx\nb\n"),
            &[],
        );
        check("a\n", "N\na\n", "x\na\n", Some("x\nN\na\n"), &[]);
        check("a\n", "a\nN\n", "a\nx\n", Some("a\nN\nx\n"), &[]);
        check("a\nb\n", "a\nb\nN", "a\nb\nx\n", Some("a\nb\nN\nx\n"), &[]);
        check("", "N\n", "x\n", None, &["h.1"]);
        // The end of the text.
        check("a\nb", "a\nB\n", "x\nb", Some("x\nB\n"), &[]);
        check("a\nb", "a\nb\n", "a\nb\nc\n", None, &["h.1"]);
        check("a\nb\n", "a\nB", "a\nb\nc\n", Some("a\nB\nc\n"), &[]);
        check("a\nb\nc\n", "a\nB\nc\n", "a\nb\n", Some("a\nB\n"), &[]);
        check("a\nb\n", "", "x\na\nb\n", Some("x\n"), &[]);
    }

    #[test]
    fn a_new_file_that_appeared_is_a_conflict() {
        let place = Place::canonical("/p/a.txt");
        let new = plan("h", &place, None, None, &Change::Whole("a\n".to_owned())).unwrap();
        let rebased = new.rebase(&file("b\n"), None);
        assert!(rebased.plan.is_none());
        assert_eq!(rebased.conflicts.len(), 1);
    }

    #[test]
    fn covered_lines_move_along() {
        let mut plan = change("a\nb\nc\nd\n", "a\nb\nC\nd\n");
        plan.covered = vec![Lines { first: 2, last: 4 }];
        let rebased = plan.rebase(&file("x\na\nB\nc\nd\n"), None).plan.unwrap();
        let covered: Vec<_> = rebased.covered.iter().map(|l| (l.first, l.last)).collect();
        assert_eq!(covered, [(4, 5)]);
        assert_eq!(rebased.written(), [Lines { first: 4, last: 4 }]);
    }

    /// Lines with unique texts, so that each can be told apart afterwards.
    fn mark(count: usize, mark: &str) -> Vec<String> {
        (0..count).map(|n| format!("{mark}{n}")).collect()
    }

    /// Replaces ranges of lines (given as start and length) by marked new ones.
    fn alter(lines: &[String], spots: &[(usize, usize, usize)], name: &str) -> Vec<String> {
        let mut out = Vec::new();
        let mut next = 0;
        for (index, (start, old, new)) in spots.iter().enumerate() {
            let start = (next + start).min(lines.len());
            out.extend_from_slice(&lines[next..start]);
            out.extend(mark(*new, &format!("{name}{index}.")));
            next = (start + old).min(lines.len());
        }
        out.extend_from_slice(&lines[next..]);
        out
    }

    fn spots() -> impl Strategy<Value = Vec<(usize, usize, usize)>> {
        proptest::collection::vec((0usize..5, 0usize..3, 0usize..3), 1..4)
    }

    proptest! {
        #[test]
        fn a_rebase_keeps_both_sides(
            count in 0usize..14, model in spots(), person in spots(), ends in any::<(bool, bool, bool)>()
        ) {
            let join = |lines: &[String], newline: bool| {
                lines.join("\n") + if newline && !lines.is_empty() { "\n" } else { "" }
            };
            let base_lines = mark(count, "l");
            let base = join(&base_lines, ends.0);
            let after = join(&alter(&base_lines, &model, "m"), ends.1);
            let theirs = alter(&base_lines, &person, "p");
            let current = join(&theirs, ends.2);
            let hunks = crate::hunks::diff("h", &base, &after);
            prop_assume!(!hunks.is_empty());
            let plan = change(&base, &after);
            let now = file(&current);
            let rebased = plan.rebase(&now, None);
            let kept = rebased.plan.as_ref().map_or(&[][..], |plan| &plan.hunks);
            prop_assert_eq!(kept.len() + rebased.conflicts.len(), hunks.len());
            prop_assert!(kept.windows(2).all(|w| w[0].old_end() <= w[1].old_start));
            let text = rebased.plan.as_ref().map_or(current.clone(), |plan| plan.after.to_string());
            let lines: Vec<&str> = text.lines().collect();
            // Everything that the person wrote is there.
            for line in theirs.iter().filter(|line| line.starts_with('p')) {
                prop_assert!(lines.contains(&line.as_str()), "{line} is not in {lines:?}");
            }
            // The approved lines are there, together and unaltered; what they replace is gone.
            for hunk in kept {
                let new: Vec<&str> = hunk.new_lines.iter().map(String::as_str).collect();
                prop_assert!(new.is_empty() || lines.windows(new.len()).any(|w| w == new), "{hunk:?} {lines:?}");
                for old in hunk.old_lines.iter().filter(|old| !hunk.new_lines.contains(old)) {
                    prop_assert!(!lines.contains(&old.as_str()), "{old} {lines:?}");
                }
            }
            // A line that neither side touched is still there.
            let gone = |line: &&String| kept.iter().any(|h| h.old_lines.contains(line));
            for line in theirs.iter().filter(|line| line.starts_with('l')) {
                prop_assert!(gone(&line) || lines.contains(&line.as_str()), "{line} is not in {lines:?}");
            }
            if let Some(plan) = &rebased.plan {
                prop_assert_eq!(plan.bytes().unwrap(), text.into_bytes());
            }
        }

        #[test]
        fn a_rebase_onto_the_same_text_changes_nothing(base in "[ab\n]{0,12}", after in "[ab\n]{0,12}") {
            prop_assume!(base != after);
            let plan = change(&base, &after);
            let rebased = plan.rebase(&file(&base), None);
            prop_assert!(rebased.conflicts.is_empty());
            let again = rebased.plan.unwrap();
            prop_assert_eq!(&again.after, &plan.after);
        }
    }
}

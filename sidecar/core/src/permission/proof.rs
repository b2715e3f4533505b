//! Whether a call is proven to stay inside the working directories.
//!
//! A path counts as inside only when both its spellings are, and the second one comes from a look
//! at the disk: a path that nobody looked at is nowhere.

use toolgate_protocol::notices::Mode;

use super::paths::Ground;
use super::programs::Use;
use super::protected::{indirect, protected};
use super::question::Question;
use super::reach::{bases, device, redirects, sure, Bases, Reach, Sure};
use super::rule::{List, READERS};
use super::rule_set::RuleSet;
use super::shell_line::Part;
use crate::definition::{Access, Resource};
use crate::place::{normalise, Kind, PathAnswer, Purpose};

/// A path of the call in both its spellings.
pub(super) struct Touch<'a> {
    /// By text alone.
    pub(super) lexical: String,
    /// What the runner found there; none when it did not look.
    pub(super) answer: Option<&'a PathAnswer>,
    /// It is written or removed.
    pub(super) change: bool,
}

impl Touch<'_> {
    /// Both spellings.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        let resolved = self.answer.map(|answer| answer.place.path());
        std::iter::once(self.lexical.as_str()).chain(resolved)
    }
}

/// Proofs about one call.
pub(super) struct Proof<'a> {
    pub(super) question: &'a Question<'a>,
    pub(super) rules: &'a RuleSet,
    pub(super) ground: Ground<'a>,
}

impl<'a> Proof<'a> {
    pub(super) fn of(question: &'a Question<'a>, rules: &'a RuleSet) -> Self {
        let ground = Ground {
            cwd: question.cwd,
            home: question.home,
            roots: question.roots,
            fold: question.fold_case,
        };
        Self {
            question,
            rules,
            ground,
        }
    }

    /// The paths that the runner looked at for this call.
    pub(super) fn answered(&self) -> Vec<Touch<'a>> {
        let answers = self.question.answers.iter();
        let touch = |answer: &'a PathAnswer| Touch {
            lexical: answer.lexical.clone(),
            answer: Some(answer),
            change: answer.aim.purpose == Purpose::Write,
        };
        answers.map(touch).collect()
    }

    /// The paths that a command line's word can mean.
    pub(super) fn touches(&self, reach: &Reach) -> Vec<Touch<'a>> {
        let question = self.question;
        let touch = |path: &String| Touch {
            lexical: normalise(path, question.cwd, question.home),
            answer: question
                .answers
                .iter()
                .find(|answer| answer.aim.path == *path),
            change: matches!(reach.used, Use::Write | Use::Remove),
        };
        reach.spelled.iter().map(touch).collect()
    }

    /// True when a path lies in the working directories by both spellings, and is a plain thing.
    fn inside(&self, touch: &Touch<'_>) -> bool {
        let Some(answer) = touch.answer else {
            return false;
        };
        answer.error.is_none()
            && answer.kind != Kind::Special
            && touch
                .paths()
                .all(|path| self.ground.inside(path) && !indirect(path))
    }

    /// True when a word of a command line is one path that lies inside.
    fn reach_inside(&self, reach: &Reach) -> bool {
        // `a/../b` is another file for the shell than for the text when `a` is a link.
        let climbs = reach
            .spelled
            .iter()
            .any(|path| path.split('/').any(|part| part == ".."));
        !reach.glob
            && !climbs
            && !reach.spelled.is_empty()
            && reach.spelled.iter().all(|path| !device(path))
            && self.touches(reach).iter().all(|touch| self.inside(touch))
    }

    /// True when allow rules or the mode open a redirect's target.
    fn redirect_opened(&self, reach: &Reach) -> bool {
        let change = reach.used == Use::Write;
        let tool = if change { "Edit" } else { "Read" };
        let bare = self
            .rules
            .list(List::Allow)
            .iter()
            .any(|rule| rule.covers_all(tool));
        let by_mode = !change || self.question.mode == Mode::AcceptEdits;
        let literal = !reach.glob && !reach.spelled.is_empty();
        let untilded = reach
            .spelled
            .iter()
            .all(|path| !path.starts_with('~') && !device(path));
        let by_rule = || {
            self.touches(reach)
                .iter()
                .all(|touch| touch.answer.is_some() && (bare || self.opened(touch)))
        };
        // Behind a `cd` a relative target has two meanings; such a line asks.
        let one = reach.spelled.len() == 1;
        literal && untilded && one && ((by_mode && self.reach_inside(reach)) || by_rule())
    }

    /// True when allow rules open a path in both its spellings.
    pub(super) fn opened(&self, touch: &Touch<'_>) -> bool {
        touch
            .paths()
            .all(|path| self.rules.opens(path, touch.change, &self.ground).is_some())
    }

    /// True when a part needs no rule: it only reads inside the working directories, or is a
    /// file-system command that `acceptEdits` covers.
    fn part_proven(&self, part: &Part, bases: &Bases) -> bool {
        let Some(sure) = sure(part, bases) else {
            return false;
        };
        if sure.changes && self.question.mode != Mode::AcceptEdits {
            return false;
        }
        let here = || {
            bases.list().all(|base| {
                self.ground
                    .inside(&normalise(base, self.question.cwd, self.question.home))
            })
        };
        (!sure.here || here())
            && !(sure.deep && self.rules.closes_paths())
            && sure.reaches.iter().all(|reach| self.reach_inside(reach))
            && self.kinds_fit(&sure)
    }

    /// Directories in place of files hold more than the line names.
    fn kinds_fit(&self, sure: &Sure) -> bool {
        let fits = |reach: &Reach| {
            self.touches(reach).iter().all(|touch| {
                let kind = touch.answer.map(|answer| answer.kind);
                match (reach.used, sure.plain) {
                    (Use::Read | Use::Remove, true) => {
                        matches!(kind, Some(Kind::File(_) | Kind::Absent))
                    }
                    // `mv a dir` writes `dir/a`, which nobody looked at.
                    (Use::Write, true) => {
                        kind != Some(Kind::Directory) || reach.spelled.iter().all(|p| into(p))
                    }
                    (Use::Read | Use::Remove | Use::Write | Use::Enter, _) => true,
                }
            })
        };
        let into_named =
            |reach: &Reach| !touches_protected(&self.touches(reach)) || reach.used == Use::Read;
        sure.reaches
            .iter()
            .all(|reach| fits(reach) && into_named(reach))
    }

    /// What each part needs: `None` when it is proven, otherwise whether its redirects are open.
    pub(super) fn needs<'p>(&self, parts: &'p [Part]) -> Vec<(&'p Part, Need)> {
        let bases = bases(parts);
        let changed = parts.iter().any(super::line_rules::changes_shell);
        let need = |part: &Part| {
            if !redirects(part, &bases)
                .iter()
                .all(|reach| self.redirect_opened(reach))
            {
                Need::Redirect
            } else if !changed && self.part_proven(part, &bases) {
                Need::Nothing
            } else {
                Need::Rule
            }
        };
        parts.iter().map(|part| (part, need(part))).collect()
    }

    /// True when the call only reads, by our own analysis, inside the working directories.
    pub(super) fn reads_inside(&self) -> bool {
        let question = self.question;
        let effects = question.effects;
        // A server's own hint that its tool only reads never counts.
        if !effects.read_only || effects.open_world || question.tool.starts_with("mcp__") {
            return false;
        }
        let here = || self.ground.inside(question.cwd);
        let reads = match &effects.access {
            Access::Known { reads, writes } => {
                let fits = |resource: &Resource| match resource {
                    Resource::Place(place) => self.ground.inside(place.path()),
                    Resource::State(_) => true,
                };
                writes.is_empty() && reads.iter().all(fits)
            }
            Access::ReadsAll => READERS.contains(&question.tool) && here(),
            Access::Unknown => false,
        };
        // Without a path these search the working directory.
        let searched = !READERS.contains(&question.tool) || here() || !question.answers.is_empty();
        reads
            && searched
            && !self.pattern_climbs()
            && self
                .answered()
                .iter()
                .all(|touch| !touch.change && self.inside(touch))
    }

    /// True when a search pattern could lead out of the directory that is searched.
    fn pattern_climbs(&self) -> bool {
        let input = self.question.input;
        let texts = ["pattern", "glob"]
            .iter()
            .filter_map(|field| input.get(*field)?.as_str());
        let climbs = |text: &str| {
            text.starts_with(['/', '~'])
                || text.split(['/', '{', ',', '}']).any(|part| part == "..")
        };
        // Grep's `pattern` is no path.
        let paths = |tool: &str| tool == "Glob";
        texts.into_iter().any(climbs) && paths(self.question.tool)
            || input
                .get("glob")
                .and_then(|glob| glob.as_str())
                .is_some_and(climbs)
    }

    /// True when the call only changes the session's own state, such as its list of tasks.
    pub(super) fn session_only(&self) -> bool {
        let effects = self.question.effects;
        let state = |resource: &Resource| matches!(resource, Resource::State(_));
        let known = match &effects.access {
            Access::Known { reads, writes } => reads.iter().chain(writes).all(state),
            Access::ReadsAll | Access::Unknown => false,
        };
        known
            && !effects.open_world
            && !effects.destructive
            && self.question.answers.is_empty()
            && self.question.command.is_none()
            && !self.question.tool.starts_with("mcp__")
            && !super::rule::EDITORS.contains(&self.question.tool)
            && !READERS.contains(&self.question.tool)
    }

    /// True when the call changes only plain files inside the working directories.
    pub(super) fn edits_inside(&self) -> bool {
        let touches = self.answered();
        super::rule::EDITORS.contains(&self.question.tool)
            && !touches.is_empty()
            && touches.iter().all(|touch| self.inside(touch))
    }
}

/// What a part of a line needs to run without a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Nothing.
    Nothing,
    /// An allow rule.
    Rule,
    /// A decision on the target of a redirect.
    Redirect,
}

fn into(path: &str) -> bool {
    path.ends_with('/') || path == "." || path.ends_with("/.")
}

/// True when one of the paths is protected.
pub(super) fn touches_protected(touches: &[Touch<'_>]) -> bool {
    touches
        .iter()
        .any(|touch| touch.change && touch.paths().any(protected))
}

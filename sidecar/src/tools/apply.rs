//! Carries a planned change out: through the editor where the document is open, else on disk.
//!
//! What is written are the plan's hunks, to the byte what was allowed. On an open document a hunk
//! follows its lines when the person types elsewhere, and is a conflict when they touched them; on
//! disk any difference is a refusal. Nothing here decides whether the change may be made.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use toolgate_core::command::Task;
use toolgate_core::document::{DocumentText, OpenDocument};
use toolgate_core::edit::{LineHunk, Plan};
use toolgate_core::event::Found;
use toolgate_core::hunks;
use toolgate_core::outcome::{Effect, Lines, Raw};
use toolgate_core::text::FileText;
use toolgate_core::version::RawHash;
use toolgate_protocol::render::{Diff, Hunk, HunkState, Payload};
use toolgate_protocol::requests::{DocumentEditParams, DocumentEditResult, LineEdit};

use super::{head, open_document, window, Context, EditorHands, Save};
use crate::hands::disk::{self, CommitError, Durability};
use crate::look;

/// How often a change follows a document that moves.
const MOST_REBASES: usize = 5;

/// Characters of a diff that the model gets.
const MOST_DIFF: usize = 8_000;

/// A change that was made.
pub(super) struct Applied {
    /// The text before, with LF endings.
    pub before: Arc<str>,
    /// The file's text now.
    pub after: Arc<FileText>,
    /// From `before` to `after`.
    pub hunks: Vec<LineHunk>,
    /// What the person refused.
    pub rejected: Vec<LineHunk>,
    /// What could not be written because the person changed its lines, with the text that its
    /// line numbers speak of.
    pub conflicts: Vec<(Arc<str>, LineHunk)>,
    /// Lines of `after` that came with this change.
    pub written: Vec<Lines>,
    /// True when there was no file before.
    pub creates: bool,
    /// Directories that were made.
    pub created: Vec<String>,
    /// The document, when it is open: as it is now.
    pub open: Option<OpenDocument>,
    /// What else the model must know.
    pub notes: Vec<String>,
}

/// Makes the change of a task.
pub(super) async fn apply(task: &Task, context: &Context) -> Result<Applied, Box<Raw>> {
    let Some(plan) = &task.plan else {
        return Err(nothing("No change was planned for this call"));
    };
    let plan = Plan::clone(plan);
    let open = open_document(task, &plan.place);
    match (open, &context.editor) {
        (Some(open), Some(editor)) => {
            let current = Arc::new(FileText::from_document(&open.rope.to_string()));
            let job = Job {
                task,
                editor: editor.as_ref(),
                save: context.limits.save,
            };
            job.through_editor(plan, current, open.document.clone())
                .await
        }
        (Some(open), None) if open.document.dirty => Err(nothing(&format!(
            "{} is open with unsaved changes, and the editor cannot apply edits; writing the file \
             would take those changes away. Ask the person to save it",
            plan.place
        ))),
        (Some(_) | None, _) => {
            let durability = context.limits.durability;
            let work = tokio::task::spawn_blocking(move || on_disk(plan, durability));
            work.await.unwrap_or_else(|_| {
                Err(failed(
                    "The write broke. What it did cannot be told; Read the file.".to_owned(),
                    Effect::Unknown,
                ))
            })
        }
    }
}

fn nothing(why: &str) -> Box<Raw> {
    failed(format!("{why}. Nothing was changed."), Effect::None)
}

fn failed(text: String, effect: Effect) -> Box<Raw> {
    Box::new(Raw::failed(text, effect))
}

fn on_disk(mut plan: Plan, durability: Durability) -> Result<Applied, Box<Raw>> {
    if let (Some(base), Some(_)) = (&plan.base, &plan.open) {
        // The base is the document's text: what goes to disk must be spelt as the file is.
        let file = load(&plan)?;
        if file.version() != base.version() {
            return Err(changed(&plan));
        }
        plan.base = Some(file);
        plan.open = None;
    }
    let bytes = plan.bytes().map_err(|why| nothing(&why))?;
    let base: Option<RawHash> = plan.base.as_ref().map(|base| base.raw_hash());
    let done = disk::commit(&plan.place, base, &bytes, durability);
    let done = done.map_err(|error| match error {
        CommitError::Changed => changed(&plan),
        CommitError::Appeared => failed(
            format!(
                "{} appeared while it was to be created, by somebody else. Nothing was written. \
                 Read it, then decide.",
                plan.place
            ),
            Effect::None,
        ),
        CommitError::Refused { text, effect } => {
            let what = match effect {
                Effect::None => "Nothing was changed.",
                Effect::Happened => "The file holds the new content.",
                Effect::Partial | Effect::Unknown => {
                    "The file may hold a part of the new content: Read it."
                }
            };
            failed(format!("{}: {text}. {what}", plan.place), effect)
        }
    })?;
    let mut notes = Vec::new();
    if done.in_place {
        notes.push(
            "The file was written in place, because it has several names or marks that a new file \
             could not get."
                .to_owned(),
        );
    }
    let after = FileText::from_document(&plan.after);
    Ok(Applied {
        created: done.created,
        notes,
        ..made(&plan, Arc::new(after), None)
    })
}

fn load(plan: &Plan) -> Result<Arc<FileText>, Box<Raw>> {
    match look::found(&plan.place) {
        Found::Text { text, .. } => Ok(text),
        Found::Absent => Err(changed(plan)),
        Found::Unfit(why) => Err(nothing(&format!("{}: {why}", plan.place))),
    }
}

fn changed(plan: &Plan) -> Box<Raw> {
    failed(
        format!(
            "{} changed on disk after this change was planned. Nothing was written. Read it again, \
             then repeat the change if it still makes sense.",
            plan.place
        ),
        Effect::None,
    )
}

fn made(plan: &Plan, after: Arc<FileText>, open: Option<OpenDocument>) -> Applied {
    let before = plan.base.as_ref().map(|base| base.shared_text());
    Applied {
        before: before.unwrap_or_else(|| Arc::from("")),
        after,
        hunks: plan.hunks.clone(),
        rejected: plan.rejected.clone(),
        conflicts: Vec::new(),
        written: plan.written(),
        creates: plan.base.is_none(),
        created: Vec::new(),
        open,
        notes: Vec::new(),
    }
}

struct Job<'a> {
    task: &'a Task,
    editor: &'a dyn EditorHands,
    save: Save,
}

impl Job<'_> {
    /// Applies the hunks where their lines are now; follows the document while the person types.
    async fn through_editor(
        &self,
        mut plan: Plan,
        mut current: Arc<FileText>,
        mut open: OpenDocument,
    ) -> Result<Applied, Box<Raw>> {
        let mut conflicts: Vec<(Arc<str>, LineHunk)> = Vec::new();
        for _ in 0..=MOST_REBASES {
            let based = plan.base.as_ref().map(|base| base.version());
            if based == Some(current.version()) {
                plan.base = Some(Arc::clone(&current));
                plan.open = Some(open.clone());
            } else {
                let before = plan.base.as_ref().map(|base| base.shared_text());
                let before = before.unwrap_or_else(|| Arc::from(""));
                let rebased = plan.rebase(&current, Some(open.clone()));
                let lost = rebased.conflicts.into_iter();
                conflicts.extend(lost.map(|hunk| (Arc::clone(&before), hunk)));
                match rebased.plan {
                    Some(moved) => plan = moved,
                    None => return Err(all_lost(&plan, &conflicts)),
                }
            }
            let answer = self.editor.edit(self.params(&plan, &current, &open)).await;
            let reason = match answer {
                Ok(answer) if answer.applied => {
                    let mut applied = self.settle(&plan, &answer, &open).await;
                    applied.conflicts = conflicts;
                    return Ok(applied);
                }
                Ok(answer) => answer.reason.unwrap_or_default(),
                Err(why) => match self.after_silence(&plan).await {
                    Some(now) => {
                        let mut applied = made(&plan, Arc::clone(&now.0), Some(now.1));
                        applied.conflicts = conflicts;
                        return Ok(applied);
                    }
                    None => return Err(silence(&plan, &why)),
                },
            };
            let Some(now) = self.snapshot(&plan).await else {
                return Err(nothing(&format!(
                    "{} was closed in the editor while it was to be edited",
                    plan.place
                )));
            };
            if now.1.version == open.version && now.0.version() == current.version() {
                // Nothing moved: the editor will say the same again.
                return Err(nothing(&format!(
                    "The editor did not change {}: {reason}",
                    plan.place
                )));
            }
            (current, open) = now;
        }
        Err(nothing(&format!(
            "{} was being changed in the editor all the time, {MOST_REBASES} attempts were too \
             late. Try again",
            plan.place
        )))
    }

    fn params(&self, plan: &Plan, current: &FileText, open: &OpenDocument) -> DocumentEditParams {
        let edits = plan.hunks.iter().map(|hunk| LineEdit {
            start_line: u32::try_from(hunk.old_start).unwrap_or(u32::MAX),
            old_lines: hunk.old_lines.clone(),
            new_lines: hunk.new_lines.clone(),
            final_newline: hunk.final_newline,
        });
        DocumentEditParams {
            uri: open.uri.clone(),
            version: open.version,
            hash: sha256(current.text()),
            edits: edits.collect(),
            label: format!("{} {}", self.task.tool, plan.place.name()),
        }
    }

    async fn snapshot(&self, plan: &Plan) -> Option<(Arc<FileText>, OpenDocument)> {
        let now: DocumentText = self.editor.snapshot(plan.place.path()).await?;
        let text = FileText::from_document(&now.rope.to_string());
        Some((Arc::new(text), now.document))
    }

    /// No answer came. The mirror may show nevertheless that the change is in the text.
    async fn after_silence(&self, plan: &Plan) -> Option<(Arc<FileText>, OpenDocument)> {
        let now = self.snapshot(plan).await?;
        (now.0.version() == plan.after_version).then_some(now)
    }

    /// The change is in the buffer: save it where that is wanted, and look what became of it.
    async fn settle(
        &self,
        plan: &Plan,
        answer: &DocumentEditResult,
        open: &OpenDocument,
    ) -> Applied {
        let mut notes = Vec::new();
        let mut dirty = true;
        let save = match self.save {
            Save::Clean => !open.dirty,
            Save::Always => true,
            Save::Never => false,
        };
        if save {
            match self.editor.save(open.uri.clone()).await {
                Ok(saved) if saved.saved => dirty = false,
                Ok(saved) => notes.push(format!(
                    "The change is in the open document, but it could not be saved: {}",
                    saved.reason.unwrap_or_default()
                )),
                Err(why) => notes.push(format!(
                    "The change is in the open document; whether it was saved cannot be told: {why}"
                )),
            }
        } else {
            notes.push(
                "The change is in the open document and not saved: it has unsaved changes, which \
                 programs that read the disk do not see."
                    .to_owned(),
            );
        }
        let document = |version: i32| OpenDocument {
            uri: open.uri.clone(),
            version,
            dirty,
        };
        let expected = Arc::new(FileText::from_document(&plan.after));
        let mut applied = made(plan, expected, Some(document(answer.version)));
        let now = self.snapshot(plan).await;
        // An older mirror has not heard of the edit yet: the editor's own answer counts then.
        let Some((now, newer)) = now.filter(|(_, now)| now.version >= answer.version) else {
            if answer.hash != sha256(&plan.after) {
                notes.push("The document holds other changes too: Read it.".to_owned());
            }
            applied.notes = notes;
            return applied;
        };
        applied.open = Some(document(newer.version));
        if now.version() != plan.after_version {
            notes.push(
                "The editor changed the text further (a formatter, or the person); the diff shows \
                 the text as it is now."
                    .to_owned(),
            );
            let prefix = format!("{}.after", self.task.call.0);
            applied.hunks = hunks::diff(&prefix, &applied.before, now.text());
            applied.written = written(&applied.hunks);
        }
        applied.after = now;
        applied.notes = notes;
        applied
    }
}

/// The lines of the new text that hunks bring.
fn written(hunks: &[LineHunk]) -> Vec<Lines> {
    let mut delta: isize = 0;
    let mut lines = Vec::new();
    for hunk in hunks {
        let first = hunk.old_start.saturating_add_signed(delta) + 1;
        if !hunk.new_lines.is_empty() {
            let last = first + hunk.new_lines.len() - 1;
            lines.push(Lines {
                first: u32::try_from(first).unwrap_or(u32::MAX),
                last: u32::try_from(last).unwrap_or(u32::MAX),
            });
        }
        delta += hunk.new_lines.len() as isize - hunk.old_lines.len() as isize;
    }
    lines
}

fn silence(plan: &Plan, why: &str) -> Box<Raw> {
    failed(
        format!(
            "The editor did not answer whether it changed {}: {why}. It may have been changed: \
             Read it before you go on.",
            plan.place
        ),
        Effect::Unknown,
    )
}

fn all_lost(plan: &Plan, conflicts: &[(Arc<str>, LineHunk)]) -> Box<Raw> {
    failed(
        format!(
            "The person changed the same lines of {} in the editor. Nothing was written.\n{}\nRead \
             the file again, then decide.",
            plan.place,
            told_conflicts(conflicts)
        ),
        Effect::None,
    )
}

fn told_conflicts(conflicts: &[(Arc<str>, LineHunk)]) -> String {
    let told = conflicts
        .iter()
        .map(|(before, hunk)| hunks::unified(before, std::slice::from_ref(hunk), 0));
    bounded(&told.collect::<String>())
}

fn bounded(diff: &str) -> String {
    let start = head(diff, MOST_DIFF);
    if start.len() == diff.len() {
        return diff.to_owned();
    }
    let lines = diff.lines().count() - start.lines().count();
    format!("{start}\n[{lines} more lines of the diff are left out]\n")
}

/// SHA-256 in hexadecimal digits, as the editor computes it.
pub(super) fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Applied {
    /// The outcome: `what` says in one sentence what was done.
    pub(super) fn into_raw(self, task: &Task, what: &str, structured: serde_json::Value) -> Raw {
        let Some(plan) = &task.plan else {
            return *nothing("No change was planned for this call");
        };
        let mut text = what.to_owned();
        if !self.created.is_empty() {
            text.push_str(&format!(" Directories made: {}.", self.created.join(", ")));
        }
        if !self.creates {
            text.push('\n');
            text.push_str(&bounded(&hunks::unified(&self.before, &self.hunks, 3)));
        }
        if !self.rejected.is_empty() {
            let refused = bounded(&hunks::unified(&self.before, &self.rejected, 0));
            text.push_str(&format!(
                "\nThe person rejected a part of the change. This is NOT in the file:\n{refused}"
            ));
        }
        if !self.conflicts.is_empty() {
            text.push_str(&format!(
                "\nThe person changed these lines in the meantime. This is NOT in the file:\n{}",
                told_conflicts(&self.conflicts)
            ));
        }
        let effect = if self.conflicts.is_empty() {
            Effect::Happened
        } else {
            Effect::Partial
        };
        Raw {
            effect,
            notice: (!self.notes.is_empty()).then(|| self.notes.join("\n")),
            structured: Some(structured),
            payload: Some(Payload::Diff(self.diff(plan))),
            shown: vec![window::shown(
                &plan.place,
                &self.after,
                self.written.clone(),
            )],
            changed: vec![plan.place.clone()],
            ..Raw::done(text.trim_end())
        }
    }

    fn diff(&self, plan: &Plan) -> Diff {
        let uri = self.open.as_ref().map(|open| open.uri.clone());
        let version = self.open.as_ref().map(|open| open.version);
        let mut diff = hunks::payload(
            plan.place.path(),
            uri,
            version,
            self.creates,
            &self.hunks,
            &self.rejected,
            HunkState::Applied,
        );
        for (_, hunk) in &self.conflicts {
            let line = u32::try_from(hunk.old_start).unwrap_or(u32::MAX);
            diff.hunks.push(Hunk {
                hunk_id: hunk.id.clone(),
                old_start: line,
                old_lines: hunk.old_lines.clone(),
                new_start: line,
                new_lines: hunk.new_lines.clone(),
                state: HunkState::Conflict,
            });
        }
        diff
    }

    /// The text before, for the structured output; none for a new file or a very large one.
    pub(super) fn original(&self) -> Option<&str> {
        const MOST: usize = 1024 * 1024;
        (!self.creates && self.before.len() <= MOST).then_some(&*self.before)
    }
}

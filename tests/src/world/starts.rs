//! The laws of a start: in order, allowed, seen, recorded (laws 1 to 3, 5 to 8 and 11).

use toolgate_core::command::Task;
use toolgate_core::schedule::Policy;

use super::known::Known;
use super::laws::{Checks, Report};

impl Checks {
    pub(super) fn run(&mut self, task: &Task, report: &mut Report) {
        report.count("run");
        let cancelled = self.cancelled;
        report.law(2, !cancelled, || {
            format!("{} starts after cancel", task.call)
        });
        self.run_in_order(task, report);
        self.run_allowed(task, report);
        self.run_seen(task, report);
        let durable = self.durable;
        let Some(known) = self.calls.get_mut(&task.call) else {
            return;
        };
        let again = known.ran || known.ended_at.is_some() || known.forgotten;
        report.law(1, !again, || format!("{} runs again", task.call));
        known.ran = true;
        if known.touch.has_effects() {
            let safe = known.started_at.is_some_and(|at| at <= durable);
            report.law(11, safe, || {
                format!("{} runs before its record is durable", task.call)
            });
        }
    }

    /// Law 3, and law 8's "alone".
    fn run_in_order(&self, task: &Task, report: &mut Report) {
        let Some(own) = self.calls.get(&task.call) else {
            return;
        };
        for other in self.answer.iter().take_while(|call| **call != task.call) {
            let Some(earlier) = self.calls.get(other) else {
                continue;
            };
            if earlier.ended_at.is_some() {
                continue;
            }
            let meets = earlier.touch.meets(&own.touch)
                || self.rules.policy == Policy::Sequential
                || (self.rules.policy == Policy::Batches
                    && !(earlier.touch.read_only() && own.touch.read_only()));
            // An input that no gate can take is answered at once and stands in nobody's way.
            let law = if own.touch.unknown || earlier.touch.unknown {
                8
            } else {
                3
            };
            report.law(law, !meets, || {
                format!(
                    "{} ({}) starts before {other} ({}) has ended",
                    task.call, own.name, earlier.name
                )
            });
        }
    }

    /// Laws 6, 7 and 8: allowed, and to the byte what was allowed.
    fn run_allowed(&self, task: &Task, report: &mut Report) {
        let Some(known) = self.calls.get(&task.call) else {
            return;
        };
        report.law(7, !known.denied, || {
            format!("{} is denied and runs", task.call)
        });
        let odd = known.touch.unknown && known.name != "Bash";
        let law = if odd { 8 } else { 7 };
        // What an ask rule or the floor asks about is asked every time; the rest may have been
        // allowed for the session, an Edit of a file allowing its Read too.
        let outside = known.input["file_path"] == "/out/x";
        let before = self.calls.values().any(|other| {
            other.allowed
                && (other.name == known.name || (outside && other.input["file_path"] == "/out/x"))
        });
        let asked = !known.must_ask || known.asked || ((odd || outside) && before);
        report.law(law, asked, || {
            format!(
                "{} ({}) must be asked about and was not",
                task.call, known.name
            )
        });
        let answered = !known.asked || known.allowed || self.covered(known);
        report.law(6, answered, || {
            format!("{} runs before an allow", task.call)
        });
        let same = known.input == *task.input;
        report.law(6, same, || format!("{} runs with another input", task.call));
        if let (Some((_, shown)), Some(plan), true) = (&known.shown, &task.plan, known.allowed) {
            let runs: Vec<String> = plan.hunks.iter().map(|hunk| format!("{hunk:?}")).collect();
            let allowed = runs.iter().all(|hunk| shown.contains(hunk))
                && plan
                    .hunks
                    .iter()
                    .all(|hunk| !known.refused.contains(&hunk.id.0))
                && runs.len() + known.refused.len() == shown.len();
            report.law(6, allowed, || {
                format!("{} writes other hunks than were allowed", task.call)
            });
        }
    }

    /// A rule that the person gave with another prompt may have decided this one.
    fn covered(&self, known: &Known) -> bool {
        self.calls
            .values()
            .any(|other| other.allowed && other.name == known.name)
    }

    /// Law 5.
    fn run_seen(&self, task: &Task, report: &mut Report) {
        let Some(plan) = &task.plan else { return };
        let Some(base) = &plan.base else { return };
        if base.text().is_empty() {
            return;
        }
        let seen = self.seen.get(plan.place.path());
        let whole = seen.is_some_and(|(text, whole)| text == base.text() && *whole);
        report.law(5, whole, || {
            format!(
                "{} changes {:?} and the model saw {seen:?}",
                task.call,
                base.text()
            )
        });
    }
}

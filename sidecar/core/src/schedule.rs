//! When a call may go on: a pure function of the calls before it (spec: scheduling.md).
//!
//! Two questions, asked of one call among the calls of its response: may its gates 3 to 5 run
//! (`order`: has every earlier conflicting call ended), and may it start (`start`: order, the end
//! of the message, the limit). The answer names what it waits for, so that every wait can be
//! shown. Calls not yet seen never change the decision for those already seen.
//!
//! Law 3 lives in `conflict`: whatever is not known conflicts.

use std::collections::BTreeSet;

use crate::definition::{Access, Effects, Resource};

/// `scheduler.policy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// A call starts when no earlier unsettled call conflicts with it.
    #[default]
    Resources,
    /// Consecutive safe calls run together, each other call alone.
    Batches,
    /// One at a time.
    Sequential,
}

/// `scheduler.early_start`: which calls may start while the message still arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EarlyStart {
    /// Read-only ones.
    #[default]
    Safe,
    /// Every complete one.
    All,
    /// None.
    Off,
}

/// `scheduler.cancel_siblings`: whom a failing command takes along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CancelSiblings {
    /// A failing command with effects: the commands behind it.
    #[default]
    BashEffectful,
    /// Any failing command: every unfinished call of the response.
    Bash,
    /// Nobody.
    Never,
}

/// The scheduler's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The policy.
    pub policy: Policy,
    /// Most calls that execute at once.
    pub max_concurrency: usize,
    /// Which calls may start early.
    pub early_start: EarlyStart,
    /// Whom a failing command takes along.
    pub cancel_siblings: CancelSiblings,
    /// Under `batches`: one sequential tool makes the whole response sequential.
    pub whole_response: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            max_concurrency: 10,
            early_start: EarlyStart::default(),
            cancel_siblings: CancelSiblings::default(),
            whole_response: false,
        }
    }
}

/// How far a call is, as the scheduler sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not started.
    Before,
    /// Holds a place among the running: starting, running or stopping.
    Running,
    /// Its outcome is there.
    Ended,
}

/// One call of a response, as the scheduler sees it.
#[derive(Clone, Debug)]
pub struct Slot<'a> {
    /// What it would do; `Effects::unknown()` while that is not computed (law 8).
    pub effects: &'a Effects,
    /// How far it is.
    pub phase: Phase,
}

/// Why a call waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// For the call with this index.
    Call(usize),
    /// For the end of the model's message.
    Message,
    /// For one of the running calls to end.
    Limit,
}

/// May the gates that look at the present state run for the call at `index`?
pub fn order(slots: &[Slot<'_>], index: usize, rules: &Rules) -> Result<(), Wait> {
    let Some(own) = slots.get(index) else {
        return Ok(());
    };
    let earlier = slots.iter().enumerate().take(index);
    for (other_index, other) in earlier {
        if other.phase == Phase::Ended {
            continue;
        }
        let holds = match rules.policy {
            Policy::Sequential => true,
            Policy::Resources => conflict(other.effects, own.effects),
            Policy::Batches => {
                serial_response(slots, rules) || !(safe(other.effects) && safe(own.effects))
            }
        };
        if holds {
            return Err(Wait::Call(other_index));
        }
    }
    Ok(())
}

/// May the call at `index`, which passed its gates, start? `open` says that the message has not
/// ended yet.
pub fn start(slots: &[Slot<'_>], index: usize, open: bool, rules: &Rules) -> Result<(), Wait> {
    order(slots, index, rules)?;
    let Some(own) = slots.get(index) else {
        return Ok(());
    };
    if open && !may_start_early(own.effects, rules) {
        return Err(Wait::Message);
    }
    let running = slots
        .iter()
        .filter(|slot| slot.phase == Phase::Running)
        .count();
    if running >= rules.max_concurrency.max(1) {
        return Err(Wait::Limit);
    }
    Ok(())
}

/// May this call start, or ask the person, before the message has ended?
pub fn may_start_early(effects: &Effects, rules: &Rules) -> bool {
    match rules.early_start {
        EarlyStart::All => true,
        EarlyStart::Safe => effects.read_only,
        EarlyStart::Off => false,
    }
}

/// Would the calls see or disturb each other? Not known means yes.
pub fn conflict(earlier: &Effects, later: &Effects) -> bool {
    if earlier.sequential || later.sequential {
        return true;
    }
    let joinable = |e: &Effects| e.concurrency_safe || e.access_complete;
    if !joinable(earlier) || !joinable(later) {
        return true;
    }
    match (&earlier.access, &later.access) {
        (Access::Unknown, _) | (_, Access::Unknown) => true,
        (Access::ReadsAll, Access::ReadsAll) => false,
        (Access::ReadsAll, Access::Known { writes, .. })
        | (Access::Known { writes, .. }, Access::ReadsAll) => !writes.is_empty(),
        (
            Access::Known {
                reads: r1,
                writes: w1,
            },
            Access::Known {
                reads: r2,
                writes: w2,
            },
        ) => meet(w1, w2) || meet(w1, r2) || meet(r1, w2),
    }
}

fn meet(one: &BTreeSet<Resource>, other: &BTreeSet<Resource>) -> bool {
    !one.is_disjoint(other)
}

fn safe(effects: &Effects) -> bool {
    effects.concurrency_safe && !effects.sequential
}

fn serial_response(slots: &[Slot<'_>], rules: &Rules) -> bool {
    rules.whole_response && slots.iter().any(|slot| slot.effects.sequential)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Place;

    /// `R` reads all, `Ea` edits file a, `X` is unknown; `.` behind it: ended, `*`: running.
    fn check(policy: Policy, calls: &str, index: usize, want: Result<(), Wait>) {
        let made: Vec<(Effects, Phase)> = calls
            .split(' ')
            .map(|call| {
                let phase = match call.chars().last() {
                    Some('.') => Phase::Ended,
                    Some('*') => Phase::Running,
                    _ => Phase::Before,
                };
                let effects = match call.chars().next() {
                    Some('R') => Effects::reading(Access::ReadsAll),
                    Some('E') => Effects::writing([Place::canonical(&call[1..2])]),
                    _ => Effects::unknown(),
                };
                (effects, phase)
            })
            .collect();
        let slots: Vec<Slot<'_>> = made
            .iter()
            .map(|(effects, phase)| Slot {
                effects,
                phase: *phase,
            })
            .collect();
        let rules = Rules {
            policy,
            max_concurrency: 2,
            ..Rules::default()
        };
        assert_eq!(start(&slots, index, false, &rules), want, "{calls}");
    }

    #[test]
    fn resources() {
        check(Policy::Resources, "R R X R", 1, Ok(()));
        check(Policy::Resources, "R. R X R", 2, Err(Wait::Call(1)));
        check(Policy::Resources, "R. R. X R", 3, Err(Wait::Call(2)));
        check(Policy::Resources, "Ea* Eb Ea", 1, Ok(()));
        check(Policy::Resources, "Ea* Eb Ea", 2, Err(Wait::Call(0)));
        check(Policy::Resources, "Ea R", 1, Err(Wait::Call(0)));
        check(Policy::Resources, "R* R* R", 2, Err(Wait::Limit));
    }

    #[test]
    fn batches() {
        check(Policy::Batches, "R* Ea R", 2, Err(Wait::Call(1)));
        check(Policy::Batches, "R* Ea", 1, Err(Wait::Call(0)));
        check(Policy::Batches, "Ea* Eb", 1, Err(Wait::Call(0)));
        check(Policy::Batches, "R* R", 1, Ok(()));
    }

    #[test]
    fn sequential() {
        check(Policy::Sequential, "R* R", 1, Err(Wait::Call(0)));
        check(Policy::Sequential, "R. R", 1, Ok(()));
    }

    #[test]
    fn effects_wait_for_the_end_of_the_message() {
        let edit = Effects::writing([Place::canonical("a")]);
        let slots = [Slot {
            effects: &edit,
            phase: Phase::Before,
        }];
        let rules = Rules::default();
        assert_eq!(start(&slots, 0, true, &rules), Err(Wait::Message));
        let all = Rules {
            early_start: EarlyStart::All,
            ..rules
        };
        assert_eq!(start(&slots, 0, true, &all), Ok(()));
    }
}

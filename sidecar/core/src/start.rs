//! From "every gate is passed" to "it runs", and the walk over all calls that gets them there.
//!
//! `advance` runs after every event: it moves the calls in call order, each as far as it can go,
//! and then the turn. A call that waits says for what. Between the grant of its places and its
//! start its paths are looked at once more, its `started` record is made durable if it has effects
//! (law 11), and its digest is held against the allowed one (law 6).

use std::sync::Arc;

use toolgate_protocol::ids::CallId;
use toolgate_protocol::notices::Update;

use crate::admit::started_update;
use crate::call::{legal, Call, CallState, Step};
use crate::command::{Claim, Command, Task};
use crate::definition::{Access, Effects, Resource};
use crate::document::Documents;
use crate::fact::{Fact, Intent};
use crate::outcome::{Gate, Raw};
use crate::place::PathAnswer;
use crate::schedule::{self, Slot, Wait};
use crate::session::Session;
use crate::turn::Phase;

impl Session {
    /// Moves every call as far as it can go now, in call order; then the turn.
    pub(crate) fn advance(&mut self) {
        loop {
            let mut moved = false;
            for index in 0..self.calls().len() {
                moved |= self.step(index);
            }
            if !moved {
                break;
            }
        }
        self.announce();
        let Some(turn) = &self.turn else { return };
        let over = turn.phase == Phase::Settling && turn.freezing == 0;
        if over && turn.calls.iter().all(Call::ended) {
            self.complete();
            // Going on may have begun the next turn or request; neither has calls yet.
            self.announce();
        }
    }

    /// Moves one call by one step, if it can. True: it moved.
    fn step(&mut self, index: usize) -> bool {
        let (step, waited) = match self.calls().get(index) {
            Some(call) => (call.progress.step.clone(), call.progress.waited),
            None => return false,
        };
        match step {
            Step::Order => match self.may(index, schedule::order) {
                Err(wait) => self.wait(index, wait),
                Ok(()) if waited => self.look_again(index),
                Ok(()) => self.meaning(index),
            },
            Step::AskTurn => match self.ask_turn(index) {
                Err(wait) => self.wait(index, wait),
                Ok(()) => self.open_ask(index),
            },
            Step::Start => match self.may_start(index) {
                Err(wait) => self.wait(index, wait),
                Ok(()) => self.acquire(index),
            },
            _ => false,
        }
    }

    fn slots(&self) -> Vec<Slot<'_>> {
        static UNKNOWN: std::sync::OnceLock<Effects> = std::sync::OnceLock::new();
        let unknown = UNKNOWN.get_or_init(Effects::unknown);
        self.calls()
            .iter()
            .map(|call| Slot {
                effects: call.found.effects.as_ref().unwrap_or(unknown),
                phase: call.progress.step.phase(),
            })
            .collect()
    }

    fn may(
        &self,
        index: usize,
        rule: impl Fn(&[Slot<'_>], usize, &schedule::Rules) -> Result<(), Wait>,
    ) -> Result<(), Wait> {
        rule(&self.slots(), index, &self.setup.scheduler)
    }

    fn may_start(&self, index: usize) -> Result<(), Wait> {
        let open = self
            .turn
            .as_ref()
            .is_some_and(|turn| turn.phase == Phase::Streaming);
        schedule::start(&self.slots(), index, open, &self.setup.scheduler)
    }

    /// Prompts appear in call order, and not before the message's end for calls that could not
    /// start before it.
    fn ask_turn(&self, index: usize) -> Result<(), Wait> {
        if !self.early(index) {
            return Err(Wait::Message);
        }
        let before = self.calls().iter().take(index);
        let blocked = before.enumerate().find(|(_, call)| {
            matches!(
                call.progress.step,
                Step::Fit | Step::Probe | Step::Order | Step::Look | Step::Plan | Step::AskTurn
            )
        });
        blocked.map_or(Ok(()), |(other, _)| Err(Wait::Call(other)))
    }

    /// Remembers why a call waits, for the person. Never moves it.
    fn wait(&mut self, index: usize, wait: Wait) -> bool {
        let text = match wait {
            Wait::Call(other) => match self.calls().get(other) {
                Some(call) => format!("after {}", call.title()),
                None => "after another call".to_owned(),
            },
            Wait::Message => "the end of the model's message".to_owned(),
            Wait::Limit => "one of the running calls to end".to_owned(),
        };
        if let Some(call) = self.call_mut(index) {
            if call.progress.step == Step::Order {
                call.progress.waited = true;
            }
            call.progress.waits = Some(text);
        }
        false
    }

    /// Gate 6 is passed as far as this session goes: ask the desk.
    fn acquire(&mut self, index: usize) -> bool {
        let Some(call) = self.call_mut(index) else {
            return false;
        };
        call.progress.step = Step::Acquire;
        call.progress.waits = None;
        call.progress.acquired = true;
        let claims = call.found.effects.as_ref().map_or(Vec::new(), claims_of);
        let command = Command::Acquire {
            call: call.id.clone(),
            claims,
        };
        self.push(command);
        true
    }

    /// The desk gives the places: look at the paths a last time.
    pub(crate) fn granted(&mut self, id: &CallId, documents: Documents) {
        let Some(index) = self.at_step(id, &Step::Acquire) else {
            return;
        };
        let cwd = self.state.cwd.clone();
        let Some(call) = self.call_mut(index) else {
            return;
        };
        call.found.documents = documents;
        let aims: Vec<_> = call
            .found
            .answers
            .iter()
            .map(|answer| answer.aim.clone())
            .collect();
        if aims.is_empty() {
            return self.starting(index);
        }
        call.progress.step = Step::Recheck;
        self.push(Command::Probe {
            call: id.clone(),
            cwd,
            aims,
        });
    }

    pub(crate) fn rechecked(&mut self, index: usize, answers: Vec<PathAnswer>) {
        let Some(call) = self.call_mut(index) else {
            return;
        };
        let same = answers.len() == call.found.answers.len()
            && answers
                .iter()
                .zip(&call.found.answers)
                .all(|(now, then)| now.place == then.place);
        if !same {
            let text = "A path of this call leads to another file now than when it was allowed. \
                        Nothing was done; call it again to have it decided anew.";
            return self.refuse(index, Raw::refused(Gate::Permission, text));
        }
        call.found.answers = answers;
        self.starting(index);
    }

    /// Everything is settled: record the start, and make the record durable before an effect.
    fn starting(&mut self, index: usize) {
        let token = self.next_token();
        let Some(call) = self.call_mut(index) else {
            return;
        };
        let effects = !call
            .found
            .effects
            .as_ref()
            .is_some_and(|effects| effects.read_only);
        let intent = call.found.plan.as_ref().map(|plan| Intent {
            path: plan.place.path().to_owned(),
            base: plan.base.as_ref().map(|base| base.version().hex()),
            new: plan.after_version.hex(),
        });
        let fact = Fact::Started {
            call: call.id.clone(),
            effects,
            intent,
        };
        if effects {
            call.progress.step = Step::Sync;
            call.progress.token = token;
        }
        self.append(fact);
        if effects {
            return self.push(Command::Sync { token });
        }
        self.run(index);
    }

    /// What was appended before this token is on disk.
    pub(crate) fn durable(&mut self, token: u32) {
        if self
            .turn
            .as_ref()
            .is_some_and(|turn| turn.phase == Phase::Syncing(token))
        {
            return self.go_on();
        }
        let waiting =
            |call: &Call| call.progress.step == Step::Sync && call.progress.token == token;
        if let Some(index) = self.calls().iter().position(waiting) {
            self.run(index);
        }
    }

    /// Gate 7. What runs is, to the byte, what was allowed (law 6).
    fn run(&mut self, index: usize) {
        let digest = self.digest(index);
        let cwd = self.state.cwd.clone();
        let Some(call) = self.call_mut(index) else {
            return;
        };
        let allowed = call.found.allowed.as_deref() == Some(&digest);
        let (Some(entry), Some(input)) = (&call.entry, &call.found.input) else {
            return;
        };
        if !allowed {
            let text = "What would run is not what was allowed. Nothing was done; call it again.";
            return self.refuse(index, Raw::refused(Gate::Permission, text));
        }
        let task = Task {
            call: call.id.clone(),
            tool: entry.name.clone(),
            input: Arc::clone(input),
            answers: call.found.answers.clone(),
            documents: std::mem::take(&mut call.found.documents),
            plan: call.found.plan.clone(),
            cwd,
        };
        call.progress.step = Step::Run;
        call.progress.ran = true;
        call.progress.waits = None;
        self.push(Command::Run(task));
    }

    /// Tells the editor what is new of each call, in call order.
    pub(crate) fn announce(&mut self) {
        let mut all_before = true;
        for index in 0..self.calls().len() {
            let call = &self.calls()[index];
            let fitted = call.progress.step != Step::Fit;
            if !call.progress.announced && all_before && fitted {
                let update = started_update(call);
                self.tell(update);
                if let Some(call) = self.call_mut(index) {
                    call.progress.announced = true;
                }
            }
            all_before &= self.calls()[index].progress.announced;
            self.announce_state(index);
        }
    }

    fn announce_state(&mut self, index: usize) {
        let Some(call) = self.call_mut(index) else {
            return;
        };
        let settling = matches!(call.progress.step, Step::Settle | Step::Ended);
        if !call.progress.announced || settling {
            return;
        }
        let state = call.state();
        let waits = match call.progress.step {
            Step::Ask => Some("your approval".to_owned()),
            _ => call.progress.waits.clone(),
        };
        if state == call.progress.told && waits == call.progress.waits_told {
            return;
        }
        let id = call.id.clone();
        let mut told = call.progress.told;
        call.progress.told = state;
        call.progress.waits_told = waits.clone();
        // A call that was announced late has passed states that nobody was told of.
        while told != state && !legal(told, Some(state)) {
            told = after(told);
            if told != state {
                self.tell(Update::CallState {
                    call_id: id.clone(),
                    state: told,
                    waits: None,
                });
            }
        }
        self.tell(Update::CallState {
            call_id: id,
            state,
            waits,
        });
    }
}

/// The state that follows when nothing has to be asked.
fn after(state: CallState) -> CallState {
    match state {
        CallState::Arrived => CallState::Fitting,
        CallState::Fitting | CallState::Hooking | CallState::Asking => CallState::Waiting,
        CallState::Waiting => CallState::Running,
        CallState::Running | CallState::Stopping => CallState::Stopping,
    }
}

fn claims_of(effects: &Effects) -> Vec<Claim> {
    let Access::Known { reads, writes } = &effects.access else {
        return Vec::new();
    };
    let claim = |resource: &Resource, write: bool| match resource {
        Resource::Place(place) => Some(Claim {
            place: place.clone(),
            write,
        }),
        Resource::State(_) => None,
    };
    let reads = reads.iter().filter_map(|resource| claim(resource, false));
    reads
        .chain(writes.iter().filter_map(|resource| claim(resource, true)))
        .collect()
}

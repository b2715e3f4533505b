//! The gates of one call, in their order (spec: call-lifecycle.md).
//!
//! Each gate answers "go on" or hands an outcome to `refuse`, so that a failure has the same shape
//! as a success. Whatever has to be looked at or computed leaves as a command and comes back as an
//! event. Nothing passes a gate twice without a look in between.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;

use serde_json::Value;
use toolgate_protocol::ids::CallId;
use toolgate_protocol::notices::Update;

use crate::call::{Call, Step};
use crate::command::Command;
use crate::definition::{Change, Effects};
use crate::edit::Plan;
use crate::event::Found;
use crate::fact::{Fact, ModelBlock};
use crate::job::{Job, PlanJob};
use crate::message::Part;
use crate::outcome::{Gate, Raw};
use crate::permission::{self, Decision, Question, Verdict};
use crate::place::{Kind, PathAnswer};
use crate::session::Session;
use crate::turn::Received;

impl Session {
    /// A block with a call is complete: gate 1.
    pub(crate) fn arrive(&mut self, id: &str, name: String, input: Part, fault: Option<String>) {
        self.counters.calls += 1;
        let call_id = CallId(format!("c{}", self.counters.calls));
        let provider_id = self.history.unique_id(id);
        self.append(Fact::Block {
            block: ModelBlock::Call {
                call: call_id.clone(),
                id: provider_id.clone(),
                name: name.clone(),
                input: Part::clone(&input),
            },
        });
        let entry = self.setup.catalog.find(&name).cloned();
        let Some(turn) = &mut self.turn else { return };
        let index = turn.calls.len();
        turn.blocks.push(Received::Call(index));
        let mut call = Call::new(
            call_id.clone(),
            provider_id,
            name.clone(),
            Part::clone(&input),
        );
        call.entry = entry.clone();
        turn.calls.push(call);
        let Some(entry) = entry else {
            let text = self.setup.catalog.unknown(&name);
            return self.refuse(index, Raw::refused(Gate::Find, text));
        };
        if let Some(fault) = fault {
            let text = format!(
                "<tool_use_error>The input is not one valid JSON object: {fault}\nNothing was \
                 done. Call the tool again with a valid input.</tool_use_error>"
            );
            return self.refuse(index, Raw::refused(Gate::Shape, text));
        }
        let job = Job::Fit {
            schema: entry.schema,
            input,
        };
        self.push(Command::Compute {
            call: Some(call_id),
            job,
        });
    }

    /// Gate 2 is passed: the input fits.
    pub(crate) fn fits(&mut self, id: &CallId, input: Arc<Value>, digest: String) {
        let Some(index) = self.at_step(id, &Step::Fit) else {
            return;
        };
        let cwd = self.state.cwd.clone();
        let Some(call) = self.call_mut(index) else {
            return;
        };
        let Some(entry) = &call.entry else { return };
        let aims = guarded(|| entry.face.aims(&input)).unwrap_or_default();
        call.found.input = Some(input);
        call.found.input_digest = digest;
        if aims.is_empty() {
            return self.placed(index, Vec::new());
        }
        call.progress.step = Step::Probe;
        self.push(Command::Probe {
            call: id.clone(),
            cwd,
            aims,
        });
    }

    /// Paths were looked at.
    pub(crate) fn probed(&mut self, id: &CallId, answers: Vec<PathAnswer>) {
        if let Some(index) = self.at_step(id, &Step::Probe) {
            return self.placed(index, answers);
        }
        if let Some(index) = self.at_step(id, &Step::Recheck) {
            self.rechecked(index, answers);
        }
    }

    /// The call's places are known: its effects, and deny rules before any byte is read.
    fn placed(&mut self, index: usize, answers: Vec<PathAnswer>) {
        let Some(call) = self.call_mut(index) else {
            return;
        };
        let (Some(entry), Some(input)) = (call.entry.clone(), call.found.input.clone()) else {
            return;
        };
        // A trait function that panics counts as unsafe (law 8).
        let effects = guarded(|| entry.face.effects(&input, &answers));
        call.found.effects = Some(effects.unwrap_or_else(Effects::unknown));
        call.found.answers = answers;
        call.progress.step = Step::Order;
        if let Some(decision) = self.question(index, permission::denied).flatten() {
            return self.deny(index, decision);
        }
        // What a command line names need not exist: `ls missing || true` is legal.
        if guarded(|| entry.face.command(&input)).flatten().is_some() {
            return;
        }
        let error = self.calls()[index].found.answers.iter().find_map(|answer| {
            answer
                .error
                .as_ref()
                .map(|error| format!("{}: {error}", answer.lexical))
        });
        if let Some(error) = error {
            let text = format!("{error}. Nothing was done; check the path.");
            self.refuse(index, Raw::refused(Gate::Meaning, text));
        }
    }

    /// Asks permission's pure function about a call.
    pub(crate) fn question<T>(
        &self,
        index: usize,
        ask: impl FnOnce(&Question<'_>, &permission::RuleSet) -> T,
    ) -> Option<T> {
        let call = self.calls().get(index)?;
        let entry = call.entry.as_ref()?;
        let input = call.found.input.as_ref()?;
        let question = Question {
            tool: &entry.name,
            input,
            effects: call.found.effects.as_ref()?,
            answers: &call.found.answers,
            command: guarded(|| entry.face.command(input)).flatten(),
            cwd: &self.state.cwd,
            home: &self.setup.home,
            roots: &self.setup.roots,
            mode: self.state.mode,
            hook: None,
            fold_case: self.setup.fold_case,
        };
        Some(ask(&question, &self.state.rules))
    }

    /// It waited for another call: what stands at its paths may be another thing now.
    pub(crate) fn look_again(&mut self, index: usize) -> bool {
        let cwd = self.state.cwd.clone();
        let Some(call) = self.call_mut(index) else {
            return false;
        };
        call.progress.waited = false;
        call.progress.waits = None;
        let (Some(entry), Some(input)) = (&call.entry, &call.found.input) else {
            return false;
        };
        let aims = guarded(|| entry.face.aims(input)).unwrap_or_default();
        if aims.is_empty() {
            return true;
        }
        call.progress.step = Step::Probe;
        let id = call.id.clone();
        self.push(Command::Probe {
            call: id,
            cwd,
            aims,
        });
        true
    }

    /// Gate 3: the tool's own check against present state.
    pub(crate) fn meaning(&mut self, index: usize) -> bool {
        let Some(call) = self.call_mut(index) else {
            return false;
        };
        let (Some(entry), Some(input)) = (call.entry.clone(), call.found.input.clone()) else {
            return false;
        };
        call.progress.waits = None;
        let answers = call.found.answers.clone();
        let checked = guarded(|| entry.face.check(&input, &answers));
        let checked = checked.unwrap_or_else(|| Err("The tool's own check failed.".to_owned()));
        if let Err(text) = checked {
            self.refuse(index, Raw::refused(Gate::Meaning, text));
            return true;
        }
        if guarded(|| entry.face.change(&input)).flatten().is_none() {
            self.decide(index);
            return true;
        }
        let Some(answer) = answers.first() else {
            return false;
        };
        let unfit = match answer.kind {
            Kind::Directory => Some("is a directory"),
            Kind::Special => Some("is no regular file and is never opened"),
            Kind::Absent | Kind::File(_) => None,
        };
        if let Some(unfit) = unfit {
            let text = format!("{} {unfit}. Nothing was changed.", answer.lexical);
            self.refuse(index, Raw::refused(Gate::Meaning, text));
            return true;
        }
        let command = Command::Look {
            call: call_id(call),
            place: answer.place.clone(),
        };
        call.progress.step = Step::Look;
        self.push(command);
        true
    }

    /// A file's content was looked at: the change is planned on it.
    pub(crate) fn looked(&mut self, id: &CallId, found: Found) {
        let Some(index) = self.at_step(id, &Step::Look) else {
            return;
        };
        let call = &self.calls()[index];
        let (Some(entry), Some(input)) = (&call.entry, &call.found.input) else {
            return;
        };
        let Some(change) = guarded(|| entry.face.change(input)).flatten() else {
            return;
        };
        let Some(place) = call
            .found
            .answers
            .first()
            .map(|answer| answer.place.clone())
        else {
            return;
        };
        let (text, open) = match found {
            Found::Absent => (None, None),
            Found::Text { text, open } => (Some(text), open),
            Found::Unfit(why) => {
                let text = format!("{}: {why} Nothing was changed.", place.path());
                return self.refuse(index, Raw::refused(Gate::Meaning, text));
            }
        };
        let now = self.memory.ledger.seen(&place);
        let seen = match (&change, self.memory.read_now.get(&place)) {
            // The model wrote it before it saw what it read in the same answer.
            (Change::Whole(_), Some(before)) => before.clone(),
            (Change::Whole(_) | Change::Replace(_), _) => now,
        };
        let job = PlanJob {
            prefix: id.0.clone(),
            place,
            text,
            open,
            change,
            seen,
            policy: self.setup.read_policy,
        };
        if let Some(call) = self.call_mut(index) {
            call.progress.step = Step::Plan;
        }
        let job = Job::Plan(Box::new(job));
        self.push(Command::Compute {
            call: Some(id.clone()),
            job,
        });
    }

    /// The change can be made.
    pub(crate) fn planned(&mut self, id: &CallId, plan: Arc<Plan>, note: Option<String>) {
        let Some(index) = self.at_step(id, &Step::Plan) else {
            return;
        };
        if let Some(call) = self.call_mut(index) {
            call.found.plan = Some(plan);
            call.found.comment = note;
        }
        self.decide(index);
    }

    /// Gate 5: permission. Also decides again what is open when rules were added.
    pub(crate) fn decide(&mut self, index: usize) {
        let Some(decision) = self.question(index, permission::decide) else {
            let text = "Permission could not be decided; nothing was done.";
            return self.refuse(index, Raw::refused(Gate::Permission, text));
        };
        let digest = self.digest(index);
        let Some(call) = self.call_mut(index) else {
            return;
        };
        let verdict = decision.verdict;
        let fact = Fact::Decision {
            call: call.id.clone(),
            verdict: verdict_name(verdict).to_owned(),
            rule: rule_of(&decision),
            digest: digest.clone(),
        };
        call.found.decision = Some(decision.clone());
        match verdict {
            Verdict::Allow => {
                call.found.allowed = Some(digest);
                call.progress.step = Step::Start;
                self.append(fact);
            }
            Verdict::Ask => {
                call.progress.step = Step::AskTurn;
                self.append(fact);
            }
            Verdict::Deny => {
                self.append(fact);
                self.deny(index, decision);
            }
        }
    }

    fn deny(&mut self, index: usize, decision: Decision) {
        let text = format!(
            "Denied: {} The call was not run and nothing was changed. Do not try to get around \
             this; use another way that is allowed, or ask the person.",
            decision.text
        );
        if let Some(call) = self.call_mut(index) {
            call.progress.denied = true;
            call.found.decision = Some(decision);
        }
        self.refuse(index, Raw::refused(Gate::Permission, text));
    }

    /// blake3 of what would run: tool, canonical input, working directory, places, change.
    pub(crate) fn digest(&self, index: usize) -> String {
        let Some(call) = self.calls().get(index) else {
            return String::new();
        };
        let mut hasher = blake3::Hasher::new();
        let mut add = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        add(call.entry.as_ref().map_or("", |entry| &entry.name));
        add(&call.found.input_digest);
        add(&self.state.cwd);
        for answer in &call.found.answers {
            add(answer.place.path());
        }
        if let Some(plan) = &call.found.plan {
            add(&plan
                .base
                .as_ref()
                .map_or(String::new(), |base| base.version().hex()));
            add(&plan.after_version.hex());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The index of a call that waits at this step; late answers to other steps are void.
    pub(crate) fn at_step(&self, id: &CallId, step: &Step) -> Option<usize> {
        self.calls()
            .iter()
            .position(|call| call.id == *id && call.progress.step == *step)
    }
}

fn call_id(call: &Call) -> CallId {
    call.id.clone()
}

/// Calls a function of a tool; a panic in it is no answer.
fn guarded<T>(function: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(function)).ok()
}

pub(crate) fn started_update(call: &Call) -> Update {
    let kind = call.entry.as_ref().map(|entry| entry.face.kind());
    Update::CallStarted {
        call_id: call.id.clone(),
        tool: crate::shown::shown(&call.name),
        call_kind: kind.unwrap_or(crate::definition::CallKind::Other),
        title: call.title(),
        locations: call
            .found
            .answers
            .iter()
            .map(|answer| answer.lexical.clone())
            .collect(),
    }
}

fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    }
}

fn rule_of(decision: &Decision) -> String {
    let rule = decision.rule.as_deref().unwrap_or("-");
    format!(
        "{rule} ({})",
        decision.source.as_deref().unwrap_or("built-in")
    )
}

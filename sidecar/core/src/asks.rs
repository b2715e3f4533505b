//! Asking the person, and what the answer does (spec: protocol.md, `toolgate/ask/*`).
//!
//! A prompt is (prompt id, call id, digest of what would run): one decision, other ids are void.
//! Withdrawal is part of cancelling. No answer is not a denial. Exactly what was shown is what
//! runs: hunks that the person refused are taken out of the plan, and the allowed digest is made
//! of what is left.

use std::sync::Arc;

use toolgate_protocol::asks::{
    Ask, AskClosed, AskOpened, AskOption, ClosedBy, HunkChoice, OptionKind, PermissionAsk, Why,
};
use toolgate_protocol::ids::{AskId, CallId};
use toolgate_protocol::notices::{StopReason, Traits};
use toolgate_protocol::render::{Content, Payload, Terminal};

use crate::call::{Call, OpenAsk, Step};
use crate::command::Command;
use crate::event::Answer;
use crate::fact::Fact;
use crate::outcome::{Gate, Raw};
use crate::permission::{decide, Decision, Question, RuleSet, Verdict};
use crate::session::Session;
use crate::shown::shown;
use crate::turn::Phase;

impl Session {
    /// Opens the prompt of a call whose turn it is.
    pub(crate) fn open_ask(&mut self, index: usize) -> bool {
        self.counters.asks += 1;
        let id = AskId(format!("{}-a{}", self.setup.session, self.counters.asks));
        let digest = self.digest(index);
        let session_id = self.setup.session.clone();
        let Some(call) = self.call_mut(index) else {
            return false;
        };
        let Some(decision) = call.found.decision.clone() else {
            return false;
        };
        let options = options(&decision);
        let ask = permission_ask(call, &decision, &digest, options.clone());
        call.progress.step = Step::Ask;
        call.progress.waits = None;
        call.ask = Some(OpenAsk {
            id: id.clone(),
            digest,
            options,
        });
        let plan = call.found.plan.clone();
        let opened = AskOpened {
            session_id,
            ask_id: id,
            agent_id: None,
            ask: Ask::Permission(Box::new(ask)),
        };
        // A client hears of a call before it hears of its prompt.
        self.announce();
        self.push(Command::Ask {
            opened: Box::new(opened),
            plan,
        });
        true
    }

    /// The person answered a prompt.
    pub(crate) fn answered(&mut self, answer: Answer) {
        if self.answered_repetition(&answer) {
            return;
        }
        let Some(index) = self.asking(&answer.ask) else {
            let why = "This prompt is closed: it was answered, withdrawn or has expired.";
            return self.refuse_answer(answer.ask, why);
        };
        let Some(open) = self.calls()[index].ask.clone() else {
            return;
        };
        if open.digest != answer.digest {
            let why = "The answer is for another input than the one that is asked about.";
            return self.refuse_answer(answer.ask, why);
        }
        if !open
            .options
            .iter()
            .any(|option| option.option == answer.option)
        {
            return self.refuse_answer(answer.ask, "That option was not offered.");
        }
        if answer.input.is_some() {
            let why = "unsupported: the input cannot be changed in the prompt yet; refuse the \
                       call and say what you want.";
            return self.refuse_answer(answer.ask, why);
        }
        self.close_ask(index, ClosedBy::Answered);
        self.remember_choice(&open, answer.option);
        match answer.option.allows() {
            true => self.allowed(index, &answer),
            false => self.rejected(index, &answer),
        }
    }

    /// The call whose prompt this is, while it is open.
    fn asking(&self, ask: &AskId) -> Option<usize> {
        self.calls().iter().position(|call| {
            call.progress.step == Step::Ask && call.ask.as_ref().is_some_and(|a| a.id == *ask)
        })
    }

    fn refuse_answer(&mut self, ask: AskId, why: &str) {
        self.push(Command::RefuseAnswer {
            ask,
            why: why.to_owned(),
        });
    }

    fn allowed(&mut self, index: usize, answer: &Answer) {
        let refused = |id: &str| {
            answer
                .hunks
                .iter()
                .any(|hunk: &HunkChoice| hunk.hunk_id.0 == id && !hunk.accept)
        };
        let Some(call) = self.call_mut(index) else {
            return;
        };
        call.found.comment = answer
            .message
            .as_ref()
            .map(|message| format!("The person says: {message}"));
        if let Some(plan) = call.found.plan.clone() {
            match plan.keep(&|hunk| !refused(&hunk.0)) {
                Some(kept) => call.found.plan = Some(Arc::new(kept)),
                None => return self.rejected(index, answer),
            }
        }
        let digest = self.digest(index);
        self.person_decided(index, Verdict::Allow, &digest);
        if let Some(call) = self.call_mut(index) {
            call.found.allowed = Some(digest);
            call.progress.step = Step::Start;
        }
    }

    /// The decision that holds from now on is the person's: for the record and the panel.
    fn person_decided(&mut self, index: usize, verdict: Verdict, digest: &str) {
        let Some(call) = self.call_mut(index) else {
            return;
        };
        let (word, text) = match verdict {
            Verdict::Allow => ("allow", "The person allowed it."),
            Verdict::Ask | Verdict::Deny => ("deny", "The person refused it."),
        };
        let asked = call.found.decision.take();
        let why = asked.map_or(String::new(), |asked| {
            format!(" It was asked: {}", asked.text)
        });
        call.found.decision = Some(Decision {
            verdict,
            text: format!("{text}{why}"),
            rule: None,
            source: Some("person".to_owned()),
            suggestions: Vec::new(),
        });
        let fact = Fact::Decision {
            call: call.id.clone(),
            verdict: word.to_owned(),
            rule: "- (person)".to_owned(),
            digest: digest.to_owned(),
        };
        self.append(fact);
    }

    fn rejected(&mut self, index: usize, answer: &Answer) {
        let mut text =
            "The person refused this call. It was not run and nothing was changed.".to_owned();
        match &answer.message {
            Some(message) => text.push_str(&format!(" The person says: {message}")),
            None => text.push_str(" Do not simply try it again; go on another way, or ask."),
        }
        self.person_decided(index, Verdict::Deny, &answer.digest);
        if let Some(call) = self.call_mut(index) {
            call.progress.denied = true;
        }
        self.refuse(index, Raw::refused(Gate::Permission, text));
        if answer.option == OptionKind::RejectAndStop {
            self.cancel();
        }
    }

    /// What "for this session" and "always" mean beyond this call.
    fn remember_choice(&mut self, open: &OpenAsk, option: OptionKind) {
        let (allow, keep) = match option {
            OptionKind::AllowOnce | OptionKind::RejectOnce | OptionKind::RejectAndStop => return,
            OptionKind::AllowSession => (true, false),
            OptionKind::AllowAlways => (true, true),
            OptionKind::RejectAlways => (false, true),
        };
        let rules = open
            .options
            .iter()
            .find(|o| o.option == option)
            .map(|o| o.rules.clone());
        for rule in rules.unwrap_or_default() {
            if self.state.rules.add(&rule, allow, "session").is_err() {
                continue;
            }
            self.append(Fact::SessionRule {
                rule: rule.clone(),
                allow,
            });
            if keep {
                self.push(Command::SaveRule { rule, allow });
            }
        }
        self.decide_open_asks_again(&open.id);
    }

    fn decide_open_asks_again(&mut self, but: &AskId) {
        for index in 0..self.calls().len() {
            let call = &self.calls()[index];
            let other = call.ask.as_ref().is_some_and(|ask| ask.id != *but);
            if !(call.progress.step == Step::Ask && other) {
                continue;
            }
            let asks = |q: &Question<'_>, rules: &RuleSet| decide(q, rules).verdict == Verdict::Ask;
            if self.question(index, asks).unwrap_or(true) {
                continue;
            }
            self.close_ask(index, ClosedBy::Answered);
            self.decide(index);
        }
    }

    /// Nobody answered: expired, or nobody is there. Not a denial.
    pub(crate) fn unanswered(&mut self, ask: &AskId, expired: bool) {
        if self
            .turn
            .as_ref()
            .is_some_and(|turn| turn.phase == Phase::Repeating(ask.clone()))
        {
            self.close_repetition();
            return self.end(StopReason::Repetition);
        }
        let Some(index) = self.asking(ask) else {
            return;
        };
        self.close_ask(index, ClosedBy::Expired);
        let why = if expired {
            "nobody answered in time"
        } else {
            "there is no one to ask"
        };
        let reason = self.calls()[index]
            .found
            .decision
            .as_ref()
            .map(|d| d.text.clone());
        let text = format!(
            "Not run: this call needs the person's answer, and {why}. That is no denial. {} \
             Nothing was changed; go on with what needs no answer, or say what you need.",
            reason.unwrap_or_default()
        );
        self.refuse(index, Raw::refused(Gate::Permission, text));
    }

    fn close_ask(&mut self, index: usize, by: ClosedBy) {
        let session_id = self.setup.session.clone();
        let Some(call) = self.call_mut(index) else {
            return;
        };
        let Some(open) = call.ask.take() else { return };
        self.push(Command::CloseAsk(AskClosed {
            session_id,
            ask_id: open.id,
            by,
        }));
    }

    /// Withdraws a call's prompt, if it has one.
    pub(crate) fn withdraw(&mut self, index: usize) {
        self.close_ask(index, ClosedBy::Withdrawn);
    }

    /// Asks whether to go on although the same call keeps failing in the same way.
    pub(crate) fn ask_repetition(&mut self, text: String, call: Option<CallId>) {
        self.counters.asks += 1;
        let id = AskId(format!("{}-a{}", self.setup.session, self.counters.asks));
        let Some(turn) = &mut self.turn else { return };
        turn.phase = Phase::Repeating(id.clone());
        let option = |option, label: &str| AskOption {
            option,
            label: label.to_owned(),
            rules: Vec::new(),
        };
        let ask = Ask::Repetition {
            call_id: call.unwrap_or(CallId(String::new())),
            text,
            options: vec![
                option(OptionKind::RejectAndStop, "Stop the turn"),
                option(OptionKind::AllowOnce, "Go on"),
            ],
        };
        let session_id = self.setup.session.clone();
        let opened = AskOpened {
            session_id,
            ask_id: id,
            agent_id: None,
            ask,
        };
        self.push(Command::Ask {
            opened: Box::new(opened),
            plan: None,
        });
    }

    fn answered_repetition(&mut self, answer: &Answer) -> bool {
        let asks = self
            .turn
            .as_ref()
            .is_some_and(|turn| turn.phase == Phase::Repeating(answer.ask.clone()));
        if !asks {
            return false;
        }
        self.finish_repetition(ClosedBy::Answered);
        match answer.option.allows() {
            true => self.next_request(),
            false => self.end(StopReason::Repetition),
        }
        true
    }

    /// Withdraws the question whether to go on; the turn waits for nothing then.
    pub(crate) fn close_repetition(&mut self) {
        self.finish_repetition(ClosedBy::Withdrawn);
    }

    fn finish_repetition(&mut self, by: ClosedBy) {
        let session_id = self.setup.session.clone();
        let Some(turn) = &mut self.turn else { return };
        let Phase::Repeating(ask_id) = turn.phase.clone() else {
            return;
        };
        turn.phase = Phase::Settling;
        self.push(Command::CloseAsk(AskClosed {
            session_id,
            ask_id,
            by,
        }));
    }
}

fn options(decision: &Decision) -> Vec<AskOption> {
    let once = |option, label: &str| AskOption {
        option,
        label: label.to_owned(),
        rules: Vec::new(),
    };
    let mut options = vec![
        once(OptionKind::RejectOnce, "No"),
        once(OptionKind::RejectAndStop, "No, and stop"),
        once(OptionKind::AllowOnce, "Yes, once"),
    ];
    if !decision.suggestions.is_empty() {
        let rules = &decision.suggestions;
        let listed = shown(&rules.join(", "));
        options.push(AskOption {
            option: OptionKind::AllowSession,
            label: format!("Yes, in this session: {listed}"),
            rules: rules.clone(),
        });
        options.push(AskOption {
            option: OptionKind::AllowAlways,
            label: format!("Yes, always: {listed}"),
            rules: rules.clone(),
        });
    }
    options
}

fn permission_ask(
    call: &Call,
    decision: &Decision,
    digest: &str,
    options: Vec<AskOption>,
) -> PermissionAsk {
    let input = call.found.input.clone().unwrap_or_default();
    let command = call
        .entry
        .as_ref()
        .and_then(|entry| entry.face.command(&input))
        .map(str::to_owned);
    let payload = match command {
        Some(command) => Payload::Terminal(Terminal {
            command: shown(&command),
            output: String::new(),
            truncated: false,
            exit_code: None,
        }),
        // A change is shown as it will be written: the runner fills it in from the plan.
        None if call.found.plan.is_some() => Payload::Text {
            text: String::new(),
        },
        None => Payload::Json {
            value: input.as_ref().clone(),
        },
    };
    let traits = call.found.effects.as_ref().map_or(
        Traits {
            read_only: false,
            destructive: true,
            open_world: true,
        },
        |effects| Traits {
            read_only: effects.read_only,
            destructive: effects.destructive,
            open_world: effects.open_world,
        },
    );
    PermissionAsk {
        call_id: call.id.clone(),
        tool: call
            .entry
            .as_ref()
            .map_or(String::new(), |entry| entry.name.clone()),
        call_kind: call
            .entry
            .as_ref()
            .map_or(crate::definition::CallKind::Other, |entry| {
                entry.face.kind()
            }),
        title: call.title(),
        traits,
        content: Content::whole(payload),
        why: Why {
            text: decision.text.clone(),
            rule: decision.rule.clone(),
            source: decision.source.clone(),
        },
        options,
        digest: digest.to_owned(),
        model_description: input
            .get("description")
            .and_then(|text| text.as_str())
            .map(shown),
    }
}

//! Requests, the model's answers, and what happens when a stream breaks
//! (spec: model-loop.md; scheduling.md, "Starting during the stream").
//!
//! A turn is in one `Phase`. An answer's complete blocks are kept in `blocks` until it is over;
//! then they enter history as one message, and the message that answers its calls follows when
//! all of them have ended. A request is sent again only when nothing of its answer has started.

use toolgate_protocol::ids::CallId;
use toolgate_protocol::notices::{NoticeLevel, StopReason, Update};

use crate::call::Step;
use crate::command::{Command, Request};
use crate::event::{Failure, ModelStop, RequestId, StreamEvent};
use crate::fact::{Fact, ModelBlock, UserBlock};
use crate::message::{text_block, tool_use, AssistantBlock, Part};
use crate::outcome::{Gate, Raw};
use crate::place::Place;
use crate::schedule::may_start_early;
use crate::session::Session;
use crate::settle::dropped;
use crate::shown::shown;
use crate::turn::{Phase, Received};
use crate::version::Version;

/// Milliseconds to wait before try number `attempt`, without jitter.
pub fn backoff_ms(attempt: u32, asked: Option<u64>) -> u64 {
    let own = 500u64.saturating_mul(1 << attempt.saturating_sub(1).min(6));
    asked.unwrap_or(own).min(120_000)
}

impl Session {
    /// A prompt has been serialised.
    pub(crate) fn frozen(&mut self, blocks: Vec<Part>, text: String) {
        let Some(turn) = &mut self.turn else { return };
        turn.freezing = turn.freezing.saturating_sub(1);
        let first = turn.phase == Phase::Freezing;
        turn.next.said.extend(blocks);
        let id = turn.id.clone();
        self.tell(Update::UserMessage { text: text.clone() });
        if !first {
            return;
        }
        let text: String = text.chars().take(200).collect();
        self.append(Fact::TurnStarted { turn: id, text });
        let mut notes = std::mem::take(&mut self.ahead.pending);
        if let Some(turn) = &mut self.turn {
            turn.next.notes.append(&mut notes);
            turn.phase = Phase::Settling;
        }
    }

    /// Something came from the provider.
    pub(crate) fn streamed(&mut self, request: RequestId, event: StreamEvent) {
        let Some(turn) = &mut self.turn else { return };
        if turn.request != request || turn.phase != Phase::Streaming {
            return;
        }
        match event {
            StreamEvent::Text(text) => self.tell(Update::AgentMessageDelta { text }),
            StreamEvent::Thinking(text) => self.tell(Update::ThoughtDelta { text }),
            StreamEvent::Block(block) => self.block(block),
            StreamEvent::Usage(usage) => turn.tally.present = usage,
            StreamEvent::Ended(stop) => self.model_stopped(stop),
            StreamEvent::Failed(failure) => self.broke(failure),
        }
    }

    fn block(&mut self, block: AssistantBlock) {
        match block {
            AssistantBlock::Text { json }
            | AssistantBlock::Thinking { json }
            | AssistantBlock::Other { json } => {
                self.append(Fact::Block {
                    block: ModelBlock::Json(Part::clone(&json)),
                });
                if let Some(turn) = &mut self.turn {
                    turn.blocks.push(Received::Json(json));
                }
            }
            AssistantBlock::ToolUse {
                id,
                name,
                input,
                fault,
            } => {
                self.arrive(&id, name, input, fault);
            }
        }
    }

    fn model_stopped(&mut self, stop: ModelStop) {
        if let Some(turn) = &mut self.turn {
            if stop == ModelStop::MaxTokens && !turn.calls.is_empty() {
                turn.next.notes.push(text_block(
                    "[Your last answer reached its token limit and was cut there. A call that was \
                     not complete was dropped.]",
                ));
            }
            turn.tally.attempt = 0;
            turn.stop = Some(stop);
        }
        self.answer_over(true);
    }

    /// The stream broke, or the request failed.
    fn broke(&mut self, failure: Failure) {
        let Some(turn) = &self.turn else { return };
        let started = turn.calls.iter().any(|call| call.progress.ran);
        let tries = turn.tally.attempt;
        let again = failure.kind.retryable() && tries < self.setup.limits.max_retries;
        if again && !started {
            return self.try_again(&failure);
        }
        if again {
            self.go_on_after_break(&failure);
        } else if let Some(turn) = &mut self.turn {
            turn.fatal = Some(failure.text);
        }
        let fatal = self.turn.as_ref().is_some_and(|turn| turn.fatal.is_some());
        self.settle_unstarted_after_break(fatal);
        self.answer_over(false);
    }

    /// Nothing has started: the answer is forgotten and the request sent again.
    fn try_again(&mut self, failure: &Failure) {
        for index in 0..self.calls().len() {
            self.forget(index);
        }
        let Some(turn) = &mut self.turn else { return };
        let had_blocks = !turn.blocks.is_empty();
        turn.calls.clear();
        turn.blocks.clear();
        turn.tally.attempt += 1;
        let delay = backoff_ms(turn.tally.attempt, failure.retry_after_ms);
        let attempt = turn.tally.attempt;
        if had_blocks {
            self.append(Fact::AnswerDropped);
        }
        self.notice(
            NoticeLevel::Warning,
            format!(
                "{} Trying again in about {:.1} s (try {}).",
                sentence(&failure.text),
                delay as f64 / 1000.0,
                attempt + 1
            ),
        );
        self.request(delay);
    }

    /// Something has started: what is complete stays, and the next request goes on from there.
    fn go_on_after_break(&mut self, failure: &Failure) {
        if let Some(turn) = &mut self.turn {
            turn.tally.attempt += 1;
            turn.next.notes.push(text_block(
                "[Your last answer was cut by a broken connection. What was complete was kept and \
                 is answered above; go on from there.]",
            ));
        }
        self.notice(
            NoticeLevel::Warning,
            format!(
                "{} The answer was cut; going on from there.",
                sentence(&failure.text)
            ),
        );
    }

    fn settle_unstarted_after_break(&mut self, all: bool) {
        for index in 0..self.calls().len() {
            let call = &self.calls()[index];
            let reads = call
                .found
                .effects
                .as_ref()
                .is_some_and(|effects| effects.read_only);
            if call.unstarted() && (all || !reads) {
                self.withdraw(index);
                self.refuse(
                    index,
                    Raw::refused(
                        Gate::Schedule,
                        "Not started: response broken. The connection to the model broke before \
                         your message was complete, so this call was not run. Nothing was \
                         changed; call it again if it is still wanted.",
                    ),
                );
            }
        }
    }

    /// The answer is over: its complete blocks enter history as one message.
    pub(crate) fn answer_over(&mut self, whole: bool) {
        let Some(turn) = &mut self.turn else { return };
        turn.phase = Phase::Settling;
        turn.tally.before = turn.tally.total();
        let usage = std::mem::take(&mut turn.tally.present);
        let total = turn.tally.total();
        let blocks: Vec<Vec<Part>> = turn
            .blocks
            .iter()
            .filter_map(|block| match block {
                Received::Json(json) => Some(vec![Part::clone(json)]),
                Received::Call(index) => turn
                    .calls
                    .get(*index)
                    .map(|call| tool_use(&call.provider_id, &call.name, &call.raw_input)),
            })
            .collect();
        let silent = blocks.is_empty();
        self.history.push_assistant(blocks);
        if !silent {
            self.append(Fact::AnswerEnd { whole });
        }
        self.append(Fact::Usage { usage });
        self.tell(Update::Usage(total));
    }

    /// All calls have ended: sync if there is something to sync, then go on.
    pub(crate) fn complete(&mut self) {
        let Some(turn) = &self.turn else { return };
        let effects = turn.calls.iter().any(|call| {
            call.progress.ran && !call.found.effects.as_ref().is_some_and(|e| e.read_only)
        });
        if effects && !turn.lost {
            let token = self.next_token();
            if let Some(turn) = &mut self.turn {
                turn.phase = Phase::Syncing(token);
            }
            return self.push(Command::Sync { token });
        }
        self.go_on();
    }

    /// Results and what was said meanwhile enter history; then the next request, or the end.
    pub(crate) fn go_on(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        turn.phase = Phase::Settling;
        let calls = std::mem::take(&mut turn.calls);
        turn.blocks.clear();
        let said = !turn.next.said.is_empty();
        let next = std::mem::take(&mut turn.next);
        let mut facts: Vec<UserBlock> = Vec::new();
        let mut parts: Vec<Part> = Vec::new();
        for call in &calls {
            if let Some(outcome) = &call.outcome {
                facts.push(UserBlock::Result(call.id.clone()));
                parts.push(Part::clone(&outcome.block));
            }
        }
        let changed = self.changed_files();
        for text in changed.into_iter().chain(next.notes).chain(next.said) {
            facts.push(UserBlock::Json(Part::clone(&text)));
            parts.push(text);
        }
        if !parts.is_empty() {
            self.append(Fact::User { blocks: facts });
            self.history.push_user(&parts);
        }
        if let Some(reason) = self.end_reason(!calls.is_empty() || said) {
            return self.end(reason);
        }
        if let Some(text) = self.repeats(&calls) {
            return self.ask_repetition(text, calls.last().map(|call| call.id.clone()));
        }
        self.next_request();
    }

    /// What the model must know of files that changed since it saw them. Toolgate's own changes,
    /// whose hints may come before their outcomes, are in the ledger by now.
    fn changed_files(&mut self) -> Option<Part> {
        let changed = std::mem::take(&mut self.memory.changed);
        let ledger = &self.memory.ledger;
        let other = |(place, version): &(Place, Option<Version>)| {
            let seen = ledger.seen(place);
            seen.is_some_and(|seen| Some(seen.version()) != *version)
        };
        let names: Vec<String> = changed
            .into_iter()
            .filter(other)
            .map(|(place, _)| shown(place.path()))
            .collect();
        (!names.is_empty()).then(|| {
            text_block(&format!(
                "[Changed by somebody else since you last saw it: {}. Read it again before you \
                 rely on it.]",
                names.join(", ")
            ))
        })
    }

    /// Why the turn ends here; none: it goes on.
    fn end_reason(&self, answers_due: bool) -> Option<StopReason> {
        let turn = self.turn.as_ref()?;
        if turn.fatal.is_some() {
            return Some(StopReason::Error);
        }
        if turn.cancelled {
            return Some(StopReason::Cancelled);
        }
        if answers_due || turn.tally.attempt > 0 {
            return None;
        }
        Some(match &turn.stop {
            Some(ModelStop::MaxTokens) => StopReason::MaxTokens,
            Some(ModelStop::Refusal) => StopReason::Refusal,
            _ => StopReason::EndTurn,
        })
    }

    /// Sends the next request, unless the turn has had its share.
    pub(crate) fn next_request(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        if self
            .setup
            .limits
            .max_turns
            .is_some_and(|most| turn.tally.requests >= most)
        {
            return self.end(StopReason::MaxTurnRequests);
        }
        turn.tally.requests += 1;
        let delay = match turn.tally.attempt {
            0 => 0,
            attempt => backoff_ms(attempt, None),
        };
        self.request(delay);
    }

    fn request(&mut self, delay_ms: u64) {
        self.counters.requests += 1;
        let id = self.counters.requests;
        self.memory.read_now.clear();
        let Some(turn) = &mut self.turn else { return };
        turn.request = id;
        turn.phase = Phase::Streaming;
        turn.stop = None;
        let attempt = turn.tally.attempt;
        let request = Request {
            id,
            model: self.state.model.clone(),
            max_tokens: self.setup.limits.max_answer_tokens,
            tools: Part::clone(&self.frame.tools),
            system: Part::clone(&self.frame.system),
            messages: self.history.parts(),
            attempt,
            delay_ms,
        };
        self.push(Command::Request(request));
    }

    /// The turn is over; the next prompt begins, if one waits.
    pub(crate) fn end(&mut self, reason: StopReason) {
        let Some(turn) = self.turn.take() else { return };
        if reason == StopReason::Cancelled {
            self.ahead
                .pending
                .push(text_block("[The person stopped your last answer.]"));
        }
        // What was said too late for this turn is not lost: it goes before the next prompt.
        self.ahead.pending.extend(turn.next.said);
        self.append(Fact::TurnEnded {
            turn: turn.id.clone(),
            reason,
        });
        self.tell(Update::TurnEnded {
            turn_id: turn.id,
            stop_reason: reason,
            message: turn.fatal,
            usage: turn.tally.total(),
        });
        if let Some(queued) = self.ahead.queue.pop_front() {
            self.begin(queued);
        }
    }

    /// A running call goes on.
    pub(crate) fn progressed(&mut self, call_id: CallId, text: String, bytes: u64) {
        if self.index_of(&call_id).is_some() {
            let bytes = u32::try_from(bytes).ok();
            self.tell(Update::CallProgress {
                call_id,
                text,
                bytes,
            });
        }
    }

    /// May calls of this answer that have effects start, and may they ask?
    pub(crate) fn early(&self, index: usize) -> bool {
        let streaming = self
            .turn
            .as_ref()
            .is_some_and(|turn| turn.phase == Phase::Streaming);
        let Some(call) = self.calls().get(index) else {
            return false;
        };
        !streaming
            || call
                .found
                .effects
                .as_ref()
                .is_some_and(|effects| may_start_early(effects, &self.setup.scheduler))
    }

    /// A call of an answer that is forgotten: the editor closes its card.
    fn forget(&mut self, index: usize) {
        self.withdraw(index);
        let Some(call) = self.calls().get(index) else {
            return;
        };
        let (id, announced) = (call.id.clone(), call.progress.announced);
        let acquired = call.progress.acquired;
        if acquired {
            self.push(Command::Release(id.clone()));
        }
        if announced && self.calls()[index].progress.step != Step::Ended {
            self.tell(dropped(id));
        }
    }
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

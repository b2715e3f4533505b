//! What was under way comes to its end: looks, jobs, syncs, running calls, answers and streams.

use std::sync::Arc;

use toolgate_core::command::Task;
use toolgate_core::event::{Answer, Event, Failure, FailureKind, Found, StreamEvent};
use toolgate_core::job;
use toolgate_core::outcome::Effect;
use toolgate_core::place::{normalise, Aim, Kind, PathAnswer, Place};
use toolgate_core::text::FileText;
use toolgate_protocol::asks::{Ask, AskOpened, HunkChoice, OptionKind};
use toolgate_protocol::ids::AskId;

use super::{model, tools, Pending, World};

impl World {
    /// Something that is under way comes to its end, or one step further.
    pub(super) fn complete(&mut self, at: usize, which: usize, last: bool) {
        let pending = self.sims[at].pending.swap_remove(which);
        match pending {
            Pending::Probe { call, cwd, aims } => {
                let answers = aims.iter().map(|aim| self.answer(aim, &cwd)).collect();
                self.give(at, Event::Probed { call, answers });
            }
            Pending::Look { call, place } => {
                let found = match self.files.get(place.path()) {
                    None => Found::Absent,
                    Some(text) => {
                        let text = Arc::new(FileText::from_document(text));
                        Found::Text { text, open: None }
                    }
                };
                self.give(at, Event::Looked { call, found });
            }
            Pending::Job { call, job } => {
                let done = job::run(job);
                self.give(at, Event::Computed { call, done });
            }
            Pending::Granted { call } => {
                let documents = toolgate_core::document::Documents::default();
                self.give(at, Event::Granted { call, documents });
            }
            Pending::Durable { token, facts } => {
                self.sims[at].checks.durable(facts);
                self.give(at, Event::Durable { token });
            }
            Pending::Running { task, stopped } => self.run_on(at, task, stopped, last),
            Pending::Ask { opened, hunks } => self.answer_ask(at, &opened, &hunks, last),
            Pending::Stream {
                request,
                mut events,
            } => {
                let Some(event) = events.pop_front() else {
                    return;
                };
                if last {
                    // The world ends: the stream breaks for good.
                    events.clear();
                }
                if !events.is_empty() {
                    self.sims[at]
                        .pending
                        .push(Pending::Stream { request, events });
                }
                let event = match last {
                    true => StreamEvent::Failed(Failure {
                        kind: FailureKind::BadRequest,
                        text: "the world ends".to_owned(),
                        retry_after_ms: None,
                    }),
                    false => event,
                };
                self.give(at, Event::Stream { request, event });
            }
        }
    }

    fn answer(&self, aim: &Aim, cwd: &str) -> PathAnswer {
        let lexical = normalise(&aim.path, cwd, "/home/dev");
        let kind = match self.files.get(&lexical) {
            Some(text) => Kind::File(text.len() as u64),
            None if model::FILES
                .iter()
                .any(|file| file.starts_with(&format!("{lexical}/"))) =>
            {
                Kind::Directory
            }
            None => Kind::Absent,
        };
        PathAnswer {
            aim: aim.clone(),
            place: Place::canonical(&lexical),
            lexical,
            kind,
            links: 1,
            open: false,
            error: None,
        }
    }

    fn run_on(&mut self, at: usize, task: Task, stopped: bool, last: bool) {
        if !last && self.rng.permille(200) {
            let call = task.call.clone();
            self.sims[at]
                .pending
                .push(Pending::Running { task, stopped });
            return self.give(
                at,
                Event::Progress {
                    call,
                    text: "…".to_owned(),
                    bytes: 1,
                },
            );
        }
        if stopped {
            self.report.count("cancel while running");
        }
        let fails = self.rng.permille(150);
        let raw = tools::execute(&task, &mut self.files, stopped, fails);
        if raw.effect == Effect::Happened {
            let others = self
                .sims
                .iter_mut()
                .enumerate()
                .filter(|(index, _)| *index != at);
            others.for_each(|(_, sim)| sim.checks.disturbed());
        }
        self.sims[at].checks.executed(&task, &raw);
        let event = Event::Finished {
            call: task.call,
            raw: Box::new(raw),
            ms: 1,
        };
        self.give(at, event);
    }

    fn answer_ask(&mut self, at: usize, opened: &AskOpened, hunks: &[String], last: bool) {
        let id: AskId = opened.ask_id.clone();
        let (digest, options) = match &opened.ask {
            Ask::Permission(ask) => (ask.digest.clone(), ask.options.clone()),
            Ask::Repetition { options, .. } => (String::new(), options.clone()),
            Ask::Trust { .. } => return,
        };
        if last || self.rng.permille(60) {
            let event = match self.rng.permille(500) {
                true => Event::AskExpired(id),
                false => Event::NobodyToAsk(id),
            };
            self.report.count("no answer");
            return self.give(at, event);
        }
        // Now and then somebody answers with another digest, or to a closed prompt.
        if self.rng.permille(30) {
            let mut answer = reply(id.clone(), "other".to_owned(), OptionKind::AllowOnce);
            if self.rng.permille(500) {
                answer.ask = AskId("gone".to_owned());
            }
            self.give(at, Event::Answer(answer));
            if let Ask::Permission(_) = &opened.ask {
                let pending = Pending::Ask {
                    opened: opened.clone(),
                    hunks: hunks.to_vec(),
                };
                self.sims[at].pending.push(pending);
                return;
            }
        }
        let option = self.rng.pick(&options).option;
        let mut answer = reply(id, digest, option);
        answer.hunks = hunks
            .iter()
            .filter(|_| self.rng.permille(200))
            .map(|hunk| HunkChoice {
                hunk_id: hunk.as_str().into(),
                accept: false,
            })
            .collect();
        self.give(at, Event::Answer(answer));
    }
}

fn reply(ask: AskId, digest: String, option: OptionKind) -> Answer {
    Answer {
        ask,
        digest,
        option,
        message: None,
        input: None,
        hunks: Vec::new(),
    }
}

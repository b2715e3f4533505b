//! Carries out the core's commands. It decides nothing: what is quick is done at once, the rest
//! is spawned with a cancel token and answers with an event.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;
use toolgate_core::command::{Command, Request, StopSource, Task};
use toolgate_core::desk::DeskEvent;
use toolgate_core::edit::Plan;
use toolgate_core::event::{Event, Found, StreamEvent};
use toolgate_core::fact::Fact;
use toolgate_core::job::{self, Job};
use toolgate_core::outcome::{Effect, Raw};
use toolgate_core::place::{Aim, Place};
use toolgate_core::text::FileText;
use toolgate_protocol::asks::{Ask, AskOpened, ClosedBy};
use toolgate_protocol::ids::{CallId, SessionId};
use toolgate_protocol::notices::Update;
use toolgate_protocol::render::Payload;

use crate::crew::bound;
use crate::crew::hub::{Asker, Hub};
use crate::crew::inbox::Outgoing;
use crate::hands::disk;
use crate::look;
use crate::settings::Settings;
use crate::tools;

/// Inputs up to this size are checked in the loop: a worker costs more.
const SMALL: usize = 16 * 1024;

impl Hub {
    /// Carries out one command. True: an update is held back for a moment.
    pub(crate) fn perform(&mut self, id: &SessionId, command: Command) -> bool {
        if let Some(live) = self.sessions.get_mut(id) {
            live.record(&command);
        }
        match command {
            Command::Request(request) => self.request(id, request),
            Command::StopRequest(_) => self.stop_request(id),
            Command::Probe { call, cwd, aims } => self.probe(id, call, cwd, aims),
            Command::Look { call, place } => self.look(id, call, place),
            Command::Compute { call, job } => self.compute(id, call, job),
            Command::Acquire { call, claims } => {
                let holder = (id.clone(), call);
                let grants = self.desk.handle(DeskEvent::Acquire { holder, claims });
                self.granted(grants);
            }
            Command::Release(call) => {
                let grants = self.desk.handle(DeskEvent::Release {
                    holder: (id.clone(), call),
                });
                self.granted(grants);
            }
            Command::Append(fact) => self.append(id, &fact),
            Command::Sync { token } => self.sync(id, token),
            Command::Run(task) => self.run_task(id, task),
            Command::Stop { call, source } => self.stop(id, &call, &source),
            Command::Ask { opened, plan } => self.ask(id, *opened, plan),
            Command::CloseAsk(closed) => {
                if let Some(live) = self.sessions.get_mut(id) {
                    if let Some((_, deadline)) = live.running.asks.remove(&closed.ask_id) {
                        deadline.cancel();
                    }
                    let how = match closed.by {
                        ClosedBy::Answered => "it was answered",
                        ClosedBy::Withdrawn => {
                            "it was withdrawn: the call or the turn was cancelled"
                        }
                        ClosedBy::Expired => "nobody answered in time",
                    };
                    live.over.insert(closed.ask_id.clone(), how.to_owned());
                    live.told.flush();
                }
                let _ = self.outlet.send(Outgoing::AskClosed(closed));
            }
            Command::RefuseAnswer { ask, why } => {
                if let Some(live) = self.sessions.get_mut(id) {
                    live.refused.insert(ask, why);
                }
            }
            Command::Tell(update) => return self.tell(id, update),
            Command::SaveRule { rule, allow } => self.save_rule(id, &rule, allow),
        }
        false
    }

    fn tell(&mut self, id: &SessionId, update: Update) -> bool {
        let Some(live) = self.sessions.get_mut(id) else {
            return false;
        };
        let update = match update {
            Update::CallSettled {
                call_id,
                status,
                content,
                why,
                duration_ms,
            } => {
                let mut content = live.contents.fit(&call_id.0, content.payload);
                if let Some(record) = live.records.get_mut(&call_id) {
                    let kept = record.kept_in(&live.transcript.results());
                    live.contents.refer(&call_id.0, kept, &mut content);
                    record.content = Some(content.clone());
                }
                Update::CallSettled {
                    call_id,
                    status,
                    content,
                    why,
                    duration_ms,
                }
            }
            other => other,
        };
        live.told.tell(update)
    }

    fn request(&mut self, id: &SessionId, request: Request) {
        let Some(live) = self.sessions.get_mut(id) else {
            return;
        };
        let token = CancellationToken::new();
        let number = request.id;
        live.running.request = Some((number, token.clone()));
        let (inbox, session) = (self.inbox.clone(), id.clone());
        let provider = self.config.provider.clone();
        tokio::spawn(async move {
            let mut out = |event: StreamEvent| {
                inbox.event(
                    &session,
                    Event::Stream {
                        request: number,
                        event,
                    },
                );
            };
            provider.stream(&request, &mut out, &token).await;
        });
    }

    fn stop_request(&mut self, id: &SessionId) {
        let Some(live) = self.sessions.get_mut(id) else {
            return;
        };
        if let Some((_, token)) = live.running.request.take() {
            token.cancel();
        }
    }

    fn probe(&mut self, id: &SessionId, call: CallId, cwd: String, aims: Vec<Aim>) {
        let (inbox, session) = (self.inbox.clone(), id.clone());
        let home = self.config.home.clone();
        let open: Vec<String> = self
            .desk
            .snapshots()
            .into_iter()
            .map(|doc| doc.path)
            .collect();
        tokio::task::spawn_blocking(move || {
            let answers = aims
                .iter()
                .map(|aim| {
                    let mut answer = disk::resolve(aim, &cwd, &home);
                    answer.open = open.iter().any(|path| path == answer.place.path());
                    answer
                })
                .collect();
            inbox.event(&session, Event::Probed { call, answers });
        });
    }

    /// The open document's text, else the disk's.
    fn look(&mut self, id: &SessionId, call: CallId, place: Place) {
        let (inbox, session) = (self.inbox.clone(), id.clone());
        let document = self.desk.document(&place);
        tokio::task::spawn_blocking(move || {
            let found = match document {
                Some(document) => Found::Text {
                    text: Arc::new(FileText::from_document(&document.rope.to_string())),
                    open: Some(document.document),
                },
                None => look::found(&place),
            };
            inbox.event(&session, Event::Looked { call, found });
        });
    }

    fn compute(&mut self, id: &SessionId, call: Option<CallId>, job: Job) {
        let small = match &job {
            Job::Fit { input, .. } => input.len() <= SMALL,
            Job::Settle { raw, .. } => raw.text.len() <= SMALL && raw.images.is_empty(),
            Job::Freeze(_) => true,
            Job::Plan(_) => false,
        };
        if small {
            let done = job::run(job);
            self.soon
                .push_back((id.clone(), Event::Computed { call, done }));
            return;
        }
        let (inbox, session) = (self.inbox.clone(), id.clone());
        tokio::task::spawn_blocking(move || {
            let done = job::run(job);
            inbox.event(&session, Event::Computed { call, done });
        });
    }

    fn append(&mut self, id: &SessionId, fact: &Fact) {
        if let Fact::Shown { path, .. } = fact {
            self.watch.touch(Path::new(path));
        }
        let Some(live) = self.sessions.get_mut(id) else {
            return;
        };
        if let Err(error) = live.transcript.append(fact) {
            self.soon
                .push_back((id.clone(), Event::TranscriptFailed(error.to_string())));
        }
    }

    fn sync(&mut self, id: &SessionId, token: u32) {
        let Some(live) = self.sessions.get_mut(id) else {
            return;
        };
        let (inbox, session) = (self.inbox.clone(), id.clone());
        let file = live.transcript.handle();
        tokio::task::spawn_blocking(move || {
            let event = match file.and_then(|file| file.sync_data()) {
                Ok(()) => Event::Durable { token },
                Err(error) => Event::TranscriptFailed(error.to_string()),
            };
            inbox.event(&session, event);
        });
    }

    fn run_task(&mut self, id: &SessionId, task: Task) {
        let Some(live) = self.sessions.get_mut(id) else {
            return;
        };
        let token = CancellationToken::new();
        let call = task.call.clone();
        live.running.calls.insert(call.clone(), token.clone());
        let (inbox, session) = (self.inbox.clone(), id.clone());
        let progress_inbox = inbox.clone();
        let (progress_session, progress_call) = (session.clone(), call.clone());
        let progress = move |text: String, bytes: u64| {
            let call = progress_call.clone();
            progress_inbox.event(&progress_session, Event::Progress { call, text, bytes });
        };
        let settings = &self.config.settings;
        let context = tools::Context {
            progress: Box::new(progress),
            cancel: token,
            results_dir: live.transcript.results(),
            roots: self.config.roots.clone(),
            home: self.config.home.clone(),
            editor: self.config.editor.clone(),
            denied: self.denied_paths(id),
            limits: limits(settings),
        };
        tokio::spawn(async move {
            let began = std::time::Instant::now();
            let run = AssertUnwindSafe(execute(task, &context))
                .catch_unwind()
                .await;
            let raw: Raw = run.unwrap_or_else(|_| Self::panicked());
            let ms = u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX);
            inbox.event(
                &session,
                Event::Finished {
                    call,
                    raw: Box::new(raw),
                    ms,
                },
            );
        });
    }

    fn stop(&mut self, id: &SessionId, call: &CallId, source: &StopSource) {
        let Some(live) = self.sessions.get_mut(id) else {
            return;
        };
        if let Some(token) = live.running.calls.get(call) {
            tracing::debug!(%call, ?source, "stop");
            token.cancel();
        }
    }

    fn ask(&mut self, id: &SessionId, mut opened: AskOpened, plan: Option<Arc<Plan>>) {
        let Some(live) = self.sessions.get_mut(id) else {
            return;
        };
        if let Ask::Permission(ask) = &mut opened.ask {
            let payload = match &plan {
                Some(plan) => Payload::Diff(job::diff_of(plan)),
                None => ask.content.payload.clone(),
            };
            ask.content = live.contents.fit(&opened.ask_id.0, payload);
        }
        bound::ask(&mut opened);
        if self.config.asker == Asker::Nobody {
            let event = Event::NobodyToAsk(opened.ask_id);
            self.soon.push_back((id.clone(), event));
            return;
        }
        let deadline = CancellationToken::new();
        let seconds = self
            .config
            .settings
            .number("permissions.prompt_timeout")
            .unwrap_or(1_800);
        let (inbox, session, ask_id) = (self.inbox.clone(), id.clone(), opened.ask_id.clone());
        let expired = deadline.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = expired.cancelled() => {}
                () = tokio::time::sleep(Duration::from_secs(seconds)) => {
                    inbox.event(&session, Event::AskExpired(ask_id));
                }
            }
        });
        live.running
            .asks
            .insert(opened.ask_id.clone(), (opened.clone(), deadline));
        live.told.flush();
        let _ = self.outlet.send(Outgoing::AskOpened(Box::new(opened)));
    }
}

/// The settings that tools go by.
fn limits(settings: &Settings) -> tools::Limits {
    let number = |key: &str, default: u64| settings.number(key).unwrap_or(default);
    let default = tools::Limits::default();
    tools::Limits {
        bash_timeout: number("bash.timeout", default.bash_timeout),
        bash_max_timeout: number("bash.max_timeout", default.bash_max_timeout),
        // The key's own variable, whatever it is called, never reaches a command.
        env_deny: vec![settings.text("provider.key_env")],
        max_persisted: number("outcomes.max_persisted", default.max_persisted),
        save: match settings.text("files.save").as_str() {
            "always" => tools::Save::Always,
            "never" => tools::Save::Never,
            _ => tools::Save::Clean,
        },
        durability: default.durability,
    }
}

/// Gives a call to its tool.
async fn execute(task: Task, context: &tools::Context) -> Raw {
    match tools::all()
        .into_iter()
        .find(|tool| tool.face.definition().name == task.tool)
    {
        Some(tool) => (tool.execute)(task, context).await,
        None => Raw::failed(format!("there is no tool {}", task.tool), Effect::None),
    }
}

//! What a door asks for: each demand is answered at once, from what is there.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use toolgate_core::definition::CallKind;
use toolgate_core::event::{Answer, Event};
use toolgate_core::place::Place;
use toolgate_core::resume;
use toolgate_core::session::Session;
use toolgate_core::shown::shown;
use toolgate_protocol::asks::{Ask, AskAnswerParams, AskAnswerResult};
use toolgate_protocol::ids::{CallId, SessionId, TurnId};
use toolgate_protocol::render::{Content, Payload};
use toolgate_protocol::requests::{
    Empty, ListSessionsParams, ListSessionsResult, LoadSessionParams, LoadSessionResult,
    NewSessionParams, PromptParams, PromptResult, Review, ReviewListResult, SessionInfo,
    SessionParams, StatusResult,
};

use crate::crew::bound;
use crate::crew::contents::Contents;
use crate::crew::hub::Hub;
use crate::crew::inbox::{Demand, Outgoing, Refusal, Reply};
use crate::crew::live::{Live, Told};
use crate::crew::projection;
use crate::crew::setup::canonical_folder;
use crate::look;
use crate::store::fresh_id;

/// Updates of one page of `load`.
const PAGE: usize = 100;

fn answer<T: Serialize>(value: &T) -> Reply {
    serde_json::to_value(value).map_err(|error| Refusal(error.to_string()))
}

fn unknown(id: &SessionId) -> Refusal {
    Refusal(format!(
        "session {id} is not loaded; load it with toolgate/session/load"
    ))
}

impl Hub {
    /// Answers a demand.
    pub(crate) fn demand(&mut self, demand: Demand) -> Reply {
        match demand {
            Demand::New(params) => self.new_session(params),
            Demand::Load(params) => self.load_session(params),
            Demand::List(params) => self.list(&params),
            Demand::Close(params) => self.close(&params),
            Demand::Delete(params) => self.delete(&params),
            Demand::Prompt(params) => self.prompt(params),
            Demand::Cancel(params) => self.pass(&params.session_id, Event::Cancel),
            Demand::CancelCall(params) => {
                self.pass(&params.session_id, Event::CancelCall(params.call_id))
            }
            Demand::SetMode(params) => self.pass(&params.session_id, Event::SetMode(params.mode)),
            Demand::SetModel(params) => {
                self.pass(&params.session_id, Event::SetModel(params.model))
            }
            Demand::Answer(params) => self.answer_ask(params),
            Demand::GetCall(params) => {
                let id = &params.session_id;
                let live = self.sessions.get_mut(id).ok_or_else(|| unknown(id))?;
                let call = &params.call_id;
                let missing = || Refusal(format!("session has no call {call}"));
                let record = live.records.get(call).ok_or_else(missing)?;
                answer(&record.view(call, &mut live.contents))
            }
            Demand::Output(params) => {
                let live = self.live(&params.session_id)?;
                let name = &params.content_ref;
                let missing = || Refusal(format!("there is no content called {name}"));
                answer(
                    &live
                        .contents
                        .page(name, params.offset)
                        .ok_or_else(missing)?,
                )
            }
            Demand::Reviews(params) => self.reviews(&params),
            Demand::Status => self.status(),
        }
    }

    fn live(&self, id: &SessionId) -> Result<&Live, Refusal> {
        self.sessions.get(id).ok_or_else(|| unknown(id))
    }

    fn pass(&mut self, id: &SessionId, event: Event) -> Reply {
        self.live(id)?;
        self.event(id, event);
        answer(&Empty {})
    }

    fn new_session(&mut self, params: NewSessionParams) -> Reply {
        let cwd = match &params.cwd {
            Some(cwd) => canonical_folder(cwd)?,
            None => self
                .config
                .roots
                .first()
                .cloned()
                .unwrap_or_else(|| "/".to_owned()),
        };
        let id = SessionId(fresh_id("s"));
        let (setup, mut state) = self.setup(&id, &cwd);
        if let Some(mode) = params.mode {
            state.mode = mode;
        }
        if let Some(model) = params.model {
            state.model = model;
        }
        let transcript = self
            .store
            .create(&id)
            .map_err(|error| Refusal(error.to_string()))?;
        let (session, commands) = Session::new(setup, state);
        let told = Told::new(id.clone(), self.epoch.clone(), self.outlet.clone());
        self.sessions
            .insert(id.clone(), Live::new(session, transcript, told));
        for command in commands {
            self.perform(&id, command);
        }
        answer(&self.info(&id)?)
    }

    fn info(&self, id: &SessionId) -> Result<SessionInfo, Refusal> {
        let live = self.live(id)?;
        let state = live.session.state();
        Ok(SessionInfo {
            session_id: id.clone(),
            epoch: self.epoch.clone(),
            cwd: state.cwd.clone(),
            mode: state.mode,
            model: state.model.clone(),
            turn_id: live.session.turn_id().cloned(),
        })
    }

    fn load_session(&mut self, params: LoadSessionParams) -> Reply {
        let id = params.session_id;
        if !self.sessions.contains_key(&id) {
            self.resume(&id)?;
        }
        let session = self.info(&id)?;
        let live = self.sessions.get_mut(&id).ok_or_else(|| unknown(&id))?;
        live.told.flush();
        let since = params.since.filter(|since| since.epoch == self.epoch);
        let missed = since.as_ref().and_then(|since| live.told.since(since.seq));
        let (updates, reset) = match missed {
            Some(missed) => (missed, false),
            None => (live.told.all(), true),
        };
        let page = bound::page(updates, PAGE);
        let mut asks = Vec::new();
        let mut left = bound::PAGE_ROOM;
        for (ask, _) in live.running.asks.values() {
            let size = bound::size(ask);
            // Prompts that have no room in the answer are announced again as they were at first.
            if size > left {
                let _ = self.outlet.send(Outgoing::AskOpened(Box::new(ask.clone())));
                continue;
            }
            left -= size;
            asks.push(ask.clone());
        }
        answer(&LoadSessionResult {
            session,
            reset,
            more: updates.len() > page.len(),
            updates: page,
            asks,
        })
    }

    fn resume(&mut self, id: &SessionId) -> Result<(), Refusal> {
        let (transcript, loaded) = self
            .store
            .load(id)
            .map_err(|error| Refusal(error.to_string()))?;
        for problem in &loaded.problems {
            tracing::warn!("transcript of {id}: {problem}");
        }
        let cwd = loaded
            .facts
            .iter()
            .find_map(|fact| match fact {
                toolgate_core::fact::Fact::Session { cwd, .. } => Some(cwd.clone()),
                _ => None,
            })
            .unwrap_or_else(|| "/".to_owned());
        let (setup, state) = self.setup(id, &cwd);
        let now: BTreeMap<String, String> = resume::open_intents(&loaded.facts)
            .into_iter()
            .filter_map(|intent| {
                let version = look::version(&Place::canonical(&intent.path))?;
                Some((intent.path, version.hex()))
            })
            .collect();
        let (session, commands) = resume::resume(setup, state, &loaded.facts, &now);
        let mut told = Told::new(id.clone(), self.epoch.clone(), self.outlet.clone());
        let mut records = BTreeMap::new();
        let face = |name: &str, input: &Value| match self.catalog.find(name) {
            // An input that its tool's schema refuses is described by the name alone.
            Some(entry) if entry.schema.check(input).is_ok() => {
                (entry.face.kind(), shown(&entry.face.describe(input)))
            }
            Some(entry) => (entry.face.kind(), shown(name)),
            None => (CallKind::Other, shown(name)),
        };
        let mut facts = loaded.facts;
        facts.extend(commands.iter().filter_map(|command| match command {
            toolgate_core::command::Command::Append(fact) => Some(fact.clone()),
            _ => None,
        }));
        let mut contents = Contents::default();
        let results = transcript.results();
        for update in projection::updates(&facts, &mut records, &mut contents, &results, &face) {
            told.remember(update);
        }
        let mut live = Live::new(session, transcript, told);
        live.records = records;
        live.contents = contents;
        self.sessions.insert(id.clone(), live);
        for command in commands {
            self.perform(id, command);
        }
        Ok(())
    }

    fn list(&self, params: &ListSessionsParams) -> Reply {
        let workspace = params.workspace.as_deref();
        let mut sessions = self.store.list(workspace, params.query.as_deref());
        let mut left = bound::ROOM;
        for session in &mut sessions {
            session.title = bound::cut(&session.title, 512);
        }
        // The newest that fit into one message; older ones are found by workspace and query.
        sessions.retain(|session| {
            let size = bound::size(session) + 1;
            left = left.saturating_sub(size);
            left > 0
        });
        answer(&ListSessionsResult { sessions })
    }

    fn close(&mut self, params: &SessionParams) -> Reply {
        self.live(&params.session_id)?;
        self.event(&params.session_id, Event::Cancel);
        if let Some(mut live) = self.sessions.remove(&params.session_id) {
            live.told.flush();
            live.abandon();
        }
        answer(&Empty {})
    }

    fn delete(&mut self, params: &SessionParams) -> Reply {
        if self.sessions.contains_key(&params.session_id) {
            return Err(Refusal(format!(
                "session {} is loaded; close it first",
                params.session_id
            )));
        }
        self.store
            .delete(&params.session_id)
            .map_err(|error| Refusal(error.to_string()))?;
        answer(&Empty {})
    }

    fn prompt(&mut self, params: PromptParams) -> Reply {
        self.live(&params.session_id)?;
        let turn = TurnId(fresh_id("t"));
        let event = Event::Prompt {
            turn: turn.clone(),
            content: params.content,
            when: params.when,
        };
        self.event(&params.session_id, event);
        let running = self.live(&params.session_id)?.session.turn_id().cloned();
        answer(&PromptResult {
            turn_id: running.unwrap_or(turn),
        })
    }

    fn answer_ask(&mut self, params: AskAnswerParams) -> Reply {
        let ask = params.ask_id.clone();
        let owner = self
            .sessions
            .iter()
            .find(|(_, live)| live.running.asks.contains_key(&ask))
            .map(|(id, _)| id.clone());
        let Some(id) = owner else {
            let over = self.sessions.values().find_map(|live| live.over.get(&ask));
            return Err(Refusal(match over {
                Some(how) => format!("prompt {ask} is closed: {how}"),
                None => format!("there is no prompt {ask} in a loaded session"),
            }));
        };
        let option = serde_json::to_value(params.option).unwrap_or_default();
        let event = Event::Answer(Answer {
            ask: ask.clone(),
            digest: params.digest,
            option: params.option,
            message: params.message,
            input: params.input.map(Arc::new),
            hunks: params.hunks,
        });
        self.event(&id, event);
        let live = self.sessions.get_mut(&id).ok_or_else(|| unknown(&id))?;
        if let Some(why) = live.refused.remove(&ask) {
            return Err(Refusal(why));
        }
        let how = option.as_str().unwrap_or_default();
        let how = format!("it was answered by this editor's person with {how}");
        live.over.insert(ask.clone(), how);
        answer(&AskAnswerResult { ask_id: ask })
    }

    /// Hunks that are proposed now, and those of calls that were settled.
    fn reviews(&self, params: &SessionParams) -> Reply {
        let live = self.live(&params.session_id)?;
        let mut reviews = Vec::new();
        let mut add = |call_id: &CallId, content: &Content| {
            if let Payload::Diff(diff) = &content.payload {
                reviews.push(Review {
                    call_id: call_id.clone(),
                    diff: diff.clone(),
                });
            }
        };
        for (call, record) in &live.records {
            if let Some(content) = &record.content {
                add(call, content);
            }
        }
        for (opened, _) in live.running.asks.values() {
            if let Ask::Permission(ask) = &opened.ask {
                add(&ask.call_id, &ask.content);
            }
        }
        answer(&ReviewListResult { reviews })
    }

    fn status(&self) -> Reply {
        let mut problems = self.config.settings.problems().to_vec();
        problems.extend(self.catalog.problems().iter().cloned());
        let cwd = self.config.roots.first().cloned().unwrap_or_default();
        problems.extend(self.rules(&cwd).1);
        let missing = self.config.provider.missing();
        problems.extend(missing.clone());
        answer(&StatusResult {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            provider: self.config.provider.describe(),
            ready: missing.is_none(),
            problems,
            open_documents: u32::try_from(self.desk.open_documents()).unwrap_or(u32::MAX),
            sessions: u32::try_from(self.sessions.len()).unwrap_or(u32::MAX),
        })
    }
}

//! THE loop: inbox → `handle` → commands → carried out. The sole owner of mutable state.
//!
//! Everything that can happen arrives as an `Input`, one after the other. An event goes to its
//! session (or the desk), whose commands are carried out at once: what is quick is done here, the
//! rest is spawned and comes back as an event. Nothing here waits for a model, a tool or a person.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use toolgate_core::buffers::{Buffer, Unit};
use toolgate_core::catalog::Catalog;
use toolgate_core::desk::{Desk, DeskEvent, Grant};
use toolgate_core::event::Event;
use toolgate_core::outcome::Raw;
use toolgate_core::place::Place;
use toolgate_protocol::ids::SessionId;

use crate::crew::inbox::{DocumentEvent, Inbox, Input, Outlet};
use crate::crew::live::Live;
use crate::hands::watch::{Hint, Watch};
use crate::provider::Provider;
use crate::settings::Settings;
use crate::store::Store;
use crate::tools::EditorHands;

/// Who answers prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// A door that was told of the prompt.
    Door,
    /// Nobody: such calls settle as "no one to ask".
    Nobody,
}

/// What the loop is made with.
pub struct Config {
    /// All settings.
    pub settings: Settings,
    /// Where sessions are kept.
    pub state: PathBuf,
    /// Home directory.
    pub home: String,
    /// Canonical workspace roots; the first is the default working directory.
    pub roots: Vec<String>,
    /// Who answers the model's requests.
    pub provider: Arc<Provider>,
    /// Who answers prompts.
    pub asker: Asker,
    /// The editor's hands, when there is an editor.
    pub editor: Option<Arc<dyn EditorHands>>,
    /// Rules from the command line.
    pub flag_rules: Vec<String>,
    /// Unit of the editor's positions.
    pub unit: Unit,
}

/// The loop's state.
pub struct Hub {
    pub(crate) config: Config,
    pub(crate) catalog: Catalog,
    pub(crate) store: Store,
    pub(crate) desk: Desk,
    pub(crate) sessions: BTreeMap<SessionId, Live>,
    pub(crate) inbox: Inbox,
    pub(crate) outlet: Outlet,
    /// This process.
    pub(crate) epoch: String,
    /// Hints about the files that models saw.
    pub(crate) watch: Watch,
    /// Events that the loop itself caused; handled before anything else.
    pub(crate) soon: VecDeque<(SessionId, Event)>,
}

impl Hub {
    /// A loop that has not begun, and the way into it.
    pub fn new(config: Config, outlet: Outlet) -> (Self, Inbox, mpsc::UnboundedReceiver<Input>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let inbox = Inbox(sender);
        let (watch, hints) = Watch::new();
        forward_hints(hints, inbox.clone());
        let catalog = Catalog::new(crate::tools::all().into_iter().map(|tool| tool.face));
        let hub = Self {
            catalog,
            store: Store::new(&config.state),
            desk: Desk::new(config.unit),
            sessions: BTreeMap::new(),
            inbox: inbox.clone(),
            outlet,
            epoch: crate::store::fresh_id("e"),
            watch,
            soon: VecDeque::new(),
            config,
        };
        (hub, inbox, receiver)
    }

    /// This process, as `seq` is counted in it.
    pub fn epoch(&self) -> &str {
        &self.epoch
    }

    /// Runs until `Shutdown` or until every way in is gone.
    pub async fn run(mut self, mut inputs: mpsc::UnboundedReceiver<Input>) {
        let coalesce =
            Duration::from_millis(self.config.settings.number("ui.coalesce_ms").unwrap_or(16));
        let mut flush_at: Option<Instant> = None;
        loop {
            let input = match flush_at {
                None => inputs.recv().await,
                Some(at) => tokio::select! {
                    biased;
                    () = tokio::time::sleep_until(at) => {
                        flush_at = None;
                        self.flush();
                        continue;
                    }
                    input = inputs.recv() => input,
                },
            };
            let Some(input) = input else { break };
            if let Input::Shutdown(done) = input {
                self.shut_down(inputs, done).await;
                return;
            }
            if self.take(input) && flush_at.is_none() {
                flush_at = Some(Instant::now() + coalesce);
            }
        }
    }

    /// Takes one input. True: something is held back and wants a flush.
    fn take(&mut self, input: Input) -> bool {
        let mut held = false;
        match input {
            Input::Demand(demand, reply) => {
                let answer = self.demand(demand);
                // A door that no longer waits does not want the answer.
                let _ = reply.send(answer);
            }
            Input::Tell(demand) => {
                if let Err(refusal) = self.demand(demand) {
                    tracing::warn!("a notification was refused: {}", refusal.0);
                }
            }
            Input::Document(event) => self.document(event),
            Input::Event(session, event) => held |= self.event(&session, event),
            Input::Snapshot(path, reply) => {
                let place = toolgate_core::place::Place::canonical(&path);
                let _ = reply.send(self.desk.document(&place));
            }
            Input::Hint(hint) => self.hint(hint),
            Input::Shutdown(done) => {
                let _ = done.send(());
            }
        }
        held |= self.caused();
        held || self.sessions.values().any(|live| live.told.holds())
    }

    /// Handles the events that the loop itself caused, and those that they cause.
    pub(crate) fn caused(&mut self) -> bool {
        let mut held = false;
        while let Some((session, event)) = self.soon.pop_front() {
            held |= self.event(&session, event);
        }
        held
    }

    /// Gives an event to its session and carries out what it wants.
    pub(crate) fn event(&mut self, id: &SessionId, event: Event) -> bool {
        let Some(live) = self.sessions.get_mut(id) else {
            return false;
        };
        tracing::trace!(session = %id, ?event, "event");
        if let Event::Finished { call, .. } = &event {
            live.running.calls.remove(call);
        }
        let commands = live.session.handle(event);
        let mut held = false;
        for command in commands {
            tracing::trace!(session = %id, ?command, "command");
            held |= self.perform(id, command);
        }
        held
    }

    fn document(&mut self, event: DocumentEvent) {
        let event = match event {
            DocumentEvent::Opened {
                uri,
                place,
                version,
                text,
            } => {
                self.compare_with_disk(&uri, place.path(), &text);
                let buffer = Box::new(Buffer::new(place, uri, version, &text));
                DeskEvent::Opened { buffer }
            }
            DocumentEvent::Changed {
                uri,
                version,
                changes,
            } => DeskEvent::Changed {
                uri,
                version,
                changes,
            },
            DocumentEvent::Saved { uri } => DeskEvent::Saved { uri },
            DocumentEvent::Differs { uri } => DeskEvent::Differs { uri },
            DocumentEvent::Closed { uri } => DeskEvent::Closed { uri },
        };
        let grants = self.desk.handle(event);
        self.granted(grants);
    }

    /// A document that is restored with unsaved changes opens as one that is not what is on disk.
    fn compare_with_disk(&self, uri: &str, path: &str, text: &str) {
        let (inbox, uri, path, text) = (
            self.inbox.clone(),
            uri.to_owned(),
            path.to_owned(),
            text.to_owned(),
        );
        tokio::task::spawn_blocking(move || {
            let place = toolgate_core::place::Place::canonical(&path);
            let same = crate::look::holds(&place, &text);
            if !same {
                inbox.put(Input::Document(DocumentEvent::Differs { uri }));
            }
        });
    }

    /// Hashes what a hint is about, where a model saw it: the hint itself decides nothing.
    fn hint(&mut self, hint: Hint) {
        let path = match hint {
            Hint::Path(path) => Some(path),
            Hint::Rescan => None,
            Hint::Degraded(text) => {
                tracing::warn!("{text}");
                return;
            }
        };
        let mut wanted: Vec<(SessionId, Place)> = Vec::new();
        for (id, live) in &self.sessions {
            let seen = live.session.ledger().places();
            let about = |place: &&Place| {
                path.as_ref()
                    .is_none_or(|path| path.as_os_str() == place.path())
            };
            wanted.extend(seen.filter(about).map(|place| (id.clone(), place.clone())));
        }
        // An open document is what the editor says, not what is on disk.
        wanted.retain(|(_, place)| self.desk.document(place).is_none());
        if wanted.is_empty() {
            return;
        }
        let inbox = self.inbox.clone();
        tokio::task::spawn_blocking(move || {
            for (session, place) in wanted {
                let version = crate::look::version(&place);
                inbox.event(&session, Event::FileChanged { place, version });
            }
        });
    }

    pub(crate) fn granted(&mut self, grants: Vec<Grant>) {
        for Grant {
            holder: (session, call),
            documents,
        } in grants
        {
            self.soon
                .push_back((session, Event::Granted { call, documents }));
        }
    }

    fn flush(&mut self) {
        for live in self.sessions.values_mut() {
            live.told.flush();
        }
    }

    /// Cancels every turn, waits a moment for what runs, and lets go.
    async fn shut_down(
        mut self,
        mut inputs: mpsc::UnboundedReceiver<Input>,
        done: oneshot::Sender<()>,
    ) {
        let ids: Vec<SessionId> = self.sessions.keys().cloned().collect();
        for id in &ids {
            self.event(id, Event::Cancel);
        }
        // What was cancelled before it started is settled at once, and nothing waits for it.
        self.caused();
        let deadline = Instant::now() + Duration::from_millis(900);
        while self
            .sessions
            .values()
            .any(|live| live.session.turn_id().is_some())
        {
            tokio::select! {
                () = tokio::time::sleep_until(deadline) => break,
                input = inputs.recv() => match input {
                    Some(input) => {
                        self.take(input);
                    }
                    None => break,
                },
            }
        }
        self.flush();
        for live in self.sessions.values_mut() {
            live.abandon();
            // The transcript is as whole as it can be: what failed before was told then.
            let _ = live.transcript.sync();
        }
        let _ = done.send(());
    }

    /// What a call whose executor panicked comes to.
    pub(crate) fn panicked() -> Raw {
        let mut raw = Raw::failed(
            "The tool failed inside Toolgate. Whether it took effect cannot be told; check the \
             state before you repeat it.",
            toolgate_core::outcome::Effect::Unknown,
        );
        raw.stage = toolgate_core::outcome::Stage::Unknown;
        raw
    }
}

/// Passes hints on into the inbox, until the watcher is gone.
fn forward_hints(mut hints: mpsc::UnboundedReceiver<Hint>, inbox: Inbox) {
    tokio::spawn(async move {
        while let Some(hint) = hints.recv().await {
            inbox.put(Input::Hint(hint));
        }
    });
}

//! The one inbox: everything that can reach the loop, and everything that leaves it for a door.
//!
//! A door's handler puts one value in here before any `.await` and answers at once; nothing a
//! handler does ever waits for a model, a tool or a person.

use crate::hands::watch::Hint;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use toolgate_core::buffers::TextChange;
use toolgate_core::document::DocumentText;
use toolgate_core::event::Event;
use toolgate_core::place::Place;
use toolgate_protocol::asks::{AskAnswerParams, AskClosed, AskOpened};
use toolgate_protocol::ids::SessionId;
use toolgate_protocol::notices::SessionUpdate;
use toolgate_protocol::requests::{
    CancelCallParams, GetCallParams, ListSessionsParams, LoadSessionParams, NewSessionParams,
    OutputParams, PromptParams, SessionParams, SetModeParams, SetModelParams,
};

/// What a door asks of the loop.
#[derive(Clone, Debug)]
pub enum Demand {
    /// `session/new`.
    New(NewSessionParams),
    /// `session/load`.
    Load(LoadSessionParams),
    /// `session/list`.
    List(ListSessionsParams),
    /// `session/close`.
    Close(SessionParams),
    /// `session/delete`.
    Delete(SessionParams),
    /// `session/prompt`.
    Prompt(PromptParams),
    /// `session/cancel`.
    Cancel(SessionParams),
    /// `session/cancelCall`.
    CancelCall(CancelCallParams),
    /// `session/setMode`.
    SetMode(SetModeParams),
    /// `session/setModel`.
    SetModel(SetModelParams),
    /// `ask/answer`.
    Answer(AskAnswerParams),
    /// `call/get`.
    GetCall(GetCallParams),
    /// `call/output`.
    Output(OutputParams),
    /// `review/list`.
    Reviews(SessionParams),
    /// `status`.
    Status,
}

/// Why a demand was refused; nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

/// What the loop answers.
pub type Reply = Result<Value, Refusal>;

/// What the editor says about a document. Applied in the order of arrival.
#[derive(Clone, Debug)]
pub enum DocumentEvent {
    /// It was opened.
    Opened {
        /// Its URI.
        uri: String,
        /// Its canonical path.
        place: Place,
        /// Its version.
        version: i32,
        /// Its text.
        text: String,
    },
    /// It was changed.
    Changed {
        /// Its URI.
        uri: String,
        /// Its new version.
        version: i32,
        /// The changes, in order.
        changes: Vec<TextChange>,
    },
    /// It was saved.
    Saved {
        /// Its URI.
        uri: String,
    },
    /// When it was opened it was not what is on disk.
    Differs {
        /// Its URI.
        uri: String,
    },
    /// It was closed.
    Closed {
        /// Its URI.
        uri: String,
    },
}

/// Everything that can reach the loop.
#[derive(Debug)]
pub enum Input {
    /// A door asks; the answer goes back at once.
    Demand(Demand, oneshot::Sender<Reply>),
    /// A door tells; nothing goes back.
    Tell(Demand),
    /// The editor says something about a document.
    Document(DocumentEvent),
    /// Something happened to a session.
    Event(SessionId, Event),
    /// An executor wants an open document as it is now.
    Snapshot(String, oneshot::Sender<Option<DocumentText>>),
    /// A file may have changed, or hints were lost.
    Hint(Hint),
    /// The program ends: everything is stopped, and told when that is done.
    Shutdown(oneshot::Sender<()>),
}

/// The way into the loop. Never full, never waits.
#[derive(Clone, Debug)]
pub struct Inbox(pub mpsc::UnboundedSender<Input>);

impl Inbox {
    /// Puts a value in. After the loop's end nobody is there to mind.
    pub fn put(&self, input: Input) {
        let _ = self.0.send(input);
    }

    /// Puts a session's event in.
    pub fn event(&self, session: &SessionId, event: Event) {
        self.put(Input::Event(session.clone(), event));
    }

    /// Asks, and waits for the answer, which comes at once.
    pub async fn ask(&self, demand: Demand) -> Reply {
        let (sender, receiver) = oneshot::channel();
        self.put(Input::Demand(demand, sender));
        receiver
            .await
            .unwrap_or_else(|_| Err(Refusal("the sidecar is shutting down".to_owned())))
    }
}

/// What leaves the loop for a door.
#[derive(Clone, Debug)]
pub enum Outgoing {
    /// `session/update`.
    Update(SessionUpdate),
    /// `ask/opened`.
    AskOpened(Box<AskOpened>),
    /// `ask/closed`.
    AskClosed(AskClosed),
}

/// The way out to a door.
pub type Outlet = mpsc::UnboundedSender<Outgoing>;

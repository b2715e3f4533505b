//! What leaves for the editor, in order: updates and prompts as notifications. A client that did
//! not announce `ui.permission` is asked by `window/showMessageRequest` instead.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::sync::mpsc;
use toolgate_protocol::asks::{Ask, AskAnswerParams, AskClosed, AskOpened, AskOption, OptionKind};
use toolgate_protocol::ids::AskId;
use toolgate_protocol::notices::SessionUpdate;
use tower_lsp::lsp_types::notification::Notification;
use tower_lsp::lsp_types::{MessageActionItem, MessageType};
use tower_lsp::Client;

use crate::crew::contents::plain;
use crate::crew::inbox::{Demand, Inbox, Outgoing};

/// `toolgate/session/update`.
enum Update {}

impl Notification for Update {
    type Params = SessionUpdate;
    const METHOD: &'static str = "toolgate/session/update";
}

/// `toolgate/ask/opened`.
enum Opened {}

impl Notification for Opened {
    type Params = AskOpened;
    const METHOD: &'static str = "toolgate/ask/opened";
}

/// `toolgate/ask/closed`.
enum Closed {}

impl Notification for Closed {
    type Params = AskClosed;
    const METHOD: &'static str = "toolgate/ask/closed";
}

/// Prompts that a plain client was asked, so that a withdrawn one is told as over.
type Plain = Arc<Mutex<BTreeMap<AskId, String>>>;

/// Passes on what leaves, until the crew is gone.
pub async fn forward(
    mut outlet: mpsc::UnboundedReceiver<Outgoing>,
    client: Client,
    inbox: Inbox,
    asks_itself: bool,
) {
    let plain_asks = Plain::default();
    while let Some(outgoing) = outlet.recv().await {
        match outgoing {
            Outgoing::Update(update) => client.send_notification::<Update>(update).await,
            Outgoing::AskOpened(opened) if asks_itself => {
                client.send_notification::<Opened>(*opened).await;
            }
            Outgoing::AskOpened(opened) => {
                ask_plainly(
                    *opened,
                    client.clone(),
                    inbox.clone(),
                    Arc::clone(&plain_asks),
                );
            }
            Outgoing::AskClosed(closed) if asks_itself => {
                client.send_notification::<Closed>(closed).await;
            }
            Outgoing::AskClosed(closed) => {
                let open = plain_asks
                    .lock()
                    .ok()
                    .and_then(|mut asks| asks.remove(&closed.ask_id));
                if let Some(title) = open {
                    let text = format!("Toolgate: the question \"{title}\" is over.");
                    client.show_message(MessageType::INFO, text).await;
                }
            }
        }
    }
}

/// Asks by `window/showMessageRequest`. The task is never aborted; a reply to a prompt that is
/// over is refused by the crew.
fn ask_plainly(opened: AskOpened, client: Client, inbox: Inbox, asks: Plain) {
    let (title, text, digest, options) = words(&opened.ask);
    if let Ok(mut asks) = asks.lock() {
        asks.insert(opened.ask_id.clone(), title);
    }
    tokio::spawn(async move {
        let actions = options
            .iter()
            .map(|option| MessageActionItem {
                title: option.label.clone(),
                properties: std::collections::HashMap::new(),
            })
            .collect();
        let reply = client
            .show_message_request(MessageType::WARNING, text, Some(actions))
            .await;
        // An error or a closed window is no answer: the prompt stays open until its deadline.
        let Ok(Some(chosen)) = reply else { return };
        let Some(option) = options.iter().find(|option| option.label == chosen.title) else {
            return;
        };
        if let Ok(mut asks) = asks.lock() {
            asks.remove(&opened.ask_id);
        }
        let answer = AskAnswerParams {
            ask_id: opened.ask_id,
            digest,
            option: option.option,
            message: None,
            input: None,
            hunks: Vec::new(),
        };
        if let Err(refusal) = inbox.ask(Demand::Answer(answer)).await {
            client
                .show_message(MessageType::WARNING, format!("Toolgate: {}", refusal.0))
                .await;
        }
    });
}

/// Title, text, digest and options of a prompt. Content that was cut offers no way to allow it:
/// the person would not see what runs.
fn words(ask: &Ask) -> (String, String, String, Vec<AskOption>) {
    match ask {
        Ask::Permission(ask) => {
            let whole = ask.content.content_ref.is_none();
            let options: Vec<AskOption> = ask
                .options
                .iter()
                .filter(|o| whole || !o.option.allows())
                .cloned()
                .collect();
            let cut = if whole {
                ""
            } else {
                "\n(Too large to show here: it can only be refused.)"
            };
            let text = format!(
                "{}: {}\n\n{}{cut}\n\nWhy: {}",
                ask.tool,
                ask.title,
                plain(&ask.content.payload),
                ask.why.text
            );
            (ask.title.clone(), text, ask.digest.clone(), options)
        }
        Ask::Repetition { text, options, .. } => {
            (text.clone(), text.clone(), String::new(), options.clone())
        }
        Ask::Trust { folder, wants, .. } => {
            let text = format!("Trust {folder}? It wants: {}", wants.join("; "));
            let no = AskOption {
                option: OptionKind::RejectOnce,
                label: "No".to_owned(),
                rules: Vec::new(),
            };
            (folder.clone(), text, String::new(), vec![no])
        }
    }
}

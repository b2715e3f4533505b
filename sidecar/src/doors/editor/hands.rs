//! The editor's hands: how an executor edits and saves an open document, and sees it as it is now.
//!
//! A request to the editor runs in a task of its own that is never aborted; the executor that
//! asked may walk away from the answer.

use futures_util::FutureExt;
use tokio::sync::oneshot;
use toolgate_core::document::DocumentText;
use toolgate_protocol::requests::{
    DocumentEditParams, DocumentEditResult, DocumentSaveParams, DocumentSaveResult,
};
use tower_lsp::lsp_types::request::Request;
use tower_lsp::Client;

use crate::crew::inbox::{Inbox, Input};
use crate::tools::{Boxed, EditorHands};

/// `toolgate/document/edit`.
enum DocumentEdit {}

impl Request for DocumentEdit {
    type Params = DocumentEditParams;
    type Result = DocumentEditResult;
    const METHOD: &'static str = "toolgate/document/edit";
}

/// `toolgate/document/save`.
enum DocumentSave {}

impl Request for DocumentSave {
    type Params = DocumentSaveParams;
    type Result = DocumentSaveResult;
    const METHOD: &'static str = "toolgate/document/save";
}

/// The hands of the editor at the other end.
pub struct LspHands {
    client: Client,
    inbox: Inbox,
    can_edit: bool,
    can_save: bool,
}

impl LspHands {
    /// The hands of this client, and what it said it can do.
    pub fn new(client: Client, inbox: Inbox, can_edit: bool, can_save: bool) -> Self {
        Self {
            client,
            inbox,
            can_edit,
            can_save,
        }
    }

    fn send<R>(&self, params: R::Params) -> Boxed<'_, Result<R::Result, String>>
    where
        R: Request + 'static,
        R::Params: Send + Sync + 'static,
        R::Result: Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let client = self.client.clone();
        tokio::spawn(async move {
            let answer = client.send_request::<R>(params).await;
            // An executor that was cancelled no longer waits.
            let _ = sender.send(answer.map_err(|error| error.to_string()));
        });
        async move {
            receiver
                .await
                .unwrap_or_else(|_| Err("the editor is gone".to_owned()))
        }
        .boxed()
    }
}

impl EditorHands for LspHands {
    fn edit(&self, params: DocumentEditParams) -> Boxed<'_, Result<DocumentEditResult, String>> {
        if !self.can_edit {
            let why = "unsupported: this editor has the file open and did not announce `ui.edit`, \
                       so it cannot be changed there; close it in the editor";
            return async move { Err(why.to_owned()) }.boxed();
        }
        self.send::<DocumentEdit>(params)
    }

    fn save(&self, uri: String) -> Boxed<'_, Result<DocumentSaveResult, String>> {
        if !self.can_save {
            let why = "this editor did not announce `ui.save`".to_owned();
            return async move {
                Ok(DocumentSaveResult {
                    saved: false,
                    reason: Some(why),
                })
            }
            .boxed();
        }
        self.send::<DocumentSave>(DocumentSaveParams { uri })
    }

    fn snapshot(&self, path: &str) -> Boxed<'_, Option<DocumentText>> {
        let (sender, receiver) = oneshot::channel();
        self.inbox.put(Input::Snapshot(path.to_owned(), sender));
        async move { receiver.await.unwrap_or_default() }.boxed()
    }
}

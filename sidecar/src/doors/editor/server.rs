//! The LSP methods. A handler puts one value into the inbox before any `.await`.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde_json::{json, Value};
use tokio::sync::mpsc;
use toolgate_core::buffers::{Position, TextChange, Unit};
use toolgate_protocol::asks::AskAnswerParams;
use toolgate_protocol::methods::{PROTOCOL, REFUSED};
use toolgate_protocol::requests::{
    CancelCallParams, ClientHello, Empty, GetCallParams, ListSessionsParams, LoadSessionParams,
    NewSessionParams, OutputParams, PromptParams, ServerHello, SessionParams, SetModeParams,
    SetModelParams,
};
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, InitializeParams, InitializeResult, PositionEncodingKind,
    ServerCapabilities, ServerInfo, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, TextDocumentSyncSaveOptions,
};
use tower_lsp::{Client, ClientSocket, LanguageServer, LspService};

use super::hands::LspHands;
use super::outgoing;
use crate::crew::hub::{Asker, Hub};
use crate::crew::inbox::{Demand, DocumentEvent, Inbox, Input};
use crate::doors::start::{self, Flags};
use crate::look;

/// What the guard and the server share.
pub struct Shared {
    flags: Flags,
    initialize: Mutex<Value>,
    inbox: OnceLock<Inbox>,
}

impl Shared {
    /// Nothing is known of the editor yet.
    pub fn new(flags: Flags) -> Arc<Self> {
        Arc::new(Self {
            flags,
            initialize: Mutex::new(Value::Null),
            inbox: OnceLock::new(),
        })
    }

    /// Keeps the parameters of `initialize` as they came.
    pub fn keep_initialize(&self, params: Value) {
        if let Ok(mut kept) = self.initialize.lock() {
            *kept = params;
        }
    }

    fn initialize(&self) -> Value {
        self.initialize
            .lock()
            .map(|kept| kept.clone())
            .unwrap_or_default()
    }

    /// The way into the crew, once the editor has initialised.
    pub fn inbox(&self) -> Option<&Inbox> {
        self.inbox.get()
    }

    /// Resolves when the process that `initialize` named is gone.
    pub async fn parent_gone(&self) {
        loop {
            tokio::time::sleep(Duration::from_millis(500)).await;
            let Some(id) = self.initialize()["processId"].as_i64() else {
                continue;
            };
            let Ok(id) = i32::try_from(id) else { continue };
            let Some(pid) = rustix::process::Pid::from_raw(id) else {
                continue;
            };
            if rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH) {
                return;
            }
        }
    }
}

/// The service and its socket.
pub fn service(shared: Arc<Shared>) -> (LspService<Server>, ClientSocket) {
    LspService::build(|client| Server { client, shared })
        .custom_method("toolgate/session/new", Server::session_new)
        .custom_method("toolgate/session/load", Server::session_load)
        .custom_method("toolgate/session/list", Server::session_list)
        .custom_method("toolgate/session/close", Server::session_close)
        .custom_method("toolgate/session/delete", Server::session_delete)
        .custom_method("toolgate/session/prompt", Server::session_prompt)
        .custom_method("toolgate/session/cancel", Server::session_cancel)
        .custom_method("toolgate/session/cancelCall", Server::session_cancel_call)
        .custom_method("toolgate/session/setMode", Server::session_set_mode)
        .custom_method("toolgate/session/setModel", Server::session_set_model)
        .custom_method("toolgate/ask/answer", Server::ask_answer)
        .custom_method("toolgate/call/get", Server::call_get)
        .custom_method("toolgate/call/output", Server::call_output)
        .custom_method("toolgate/review/list", Server::review_list)
        .custom_method("toolgate/status", Server::status)
        .finish()
}

/// The server.
pub struct Server {
    client: Client,
    shared: Arc<Shared>,
}

fn refused(text: impl Into<String>) -> Error {
    let mut error = Error::new(ErrorCode::ServerError(REFUSED));
    error.message = text.into().into();
    error
}

impl Server {
    async fn ask(&self, demand: Demand) -> Result<Value> {
        let Some(inbox) = self.shared.inbox() else {
            return Err(refused("not initialized"));
        };
        inbox
            .ask(demand)
            .await
            .map_err(|refusal| refused(refusal.0))
    }

    fn tell(&self, input: Input) {
        if let Some(inbox) = self.shared.inbox() {
            inbox.put(input);
        }
    }

    async fn session_new(&self, params: NewSessionParams) -> Result<Value> {
        self.ask(Demand::New(params)).await
    }

    async fn session_load(&self, params: LoadSessionParams) -> Result<Value> {
        self.ask(Demand::Load(params)).await
    }

    async fn session_list(&self, params: ListSessionsParams) -> Result<Value> {
        self.ask(Demand::List(params)).await
    }

    async fn session_close(&self, params: SessionParams) -> Result<Value> {
        self.ask(Demand::Close(params)).await
    }

    async fn session_delete(&self, params: SessionParams) -> Result<Value> {
        self.ask(Demand::Delete(params)).await
    }

    async fn session_prompt(&self, params: PromptParams) -> Result<Value> {
        self.ask(Demand::Prompt(params)).await
    }

    async fn session_cancel(&self, params: SessionParams) {
        self.tell(Input::Tell(Demand::Cancel(params)));
    }

    async fn session_cancel_call(&self, params: CancelCallParams) {
        self.tell(Input::Tell(Demand::CancelCall(params)));
    }

    async fn session_set_mode(&self, params: SetModeParams) -> Result<Value> {
        self.ask(Demand::SetMode(params)).await
    }

    async fn session_set_model(&self, params: SetModelParams) -> Result<Value> {
        self.ask(Demand::SetModel(params)).await
    }

    async fn ask_answer(&self, params: AskAnswerParams) -> Result<Value> {
        self.ask(Demand::Answer(params)).await
    }

    async fn call_get(&self, params: GetCallParams) -> Result<Value> {
        self.ask(Demand::GetCall(params)).await
    }

    async fn call_output(&self, params: OutputParams) -> Result<Value> {
        self.ask(Demand::Output(params)).await
    }

    async fn review_list(&self, params: SessionParams) -> Result<Value> {
        self.ask(Demand::Reviews(params)).await
    }

    async fn status(&self, _params: Empty) -> Result<Value> {
        self.ask(Demand::Status).await
    }

    /// Starts the crew for this editor. The error is for the person.
    fn start(&self) -> std::result::Result<(Unit, String), String> {
        let params = self.shared.initialize();
        let options = &params["initializationOptions"]["toolgate"];
        let hello: ClientHello = match options {
            Value::Null => ClientHello::default(),
            options => serde_json::from_value(options.clone())
                .map_err(|error| format!("initializationOptions.toolgate: {error}"))?,
        };
        if hello.protocol != PROTOCOL && !options.is_null() {
            return Err(format!(
                "this sidecar speaks protocol {PROTOCOL}, the client {}; update the older one",
                hello.protocol
            ));
        }
        let unit = unit(&params);
        let roots = roots(&params);
        let (outlet, outgoing_rx) = mpsc::unbounded_channel();
        let mut config = start::config(
            &self.shared.flags,
            &roots,
            hello.settings.as_ref(),
            Asker::Door,
        )?;
        config.unit = unit;
        let slot = Arc::new(start::LateHands::default());
        config.editor = Some(slot.clone());
        let (hub, inbox, inputs) = Hub::new(config, outlet);
        let epoch = hub.epoch().to_owned();
        let hands = LspHands::new(
            self.client.clone(),
            inbox.clone(),
            hello.ui.edit,
            hello.ui.save,
        );
        slot.fill(Arc::new(hands));
        tokio::spawn(outgoing::forward(
            outgoing_rx,
            self.client.clone(),
            inbox.clone(),
            hello.ui.permission,
        ));
        tokio::spawn(hub.run(inputs));
        if self.shared.inbox.set(inbox).is_err() {
            return Err("already initialized".to_owned());
        }
        Ok((unit, epoch))
    }
}

fn unit(params: &Value) -> Unit {
    let offered = &params["capabilities"]["general"]["positionEncodings"];
    let offered: Vec<&str> = offered
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let known = offered.iter().find_map(|name| match *name {
        "utf-8" => Some(Unit::Utf8),
        "utf-16" => Some(Unit::Utf16),
        "utf-32" => Some(Unit::Utf32),
        _ => None,
    });
    known.unwrap_or_default()
}

fn roots(params: &Value) -> Vec<String> {
    let folders = params["workspaceFolders"].as_array().into_iter().flatten();
    let mut uris: Vec<&str> = folders
        .filter_map(|folder| folder["uri"].as_str())
        .collect();
    uris.extend(params["rootUri"].as_str());
    let mut roots: Vec<String> = uris
        .into_iter()
        .filter_map(|uri| look::path_of_uri(uri).ok())
        .collect();
    roots.dedup();
    roots
}

fn change(event: tower_lsp::lsp_types::TextDocumentContentChangeEvent) -> TextChange {
    let position = |p: tower_lsp::lsp_types::Position| Position {
        line: p.line,
        character: p.character,
    };
    TextChange {
        range: event
            .range
            .map(|range| (position(range.start), position(range.end))),
        text: event.text,
    }
}

#[tower_lsp::async_trait]
impl LanguageServer for Server {
    async fn initialize(&self, _params: InitializeParams) -> Result<InitializeResult> {
        let (unit, epoch) = self.start().map_err(refused)?;
        let encoding = match unit {
            Unit::Utf8 => PositionEncodingKind::UTF8,
            Unit::Utf16 => PositionEncodingKind::UTF16,
            Unit::Utf32 => PositionEncodingKind::UTF32,
        };
        let sync = TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            will_save: Some(true),
            will_save_wait_until: None,
            save: Some(TextDocumentSyncSaveOptions::Supported(true)),
        };
        let hello = ServerHello {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            epoch,
        };
        Ok(InitializeResult {
            server_info: Some(ServerInfo {
                name: "toolgate".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
            capabilities: ServerCapabilities {
                position_encoding: Some(encoding),
                text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
                experimental: Some(json!({ "toolgate": hello })),
                ..ServerCapabilities::default()
            },
        })
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        let uri = document.uri.to_string();
        let place = look::place_of_uri(&uri);
        self.tell(Input::Document(DocumentEvent::Opened {
            uri,
            place,
            version: document.version,
            text: document.text,
        }));
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        self.tell(Input::Document(DocumentEvent::Changed {
            uri: params.text_document.uri.to_string(),
            version: params.text_document.version,
            changes: params.content_changes.into_iter().map(change).collect(),
        }));
    }

    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        let uri = params.text_document.uri.to_string();
        self.tell(Input::Document(DocumentEvent::Saved { uri }));
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        let uri = params.text_document.uri.to_string();
        self.tell(Input::Document(DocumentEvent::Closed { uri }));
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }
}

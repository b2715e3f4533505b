//! The fake editor: a scripted LSP client over the real sidecar's standard input and output, in a
//! scratch world of its own (`Scratch`).
//!
//! It answers `toolgate/document/edit` and `save` as a real client does, keeps every message, and
//! holds the sidecar to the protocol's rules: `seq` grows by one, no message is too large, one
//! answer a request. It must never wait by sleeping: every wait is for something that is seen.
//!
//! It is only used by tests: what goes wrong here is told by a panic.
#![allow(clippy::expect_used, clippy::panic)]

pub mod documents;
pub mod script;
mod frame;
mod pipes;
mod scratch;
mod seen;

use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{json, Value};
use tokio::io::BufReader;
use tokio::process::Child;
use tokio::sync::{mpsc, watch};

use documents::{uri_of, Document, Documents};
pub use frame::{framed, framed_text};
pub use scratch::{binary, Ran, Scratch, KEY};
pub use seen::Seen;

/// Ends a test that hangs; no test waits for it.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// What a fake editor tells the sidecar at the start.
#[derive(Clone, Debug)]
pub struct Options {
    /// `initializationOptions.toolgate`; null: a plain LSP client.
    pub hello: Value,
    /// `capabilities.general.positionEncodings`.
    pub encodings: Vec<&'static str>,
    /// `processId`.
    pub process: Option<u32>,
    /// Further capabilities, merged over the others at the top.
    pub capabilities: Value,
}

impl Default for Options {
    fn default() -> Self {
        let ui = json!({ "permission": true, "review": true, "edit": true, "save": true });
        Self {
            hello: json!({ "protocol": 1, "ui": ui }),
            encodings: vec!["utf-16"],
            process: Some(std::process::id()),
            capabilities: json!({}),
        }
    }
}

impl Options {
    /// With settings of the editor.
    pub fn settings(mut self, settings: Value) -> Self {
        self.hello["settings"] = settings;
        self
    }
}

/// A running sidecar and the editor that talks to it.
#[derive(Debug)]
pub struct FakeEditor {
    child: Child,
    input: Option<mpsc::UnboundedSender<Vec<u8>>>,
    shared: Arc<Shared>,
    next: std::sync::atomic::AtomicU64,
    listening: tokio::task::JoinHandle<()>,
    /// The answer to `initialize`.
    pub initialized: Value,
}

#[derive(Debug)]
struct Shared {
    seen: watch::Sender<Seen>,
    documents: Mutex<Documents>,
}

impl Shared {
    fn documents<T>(&self, look: impl FnOnce(&mut Documents) -> T) -> T {
        look(
            &mut self
                .documents
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
}

impl FakeEditor {
    /// Starts the sidecar and says nothing.
    pub fn spawn(scratch: &Scratch) -> Self {
        let mut command = scratch.command(["lsp", "--stdio"]);
        command.stdin(std::process::Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let shared = Arc::new(Shared {
            seen: watch::Sender::new(Seen::default()),
            documents: Mutex::default(),
        });
        let (input, lines) = mpsc::unbounded_channel();
        let stdin = child.stdin.take().expect("it was piped");
        let stdout = child.stdout.take().expect("it was piped");
        let stderr = child.stderr.take().expect("it was piped");
        tokio::spawn(pipes::write(stdin, lines));
        let listening = tokio::spawn(pipes::listen(
            BufReader::new(stdout),
            Arc::clone(&shared),
            input.downgrade(),
        ));
        tokio::spawn(pipes::errors(BufReader::new(stderr), Arc::clone(&shared)));
        Self {
            child,
            input: Some(input),
            shared,
            next: std::sync::atomic::AtomicU64::new(1),
            listening,
            initialized: Value::Null,
        }
    }

    /// Starts the sidecar on the project and shakes hands.
    pub async fn start(scratch: &Scratch, options: Options) -> Self {
        let mut editor = Self::spawn(scratch);
        let answer = editor
            .request("initialize", editor.hello(scratch, &options))
            .await;
        editor.initialized = answer.unwrap_or_else(|error| panic!("initialize: {error}"));
        editor.notify("initialized", json!({}));
        editor
    }

    /// The parameters of `initialize`.
    pub fn hello(&self, scratch: &Scratch, options: &Options) -> Value {
        let uri = uri_of(&scratch.project());
        let mut capabilities = json!({ "general": { "positionEncodings": options.encodings } });
        for (name, value) in options.capabilities.as_object().into_iter().flatten() {
            capabilities[name] = value.clone();
        }
        json!({
            "processId": options.process,
            "rootUri": uri,
            "workspaceFolders": [{ "uri": uri, "name": "project" }],
            "capabilities": capabilities,
            "initializationOptions": { "toolgate": options.hello },
        })
    }

    /// Sends bytes as they are.
    pub fn raw(&self, bytes: impl Into<Vec<u8>>) {
        if let Some(input) = &self.input {
            // A sidecar that has ended reads nothing more; the test sees that where it looks.
            let _ = input.send(bytes.into());
        }
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: Value) {
        self.raw(framed(
            &json!({ "jsonrpc": "2.0", "method": method, "params": params }),
        ));
    }

    /// Sends a request; its id.
    pub fn ask(&self, method: &str, params: Value) -> u64 {
        let id = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.raw(framed(&message));
        id
    }

    /// The answer to a request: its result or its error.
    pub async fn answer(&self, id: u64) -> Result<Value, Value> {
        let answer = self
            .wait(&format!("the answer to request {id}"), |seen| {
                seen.answers.get(&id).cloned()
            })
            .await;
        match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["result"].clone()),
        }
    }

    /// Sends a request and waits for its answer.
    pub async fn request(&self, method: &str, params: Value) -> Result<Value, Value> {
        self.answer(self.ask(method, params)).await
    }

    /// Answers a request of the sidecar that the fake editor leaves to the test.
    pub fn reply(&self, id: &Value, result: Value) {
        self.raw(framed(
            &json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        ));
    }

    /// Waits until something was seen. Panics when a rule was broken, or when it does not come.
    pub async fn wait<T>(&self, what: &str, mut find: impl FnMut(&Seen) -> Option<T>) -> T {
        let mut found = None;
        let mut receiver = self.shared.seen.subscribe();
        let wait = receiver.wait_for(|seen| {
            found = find(seen);
            found.is_some() || !seen.faults.is_empty() || seen.over
        });
        let waited = tokio::time::timeout(DEADLINE, wait).await.is_ok();
        self.seen(|seen| {
            assert!(
                seen.faults.is_empty(),
                "waiting for {what}: {:?}",
                seen.faults
            );
            found.unwrap_or_else(|| {
                let why = match (waited, seen.over) {
                    (_, true) => "the sidecar has ended",
                    _ => "it did not come",
                };
                let last: Vec<_> = seen.messages.iter().rev().take(8).rev().collect();
                panic!(
                    "waiting for {what}: {why}; last came {last:#?}\n{}",
                    seen.stderr
                )
            })
        })
    }

    /// Waits for an update.
    pub async fn update(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        self.wait(what, |seen| seen.updates().find(|u| fits(u)).cloned())
            .await
    }

    /// Looks at what was seen.
    pub fn seen<T>(&self, look: impl FnOnce(&Seen) -> T) -> T {
        look(&self.shared.seen.borrow())
    }

    /// Makes a session; its name.
    pub async fn session(&self) -> String {
        let made = self.request("toolgate/session/new", json!({})).await;
        let made = made.unwrap_or_else(|error| panic!("session/new: {error}"));
        made["sessionId"].as_str().expect("a name").to_owned()
    }

    /// Says something to the model; the turn's name.
    pub async fn prompt(&self, session: &str, text: &str) -> String {
        let params = json!({
            "sessionId": session,
            "content": [{ "type": "text", "text": text }],
        });
        let answer = self.request("toolgate/session/prompt", params).await;
        let answer = answer.unwrap_or_else(|error| panic!("session/prompt: {error}"));
        answer["turnId"].as_str().expect("a turn").to_owned()
    }

    /// Waits for a turn's end.
    pub async fn turn_ended(&self, turn: &str) -> Value {
        self.update("the turn's end", |update| {
            update["kind"] == "turn_ended" && update["turnId"] == turn
        })
        .await
    }

    /// Waits for the n-th prompt (from 0), open or not: the parameters of `ask/opened`.
    pub async fn asked(&self, n: usize) -> Value {
        self.wait(&format!("prompt {n}"), |seen| {
            seen.of("toolgate/ask/opened").nth(n).cloned()
        })
        .await
    }

    /// Answers a prompt.
    pub async fn decide(&self, opened: &Value, option: &str) -> Result<Value, Value> {
        self.decide_with(opened, option, json!({})).await
    }

    /// Answers a prompt with a message or with hunks.
    pub async fn decide_with(
        &self,
        opened: &Value,
        option: &str,
        more: Value,
    ) -> Result<Value, Value> {
        let mut params = more;
        params["askId"] = opened["askId"].clone();
        params["digest"] = match &opened["ask"]["digest"] {
            Value::Null => "".into(),
            digest => digest.clone(),
        };
        params["option"] = option.into();
        self.request("toolgate/ask/answer", params).await
    }

    /// Waits for a turn's end and answers every prompt until then with this option.
    pub async fn finish(&self, turn: &str, option: &str) -> Value {
        // The notice that a prompt is closed may come behind the answer to its answer.
        let mut answered = std::collections::BTreeSet::new();
        loop {
            let (ended, asks) = self
                .wait("the turn's end or a prompt", |seen| {
                    let ended = |u: &&Value| u["kind"] == "turn_ended" && u["turnId"] == turn;
                    let ended = seen.updates().find(ended).cloned();
                    let mut asks: Vec<Value> = seen.open_asks().into_iter().cloned().collect();
                    asks.retain(|ask| !answered.contains(&ask["askId"].to_string()));
                    (ended.is_some() || !asks.is_empty()).then_some((ended, asks))
                })
                .await;
            if let Some(ended) = ended {
                return ended;
            }
            for opened in asks {
                let answer = self.decide(&opened, option).await;
                answer.unwrap_or_else(|error| panic!("{opened}: {error}"));
                answered.insert(opened["askId"].to_string());
            }
        }
    }

    /// Waits for the outcome of the n-th call (from 0) of a tool.
    pub async fn settled(&self, tool: &str, n: usize) -> Value {
        self.wait(&format!("the outcome of {tool} {n}"), |seen| {
            let call = seen.call(tool, n)?;
            seen.settled(&call).cloned()
        })
        .await
    }

    /// What the model got for a call.
    pub async fn model_text(&self, session: &str, call: &Value) -> String {
        let params = json!({ "sessionId": session, "callId": call });
        let view = self.request("toolgate/call/get", params).await;
        let view = view.unwrap_or_else(|error| panic!("call/get: {error}"));
        view["modelText"].as_str().unwrap_or_default().to_owned()
    }

    /// Opens a document with this text; its URI.
    pub fn open(&self, path: &Path, text: &str) -> String {
        let uri = uri_of(path);
        self.open_uri(&uri, Some(path), text);
        uri
    }

    /// Opens a document under a URI of one's own.
    pub fn open_uri(&self, uri: &str, path: Option<&Path>, text: &str) {
        let document = Document {
            path: path.map(Path::to_path_buf),
            version: 1,
            text: text.to_owned(),
            undo: Vec::new(),
        };
        self.shared
            .documents(|all| all.0.insert(uri.to_owned(), document));
        let item = json!({ "uri": uri, "languageId": "plaintext", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": item }));
    }

    /// The person changes a document's text.
    pub fn type_text(&self, uri: &str, text: &str) {
        self.shared.documents(|all| {
            let told = all.set(uri, text.to_owned());
            self.notify("textDocument/didChange", told);
        });
    }

    /// The person saves a document.
    pub fn save(&self, uri: &str) {
        self.shared.documents(|all| {
            all.save(&uri.into())
                .unwrap_or_else(|error| panic!("{uri}: {error}"));
            let document = json!({ "uri": uri });
            self.notify("textDocument/didSave", json!({ "textDocument": document }));
        });
    }

    /// The document as it is now.
    pub fn document(&self, uri: &str) -> Document {
        self.shared
            .documents(|all| all.0.get(uri).cloned())
            .unwrap_or_else(|| panic!("{uri} is not open"))
    }

    /// Closes a document.
    pub fn close(&self, uri: &str) {
        self.shared.documents(|all| all.0.remove(uri));
        self.notify(
            "textDocument/didClose",
            json!({ "textDocument": { "uri": uri } }),
        );
    }

    /// Process id of the sidecar.
    pub fn process(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// Closes the sidecar's standard input, as an editor that is gone.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Reads no more, and closes the sidecar's standard output.
    pub fn close_output(&self) {
        self.listening.abort();
    }

    /// Waits until the sidecar has ended.
    pub async fn ended(&mut self) -> ExitStatus {
        tokio::time::timeout(DEADLINE, self.child.wait())
            .await
            .expect("the sidecar does not end")
            .expect("its end can be seen")
    }

    /// Ends the sidecar in order, and holds it to the rules a last time.
    pub async fn quit(mut self) {
        self.request("shutdown", Value::Null)
            .await
            .unwrap_or_else(|error| panic!("shutdown: {error}"));
        self.notify("exit", Value::Null);
        let status = self.ended().await;
        self.seen(|seen| assert!(seen.faults.is_empty(), "{:?}", seen.faults));
        assert!(status.success(), "{status}");
    }
}

//! Runs a story with the real sidecar over the wire.

use std::collections::BTreeMap;

use serde_json::{json, Value};

use super::parse::{Scenario, Step};
use crate::fake_editor::{script, FakeEditor, Options, Scratch};
use crate::fake_model::FakeModel;

/// What came of a story.
#[derive(Debug)]
pub struct Came {
    /// All files at the end.
    pub files: BTreeMap<String, Vec<u8>>,
    /// All open documents at the end.
    pub buffers: BTreeMap<String, String>,
    /// The calls in their order: status, tool, what the model got.
    pub outcomes: Vec<(String, String, String)>,
    /// All updates.
    pub updates: Vec<Value>,
    /// Bodies of the requests.
    pub requests: Vec<String>,
    /// What was wrong with requests.
    pub invalid: Vec<String>,
    /// Steps that went another way.
    pub faults: Vec<String>,
}

struct Stage {
    scratch: Scratch,
    editor: FakeEditor,
    model: FakeModel,
    session: String,
    turn: String,
    asks: usize,
    uris: BTreeMap<String, String>,
    faults: Vec<String>,
}

/// Runs it.
pub async fn run(scenario: &Scenario) -> Came {
    let model = script::start(&scenario.model).await;
    let scratch = Scratch::new().server(&model.base_url);
    for (path, file) in &scenario.files {
        scratch.write(path, &file.0);
    }
    let mut options = Options::default();
    if let Some(settings) = &scenario.settings {
        options = options.settings(settings.clone());
    }
    let editor = FakeEditor::start(&scratch, options).await;
    let mut uris = BTreeMap::new();
    for (path, text) in &scenario.open {
        uris.insert(path.clone(), editor.open(&scratch.path(path), text));
    }
    let session = editor.session().await;
    let mut stage = Stage {
        scratch,
        editor,
        model,
        session,
        turn: String::new(),
        asks: 0,
        uris,
        faults: Vec::new(),
    };
    for step in &scenario.steps {
        stage.step(step).await;
    }
    stage.end().await
}

impl Stage {
    async fn step(&mut self, step: &Step) {
        match step {
            Step::Say(text) => self.turn = self.editor.prompt(&self.session, text).await,
            Step::Answer {
                tool,
                option,
                without,
                saying,
            } => self.answer(tool, option, without, saying.as_deref()).await,
            Step::WaitAsk(tool) => {
                self.next_ask(tool).await;
            }
            Step::WaitHeld(name) => self.model.until_held(name).await,
            Step::WaitProgress(text) => {
                let fits = |update: &Value| {
                    let told = update["text"].as_str().unwrap_or_default();
                    update["kind"] == "call_progress" && told.contains(text)
                };
                self.editor.update("progress", fits).await;
            }
            Step::Release(name) => self.model.release(name),
            Step::Write(path, text) => self.scratch.write(path, text),
            Step::Remove(path) => {
                std::fs::remove_file(self.scratch.path(path)).expect("it is there")
            }
            Step::Type(path, text) => self.editor.type_text(&self.uris[path], text),
            Step::Save(path) => self.editor.save(&self.uris[path]),
            Step::Stop => {
                let params = json!({ "sessionId": self.session });
                self.editor.notify("toolgate/session/cancel", params);
            }
            Step::End(reason) => {
                let ended = self.editor.turn_ended(&self.turn).await;
                if ended["stopReason"] != reason.as_str() {
                    self.faults.push(format!("the turn ended: {ended}"));
                }
            }
        }
    }

    async fn next_ask(&mut self, tool: &str) -> Value {
        let opened = self.editor.asked(self.asks).await;
        let asked = match &opened["ask"]["tool"] {
            Value::String(tool) => tool.clone(),
            _ => opened["ask"]["kind"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        };
        if asked != tool {
            self.faults.push(format!(
                "{tool} should be asked about, it is {asked}: {opened}"
            ));
        }
        opened
    }

    async fn answer(&mut self, tool: &str, option: &str, without: &[usize], saying: Option<&str>) {
        let opened = self.next_ask(tool).await;
        self.asks += 1;
        let hunks = &opened["ask"]["content"]["payload"]["hunks"];
        let refused = without
            .iter()
            .map(|number| json!({ "hunkId": hunks[number - 1]["hunkId"], "accept": false }));
        let mut more = json!({ "hunks": refused.collect::<Vec<_>>() });
        if let Some(word) = saying {
            more["message"] = word.into();
        }
        if let Err(error) = self.editor.decide_with(&opened, option, more).await {
            self.faults.push(format!("{tool} {option}: {error}"));
        }
    }

    async fn end(self) -> Came {
        let started: Vec<Value> = self
            .editor
            .seen(|seen| seen.kind("call_started").cloned().collect());
        let mut outcomes = Vec::new();
        for call in started {
            let id = call["callId"].as_str().unwrap_or_default();
            let settled = self.editor.seen(|seen| seen.settled(id).cloned());
            let status = settled.map_or("open".to_owned(), |settled| {
                settled["status"].as_str().unwrap_or_default().to_owned()
            });
            let tool = call["tool"].as_str().unwrap_or_default().to_owned();
            let text = self.editor.model_text(&self.session, &call["callId"]).await;
            outcomes.push((status, tool, text));
        }
        let buffers = self.uris.iter();
        let buffers = buffers
            .map(|(path, uri)| (path.clone(), self.editor.document(uri).text))
            .collect();
        let updates = self.editor.seen(|seen| seen.updates().cloned().collect());
        let came = Came {
            files: self.scratch.tree(),
            buffers,
            outcomes,
            updates,
            requests: self.model.requests(),
            invalid: self.model.invalid(),
            faults: self.faults,
        };
        self.editor.quit().await;
        came
    }
}

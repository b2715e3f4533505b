//! What came from the sidecar, and the rules that every message of it must obey.

use std::collections::BTreeMap;

use serde_json::Value;
use toolgate_protocol::methods::MAX_MESSAGE;

/// Everything that came so far.
#[derive(Debug, Default)]
pub struct Seen {
    /// Notifications and requests, in order.
    pub messages: Vec<Value>,
    /// Answers to the editor's requests, by id.
    pub answers: BTreeMap<u64, Value>,
    /// Answers with the id null.
    pub nameless: Vec<Value>,
    /// What broke a rule.
    pub faults: Vec<String>,
    /// Lines of standard error.
    pub stderr: String,
    /// True once the sidecar closed its output.
    pub over: bool,
    last: BTreeMap<String, (String, u64)>,
}

impl Seen {
    /// Takes a message; true when it is a request of the sidecar.
    pub fn take(&mut self, message: Value, size: usize) -> bool {
        let method = message["method"].as_str().unwrap_or_default();
        if method.starts_with("toolgate/") && size > MAX_MESSAGE {
            self.faults.push(format!("{method}: {size} bytes"));
        }
        if method.is_empty() {
            self.answer(message, size);
            return false;
        }
        if method == "toolgate/session/update" {
            self.number(&message["params"]);
        }
        let asks = message.get("id").is_some();
        self.messages.push(message);
        asks
    }

    fn answer(&mut self, message: Value, size: usize) {
        if size > MAX_MESSAGE {
            self.faults.push(format!("an answer of {size} bytes"));
        }
        // A reset tells everything from the start: what comes next is counted anew.
        if message["result"]["reset"] == true {
            let session = &message["result"]["session"]["sessionId"];
            self.last.remove(session.as_str().unwrap_or_default());
        }
        match message["id"].as_u64() {
            Some(id) => {
                if self.answers.insert(id, message).is_some() {
                    self.faults.push(format!("request {id} was answered twice"));
                }
            }
            None => self.nameless.push(message),
        }
    }

    /// `seq` grows by one within an epoch.
    fn number(&mut self, params: &Value) {
        let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
        let epoch = params["epoch"].as_str().unwrap_or_default().to_owned();
        let seq = params["seq"].as_u64().unwrap_or_default();
        if let Some((known, last)) = self.last.get(&session) {
            if *known != epoch {
                self.faults
                    .push(format!("{session}: the epoch went from {known} to {epoch}"));
            }
            if seq != last + 1 {
                self.faults
                    .push(format!("{session}: seq went from {last} to {seq}"));
            }
        }
        self.last.insert(session, (epoch, seq));
    }

    /// The parameters of all messages of a method.
    pub fn of<'a>(&'a self, method: &'a str) -> impl Iterator<Item = &'a Value> + 'a {
        self.messages
            .iter()
            .filter(move |message| message["method"] == method)
            .map(|message| &message["params"])
    }

    /// All updates, of all sessions.
    pub fn updates(&self) -> impl Iterator<Item = &Value> + '_ {
        self.of("toolgate/session/update")
            .map(|params| &params["update"])
    }

    /// The updates of one kind.
    pub fn kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> + 'a {
        self.updates().filter(move |update| update["kind"] == kind)
    }

    /// The outcome of a call, once it is told.
    pub fn settled(&self, call: &str) -> Option<&Value> {
        self.kind("call_settled")
            .find(|update| update["callId"] == call)
    }

    /// The name of the n-th call (from 0) of a tool.
    pub fn call(&self, tool: &str, n: usize) -> Option<String> {
        let mut calls = self.kind("call_started").filter(|u| u["tool"] == tool);
        calls
            .nth(n)
            .and_then(|update| update["callId"].as_str())
            .map(str::to_owned)
    }

    /// How a prompt ended, once it has.
    pub fn closed(&self, ask: &str) -> Option<&Value> {
        self.of("toolgate/ask/closed")
            .find(|params| params["askId"] == ask)
    }

    /// The prompts that are open, in order.
    pub fn open_asks(&self) -> Vec<&Value> {
        let opened = self.of("toolgate/ask/opened");
        opened
            .filter(|ask| {
                self.closed(ask["askId"].as_str().unwrap_or_default())
                    .is_none()
            })
            .collect()
    }
}

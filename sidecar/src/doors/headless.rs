//! `toolgate run`: one prompt, without an editor (spec: model-loop.md, "Headless").
//!
//! Text output: the answer on standard output, what happens on standard error. JSON output: one
//! session update a line, and a final line of type `result`. Prompts are asked on the terminal if
//! standard input and standard error are one; else such calls settle as "no one to ask".

use std::io::{IsTerminal, Write};

use serde_json::{json, Value};
use tokio::signal::unix::{signal, Signal, SignalKind};
use tokio::sync::{mpsc, oneshot};
use toolgate_protocol::asks::{Ask, AskAnswerParams, AskOpened};
use toolgate_protocol::ids::SessionId;
use toolgate_protocol::notices::{
    CallStatus, NoticeLevel, SessionUpdate, StopReason, Update, Usage,
};
use toolgate_protocol::render::Payload;
use toolgate_protocol::requests::{
    ListSessionsParams, LoadSessionParams, NewSessionParams, PromptBlock, PromptParams,
    SessionParams, When,
};

use crate::crew::contents::plain;
use crate::crew::hub::{Asker, Hub};
use crate::crew::inbox::{Demand, Inbox, Input, Outgoing};
use crate::doors::start::{self, Flags};

/// Exit codes of `toolgate run`; README.md lists them.
pub mod exit {
    /// The model has finished.
    pub const DONE: i32 = 0;
    /// The provider or the host failed.
    pub const FAILED: i32 = 1;
    /// The command line, a workspace or a session cannot be used.
    pub const USAGE: i32 = 2;
    /// `--max-turns` is reached.
    pub const MAX_TURNS: i32 = 3;
    /// The same call kept failing in the same way.
    pub const REPETITION: i32 = 4;
    /// The model refused.
    pub const REFUSAL: i32 = 5;
    /// The answer was cut by the model's token limit.
    pub const MAX_TOKENS: i32 = 6;
    /// Interrupted.
    pub const CANCELLED: i32 = 130;
}

/// Which session the prompt is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// A new one.
    New,
    /// This one.
    Resume(String),
    /// The last one of this folder.
    Continue,
}

/// What `toolgate run` was told.
#[derive(Clone, Debug)]
pub struct Run {
    /// The prompt.
    pub prompt: String,
    /// Working directory.
    pub cwd: String,
    /// Which session.
    pub which: Which,
    /// One JSON line an update.
    pub json: bool,
}

/// Runs one prompt to the end of its turn; the exit code.
pub async fn run(flags: Flags, run: Run) -> i32 {
    let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let asker = if terminal { Asker::Door } else { Asker::Nobody };
    let config = match start::config(&flags, std::slice::from_ref(&run.cwd), None, asker) {
        Ok(config) => config,
        Err(error) => return usage(&error),
    };
    for problem in config.settings.problems() {
        eprintln!("toolgate: {problem}");
    }
    let root = config.roots.first().cloned().unwrap_or_default();
    let (outlet, outgoing) = mpsc::unbounded_channel();
    let (hub, inbox, inputs) = Hub::new(config, outlet);
    // Listened for from here on, so that no interrupt is lost.
    let interrupt = match signal(SignalKind::interrupt()) {
        Ok(interrupt) => interrupt,
        Err(error) => return usage(&format!("signals cannot be listened for: {error}")),
    };
    let crew = tokio::spawn(hub.run(inputs));
    let code = match open(&inbox, &run, &root).await {
        Ok(session) => converse(&inbox, &run, session, outgoing, interrupt).await,
        Err(error) => usage(&error),
    };
    let (done, finished) = oneshot::channel();
    inbox.put(Input::Shutdown(done));
    // The crew ends in bounded time; what it could not finish it has written down.
    let _ = finished.await;
    let _ = crew.await;
    code
}

fn usage(error: &str) -> i32 {
    eprintln!("toolgate: {error}");
    exit::USAGE
}

async fn open(inbox: &Inbox, run: &Run, root: &str) -> Result<SessionId, String> {
    let id = match &run.which {
        Which::New => {
            let made = ask(inbox, Demand::New(NewSessionParams::default())).await?;
            return id_of(&made["sessionId"]);
        }
        Which::Resume(id) => SessionId(id.clone()),
        Which::Continue => {
            let params = ListSessionsParams {
                workspace: Some(root.to_owned()),
                query: None,
            };
            let list = ask(inbox, Demand::List(params)).await?;
            id_of(&list["sessions"][0]["sessionId"])
                .map_err(|_| format!("there is no session of {root} to continue"))?
        }
    };
    let params = LoadSessionParams {
        session_id: id.clone(),
        since: None,
    };
    ask(inbox, Demand::Load(params)).await?;
    Ok(id)
}

async fn ask(inbox: &Inbox, demand: Demand) -> Result<Value, String> {
    inbox.ask(demand).await.map_err(|refusal| refusal.0)
}

fn id_of(value: &Value) -> Result<SessionId, String> {
    value
        .as_str()
        .map(SessionId::from)
        .ok_or_else(|| "no session came back".to_owned())
}

async fn converse(
    inbox: &Inbox,
    run: &Run,
    session: SessionId,
    mut outgoing: mpsc::UnboundedReceiver<Outgoing>,
    mut interrupt: Signal,
) -> i32 {
    let params = PromptParams {
        session_id: session.clone(),
        content: vec![PromptBlock::Text {
            text: run.prompt.clone(),
        }],
        when: When::NextRequest,
    };
    if let Err(error) = ask(inbox, Demand::Prompt(params)).await {
        return usage(&error);
    }
    let mut printer = Printer {
        json: run.json,
        text: String::new(),
        fresh: true,
    };
    let mut interrupts = 0;
    loop {
        let next = tokio::select! {
            next = outgoing.recv() => next,
            _ = interrupt.recv() => {
                if interrupts > 0 {
                    return exit::CANCELLED;
                }
                interrupts += 1;
                let params = SessionParams { session_id: session.clone() };
                inbox.put(Input::Tell(Demand::Cancel(params)));
                continue;
            }
        };
        match next {
            None => return exit::FAILED,
            Some(Outgoing::Update(update)) => {
                if let Some(code) = printer.update(&session, update) {
                    return code;
                }
            }
            Some(Outgoing::AskOpened(opened)) => ask_on_terminal(inbox.clone(), *opened),
            Some(Outgoing::AskClosed(_)) => {}
        }
    }
}

/// Asks on the terminal, in a thread of its own: an unanswered prompt holds up nothing else.
fn ask_on_terminal(inbox: Inbox, opened: AskOpened) {
    let (text, digest, options) = match &opened.ask {
        Ask::Permission(ask) => (
            format!(
                "\n{}: {}\n{}\nWhy: {}",
                ask.tool,
                ask.title,
                plain(&ask.content.payload),
                ask.why.text
            ),
            ask.digest.clone(),
            ask.options.clone(),
        ),
        Ask::Repetition { text, options, .. } => {
            (format!("\n{text} Go on?"), String::new(), options.clone())
        }
        Ask::Trust { .. } => return,
    };
    let handle = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || {
        eprintln!("{text}");
        for (index, option) in options.iter().enumerate() {
            eprintln!("  {}) {}", index + 1, option.label);
        }
        let option = loop {
            eprint!("> ");
            let mut line = String::new();
            match std::io::stdin().read_line(&mut line) {
                // End of input is no answer: the prompt's deadline settles it.
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let chosen = line
                .trim()
                .parse::<usize>()
                .ok()
                .and_then(|n| n.checked_sub(1));
            if let Some(option) = chosen.and_then(|index| options.get(index)) {
                break option.option;
            }
        };
        let answer = AskAnswerParams {
            ask_id: opened.ask_id,
            digest,
            option,
            message: None,
            input: None,
            hunks: Vec::new(),
        };
        if let Err(refusal) = handle.block_on(inbox.ask(Demand::Answer(answer))) {
            eprintln!("toolgate: {}", refusal.0);
        }
    });
}

struct Printer {
    json: bool,
    text: String,
    fresh: bool,
}

impl Printer {
    /// Prints an update; the exit code when it is the turn's end.
    fn update(&mut self, session: &SessionId, update: SessionUpdate) -> Option<i32> {
        if self.json {
            line(&serde_json::to_value(&update).unwrap_or_default());
        }
        match update.update {
            Update::TurnEnded {
                stop_reason,
                message,
                usage,
                ..
            } => {
                return Some(self.end(session, stop_reason, message, usage));
            }
            Update::TurnStarted { .. } => {}
            Update::AgentMessageDelta { text } => {
                self.text.push_str(&text);
                if !self.json {
                    self.say(&text);
                }
            }
            other if !self.json => self.report(&other),
            _ => {}
        }
        None
    }

    fn say(&mut self, text: &str) {
        self.fresh = text.ends_with('\n');
        let mut out = std::io::stdout().lock();
        // A closed standard output has no reader to mind.
        let _ = out.write_all(text.as_bytes());
        let _ = out.flush();
    }

    fn report(&mut self, update: &Update) {
        let text = match update {
            Update::CallStarted { tool, title, .. } => {
                self.text.clear();
                format!("· {tool}: {title}")
            }
            Update::CallState {
                waits: Some(waits), ..
            } => format!("  waits: {waits}"),
            Update::CallProgress { text, .. } => {
                format!("  | {}", text.lines().last().unwrap_or_default())
            }
            Update::CallSettled {
                status,
                content,
                duration_ms,
                ..
            } => {
                let mark = match status {
                    CallStatus::Completed => "done",
                    CallStatus::Failed => "failed",
                    CallStatus::Refused => "refused",
                    CallStatus::Denied => "denied",
                    CallStatus::Cancelled => "cancelled",
                    CallStatus::Unknown => "unknown",
                };
                format!("  {mark} ({duration_ms} ms){}", glimpse(&content.payload))
            }
            Update::Notice { level, text } => match level {
                NoticeLevel::Info => text.clone(),
                NoticeLevel::Warning | NoticeLevel::Error => format!("! {text}"),
            },
            _ => return,
        };
        if !self.fresh {
            self.say("\n");
        }
        eprintln!("{text}");
    }

    fn end(
        &mut self,
        session: &SessionId,
        reason: StopReason,
        message: Option<String>,
        usage: Usage,
    ) -> i32 {
        let code = match reason {
            StopReason::EndTurn => exit::DONE,
            StopReason::Error => exit::FAILED,
            StopReason::MaxTurnRequests => exit::MAX_TURNS,
            StopReason::Repetition => exit::REPETITION,
            StopReason::Refusal => exit::REFUSAL,
            StopReason::MaxTokens => exit::MAX_TOKENS,
            StopReason::Cancelled => exit::CANCELLED,
        };
        if self.json {
            line(&json!({
                "type": "result", "sessionId": session, "stopReason": reason,
                "message": message, "text": self.text, "usage": usage, "exitCode": code,
            }));
            return code;
        }
        if !self.fresh {
            self.say("\n");
        }
        if let Some(message) = message {
            eprintln!("toolgate: {message}");
        }
        code
    }
}

/// What is worth seeing of an outcome in a terminal: the last lines of a command's output, else the
/// first line.
fn glimpse(payload: &Payload) -> String {
    let short = |line: &str| line.chars().take(160).collect::<String>();
    match payload {
        Payload::Terminal(terminal) => {
            let lines: Vec<&str> = terminal.output.lines().collect();
            let last = lines.iter().skip(lines.len().saturating_sub(6));
            last.map(|line| format!("\n  | {}", short(line))).collect()
        }
        other => {
            let text = plain(other);
            let first = text.lines().find(|line| !line.trim().is_empty());
            format!(" {}", short(first.unwrap_or_default()))
        }
    }
}

fn line(value: &Value) {
    let mut out = std::io::stdout().lock();
    // A closed standard output has no reader to mind.
    let _ = writeln!(out, "{value}");
}

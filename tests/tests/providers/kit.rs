//! What the cases are made with: a request, a provider on a script, and events as lines of text.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use toolgate::provider::anthropic::{Anthropic, AnthropicConfig};
use toolgate::provider::replay::Replay;
use toolgate::provider::script::Script;
use toolgate::provider::stream::Cancel;
use toolgate::provider::Provider;
use toolgate_core::command::Request;
use toolgate_core::event::StreamEvent;
use toolgate_core::message::{text_block, AssistantBlock, History};
use toolgate_tests::fake_model::FakeModel;

/// Ends a test that hangs; no test waits for it.
const DEADLINE: Duration = Duration::from_secs(60);

pub const KEY: &str = "test-key-0123456789";

pub fn script(text: &str) -> Script {
    Script::parse(text, &BTreeMap::new()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A first request that says this.
pub fn request(says: &str) -> Request {
    let mut history = History::default();
    history.push_user(&[text_block(says)]);
    request_of(&history)
}

pub fn request_of(history: &History) -> Request {
    Request {
        id: 1,
        model: "model-1".to_owned(),
        max_tokens: 1000,
        tools: Arc::from(
            r#"[{"name":"Read","description":"Reads.","input_schema":{"type":"object"}}]"#,
        ),
        system: Arc::from(r#"[{"type":"text","text":"Be brief."}]"#),
        messages: history.parts(),
        attempt: 0,
        delay_ms: 0,
    }
}

pub fn config(model: &FakeModel) -> AnthropicConfig {
    AnthropicConfig::new(Some(model.base_url.clone()), Some(KEY.to_owned()))
}

pub fn anthropic(config: AnthropicConfig) -> Provider {
    Provider::Anthropic(Box::new(Anthropic::new(config).unwrap()))
}

pub fn replay(text: &str) -> Provider {
    Provider::Replay(Replay::new(script(text)))
}

/// Does this, unless it hangs.
pub async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, work)
        .await
        .expect("this hangs")
}

/// What one attempt gives.
pub async fn events(provider: &Provider, request: &Request) -> Vec<StreamEvent> {
    let mut events = Vec::new();
    let mut out = |event| events.push(event);
    let cancel = Cancel::new();
    let attempt = provider.stream(request, &mut out, &cancel);
    in_time(attempt).await;
    let last =
        |event: &StreamEvent| matches!(event, StreamEvent::Ended(_) | StreamEvent::Failed(_));
    assert_eq!(
        events.iter().filter(|event| last(event)).count(),
        1,
        "{events:?}"
    );
    assert!(events.last().is_some_and(last), "{events:?}");
    events
}

/// What one attempt gives, as lines; deltas that follow one another are one line.
pub async fn lines(provider: &Provider, request: &Request) -> String {
    let mut lines: Vec<(&str, String)> = Vec::new();
    for event in events(provider, request).await {
        let (kind, text) = line(event);
        match lines.last_mut() {
            Some((last, sum)) if *last == kind && ["text", "thinking"].contains(&kind) => {
                sum.push_str(&text);
            }
            _ => lines.push((kind, text)),
        }
    }
    lines
        .iter()
        .map(|(kind, text)| format!("{kind} {text}\n"))
        .collect()
}

fn line(event: StreamEvent) -> (&'static str, String) {
    match event {
        StreamEvent::Text(text) => ("text", text),
        StreamEvent::Thinking(text) => ("thinking", text),
        StreamEvent::Block(AssistantBlock::ToolUse {
            id,
            name,
            input,
            fault,
        }) => {
            let fault = fault.map_or(String::new(), |fault| format!(" fault: {fault}"));
            ("call", format!("{id} {name} {input}{fault}"))
        }
        StreamEvent::Block(AssistantBlock::Text { json }) => ("block", json.to_string()),
        StreamEvent::Block(AssistantBlock::Thinking { json }) => ("block", json.to_string()),
        StreamEvent::Block(AssistantBlock::Other { json }) => ("other", json.to_string()),
        StreamEvent::Usage(usage) => (
            "usage",
            format!(
                "{} {} {} {}",
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_read_tokens,
                usage.cache_write_tokens
            ),
        ),
        StreamEvent::Ended(stop) => ("ended", format!("{stop:?}")),
        StreamEvent::Failed(failure) => {
            let wait = failure.retry_after_ms;
            let wait = wait.map_or(String::new(), |ms| format!(" after {ms}"));
            (
                "failed",
                format!("{:?}{wait}: {}", failure.kind, failure.text),
            )
        }
    }
}

/// Plays one response over the wire; the address is shown as `ORIGIN`, usage is left out.
pub async fn play(response: &str) -> String {
    let model = FakeModel::start(script(&format!("{{\"responses\":[{response}]}}")))
        .await
        .unwrap();
    let lines = lines(&anthropic(config(&model)), &request("go")).await;
    assert_eq!(model.invalid(), Vec::<String>::new());
    shown(&lines, &model.base_url)
}

pub fn shown(lines: &str, origin: &str) -> String {
    lines
        .lines()
        .filter(|line| !line.starts_with("usage "))
        .map(|line| line.replace(origin, "ORIGIN") + "\n")
        .collect()
}

/// Each wanted line begins a line that came; nothing else came.
#[track_caller]
pub fn same(came: &str, wanted: &[&str]) {
    let lines: Vec<&str> = came.lines().collect();
    let fits = lines.len() == wanted.len()
        && lines
            .iter()
            .zip(wanted)
            .all(|(line, wanted)| line.starts_with(wanted));
    assert!(fits, "came:\n{came}\nwanted:\n{}", wanted.join("\n"));
}

//! Servers that refuse, break off, or fall silent.

use std::time::Duration;

use toolgate::provider::anthropic::AnthropicConfig;
use toolgate::provider::stream::Cancel;
use toolgate_core::event::StreamEvent;
use toolgate_tests::fake_model::FakeModel;

use crate::kit::{anthropic, config, in_time, lines, play, request, same, script, shown, KEY};

/// A text, a call that reads, a call that writes.
const BLOCKS: &str = r#""content": [
  { "type": "text", "text": "I read, then I write." },
  { "type": "tool_use", "name": "Read", "input": { "file_path": "a.txt" } },
  { "type": "tool_use", "name": "Write", "input": { "file_path": "b.txt", "content": "half or whole" } }
]"#;

const TEXT: &str = "text I read, then I write.";
const TEXT_BLOCK: &str = r#"block {"text":"I read, then I write.","type":"text"}"#;
const READ: &str = r#"call toolu_1_1 Read { "file_path": "a.txt" }"#;
const WRITE: &str = "call toolu_1_2 Write {";

#[tokio::test]
async fn a_cut_keeps_whole_blocks_and_drops_the_half_one() {
    for framing in ["", r#", "close_delimited": true"#] {
        let cut = |at: &str| play_owned(format!("{{ {BLOCKS}, {at}{framing} }}"));
        let failed = "failed Transport: ORIGIN: the answer was cut";
        same(&cut(r#""cut_after_block": 0"#).await, &[failed]);
        same(&cut(r#""cut_in_block": 1"#).await, &["text I read", failed]);
        same(
            &cut(r#""cut_after_block": 1"#).await,
            &[TEXT, TEXT_BLOCK, failed],
        );
        same(
            &cut(r#""cut_in_block": 2"#).await,
            &[TEXT, TEXT_BLOCK, failed],
        );
        same(
            &cut(r#""cut_in_block": 3"#).await,
            &[TEXT, TEXT_BLOCK, READ, failed],
        );
        let all = [TEXT, TEXT_BLOCK, READ, WRITE, failed];
        same(&cut(r#""cut_after_block": 3"#).await, &all);
    }
}

async fn play_owned(response: String) -> String {
    play(&response).await
}

#[tokio::test]
async fn a_reset_is_a_broken_connection() {
    let came = play(&format!(
        "{{ {BLOCKS}, \"cut_in_block\": 3, \"reset\": true }}"
    ))
    .await;
    // What was under way when the reset came may be lost with it.
    let last = came.lines().last().unwrap();
    assert!(last.starts_with("failed Transport: ORIGIN: "), "{came}");
    assert!(!came.contains("Write"), "{came}");
}

#[tokio::test]
async fn a_silent_stream_is_given_up() {
    let text = format!("{{ \"responses\": [ {{ {BLOCKS}, \"stall\": true }} ] }}");
    let model = FakeModel::start(script(&text)).await.unwrap();
    let provider = anthropic(config(&model).idle_timeout(Duration::from_millis(20)));
    let came = shown(&lines(&provider, &request("go")).await, &model.base_url);
    let last = came.lines().last().unwrap();
    assert_eq!(last, "failed Transport: ORIGIN: no bytes came for 20ms");
}

#[tokio::test]
async fn an_overloaded_server_says_how_long_to_wait_and_answers_later() {
    let text = r#"{ "responses": [
        { "status": 529, "headers": { "retry-after": "3" } },
        { "status": 429, "headers": { "retry-after": "3", "retry-after-ms": "250" } },
        { "status": 503, "body": "<html>down" },
        { "content": [ { "type": "text", "text": "Here." } ] } ] }"#;
    let model = FakeModel::start(script(text)).await.unwrap();
    let provider = anthropic(config(&model));
    for wanted in [
        "failed Overloaded after 3000: the provider cannot answer now (HTTP 529): the script says so",
        "failed Overloaded after 250: the provider cannot answer now (HTTP 429): ",
        "failed Overloaded: the provider cannot answer now (HTTP 503): <html>down",
    ] {
        same(&lines(&provider, &request("go")).await, &[wanted]);
    }
    let came = shown(&lines(&provider, &request("go")).await, "-");
    same(&came, &["text Here.", "block ", "ended EndTurn"]);
}

#[tokio::test]
async fn refusals_tell_their_kind_and_their_words() {
    let refused = |status: u16, kind: &str, message: &str| {
        let body =
            serde_json::json!({ "type": "error", "error": { "type": kind, "message": message } });
        play_owned(serde_json::json!({ "status": status, "body": body.to_string() }).to_string())
    };
    let came = refused(401, "authentication_error", "invalid x-api-key").await;
    same(
        &came,
        &["failed Auth: the provider refuses the key (HTTP 401): invalid x-api-key"],
    );
    let came = refused(400, "invalid_request_error", "messages: text is empty").await;
    same(&came, &["failed BadRequest: the provider refuses the request (HTTP 400): messages: text is empty"]);
    let came = refused(400, "invalid_request_error", "prompt is too long: 9 > 8").await;
    same(
        &came,
        &["failed TooLong: the request is too long for the model (HTTP 400): prompt is"],
    );
    let came = refused(413, "request_too_large", "too large").await;
    same(&came, &["failed TooLong: "]);
    let came = refused(404, "not_found_error", "model: model-1").await;
    same(
        &came,
        &["failed BadRequest: the provider refuses the request (HTTP 404): model: model-1"],
    );
}

#[tokio::test]
async fn a_redirect_does_not_get_the_key() {
    let elsewhere = FakeModel::start(script(r#"{ "responses": [ {} ] }"#))
        .await
        .unwrap();
    let to = format!("{}/v1/messages", elsewhere.base_url);
    for status in [301, 302, 307, 308] {
        let response = serde_json::json!({ "status": status, "headers": { "location": to } });
        let came = play(&response.to_string()).await;
        same(
            &came,
            &[&format!(
                "failed BadRequest: the provider refuses the request (HTTP {status})"
            )],
        );
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn a_page_in_place_of_a_stream_is_told() {
    let response = r#"{ "headers": { "content-type": "text/html" }, "body": "<html>hi" }"#;
    same(
        &play(response).await,
        &["failed Protocol: the provider answered with text/html, not"],
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told() {
    // The port is kept, and nobody listens on it.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let origin = format!("http://{}", socket.local_addr().unwrap());
    let with_password = origin.replace("http://", "http://me:pass-word@");
    let provider = anthropic(AnthropicConfig::new(Some(with_password), None));
    let came = lines(&provider, &request("go")).await;
    same(
        &shown(&came, &origin),
        &["failed Transport: ORIGIN: connection refused ("],
    );
    assert!(!came.contains("pass-word"), "{came}");
}

#[tokio::test]
async fn without_a_key_the_public_server_is_not_asked() {
    for key in [None, Some(String::new()), Some(" \n".to_owned())] {
        let provider = anthropic(AnthropicConfig::new(None, key));
        let came = lines(&provider, &request("go")).await;
        same(
            &came,
            &["failed Auth: no key for the provider: set ANTHROPIC_API_KEY"],
        );
    }
}

#[tokio::test]
async fn a_server_of_ones_own_needs_no_key() {
    let model = FakeModel::start(script(r#"{ "responses": [ {} ] }"#))
        .await
        .unwrap();
    let config = AnthropicConfig::new(Some(format!("{}/", model.base_url)), None);
    let came = lines(&anthropic(config), &request("go")).await;
    assert!(came.ends_with("ended EndTurn\n"), "{came}");
    assert!(!model.heads()[0].contains("x-api-key"));
    assert!(!model.heads()[0].contains(KEY));
}

#[tokio::test]
async fn cancel_ends_an_attempt_without_another_event() {
    let text = format!("{{ \"responses\": [ {{ {BLOCKS}, \"hold\": \"end\" }} ] }}");
    let model = FakeModel::start(script(&text)).await.unwrap();
    let provider = anthropic(config(&model));
    let cancel = Cancel::new();
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let mut out = |event| sender.send(event).unwrap();
    let request = request("go");
    let attempt = provider.stream(&request, &mut out, &cancel);
    let watch = async {
        // All blocks are there while the message is held: that is what early starts need.
        let mut blocks = 0;
        while blocks < 3 {
            let event = receiver.recv().await.unwrap();
            blocks += usize::from(matches!(event, StreamEvent::Block(_)));
        }
        model.until_held("end").await;
        cancel.cancel();
        model.until_let_go("end").await;
    };
    in_time(async { tokio::join!(attempt, watch) }).await;
    assert!(receiver.try_recv().is_err());
}

#[tokio::test]
async fn a_wait_before_a_retry_is_cancellable() {
    let model = FakeModel::start(script(r#"{ "responses": [ {} ] }"#))
        .await
        .unwrap();
    let provider = anthropic(config(&model));
    let mut request = request("go");
    request.attempt = 1;
    request.delay_ms = u64::MAX;
    let cancel = Cancel::new();
    let mut count = 0;
    let mut out = |_| count += 1;
    let attempt = provider.stream(&request, &mut out, &cancel);
    in_time(async { tokio::join!(attempt, async { cancel.cancel() }) }).await;
    assert_eq!((count, model.connections()), (0, 0));
}

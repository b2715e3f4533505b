//! Answers without fault.

use toolgate_core::message::{text_block, tool_use, History};
use toolgate_tests::fake_model::FakeModel;

use crate::kit::{anthropic, config, events, lines, replay, request, request_of, script, KEY};

/// All kinds of blocks, awkward texts among them.
const ANSWER: &str = r#"{ "responses": [ {
  "content": [
    { "type": "thinking", "thinking": "Hm, was heißt 日本?", "signature": "c2ln" },
    { "type": "redacted_thinking", "data": "AAAA" },
    { "type": "text", "text": "Ich lese \"zwei\" Dateien \ud83d\ude00\n\tund mehr." },
    { "type": "text", "text": " \n" },
    { "type": "tool_use", "name": "Read", "input": { "file_path": "ä/\"b\".txt", "limit": 3 } },
    { "type": "tool_use", "name": "List" },
    { "type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": { "q": "x" } },
    { "type": "later_kind", "b": 1, "a": [ 1.50, { } ] }
  ],
  "usage": { "input_tokens": 7, "output_tokens": 9, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3 },
  "delta": DELTA, "split": SPLIT
} ] }"#;

const WANTED: &str = r#"thinking Hm, was heißt 日本?
block {"signature":"c2ln","thinking":"Hm, was heißt 日本?","type":"thinking"}
other { "type": "redacted_thinking", "data": "AAAA" }
text Ich lese "zwei" Dateien 😀
	und mehr.
block {"text":"Ich lese \"zwei\" Dateien 😀\n\tund mehr.","type":"text"}
call toolu_1_1 Read { "file_path": "ä/\"b\".txt", "limit": 3 }
call toolu_1_2 List {}
other { "type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": { "q": "x" } }
other { "type": "later_kind", "b": 1, "a": [ 1.50, { } ] }
usage 7 9 5 3
ended ToolUse
"#;

/// Blank text streams, but becomes no block; only the wire tells of tokens at the start.
fn without_noise(lines: &str) -> String {
    lines
        .replace("text  \n\n", "")
        .replace("usage 7 1 5 3\n", "")
}

#[tokio::test]
async fn an_answer_is_the_same_however_it_is_cut() {
    for (delta, split) in [(1, 1), (1, 2), (3, 7), (16, 64), (1000, 100_000)] {
        let text = ANSWER
            .replace("DELTA", &delta.to_string())
            .replace("SPLIT", &split.to_string());
        let model = FakeModel::start(script(&text)).await.unwrap();
        let came = lines(&anthropic(config(&model)), &request("go")).await;
        assert_eq!(without_noise(&came), WANTED, "delta {delta}, split {split}");
    }
}

#[tokio::test]
async fn replay_gives_what_the_wire_gives() {
    let text = ANSWER
        .replace("DELTA", "3")
        .replace(", \"split\": SPLIT", "");
    assert_eq!(lines(&replay(&text), &request("go")).await, WANTED);
}

#[tokio::test]
async fn the_body_is_the_kept_parts_and_a_prefix_of_the_next() {
    let text =
        r#"{ "responses": [ { "content": [ { "type": "text", "text": "a" } ], "repeat": 2 } ] }"#;
    let model = FakeModel::start(script(text)).await.unwrap();
    let provider = anthropic(config(&model).header("x-more", "more"));
    let mut history = History::default();
    // Large and small parts, so that some are lent and some are sent together.
    history.push_user(&[text_block(&"ä\"\n".repeat(300_000)), text_block("small")]);
    events(&provider, &request_of(&history)).await;
    let id = history.unique_id("toolu_1");
    history.push_assistant(vec![tool_use(&id, "Read", &"{\"file_path\":\"a\"}".into())]);
    history.push_user(&[format!(
        "{{\"type\":\"tool_result\",\"tool_use_id\":\"{id}\",\"content\":\"ok\"}}"
    )
    .into()]);
    events(&provider, &request_of(&history)).await;
    let bodies = model.requests();
    assert_eq!(model.invalid(), Vec::<String>::new());
    assert_eq!(bodies.len(), 2);
    assert!(bodies[1].starts_with(bodies[0].strip_suffix("]}").unwrap()));
    let body: serde_json::Value = serde_json::from_str(&bodies[1]).unwrap();
    assert_eq!(body["model"], "model-1");
    assert_eq!(body["max_tokens"], 1000);
    assert_eq!(body["cache_control"]["type"], "ephemeral");
    assert_eq!(body["system"][0]["text"], "Be brief.");
    assert_eq!(body["tools"][0]["name"], "Read");
    let head = &model.heads()[1].to_ascii_lowercase();
    let length = format!("content-length: {}\r\n", bodies[1].len());
    let key = format!("x-api-key: {KEY}\r\n");
    for line in [
        "post /v1/messages http/1.1\r\n",
        "anthropic-version: 2023-06-01\r\n",
        "content-type: application/json\r\n",
        "x-more: more\r\n",
        &length,
        &key,
    ] {
        assert!(head.contains(line), "{line} is not in\n{head}");
    }
}

#[tokio::test]
async fn empty_arrays_are_left_out() {
    let model = FakeModel::start(script(r#"{ "responses": [ {} ] }"#))
        .await
        .unwrap();
    let mut request = request("go");
    request.tools = "[]".into();
    request.system = "[]".into();
    let came = lines(&anthropic(config(&model)), &request).await;
    assert!(came.ends_with("ended EndTurn\n"), "{came}");
    let body: serde_json::Value = serde_json::from_str(&model.requests()[0]).unwrap();
    assert_eq!(body.get("tools"), None);
    assert_eq!(body.get("system"), None);
}

#[tokio::test]
async fn a_connection_serves_many_turns() {
    let text =
        r#"{ "responses": [ { "content": [ { "type": "text", "text": "x" } ] } ], "loop": true }"#;
    let model = FakeModel::start(script(text)).await.unwrap();
    let provider = anthropic(config(&model));
    for _ in 0..50 {
        let came = lines(&provider, &request("go")).await;
        assert!(came.ends_with("ended EndTurn\n"), "{came}");
    }
    assert_eq!(model.requests().len(), 50);
    assert_eq!(model.connections(), 1);
}

//! Streams that break the protocol, or that a later version of it may send.

use serde_json::{json, Value};

use crate::kit::{play, same};

/// Plays a stream of these data objects, named by their types.
async fn stream(datas: &[Value]) -> String {
    let body: String = datas
        .iter()
        .map(|data| {
            let name = data["type"].as_str().unwrap_or_default();
            format!("event: {name}\ndata: {data}\n\n")
        })
        .collect();
    body_of(&body).await
}

async fn body_of(body: &str) -> String {
    play(&json!({ "body": body }).to_string()).await
}

fn begin(index: Value, block: Value) -> Value {
    json!({ "type": "content_block_start", "index": index, "content_block": block })
}

fn delta(index: Value, delta: Value) -> Value {
    json!({ "type": "content_block_delta", "index": index, "delta": delta })
}

fn text(index: Value, text: &str) -> Value {
    delta(index, json!({ "type": "text_delta", "text": text }))
}

fn input(index: Value, text: &str) -> Value {
    delta(
        index,
        json!({ "type": "input_json_delta", "partial_json": text }),
    )
}

fn close(index: Value) -> Value {
    json!({ "type": "content_block_stop", "index": index })
}

fn stop(reason: &str) -> [Value; 2] {
    [
        json!({ "type": "message_delta", "delta": { "stop_reason": reason } }),
        json!({ "type": "message_stop" }),
    ]
}

fn call(name: &str) -> Value {
    json!({ "type": "tool_use", "id": "t1", "name": name, "input": {} })
}

fn empty_text() -> Value {
    json!({ "type": "text", "text": "" })
}

#[tokio::test]
async fn what_is_new_is_passed_over_or_kept() {
    let [end, over] = stop("end_turn");
    let came = stream(&[
        json!({ "type": "ping" }),
        json!({ "type": "weather", "index": "none", "delta": 7 }),
        begin(json!(5), json!({ "type": "hologram", "text": "a" })),
        delta(json!(5), json!({ "type": "light_delta", "text": 5 })),
        text(json!(5), "b"),
        input(json!(5), "{\"x\":1}"),
        close(json!(5)),
        begin(json!(9), empty_text()),
        delta(json!(9), json!({ "type": "colour_delta" })),
        text(json!(9), "Hi"),
        delta(
            json!(9),
            json!({ "type": "citations_delta", "citation": { "n": 1 } }),
        ),
        close(json!(9)),
        close(json!(77)),
        end,
        over,
        json!({ "type": "error", "error": { "type": "api_error" } }),
    ])
    .await;
    same(
        &came,
        &[
            r#"other {"input":{"x":1},"text":"ab","type":"hologram"}"#,
            "text Hi",
            r#"block {"citations":[{"n":1}],"text":"Hi","type":"text"}"#,
            "ended EndTurn",
        ],
    );
}

#[tokio::test]
async fn raw_events_of_a_script_come_after_the_blocks() {
    let error = r#"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"#;
    let came = play(&format!(
        r#"{{ "content": [ {{ "type": "text", "text": "Hi" }} ],
              "raw_events": [ "event: news\ndata: [1", ": comment", "{error}" ] }}"#
    ))
    .await;
    let failed = "failed Overloaded: the provider broke off (overloaded_error): Overloaded";
    same(&came, &["text Hi", "block ", failed]);
}

#[tokio::test]
async fn a_broken_input_is_a_fault_that_quotes_the_place() {
    let came = play(
        r#"{ "content": [ { "type": "tool_use", "name": "Read" } ],
             "broken_input": "{\"file_path\": \"a.txt\" \"limit\": 3}" }"#,
    )
    .await;
    let wanted = r#"call toolu_1_1 Read {} fault: the input is not valid JSON: expected `,` or `}` at line 1 column 23: …"{\"file_path\": \"a.txt\" " <here> "\"limit\": 3}"…"#;
    same(&came, &[wanted, "ended ToolUse"]);
    for (input, wanted) in [
        (
            r#"{\"a\":1,\"a\":2}"#,
            "the input is not valid JSON: the key \"a\" stands twice",
        ),
        (
            r#"[1]"#,
            "the input must be one JSON object, but it is an array: column 1: \"[1]\"",
        ),
        (
            r#"{\"a\":"#,
            "the input was cut off: EOF while parsing a value at line 1 column 5",
        ),
    ] {
        let response = format!(
            r#"{{ "content": [ {{ "type": "tool_use", "name": "Read" }} ], "broken_input": "{input}" }}"#
        );
        let call = format!("call toolu_1_1 Read {{}} fault: {wanted}");
        same(&play(&response).await, &[&call, "ended ToolUse"]);
    }
}

#[tokio::test]
async fn inputs_come_with_deltas_or_with_the_start() {
    let [end, over] = stop("tool_use");
    let came = stream(&[
        begin(json!(0), call("A")),
        input(json!(0), ""),
        input(json!(0), "{\"file_"),
        input(json!(0), "path\":\"\\u00"),
        input(json!(0), "e4.py\"}"),
        close(json!(0)),
        begin(json!(1), call("B")),
        close(json!(1)),
        begin(
            json!(2),
            json!({ "type": "tool_use", "id": "t3", "name": "C", "input": { "x": 1 } }),
        ),
        close(json!(2)),
        begin(json!(3), json!({ "type": "tool_use" })),
        close(json!(3)),
        end,
        over,
    ])
    .await;
    same(
        &came,
        &[
            r#"call t1 A {"file_path":"\u00e4.py"}"#,
            "call t1 B {}",
            r#"call t3 C {"x":1}"#,
            "call   {}",
            "ended ToolUse",
        ],
    );
}

#[tokio::test]
async fn the_token_limit_cuts_a_block_that_is_not_closed() {
    let [end, over] = stop("max_tokens");
    let came = stream(&[
        begin(json!(0), call("Read")),
        close(json!(0)),
        begin(json!(1), empty_text()),
        text(json!(1), "and"),
        begin(json!(2), json!({ "type": "thinking" })),
        delta(
            json!(2),
            json!({ "type": "thinking_delta", "thinking": "hm" }),
        ),
        begin(json!(3), call("Write")),
        input(json!(3), "{\"file_path\":\"a\",\"content\":\"half"),
        end,
        over,
    ])
    .await;
    same(
        &came,
        &[
            "call t1 Read {}",
            "text and",
            "thinking hm",
            r#"block {"text":"and","type":"text"}"#,
            "call t1 Write {} fault: the answer reached its token limit and the input was cut off at column 33, after: ",
            "ended MaxTokens",
        ],
    );
}

#[tokio::test]
async fn a_stop_word_is_never_made_up() {
    for (word, wanted) in [
        ("end_turn", "EndTurn"),
        ("stop_sequence", "EndTurn"),
        ("tool_use", "ToolUse"),
        ("refusal", "Refusal"),
        ("pause_turn", "Pause"),
        ("max_tokens", "MaxTokens"),
        ("tired\u{7}", "Other(\"tired \")"),
    ] {
        let came = stream(&stop(word)).await;
        same(&came, &[&format!("ended {wanted}")]);
    }
    let came = stream(&[json!({ "type": "message_stop" })]).await;
    same(&came, &["ended Other(\"none\")"]);
}

#[tokio::test]
async fn what_is_lost_makes_the_answer_fail() {
    let block = begin(json!(0), empty_text());
    let start = json!({ "type": "message_start", "message": { "usage": null } });
    let [end, over] = stop("end_turn");
    for (datas, wanted) in [
        (
            vec![text(json!(0), "x")],
            "content_block_delta: block 0 is not open",
        ),
        (
            vec![block.clone(), close(json!(0)), text(json!(0), "x")],
            "content_block_delta: block 0 is not open",
        ),
        (
            vec![block.clone(), block.clone()],
            "content_block_start: block 0 is open already",
        ),
        (
            vec![start.clone(), start.clone()],
            "message_start: a second one in one answer",
        ),
        (vec![block.clone(), end, over], "block 0 was never closed"),
        (
            vec![block.clone(), input(json!(0), "{}")],
            "content_block_delta: a input_json_delta does not belong to this block",
        ),
        (
            vec![begin(json!(-1), empty_text())],
            "content_block_start cannot be read: ",
        ),
        (
            vec![begin(json!(null), empty_text())],
            "content_block_start: no index",
        ),
        (
            vec![begin(json!(0), json!(7))],
            "content_block_start: invalid type",
        ),
        (
            vec![json!({ "type": "content_block_start", "index": 0 })],
            "content_block_start: no content_block",
        ),
        (
            vec![
                begin(json!(0), json!({ "type": "x" })),
                input(json!(0), "{"),
                close(json!(0)),
            ],
            "content_block_stop: the input was cut off",
        ),
    ] {
        let failed = format!("failed Protocol: the provider's stream broke the protocol: {wanted}");
        same(&stream(&datas).await, &[&failed]);
    }
}

#[tokio::test]
async fn bytes_that_are_no_stream_make_the_answer_fail() {
    for (body, wanted) in [
        ("", "Transport: ORIGIN: the answer was cut"),
        ("{\"type\":\"message_stop\"}", "Transport: ORIGIN: the answer was cut"),
        ("data: [DONE]\n\ndata: {\"type\":\"message_stop\"}", "Transport: ORIGIN: the answer was cut"),
        ("event: message_stop\ndata: {\n\n", "Protocol: the provider's stream broke the protocol: message_stop cannot be read"),
        ("event: message_stop\ndata: {\"type\":\"ping\"}\n\n", "Protocol: the provider's stream broke the protocol: message_stop: its data is of another type"),
        ("event: error\ndata: ?\n\n", "Protocol: the provider sent an unreadable error"),
        ("event: content_block_start\ndata: {\"index\":0,\"content_block\":{\"type\":\"x\",\"a\":\"\\ud800\"}}\n\n", "Protocol: the provider's stream broke the protocol: content_block_start: "),
    ] {
        same(&body_of(body).await, &[&format!("failed {wanted}")]);
    }
    let deep = format!(
        "event: content_block_start\ndata: {{\"index\":0,\"content_block\":{{\"type\":\"x\",\"a\":{}1{}}}}}\n\n",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    same(&body_of(&deep).await, &["failed Protocol: "]);
    let huge = format!("data: {}", "x".repeat(17 * 1024 * 1024));
    let wanted =
        "failed Protocol: the provider's stream broke the protocol: an event is larger than";
    same(&body_of(&huge).await, &[wanted]);
}

#[tokio::test]
async fn events_need_no_name_and_may_stand_on_several_lines() {
    let body = "\u{feff}data: {\"type\":\ndata: \"message_delta\",\r\ndata:\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":-1}}\r\r: end\n\ndata: {\"type\":\"message_stop\"}\r\n\r\n";
    same(&body_of(body).await, &["ended EndTurn"]);
}

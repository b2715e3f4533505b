//! The fake model's strict reading of requests: what a real server would refuse, it refuses.

use serde_json::{json, Value};
use toolgate_tests::fake_model::check_request;

/// A valid request with these messages.
fn body(messages: Value) -> Value {
    json!({
        "model": "m",
        "max_tokens": 1,
        "stream": true,
        "tools": [{ "name": "Read", "description": "Reads.", "input_schema": { "type": "object" } }],
        "messages": messages,
    })
}

#[track_caller]
fn check(body: &Value, wanted: &str) {
    let came = check_request(&body.to_string()).map_or_else(|why| why, |()| "fine".to_owned());
    assert!(
        came.contains(wanted),
        "{body}\ncame: {came}\nwanted: {wanted}"
    );
}

fn user(blocks: Value) -> Value {
    json!({ "role": "user", "content": blocks })
}

fn says(text: &str) -> Value {
    user(json!([{ "type": "text", "text": text }]))
}

fn calls(ids: &[&str]) -> Value {
    let blocks: Vec<Value> = ids
        .iter()
        .map(|id| json!({ "type": "tool_use", "id": id, "name": "Read", "input": {} }))
        .collect();
    json!({ "role": "assistant", "content": blocks })
}

fn result(id: &str) -> Value {
    json!({ "type": "tool_result", "tool_use_id": id, "content": "ok" })
}

#[test]
fn calls_and_results_are_paired() {
    let go = says("go");
    let pair = |ids: &[&str], answer: Value| body(json!([go.clone(), calls(ids), user(answer)]));
    check(
        &pair(&["a", "b"], json!([result("a"), result("b")])),
        "fine",
    );
    let text = json!({ "type": "text", "text": "and now?" });
    check(&pair(&["a"], json!([result("a"), text])), "fine");
    check(
        &pair(&["a"], json!([text, result("a")])),
        "results come before all other blocks",
    );
    check(
        &pair(&["a", "b"], json!([result("b"), result("a")])),
        "messages.2.content.0: tool_result of Some(\"b\"), but the call to answer is Some(\"a\")",
    );
    check(
        &pair(&["a", "b"], json!([result("a")])),
        "messages.2: tool_use without a tool_result in the next message: [\"b\"]",
    );
    check(
        &pair(&["a"], json!([result("a"), result("a")])),
        "the call to answer is None",
    );
    check(
        &pair(&["a"], json!([text])),
        "tool_use without a tool_result",
    );
    check(
        &pair(&["a", "a"], json!([result("a"), result("a")])),
        "\"a\" stands twice",
    );
    check(&pair(&["a b"], json!([result("a b")])), "does not match");
    check(&pair(&[""], json!([result("")])), "does not match");
    check(
        &body(json!([go, user(json!([result("a")]))])),
        "the call to answer is None",
    );
    check(
        &body(json!([go, calls(&["a"]), calls(&["b"])])),
        "tool_use without a tool_result",
    );
    check(
        &body(json!([go, calls(&["a"])])),
        "the last message must be the user's",
    );
    let twice = json!([
        go,
        calls(&["a"]),
        user(json!([result("a")])),
        calls(&["a"]),
        user(json!([result("a")]))
    ]);
    check(&body(twice), "messages.3.content.0.id: \"a\" stands twice");
}

#[test]
fn blocks_are_whole_and_not_blank() {
    check(&body(json!([says("go"), says("on")])), "fine");
    check(&body(json!([user(json!("go"))])), "fine");
    check(&body(json!([user(json!(""))])), "the text is empty");
    check(&body(json!([says(" \n")])), "text must not be blank");
    check(&body(json!([user(json!([]))])), "no block");
    check(&body(json!([])), "at least one");
    check(
        &body(json!([{ "role": "system", "content": "x" }])),
        "is not user or assistant",
    );
    check(
        &body(json!([calls(&["a"]), user(json!([result("a")]))])),
        "the first message is the user's",
    );
    let answered = |block: Value| {
        body(json!([says("go"), { "role": "assistant", "content": [block] }, says("on")]))
    };
    check(&answered(json!({ "type": "text", "text": "x" })), "fine");
    check(&answered(json!({ "type": "hologram", "x": 1 })), "fine");
    check(&answered(json!({ "x": 1 })), "a block without a type");
    check(
        &answered(json!({ "type": "thinking", "thinking": "x" })),
        "without its signature",
    );
    check(
        &answered(json!({ "type": "thinking", "thinking": "x", "signature": "s" })),
        "fine",
    );
    check(
        &answered(json!({ "type": "image" })),
        "not in the model's message",
    );
    let resulted = |result: Value| body(json!([says("go"), calls(&["a"]), user(json!([result]))]));
    let image = json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AA" } });
    let with = |content: Value, is_error: bool| json!({ "type": "tool_result", "tool_use_id": "a", "content": content, "is_error": is_error });
    check(&resulted(with(json!([image]), false)), "fine");
    check(
        &resulted(with(json!([image]), true)),
        "this result holds no \"image\"",
    );
    check(&resulted(with(json!(""), false)), "the text is empty");
    check(&resulted(with(json!([]), false)), "no block");
    let mut more = with(json!("x"), false);
    more["toolUseResult"] = json!({});
    check(&resulted(more), "\"toolUseResult\" is not permitted here");
}

#[test]
fn the_request_itself_is_in_order() {
    let change = |pointer: &str, value: Value| {
        let mut body = body(json!([says("go")]));
        *body.pointer_mut(pointer).unwrap() = value;
        body
    };
    check(&change("/model", json!("")), "model");
    check(&change("/max_tokens", json!(0)), "max_tokens");
    check(&change("/stream", json!(false)), "stream");
    check(&change("/tools/0/name", json!("a.b")), "tools.0.name");
    check(&change("/tools/0/description", json!("")), "description");
    check(
        &change(
            "/tools/0/input_schema",
            json!({ "type": "object", "oneOf": [] }),
        ),
        "no oneOf at the top",
    );
    check(
        &change("/tools/0/input_schema", json!({})),
        "must be object",
    );
    let tool = body(json!([says("go")]))["tools"][0].clone();
    check(
        &change("/tools", json!([tool, tool])),
        "\"Read\" stands twice",
    );
    let mut hosted = tool;
    hosted["annotations"] = json!({});
    check(
        &change("/tools", json!([hosted])),
        "\"annotations\" is not permitted here",
    );
    let mut extra = body(json!([says("go")]));
    extra["prompt"] = json!("x");
    check(&extra, "\"prompt\" is not permitted here");
    let mut system = body(json!([says("go")]));
    system["system"] = json!([{ "type": "text", "text": "" }]);
    check(&system, "text must not be blank");
    let block = json!({ "type": "text", "text": "x", "cache_control": { "type": "ephemeral" } });
    let blocks = vec![block; 5];
    check(&body(json!([user(json!(blocks))])), "more than 4 marks");
    let mut toolless = body(json!([
        says("go"),
        calls(&["a"]),
        user(json!([result("a")]))
    ]));
    toolless.as_object_mut().unwrap().remove("tools");
    check(&toolless, "messages with calls need them");
    assert!(check_request("{").is_err());
}

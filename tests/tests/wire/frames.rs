//! Frames, methods and handshakes of every kind: whatever comes, the sidecar lives on
//! (crates.md section 2: the acceptance list).

use serde_json::{json, Value};
use toolgate_protocol::methods::{methods, Direction, UNSUPPORTED};
use toolgate_tests::fake_editor::script::{bash, call, model, says, turn};
use toolgate_tests::fake_editor::{framed, framed_text, FakeEditor, Options, Scratch};

async fn alive(editor: &FakeEditor) {
    let status = editor.request("toolgate/status", json!({})).await;
    assert!(status.is_ok(), "{status:?}");
}

/// Sends a frame that has no id to answer, and waits for the error that it gets.
async fn error_of(editor: &FakeEditor, frame: Vec<u8>) -> i64 {
    let before = editor.seen(|seen| seen.nameless.len());
    editor.raw(frame);
    let answer = editor
        .wait("an error with the id null", |seen| {
            seen.nameless.get(before).cloned()
        })
        .await;
    assert_eq!(answer["id"], Value::Null);
    answer["error"]["code"].as_i64().expect("a code")
}

#[tokio::test]
async fn a_frame_that_is_no_message_gets_an_error_and_nothing_else_happens() {
    let scratch = Scratch::new();
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    assert_eq!(
        error_of(&editor, framed_text("{\"jsonrpc\":\"2.0\",")).await,
        -32700
    );
    alive(&editor).await;
    assert_eq!(error_of(&editor, framed_text("not JSON")).await, -32700);
    let invalid = [b"Content-Length: 2\r\n\r\n".to_vec(), vec![0xff, 0xfe]].concat();
    assert_eq!(error_of(&editor, invalid).await, -32700);
    let batch = r#"[{"jsonrpc":"2.0","id":901,"method":"toolgate/status","params":{}}]"#;
    assert_eq!(error_of(&editor, framed_text(batch)).await, -32600);
    assert_eq!(error_of(&editor, framed_text("[]")).await, -32600);
    for bad in [
        "17",
        "{}",
        r#"{"jsonrpc":"1.0","id":5,"method":"toolgate/status"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"toolgate/status"}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":7}"#,
    ] {
        assert_eq!(error_of(&editor, framed_text(bad)).await, -32600, "{bad}");
    }
    // An answer that nobody waits for.
    editor.raw(framed(
        &json!({ "jsonrpc": "2.0", "id": 4711, "result": null }),
    ));
    alive(&editor).await;
    assert!(editor.seen(|seen| !seen.answers.contains_key(&901)));
    editor.quit().await;
}

#[tokio::test]
async fn headers_in_any_case_and_with_others_beside_them() {
    let scratch = Scratch::new();
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    for (id, header) in [
        (801, "content-length: SIZE\r\n"),
        (802, "CONTENT-LENGTH:SIZE\r\n"),
        (
            803,
            "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: SIZE\r\n",
        ),
    ] {
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"toolgate/status","params":{{}}}}"#);
        let header = header.replace("SIZE", &body.len().to_string());
        editor.raw(format!("{header}\r\n{body}"));
        editor.answer(id).await.unwrap();
    }
    editor.quit().await;
}

#[tokio::test]
async fn a_frame_in_single_bytes() {
    let scratch = Scratch::new();
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let message = json!({"jsonrpc": "2.0", "id": 811, "method": "toolgate/status", "params": {}});
    for byte in framed(&message) {
        editor.raw([byte]);
    }
    editor.answer(811).await.unwrap();
    editor.quit().await;
}

#[tokio::test]
async fn unknown_methods_and_wrong_parameters() {
    let scratch = Scratch::new();
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    for method in [
        "$/unknown",
        "$/setTrace",
        "toolgate/unknown",
        "workspace/unknown",
    ] {
        let error = editor.request(method, json!({})).await.unwrap_err();
        assert_eq!(error["code"], UNSUPPORTED, "{method}: {error}");
    }
    editor.notify("$/unknown", json!({}));
    editor.notify("toolgate/unknown", json!({}));
    let wrong = [
        (
            "toolgate/session/prompt",
            json!({ "sessionId": 1 }),
            "expected a string",
        ),
        (
            "toolgate/session/prompt",
            json!({ "sessionId": "s" }),
            "content",
        ),
        (
            "toolgate/ask/answer",
            json!({ "askId": "a", "digest": "d", "option": "perhaps" }),
            "perhaps",
        ),
        ("toolgate/call/get", json!([]), ""),
        ("toolgate/session/load", Value::Null, ""),
    ];
    for (method, params, field) in wrong {
        let error = editor.request(method, params).await.unwrap_err();
        assert_eq!(error["code"], -32602, "{method}: {error}");
        let message = error.to_string();
        assert!(message.contains(field), "{message} does not name {field}");
    }
    for method in ["toolgate/session/close", "toolgate/review/list"] {
        let error = editor
            .request(method, json!({ "sessionId": "nobody" }))
            .await;
        let error = error.unwrap_err();
        assert_eq!(error["code"], -32803, "{method}: {error}");
        assert!(error["message"].as_str().unwrap().contains("nobody"));
    }
    alive(&editor).await;
    editor.quit().await;
}

#[tokio::test]
async fn what_is_not_built_says_so() {
    let scratch = Scratch::new();
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let mut generator = schemars::SchemaGenerator::default();
    let table = methods(&mut generator);
    let unbuilt: Vec<_> = table.iter().filter(|method| !method.built).collect();
    assert!(!unbuilt.is_empty());
    for method in unbuilt {
        let error = editor.request(method.name, json!({})).await.unwrap_err();
        assert_eq!(error["code"], UNSUPPORTED, "{}: {error}", method.name);
    }
    // And what is built is not answered so, whatever it thinks of these parameters.
    for method in table
        .iter()
        .filter(|m| m.built && m.direction == Direction::Request)
    {
        if let Err(error) = editor.request(method.name, json!({})).await {
            assert_ne!(error["code"], UNSUPPORTED, "{}: {error}", method.name);
        }
    }
    editor.quit().await;
}

#[tokio::test]
async fn initialize_with_words_that_nobody_knows() {
    let scratch = Scratch::new();
    let options = Options {
        capabilities: json!({
            "workspace": { "workspaceEdit": {
                "resourceOperations": ["create", "teleport"],
                "failureHandling": "shrug",
            } },
            "textDocument": {
                "hover": { "contentFormat": ["markdown", "hologram"] },
                "foldingRange": { "foldingRangeKind": { "valueSet": ["comment", "origami"] } },
            },
            "future": { "things": [1, "two", null] },
        }),
        ..Options::default()
    };
    let editor = FakeEditor::spawn(&scratch);
    let mut hello = editor.hello(&scratch, &options);
    hello["trace"] = "louder".into();
    hello["initializationOptions"]["toolgate"]["future"] = json!({ "x": 1 });
    hello["initializationOptions"]["toolgate"]["ui"]["smell"] = json!(true);
    hello["initializationOptions"]["other"] = json!("program");
    let answer = editor.request("initialize", hello).await.unwrap();
    let told = &answer["capabilities"]["experimental"]["toolgate"];
    assert_eq!(told["protocol"], 1);
    assert!(told["version"].is_string() && told["epoch"].is_string());
    editor.notify("initialized", json!({}));
    alive(&editor).await;
    editor.quit().await;
}

#[tokio::test]
async fn another_protocol_is_refused_with_a_reason() {
    let scratch = Scratch::new();
    let editor = FakeEditor::spawn(&scratch);
    let mut hello = editor.hello(&scratch, &Options::default());
    hello["initializationOptions"]["toolgate"]["protocol"] = 99.into();
    let error = editor.request("initialize", hello).await.unwrap_err();
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("99"), "{message}");
}

#[tokio::test]
async fn requests_before_initialize_are_refused() {
    let scratch = Scratch::new();
    let editor = FakeEditor::spawn(&scratch);
    let error = editor.request("toolgate/status", json!({})).await;
    assert_eq!(error.unwrap_err()["code"], -32002);
}

#[tokio::test]
async fn every_encoding_of_positions_is_negotiated() {
    for (offered, taken) in [
        (vec!["utf-8", "utf-16"], "utf-8"),
        (vec!["utf-32"], "utf-32"),
        (vec!["utf-16"], "utf-16"),
        (vec!["ebcdic"], "utf-16"),
        (vec![], "utf-16"),
    ] {
        let scratch = Scratch::new();
        let options = Options {
            encodings: offered,
            ..Options::default()
        };
        let editor = FakeEditor::start(&scratch, options).await;
        assert_eq!(
            editor.initialized["capabilities"]["positionEncoding"],
            taken
        );
        editor.quit().await;
    }
}

#[tokio::test]
async fn a_small_request_behind_a_long_turn_is_answered_at_once() {
    let mut long = says("Thinking about it.");
    long["hold"] = "end".into();
    let model = model([
        turn([call("Glob", json!({ "pattern": "*" })), bash("true")]),
        long,
    ])
    .await;
    let scratch = Scratch::new().server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Go.").await;
    if let Some(ask) = editor.seen(|seen| seen.of("toolgate/ask/opened").next().cloned()) {
        editor.decide(&ask, "allow_once").await.unwrap();
    }
    model.until_held("end").await;
    // More of them than tower-lsp would have open at once by default.
    let many: Vec<u64> = (0..200)
        .map(|_| editor.ask("toolgate/status", json!({})))
        .collect();
    for id in many {
        editor.answer(id).await.unwrap();
    }
    assert!(editor.seen(|seen| seen.kind("turn_ended").next().is_none()));
    model.release("end");
    editor.turn_ended(&turn).await;
    editor.quit().await;
}

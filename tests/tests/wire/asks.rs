//! Prompts: opened, answered once, closed everywhere (spec: protocol.md, `toolgate/ask/*`).

use serde_json::{json, Value};
use toolgate_protocol::methods::REFUSED;
use toolgate_tests::fake_editor::script::{edit, model, read, results, says, turn, write};
use toolgate_tests::fake_editor::{FakeEditor, Options, Scratch};

fn refused(answer: Result<Value, Value>, says: &str) {
    let error = answer.expect_err("it must be refused");
    assert_eq!(error["code"], REFUSED, "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(says), "{message:?} does not say {says:?}");
}

#[tokio::test]
async fn a_prompt_is_opened_answered_and_closed() {
    let model = model([
        turn([read("a.txt")]),
        turn([edit("a.txt", "one", "ONE")]),
        says("Done."),
    ])
    .await;
    let scratch = Scratch::new()
        .file("a.txt", "one\ntwo\n")
        .server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Change it.").await;
    let opened = editor.asked(0).await;
    let ask = &opened["ask"];
    assert_eq!(opened["sessionId"], session.as_str());
    assert_eq!(
        (&ask["kind"], &ask["tool"]),
        (&"permission".into(), &"Edit".into())
    );
    assert_eq!(
        ask["traits"],
        json!({ "readOnly": false, "destructive": false, "openWorld": false })
    );
    assert!(ask["why"]["text"].as_str().is_some_and(|t| !t.is_empty()));
    let payload = &ask["content"]["payload"];
    assert_eq!(payload["kind"], "diff");
    assert_eq!(payload["hunks"][0]["oldLines"], json!(["one"]));
    assert_eq!(payload["hunks"][0]["newLines"], json!(["ONE"]));
    assert_eq!(payload["hunks"][0]["state"], "proposed");
    let options: Vec<_> = ask["options"].as_array().unwrap().iter().collect();
    let first = &options[0]["option"];
    assert!(
        first.as_str().unwrap().starts_with("reject"),
        "the safest stands first: {first}"
    );
    editor
        .update("the state asking", |u| {
            u["state"] == "asking" && u["waits"] == "your approval"
        })
        .await;
    assert_eq!(scratch.read("a.txt"), b"one\ntwo\n");

    editor.decide(&opened, "allow_once").await.unwrap();
    let settled = editor.settled("Edit", 0).await;
    assert_eq!(settled["status"], "completed");
    assert_eq!(settled["content"]["payload"]["kind"], "diff");
    assert_eq!(
        settled["content"]["payload"]["hunks"][0]["state"],
        "applied"
    );
    let ended = editor.turn_ended(&turn).await;
    assert_eq!(ended["stopReason"], "end_turn");
    let id = opened["askId"].as_str().unwrap();
    let by = editor.seen(|seen| seen.closed(id).cloned()).unwrap();
    assert_eq!(by["by"], "answered");
    assert_eq!(scratch.read("a.txt"), b"ONE\ntwo\n");
    assert_eq!(model.invalid(), Vec::<String>::new());
    editor.quit().await;
}

#[tokio::test]
async fn an_answer_counts_once_and_only_for_what_was_shown() {
    let model = model([turn([write("n.txt", "new\n")]), says("Done.")]).await;
    let scratch = Scratch::new().server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Make it.").await;
    let opened = editor.asked(0).await;

    let mut other = opened.clone();
    other["ask"]["digest"] = "0000".into();
    refused(editor.decide(&other, "allow_once").await, "another input");
    let mut never = opened.clone();
    never["askId"] = "no-such-prompt".into();
    refused(
        editor.decide(&never, "allow_once").await,
        "no prompt no-such",
    );
    assert_eq!(editor.seen(|seen| seen.open_asks().len()), 1);
    assert!(!scratch.path("n.txt").exists());

    editor.decide(&opened, "allow_once").await.unwrap();
    editor.turn_ended(&turn).await;
    refused(editor.decide(&opened, "reject_once").await, "allow_once");
    assert_eq!(scratch.read("n.txt"), b"new\n");
    editor.quit().await;
}

#[tokio::test]
async fn a_withdrawn_prompt_takes_no_answer() {
    let model = model([turn([write("n.txt", "new\n")]), says("All right.")]).await;
    let scratch = Scratch::new().server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Make it.").await;
    let opened = editor.asked(0).await;
    editor.notify("toolgate/session/cancel", json!({ "sessionId": session }));
    let ended = editor.turn_ended(&turn).await;
    assert_eq!(ended["stopReason"], "cancelled");
    let id = opened["askId"].as_str().unwrap();
    assert_eq!(
        editor.seen(|seen| seen.closed(id).cloned()).unwrap()["by"],
        "withdrawn"
    );
    assert_eq!(editor.settled("Write", 0).await["status"], "cancelled");
    refused(editor.decide(&opened, "allow_once").await, "withdrawn");
    let next = editor.prompt(&session, "And now?").await;
    editor.turn_ended(&next).await;
    assert!(!scratch.path("n.txt").exists());
    assert_eq!(model.invalid(), Vec::<String>::new());
    editor.quit().await;
}

#[tokio::test]
async fn a_call_that_waits_says_for_what() {
    let model = model([
        turn([read("a.txt")]),
        turn([edit("a.txt", "one", "1"), edit("a.txt", "two", "2")]),
        says("Done."),
    ])
    .await;
    let scratch = Scratch::new()
        .file("a.txt", "one\ntwo\n")
        .server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Change both.").await;
    let first = editor.asked(0).await;
    let second = editor.wait("the second Edit", |s| s.call("Edit", 1)).await;
    let state = editor
        .update("its reason", |u| {
            u["kind"] == "call_state" && u["callId"] == second.as_str() && !u["waits"].is_null()
        })
        .await;
    assert_eq!(state["waits"], "after Edit a.txt");
    editor.decide(&first, "allow_once").await.unwrap();
    let next = editor.asked(1).await;
    let hunk = &next["ask"]["content"]["payload"]["hunks"][0];
    assert_eq!(hunk["oldLines"], json!(["two"]));
    editor.decide(&next, "allow_once").await.unwrap();
    editor.turn_ended(&turn).await;
    assert_eq!(scratch.read("a.txt"), b"1\n2\n");
    editor.quit().await;
}

#[tokio::test]
async fn many_prompts_are_answered_in_any_order() {
    const MANY: usize = 40;
    let name = |n: usize| format!("n{n:02}.txt");
    let calls = (0..MANY).map(|n| write(&name(n), &format!("{n}\n")));
    let model = model([turn(calls), says("Done.")]).await;
    let scratch = Scratch::new().server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Make them.").await;
    let mut asks = Vec::new();
    for n in 0..MANY {
        asks.push(editor.asked(n).await);
        let path = &asks[n]["ask"]["content"]["payload"]["path"];
        assert_eq!(path, &Value::from(scratch.text_path(&name(n))));
    }
    // All of them are open at once, and the sidecar still answers.
    editor.request("toolgate/status", json!({})).await.unwrap();
    for (n, opened) in asks.iter().enumerate().rev() {
        let option = if n % 2 == 0 {
            "allow_once"
        } else {
            "reject_once"
        };
        editor.decide(opened, option).await.unwrap();
    }
    editor.turn_ended(&turn).await;
    let results = results(&model.requests()[1]);
    for (n, result) in results.iter().enumerate() {
        assert_eq!(scratch.path(&name(n)).exists(), n % 2 == 0, "{n}");
        let word = if n % 2 == 0 { "reated" } else { "refused" };
        assert!(result.contains(word), "{n}: {result}");
    }
    assert_eq!(results.len(), MANY);
    assert_eq!(model.invalid(), Vec::<String>::new());
    editor.quit().await;
}

#[tokio::test]
async fn an_answer_for_the_session_decides_the_open_prompts() {
    let model = model([
        turn([write("a.txt", "a\n"), write("b.txt", "b\n")]),
        says("Done."),
    ])
    .await;
    let scratch = Scratch::new().server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Make them.").await;
    let (first, second) = (editor.asked(0).await, editor.asked(1).await);
    let options = first["ask"]["options"].as_array().unwrap();
    let wide = options.iter().find(|o| o["option"] == "allow_session");
    let rules = wide.expect("it is offered")["rules"].as_array().unwrap();
    assert!(!rules.is_empty(), "{first}");
    editor.decide(&first, "allow_session").await.unwrap();
    editor.settled("Write", 0).await;
    // The rule may cover the other prompt or not; if it does, the prompt is closed everywhere.
    let id = second["askId"].as_str().unwrap();
    if editor.seen(|seen| seen.closed(id).is_none()) {
        editor.decide(&second, "allow_once").await.unwrap();
    }
    editor.turn_ended(&turn).await;
    assert_eq!(editor.seen(|seen| seen.open_asks().len()), 0);
    assert_eq!(scratch.read("b.txt"), b"b\n");
    editor.quit().await;
}

#[tokio::test]
async fn a_plain_client_is_asked_by_show_message_request() {
    let model = model([turn([write("n.txt", "new\n")]), says("Done.")]).await;
    let scratch = Scratch::new().server(&model.base_url);
    let options = Options {
        hello: Value::Null,
        ..Options::default()
    };
    let editor = FakeEditor::start(&scratch, options).await;
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Make it.").await;
    let asked = editor
        .wait("window/showMessageRequest", |seen| {
            let method = "window/showMessageRequest";
            seen.messages
                .iter()
                .find(|m| m["method"] == method)
                .cloned()
        })
        .await;
    let text = asked["params"]["message"].as_str().unwrap();
    assert!(text.contains("n.txt") && text.contains("+new"), "{text}");
    let actions = asked["params"]["actions"].as_array().unwrap();
    let yes = actions.iter().find(|a| a["title"] == "Yes, once").unwrap();
    editor.reply(&asked["id"], yes.clone());
    editor.turn_ended(&turn).await;
    assert_eq!(scratch.read("n.txt"), b"new\n");
    editor.quit().await;
}

#[tokio::test]
async fn a_late_answer_of_a_plain_client_is_refused_and_harmless() {
    let model = model([turn([write("n.txt", "new\n")])]).await;
    let scratch = Scratch::new().server(&model.base_url);
    let options = Options {
        hello: Value::Null,
        ..Options::default()
    };
    let editor = FakeEditor::start(&scratch, options).await;
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Make it.").await;
    let asked = editor
        .wait("window/showMessageRequest", |seen| {
            let method = "window/showMessageRequest";
            seen.messages
                .iter()
                .find(|m| m["method"] == method)
                .cloned()
        })
        .await;
    editor.notify("toolgate/session/cancel", json!({ "sessionId": session }));
    editor.turn_ended(&turn).await;
    editor.reply(&asked["id"], json!({ "title": "Yes, once" }));
    let refusal = |seen: &toolgate_tests::fake_editor::Seen| {
        let mut told = seen.of("window/showMessage");
        told.find(|told| told["message"].as_str().unwrap().contains("closed"))
            .cloned()
    };
    editor.wait("the refusal", refusal).await;
    editor.request("toolgate/status", json!({})).await.unwrap();
    assert!(!scratch.path("n.txt").exists());
    editor.quit().await;
}

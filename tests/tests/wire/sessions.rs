//! Sessions on the wire: what a client that missed something gets, before and after a restart.

use serde_json::{json, Value};
use toolgate_tests::fake_editor::script::{edit, model, read, says, turn, write};
use toolgate_tests::fake_editor::{FakeEditor, Options, Scratch};

async fn load(editor: &FakeEditor, session: &str, since: Value) -> Value {
    let params = json!({ "sessionId": session, "since": since });
    let loaded = editor.request("toolgate/session/load", params).await;
    loaded.unwrap_or_else(|error| panic!("{error}"))
}

/// All pages of a load; the updates, and whether the first page was a reset.
async fn load_all(editor: &FakeEditor, session: &str) -> (Vec<Value>, bool) {
    let mut all: Vec<Value> = Vec::new();
    let first = load(editor, session, Value::Null).await;
    let reset = first["reset"].as_bool().unwrap();
    let mut page = first;
    loop {
        all.extend(page["updates"].as_array().unwrap().iter().cloned());
        if page["more"] != true {
            return (all, reset);
        }
        let last = all.last().expect("a page is not empty");
        let since = json!({ "epoch": last["epoch"], "seq": last["seq"] });
        page = load(editor, session, since).await;
        assert_eq!(page["reset"], false, "a further page tells no reset");
    }
}

fn kinds(updates: &[Value]) -> Vec<&str> {
    let all = updates
        .iter()
        .map(|u| u["update"]["kind"].as_str().unwrap());
    all.collect()
}

#[tokio::test]
async fn load_tells_what_was_missed() {
    let model = model([turn([read("a.txt")]), says("It says one.")]).await;
    let scratch = Scratch::new()
        .file("a.txt", "one\n")
        .server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Read it.").await;
    editor.turn_ended(&turn).await;
    let told: Vec<Value> =
        editor.seen(|seen| seen.of("toolgate/session/update").cloned().collect());
    let (all, reset) = load_all(&editor, &session).await;
    assert!(reset);
    assert_eq!(all, told);
    let third = &told[2];
    let since = json!({ "epoch": third["epoch"], "seq": third["seq"] });
    let missed = load(&editor, &session, since).await;
    assert_eq!(missed["reset"], false);
    assert_eq!(missed["updates"], json!(told[3..].to_vec()));
    let other = load(&editor, &session, json!({ "epoch": "another", "seq": 3 })).await;
    assert_eq!(other["reset"], true);
    editor.quit().await;
}

#[tokio::test]
async fn load_announces_open_prompts_again() {
    let model = model([
        turn([read("a.txt")]),
        turn([edit("a.txt", "one", "1")]),
        says("Done."),
    ])
    .await;
    let scratch = Scratch::new()
        .file("a.txt", "one\n")
        .server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Change it.").await;
    let opened = editor.asked(0).await;
    let loaded = load(&editor, &session, Value::Null).await;
    assert_eq!(loaded["asks"], json!([opened]));
    assert_eq!(loaded["session"]["turnId"], turn.as_str());
    editor
        .decide(&loaded["asks"][0], "allow_once")
        .await
        .unwrap();
    editor.turn_ended(&turn).await;
    assert_eq!(
        load(&editor, &session, Value::Null).await["asks"],
        json!([])
    );
    editor.quit().await;
}

#[tokio::test]
async fn after_a_restart_load_is_a_full_projection() {
    let model = model([
        turn([read("a.txt")]),
        says("It says one."),
        says("As I said."),
    ])
    .await;
    let scratch = Scratch::new()
        .file("a.txt", "one\n")
        .server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Read it.").await;
    editor.turn_ended(&turn).await;
    let last = editor.seen(|seen| seen.of("toolgate/session/update").last().cloned());
    let last = last.unwrap();
    editor.quit().await;

    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let since = json!({ "epoch": last["epoch"], "seq": last["seq"] });
    let loaded = load(&editor, &session, since).await;
    assert_eq!(loaded["reset"], true);
    let updates = loaded["updates"].as_array().unwrap();
    assert_ne!(updates[0]["epoch"], last["epoch"]);
    let wanted = [
        "turn_started",
        "user_message",
        "call_started",
        "call_settled",
        "agent_message_delta",
        "turn_ended",
    ];
    let came = kinds(updates);
    let in_order: Vec<_> = came.iter().filter(|kind| wanted.contains(kind)).collect();
    assert_eq!(in_order, wanted.iter().collect::<Vec<_>>(), "{came:?}");
    let started = updates
        .iter()
        .find(|u| u["update"]["kind"] == "call_started");
    let id = &started.unwrap()["update"]["callId"];
    assert!(editor.model_text(&session, id).await.contains("one"));
    let turn = editor.prompt(&session, "Again?").await;
    editor.turn_ended(&turn).await;
    assert_eq!(model.invalid(), Vec::<String>::new());
    let requests = model.requests();
    assert!(requests[2].contains("It says one."), "{}", requests[2]);
    editor.quit().await;
}

#[tokio::test]
async fn a_long_session_is_loaded_in_pages() {
    const TURNS: usize = 60;
    let answers = (0..TURNS).flat_map(|n| [turn([read("a.txt")]), says(&format!("Turn {n}."))]);
    let model = model(answers).await;
    let scratch = Scratch::new()
        .file("a.txt", "line\n".repeat(300))
        .server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let session = editor.session().await;
    for n in 0..TURNS {
        let turn = editor.prompt(&session, &format!("Say {n}.")).await;
        editor.turn_ended(&turn).await;
    }
    editor.quit().await;
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let (all, reset) = load_all(&editor, &session).await;
    assert!(reset);
    let ended = kinds(&all)
        .iter()
        .filter(|kind| **kind == "turn_ended")
        .count();
    assert_eq!(ended, TURNS);
    for (index, update) in all.iter().enumerate() {
        assert_eq!(update["seq"], index + 1);
    }
    editor.quit().await;
}

#[tokio::test]
async fn sessions_are_listed_closed_and_deleted() {
    let model = model([says("One."), says("Two.")]).await;
    let scratch = Scratch::new().server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let (first, second) = (editor.session().await, editor.session().await);
    assert_ne!(first, second);
    for (session, text) in [(&first, "the first"), (&second, "the second")] {
        let turn = editor.prompt(session, text).await;
        editor.turn_ended(&turn).await;
    }
    let list = |query: Value| editor.request("toolgate/session/list", query);
    let all = list(json!({})).await.unwrap();
    assert_eq!(all["sessions"].as_array().unwrap().len(), 2);
    let found = list(json!({ "query": "second" })).await.unwrap();
    assert_eq!(found["sessions"][0]["sessionId"], second.as_str());
    assert_eq!(found["sessions"].as_array().unwrap().len(), 1);
    let cwd = scratch.project().to_string_lossy().into_owned();
    assert_eq!(found["sessions"][0]["cwd"], cwd.as_str());
    let none = list(json!({ "workspace": "/nowhere" })).await.unwrap();
    assert_eq!(none["sessions"], json!([]));

    let params = json!({ "sessionId": first });
    let error = editor
        .request("toolgate/session/delete", params.clone())
        .await;
    assert!(error.unwrap_err()["message"]
        .as_str()
        .unwrap()
        .contains("close"));
    editor
        .request("toolgate/session/close", params.clone())
        .await
        .unwrap();
    editor
        .request("toolgate/session/delete", params)
        .await
        .unwrap();
    let left = list(json!({})).await.unwrap();
    assert_eq!(left["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(scratch.transcripts().len(), 1);
    editor.quit().await;
}

#[tokio::test]
async fn closing_a_session_settles_what_is_open() {
    let model = model([turn([write("n.txt", "new\n")]), says("Then not.")]).await;
    let scratch = Scratch::new().server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Make it.").await;
    editor.asked(0).await;
    let params = json!({ "sessionId": session });
    editor
        .request("toolgate/session/close", params)
        .await
        .unwrap();
    assert_eq!(editor.turn_ended(&turn).await["stopReason"], "cancelled");
    assert_eq!(editor.seen(|seen| seen.open_asks().len()), 0);
    load(&editor, &session, Value::Null).await;
    let turn = editor.prompt(&session, "And now?").await;
    editor.turn_ended(&turn).await;
    assert_eq!(model.invalid(), Vec::<String>::new());
    assert!(!scratch.path("n.txt").exists());
    editor.quit().await;
}

#[tokio::test]
async fn two_sessions_run_side_by_side() {
    let mut slow = says("Slow.");
    slow["hold"] = "slow".into();
    let model = model([slow, says("Fast.")]).await;
    let scratch = Scratch::new().server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let (first, second) = (editor.session().await, editor.session().await);
    let held = editor.prompt(&first, "Slowly.").await;
    model.until_held("slow").await;
    let fast = editor.prompt(&second, "Quickly.").await;
    editor.turn_ended(&fast).await;
    assert!(editor.seen(|seen| seen
        .kind("turn_ended")
        .all(|u| u["turnId"] != held.as_str())));
    model.release("slow");
    editor.turn_ended(&held).await;
    editor.quit().await;
}

#[tokio::test]
async fn mode_and_model_are_told_and_used() {
    let model = model([says("One."), says("Two.")]).await;
    let scratch = Scratch::new().server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let session = editor.session().await;
    let set = |method: &str, key: &str, value: &str| {
        editor.request(
            method_of(method),
            json!({ "sessionId": session, key: value }),
        )
    };
    set("setModel", "model", "model-2").await.unwrap();
    set("setMode", "mode", "plan").await.unwrap();
    let error = set("setMode", "mode", "anarchy").await.unwrap_err();
    assert_eq!(error["code"], -32602);
    editor
        .update("the mode", |u| u["kind"] == "mode" && u["mode"] == "plan")
        .await;
    let turn = editor.prompt(&session, "Hello.").await;
    editor.turn_ended(&turn).await;
    let body: Value = serde_json::from_str(&model.requests()[0]).unwrap();
    assert_eq!(body["model"], "model-2");
    editor.quit().await;
}

fn method_of(name: &str) -> &'static str {
    match name {
        "setModel" => "toolgate/session/setModel",
        _ => "toolgate/session/setMode",
    }
}

//! No message is larger than 64 KiB, and nothing is lost by that (the fake editor checks the size
//! of every message; spec: protocol.md).

use serde_json::{json, Value};
use toolgate_tests::fake_editor::script::{bash, call, model, read, results, says, turn, write};
use toolgate_tests::fake_editor::{FakeEditor, Options, Scratch};

async fn paged(editor: &FakeEditor, session: &str, content: &Value) -> String {
    let name = content["contentRef"]
        .as_str()
        .expect("it is too large to send");
    let mut text = String::new();
    let mut next = Some(0);
    while let Some(offset) = next {
        let params = json!({ "sessionId": session, "contentRef": name, "offset": offset });
        let page = editor
            .request("toolgate/call/output", params)
            .await
            .unwrap();
        assert_eq!(page["totalBytes"], content["totalBytes"]);
        text.push_str(page["text"].as_str().unwrap());
        next = page["next"].as_u64();
    }
    assert_eq!(content["totalBytes"], text.len());
    text
}

/// Many different lines, some with characters of several bytes.
fn lines(count: usize) -> String {
    let mut text = String::new();
    for n in 0..count {
        text.push_str(&format!("line {n} – 😀 some more words to fill it up\n"));
    }
    text
}

#[tokio::test]
async fn a_large_change_is_shown_whole_page_by_page() {
    let large = lines(4_000);
    let model = model([turn([write("n.txt", &large)]), says("Done.")]).await;
    let scratch = Scratch::new().server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Write it.").await;
    let opened = editor.asked(0).await;
    let text = paged(&editor, &session, &opened["ask"]["content"]).await;
    let shown = text.lines().filter(|line| line.starts_with("+line"));
    assert!(
        shown.eq(large
            .lines()
            .map(|line| format!("+{line}"))
            .collect::<Vec<_>>()
            .iter()),
        "every line of the change is on some page"
    );
    editor.decide(&opened, "allow_once").await.unwrap();
    let settled = editor.settled("Write", 0).await;
    paged(&editor, &session, &settled["content"]).await;
    let params = json!({ "sessionId": session, "callId": settled["callId"] });
    let view = editor.request("toolgate/call/get", params).await.unwrap();
    assert_eq!(view["tool"], "Write");
    editor.turn_ended(&turn).await;
    assert_eq!(scratch.read("n.txt"), large.as_bytes());
    let reviews = editor
        .request("toolgate/review/list", json!({ "sessionId": session }))
        .await;
    assert!(!reviews.unwrap()["reviews"].as_array().unwrap().is_empty());
    editor.quit().await;
}

#[tokio::test]
async fn a_large_output_is_paged() {
    let model = model([turn([bash("cat big.txt; false")]), says("Done.")]).await;
    let large = lines(3_000);
    let scratch = Scratch::new()
        .file("big.txt", &large)
        .server(&model.base_url);
    let options =
        Options::default().settings(json!({ "permissions": { "mode": "bypassPermissions" } }));
    let editor = FakeEditor::start(&scratch, options).await;
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Run it.").await;
    let settled = editor.settled("Bash", 0).await;
    assert_eq!(settled["status"], "failed");
    let text = paged(&editor, &session, &settled["content"]).await;
    assert!(text.contains("line 2999 "), "the end is there");
    let params = json!({ "sessionId": session, "callId": settled["callId"] });
    editor.request("toolgate/call/get", params).await.unwrap();
    editor.turn_ended(&turn).await;
    editor.quit().await;
}

/// An answer in which every kind of text is large.
fn large_answer(large: &str) -> Value {
    let long_path = "d/".repeat(40_000) + "x.txt";
    let mut thinking = says("Well.");
    thinking["content"] = json!([
        { "type": "thinking", "thinking": large, "signature": "sig" },
        { "type": "text", "text": large },
        read("big.txt"),
        read(&long_path),
        bash(&format!("echo {}", "x".repeat(100_000))),
        call(&"N".repeat(150), json!({})),
        call("Read", json!({ "file_path": ["x".repeat(90_000)] })),
        call("TodoWrite", json!({ "todos": [{
            "content": "y".repeat(90_000), "status": "pending", "activeForm": "z".repeat(90_000),
        }] })),
    ]);
    thinking["delta"] = 100_000.into();
    thinking
}

#[tokio::test]
async fn large_texts_of_every_kind() {
    let large = lines(2_500);
    let thinking = large_answer(&large);
    let model = model([thinking, says("Done.")]).await;
    let scratch = Scratch::new()
        .file(
            "big.txt",
            "word ".repeat(1_000) + &"1234567\n".repeat(1_900),
        )
        .server(&model.base_url);
    let options =
        Options::default().settings(json!({ "permissions": { "mode": "bypassPermissions" } }));
    let editor = FakeEditor::start(&scratch, options).await;
    let session = editor.session().await;
    let turn = editor.prompt(&session, &large).await;
    editor.finish(&turn, "reject_once").await;
    // Deltas are never lost.
    for (kind, want) in [
        ("agent_message_delta", large.clone() + "Done."),
        ("thought_delta", large),
    ] {
        let told: String = editor.seen(|seen| {
            let texts = seen.kind(kind).map(|u| u["text"].as_str().unwrap());
            texts.collect()
        });
        assert!(told == want, "{kind}: {} of {}", told.len(), want.len());
    }
    let calls: Vec<Value> = editor.seen(|seen| {
        let all = seen.kind("call_started").map(|u| u["callId"].clone());
        all.collect()
    });
    for call in &calls {
        let params = json!({ "sessionId": session, "callId": call });
        editor.request("toolgate/call/get", params).await.unwrap();
    }
    assert_eq!(results(&model.requests()[1]).len(), calls.len());
    let load = json!({ "sessionId": session });
    editor
        .request("toolgate/session/load", load.clone())
        .await
        .unwrap();
    editor.quit().await;
    // After a restart, too.
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    editor.request("toolgate/session/load", load).await.unwrap();
    for call in &calls {
        let params = json!({ "sessionId": session, "callId": call });
        editor.request("toolgate/call/get", params).await.unwrap();
    }
    editor.quit().await;
}

//! Every way in which an editor can go: the sidecar and its children are gone soon (R14).
//!
//! The product's promise is 2 s; the tests only tell a hang from an end, because how fast a machine
//! is is not theirs to judge.

use std::process::Stdio;

use rustix::process::{pidfd_open, Pid, PidfdFlags};
use serde_json::{json, Value};
use tokio::io::unix::AsyncFd;
use toolgate_tests::fake_editor::script::{bash, model, says, turn, write};
use toolgate_tests::fake_editor::{FakeEditor, Options, Scratch, DEADLINE};
use toolgate_tests::fake_model::FakeModel;

/// Waits until a process has ended.
async fn gone(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let Ok(handle) = pidfd_open(pid, PidfdFlags::NONBLOCK) else {
        return;
    };
    // The handle is owned and closed by nobody else while it is registered.
    #[allow(deprecated)]
    let handle = AsyncFd::new(handle).unwrap();
    let ended = tokio::time::timeout(DEADLINE, handle.readable()).await;
    ended.expect("the process stays").unwrap().retain_ready();
}

/// An editor whose Bash runs; the process ids that it printed.
async fn running(scratch: &Scratch, options: Options) -> (FakeEditor, Vec<u32>) {
    let options = options.settings(json!({ "permissions": { "mode": "bypassPermissions" } }));
    let editor = FakeEditor::start(scratch, options).await;
    let session = editor.session().await;
    editor.prompt(&session, "Run it.").await;
    let progress = editor
        .update("what it prints", |u| {
            u["kind"] == "call_progress" && u["text"].as_str().unwrap().contains("end")
        })
        .await;
    let words = progress["text"].as_str().unwrap().split_whitespace();
    let pids: Vec<u32> = words.filter_map(|word| word.parse().ok()).collect();
    assert_eq!(pids.len(), 3, "{progress}");
    (editor, pids)
}

/// A shell, a child of it, and a child that left its group.
const TREE: &str = "sleep 1000 & setsid sleep 1000 & echo $$ $! $(jobs -p | head -1) end; wait";

async fn tree() -> (FakeModel, Scratch) {
    let model = model([turn([bash(TREE)]), says("Done.")]).await;
    let scratch = Scratch::new().server(&model.base_url);
    (model, scratch)
}

#[tokio::test]
async fn exit_ends_it_though_input_stays_open() {
    let scratch = Scratch::new();
    let mut editor = FakeEditor::start(&scratch, Options::default()).await;
    editor.request("shutdown", Value::Null).await.unwrap();
    editor.notify("exit", Value::Null);
    assert!(editor.ended().await.success());
}

#[tokio::test]
async fn exit_without_shutdown_ends_it_too() {
    let scratch = Scratch::new();
    let mut editor = FakeEditor::start(&scratch, Options::default()).await;
    editor.notify("exit", Value::Null);
    editor.ended().await;
}

#[tokio::test]
async fn input_that_ends_before_anything_was_said() {
    let scratch = Scratch::new();
    let mut editor = FakeEditor::spawn(&scratch);
    editor.close_input();
    editor.ended().await;
}

#[tokio::test]
async fn input_that_ends_while_a_prompt_is_open() {
    let model = model([turn([write("n.txt", "new\n")]), says("Done.")]).await;
    let scratch = Scratch::new().server(&model.base_url);
    let mut editor = FakeEditor::start(&scratch, Options::default()).await;
    let session = editor.session().await;
    editor.prompt(&session, "Make it.").await;
    editor.asked(0).await;
    editor.close_input();
    editor.ended().await;
    assert!(!scratch.path("n.txt").exists());
    // The next one finds a transcript that is whole: the call was settled before the end.
    let transcript = std::fs::read_to_string(&scratch.transcripts()[&session]).unwrap();
    assert!(
        transcript.contains("Not started: cancelled"),
        "{transcript}"
    );
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let loaded = editor
        .request("toolgate/session/load", json!({ "sessionId": session }))
        .await;
    assert_eq!(loaded.unwrap()["reset"], true);
    editor.quit().await;
}

#[tokio::test]
async fn input_that_ends_while_a_request_is_open() {
    let mut held = says("Later.");
    held["hold"] = "forever".into();
    let model = model([held]).await;
    let scratch = Scratch::new().server(&model.base_url);
    let mut editor = FakeEditor::start(&scratch, Options::default()).await;
    let session = editor.session().await;
    editor.prompt(&session, "Go.").await;
    model.until_held("forever").await;
    editor.close_input();
    editor.ended().await;
    model.until_let_go("forever").await;
}

#[tokio::test]
async fn input_that_ends_takes_the_children_along() {
    let (_model, scratch) = tree().await;
    let (mut editor, pids) = running(&scratch, Options::default()).await;
    editor.close_input();
    editor.ended().await;
    for pid in pids {
        gone(pid).await;
    }
}

#[tokio::test]
async fn an_editor_that_is_killed_takes_everything_along() {
    let (_model, scratch) = tree().await;
    let mut other = tokio::process::Command::new("sleep")
        .arg("1000")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let options = Options {
        process: other.id(),
        ..Options::default()
    };
    // Its input stays open: another process holds the pipe.
    let (mut editor, pids) = running(&scratch, options).await;
    other.kill().await.unwrap();
    editor.ended().await;
    for pid in pids {
        gone(pid).await;
    }
}

#[tokio::test]
async fn a_sidecar_that_is_killed_leaves_no_children() {
    let (_model, scratch) = tree().await;
    let (mut editor, pids) = running(&scratch, Options::default()).await;
    let pid = Pid::from_raw(i32::try_from(editor.process()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    editor.ended().await;
    for pid in pids {
        gone(pid).await;
    }
}

#[tokio::test]
async fn an_editor_that_reads_no_more_ends_it() {
    let model = model([turn([bash("yes | head -c 300000")]), says("Done.")]).await;
    let scratch = Scratch::new().server(&model.base_url);
    let mut editor = FakeEditor::start(&scratch, Options::default()).await;
    editor.session().await;
    editor.close_output();
    editor.ask("toolgate/status", json!({}));
    editor.ask("toolgate/session/new", json!({}));
    editor.ended().await;
}

#[tokio::test]
async fn cancel_ends_a_running_command_and_its_children() {
    let (model, scratch) = tree().await;
    let (editor, pids) = running(&scratch, Options::default()).await;
    let session =
        editor.seen(|seen| seen.of("toolgate/session/update").next().unwrap()["sessionId"].clone());
    editor.notify("toolgate/session/cancel", json!({ "sessionId": session }));
    let settled = editor.settled("Bash", 0).await;
    assert_eq!(settled["status"], "cancelled");
    assert!(editor.seen(|seen| seen.kind("call_state").any(|u| u["state"] == "stopping")));
    let ended = editor
        .update("the end", |u| u["kind"] == "turn_ended")
        .await;
    assert_eq!(ended["stopReason"], "cancelled");
    for pid in pids {
        gone(pid).await;
    }
    assert_eq!(model.requests().len(), 1);
    editor.quit().await;
}

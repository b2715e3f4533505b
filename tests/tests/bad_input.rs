//! What bad input gets: a message that says what is wrong and what to do, an exit code, and no
//! harm.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use toolgate_tests::fake_editor::script::{model, read, says, turn};
use toolgate_tests::fake_editor::{FakeEditor, Options, Ran, Scratch};

#[track_caller]
fn says_so(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!(ran.code, Some(code), "{ran:?}");
    for word in words {
        assert!(ran.err.contains(word), "{word:?} is not in {}", ran.err);
    }
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
}

#[tokio::test]
async fn flags_that_do_not_exist() {
    let scratch = Scratch::new();
    says_so(
        &scratch.run(["run", "--frobnicate"]).await,
        2,
        &["--frobnicate"],
    );
    says_so(&scratch.run(["run"]).await, 2, &["--prompt"]);
    says_so(&scratch.run(["dance"]).await, 2, &["dance"]);
    let mode = ["run", "-p", "x", "--permission-mode", "anarchy"];
    says_so(&scratch.run(mode).await, 2, &["anarchy", "acceptEdits"]);
    let unknown = ["run", "-p", "x", "--set", "permissions.mod=plan"];
    says_so(
        &scratch.run(unknown).await,
        2,
        &["permissions.mod", "permissions.mode"],
    );
    let bare = ["run", "-p", "x", "--set", "nothing"];
    says_so(&scratch.run(bare).await, 2, &["KEY=VALUE"]);
    let number = ["run", "-p", "x", "--max-turns", "-3"];
    says_so(&scratch.run(number).await, 2, &["-3"]);
    let both = ["run", "-p", "x", "--resume", "s", "--continue"];
    says_so(&scratch.run(both).await, 2, &["--continue"]);
    let script = [
        "run",
        "-p",
        "x",
        "--provider",
        "replay",
        "--replay",
        "no.json",
    ];
    says_so(&scratch.run(script).await, 2, &["no.json"]);
    assert_eq!(scratch.aside().len(), 0, "{:?}", scratch.aside().keys());
}

#[tokio::test]
async fn a_settings_file_that_cannot_be_used() {
    let model = model([says("Yes."), says("Yes."), says("Yes.")]).await;
    let scratch = Scratch::new().server(&model.base_url);
    scratch.write_settings("this is = = not toml\n");
    let ran = scratch.run(["run", "-p", "Go."]).await;
    says_so(&ran, 0, &["toolgate.toml:1"]);
    assert_eq!(ran.out, "Yes.\n");

    scratch.write_settings("[provider]\nmax_retries = \"many\"\n[permissions]\nmoed = \"plan\"\n");
    let ran = scratch.run(["run", "-p", "Go."]).await;
    says_so(
        &ran,
        0,
        &[
            "toolgate.toml:2",
            "provider.max_retries",
            "permissions.moed",
            "permissions.mode",
        ],
    );
    says_so(&scratch.run(["doctor"]).await, 1, &[]);

    // A folder where the file should be: it can be opened by nobody, root included.
    std::fs::remove_file(scratch.settings()).unwrap();
    std::fs::create_dir(scratch.settings()).unwrap();
    let ran = scratch.run(["run", "-p", "Go."]).await;
    says_so(&ran, 0, &["toolgate.toml", "cannot be read"]);
}

#[tokio::test]
async fn a_workspace_that_wants_too_much() {
    let model = model([turn([read("a.txt")]), says("Yes.")]).await;
    let scratch = Scratch::new()
        .file("a.txt", "one\n")
        .file(
            "toolgate.toml",
            "[provider]\nbase_url = \"http://127.0.0.1:1\"\n[permissions]\nmode = \
             \"bypassPermissions\"\nallow = [\"Bash\"]\n",
        )
        .server(&model.base_url);
    let ran = scratch.run(["run", "-p", "Go."]).await;
    says_so(&ran, 0, &["provider.base_url", "permissions.mode"]);
    assert_eq!(ran.out, "Yes.\n");
}

#[tokio::test]
async fn no_key() {
    let scratch = Scratch::new();
    let ran = scratch.run(["run", "-p", "Go."]).await;
    says_so(&ran, 1, &["ANTHROPIC_API_KEY"]);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let status = editor.request("toolgate/status", json!({})).await.unwrap();
    assert_eq!(status["ready"], false);
    assert!(status["problems"].to_string().contains("ANTHROPIC_API_KEY"));
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Go.").await;
    let ended = editor.turn_ended(&turn).await;
    assert_eq!(ended["stopReason"], "error");
    assert!(ended["message"]
        .as_str()
        .unwrap()
        .contains("ANTHROPIC_API_KEY"));
    editor.quit().await;
}

#[tokio::test]
async fn a_server_that_cannot_be_reached() {
    let scratch = Scratch::new().server("http://127.0.0.1:1");
    let args = ["run", "-p", "Go.", "--set", "provider.max_retries=0"];
    says_so(&scratch.run(args).await, 1, &["127.0.0.1:1"]);
    let scratch = Scratch::new().server("not a URL");
    let ran = scratch.run(["run", "-p", "Go."]).await;
    assert!(matches!(ran.code, Some(1 | 2)), "{ran:?}");
    assert!(ran.err.contains("is no URL"), "{}", ran.err);
}

#[tokio::test]
async fn a_retry_can_be_cancelled_while_it_waits() {
    let model = model([json!({ "status": 529, "headers": { "retry-after": "3600" } })]).await;
    let scratch = Scratch::new().server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Go.").await;
    let notice = editor.update("the wait", |u| u["kind"] == "notice").await;
    assert!(notice["text"].as_str().unwrap().contains("529"), "{notice}");
    editor.notify("toolgate/session/cancel", json!({ "sessionId": session }));
    assert_eq!(editor.turn_ended(&turn).await["stopReason"], "cancelled");
    editor.quit().await;
}

#[tokio::test]
async fn a_workspace_that_does_not_exist() {
    let scratch = Scratch::new().file("file.txt", "");
    let nowhere = ["run", "-p", "x", "--cwd", "/no/such/folder"];
    says_so(&scratch.run(nowhere).await, 2, &["/no/such/folder"]);
    let file = ["run", "-p", "x", "--cwd", "file.txt"];
    says_so(&scratch.run(file).await, 2, &["file.txt"]);
    says_so(
        &scratch.run(["doctor", "--cwd", "/no/such/folder"]).await,
        1,
        &[],
    );
    let editor = FakeEditor::spawn(&scratch);
    let mut hello = editor.hello(&scratch, &Options::default());
    hello["workspaceFolders"][0]["uri"] = "file:///no/such/folder".into();
    let error = editor.request("initialize", hello).await.unwrap_err();
    assert!(error["message"]
        .as_str()
        .unwrap()
        .contains("/no/such/folder"));
}

#[tokio::test]
async fn two_sidecars_on_one_workspace_both_work() {
    let model = model([
        turn([read("a.txt")]),
        turn([read("a.txt")]),
        says("One."),
        says("Two."),
    ])
    .await;
    let scratch = Scratch::new()
        .file("a.txt", "one\n")
        .server(&model.base_url);
    let first = FakeEditor::start(&scratch, Options::default()).await;
    let second = FakeEditor::start(&scratch, Options::default()).await;
    let (one, two) = (first.session().await, second.session().await);
    assert_ne!(one, two);
    let turns = (
        first.prompt(&one, "Go.").await,
        second.prompt(&two, "Go.").await,
    );
    first.turn_ended(&turns.0).await;
    second.turn_ended(&turns.1).await;
    assert_eq!(scratch.transcripts().len(), 2);

    // But one session has one owner, and the other is told who.
    let load = json!({ "sessionId": one });
    let error = second.request("toolgate/session/load", load.clone()).await;
    let error = error.unwrap_err();
    assert_eq!(error["code"], -32803);
    let owner = format!("process {}", first.process());
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(&owner), "{message}");
    let ran = scratch.run(["run", "-p", "Go.", "--resume", &one]).await;
    says_so(&ran, 2, &[&owner]);
    let delete = second
        .request("toolgate/session/delete", load.clone())
        .await;
    assert!(delete.is_err());
    first.quit().await;
    second.request("toolgate/session/load", load).await.unwrap();
    second.quit().await;
}

#[tokio::test]
async fn a_session_that_does_not_exist() {
    let scratch = Scratch::new();
    for name in ["s-nobody", "../../etc", ""] {
        let ran = scratch.run(["run", "-p", "x", "--resume", name]).await;
        assert_eq!(ran.code, Some(2), "{name:?}: {ran:?}");
    }
    says_so(
        &scratch.run(["run", "-p", "x", "--continue"]).await,
        2,
        &["no session"],
    );
}

#[tokio::test]
async fn a_state_directory_that_cannot_be_written() {
    // A file where the folder should be: nobody can write there, root included.
    let scratch = Scratch::new();
    std::fs::write(scratch.state(), "a file").unwrap();
    let ran = scratch.run(["run", "-p", "Go."]).await;
    says_so(&ran, 2, &[&scratch.state().display().to_string()]);
    let ran = scratch.run(["doctor"]).await;
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("state directory"), "{}", ran.out);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let error = editor.request("toolgate/session/new", json!({})).await;
    let error = error.unwrap_err();
    assert!(
        error["message"].as_str().unwrap().contains("toolgate"),
        "{error}"
    );
    editor.request("toolgate/status", json!({})).await.unwrap();
    editor.quit().await;
}

#[tokio::test]
async fn a_read_only_state_directory() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.state()).unwrap();
    let set = |mode: u32| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(scratch.state(), mode).unwrap();
    };
    set(0o500);
    // Permission bits do not bind root: then there is nothing to see here.
    let bound = std::fs::write(scratch.state().join("probe"), "").is_err();
    let ran = scratch.run(["run", "-p", "Go."]).await;
    set(0o700);
    if bound {
        says_so(&ran, 2, &["toolgate"]);
    } else {
        says_so(&ran, 1, &["ANTHROPIC_API_KEY"]);
    }
}

#[tokio::test]
async fn a_cut_or_damaged_transcript_is_still_a_session() {
    let model = model([
        turn([read("a.txt")]),
        says("One."),
        says("Two."),
        says("Three."),
    ])
    .await;
    let scratch = Scratch::new()
        .file("a.txt", "one\n")
        .server(&model.base_url);
    let ran = scratch.run(["run", "-p", "Go.", "--output", "json"]).await;
    let session = ran.result()["sessionId"].as_str().unwrap().to_owned();
    let path = scratch.transcripts().remove(&session).unwrap();
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap();
    file.write_all(b"{\"sum\":\"1234").unwrap();
    let ran = scratch
        .run(["run", "-p", "More.", "--resume", &session])
        .await;
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(0), "Two.\n"),
        "{}",
        ran.err
    );
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        !text.contains("{\"sum\":\"1234{"),
        "the torn record is gone"
    );

    // A damaged record in the middle is reported with its place; what follows is still read.
    let lines: Vec<&str> = text.lines().collect();
    let usage = lines
        .iter()
        .position(|line| line.contains("\"usage\""))
        .unwrap();
    let mut damaged = lines.clone();
    let broken = lines[usage].replacen("usage", "usagX", 1);
    damaged[usage] = &broken;
    std::fs::write(&path, damaged.join("\n") + "\n").unwrap();
    let ran = scratch
        .run(["run", "-p", "Again.", "--resume", &session])
        .await;
    says_so(&ran, 0, &[&format!("line {}", usage + 1)]);
    let last = model.requests().pop().unwrap();
    assert!(last.contains("One.") && last.contains("Two."), "{last}");
    assert_eq!(model.invalid(), Vec::<String>::new());
}

//! `toolgate run` and `toolgate demo` as a person or a script starts them: the real program, a
//! scripted server over HTTP, exit codes, and what is left behind.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use serde_json::{json, Value};
use toolgate_tests::fake_editor::script::{
    bash, call, edit, model, read, results, says, turn, write,
};
use toolgate_tests::fake_editor::{Scratch, KEY};
use toolgate_tests::fake_model::FakeModel;

/// Law 9 over what the server got.
fn grows(requests: &[String]) {
    for (number, pair) in requests.windows(2).enumerate() {
        let kept = pair[0].strip_suffix("]}").expect("a body ends so");
        let number = number + 1;
        assert!(pair[1].starts_with(kept), "request {number} is no prefix");
    }
}

fn valid(model: &FakeModel) {
    assert_eq!(model.invalid(), Vec::<String>::new());
}

#[tokio::test]
async fn fifty_turns_and_a_second_process_that_goes_on() {
    // A Read, an Edit of what it showed, a command; then the same with the next file.
    let step = |n: usize| {
        let name = format!("f{}.txt", n / 3);
        turn([match n % 3 {
            0 => read(&name),
            1 => edit(&name, "old", &format!("new {n}")),
            _ => bash(&format!("cat {name}")),
        }])
    };
    let answers = (0..50)
        .map(step)
        .chain([says("Done."), says("Still here.")]);
    let model = model(answers).await;
    let mut scratch = Scratch::new().server(&model.base_url);
    for n in 0..17 {
        scratch = scratch.file(&format!("f{n}.txt"), format!("file {n}\nold\n"));
    }
    let args = ["--permission-mode", "acceptEdits", "--allow", "Bash(cat *)"];
    let first = ["run", "-p", "Change them all.", "--output", "json"];
    let ran = scratch.run(first.iter().chain(&args)).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let settled = ran.updates("call_settled");
    assert_eq!(settled.len(), 50);
    for update in &settled {
        assert_eq!(update["status"], "completed", "{update}");
    }
    for n in 0..16 {
        let want = format!("file {n}\nnew {}\n", n * 3 + 1);
        assert_eq!(scratch.read(&format!("f{n}.txt")), want.as_bytes());
    }
    let result = ran.result();
    assert_eq!(result["stopReason"], "end_turn");
    assert_eq!(result["text"], "Done.");

    let session = result["sessionId"].as_str().unwrap();
    let more = ["run", "-p", "And now?", "--resume", session];
    let ran = scratch.run(more.iter().chain(&args)).await;
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(0), "Still here.\n"),
        "{}",
        ran.err
    );
    let requests = model.requests();
    assert_eq!(requests.len(), 52);
    valid(&model);
    grows(&requests);
    assert_eq!(scratch.transcripts().len(), 1);
}

#[tokio::test]
async fn every_fault_of_a_server_in_one_run() {
    let script = json!({ "responses": [
        // Cut in the middle of a block, nothing has started: asked again.
        { "content": [read("a.txt")], "cut_in_block": 1 },
        { "content": [read("b.txt")] },
        { "status": 529, "headers": { "retry-after": "0" } },
        { "status": 429, "headers": { "retry-after": "0" } },
        { "status": 500, "headers": { "retry-after": "0" } },
        { "content": [read("b.txt")] },
        // Cut after a call that ran: it goes on from there.
        { "content": [read("a.txt"), write("n.txt", "new\n")], "cut_in_block": 2 },
        { "expect": ["cut"], "content": [call("Raed", json!({ "file_path": "a.txt" }))] },
        { "content": [read("a.txt")], "broken_input": "{\"file_path\": \"a.txt\",, }" },
        { "content": [read("a.txt")], "broken_input": "{\"file_path\": \"a.t" },
        { "content": [call("Read", json!({ "file_path": ["a.txt"] }))] },
        { "content": [call("Edit", json!({ "file_path": "a.txt" }))] },
        {
            "content": [read("b.txt")],
            "raw_events": ["event: telepathy\ndata: {\"type\":\"telepathy\",\"x\":1}", ": a comment"],
        },
        { "content": [{ "type": "hologram", "size": [1, 2] }, read("b.txt")], "split": 7 },
        { "content": [read("b.txt")], "reset": true, "cut_after_block": 1 },
        { "content": [{ "type": "text", "text": "Through." }], "close_delimited": true },
    ] });
    let model = toolgate_tests::fake_editor::script::start(&script.to_string()).await;
    let scratch = Scratch::new()
        .file("a.txt", "one\n")
        .file("b.txt", "two\n")
        .server(&model.base_url);
    let ran = scratch.run(["run", "-p", "Go.", "--output", "json"]).await;
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.err, ran.out);
    assert_eq!(ran.result()["text"], "Through.");
    valid(&model);
    let texts: Vec<String> = model.requests().iter().flat_map(|r| results(r)).collect();
    let told = |text: &str| assert!(texts.iter().any(|t| t.contains(text)), "{text}: {texts:#?}");
    told("Raed");
    told("key must be a string at line 1 column 23");
    told("the input was cut off");
    told("is not of type");
    told("old_string");
    told("two");
    assert!(!scratch.path("n.txt").exists());
    let notices = ran.updates("notice");
    for word in ["529", "429", "500", "cut"] {
        let any = notices
            .iter()
            .any(|n| n["text"].as_str().unwrap().contains(word));
        assert!(any, "no notice of {word}: {notices:#?}");
    }
    let requests = model.requests();
    assert!(requests.last().unwrap().contains("hologram"), "passed back");
    // Tries of one request are the same bytes; else each grows out of the one before.
    let mut once = requests.clone();
    once.dedup();
    grows(&once);
}

#[tokio::test]
async fn exit_codes() {
    let mut refusal = says("No.");
    refusal["stop_reason"] = "refusal".into();
    let mut long = says("And so on and so");
    long["stop_reason"] = "max_tokens".into();
    for (answer, code, reason) in [
        (says("Yes."), 0, "end_turn"),
        (json!({ "status": 401 }), 1, "error"),
        (json!({ "status": 400 }), 1, "error"),
        (refusal, 5, "refusal"),
        (long, 6, "max_tokens"),
    ] {
        let model = model([answer]).await;
        let scratch = Scratch::new().server(&model.base_url);
        let ran = scratch.run(["run", "-p", "Go.", "--output", "json"]).await;
        let result = ran.result();
        assert_eq!(ran.code, Some(code), "{reason}: {}", ran.err);
        assert_eq!(result["exitCode"], code);
        assert_eq!(result["stopReason"], reason);
        assert_eq!(model.requests().len(), 1, "{reason} is not tried again");
    }
}

#[tokio::test]
async fn max_turns_ends_the_run() {
    let model = model((0..5).map(|n| turn([read(&format!("f{n}.txt"))]))).await;
    let scratch = Scratch::new().server(&model.base_url);
    let ran = scratch
        .run(["run", "-p", "Go.", "--max-turns", "2", "--output", "json"])
        .await;
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert_eq!(ran.result()["stopReason"], "max_turn_requests");
    assert_eq!(model.requests().len(), 2);
    assert_eq!(ran.updates("call_settled").len(), 2);
}

#[tokio::test]
async fn continue_takes_the_last_session_of_this_folder() {
    let model = model([says("One."), says("Two."), says("Three."), says("Four.")]).await;
    let scratch = Scratch::new().file("sub/x", "").server(&model.base_url);
    let code = |ran: toolgate_tests::fake_editor::Ran| {
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    };
    code(scratch.run(["run", "-p", "Apricot."]).await);
    code(scratch.run(["run", "-p", "Blackberry."]).await);
    code(
        scratch
            .run(["run", "-p", "Cranberry.", "--cwd", "sub"])
            .await,
    );
    code(scratch.run(["run", "-p", "again", "--continue"]).await);
    let last = model.requests().pop().unwrap();
    assert!(
        last.contains("Blackberry") && last.contains("Two."),
        "{last}"
    );
    assert!(!last.contains("Apricot") && !last.contains("Cranberry"));
    assert_eq!(scratch.transcripts().len(), 3);
    valid(&model);
}

#[tokio::test]
async fn without_anybody_to_ask_the_call_settles_and_the_run_goes_on() {
    let model = model([
        turn([write("n.txt", "new\n"), bash("rm -rf .")]),
        says("Then not."),
    ])
    .await;
    let scratch = Scratch::new()
        .file("a.txt", "one\n")
        .server(&model.base_url);
    let ran = scratch.run(["run", "-p", "Go.", "--output", "json"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for text in results(&model.requests()[1]) {
        assert!(text.contains("no one to ask"), "{text}");
        assert!(text.contains("no denial"), "{text}");
    }
    assert_eq!(scratch.tree().len(), 1);
}

#[tokio::test]
async fn the_same_failure_again_and_again_ends_the_run() {
    let model = model((0..10).map(|_| turn([read("missing.txt")]))).await;
    let scratch = Scratch::new().server(&model.base_url);
    let ran = scratch.run(["run", "-p", "Go.", "--output", "json"]).await;
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert_eq!(ran.result()["stopReason"], "repetition");
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test]
async fn a_rule_of_the_flags_allows_and_a_denial_wins() {
    let model = model([
        turn([bash("echo one > made.txt"), bash("echo two")]),
        says("Done."),
    ])
    .await;
    let scratch = Scratch::new().server(&model.base_url);
    scratch.write_settings("[permissions]\ndeny = [\"Bash(echo two)\"]\n");
    let ran = scratch
        .run([
            "run",
            "-p",
            "Go.",
            "--allow",
            "Bash(echo *)",
            "--permission-mode",
            "acceptEdits",
        ])
        .await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let texts = results(&model.requests()[1]);
    assert!(texts[1].contains("Denied"), "{texts:?}");
    assert!(texts[1].contains("Bash(echo two)"), "{texts:?}");
}

#[tokio::test]
async fn the_demo_needs_nothing() {
    let scratch = Scratch::new()
        .env("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
        .env("HTTPS_PROXY", "http://127.0.0.1:1");
    let ran = scratch.run(["demo"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("The test passes"), "{}", ran.out);
    assert!(ran.err.contains("FAIL: greet Ada Grace"), "{}", ran.err);
    assert!(ran.err.contains("ok: everyone is greeted"), "{}", ran.err);
    assert_eq!(scratch.aside().len(), 0, "{:?}", scratch.aside().keys());
    let mut command = scratch.command(["demo", "--keep"]);
    command.env_remove("HOME").env_remove("XDG_STATE_HOME");
    let kept = command.output().await.unwrap();
    assert!(kept.status.success());
    let err = String::from_utf8_lossy(&kept.stderr).into_owned();
    let line = err.lines().find_map(|line| line.strip_prefix("Kept: "));
    let folder = line.and_then(|line| line.split(" (").next()).unwrap();
    let folder = std::path::PathBuf::from(folder);
    assert!(folder.join("project/greet.sh").is_file());
    assert!(folder.join("state/sessions").is_dir());
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn the_key_is_in_requests_and_nowhere_else() {
    let dump = turn([bash("env"), bash("tr '\\0' '\\n' < /proc/self/environ")]);
    let model = model([
        json!({ "status": 500, "body": "no", "headers": { "retry-after": "0" } }),
        dump,
        json!({ "status": 401, "body": "{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":\"bad key\"}}" }),
    ])
    .await;
    let scratch = Scratch::new()
        .server(&model.base_url)
        .env("TOOLGATE_LOG", "trace")
        .env("OTHER_VARIABLE", "is-passed-on");
    let mode = ["--permission-mode", "bypassPermissions"];
    let args = ["run", "-p", "Go.", "--output", "json"];
    let ran = scratch.run(args.iter().chain(&mode)).await;
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let sent = model.heads().iter().all(|head| head.contains(KEY));
    assert!(sent, "every request carries it");
    let texts = results(&model.requests()[2]);
    assert!(
        texts[0].contains("OTHER_VARIABLE=is-passed-on"),
        "{texts:?}"
    );
    let nowhere = |what: &str, text: &str| assert!(!text.contains(KEY), "the key is in {what}");
    nowhere("a request's body", &model.requests().concat());
    nowhere("the output", &ran.out);
    nowhere("the log", &ran.err);
    for (path, bytes) in scratch.aside() {
        nowhere(&path, &String::from_utf8_lossy(&bytes));
    }
}

#[tokio::test]
async fn transcripts_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let model = model([turn([bash("seq 1 20000")]), says("Done.")]).await;
    let scratch = Scratch::new().server(&model.base_url);
    let ran = scratch
        .run(["run", "-p", "Go.", "--allow", "Bash(seq *)"])
        .await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let mut open = vec![scratch.state()];
    let mut files = 0;
    while let Some(folder) = open.pop() {
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else {
                assert_eq!(mode(&path), 0o600, "{}", path.display());
                files += 1;
            }
        }
    }
    assert!(files >= 3, "a transcript, its lock and a large result");
}

#[tokio::test]
async fn text_output_is_the_answer_alone() {
    let model = model([turn([read("a.txt")]), says("It says one.")]).await;
    let scratch = Scratch::new()
        .file("a.txt", "one\n")
        .server(&model.base_url);
    let ran = scratch.run(["run", "-p", "What does it say?"]).await;
    assert_eq!(ran.out, "It says one.\n");
    assert!(ran.err.contains("Read"), "{}", ran.err);
}

#[tokio::test]
async fn json_output_is_numbered_updates_and_a_result() {
    let model = model([turn([read("a.txt")]), says("It says one.")]).await;
    let scratch = Scratch::new()
        .file("a.txt", "one\n")
        .server(&model.base_url);
    let ran = scratch.run(["run", "-p", "Go.", "--output", "json"]).await;
    let mut lines = ran.lines();
    let result = lines.pop().unwrap();
    assert_eq!(result["type"], "result");
    for (number, line) in lines.iter().enumerate() {
        assert_eq!(line["seq"], number + 1, "{line}");
        assert_eq!(line["sessionId"], result["sessionId"]);
    }
    let body: Value = serde_json::from_str(&model.requests()[0]).unwrap();
    assert_eq!(body["messages"][0]["role"], "user");
}

#[tokio::test]
async fn an_interrupt_ends_the_turn_in_order() {
    let mut held = says("Later.");
    held["hold"] = "on".into();
    let model = model([held]).await;
    let scratch = Scratch::new().server(&model.base_url);
    let child = scratch
        .command(["run", "-p", "Go.", "--output", "json"])
        .spawn()
        .unwrap();
    model.until_held("on").await;
    let pid = rustix::process::Pid::from_raw(child.id().unwrap() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ran = child.wait_with_output().await.unwrap();
    assert_eq!(ran.status.code(), Some(130));
    let out = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(out.contains("\"stopReason\":\"cancelled\""), "{out}");
    model.until_let_go("on").await;
}

//! Bash, and the process room beneath it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use toolgate::hands::process;
use toolgate::tools::{Limits, Name};
use toolgate_core::outcome::{Effect, Raw, Stage};

use crate::bench::{anew, says, told, Bench};

async fn bash(bench: &Bench, command: &str) -> Raw {
    bench.run(Name::Bash, json!({ "command": command })).await
}

/// Waits until something holds; fails only when it does not within a time that no machine needs.
async fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        tokio::task::yield_now().await;
    }
}

fn alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

fn number(bench: &Bench, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(bench.path(name)).ok()?;
    text.strip_suffix('\n').map(str::to_owned)
}

#[tokio::test]
async fn exit_codes_and_output_read_as_they_should() {
    let bench = Bench::new();
    let check = async |command: &str, stage: Stage, text: &str| {
        let raw = bash(&bench, command).await;
        assert_eq!(
            (raw.stage, raw.text.as_str()),
            (stage, text),
            "{command}: {}",
            told(&raw)
        );
    };
    check("echo a", Stage::Done, "a").await;
    check(":", Stage::Done, "(no output)").await;
    check("false", Stage::Failed, "Exit code 1").await;
    check("exit 7", Stage::Failed, "Exit code 7").await;
    check(
        "echo out; echo err >&2; exit 3",
        Stage::Failed,
        "Exit code 3\nerr\nout",
    )
    .await;
    check(
        "echo a; kill -9 $$",
        Stage::Failed,
        "Exit code 137 (SIGKILL)\na",
    )
    .await;
    check("kill -TERM $$", Stage::Failed, "Exit code 143 (SIGTERM)").await;
    check("false | true", Stage::Done, "(no output)").await;
    check("true | true; { echo in braces; }", Stage::Done, "in braces").await;
    check(
        "cat <<'MY-MARK' | cat\nhi $$ `x` wow!\nMY-MARK",
        Stage::Done,
        "hi $$ `x` wow!",
    )
    .await;
    check("printf '%s' 'double!'", Stage::Done, "double!").await;
    check("read x; echo got:$x", Stage::Done, "got:").await;
    check("cat", Stage::Done, "(no output)").await;
    check(
        "printf '\\033[32mok\\033[0m\\n'; printf '\\r%d%%' $(seq 1 1000); echo",
        Stage::Done,
        "ok\n1000%",
    )
    .await;
}

#[tokio::test]
async fn one_may_be_an_answer() {
    let bench = Bench::new();
    bench.put("a", "x\n");
    let raw = bash(&bench, "grep zzz a").await;
    assert_eq!(raw.stage, Stage::Done);
    says(&raw, &["No matches found"]);
    assert_eq!(
        raw.structured.unwrap()["returnCodeInterpretation"],
        "No matches found"
    );
    let raw = bash(&bench, "grep x no-such-file").await;
    assert_eq!(
        (raw.stage, raw.effect),
        (Stage::Failed, Effect::None),
        "it only reads"
    );
    let raw = bash(&bench, "false && grep x a").await;
    assert!(raw.is_error() && raw.command_failed);
}

#[tokio::test]
async fn nobody_waits_for_a_terminal() {
    let bench = Bench::new();
    let raw = bash(&bench, "read y < /dev/tty").await;
    assert!(raw.is_error(), "{}", told(&raw));
    let raw = bash(&bench, "env").await;
    says(
        &raw,
        &[
            "GIT_TERMINAL_PROMPT=0",
            "GIT_OPTIONAL_LOCKS=0",
            "GIT_PAGER=cat",
            "TERM=dumb",
        ],
    );
}

#[tokio::test]
async fn the_directory_is_kept_inside_and_reset_outside() {
    let bench = Bench::new();
    bench.put("d/x", "");
    let inside = bench.path("d").to_str().unwrap().to_owned();
    let raw = bash(&bench, "cd d && pwd").await;
    assert_eq!(
        (raw.text.as_str(), raw.cwd.as_deref()),
        (inside.as_str(), Some(inside.as_str()))
    );
    let raw = bash(&bench, "cd d; exit 4").await;
    assert_eq!(
        (raw.is_error(), raw.cwd.as_deref()),
        (true, Some(inside.as_str()))
    );
    let raw = bash(&bench, "(cd d); set -e; set -C; true").await;
    assert_eq!(raw.cwd, None);
    let raw = bash(&bench, "cd /; pwd").await;
    assert_eq!((raw.text.as_str(), raw.cwd.clone()), ("/", None));
    says(&raw, &["outside the workspace", "reset"]);
    let results = std::fs::read_dir(bench.folder.path().join("results")).unwrap();
    assert_eq!(results.count(), 0, "the notes of directories are gone");
}

#[tokio::test]
async fn a_directory_that_is_gone_is_replaced_by_the_root() {
    let mut bench = Bench::new();
    let root = bench.cwd.clone();
    bench.cwd = format!("{root}/gone");
    bench.denied.clear();
    let mut context = bench.context();
    context.roots = vec![root.clone()];
    let task = bench
        .task(Name::Bash, &json!({ "command": "pwd" }))
        .unwrap();
    let raw = (Name::Bash.tool().execute)(task, &context).await;
    assert_eq!(
        (raw.text.as_str(), raw.cwd.as_deref()),
        (root.as_str(), Some(root.as_str()))
    );
    says(&raw, &["is gone"]);
}

#[tokio::test]
async fn unsaved_documents_are_named() {
    let mut bench = Bench::new();
    bench.open("a.txt", "typed", true);
    says(
        &bash(&bench, "true").await,
        &["Not seen by this command", "/a.txt"],
    );
}

#[tokio::test]
async fn a_process_left_behind_is_named_and_does_not_hold_the_call() {
    let bench = Bench::new();
    for command in [
        "sleep 600 & echo done $!",
        "setsid sleep 600 & echo done $!",
    ] {
        let raw = bash(&bench, command).await;
        assert_eq!(raw.stage, Stage::Done);
        let pid = raw.text.strip_prefix("done ").unwrap().to_owned();
        says(
            &raw,
            &["Still running in the background", &format!("kill {pid}")],
        );
        assert!(alive(&pid));
        bench.shell(&format!("kill -9 {pid}"));
    }
}

/// Cancel ends the group, who ignores the request, and who left the group.
#[tokio::test]
async fn cancel_ends_everybody() {
    let bench = Bench::new();
    let command = "echo working; trap '' TERM; \
                   setsid bash -c 'trap \"\" TERM; echo $$ > far; sleep 600' & \
                   (sleep 601; touch late.txt) | cat & \
                   echo $$ > near; wait";
    let cancel = bench.cancel.clone();
    let run = bash(&bench, command);
    let stop = async {
        until("the command starts", || number(&bench, "far").is_some()).await;
        until("the command starts", || number(&bench, "near").is_some()).await;
        cancel.cancel();
    };
    let (raw, ()) = tokio::join!(run, stop);
    assert_eq!((raw.stage, raw.effect), (Stage::Failed, Effect::Unknown));
    says(&raw, &["Interrupted", "working"]);
    assert!(!raw.command_failed, "it did not fail by itself");
    assert_eq!(raw.structured.unwrap()["interrupted"], true);
    for name in ["far", "near"] {
        let pid = number(&bench, name).unwrap();
        assert!(!alive(&pid), "{name}");
    }
    assert!(!bench.path("late.txt").exists());
}

#[tokio::test]
async fn a_dropped_call_leaves_nobody() {
    let bench = Bench::new();
    {
        let run = bash(
            &bench,
            "echo $$ > near; setsid sleep 600 & echo $! > far; wait",
        );
        tokio::pin!(run);
        let started = until("it starts", || number(&bench, "far").is_some());
        tokio::select! {
            _ = &mut run => panic!("it does not end by itself"),
            () = started => {}
        }
    }
    for name in ["near", "far"] {
        let pid = number(&bench, name).unwrap();
        until("it is gone", || !alive(&pid)).await;
    }
}

/// Names the folder for the process that is to be killed.
const VICTIM: &str = "TOOLGATE_TEST_VICTIM";

/// A sidecar that is killed takes its commands with it, and those who left the group.
#[tokio::test]
async fn a_killed_sidecar_leaves_nobody() {
    let mut bench = Bench::new();
    if let Some(folder) = std::env::var_os(VICTIM) {
        // This is the process that is killed below.
        bench.cwd = folder.to_str().unwrap().to_owned();
        let command = "echo $$ > near; setsid sleep 600 & echo $! > far; sleep 600; touch ended";
        bash(&bench, command).await;
        return;
    }
    let mut program = std::process::Command::new(std::env::current_exe().unwrap());
    anew(&mut program, "commands::a_killed_sidecar_leaves_nobody");
    let mut victim = program.env(VICTIM, &bench.cwd).spawn().unwrap();
    until("it starts", || number(&bench, "far").is_some()).await;
    victim.kill().unwrap();
    victim.wait().unwrap();
    for name in ["near", "far"] {
        let pid = number(&bench, name).unwrap();
        until("it is gone", || !alive(&pid)).await;
    }
    assert!(!bench.path("ended").exists());
}

/// What an orderly end of the sidecar does.
#[tokio::test]
async fn an_ending_sidecar_leaves_nobody() {
    let bench = Bench::new();
    if let Some(folder) = std::env::var_os(VICTIM) {
        let mut bench = bench;
        bench.cwd = folder.to_str().unwrap().to_owned();
        bash(&bench, "trap '' TERM; setsid sleep 600 & echo $! > far").await;
        process::end_all(Duration::from_millis(10));
        let pid = number(&bench, "far").unwrap();
        assert!(!alive(&pid));
        return;
    }
    let mut program = std::process::Command::new(std::env::current_exe().unwrap());
    anew(&mut program, "commands::an_ending_sidecar_leaves_nobody");
    let status = program.env(VICTIM, &bench.cwd).status().unwrap();
    assert!(status.success());
    assert!(number(&bench, "far").is_some());
}

#[tokio::test]
async fn a_time_out_is_said_and_keeps_the_output() {
    let mut bench = Bench::new();
    let input = json!({ "command": "echo so far; sleep 600", "timeout": 300 });
    let raw = bench.run(Name::Bash, input).await;
    assert_eq!((raw.stage, raw.effect), (Stage::Failed, Effect::Unknown));
    says(&raw, &["Timed out after 300 ms"]);
    assert_eq!(raw.structured.unwrap()["timedOutAfterMs"], 300);
    bench.limits = Limits {
        bash_max_timeout: 200,
        ..Limits::default()
    };
    says(
        &bash(&bench, "sleep 600").await,
        &["Timed out after 200 ms"],
    );
}

#[tokio::test]
async fn background_is_refused_as_unsupported() {
    let bench = Bench::new();
    let input = json!({ "command": "true", "run_in_background": true });
    let raw = bench.run(Name::Bash, input).await;
    assert!(raw.is_error());
    says(&raw, &["unsupported"]);
}

fn kept(bench: &Bench, raw: &Raw) -> u64 {
    let path = raw.persisted.as_ref().unwrap();
    assert!(Path::new(path).starts_with(bench.folder.path().join("results")));
    std::fs::metadata(path).unwrap().len()
}

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let digits: String = line.chars().filter(char::is_ascii_digit).collect();
    digits.parse::<u64>().unwrap() * 1024
}

#[tokio::test]
async fn a_hundred_megabytes_need_little_memory() {
    let bench = Bench::new();
    let before = resident();
    let raw = bash(&bench, "echo first; yes | head -c 100000000; echo last").await;
    let grown = resident().saturating_sub(before);
    assert!(grown < 50_000_000, "{grown}");
    says(
        &raw,
        &[
            "<persisted-output>",
            "Full output saved to",
            "first\n",
            "last\n",
        ],
    );
    assert!(raw.text.chars().count() < 4_000);
    assert_eq!(kept(&bench, &raw), 100_000_011);
    let output: Value = raw.structured.unwrap();
    assert_eq!(output["persistedOutputSize"], 100_000_011);
    assert!(!bench.progress.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_large_error_is_kept_too_and_shown_by_its_ends() {
    let bench = Bench::new();
    let raw = bash(
        &bench,
        "echo first; yes \u{2713}\u{1f30d} | head -c 60000 >&2; exit 2",
    )
    .await;
    assert!(raw.text.starts_with("Exit code 2\n\u{2713}\u{1f30d}\n"));
    assert!(raw.text.ends_with("first"));
    assert!(raw.text.chars().count() < 10_200);
    assert!(raw.command_failed);
    assert_eq!(kept(&bench, &raw), 60_006);
    says(&raw, &["characters left out", "saved to"]);
}

#[tokio::test]
async fn output_past_the_cap_is_counted_and_the_command_goes_on() {
    let mut bench = Bench::new();
    bench.limits.max_persisted = 1_000_000;
    let raw = bash(&bench, "yes | head -c 3000000; touch went-on").await;
    assert!(bench.path("went-on").exists());
    assert_eq!(kept(&bench, &raw), 1_000_000);
    says(&raw, &["2000000 bytes of the output are lost"]);
}

#[tokio::test]
async fn bytes_that_are_no_text_harm_nobody() {
    let bench = Bench::new();
    let raw = bash(&bench, "printf 'a\\xff\\xe2\\x9c'").await;
    assert_eq!(raw.text, "a\u{fffd}\u{fffd}");
    let raw = bash(&bench, "head -c 400000 /dev/urandom").await;
    assert_eq!(kept(&bench, &raw), 400_000);
}

#[tokio::test]
async fn progress_shows_the_newest_lines() {
    let bench = Bench::new();
    bash(&bench, "seq 1 100; printf '\\033[31mred\\033[0m\\n'").await;
    let told = Arc::clone(&bench.progress);
    let (text, bytes) = told.lock().unwrap().last().cloned().unwrap();
    assert!(text.ends_with("99\n100\nred"), "{text}");
    assert_eq!(text.lines().count(), 8);
    assert!(bytes > 290);
}

//! The doors of the fake model: its control paths, its log, and its command.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolgate::provider::anthropic::AnthropicConfig;
use toolgate_tests::fake_model::FakeModel;

use crate::kit::{anthropic, config, in_time, lines, request, same, script, shown};

/// Sends a request as it stands and reads the answer to its end.
async fn raw(base_url: &str, text: &str) -> String {
    let mut stream = TcpStream::connect(base_url.trim_start_matches("http://"))
        .await
        .unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_held_answer_goes_on_when_released() {
    let text = r#"{ "responses": [ { "content": [ { "type": "text", "text": "Hi" } ], "hold": "a.b" } ], "loop": true }"#;
    let model = FakeModel::start(script(text)).await.unwrap();
    let provider = anthropic(config(&model));
    let url = &model.base_url;
    let driver = async {
        model.until_held("a.b").await;
        let held = raw(url, "GET /control/held HTTP/1.1\r\n\r\n").await;
        assert!(held.ends_with("\r\n\r\n[\"a.b\"]"), "{held}");
        let count = raw(url, "GET /control/requests HTTP/1.1\r\n\r\n").await;
        assert!(count.ends_with("{\"count\":1}"), "{count}");
        let released = raw(
            url,
            "POST /control/release/a.b HTTP/1.1\r\ncontent-length: 0\r\n\r\n",
        )
        .await;
        assert!(released.starts_with("HTTP/1.1 200 "), "{released}");
    };
    let go = request("go");
    let both = async { tokio::join!(lines(&provider, &go), driver) };
    let (came, ()) = in_time(both).await;
    same(&shown(&came, "-"), &["text Hi", "block ", "ended EndTurn"]);
    // A release that comes first is kept for the next one.
    model.release("a.b");
    let came = lines(&provider, &go).await;
    same(&shown(&came, "-"), &["text Hi", "block ", "ended EndTurn"]);
}

#[tokio::test]
async fn what_is_no_model_request_is_refused_and_takes_no_response() {
    let model = FakeModel::start(script(
        r#"{ "responses": [ {}, { "expect": [ "never" ] } ] }"#,
    ))
    .await
    .unwrap();
    let url = &model.base_url;
    let post = |body: &str| {
        format!(
            "POST /v1/messages?beta=true HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let answer = raw(url, &post("{}")).await;
    assert!(
        answer.starts_with("HTTP/1.1 400 ") && answer.contains("model: a name is needed"),
        "{answer}"
    );
    let chunked = "POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n3;x\r\n\"a\"\r\n0\r\n\r\n";
    let answer = raw(url, chunked).await;
    assert!(answer.contains("the body is not JSON"), "{answer}");
    for text in [
        "GET / HTTP/1.1\r\n\r\n",
        "POST /control/release/ HTTP/1.1\r\n\r\n",
    ] {
        assert!(raw(url, text).await.starts_with("HTTP/1.1 404 "));
    }
    for text in [
        "",
        "GET",
        "POST /v1/messages HTTP/1.1\r\ncontent-length: 9\r\n\r\n{}",
        &"x".repeat(100_000),
    ] {
        assert_eq!(raw_lenient(url, text).await, "");
    }
    assert_eq!(model.requests(), ["{}", "{\"a\""]);
    let provider = anthropic(config(&model));
    assert!(lines(&provider, &request("go"))
        .await
        .ends_with("ended EndTurn\n"));
    let came = lines(&provider, &request("go")).await;
    same(&came, &["failed BadRequest: the provider refuses the request (HTTP 400): the script expects a request that holds \"never\""]);
    let invalid = model.invalid();
    assert!(invalid[0].starts_with("request 1: model"), "{invalid:?}");
    assert_eq!(invalid.len(), 3);
}

/// Like `raw` for what is no HTTP: the server may reset the connection.
async fn raw_lenient(base_url: &str, text: &str) -> String {
    let mut stream = TcpStream::connect(base_url.trim_start_matches("http://"))
        .await
        .unwrap();
    let mut answer = String::new();
    if stream.write_all(text.as_bytes()).await.is_ok() && stream.shutdown().await.is_ok() {
        let _ = stream.read_to_string(&mut answer).await;
    }
    answer
}

#[tokio::test]
async fn the_command_serves_and_logs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script.json");
    let log = folder.path().join("log");
    let text =
        r#"{ "responses": [ { "content": [ { "type": "text", "text": "Hello {{who}}" } ] } ] }"#;
    std::fs::write(&file, text).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fake-model"))
        .args(["--var", "who=you=me", "--script"])
        .arg(&file)
        .arg("--log")
        .arg(&log)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let url = line.trim().strip_prefix("listening ").unwrap().to_owned();
    let provider = anthropic(AnthropicConfig::new(Some(url), None));
    let came = lines(&provider, &request("go")).await;
    let over = lines(&provider, &request("again")).await;
    child.kill().unwrap();
    child.wait().unwrap();
    same(
        &shown(&came, "-"),
        &["text Hello you=me", "block ", "ended EndTurn"],
    );
    same(&over, &["failed BadRequest: the provider refuses the request (HTTP 400): the script has no response left"]);
    let body = std::fs::read_to_string(log.join("request-001.json")).unwrap();
    assert!(body.starts_with("{\"model\":\"model-1\""), "{body}");
    let why = std::fs::read_to_string(log.join("request-002.invalid")).unwrap();
    assert_eq!(why, "invalid: the script has no response left\n");
}

#[test]
fn the_command_tells_what_is_wrong() {
    for (arguments, wanted) in [
        (vec![], "usage: fake-model"),
        (vec!["--what"], "unknown argument --what"),
        (vec!["--script"], "--script needs a value"),
        (vec!["--port", "70000"], "--port 70000: no port"),
        (vec!["--var", "x"], "write NAME=VALUE"),
        (
            vec!["--script", "/nowhere/at/all.json"],
            "/nowhere/at/all.json: No such file",
        ),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_fake-model"))
            .args(&arguments)
            .output()
            .unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && told.contains(wanted),
            "{arguments:?}: {told}"
        );
    }
}

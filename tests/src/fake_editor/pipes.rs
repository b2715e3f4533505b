//! The three pipes of a sidecar: what is written to it, what it answers, what it says aside.
//!
//! Nothing here waits for a test: a request of the sidecar is answered as it comes.

use std::sync::Arc;

use serde_json::{json, Value};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::ChildStdin;
use tokio::sync::mpsc;

use super::frame::{self, framed};
use super::Shared;

/// Writes to the sidecar until the editor closes its input.
pub async fn write(mut stdin: ChildStdin, mut lines: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(bytes) = lines.recv().await {
        // A sidecar that has ended takes nothing more.
        if stdin.write_all(&bytes).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}

/// Keeps what the sidecar says on standard error.
pub async fn errors(
    mut stderr: BufReader<impl tokio::io::AsyncRead + Unpin + Send>,
    shared: Arc<Shared>,
) {
    let mut line = String::new();
    while matches!(stderr.read_line(&mut line).await, Ok(1..)) {
        shared.seen.send_modify(|seen| seen.stderr.push_str(&line));
        line.clear();
    }
}

/// Keeps every message of the sidecar, and answers its requests.
pub async fn listen(
    mut stdout: BufReader<impl tokio::io::AsyncRead + Unpin + Send>,
    shared: Arc<Shared>,
    input: mpsc::WeakUnboundedSender<Vec<u8>>,
) {
    loop {
        let (message, size) = match frame::read(&mut stdout).await {
            Ok(Some(read)) => read,
            Ok(None) => break,
            Err(fault) => {
                shared.seen.send_modify(|seen| seen.faults.push(fault));
                break;
            }
        };
        let mut asks = false;
        let kept = message.clone();
        shared.seen.send_modify(|seen| asks = seen.take(kept, size));
        if let (true, Some(input)) = (asks, input.upgrade()) {
            serve(&message, &shared, &input);
        }
    }
    shared.seen.send_modify(|seen| seen.over = true);
}

/// Answers a request of the sidecar. What it does to a document is told while the documents are
/// locked: the person's own changes keep their order.
fn serve(message: &Value, shared: &Shared, input: &mpsc::UnboundedSender<Vec<u8>>) {
    // A sidecar that has ended takes nothing more.
    let send = |message: Value| drop(input.send(framed(&message)));
    let answer =
        |result: Value| send(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
    let tell = |method: &str, params: Value| {
        send(json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    };
    let params = &message["params"];
    match message["method"].as_str().unwrap_or_default() {
        "toolgate/document/edit" => shared.documents(|all| {
            let (result, told) = all.edit(params);
            if let Some(params) = told {
                tell("textDocument/didChange", params);
            }
            answer(result);
        }),
        "toolgate/document/save" => shared.documents(|all| match all.save(&params["uri"]) {
            Ok(()) => {
                let document = json!({ "uri": params["uri"] });
                tell("textDocument/didSave", json!({ "textDocument": document }));
                answer(json!({ "saved": true }));
            }
            Err(reason) => answer(json!({ "saved": false, "reason": reason })),
        }),
        // The test answers it, as the person would.
        "window/showMessageRequest" => {}
        _ => answer(Value::Null),
    }
}

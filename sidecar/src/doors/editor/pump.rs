//! The frame pump: reads frames from the editor, and passes on only those that tower-lsp can
//! take. Headers in any case are accepted, a frame is bounded, and a body that is not one JSON-RPC
//! message is dropped with a log line and answered with an error. It sees the end of input.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use thiserror::Error;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::watch;

/// Largest body, in bytes.
const MOST: usize = 64 * 1024 * 1024;

/// What takes the place of a body that is no message: the guard answers it with the error that is
/// its parameter. An editor that sends it itself gets the same.
pub const FAULT: &str = "$/toolgate/fault";

/// JSON-RPC: not JSON.
const PARSE_ERROR: i32 = -32700;

/// JSON-RPC: JSON, but no message that is known here (a batch, for instance).
const INVALID_REQUEST: i32 = -32600;

/// Longest header line, in bytes.
const MOST_HEADER: u64 = 8 * 1024;

/// Why the pump stops.
#[derive(Debug, Error)]
enum PumpError {
    /// The editor is gone.
    #[error("end of input")]
    End,
    /// Where a frame begins can no longer be told.
    #[error("a header is wrong: {0}")]
    Header(String),
    /// The system said no.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Passes frames on until the input ends, then says so.
pub async fn run(
    input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    ended: Arc<watch::Sender<bool>>,
) {
    let mut input = BufReader::with_capacity(64 * 1024, input);
    loop {
        match pass_one(&mut input, &mut output).await {
            Ok(()) => {}
            Err(PumpError::End) => break,
            Err(error) => {
                tracing::error!("the editor's input: {error}");
                break;
            }
        }
    }
    ended.send_replace(true);
}

async fn pass_one(
    input: &mut (impl AsyncBufReadExt + Unpin),
    output: &mut (impl AsyncWrite + Unpin),
) -> Result<(), PumpError> {
    let length = header(input).await?;
    if length > MOST {
        tracing::error!("a message of {length} bytes was dropped: at most {MOST} are taken");
        tokio::io::copy(&mut input.take(length as u64), &mut tokio::io::sink()).await?;
        return Ok(());
    }
    let mut body = vec![0; length];
    if input.read_exact(&mut body).await.is_err() {
        return Err(PumpError::End);
    }
    if let Err(code) = check(&body) {
        let start: String = String::from_utf8_lossy(&body).chars().take(80).collect();
        tracing::error!("a message that is not one JSON-RPC object was dropped: {start:?}");
        body = format!(r#"{{"jsonrpc":"2.0","id":null,"method":"{FAULT}","params":[{code}]}}"#)
            .into_bytes();
    }
    output
        .write_all(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes())
        .await?;
    output.write_all(&body).await?;
    output.flush().await?;
    Ok(())
}

/// Reads the header lines of one frame; the length of its body.
async fn header(input: &mut (impl AsyncBufReadExt + Unpin)) -> Result<usize, PumpError> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        let read = (&mut *input)
            .take(MOST_HEADER)
            .read_until(b'\n', &mut line)
            .await?;
        if read == 0 {
            return Err(PumpError::End);
        }
        let line = String::from_utf8_lossy(&line).trim().to_owned();
        if line.is_empty() {
            match length {
                Some(length) => return Ok(length),
                // A stray blank line between frames.
                None => continue,
            }
        }
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| PumpError::Header(line.chars().take(80).collect()))?;
        if name.trim().eq_ignore_ascii_case("content-length") {
            let number = value.trim().parse();
            length = Some(number.map_err(|_| PumpError::Header(line.chars().take(80).collect()))?);
        }
    }
}

/// The fields of a message, unread: bodies may be large.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// A field that is `null` is there.
fn present<'de, D: serde::Deserializer<'de>>(raw: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(raw).map(Some)
}

/// Is it one message in valid UTF-8, with nothing behind it? Else the code of its error.
fn check(body: &[u8]) -> Result<(), i32> {
    let text = std::str::from_utf8(body).map_err(|_| PARSE_ERROR)?;
    serde_json::from_str::<&RawValue>(text).map_err(|_| PARSE_ERROR)?;
    let message: Envelope<'_> = serde_json::from_str(text).map_err(|_| INVALID_REQUEST)?;
    let is_text = |raw: &RawValue| raw.get().starts_with('"');
    let names =
        |raw: &RawValue| is_text(raw) || raw.get() == "null" || raw.get().parse::<i64>().is_ok();
    let version = message.jsonrpc.is_some_and(|raw| raw.get() == "\"2.0\"");
    let id = message.id.is_none_or(names);
    let shape = match message.method {
        Some(method) => is_text(method),
        None => message.id.is_some() && (message.result.is_some() != message.error.is_some()),
    };
    match version && id && shape {
        true => Ok(()),
        false => Err(INVALID_REQUEST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn check_pump(input: &str, want: &str) {
        let (ended, _end) = watch::channel(false);
        let mut output = Vec::new();
        run(input.as_bytes(), &mut output, Arc::new(ended)).await;
        assert_eq!(String::from_utf8(output).unwrap(), want, "{input:?}");
    }

    #[tokio::test]
    async fn only_messages_pass() {
        let frame = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let fault = |code: i32| {
            frame(&format!(
                r#"{{"jsonrpc":"2.0","id":null,"method":"{FAULT}","params":[{code}]}}"#
            ))
        };
        let body = r#"{"jsonrpc":"2.0","method":"x"}"#;
        let good = frame(body);
        check_pump(&good, &good).await;
        check_pump(&format!("content-length:30\r\nX: y\r\n\r\n{body}"), &good).await;
        check_pump(&format!("\r\n{good}"), &good).await;
        for (bad, code) in [
            ("[{}]", INVALID_REQUEST),
            ("{}", INVALID_REQUEST),
            (r#"{"jsonrpc":"1.0","method":"x"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, INVALID_REQUEST),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#,
                INVALID_REQUEST,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1}"#, INVALID_REQUEST),
            ("{,}", PARSE_ERROR),
            ("{} {}", PARSE_ERROR),
        ] {
            let input = format!("{}{good}", frame(bad));
            check_pump(&input, &format!("{}{good}", fault(code))).await;
        }
        let answer = frame(r#"{"jsonrpc":"2.0","id":1,"result":null}"#);
        check_pump(&answer, &answer).await;
        check_pump("Content-Length: 9\r\n\r\n{}", "").await;
        check_pump("nonsense\r\n\r\n", "").await;
    }
}

//! The frame pump: reads frames from the editor, and passes on only those that tower-lsp can
//! take. Headers in any case are accepted, a frame is bounded, and a body that is not one
//! JSON-RPC object is dropped with a log line. It sees the end of input.

use std::sync::Arc;

use serde_json::value::RawValue;
use thiserror::Error;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::watch;

/// Largest body, in bytes.
const MOST: usize = 64 * 1024 * 1024;

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
    if !is_message(&body) {
        let start: String = String::from_utf8_lossy(&body).chars().take(80).collect();
        tracing::error!("a message that is not one JSON-RPC object was dropped: {start:?}");
        return Ok(());
    }
    output
        .write_all(format!("Content-Length: {length}\r\n\r\n").as_bytes())
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

/// One JSON object in valid UTF-8, with nothing behind it.
fn is_message(body: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(body) else {
        return false;
    };
    let object = text.trim_start().starts_with('{');
    object && serde_json::from_str::<&RawValue>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn check(input: &str, want: &str) {
        let (ended, _end) = watch::channel(false);
        let mut output = Vec::new();
        run(input.as_bytes(), &mut output, Arc::new(ended)).await;
        assert_eq!(String::from_utf8(output).unwrap(), want, "{input:?}");
    }

    #[tokio::test]
    async fn only_messages_pass() {
        let good = "Content-Length: 2\r\n\r\n{}";
        check(good, good).await;
        check("content-length:2\r\nX: y\r\n\r\n{}", good).await;
        check(&format!("Content-Length: 4\r\n\r\n[{{}}]{good}"), good).await;
        check(&format!("Content-Length: 3\r\n\r\n{{,}}{good}"), good).await;
        check("Content-Length: 9\r\n\r\n{}", "").await;
        check("nonsense\r\n\r\n", "").await;
        check(&format!("\r\n{good}"), good).await;
    }
}

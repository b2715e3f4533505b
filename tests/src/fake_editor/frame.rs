//! LSP's framing, from the editor's side.
//!
//! It must never be lenient: a frame of the sidecar that is not exactly as the protocol says is a
//! fault.

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// A message with its header.
pub fn framed(message: &Value) -> Vec<u8> {
    framed_text(&message.to_string())
}

/// A text with a message's header.
pub fn framed_text(text: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

/// Reads the next message and its size; none at the end of the stream.
pub async fn read(
    reader: &mut (impl AsyncBufRead + Unpin),
) -> Result<Option<(Value, usize)>, String> {
    let mut length = None;
    loop {
        let mut line = String::new();
        let read = reader.read_line(&mut line).await;
        if read.map_err(|error| error.to_string())? == 0 {
            return Ok(None);
        }
        match line.trim_end_matches("\r\n") {
            "" => break,
            header => {
                if let Some(value) = header.strip_prefix("Content-Length: ") {
                    length = Some(value.parse::<usize>().map_err(|error| error.to_string())?);
                }
            }
        }
    }
    let length = length.ok_or("a frame without Content-Length")?;
    let mut body = vec![0; length];
    reader
        .read_exact(&mut body)
        .await
        .map_err(|error| error.to_string())?;
    let value = serde_json::from_slice(&body).map_err(|error| format!("no JSON: {error}"))?;
    Ok(Some((value, length)))
}

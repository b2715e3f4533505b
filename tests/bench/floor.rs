//! The floor of a start: the least program that answers one frame of LSP and then waits.
//!
//! It must never use anything but the standard library: it is what Toolgate's start, idle memory
//! and size are compared with.

use std::io::{BufRead, Read, Result, Write};

const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"capabilities":{}}}"#;

fn main() -> Result<()> {
    let mut input = std::io::stdin().lock();
    let mut length = 0;
    let mut line = String::new();
    while input.read_line(&mut line)? > 2 {
        if let Some(value) = line.strip_prefix("Content-Length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        line.clear();
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    let mut output = std::io::stdout().lock();
    write!(output, "Content-Length: {}\r\n\r\n{ANSWER}", ANSWER.len())?;
    output.flush()?;
    // Lives until its editor is gone, as the sidecar does.
    input.read_to_end(&mut body).map(|_| ())
}

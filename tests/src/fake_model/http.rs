//! Just enough HTTP/1.1 to read a request and to answer it, by hand: a framework would hide the
//! faults that this server is there to make.
//!
//! It must never hold more of a request than its caps say.

use std::fmt::Write as _;
use std::io::{Error, ErrorKind, Result};

use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt,
};

/// Most bytes of a request's head.
const HEAD_CAP: usize = 64 * 1024;
/// Most bytes of a request's body.
const BODY_CAP: u64 = 256 * 1024 * 1024;

/// A request, whole.
#[derive(Debug)]
pub struct Request {
    /// The method.
    pub method: String,
    /// The path, without its query.
    pub path: String,
    /// The head as it came.
    pub head: String,
    /// The body.
    pub body: String,
}

/// Reads the next request; none when the client has left.
pub async fn read<R>(
    reader: &mut R,
    writer: &mut (impl AsyncWrite + Unpin),
) -> Result<Option<Request>>
where
    R: AsyncBufRead + Unpin,
{
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let line = line(reader).await?;
        if line.is_empty() && head.is_empty() {
            return Ok(None);
        }
        if line.is_empty() || head.len() + line.len() > HEAD_CAP {
            return Err(bad("the head is cut or too long"));
        }
        head.push_str(&line);
    }
    let mut words = head.lines().next().unwrap_or_default().split(' ');
    let method = words.next().unwrap_or_default().to_owned();
    let target = words.next().unwrap_or_default();
    let path = target.split('?').next().unwrap_or_default().to_owned();
    if header(&head, "expect").is_some() {
        writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    let bytes = if header(&head, "transfer-encoding").is_some() {
        chunked(reader).await?
    } else {
        let length = header(&head, "content-length").unwrap_or("0");
        exactly(reader, length.parse().map_err(|_| bad("content-length"))?).await?
    };
    let body = String::from_utf8(bytes).map_err(|_| bad("the body is not UTF-8"))?;
    Ok(Some(Request {
        method,
        path,
        head,
        body,
    }))
}

/// A header's value.
pub fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .skip(1)
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
}

async fn line(reader: &mut (impl AsyncBufRead + Unpin)) -> Result<String> {
    let mut line = Vec::new();
    let mut limited = reader.take(HEAD_CAP as u64);
    limited.read_until(b'\n', &mut line).await?;
    String::from_utf8(line).map_err(|_| bad("the head is not UTF-8"))
}

async fn exactly(reader: &mut (impl AsyncRead + Unpin), length: u64) -> Result<Vec<u8>> {
    if length > BODY_CAP {
        return Err(bad("the body is too long"));
    }
    let mut bytes = Vec::new();
    reader.take(length).read_to_end(&mut bytes).await?;
    if (bytes.len() as u64) < length {
        return Err(bad("the body is cut"));
    }
    Ok(bytes)
}

async fn chunked(reader: &mut (impl AsyncBufRead + Unpin)) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let size = line(reader).await?;
        let size = size.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(|_| bad("a chunk's size"))?;
        if bytes.len() as u64 + size > BODY_CAP {
            return Err(bad("the body is too long"));
        }
        bytes.extend(exactly(reader, size).await?);
        line(reader).await?;
        if size == 0 {
            return Ok(bytes);
        }
    }
}

/// A whole answer as bytes.
pub fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> String {
    let mut text = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in headers {
        // Writing to a String cannot fail.
        let _ = write!(text, "{name}: {value}\r\n");
    }
    let _ = write!(text, "content-length: {}\r\n\r\n{body}", body.len());
    text
}

/// The head of an event stream.
pub fn stream_head(played: u64, close_delimited: bool) -> String {
    let framing = if close_delimited {
        "connection: close"
    } else {
        "transfer-encoding: chunked"
    };
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\nrequest-id: req_{}\r\n{framing}\r\n\r\n",
        played + 1
    )
}

fn reason(status: u16) -> &'static str {
    match status {
        200..=299 => "OK",
        300..=399 => "Elsewhere",
        400..=499 => "Client Error",
        _ => "Server Error",
    }
}

fn bad(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, what.to_owned())
}

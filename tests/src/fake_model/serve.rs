//! One connection of a client: requests in, scripted answers out.
//!
//! It must never answer a request that breaks the protocol with a response of the script: the
//! answer is 400, and the fault is on record.

use std::io::Result;
use std::sync::Arc;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::TcpStream;
use toolgate::provider::script::{Ending, Plain, Response};

use super::http::{self, Request};
use super::play::{self, Step};
use super::state::{State, Turn};

/// A client's connection.
struct Connection {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
}

/// Serves one connection to its end.
pub async fn connection(stream: TcpStream, state: Arc<State>) -> Result<()> {
    stream.set_nodelay(true)?;
    let (reader, writer) = stream.into_split();
    let mut connection = Connection {
        reader: BufReader::new(reader),
        writer,
    };
    while let Some(request) = http::read(&mut connection.reader, &mut connection.writer).await? {
        if !connection.answer(&request, &state).await? {
            break;
        }
    }
    Ok(())
}

impl Connection {
    /// Answers one request; false when the connection is over.
    async fn answer(&mut self, request: &Request, state: &State) -> Result<bool> {
        let route = (request.method.as_str(), request.path.as_str());
        match route {
            ("POST", "/v1/messages") => match state.take(request)? {
                Turn::Refused(why) => {
                    let body = error_body("invalid_request_error", &why);
                    self.json(400, &body).await?;
                    Ok(true)
                }
                Turn::Play { response, played } => {
                    self.play(&response, played, request, state).await
                }
            },
            ("GET", "/control/requests") => {
                let count = state.seen(|seen| seen.bodies.len());
                self.json(200, &json!({ "count": count }).to_string()).await
            }
            ("GET", "/control/held") => {
                let held = state.seen(|seen| seen.held.clone());
                self.json(200, &json!(held).to_string()).await
            }
            ("POST", path) => match path.strip_prefix("/control/release/") {
                Some(name) if !name.is_empty() => {
                    state.release(name);
                    self.json(200, &json!({ "released": name }).to_string())
                        .await
                }
                _ => self.unknown().await,
            },
            _ => self.unknown().await,
        }
    }

    async fn unknown(&mut self) -> Result<bool> {
        let body = error_body("not_found_error", "no such path on this scripted server");
        self.json(404, &body).await
    }

    async fn json(&mut self, status: u16, body: &str) -> Result<bool> {
        let text = http::answer(status, &[("content-type", "application/json")], body);
        self.writer.write_all(text.as_bytes()).await?;
        Ok(true)
    }

    /// Plays a response; false when the connection is over.
    async fn play(
        &mut self,
        response: &Response,
        played: u64,
        request: &Request,
        state: &State,
    ) -> Result<bool> {
        let served = &response.served;
        if let Some(plain) = &served.plain {
            return self.plain(plain, served.split).await;
        }
        let head = http::stream_head(played, served.close_delimited);
        self.writer.write_all(head.as_bytes()).await?;
        let chunked = !served.close_delimited;
        let model = serde_json::from_str::<serde_json::Value>(&request.body)
            .ok()
            .and_then(|body| body["model"].as_str().map(str::to_owned))
            .unwrap_or_default();
        for step in play::steps(response, played, &model) {
            match step {
                Step::Send(text) => self.send(&text, served.split, chunked).await?,
                Step::Hold(name) => {
                    if !self.hold(&name, state).await {
                        return Ok(false);
                    }
                }
                Step::Finish => {
                    if chunked {
                        self.writer.write_all(b"0\r\n\r\n").await?;
                    }
                    return Ok(chunked);
                }
                Step::Break(ending) => return self.break_off(ending).await,
            }
        }
        Ok(chunked)
    }

    async fn send(&mut self, text: &str, split: Option<usize>, chunked: bool) -> Result<()> {
        for piece in text.as_bytes().chunks(split.unwrap_or(usize::MAX)) {
            if chunked {
                let mut framed = format!("{:x}\r\n", piece.len()).into_bytes();
                framed.extend_from_slice(piece);
                framed.extend_from_slice(b"\r\n");
                self.writer.write_all(&framed).await?;
            } else {
                self.writer.write_all(piece).await?;
            }
        }
        Ok(())
    }

    async fn plain(&mut self, plain: &Plain, split: Option<usize>) -> Result<bool> {
        let usual = error_body(error_type(plain.status), "the script says so");
        let body = plain.body.as_deref().unwrap_or(&usual);
        let mut headers: Vec<(&str, &str)> = plain
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let typed = |(name, _): &(&str, &str)| name.eq_ignore_ascii_case("content-type");
        if !headers.iter().any(typed) {
            let usual = match plain.status {
                200..=299 => "text/event-stream",
                _ => "application/json",
            };
            headers.push(("content-type", usual));
        }
        let text = http::answer(plain.status, &headers, body);
        for piece in text.as_bytes().chunks(split.unwrap_or(usize::MAX)) {
            self.writer.write_all(piece).await?;
        }
        Ok(true)
    }

    /// Waits for a release; false when the client leaves first.
    async fn hold(&mut self, name: &str, state: &State) -> bool {
        tokio::select! {
            () = state.hold(name) => true,
            () = gone(&mut self.reader) => {
                state.let_go(name);
                false
            }
        }
    }

    async fn break_off(&mut self, ending: Ending) -> Result<bool> {
        match ending {
            Ending::Close => self.writer.shutdown().await?,
            Ending::Reset => self.writer.as_ref().set_zero_linger()?,
            Ending::Stall => gone(&mut self.reader).await,
        }
        Ok(false)
    }
}

/// Waits until the client has left.
async fn gone(reader: &mut BufReader<OwnedReadHalf>) {
    while let Ok(bytes) = reader.fill_buf().await {
        if bytes.is_empty() {
            return;
        }
        // A client that sends more before it has its answer: nobody will read that here.
        let count = bytes.len();
        reader.consume(count);
    }
}

/// An error object of the Messages API.
fn error_body(kind: &str, message: &str) -> String {
    json!({ "type": "error", "error": { "type": kind, "message": message } }).to_string()
}

fn error_type(status: u16) -> &'static str {
    match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    }
}

//! A program that speaks LSP over its standard input and output: Toolgate, or the floor of a start.
//!
//! It must never parse more than it has to: what the client costs is counted in the figure.

use std::io::{BufRead, BufReader, Error, Read, Result, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{json, Value};

/// A running one; it is ended when this is dropped.
pub struct Sidecar {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    requests: u64,
}

/// Where it runs.
pub struct Place<'a> {
    /// Its home, with nothing of the person's in it.
    pub home: &'a Path,
    /// The workspace.
    pub workspace: &'a Path,
    /// The model's server.
    pub base_url: &'a str,
}

fn missing(what: &str) -> Error {
    Error::other(format!("the sidecar has no {what}"))
}

impl Sidecar {
    /// Starts a program and waits for its answer to `initialize`.
    pub fn start(program: &Path, arguments: &[&str], place: &Place<'_>) -> Result<Self> {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", place.home)
            .env("ANTHROPIC_API_KEY", "bench-key")
            .env("ANTHROPIC_BASE_URL", place.base_url)
            .current_dir(place.workspace)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| {
            Error::other(format!(
                "{}: {error}; tests/bench/run builds it",
                program.display()
            ))
        })?;
        let input = child.stdin.take().ok_or_else(|| missing("input"))?;
        let output = child.stdout.take().ok_or_else(|| missing("output"))?;
        let mut sidecar = Self {
            child,
            input,
            output: BufReader::new(output),
            requests: 0,
        };
        let uri = format!("file://{}", place.workspace.display());
        sidecar.request(
            "initialize",
            &json!({
                "processId": std::process::id(), "rootUri": uri, "capabilities": {},
                "workspaceFolders": [{"uri": uri, "name": "bench"}],
                "initializationOptions": {"toolgate": {"protocol": 1, "ui": {"permission": true}}},
            }),
        )?;
        Ok(sidecar)
    }

    /// Sends a request and waits for its result.
    pub fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let frame: Value = serde_json::from_slice(&self.frame()?)?;
            if frame["id"] == id && frame.get("method").is_none() {
                return match frame.get("result") {
                    Some(result) => Ok(result.clone()),
                    None => Err(Error::other(format!("{method}: {}", frame["error"]))),
                };
            }
        }
    }

    /// Sends a prompt and waits until its turn has ended as it should.
    pub fn turn(&mut self, session: &Value) -> Result<()> {
        self.requests += 1;
        self.send(&json!({
            "jsonrpc": "2.0", "id": self.requests, "method": "toolgate/session/prompt",
            "params": {"sessionId": session, "content": [{"type": "text", "text": "Go."}]},
        }))?;
        loop {
            let frame = self.frame()?;
            if holds(&frame, b"\"turn_ended\"") {
                if holds(&frame, b"\"end_turn\"") {
                    return Ok(());
                }
                let text = String::from_utf8_lossy(&frame).into_owned();
                return Err(Error::other(format!("the turn failed: {text}")));
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let body = message.to_string();
        let frame = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.input.write_all(frame.as_bytes())
    }

    fn frame(&mut self) -> Result<Vec<u8>> {
        let mut length = 0;
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line)? == 0 {
                return Err(Error::other("the sidecar closed its output"));
            }
            if line == "\r\n" {
                break;
            }
            if let Some(value) = line.strip_prefix("Content-Length:") {
                length = value.trim().parse().map_err(Error::other)?;
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body)?;
        Ok(body)
    }

    /// Resident memory in MB (10^6 bytes).
    pub fn resident(&self) -> Result<f64> {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path)?;
        let kilobytes = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .and_then(|rest| rest.split_whitespace().next())
            .and_then(|text| text.parse::<f64>().ok());
        kilobytes
            .map(|number| number * 1024.0 / 1e6)
            .ok_or_else(|| missing("VmRSS line"))
    }
}

impl Drop for Sidecar {
    fn drop(&mut self) {
        // It may be gone already; there is nothing to do about it then.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn holds(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

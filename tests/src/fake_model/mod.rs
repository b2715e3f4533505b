//! The fake model: a server of the Messages API that plays a script, faults included.
//!
//! It checks each request strictly (`check`), so that whoever talks to it is held to the rules of
//! the real server. It must never repair or overlook what a client gets wrong.
//!
//! Doors beside `POST /v1/messages`: `POST /control/release/NAME` lets a held response go on (also
//! one that will be held later), `GET /control/requests` counts the model requests,
//! `GET /control/held` lists the names that hold one back now.

mod check;
mod http;
mod play;
mod serve;
mod state;

use std::io::Result;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use toolgate::provider::script::Script;

use state::State;

pub use check::request as check_request;

/// A running fake model; it ends when this is dropped.
#[derive(Debug)]
pub struct FakeModel {
    /// Where it is: `http://127.0.0.1:PORT`.
    pub base_url: String,
    state: Arc<State>,
    serving: JoinHandle<()>,
}

impl FakeModel {
    /// Starts on a free port of the loopback.
    pub async fn start(script: Script) -> Result<Self> {
        Self::start_at(script, 0, None).await
    }

    /// Starts on this port (0: a free one); `log` is a folder that gets each request's body.
    pub async fn start_at(script: Script, port: u16, log: Option<PathBuf>) -> Result<Self> {
        if let Some(log) = &log {
            std::fs::create_dir_all(log)?;
        }
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
        let base_url = format!("http://{}", listener.local_addr()?);
        let state = Arc::new(State::new(script, log));
        let serving = tokio::spawn(serve(listener, Arc::clone(&state)));
        Ok(Self {
            base_url,
            state,
            serving,
        })
    }

    /// Serves until it is stopped from outside.
    pub async fn serve(mut self) {
        // It ends only by a panic of the accepting task, and then there is nothing left to serve.
        let _ = (&mut self.serving).await;
    }

    /// Bodies of the model requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.state.seen(|seen| seen.bodies.clone())
    }

    /// Heads of the model requests so far.
    pub fn heads(&self) -> Vec<String> {
        self.state.seen(|seen| seen.heads.clone())
    }

    /// What was wrong with the requests that were refused.
    pub fn invalid(&self) -> Vec<String> {
        self.state.seen(|seen| seen.invalid.clone())
    }

    /// How many connections were accepted so far.
    pub fn connections(&self) -> usize {
        self.state.seen(|seen| seen.connections)
    }

    /// Waits until so many model requests have come.
    pub async fn until_requests(&self, count: usize) {
        self.state.until(|seen| seen.bodies.len() >= count).await;
    }

    /// Waits until a response is held under this name.
    pub async fn until_held(&self, name: &str) {
        let held = |seen: &state::Seen| seen.held.iter().any(|held| held == name);
        self.state.until(held).await;
    }

    /// Waits until no response is held under this name: it was released, or its client left.
    pub async fn until_let_go(&self, name: &str) {
        let free = |seen: &state::Seen| seen.held.iter().all(|held| held != name);
        self.state.until(free).await;
    }

    /// Lets a held response go on.
    pub fn release(&self, name: &str) {
        self.state.release(name);
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Accepts until it is aborted; its connections end with it.
async fn serve(listener: TcpListener, state: Arc<State>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    state.connected();
                    // A connection that breaks is the client's business, seen by the client.
                    connections.spawn(serve::connection(stream, Arc::clone(&state)));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

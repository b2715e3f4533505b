//! What one fake model has seen and played; all its connections share it.
//!
//! It must never play one response twice, whatever number of clients ask at once.

use std::collections::BTreeMap;
use std::io::Result;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{watch, Semaphore};
use toolgate::provider::script::{Response, Script};

use super::check;
use super::http::Request;

/// What was seen so far.
#[derive(Debug, Default)]
pub struct Seen {
    /// Bodies of the model requests, the refused ones included.
    pub bodies: Vec<String>,
    /// Their heads.
    pub heads: Vec<String>,
    /// What was wrong with those that were refused.
    pub invalid: Vec<String>,
    /// Names under which an answer waits now.
    pub held: Vec<String>,
    /// Responses played.
    pub played: u64,
    /// Connections accepted.
    pub connections: usize,
}

/// What a request gets.
#[derive(Debug)]
pub enum Turn {
    /// A response of the script.
    Play {
        /// It.
        response: Box<Response>,
        /// Its number, from 0.
        played: u64,
    },
    /// It breaks a rule: this one.
    Refused(String),
}

/// The state of one fake model.
#[derive(Debug)]
pub struct State {
    script: Script,
    log: Option<PathBuf>,
    seen: watch::Sender<Seen>,
    releases: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

impl State {
    /// Nothing seen, nothing played.
    pub fn new(script: Script, log: Option<PathBuf>) -> Self {
        Self {
            script,
            log,
            seen: watch::Sender::new(Seen::default()),
            releases: Mutex::default(),
        }
    }

    /// Looks at what was seen.
    pub fn seen<T>(&self, look: impl FnOnce(&Seen) -> T) -> T {
        look(&self.seen.borrow())
    }

    /// Waits until what was seen fits.
    pub async fn until(&self, fits: impl FnMut(&Seen) -> bool) {
        // The sender lives as long as this state: the wait cannot fail.
        let _ = self.seen.subscribe().wait_for(fits).await;
    }

    /// Counts a connection.
    pub fn connected(&self) {
        self.seen.send_modify(|seen| seen.connections += 1);
    }

    /// Records a model request and takes the next response for it.
    pub fn take(&self, request: &Request) -> Result<Turn> {
        let mut turn = Turn::Refused(String::new());
        let mut number = 0;
        self.seen.send_modify(|seen| {
            seen.bodies.push(request.body.clone());
            seen.heads.push(request.head.clone());
            number = seen.bodies.len();
            turn = self.judge(request, seen.played);
            match &turn {
                Turn::Play { .. } => seen.played += 1,
                Turn::Refused(why) => seen.invalid.push(format!("request {number}: {why}")),
            }
        });
        if let Turn::Refused(why) = &turn {
            eprintln!("invalid: request {number}: {why}");
        }
        if let Some(log) = &self.log {
            std::fs::write(log.join(format!("request-{number:03}.json")), &request.body)?;
            if let Turn::Refused(why) = &turn {
                let path = log.join(format!("request-{number:03}.invalid"));
                std::fs::write(path, format!("invalid: {why}\n"))?;
            }
        }
        Ok(turn)
    }

    fn judge(&self, request: &Request, played: u64) -> Turn {
        if let Err(why) = check::request(&request.body) {
            return Turn::Refused(why);
        }
        let Some(response) = self.script.response(played) else {
            return Turn::Refused("the script has no response left".to_owned());
        };
        if let Some(missing) = response.missing(&request.body) {
            return Turn::Refused(format!(
                "the script expects a request that holds {missing:?}"
            ));
        }
        Turn::Play {
            response: Box::new(response.clone()),
            played,
        }
    }

    /// Waits for a release of this name, one that came before included.
    pub async fn hold(&self, name: &str) {
        let release = self.release_of(name);
        self.seen
            .send_modify(|seen| seen.held.push(name.to_owned()));
        if let Ok(permit) = release.acquire().await {
            permit.forget();
        }
        self.let_go(name);
    }

    /// Forgets that an answer waits under this name.
    pub fn let_go(&self, name: &str) {
        self.seen.send_modify(|seen| {
            if let Some(at) = seen.held.iter().position(|held| held == name) {
                seen.held.remove(at);
            }
        });
    }

    /// Lets one answer go on that waits, or will wait, under this name.
    pub fn release(&self, name: &str) {
        self.release_of(name).add_permits(1);
    }

    fn release_of(&self, name: &str) -> Arc<Semaphore> {
        let mut releases = self.releases.lock().unwrap_or_else(PoisonError::into_inner);
        let release = releases
            .entry(name.to_owned())
            .or_insert_with(|| Arc::new(Semaphore::new(0)));
        Arc::clone(release)
    }
}

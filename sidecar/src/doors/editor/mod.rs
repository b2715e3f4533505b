//! The editor's door: the only module that knows tower-lsp (spec: architecture.md, "tower-lsp,
//! lived with"; crates.md sections 2 and 3).
//!
//! A frame pump stands before tower-lsp and a guard around it, because bare it ends on a malformed
//! frame, never exits on `exit` with stdin open, and dies of a handler's panic. Handlers put one
//! value into the inbox before any `.await` and never wait for a model, a tool or a person.
//! Requests to the editor run in tasks of their own that are never aborted, because a late answer
//! to an abandoned one is a panic.

mod pump;
mod guard;
mod hands;
mod outgoing;
mod server;
mod watched;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::{oneshot, watch};

use crate::crew::inbox::Input;
use crate::doors::start::Flags;

/// How long the program may take to let go of what runs, once the editor is gone.
const GRACE: Duration = Duration::from_millis(1_200);

/// Serves an editor over standard input and output until it is gone. The caller ends the process
/// then: standard input's reader cannot be stopped.
pub async fn serve(flags: Flags) {
    let (ended, mut end) = watch::channel(false);
    let ended = Arc::new(ended);
    let shared = server::Shared::new(flags);
    let (service, socket) = server::service(Arc::clone(&shared));
    let guarded = guard::Guard::new(service, Arc::clone(&shared), Arc::clone(&ended));
    let (pipe_in, pipe_out) = tokio::io::duplex(1024 * 1024);
    tokio::spawn(pump::run(tokio::io::stdin(), pipe_in, Arc::clone(&ended)));
    let stdout = watched::Watched::new(tokio::io::stdout(), Arc::clone(&ended));
    let server = tower_lsp::Server::new(pipe_out, stdout, socket)
        .concurrency_level(4096)
        .serve(guarded);
    tokio::select! {
        // An editor that no longer reads makes tower-lsp panic; that is an end like any other.
        _ = AssertUnwindSafe(server).catch_unwind() => {}
        // The sender lives in `ended`: this resolves only when the end is told.
        _ = end.wait_for(|over| *over) => {}
        () = shared.parent_gone() => {}
    }
    if let Some(inbox) = shared.inbox() {
        let (done, finished) = oneshot::channel();
        inbox.put(Input::Shutdown(done));
        // Whether it finished or ran out of time: what can be done was done.
        let _ = tokio::time::timeout(GRACE, finished).await;
    }
}

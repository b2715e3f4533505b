//! Standard output as tower-lsp writes it, watched: when the editor no longer reads, the sidecar
//! ends. tower-lsp itself only logs that, and would serve nobody for ever.

use std::io::Result;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;
use tokio::sync::watch;

/// A writer whose first error ends the program.
pub struct Watched<W> {
    inner: W,
    ended: Arc<watch::Sender<bool>>,
}

impl<W> Watched<W> {
    /// Watches this writer.
    pub fn new(inner: W, ended: Arc<watch::Sender<bool>>) -> Self {
        Self { inner, ended }
    }

    fn seen<T>(&self, poll: Poll<Result<T>>) -> Poll<Result<T>> {
        if let Poll::Ready(Err(error)) = &poll {
            tracing::error!("the editor no longer reads: {error}");
            self.ended.send_replace(true);
        }
        poll
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Watched<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        let poll = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.seen(poll)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let poll = Pin::new(&mut self.inner).poll_flush(context);
        self.seen(poll)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

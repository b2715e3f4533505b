//! The guard around tower-lsp's service: a handler's panic becomes an error for that request
//! alone, a request that nobody answered gets -32601, `exit` ends the program, and `initialize`
//! is kept as it came and passed on without the capabilities whose words tower-lsp may not know.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::FutureExt;
use serde_json::{json, Value};
use tokio::sync::watch;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};
use tower_service::Service;

use super::pump::FAULT;
use super::server::Shared;

/// The guard.
pub struct Guard<S> {
    inner: S,
    shared: Arc<Shared>,
    ended: Arc<watch::Sender<bool>>,
}

impl<S> Guard<S> {
    /// A guard around a service.
    pub fn new(inner: S, shared: Arc<Shared>, ended: Arc<watch::Sender<bool>>) -> Self {
        Self {
            inner,
            shared,
            ended,
        }
    }
}

type Answer<E> = Pin<Box<dyn std::future::Future<Output = Result<Option<Response>, E>> + Send>>;

impl<S> Service<Request> for Guard<S>
where
    S: Service<Request, Response = Option<Response>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Option<Response>;
    type Error = S::Error;
    type Future = Answer<S::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        if request.method() == "exit" {
            self.ended.send_replace(true);
        }
        if request.method() == FAULT {
            let answer = fault(&request);
            return Box::pin(async move { Ok(answer) });
        }
        let request = match request.method() {
            "initialize" => self.initialize(request),
            // Some clients write `null` where there is nothing to say.
            _ if request.params() == Some(&Value::Null) => without_params(&request),
            _ => request,
        };
        let id = request.id().cloned();
        let method = request.method().to_owned();
        let future = AssertUnwindSafe(self.inner.call(request)).catch_unwind();
        Box::pin(async move {
            match future.await {
                Ok(Ok(None)) => Ok(id.map(|id| unanswered(id, &method))),
                Ok(answer) => answer,
                Err(_) => Ok(id.map(|id| panicked(id, &method))),
            }
        })
    }
}

impl<S> Guard<S> {
    /// Keeps `initialize` as it came; what is passed on says only who and where.
    fn initialize(&self, request: Request) -> Request {
        let params = request.params().cloned().unwrap_or_default();
        let mut passed = json!({ "capabilities": {} });
        for field in ["processId", "rootUri", "workspaceFolders"] {
            if let Some(value) = params.get(field) {
                passed[field] = value.clone();
            }
        }
        self.shared.keep_initialize(params);
        let mut built = Request::build("initialize").params(passed);
        if let Some(id) = request.id() {
            built = built.id(id.clone());
        }
        built.finish()
    }
}

fn without_params(request: &Request) -> Request {
    let built = Request::build(request.method().to_owned());
    match request.id() {
        Some(id) => built.id(id.clone()).finish(),
        None => built.finish(),
    }
}

/// The error of a body that was no message.
fn fault(request: &Request) -> Option<Response> {
    let code = request.params().and_then(|params| params[0].as_i64());
    let error = match code {
        Some(-32700) => Error::parse_error(),
        _ => Error::invalid_request(),
    };
    let id = request.id().cloned()?;
    Some(Response::from_error(id, error))
}

fn unanswered(id: Id, method: &str) -> Response {
    let mut error = Error::method_not_found();
    error.data = Some(Value::from(method));
    Response::from_error(id, error)
}

fn panicked(id: Id, method: &str) -> Response {
    let mut error = Error::new(ErrorCode::InternalError);
    error.message = format!("{method} failed inside Toolgate; nothing else is affected").into();
    Response::from_error(id, error)
}

//! What kind of failure a server's refusal or a broken connection is.
//!
//! Words of servers are shown to a person: they are shortened and stripped of control characters
//! here. A kind must never be more hopeful than what is known: what a retry cannot mend is not
//! retried.

use std::error::Error;
use std::io::ErrorKind;

use serde::Deserialize;
use toolgate_core::event::{Failure, FailureKind};

use super::stream::failure;

/// Most characters of a server's own words.
const WORDS_CAP: usize = 2_000;

/// The object of an error, in a body or in a stream.
#[derive(Deserialize)]
struct ErrorBody {
    error: ErrorObject,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct ErrorObject {
    #[serde(rename = "type")]
    kind: String,
    message: String,
}

/// A status that is not 200.
pub fn of_status(status: u16, body: &str, retry_after_ms: Option<u64>) -> Failure {
    let object = serde_json::from_str::<ErrorBody>(body).map(|body| body.error);
    let words = match object {
        Ok(object) if !object.message.is_empty() => clean(&object.message),
        _ => clean(body),
    };
    let kind = match status {
        401 | 403 => FailureKind::Auth,
        413 => FailureKind::TooLong,
        400 if says_too_long(&words) => FailureKind::TooLong,
        408 | 409 | 425 | 429 | 500..=599 => FailureKind::Overloaded,
        _ => FailureKind::BadRequest,
    };
    let what = match kind {
        FailureKind::Auth => "the provider refuses the key",
        FailureKind::TooLong => "the request is too long for the model",
        FailureKind::Overloaded => "the provider cannot answer now",
        FailureKind::BadRequest
        | FailureKind::Transport
        | FailureKind::Protocol
        | FailureKind::Script => "the provider refuses the request",
    };
    let colon = if words.is_empty() { "" } else { ": " };
    Failure {
        kind,
        text: format!("{what} (HTTP {status}){colon}{words}"),
        retry_after_ms,
    }
}

/// An `error` event in a stream that began well.
pub fn of_event(data: &str) -> Failure {
    let Ok(ErrorBody { error }) = serde_json::from_str(data) else {
        return failure(
            FailureKind::Protocol,
            "the provider sent an unreadable error",
        );
    };
    let kind = match error.kind.as_str() {
        "authentication_error" | "permission_error" | "billing_error" => FailureKind::Auth,
        "request_too_large" => FailureKind::TooLong,
        "invalid_request_error" if says_too_long(&error.message) => FailureKind::TooLong,
        "invalid_request_error" | "not_found_error" => FailureKind::BadRequest,
        // The rest is the server's own trouble, by its name or for lack of another.
        _ => FailureKind::Overloaded,
    };
    let (name, words) = (clean(&error.kind), clean(&error.message));
    failure(kind, format!("the provider broke off ({name}): {words}"))
}

/// A connection that failed or broke; `origin` is the server, without any secret.
pub fn of_transport(error: &(dyn Error + 'static), origin: &str) -> Failure {
    let mut deepest = error;
    let mut io_kind = None;
    let mut texts = error.to_string();
    while let Some(source) = deepest.source() {
        deepest = source;
        texts.push_str(" / ");
        texts.push_str(&source.to_string());
        // An io error may only wrap one of TLS: the deepest that has a kind of its own counts.
        if let Some(io) = source.downcast_ref::<std::io::Error>() {
            io_kind = Some(io.kind())
                .filter(|kind| *kind != ErrorKind::Other)
                .or(io_kind);
        }
    }
    let what = match io_kind {
        Some(ErrorKind::ConnectionRefused) => "connection refused",
        Some(ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) => "connection reset",
        Some(ErrorKind::ConnectionAborted) => "connection aborted",
        Some(ErrorKind::UnexpectedEof) => "the answer was cut",
        Some(ErrorKind::TimedOut) => "timed out",
        _ if texts.contains("operation timed out") => "timed out",
        _ if texts.contains("dns error") => "the name of the server cannot be resolved",
        _ if texts.contains("certificate") => "the server's certificate is not trusted",
        _ if texts.contains("incomplete message") => "the answer was cut",
        _ if texts.contains("error reading a body")
            || texts.contains("request or response body") =>
        {
            "the answer was cut"
        }
        _ => "the connection failed",
    };
    let detail = clean(&deepest.to_string());
    failure(
        FailureKind::Transport,
        format!("{origin}: {what} ({detail})"),
    )
}

fn says_too_long(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    [
        "prompt is too long",
        "context limit",
        "context window",
        "maximum context length",
    ]
    .iter()
    .any(|sign| words.contains(sign))
}

/// A server's words, fit to be shown.
pub fn clean(words: &str) -> String {
    let mut clean: String = words
        .trim()
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(WORDS_CAP + 1)
        .collect();
    if clean.chars().count() > WORDS_CAP {
        clean.pop();
        clean.push('…');
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_has_its_kind() {
        let kind = |status, message: &str| {
            let body = format!("{{\"type\":\"error\",\"error\":{{\"message\":{message:?}}}}}");
            of_status(status, &body, None).kind
        };
        for status in [408, 409, 429, 500, 502, 529, 599] {
            assert_eq!(kind(status, "x"), FailureKind::Overloaded);
        }
        assert_eq!(kind(401, "x"), FailureKind::Auth);
        assert_eq!(kind(403, "x"), FailureKind::Auth);
        assert_eq!(kind(413, "x"), FailureKind::TooLong);
        assert_eq!(kind(400, "prompt is too long: 9 > 8"), FailureKind::TooLong);
        assert_eq!(kind(400, "x"), FailureKind::BadRequest);
        assert_eq!(kind(404, "x"), FailureKind::BadRequest);
        assert_eq!(kind(302, "x"), FailureKind::BadRequest);
    }

    #[test]
    fn a_servers_words_are_shortened_and_stripped() {
        let body = format!("\u{1b}[31m<html>{}", "x".repeat(10_000));
        let text = of_status(502, &body, Some(5)).text;
        assert!(text.starts_with("the provider cannot answer now (HTTP 502):  [31m<html>x"));
        assert!(text.chars().count() < WORDS_CAP + 100, "{}", text.len());
    }

    #[test]
    fn an_error_event_has_its_kind() {
        let kind = |name: &str| {
            of_event(&format!(
                "{{\"type\":\"error\",\"error\":{{\"type\":{name:?}}}}}"
            ))
            .kind
        };
        assert_eq!(kind("overloaded_error"), FailureKind::Overloaded);
        assert_eq!(kind("api_error"), FailureKind::Overloaded);
        assert_eq!(kind("rate_limit_error"), FailureKind::Overloaded);
        assert_eq!(kind("authentication_error"), FailureKind::Auth);
        assert_eq!(kind("invalid_request_error"), FailureKind::BadRequest);
        assert_eq!(kind("request_too_large"), FailureKind::TooLong);
        assert_eq!(of_event("{}").kind, FailureKind::Protocol);
    }
}

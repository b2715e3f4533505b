//! The bytes of a request: kept parts, one after the other.
//!
//! The history is never serialised again and never copied as a whole (law 9): only the head is
//! made here. Both providers use it, so that a script's expectation is checked against the very
//! text that a server would get.

use std::sync::Arc;

use toolgate_core::command::Request;
use toolgate_core::message::{quote, Part};

/// The parts of the request's body, in order.
///
/// Everything but the closing brackets is a prefix of the next request's body, as long as model,
/// limit, tools and system stay the same.
pub fn parts(request: &Request) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::with_capacity(request.messages.len() + 6);
    parts.push(Arc::from(format!(
        "{{\"model\":{},\"max_tokens\":{},\"stream\":true,\"cache_control\":{{\"type\":\"ephemeral\"}}",
        quote(&request.model),
        request.max_tokens
    )));
    for (name, array) in [("tools", &request.tools), ("system", &request.system)] {
        if array.trim() != "[]" {
            parts.push(Arc::from(format!(",\"{name}\":")));
            parts.push(Arc::clone(array));
        }
    }
    parts.push(Arc::from(",\"messages\":["));
    parts.extend(request.messages.iter().map(Arc::clone));
    parts.push(Arc::from("]}"));
    parts
}

/// The body as one text, for those who must search in it.
pub fn text(request: &Request) -> String {
    parts(request).iter().map(|part| part.as_ref()).collect()
}

//! The strict reading of a model request: the pairing of calls and results above all.
//!
//! It knows the rules of the Messages API from outside and shares no code with the product's
//! request builder, else both could be wrong together. It must never accept what a real server
//! refuses; where servers differ it takes the stricter side.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// What may stand at the top of a request.
const FIELDS: [&str; 13] = [
    "model",
    "max_tokens",
    "stream",
    "cache_control",
    "tools",
    "system",
    "messages",
    "thinking",
    "temperature",
    "tool_choice",
    "metadata",
    "stop_sequences",
    "context_management",
];

/// What may stand in a tool's definition.
const TOOL_FIELDS: [&str; 7] = [
    "type",
    "name",
    "description",
    "input_schema",
    "strict",
    "defer_loading",
    "cache_control",
];

/// Checks a request's body; the error says where it breaks which rule.
pub fn request(body: &str) -> Result<(), String> {
    let value: Value =
        serde_json::from_str(body).map_err(|error| format!("the body is not JSON: {error}"))?;
    let body = object(&value, "the body")?;
    only(body, &FIELDS, "the body")?;
    let model = body.get("model").and_then(Value::as_str);
    rule(model.is_some_and(|model| !model.is_empty()), || {
        "model: a name is needed".into()
    })?;
    let most = body.get("max_tokens").and_then(Value::as_u64);
    rule(most.is_some_and(|most| most > 0), || {
        "max_tokens: a positive whole number is needed".into()
    })?;
    rule(body.get("stream") == Some(&Value::Bool(true)), || {
        "stream: this server only streams".into()
    })?;
    rule(cache_marks(&value) <= 4, || {
        "cache_control: more than 4 marks".into()
    })?;
    if let Some(system) = body.get("system") {
        content(system, "system", &mut |block, at| {
            rule(kind(block) == "text", || format!("{at}: only text"))?;
            text(block, at)
        })?;
    }
    if let Some(list) = body.get("tools") {
        tools(list)?;
    }
    let used = messages(body.get("messages").unwrap_or(&Value::Null))?;
    rule(!used || body.contains_key("tools"), || {
        "tools: messages with calls need them".into()
    })
}

/// Checks the messages; tells whether there are calls.
fn messages(list: &Value) -> Result<bool, String> {
    let list = list.as_array().filter(|list| !list.is_empty());
    let list = list.ok_or("messages: at least one is needed")?;
    let mut ids = BTreeSet::new();
    let mut open: Vec<String> = Vec::new();
    for (index, message) in list.iter().enumerate() {
        let at = format!("messages.{index}");
        let message = object(message, &at)?;
        only(message, &["role", "content"], &at)?;
        let blocks = message.get("content").unwrap_or(&Value::Null);
        let role = message.get("role").and_then(Value::as_str);
        match role {
            Some("user") => user(blocks, &at, std::mem::take(&mut open))?,
            Some("assistant") => {
                rule(index > 0, || {
                    format!("{at}: the first message is the user's")
                })?;
                rule(open.is_empty(), || unanswered(&at, &open))?;
                open = assistant(blocks, &at, &mut ids)?;
            }
            other => return Err(format!("{at}.role: {other:?} is not user or assistant")),
        }
        let last = index + 1 == list.len();
        let paused = blocks.as_array().and_then(|blocks| blocks.last());
        let paused = paused.is_some_and(|block| kind(block) == "server_tool_use");
        rule(!last || role == Some("user") || paused, || {
            format!("{at}: the last message must be the user's")
        })?;
    }
    rule(open.is_empty(), || unanswered("messages", &open))?;
    Ok(!ids.is_empty())
}

fn unanswered(at: &str, open: &[String]) -> String {
    format!("{at}: tool_use without a tool_result in the next message: {open:?}")
}

/// A message of the user: first the results of the calls before it, in their order.
fn user(blocks: &Value, at: &str, open: Vec<String>) -> Result<(), String> {
    let mut waiting = open.into_iter();
    let mut results_over = false;
    content(blocks, at, &mut |block, at| match kind(block) {
        "tool_result" => {
            rule(!results_over, || {
                format!("{at}: results come before all other blocks")
            })?;
            let id = block.get("tool_use_id").and_then(Value::as_str);
            let wanted = waiting.next();
            rule(id.is_some() && id == wanted.as_deref(), || {
                format!("{at}: tool_result of {id:?}, but the call to answer is {wanted:?}")
            })?;
            result(block, at)
        }
        "text" => {
            results_over = true;
            text(block, at)
        }
        "image" => {
            results_over = true;
            image(block, at)
        }
        other => Err(format!("{at}: a user's message holds no {other:?}")),
    })?;
    let left: Vec<_> = waiting.collect();
    rule(left.is_empty(), || unanswered(at, &left))
}

/// A result: not empty, and only text when it is an error.
fn result(block: &Value, at: &str) -> Result<(), String> {
    let fields = object(block, at)?;
    let names = [
        "type",
        "tool_use_id",
        "content",
        "is_error",
        "cache_control",
    ];
    only(fields, &names, at)?;
    let is_error = match fields.get("is_error") {
        None => false,
        Some(Value::Bool(is_error)) => *is_error,
        Some(other) => return Err(format!("{at}.is_error: {other} is not a boolean")),
    };
    let inner = fields.get("content").unwrap_or(&Value::Null);
    content(inner, at, &mut |block, at| match kind(block) {
        "text" => text(block, at),
        "image" if !is_error => image(block, at),
        "tool_reference" if !is_error => Ok(()),
        other => Err(format!("{at}: this result holds no {other:?}")),
    })
}

/// A message of the model; gives the ids of its calls.
fn assistant(blocks: &Value, at: &str, ids: &mut BTreeSet<String>) -> Result<Vec<String>, String> {
    let mut open = Vec::new();
    content(blocks, at, &mut |block, at| {
        let field = |name: &str| block.get(name).and_then(Value::as_str);
        match kind(block) {
            "text" => text(block, at),
            "thinking" => rule(
                field("thinking").is_some() && field("signature").is_some(),
                || format!("{at}: thinking without its signature"),
            ),
            "redacted_thinking" => rule(field("data").is_some(), || format!("{at}: no data")),
            "tool_use" => {
                only(
                    object(block, at)?,
                    &["type", "id", "name", "input", "cache_control"],
                    at,
                )?;
                let id = field("id").unwrap_or_default();
                rule(is_name(id, usize::MAX), || {
                    format!("{at}.id: {id:?} does not match ^[a-zA-Z0-9_-]+$")
                })?;
                let name = field("name").unwrap_or_default();
                rule(is_name(name, 200), || {
                    format!("{at}.name: {name:?} does not match ^[a-zA-Z0-9_-]{{1,200}}$")
                })?;
                rule(block.get("input").is_some_and(Value::is_object), || {
                    format!("{at}.input: not an object")
                })?;
                open.push(id.to_owned());
                rule(ids.insert(id.to_owned()), || {
                    format!("{at}.id: {id:?} stands twice")
                })
            }
            // Blocks of server tools and of later versions go back as they came.
            "" => Err(format!("{at}: a block without a type")),
            "tool_result" | "image" => Err(format!("{at}: not in the model's message")),
            _ => Ok(()),
        }
    })?;
    Ok(open)
}

/// Checks a content: a text, or blocks.
fn content(
    value: &Value,
    at: &str,
    check: &mut dyn FnMut(&Value, &str) -> Result<(), String>,
) -> Result<(), String> {
    match value {
        Value::String(text) => rule(!text.trim().is_empty(), || {
            format!("{at}.content: the text is empty")
        }),
        Value::Array(blocks) if !blocks.is_empty() => blocks
            .iter()
            .enumerate()
            .try_for_each(|(index, block)| check(block, &format!("{at}.content.{index}"))),
        Value::Array(_) => Err(format!("{at}.content: no block")),
        _ => Err(format!("{at}.content: neither text nor blocks")),
    }
}

fn text(block: &Value, at: &str) -> Result<(), String> {
    let text = block.get("text").and_then(Value::as_str);
    rule(text.is_some_and(|text| !text.trim().is_empty()), || {
        format!("{at}.text: text must not be blank")
    })
}

fn image(block: &Value, at: &str) -> Result<(), String> {
    let field = |name| block.pointer(name).and_then(Value::as_str);
    let media = field("/source/media_type").unwrap_or_default();
    let known = ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(&media);
    let data = field("/source/data").unwrap_or_default();
    rule(known && !data.is_empty(), || {
        format!("{at}.source: no image of a known type")
    })
}

fn tools(list: &Value) -> Result<(), String> {
    let list = list.as_array().ok_or("tools: not an array")?;
    let mut names = BTreeSet::new();
    for (index, tool) in list.iter().enumerate() {
        let at = format!("tools.{index}");
        let fields = object(tool, &at)?;
        only(fields, &TOOL_FIELDS, &at)?;
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        rule(is_name(name, 128), || {
            format!("{at}.name: {name:?} does not match ^[a-zA-Z0-9_-]{{1,128}}$")
        })?;
        rule(names.insert(name), || {
            format!("{at}.name: {name:?} stands twice")
        })?;
        let described = tool.get("description").and_then(Value::as_str);
        rule(described.is_some_and(|text| !text.is_empty()), || {
            format!("{at}.description: a text is needed")
        })?;
        let schema = object(tool.get("input_schema").unwrap_or(&Value::Null), &at)?;
        rule(schema.get("type") == Some(&"object".into()), || {
            format!("{at}.input_schema.type: must be object")
        })?;
        for word in ["oneOf", "anyOf", "allOf"] {
            rule(!schema.contains_key(word), || {
                format!("{at}.input_schema: no {word} at the top")
            })?;
        }
    }
    Ok(())
}

/// Counts cache marks, wherever they stand.
fn cache_marks(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields
            .iter()
            // An input may hold any key; it carries no marks.
            .filter(|(name, _)| !["input", "input_schema"].contains(&name.as_str()))
            .map(|(name, value)| usize::from(name == "cache_control") + cache_marks(value))
            .sum(),
        Value::Array(items) => items.iter().map(cache_marks).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn kind(block: &Value) -> &str {
    block
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn is_name(text: &str, longest: usize) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !text.is_empty() && text.len() <= longest && text.chars().all(fits)
}

fn object<'a>(value: &'a Value, at: &str) -> Result<&'a Map<String, Value>, String> {
    value
        .as_object()
        .ok_or_else(|| format!("{at}: not an object"))
}

fn only(fields: &Map<String, Value>, known: &[&str], at: &str) -> Result<(), String> {
    let extra = fields.keys().find(|name| !known.contains(&name.as_str()));
    extra.map_or(Ok(()), |name| {
        Err(format!("{at}: {name:?} is not permitted here"))
    })
}

fn rule(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(what())
    }
}

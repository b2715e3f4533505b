//! The strict validator that every request passes before it is sent (law 1; spec:
//! architecture.md, rule 5).
//!
//! History is built so that it cannot be wrong; this says so, from the outside, over the bytes.

use std::collections::BTreeSet;

use serde_json::Value;

/// Checks the messages of a request: the text of the array without its brackets. The error names
/// the message and what is wrong with it.
pub fn validate(messages: &str) -> Result<(), String> {
    let parsed: Vec<Value> = serde_json::from_str(&format!("[{messages}]"))
        .map_err(|error| format!("not JSON: {error}"))?;
    let mut ids = BTreeSet::new();
    let mut owed: Vec<String> = Vec::new();
    for (index, message) in parsed.iter().enumerate() {
        let wrong = |what: String| Err(format!("message {index}: {what}"));
        let blocks = message["content"].as_array().cloned().unwrap_or_default();
        if blocks.is_empty() {
            return wrong("no content".to_owned());
        }
        match message["role"].as_str() {
            Some("user") => {
                let results = results_of(&blocks)?;
                if results != owed {
                    return wrong(format!("results {results:?} for calls {owed:?}"));
                }
                owed.clear();
            }
            Some("assistant") => {
                if !owed.is_empty() {
                    return wrong(format!("calls without results: {owed:?}"));
                }
                owed = calls_of(&blocks);
                if let Some(again) = owed.iter().find(|id| !ids.insert((*id).clone())) {
                    return wrong(format!("the id {again} is there twice"));
                }
            }
            other => return wrong(format!("role {other:?}")),
        }
        if blocks.iter().any(is_empty_text) {
            return wrong("an empty text block".to_owned());
        }
    }
    match parsed.last().map(|message| &message["role"]) {
        Some(role) if role == "user" => Ok(()),
        _ => Err("the last message is not the person's".to_owned()),
    }
}

fn calls_of(blocks: &[Value]) -> Vec<String> {
    let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
    calls
        .filter_map(|block| block["id"].as_str())
        .map(str::to_owned)
        .collect()
}

/// The results of a user message; they stand before anything else.
fn results_of(blocks: &[Value]) -> Result<Vec<String>, String> {
    let is_result = |block: &&Value| block["type"] == "tool_result";
    let leading = blocks.iter().take_while(is_result).count();
    if blocks.iter().filter(is_result).count() != leading {
        return Err("a result stands behind other blocks".to_owned());
    }
    let ids = blocks
        .iter()
        .take(leading)
        .filter_map(|block| block["tool_use_id"].as_str());
    Ok(ids.map(str::to_owned).collect())
}

fn is_empty_text(block: &Value) -> bool {
    block["type"] == "text"
        && block["text"]
            .as_str()
            .is_none_or(|text| text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(messages: &str, want: Result<(), &str>) {
        match (validate(messages), want) {
            (Ok(()), Ok(())) => {}
            (Err(text), Err(part)) => assert!(text.contains(part), "{text}"),
            (got, want) => panic!("{got:?} instead of {want:?}"),
        }
    }

    #[test]
    fn calls_are_answered_in_order_and_at_once() {
        let user = r#"{"role":"user","content":[{"type":"text","text":"hi"}]}"#;
        let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"R","input":{}},{"type":"tool_use","id":"b","name":"R","input":{}}]}"#;
        let result = |ids: [&str; 2]| {
            let blocks = ids
                .map(|id| format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"x"}}"#))
                .join(",");
            format!(r#"{{"role":"user","content":[{blocks}]}}"#)
        };
        check(user, Ok(()));
        check(&format!("{user},{call},{}", result(["a", "b"])), Ok(()));
        check(
            &format!("{user},{call},{}", result(["b", "a"])),
            Err("results"),
        );
        check(&format!("{user},{call},{user}"), Err("results"));
        check(&format!("{user},{call}"), Err("last message"));
        check(r#"{"role":"user","content":[]}"#, Err("no content"));
        check(
            r#"{"role":"user","content":[{"type":"text","text":" "}]}"#,
            Err("empty text"),
        );
    }
}

//! History as bytes that never change (law 9; spec: outcomes.md, "Prefix stability").
//!
//! The message form is that of the Anthropic Messages API, which the other providers translate.
//! Whatever enters history is serialised once and kept as a list of shared parts; a request sends
//! the parts and never serialises again. Only this module puts parts together, so that calls and
//! results are one value: an assistant message with calls is only ever followed by the message
//! that answers all of them, in order (law 1).

use std::collections::BTreeSet;
use std::sync::Arc;

/// Bytes of a request, fixed for ever.
pub type Part = Arc<str>;

/// A complete block of the model's answer, as received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssistantBlock {
    /// Text for the person.
    Text {
        /// The block, serialised.
        json: Part,
    },
    /// Thinking, with its signature: passed back unchanged.
    Thinking {
        /// The block, serialised.
        json: Part,
    },
    /// A call.
    ToolUse {
        /// The provider's id: data, perhaps repeated, perhaps hostile.
        id: String,
        /// The tool's name as the model wrote it.
        name: String,
        /// The input: the text of one JSON object, as received; `{}` when `fault` is there.
        input: Part,
        /// Why the input could not be parsed, quoting where it broke.
        fault: Option<String>,
    },
    /// Any other block: kept and passed back.
    Other {
        /// The block, serialised.
        json: Part,
    },
}

/// The messages of a session as bytes: grows at its end, is never changed.
#[derive(Clone, Debug, Default)]
pub struct History {
    parts: Arc<Vec<Part>>,
    messages: usize,
    ids: BTreeSet<String>,
}

impl History {
    /// The parts of the `messages` array, without its brackets.
    pub fn parts(&self) -> Arc<Vec<Part>> {
        Arc::clone(&self.parts)
    }

    /// How many messages there are.
    pub fn messages(&self) -> usize {
        self.messages
    }

    /// A provider's id that no call of this history has: a repeated or empty one gets a number,
    /// the same one every time, and characters that a provider would refuse are replaced.
    pub fn unique_id(&mut self, id: &str) -> String {
        let base = &clean(id, "call");
        let mut unique = base.to_owned();
        let mut number = 2;
        while self.ids.contains(&unique) {
            unique = format!("{base}_{number}");
            number += 1;
        }
        self.ids.insert(unique.clone());
        unique
    }

    /// Adds a message of the person: serialised blocks, at least one.
    pub fn push_user(&mut self, blocks: &[Part]) {
        self.push(
            "user",
            blocks.iter().map(|block| vec![Arc::clone(block)]).collect(),
        );
    }

    /// Adds the model's message; the ids of its calls must come from `unique_id`.
    pub fn push_assistant(&mut self, blocks: Vec<Vec<Part>>) {
        self.push("assistant", blocks);
    }

    fn push(&mut self, role: &str, blocks: Vec<Vec<Part>>) {
        if blocks.is_empty() {
            return;
        }
        let comma = if self.messages == 0 { "" } else { "," };
        let parts = Arc::make_mut(&mut self.parts);
        parts.push(Arc::from(format!(
            "{comma}{{\"role\":\"{role}\",\"content\":["
        )));
        for (index, block) in blocks.into_iter().enumerate() {
            if index > 0 {
                parts.push(Arc::from(","));
            }
            parts.extend(block);
        }
        parts.push(Arc::from("]}"));
        self.messages += 1;
    }
}

/// A name or id as providers take it: one with other characters in it would be refused in every
/// later request. `instead` is for an empty one.
pub fn clean(name: &str, instead: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let text: String = name
        .chars()
        .take(64)
        .map(|c| if fits(c) { c } else { '_' })
        .collect();
    if text.is_empty() {
        instead.to_owned()
    } else {
        text
    }
}

/// The parts of a `tool_use` block. The input is shared, not copied.
pub fn tool_use(id: &str, name: &str, input: &Part) -> Vec<Part> {
    let head = format!(
        "{{\"type\":\"tool_use\",\"id\":{},\"name\":{},\"input\":",
        quote(id),
        quote(&clean(name, "unknown"))
    );
    vec![Arc::from(head), Arc::clone(input), Arc::from("}")]
}

/// A text block; the empty text, which providers refuse, becomes a blank mark.
pub fn text_block(text: &str) -> Part {
    let text = if text.trim().is_empty() {
        "(empty)"
    } else {
        text
    };
    Arc::from(format!("{{\"type\":\"text\",\"text\":{}}}", quote(text)))
}

/// An image block.
pub fn image_block(media_type: &str, base64: &str) -> String {
    format!(
        "{{\"type\":\"image\",\"source\":{{\"type\":\"base64\",\"media_type\":{},\"data\":{}}}}}",
        quote(media_type),
        quote(base64)
    )
}

/// A JSON string.
pub fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_grows_at_its_end_only() {
        let mut history = History::default();
        history.push_user(&[text_block("hi")]);
        let first: String = history.parts().iter().map(|p| p.as_ref()).collect();
        let id = history.unique_id("x");
        history.push_assistant(vec![tool_use(&id, "Read", &Arc::from("{}"))]);
        let second: String = history.parts().iter().map(|p| p.as_ref()).collect();
        assert!(second.starts_with(&first));
        let parsed: serde_json::Value = serde_json::from_str(&format!("[{second}]")).unwrap();
        assert_eq!(parsed[1]["content"][0]["name"], "Read");
    }

    #[test]
    fn repeated_ids_are_made_unique_the_same_way() {
        let mut history = History::default();
        let ids: Vec<_> = ["a", "a", "", "a", ""]
            .map(|id| history.unique_id(id))
            .to_vec();
        assert_eq!(ids, ["a", "a_2", "call", "a_3", "call_2"]);
    }
}

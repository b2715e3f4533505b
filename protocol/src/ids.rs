//! The names by which both sides speak of a session, a turn, a call, a prompt or a hunk.
//!
//! All are opaque strings: a client compares them and sends them back, and never takes one apart.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    };
}

id! {
    /// A session: one transcript and its state.
    SessionId
}
id! {
    /// A turn: from a prompt to the model's last word.
    TurnId
}
id! {
    /// One tool call. Ours, never the provider's.
    CallId
}
id! {
    /// One question to the person.
    AskId
}
id! {
    /// One hunk of a proposed or applied edit.
    HunkId
}
id! {
    /// An agent: the session's main model or a nested one.
    AgentId
}

//! The one table of methods, and the JSON Schema document made from it.
//!
//! `README.md`, `schema.json` and the editors' types are generated from this table. A method
//! that is not `built` is answered with an LSP error (`unsupported`), never silently.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{json, Map, Value};

use crate::{asks, notices, requests};

/// The protocol's version, announced by both sides.
pub const PROTOCOL: u32 = 1;

/// No `toolgate/*` message of the sidecar is larger, in bytes.
pub const MAX_MESSAGE: usize = 64 * 1024;

/// LSP error code of a method that is not built (JSON-RPC's "method not found").
pub const UNSUPPORTED: i64 = -32601;

/// LSP error code of an answer to a prompt that is closed or was another one.
pub const REFUSED: i64 = -32803;

/// Who sends it, and whether an answer is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// A request of the client.
    Request,
    /// A notification of the client.
    Notification,
    /// A notification of the sidecar.
    Notice,
    /// A request of the sidecar.
    ServerRequest,
}

impl Direction {
    /// As the README's table says it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Request => "client → sidecar, request",
            Self::Notification => "client → sidecar, notification",
            Self::Notice => "sidecar → client, notification",
            Self::ServerRequest => "sidecar → client, request",
        }
    }
}

/// One method.
pub struct Method {
    /// Its name on the wire.
    pub name: &'static str,
    /// Who sends it.
    pub direction: Direction,
    /// Name of the type of its parameters, empty if it has none.
    pub params: String,
    /// Name of the type of its answer, empty if it has none.
    pub result: String,
    /// One sentence.
    pub about: &'static str,
    /// False: answered `unsupported` until it is built.
    pub built: bool,
}

macro_rules! methods {
    ($generator:ident; $($name:literal $direction:ident ($params:ty) -> ($result:ty) $about:literal;)*) => {
        vec![
            $(Method {
                name: $name,
                direction: Direction::$direction,
                params: name_of::<$params>($generator),
                result: name_of::<$result>($generator),
                about: $about,
                built: true,
            },)*
        ]
    };
}

/// Marks a message without parameters or answer.
#[derive(JsonSchema)]
struct Nothing;

fn name_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> String {
    let name = T::schema_name();
    if name == "Nothing" {
        return String::new();
    }
    generator.subschema_for::<T>();
    name.into_owned()
}

/// Every method, in the order of the README; fills the generator with their types.
pub fn methods(generator: &mut SchemaGenerator) -> Vec<Method> {
    let mut all = built(generator);
    all.extend(NOT_BUILT.iter().map(|(name, about)| Method {
        name,
        direction: Direction::Request,
        params: String::new(),
        result: String::new(),
        about,
        built: false,
    }));
    all
}

fn built(generator: &mut SchemaGenerator) -> Vec<Method> {
    methods! { generator;
        "toolgate/session/new" Request (requests::NewSessionParams) -> (requests::SessionInfo)
            "Makes a session.";
        "toolgate/session/load" Request (requests::LoadSessionParams) -> (requests::LoadSessionResult)
            "Loads a session, or tells what a client missed.";
        "toolgate/session/list" Request (requests::ListSessionsParams) -> (requests::ListSessionsResult)
            "Lists the sessions on this machine, newest first.";
        "toolgate/session/close" Request (requests::SessionParams) -> (requests::Empty)
            "Ends a session's turn and unloads it; its transcript stays.";
        "toolgate/session/delete" Request (requests::SessionParams) -> (requests::Empty)
            "Deletes a session that is not loaded, with its transcript.";
        "toolgate/session/prompt" Request (requests::PromptParams) -> (requests::PromptResult)
            "Gives the model a prompt; answers at once.";
        "toolgate/session/cancel" Notification (requests::SessionParams) -> (Nothing)
            "Ends the running turn.";
        "toolgate/session/cancelCall" Notification (requests::CancelCallParams) -> (Nothing)
            "Ends one call.";
        "toolgate/session/setMode" Request (requests::SetModeParams) -> (requests::Empty)
            "Sets the permission mode.";
        "toolgate/session/setModel" Request (requests::SetModelParams) -> (requests::Empty)
            "Sets the model, from the next request on.";
        "toolgate/ask/answer" Request (asks::AskAnswerParams) -> (asks::AskAnswerResult)
            "Answers a prompt; refused when it is closed or its digest is another.";
        "toolgate/call/get" Request (requests::GetCallParams) -> (requests::CallView)
            "Tells all of one call.";
        "toolgate/call/output" Request (requests::OutputParams) -> (requests::OutputPage)
            "Reads a page of a large payload.";
        "toolgate/review/list" Request (requests::SessionParams) -> (requests::ReviewListResult)
            "Lists proposed and applied hunks.";
        "toolgate/status" Request (requests::Empty) -> (requests::StatusResult)
            "Tells what a health check shows.";
        "toolgate/session/update" Notice (notices::SessionUpdate) -> (Nothing)
            "Tells what happened in a session.";
        "toolgate/ask/opened" Notice (asks::AskOpened) -> (Nothing)
            "Asks the person.";
        "toolgate/ask/closed" Notice (asks::AskClosed) -> (Nothing)
            "Says that a prompt is over.";
        "toolgate/document/edit" ServerRequest (requests::DocumentEditParams) -> (requests::DocumentEditResult)
            "Edits an open document in one tick.";
        "toolgate/document/save" ServerRequest (requests::DocumentSaveParams) -> (requests::DocumentSaveResult)
            "Saves an open document.";
    }
}

/// Methods of protocol 1 that are answered `unsupported` until they are built.
const NOT_BUILT: &[(&str, &str)] = &[
    (
        "toolgate/session/setActiveTools",
        "Chooses the tools of a session.",
    ),
    ("toolgate/models/list", "Lists what a model picker offers."),
    (
        "toolgate/prompt/complete",
        "Completes `@` and `/` in a prompt.",
    ),
    (
        "toolgate/tools/set",
        "Sets the tools that the client supplies.",
    ),
    ("toolgate/review/accept", "Keeps applied hunks."),
    ("toolgate/review/reject", "Takes applied hunks back."),
    (
        "toolgate/review/undo",
        "Undoes a call, a turn or a session.",
    ),
    ("toolgate/review/redo", "Redoes what was undone."),
    (
        "toolgate/permissions/explain",
        "Explains which rule decides.",
    ),
    (
        "toolgate/trust/get",
        "Tells whether the workspace is trusted.",
    ),
    ("toolgate/trust/set", "Trusts the workspace, or no longer."),
    (
        "toolgate/session/compact",
        "Replaces the history by a summary.",
    ),
    ("toolgate/session/fork", "Copies a session."),
    ("toolgate/session/export", "Exports a transcript."),
    ("toolgate/session/rename", "Names a session."),
    ("toolgate/queue/list", "Lists queued prompts."),
    ("toolgate/queue/remove", "Removes a queued prompt."),
    ("toolgate/task/list", "Lists background tasks."),
    ("toolgate/task/stop", "Ends a background task."),
];

/// The JSON Schema document (draft 2020-12) of all messages, committed as `schema.json`.
pub fn schema() -> Value {
    let mut generator = SchemaGenerator::default();
    let table = methods(&mut generator);
    generator.subschema_for::<requests::ClientHello>();
    generator.subschema_for::<requests::ServerHello>();
    let mut named = Map::new();
    for method in table {
        named.insert(
            method.name.to_owned(),
            json!({
                "direction": method.direction.label(),
                "params": method.params,
                "result": method.result,
                "about": method.about,
                "built": method.built,
            }),
        );
    }
    let defs: Map<String, Value> = generator.take_definitions(true);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Toolgate protocol",
        "x-protocol": PROTOCOL,
        "x-methods": named,
        "$defs": defs,
    })
}

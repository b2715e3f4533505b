//! The built-in tools: one file a tool, one table of them (spec: tools.md).
//!
//! A tool is a `Face` (what the gates ask: pure) and an `execute` (what it does). It gets a
//! `Context` that holds what it may touch and nothing else; it never decides whether it may run,
//! and never writes a file but through `apply`.

mod apply;
pub mod bash;
pub mod edit;
mod exit_code;
pub mod glob;
pub mod grep;
mod hits;
mod large;
mod nearby;
pub mod read;
mod report;
mod terminal;
pub mod todo;
mod window;
pub mod write;

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;
pub use tokio_util::sync::CancellationToken;
use toolgate_core::command::Task;
use toolgate_core::definition::ToolFace;
use toolgate_core::document::DocumentText;
use toolgate_core::outcome::{Effect, Raw};
use toolgate_core::place::{PathAnswer, Place};
use toolgate_protocol::requests::{DocumentEditParams, DocumentEditResult, DocumentSaveResult};

use crate::hands::disk::Durability;

/// A future of a tool.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What the editor does for a tool. Implemented by the door to the editor.
pub trait EditorHands: Send + Sync {
    /// `toolgate/document/edit`. The error means that no answer came: it may have been done.
    fn edit(&self, params: DocumentEditParams) -> Boxed<'_, Result<DocumentEditResult, String>>;

    /// `toolgate/document/save`.
    fn save(&self, uri: String) -> Boxed<'_, Result<DocumentSaveResult, String>>;

    /// The document at this canonical path as the mirror has it now; none when it is not open.
    fn snapshot(&self, path: &str) -> Boxed<'_, Option<DocumentText>>;
}

/// Which documents are saved after an edit (`files.save`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Save {
    /// Those that had no unsaved changes before.
    #[default]
    Clean,
    /// All.
    Always,
    /// None.
    Never,
}

/// Settings that tools go by.
#[derive(Clone, Debug)]
pub struct Limits {
    /// `bash.timeout` in milliseconds.
    pub bash_timeout: u64,
    /// `bash.max_timeout` in milliseconds.
    pub bash_max_timeout: u64,
    /// `bash.env_deny`: variables that commands do not get; `*` at an end stands for anything.
    pub env_deny: Vec<String>,
    /// `outcomes.max_persisted` in bytes.
    pub max_persisted: u64,
    /// `files.save`.
    pub save: Save,
    /// `files.durability`.
    pub durability: Durability,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bash_timeout: 120_000,
            bash_max_timeout: 600_000,
            env_deny: Vec::new(),
            max_persisted: 1 << 30,
            save: Save::Clean,
            durability: Durability::Full,
        }
    }
}

/// Says whether a deny rule keeps a path from the model. Such a path is left out of lists and
/// searches: an outcome must never show what a rule keeps back.
pub type Denied = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// What a running call may touch.
pub struct Context {
    /// Told the newest output, or what is being done, and the bytes so far.
    pub progress: Box<dyn Fn(String, u64) + Send + Sync>,
    /// Cancelled when the call is told to stop.
    pub cancel: CancellationToken,
    /// The session's folder for results that are kept aside.
    pub results_dir: PathBuf,
    /// Workspace roots and additional directories, canonical.
    pub roots: Vec<String>,
    /// The home directory.
    pub home: String,
    /// The editor, when it can apply edits.
    pub editor: Option<Arc<dyn EditorHands>>,
    /// Paths that deny rules keep from the model.
    pub denied: Denied,
    /// Settings.
    pub limits: Limits,
}

/// A built-in tool.
pub struct Tool {
    /// What the gates ask of it.
    pub face: ToolFace,
    /// What it does.
    pub execute: for<'a> fn(Task, &'a Context) -> Boxed<'a, Raw>,
}

/// Makes the table. Two tools of one name would be two variants of one name, which does not
/// compile.
macro_rules! table {
    ($($name:ident in $module:ident),+ $(,)?) => {
        /// The built-in tools by name, in the order in which the model gets them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Name {
            $(#[doc = concat!("`", stringify!($name), "`.")] $name),+
        }

        impl Name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The name as the model calls it.
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name)),+
                }
            }

            /// The tool.
            pub fn tool(self) -> Tool {
                match self {
                    $(Self::$name => Tool {
                        face: Arc::new($module::$name),
                        execute: |task, context| Box::pin($module::execute(task, context)),
                    }),+
                }
            }
        }
    };
}

table! {
    Read in read,
    Edit in edit,
    Write in write,
    Glob in glob,
    Grep in grep,
    Bash in bash,
    TodoWrite in todo,
}

/// All built-in tools, in table order.
pub fn all() -> Vec<Tool> {
    Name::ALL.iter().map(|name| name.tool()).collect()
}

/// A text field of an input; empty when it is not there.
fn text<'a>(input: &'a Value, field: &str) -> &'a str {
    input.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// A number field of an input.
fn number(input: &Value, field: &str) -> Option<usize> {
    let number = input.get(field).and_then(Value::as_u64)?;
    usize::try_from(number).ok()
}

/// A yes-or-no field of an input; no when it is not there.
fn flag(input: &Value, field: &str) -> bool {
    input.get(field).and_then(Value::as_bool).unwrap_or(false)
}

/// The answer to the first aim. A call without one never comes here: its gate refused it.
fn first_answer(task: &Task) -> Result<&PathAnswer, Box<Raw>> {
    let why = "The path was not looked at; nothing was done.";
    let missing = || Box::new(Raw::failed(why, Effect::None));
    task.answers.first().ok_or_else(missing)
}

/// The open document at a place.
fn open_document<'a>(task: &'a Task, place: &Place) -> Option<&'a DocumentText> {
    let documents = task.documents.open.iter();
    documents.into_iter().find(|open| open.path == place.path())
}

/// Does blocking work on a thread that may block. A panic there fails the call, not the sidecar.
async fn blocking(work: impl FnOnce() -> Raw + Send + 'static) -> Raw {
    match tokio::task::spawn_blocking(work).await {
        Ok(raw) => raw,
        Err(_) => Raw::failed(
            "The tool broke while it ran. What it did cannot be told; check before going on.",
            Effect::Unknown,
        ),
    }
}

/// The place of every path answer, for `Effects`.
fn places(answers: &[PathAnswer]) -> impl Iterator<Item = Place> + '_ {
    answers.iter().map(|answer| answer.place.clone())
}

/// A number of things, with the right form of the word.
fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 {
        format!("1 {one}")
    } else {
        format!("{number} {many}")
    }
}

/// The beginning of a text of at most `most` characters.
fn head(text: &str, most: usize) -> &str {
    match text.char_indices().nth(most) {
        Some((at, _)) => &text[..at],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_keep_their_promises() {
        for name in Name::ALL {
            let tool = name.tool();
            let definition = tool.face.definition();
            assert_eq!(definition.name, name.text());
            let length = definition.description.chars().count();
            assert!(length <= 1_500, "{}: {length}", definition.name);
            let schema = &definition.input_schema;
            assert_eq!(schema["additionalProperties"], false, "{}", definition.name);
            for word in ["oneOf", "anyOf", "allOf"] {
                let at = &definition.name;
                assert!(
                    schema.get(word).is_none(),
                    "{at}: the API refuses {word} here"
                );
            }
            let fields = schema["properties"].as_object().unwrap();
            for (field, about) in fields {
                assert!(
                    about["description"].is_string(),
                    "{}: {field}",
                    definition.name
                );
            }
            let twice = name.tool().face.definition();
            assert_eq!(definition, twice, "the same bytes each time");
        }
    }
}

//! Scenarios: one story a Markdown file, run wet: the real sidecar, the fake model, the fake
//! editor. `parse` reads a story, `wet` runs it, `check` holds what came against what it says.
//!
//! A story is prose with four kinds of fenced blocks; what stands outside of them is for people.
//!
//! | block | means |
//! |---|---|
//! | `file PATH [crlf] [bom] [unended]` | before `Then`: a file that is there at the start; after: a file as it must be at the end. Every file that is not named stays as it was, and no other appears |
//! | `open PATH` | the editor has the file open with this text |
//! | `settings` | settings of the editor, as JSON |
//! | `model` | the model's answers, in the format of `toolgate::provider::script` |
//! | `person` | what the person and the world do, one step a line, in order |
//! | `buffer PATH` | the text of an open document at the end |
//! | `outcomes` | the calls in their order: `STATUS TOOL`, and indented below what the model's text holds (`not TEXT`: what it does not) |
//! | `updates` | updates that came in this order, others between them: `KIND` and words that it holds |
//! | `notes` | texts that the last request holds |
//!
//! Steps of the person: `say TEXT` · `answer TOOL OPTION [without N,M] [saying TEXT]` (hunks are
//! counted from 1) · `wait ask TOOL` · `wait held NAME` · `wait progress TEXT` · `release NAME` ·
//! `write PATH "TEXT"` (by a stranger, on disk) · `remove PATH` · `type PATH "TEXT"` (the whole
//! buffer) · `save PATH` · `stop` · `end STOP_REASON`. Texts in quotes are JSON strings.
#![allow(clippy::expect_used, clippy::panic)]

mod check;
mod parse;
mod wet;

use std::path::Path;

pub use parse::{File, Scenario, Step, Wanted};

/// Runs the story of a file; the error says where it went another way.
pub async fn run(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let scenario = parse::parse(&text)?;
    let came = wet::run(&scenario).await;
    check::check(&scenario, &came)
}

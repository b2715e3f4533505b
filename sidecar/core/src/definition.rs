//! A tool as the model and the gates see it; never how it is executed.
//!
//! `Definition` is what the model gets, fixed for the session. `Face` is what the gates ask of a
//! tool: pure functions of the input. The default of every question is the unsafe answer, in code
//! and not in a comment: not stated = alone, writes everything, asks (law 8). A tool's `execute`
//! lives in the shell and has no say in whether it is called.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
pub use toolgate_protocol::notices::CallKind;

use crate::place::{Aim, PathAnswer, Place};

/// What is sent to the model about a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The name, as the model calls it.
    pub name: String,
    /// What it does, when to use it, its limits. At most 1,500 characters; never live data.
    pub description: String,
    /// The JSON Schema of its input.
    pub input_schema: Value,
}

/// Something that a call reads or writes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// A file.
    Place(Place),
    /// A part of the session's state: `cwd`, `todo`.
    State(&'static str),
}

/// The resources that a call reads and writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Could be anything: conflicts with everything.
    Unknown,
    /// Reads any file, writes nothing.
    ReadsAll,
    /// Exactly these.
    Known {
        /// What it reads.
        reads: BTreeSet<Resource>,
        /// What it writes.
        writes: BTreeSet<Resource>,
    },
}

impl Access {
    /// Touches nothing.
    pub fn none() -> Self {
        Self::Known {
            reads: BTreeSet::new(),
            writes: BTreeSet::new(),
        }
    }

    /// Reads these places.
    pub fn reads(places: impl IntoIterator<Item = Place>) -> Self {
        let reads = places.into_iter().map(Resource::Place).collect();
        Self::Known {
            reads,
            writes: BTreeSet::new(),
        }
    }

    /// Writes these places (and reads them).
    pub fn writes(places: impl IntoIterator<Item = Place>) -> Self {
        let writes = places.into_iter().map(Resource::Place).collect();
        Self::Known {
            reads: BTreeSet::new(),
            writes,
        }
    }

    /// Writes a part of the session's state.
    pub fn state(name: &'static str) -> Self {
        let writes = BTreeSet::from([Resource::State(name)]);
        Self::Known {
            reads: BTreeSet::new(),
            writes,
        }
    }
}

/// What a call would do, computed from its input (spec: call-lifecycle.md, "Traits").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effects {
    /// Changes nothing.
    pub read_only: bool,
    /// Hard to undo.
    pub destructive: bool,
    /// Crosses the machine's boundary.
    pub open_world: bool,
    /// May run beside other calls.
    pub concurrency_safe: bool,
    /// Its access list is complete, so that it may run beside calls it does not meet.
    pub access_complete: bool,
    /// Can stop at once; otherwise it is awaited.
    pub interruptible: bool,
    /// A barrier: runs alone, in order.
    pub sequential: bool,
    /// What it reads and writes.
    pub access: Access,
}

impl Effects {
    /// The conservative answer: what holds when nothing is known.
    pub fn unknown() -> Self {
        Self {
            read_only: false,
            destructive: true,
            open_world: true,
            concurrency_safe: false,
            access_complete: false,
            interruptible: false,
            sequential: false,
            access: Access::Unknown,
        }
    }

    /// A call that only reads, with this access.
    pub fn reading(access: Access) -> Self {
        Self {
            read_only: true,
            destructive: false,
            open_world: false,
            concurrency_safe: true,
            access_complete: true,
            interruptible: true,
            sequential: false,
            access,
        }
    }

    /// A call that writes exactly these places and finishes what it began.
    pub fn writing(places: impl IntoIterator<Item = Place>) -> Self {
        Self {
            read_only: false,
            destructive: false,
            open_world: false,
            concurrency_safe: false,
            access_complete: true,
            interruptible: false,
            sequential: false,
            access: Access::writes(places),
        }
    }
}

/// A change of one file that a call wants: what Edit and Write have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Replace texts; all or none.
    Replace(Vec<Replacement>),
    /// Create, or replace the whole.
    Whole(String),
}

/// One replacement of an Edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The text to find.
    pub old: String,
    /// What comes in its stead, literally.
    pub new: String,
    /// Every place where `old` stands; otherwise it must stand exactly once.
    pub all: bool,
}

/// What the gates ask of a tool. All methods are pure and are only called with an input that
/// passed the tool's schema.
pub trait Face: Send + Sync {
    /// What is sent to the model.
    fn definition(&self) -> Definition;

    /// Other names it answers to.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// What kind of call it is.
    fn kind(&self) -> CallKind {
        CallKind::Other
    }

    /// The paths that the input names, as written.
    fn aims(&self, _input: &Value) -> Vec<Aim> {
        Vec::new()
    }

    /// What the call would do. `answers` are those to `aims`, in their order.
    fn effects(&self, _input: &Value, _answers: &[PathAnswer]) -> Effects {
        Effects::unknown()
    }

    /// For the person, made anew for each call, plain text.
    fn describe(&self, _input: &Value) -> String {
        self.definition().name
    }

    /// The command line that the input runs, if it runs one: permission looks into it.
    fn command<'a>(&self, _input: &'a Value) -> Option<&'a str> {
        None
    }

    /// The change of a file that the input wants, if it wants one: the first aim is the file.
    fn change(&self, _input: &Value) -> Option<Change> {
        None
    }

    /// A check of the input's meaning against what stands at its paths (gate 3). The error is for
    /// the model.
    fn check(&self, _input: &Value, _answers: &[PathAnswer]) -> Result<(), String> {
        Ok(())
    }

    /// Largest text for the model, in characters; beyond it the result is kept aside.
    fn max_result_size(&self) -> usize {
        50_000
    }
}

/// A tool in the catalog.
pub type ToolFace = Arc<dyn Face>;

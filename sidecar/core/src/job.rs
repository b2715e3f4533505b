//! Pure work that is too long for `handle`: matching, diffing, hashing, schema checks,
//! serialising. The runner carries jobs out on a worker; the same job gives the same `Done`.

use std::sync::Arc;

use serde_json::Value;
use toolgate_protocol::requests::PromptBlock;

use crate::edit::Plan;
use crate::message::Part;
use crate::outcome::{Outcome, Raw};

/// What is to be computed.
#[derive(Clone, Debug)]
pub enum Job {
    /// Serialise a prompt.
    Freeze(Vec<PromptBlock>),
    /// Make an outcome of what an executor handed back.
    Settle(Box<Raw>),
}

/// What came out.
#[derive(Clone, Debug)]
pub enum Done {
    /// The blocks of a prompt.
    Frozen(Vec<Part>),
    /// The input fits its schema.
    Fits(Arc<Value>),
    /// A gate refuses.
    Refused(Box<Raw>),
    /// The change can be made.
    Planned(Arc<Plan>),
    /// The outcome.
    Settled(Box<Outcome>),
}

//! Who saw which version of a file (spec: files.md, "The ledger").
//!
//! Here only what the *model* saw: for each place the versions it saw, and of each the lines.
//! What the editor has is the desk's, what is on disk is asked anew each time. Several Reads of
//! one version add up. No time stamp is kept: content decides.

use std::collections::BTreeMap;

use crate::place::Place;

/// What one model (a session's or a nested agent's) saw.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub(crate) places: BTreeMap<Place, Seen>,
}

/// What the model saw of one file: the newest version, its lines and text.
#[derive(Clone, Debug, Default)]
pub struct Seen {}

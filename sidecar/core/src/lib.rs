//! Toolgate's core: it **decides**, and touches nothing.
//!
//! `handle(Event) -> Vec<Command>` is the whole of it, twice: a `Session` owns its turns and what
//! its model saw, a `Desk` owns what sessions share (open documents, leases on places). Time
//! arrives as a field of an event, ids come from counters in the state. `handle` never touches
//! more than 64 KiB: matching, diffing, hashing and schema checks are `Job`s, pure functions that
//! the runner executes on a worker.
//!
//! # Laws
//! Each has a test of the same name in `tests/tests/laws`, and a planted fault that it catches.
//! 1. Each call gets exactly one outcome; results are delivered in the order of the calls.
//! 2. Nothing starts after cancel.
//! 3. Concurrent execution equals execution in call order (conflict-serialisable): no start
//!    before an earlier conflicting call has ended.
//! 4. Two writers of one place never overlap, and a stopping writer still holds its place.
//! 5. No splice over bytes that the model has not seen.
//! 6. No start before allow; what runs is, to the byte, what was allowed.
//! 7. Deny beats ask beats allow.
//! 8. In doubt: alone, not read-only, ask.
//! 9. A byte once sent in a request never changes, except by compaction or an explicit change of
//!    the tool set.
//! 10. Same events, same commands.
//! 11. The `started` record of a call with effects is synced before the effect, its `ended`
//!     record before the next request; records of read-only calls are written, not synced.
//!
//! Modules in reading order; a file imports only from modules above it (a test reads this list).

// nouns
pub mod version;
pub mod place;
pub mod definition;
pub mod outcome;
pub mod message;
pub mod shown;
pub mod text;
pub mod document;
pub mod fact;
// rules
pub mod schema;
pub mod catalog;
pub mod permission;
pub mod buffers;
pub mod hunks;
pub mod encode;
pub mod ledger;
pub mod near;
pub mod edit;
pub mod review;
pub mod preview;
pub mod pairing;
// order
pub mod schedule;
// what crosses the border
pub mod job;
pub mod event;
pub mod command;
// whole
pub mod desk;
pub mod call;
pub mod turn;
pub mod session;
mod admit;
mod start;
mod asks;
mod settle;
mod answer;
pub mod resume;

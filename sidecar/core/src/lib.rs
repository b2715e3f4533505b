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
pub mod definition;
pub mod document;
pub mod fact;
pub mod message;
pub mod outcome;
pub mod place;
pub mod text;
pub mod version;
// rules, changes of files: a comment between two modules keeps rustfmt from sorting them
pub mod hunks;
// hunks to bytes and back
pub mod encode;
// who saw what
pub mod ledger;
// what stands where the text was not found
pub mod near;
// from a change to a plan
pub mod edit;
// what becomes of a plan under a person's hands
pub mod review;
// what is shown of a text that is too long
pub mod preview;
// what crosses the border
pub mod command;
pub mod event;
pub mod job;

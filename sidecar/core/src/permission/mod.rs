//! Whether a call may run: one pure function over the call, the rules and the mode
//! (spec: permissions.md).
//!
//! It must never look at the world (what stands at a path arrives as `PathAnswer`), never run or
//! rewrite a command, and never answer `Allow` for what it did not understand (law 8).
//!
//! Modules in reading order; a file imports only from those above it.

// A blank line between two modules keeps their order from being sorted.
mod question;

// reading what a call names
mod names;
mod paths;
mod protected;
mod shell_line;

// what is known of programs
mod looks_through;
mod programs;

mod operands;

mod reach;

// deciding
mod rule;
mod rule_set;

mod line_rules;

mod suggest;

mod proof;

mod decide;

pub use decide::{decide, denied};
pub use question::{Decision, HookOpinion, Question, RuleList, SourceKind, Verdict};
pub use reach::{command_aims, read_only};
pub use rule_set::RuleSet;

//! Permission: one pure function decides (spec: permissions.md, section 1).
//!
//! `decide` takes a call with what is known of it, the rules and the mode, and answers allow, ask
//! or deny with the rule that decided. Deny beats ask beats allow (law 7); what is not understood
//! asks (law 8). The command analysis here is the conservative one: literal words joined by
//! `&& || ; |`. Everything else matches no allow rule.

mod command;
mod decide;
pub mod paths;
pub mod programs;
pub mod protected;
pub mod rule;
pub mod shell_line;

pub use decide::{decide, denied, keeps_back, Decision, HookOpinion, Question, Verdict};
pub use rule::{RuleList, RuleSet, SourceKind};

//! The house rules that a machine can check: floors, fences, sizes, names, prose in step.
//!
//! It reads the checkout and runs none of the product. It must never be weakened to let a change
//! through: the change is what moves.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod source;

mod closed;
mod files;
mod floors;
mod licences;
mod prose;

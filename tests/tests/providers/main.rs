//! The providers and the fake model, through their public faces: script in, events out.
//!
//! Each case names a fault of a server and what the session gets told. Nothing here sleeps, and
//! no case depends on the machine's speed; the one deadline only ends a test that hangs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod kit;

mod doors;
mod faults;
mod raw;
mod rules;
mod scripts;
mod whole;

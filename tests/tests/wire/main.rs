//! The wire between editor and sidecar: a scripted client over the real binary's standard input
//! and output, against a scripted model server.
//!
//! Nothing here sleeps; the one deadline only ends a test that hangs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod asks;
mod documents;
mod ends;
mod frames;
mod sessions;
mod sizes;

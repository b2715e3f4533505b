//! The kit: what the tests of Toolgate are made with.
//!
//! It generates the files that are made from the protocol's types, plays the model
//! (`fake-model`), plays an editor, reads scenarios, and drives the core through random worlds. It
//! must never be used by the sidecar.

pub mod generate;
pub mod fake_model;
pub mod fake_editor;
pub mod scenario;
pub mod world;

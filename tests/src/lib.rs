//! The kit: what the tests of Toolgate are made with.
//!
//! It generates the files that are made from the protocol's types, plays the model
//! (`fake-model`), plays an editor, and reads scenarios. It must never be used by the sidecar.

pub mod fake_model;
pub mod generate;

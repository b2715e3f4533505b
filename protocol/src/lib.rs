//! The words spoken between an editor and the Toolgate sidecar.
//!
//! What this crate is for: the shapes of every `toolgate/*` message, so that the sidecar, the
//! VS Code extension and the Neovim plugin cannot disagree. From these types `schema.json`,
//! the TypeScript and LuaCATS files and the tables of `README.md` are generated; a test fails
//! when one of them is out of step.
//!
//! What it must never do: hold behaviour, depend on a runtime, or be used as an inner type of
//! the sidecar. No tuples and no integers above 2^53-1 appear here, because not every
//! generated language can hold them. Unknown fields are ignored on both sides.
//!
//! Shapes and names follow the Agent Client Protocol where it has the same notion.

pub mod asks;
pub mod ids;
pub mod methods;
pub mod notices;
pub mod render;
pub mod requests;

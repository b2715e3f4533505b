//! The crew: the one loop that owns all mutable state (`hub`), and what carries out the core's
//! commands for it. Everybody else gets a copy or a snapshot.

pub mod inbox;
pub(crate) mod bound;
pub mod contents;
pub mod projection;
pub mod frame;
pub mod live;
pub mod hub;
mod perform;
mod setup;
mod requests;

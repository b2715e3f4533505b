//! x
pub mod provider;

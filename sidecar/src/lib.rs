//! x

pub mod hands;
pub mod tools;

//! x

pub mod hands;

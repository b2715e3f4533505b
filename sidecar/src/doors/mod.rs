//! The doors: how an editor, a terminal and the demo come in. Each speaks with the crew through
//! its inbox and outlet only.

pub mod start;
pub mod editor;
pub mod headless;
pub mod demo;
pub mod doctor;

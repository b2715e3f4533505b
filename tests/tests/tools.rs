//! The built-in tools, driven as the runner drives them: aims looked at, the change planned by
//! the core, the executor run. Each test gives a call and says what comes of it.

#[path = "tools/bench.rs"]
mod bench;
#[path = "tools/changing.rs"]
mod changing;
#[path = "tools/commands.rs"]
mod commands;
#[path = "tools/editor.rs"]
mod editor;
#[path = "tools/reading.rs"]
mod reading;
#[path = "tools/searching.rs"]
mod searching;
#[path = "tools/watching.rs"]
mod watching;

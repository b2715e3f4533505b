//! Toolgate's shell: it **does** what the core decides.
//!
//! Rooms in reading order; a file imports only from rooms above it (a test reads this list).
//! `settings` is the ground. The hands (`hands`, `provider`, `store`) touch the world and never
//! import one another. `tools` execute calls. The crew (`crew`) carries out the core's commands
//! and runs the one loop that owns all mutable state. The doors (`doors`) let an editor, a
//! terminal or the demo in.

// ground
pub mod settings;
// hands
pub mod store;
pub mod hands;
pub mod provider;
// looks that need two hands
pub mod look;
// tools
pub mod tools;
// crew
pub mod crew;
// doors
pub mod doors;

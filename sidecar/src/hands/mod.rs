//! The hands: the rooms that touch the world. A room never imports another one; whoever needs two
//! of them is a tool or the runner.
//!
//! | room | the only place that |
//! |---|---|
//! | `disk` | looks at paths, reads files and writes them |
//! | `decode` | tells what bytes are: text in some encoding, an image, something else |
//! | `process` | starts, reads and ends processes |
//! | `search` | walks folders and searches in files |
//! | `watch` | listens to changes of files |

pub mod decode;
pub mod disk;
pub mod process;
pub mod search;
pub mod watch;

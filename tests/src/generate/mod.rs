//! The files made from the protocol's types. `cargo run -p toolgate-tests --bin generate`
//! writes them; the test `generated` compares them with the committed ones.

pub mod lua;
pub mod readme;

use std::path::{Path, PathBuf};

/// The checkout's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map(Path::to_path_buf)
        .unwrap_or_default()
}

/// Every generated file: its path from the root, and its text.
///
/// `protocol/README.md` is generated between its markers only, so its committed text is read.
pub fn files() -> Result<Vec<(PathBuf, String)>, std::io::Error> {
    let schema = toolgate_protocol::methods::schema();
    let readme_path = root().join("protocol/README.md");
    let readme = std::fs::read_to_string(&readme_path)?;
    Ok(vec![
        (root().join("protocol/schema.json"), format!("{schema:#}\n")),
        (
            root().join("editors/nvim/lua/toolgate/protocol.lua"),
            lua::types(&schema),
        ),
        (readme_path, readme::fill(&readme)),
    ])
}

//! Writes the files that are made from the protocol's types.

fn main() -> Result<(), std::io::Error> {
    for (path, text) in toolgate_tests::generate::files()? {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(&path, text)?;
        println!("wrote {}", path.display());
    }
    Ok(())
}

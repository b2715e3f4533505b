//! The files made from the protocol's types are in step with them.

#[test]
fn generated_files_are_in_step() {
    for (path, fresh) in toolgate_tests::generate::files().expect("protocol/README.md") {
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == fresh,
            "{} is out of step: run `cargo run -p toolgate-tests --bin generate`",
            path.display()
        );
    }
}

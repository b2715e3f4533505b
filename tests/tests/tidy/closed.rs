//! The core's fences: its closed list of dependencies, no way around the forbidden calls, no
//! order that is not the same twice.
//!
//! It must never accept a crate that can reach a clock, a disk, a process, a task or a network.

use toml::Table;

use crate::source::{below, code, none, read, tracked};

/// Every crate that the core may depend on (spec: architecture.md, "Four packages, two walls").
const CORE: &[&str] = &[
    "blake3",
    "encoding_rs",
    "globset",
    "ignore",
    "imara-diff",
    "jsonschema",
    "regex",
    "ropey",
    "serde",
    "serde_json",
    "thiserror",
    "toolgate-protocol",
    "unicode-normalization",
    "url",
];

/// The protocol is words only.
const PROTOCOL: &[&str] = &["schemars", "serde", "serde_json"];

fn dependencies(manifest: &str) -> Vec<String> {
    let manifest: Table = read(manifest).parse().expect("a manifest");
    let all = manifest["dependencies"].as_table().expect("dependencies");
    all.keys().cloned().collect()
}

#[test]
fn dependencies_of_the_core_are_a_closed_list() {
    for (manifest, closed) in [
        ("sidecar/core/Cargo.toml", CORE),
        ("protocol/Cargo.toml", PROTOCOL),
    ] {
        let strangers: Vec<String> = dependencies(manifest)
            .into_iter()
            .filter(|name| !closed.contains(&name.as_str()))
            .collect();
        none(
            &format!("{manifest} depends on what is not on its list"),
            &strangers,
        );
    }
    let features: Table = read("Cargo.toml").parse().expect("a manifest");
    let jsonschema = &features["workspace"]["dependencies"]["jsonschema"];
    assert_eq!(
        jsonschema["default-features"].as_bool(),
        Some(false),
        "the default features of jsonschema fetch references from disk and network"
    );
}

#[test]
fn the_core_has_no_way_around_its_fences() {
    let mut found = Vec::new();
    for path in below("sidecar/core/", ".rs") {
        for (number, line) in code(&read(&path)).lines().enumerate() {
            let lifts = line.contains("clippy::disallowed") || line.contains("unsafe_code");
            let unordered = ["HashMap", "HashSet"]
                .iter()
                .any(|name| line.contains(name));
            if lifts || unordered {
                found.push(format!("{path}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    none(
        "the core lifts a fence or uses a type without order",
        &found,
    );
}

#[test]
fn no_function_is_longer_than_sixty_lines() {
    for path in ["clippy.toml", "sidecar/core/clippy.toml"] {
        let fences: Table = read(path).parse().expect("toml");
        let limit = fences["too-many-lines-threshold"].as_integer();
        assert!(limit.is_some_and(|limit| limit <= 60), "{path}: {limit:?}");
    }
    let workspace: Table = read("Cargo.toml").parse().expect("a manifest");
    let lint = workspace["workspace"]["lints"]["clippy"]["too_many_lines"].as_str();
    assert!(lint == Some("warn") || lint == Some("deny"), "{lint:?}");
    let mut found = Vec::new();
    for path in tracked().iter().filter(|path| path.ends_with(".rs")) {
        if code(&read(path)).contains("clippy::too_many_lines") {
            found.push(path.clone());
        }
    }
    none("the limit of a function is lifted", &found);
}

#[test]
fn unsafe_code_is_in_its_one_module_with_its_proof() {
    let home = "sidecar/src/hands/process/birth.rs";
    let mut found = Vec::new();
    for path in tracked().iter().filter(|path| path.ends_with(".rs")) {
        let text = read(path);
        let here = code(&text);
        if here.contains("(unsafe_code)") && path != home {
            found.push(path.clone());
        }
        let blocks = here.matches("unsafe {").count();
        if blocks > text.matches("SAFETY:").count() {
            found.push(format!(
                "{path}: {blocks} unsafe blocks, not each with a proof"
            ));
        }
    }
    none("unsafe code outside its module or without proof", &found);
}

#[test]
fn only_the_editor_door_knows_the_server_library() {
    let mut found = Vec::new();
    for path in tracked().iter().filter(|path| path.ends_with(".rs")) {
        let door = path.starts_with("sidecar/src/doors/editor/");
        if !door && code(&read(path)).contains("tower_lsp") {
            found.push(path.clone());
        }
    }
    for path in tracked()
        .iter()
        .filter(|path| path.ends_with("/Cargo.toml"))
    {
        let depends = dependencies(path).iter().any(|name| name == "tower-lsp");
        if depends && path != "sidecar/Cargo.toml" {
            found.push(path.clone());
        }
    }
    none("tower-lsp outside sidecar/src/doors/editor", &found);
}

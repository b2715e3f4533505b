//! Prose in step with code: what the documents list is what there is.
//!
//! It must never check how a thing is said, only that it is said and that nothing else is.

use toml::Table;
use toolgate::settings::table;

use crate::source::{none, read};

/// The part of a document between two of its headings or markers.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let start = text.find(begin).unwrap_or_else(|| panic!("no {begin:?}"));
    let rest = &text[start + begin.len()..];
    &rest[..rest.find(end).unwrap_or(rest.len())]
}

/// What stands in backticks.
fn ticked(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

fn modules(lib: &str) -> Vec<String> {
    read(lib)
        .lines()
        .filter_map(|line| {
            let name = line.trim_start_matches("pub ").strip_prefix("mod ")?;
            name.strip_suffix(';').map(str::to_owned)
        })
        .collect()
}

#[test]
fn architecture_lists_the_floors_in_their_order() {
    let text = read("ARCHITECTURE.md");
    for (name, lib) in [
        ("core", "sidecar/core/src/lib.rs"),
        ("shell", "sidecar/src/lib.rs"),
    ] {
        let floors = between(&text, &format!("<!-- floors: {name} -->"), "<!-- end -->");
        assert_eq!(ticked(floors), modules(lib), "{lib}");
    }
}

#[test]
fn architecture_tells_the_laws() {
    // A law may be broken over several lines in the code; the words are the same.
    let plain = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().filter(|w| *w != "//!").collect();
        words.join(" ")
    };
    let lib = read("sidecar/core/src/lib.rs");
    let laws = plain(between(&lib, "//! # Laws", "//! Modules in reading order"));
    let first = laws.find("1. ").expect("a first law");
    let laws = &laws[first..];
    let text = plain(&read("ARCHITECTURE.md"));
    assert!(text.contains(laws), "the laws differ:\n{laws}");
}

#[test]
fn the_readme_lists_every_flag_of_run() {
    let readme = read("README.md");
    let section = between(&readme, "## `toolgate run`", "\n## ");
    let main = read("sidecar/src/main.rs");
    let arguments = between(&main, "struct RunArgs {", "\n}");
    let mut flags = Vec::new();
    let mut attribute = "";
    for line in arguments.lines().map(str::trim) {
        if line.starts_with("#[arg(") {
            attribute = line;
        } else if let Some((field, _)) = line.split_once(": ").filter(|_| !line.starts_with('/')) {
            let renamed = attribute.split("long = \"").nth(1);
            let name = renamed.and_then(|rest| rest.split('"').next());
            flags.push(name.map_or(field.replace('_', "-"), str::to_owned));
        }
    }
    assert!(flags.len() > 5, "{flags:?}");
    let told: Vec<String> = section
        .lines()
        .filter_map(|line| line.strip_prefix("| `--"))
        .filter_map(|rest| rest.split([' ', '`', ',']).next())
        .map(str::to_owned)
        .collect();
    let silent: Vec<String> = flags
        .iter()
        .filter(|f| !told.contains(f))
        .cloned()
        .collect();
    none("flags that README.md does not list", &silent);
    let stale: Vec<String> = told
        .iter()
        .filter(|f| !flags.contains(f))
        .cloned()
        .collect();
    none("flags that README.md lists and nobody knows", &stale);
}

#[test]
fn the_readme_lists_every_exit_code() {
    let readme = read("README.md");
    let headless = read("sidecar/src/doors/headless.rs");
    let codes = between(&headless, "pub mod exit {", "\n}");
    let mut silent = Vec::new();
    for line in codes.lines().filter(|line| line.contains("pub const")) {
        let code = line
            .split("= ")
            .nth(1)
            .and_then(|rest| rest.strip_suffix(';'));
        let code = code.expect("a code");
        if !readme.contains(&format!("\n| {code} | ")) {
            silent.push(line.trim().to_owned());
        }
    }
    none("exit codes that README.md does not list", &silent);
}

#[test]
fn the_readme_gives_the_script_format_of_the_code() {
    let readme = read("README.md");
    let script = read("sidecar/src/provider/script.rs");
    let rows = script.lines().filter_map(|line| line.strip_prefix("//! |"));
    let silent: Vec<String> = rows
        .map(|row| format!("|{row}"))
        .filter(|row| !readme.contains(row.as_str()))
        .collect();
    none("rows of the script format that README.md lacks", &silent);
}

#[test]
fn the_settings_reference_is_in_step() {
    let reference = read("sidecar/src/settings/README.md");
    let fresh = table::help();
    assert!(
        reference.contains(&fresh),
        "sidecar/src/settings/README.md is out of step: replace its block by the output of \
         `cargo run -p toolgate -- settings`"
    );
}

#[test]
fn the_changelog_knows_this_version() {
    let workspace: Table = read("Cargo.toml").parse().expect("a manifest");
    let version = workspace["workspace"]["package"]["version"]
        .as_str()
        .expect("a version");
    assert!(
        read("CHANGELOG.md").contains(&format!("## {version}")),
        "CHANGELOG.md does not know {version}"
    );
}

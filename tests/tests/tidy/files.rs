//! Files: short, opened by what they are for, and free of the machine they were written on.
//!
//! It must never hold a forbidden name in one piece: it reads itself too.

use crate::source::{none, read, root, tracked, without_tests};

const MOST_LINES: usize = 500;

/// What the top level may hold.
const TOP: &[&str] = &[
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
    "editors",
    "protocol",
    "sidecar",
    "tests",
];

/// Files that a program writes; the program is held to the rules.
const GENERATED: &[&str] = &[
    "editors/nvim/lua/toolgate/protocol.lua",
    "editors/nvim/lua/toolgate/settings_meta.lua",
    "editors/vscode/src/protocol.ts",
];

/// Files that are tests' material: what a model or a person finds in a project.
fn is_material(path: &str) -> bool {
    path.contains("/workspace/") || path.contains("/sample/") || path.starts_with("tests/cases/")
}

/// The first words of a file that say what it is for, by its language.
fn opens(path: &str, text: &str) -> Option<bool> {
    let mut lines = text.lines().filter(|line| !line.starts_with("#!"));
    let first = lines.next().unwrap_or_default();
    let second = lines.next().unwrap_or_default();
    let ending = path.rsplit_once('.').map(|(_, ending)| ending);
    match ending {
        Some("rs") => Some(first.starts_with("//! ")),
        Some("lua") => Some(first.starts_with("--") || second.starts_with("--")),
        Some("ts" | "mjs" | "js") => Some(first.starts_with("//") || first.starts_with("/*")),
        Some("css") => Some(first.starts_with("/*")),
        Some("py") => Some(first.starts_with("\"\"\"") || first.starts_with("# ")),
        _ if text.starts_with("#!/") => Some(first.starts_with("# ")),
        _ => None,
    }
}

fn sources() -> Vec<(String, String)> {
    let wanted = |path: &String| !GENERATED.contains(&path.as_str()) && !is_material(path);
    let text = |path: String| {
        let text = std::fs::read_to_string(root().join(&path)).ok()?;
        Some((path, text))
    };
    tracked()
        .into_iter()
        .filter(wanted)
        .filter_map(text)
        .collect()
}

#[test]
fn files_are_short() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        if opens(&path, &text).is_none() {
            continue;
        }
        let lines = without_tests(&text).lines().count();
        if lines > MOST_LINES {
            found.push(format!("{path}: {lines}"));
        }
    }
    none(
        "files of more than 500 lines, their tests not counted",
        &found,
    );
}

#[test]
fn each_file_opens_with_what_it_is_for() {
    let silent = |(path, text): &(String, String)| opens(path, text) == Some(false);
    let found: Vec<String> = sources()
        .into_iter()
        .filter(silent)
        .map(|(path, _)| path)
        .collect();
    none("files that do not say what they are for", &found);
}

#[test]
fn the_top_level_holds_the_house_only() {
    let mut found = Vec::new();
    for path in tracked() {
        let name = path.split('/').next().unwrap_or_default();
        let toml = !path.contains('/') && name.ends_with(".toml");
        if !TOP.contains(&name) && !toml && !name.starts_with('.') {
            found.push(path);
        }
    }
    none("strangers at the top level", &found);
}

#[test]
fn no_file_names_the_machine_it_was_written_on() {
    let checkout = root().display().to_string();
    let forbidden = [
        checkout.as_str(),
        concat!("/wo", "rk/"),
        concat!("/ro", "ot/"),
        concat!("farm", "-studio"),
        concat!("farm", "-bench"),
        concat!("before", "-stop"),
        concat!("static.", "crates.io"),
        concat!("index.", "crates.io"),
        concat!("registry.", "npmjs.org"),
        concat!("pypi", ".org"),
        concat!("files.", "pythonhosted.org"),
        concat!("deb.", "debian.org"),
    ];
    let mut found = Vec::new();
    for path in tracked() {
        let Ok(text) = std::fs::read_to_string(root().join(&path)) else {
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            if let Some(name) = forbidden.iter().find(|name| line.contains(**name)) {
                found.push(format!("{path}:{}: {name}", number + 1));
            }
        }
        if path.ends_with("package-lock.json") && text.contains("\"resolved\"") {
            found.push(format!("{path}: \"resolved\" names a registry"));
        }
    }
    none("names of one machine or one workplace", &found);
}

#[test]
fn every_lock_file_is_there() {
    let all = tracked();
    let mut found = Vec::new();
    for path in all.iter().filter(|path| path.ends_with("package.json")) {
        let manifest: serde_json::Value = serde_json::from_str(&read(path)).expect("a manifest");
        let lock = path.replace("package.json", "package-lock.json");
        let needs = ["dependencies", "devDependencies"]
            .iter()
            .any(|key| manifest[key].is_object());
        if needs && !all.contains(&lock) {
            found.push(path.clone());
        }
    }
    none("npm packages without a lock file", &found);
}

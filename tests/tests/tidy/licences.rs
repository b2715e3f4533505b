//! Licences of everything that is built: each one is on the list of `deny.toml`.
//!
//! It must never ask a registry: what the build brought is what is judged.

use std::process::Command;

use serde_json::Value;
use toml::Table;

use crate::source::{none, read, root};

/// True when a licence expression can be met by the allowed licences.
fn met(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    any(&words, &mut at, allowed) && at == words.len()
}

fn any(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut good = every(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        good |= every(words, at, allowed);
    }
    good
}

fn every(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut good = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        good &= one(words, at, allowed);
    }
    good
}

fn one(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let Some(word) = words.get(*at) else {
        return false;
    };
    *at += 1;
    if *word == "(" {
        let good = any(words, at, allowed);
        let closed = words.get(*at) == Some(&")");
        *at += 1;
        return good && closed;
    }
    let mut name = (*word).to_owned();
    if words.get(*at) == Some(&"WITH") {
        let exception = words.get(*at + 1).copied().unwrap_or_default();
        name = format!("{name} WITH {exception}");
        *at += 2;
    }
    allowed.contains(&name)
}

fn run(command: &mut Command) -> String {
    let output = command.current_dir(root()).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn every_dependency_has_a_licence_of_the_list() {
    let deny: Table = read("deny.toml").parse().expect("toml");
    let list = deny["licenses"]["allow"].as_array().expect("a list");
    let allowed: Vec<String> = list
        .iter()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    let version = run(Command::new("rustc").arg("-vV"));
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .expect("a host");
    let metadata = run(Command::new(env!("CARGO")).args([
        "metadata",
        "--locked",
        "--offline",
        "--format-version",
        "1",
        "--filter-platform",
        host,
    ]));
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 50, "only {} packages", packages.len());
    let bad = |package: &&Value| !met(package["license"].as_str().unwrap_or_default(), &allowed);
    let found: Vec<String> = packages
        .iter()
        .filter(bad)
        .map(|package| format!("{}: {}", package["name"], package["license"]))
        .collect();
    none("licences that deny.toml does not list", &found);
}

#[test]
fn licence_expressions_are_read_right() {
    let allowed: Vec<String> = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"]
        .iter()
        .map(|name| (*name).to_owned())
        .collect();
    let check = |expression: &str, want: bool| {
        assert_eq!(met(expression, &allowed), want, "{expression}");
    };
    check("MIT", true);
    check("GPL-3.0", false);
    check("MIT/GPL-3.0", true);
    check("GPL-3.0 OR MIT AND ISC", true);
    check("(MIT OR GPL-3.0) AND GPL-3.0", false);
    check("Apache-2.0 WITH LLVM-exception", true);
    check("Apache-2.0", false);
    check("(MIT", false);
    check("", false);
}

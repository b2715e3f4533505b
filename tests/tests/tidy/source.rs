//! The checkout as text: tracked files, and Rust source without comments, strings and tests.
//!
//! It must never read a file that git does not track: what lies around is nobody's change.

use std::path::PathBuf;
use std::process::Command;

/// The checkout's root.
pub fn root() -> PathBuf {
    toolgate_tests::generate::root()
}

/// The text of a file of the checkout.
pub fn read(path: &str) -> String {
    let full = root().join(path);
    std::fs::read_to_string(&full).unwrap_or_else(|error| panic!("{}: {error}", full.display()))
}

/// Paths from the root of all files that git knows or would add, in order.
pub fn tracked() -> Vec<String> {
    let git = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root())
        .output()
        .expect("git runs");
    assert!(git.status.success(), "the checkout is no git repository");
    let text = String::from_utf8(git.stdout).expect("file names are UTF-8");
    let there = |path: &&str| !path.is_empty() && root().join(path).is_file();
    text.split('\0').filter(there).map(str::to_owned).collect()
}

/// The tracked files below a folder with this ending.
pub fn below(folder: &str, ending: &str) -> Vec<String> {
    let mut all = tracked();
    all.retain(|path| path.starts_with(folder) && path.ends_with(ending));
    assert!(!all.is_empty(), "no {ending} below {folder}");
    all
}

/// Fails with all violations at once.
pub fn none(rule: &str, violations: &[String]) {
    assert!(violations.is_empty(), "{rule}:\n{}", violations.join("\n"));
}

/// The lines before the tests at a file's end.
pub fn without_tests(text: &str) -> &str {
    let mut offset = 0;
    let mut last = None;
    for line in text.split_inclusive('\n') {
        match line.trim_end() {
            "#[cfg(test)]" => last = Some(offset),
            // Only a module at the file's outer level ends its product code.
            other if last.is_some() && other.starts_with("mod ") => return &text[..last.unwrap()],
            other if other.starts_with("#[") => {}
            _ => last = None,
        }
        offset += line.len();
    }
    text
}

/// Source with every comment and every literal blanked; lines stay where they are.
pub fn code(text: &str) -> String {
    let bytes: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = blank_end(&bytes, at);
        if end == at {
            out.push(bytes[at]);
            at += 1;
            continue;
        }
        out.extend(bytes[at..end].iter().filter(|c| **c == '\n'));
        out.push(' ');
        at = end;
    }
    out
}

/// Where the comment or literal ends that begins here; `at` when none does.
fn blank_end(text: &[char], at: usize) -> usize {
    let next = |offset: usize| text.get(at + offset).copied().unwrap_or('\0');
    let word = at > 0 && (text[at - 1].is_alphanumeric() || text[at - 1] == '_');
    match text[at] {
        '/' if next(1) == '/' => find(text, at, |rest| rest[0] == '\n'),
        '/' if next(1) == '*' => find(text, at + 2, |rest| rest.starts_with(&['*', '/'])) + 2,
        'r' if !word && (next(1) == '"' || next(1) == '#') => {
            let hashes = text[at + 1..].iter().take_while(|c| **c == '#').count();
            if next(1 + hashes) != '"' {
                return at;
            }
            let close = |rest: &[char]| {
                rest[0] == '"' && rest[1..].iter().take_while(|c| **c == '#').count() >= hashes
            };
            find(text, at + hashes + 2, close) + 1 + hashes
        }
        '"' => quoted(text, at, '"'),
        // A lifetime has no closing quote where a character has one.
        '\'' if next(1) == '\\' || next(2) == '\'' => quoted(text, at, '\''),
        _ => at,
    }
}

fn find(text: &[char], from: usize, stop: impl Fn(&[char]) -> bool) -> usize {
    (from..text.len())
        .find(|at| stop(&text[*at..]))
        .unwrap_or(text.len())
}

fn quoted(text: &[char], at: usize, mark: char) -> usize {
    let mut at = at + 1;
    while at < text.len() && text[at] != mark {
        at += if text[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(text.len())
}

#[test]
fn source_is_read_right() {
    let text =
        "a // crate::x\nb \"crate::\\\"y\" 'c' '\\'' r#\"crate::\"z\"# fn f<'a>() /* crate::q */";
    let left = code(text);
    assert!(!left.contains("crate"), "{left}");
    assert!(left.contains("fn f<'a>()"), "{left}");
    assert_eq!(left.lines().count(), 2);
    let text = "a\n#[cfg(test)]\nuse x;\nb\n#[cfg(test)]\n#[allow(y)]\nmod tests {\n}\n";
    assert_eq!(without_tests(text), "a\n#[cfg(test)]\nuse x;\nb\n");
}

//! Which operands of known readers and writers are files: a wide guess.
//!
//! It only closes doors: what it names is held against deny and ask rules and protected paths.
//! Nothing may be allowed because this guess found no file.

use super::looks_through::base_name;
use super::programs::Use;
use super::shell_line::Word;

const READERS: &[&str] = &[
    ".",
    "ag",
    "awk",
    "b2sum",
    "base32",
    "base64",
    "bat",
    "batcat",
    "cat",
    "cksum",
    "cmp",
    "colrm",
    "column",
    "comm",
    "cut",
    "diff",
    "du",
    "egrep",
    "expand",
    "fd",
    "fgrep",
    "file",
    "find",
    "fmt",
    "fold",
    "gawk",
    "grep",
    "gzip",
    "head",
    "hexdump",
    "jq",
    "less",
    "ls",
    "mawk",
    "md5sum",
    "more",
    "nl",
    "od",
    "paste",
    "pr",
    "readlink",
    "realpath",
    "rev",
    "rg",
    "sed",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "shuf",
    "sort",
    "source",
    "stat",
    "strings",
    "tac",
    "tail",
    "tar",
    "tr",
    "tree",
    "unexpand",
    "uniq",
    "vi",
    "view",
    "vim",
    "wc",
    "xxd",
    "yq",
    "zcat",
    "zip",
];

const WRITERS: &[&str] = &[
    "chgrp", "chmod", "chown", "gunzip", "mkdir", "nano", "patch", "setfacl", "tee", "touch",
    "truncate",
];

const REMOVERS: &[&str] = &["rm", "rmdir", "shred", "srm", "unlink"];

/// The last operand is written, the others are read (or, by `mv`, removed).
const COPIERS: &[&str] = &["cp", "install", "ln", "mv", "rsync", "scp"];

/// The first operand is a pattern or a program text.
const PATTERN_FIRST: &[&str] = &[
    "ag", "awk", "egrep", "fgrep", "gawk", "grep", "jq", "mawk", "rg", "sed",
];

/// True when the program reads or writes files that its operands name.
pub(super) fn known(program: &str) -> bool {
    let name = base_name(program);
    [READERS, WRITERS, REMOVERS, COPIERS]
        .iter()
        .any(|list| list.contains(&name))
        || matches!(name, "dd" | "git")
}

/// True when the program removes what its operands name.
pub(super) fn removes(program: &str) -> bool {
    REMOVERS.contains(&base_name(program))
}

/// The files that a command's operands name, as far as they can be guessed.
pub(super) fn operands(words: &[Word]) -> Vec<(Word, Use)> {
    let Some((program, arguments)) = words.split_first() else {
        return Vec::new();
    };
    let name = base_name(&program.text);
    match name {
        "dd" => assigned(arguments),
        "git" => revisions(arguments),
        _ if COPIERS.contains(&name) => copied(name, arguments),
        _ if REMOVERS.contains(&name) => all(arguments, Use::Remove),
        _ if WRITERS.contains(&name) => all(arguments, Use::Write),
        _ if READERS.contains(&name) => read(name, arguments),
        _ => Vec::new(),
    }
}

fn all(arguments: &[Word], used: Use) -> Vec<(Word, Use)> {
    let behind = arguments.iter().position(|word| word.text == "--");
    arguments
        .iter()
        .enumerate()
        .filter(|(at, word)| {
            let operand = !word.text.starts_with('-') || word.text == "-";
            operand || behind.is_some_and(|behind| *at > behind)
        })
        .map(|(_, word)| (word.clone(), used))
        .collect()
}

fn read(name: &str, arguments: &[Word]) -> Vec<(Word, Use)> {
    let in_place = name == "sed"
        && arguments.iter().any(|word| {
            let cluster = word.text.starts_with('-') && !word.text.starts_with("--");
            (cluster && word.text.contains('i')) || word.text.starts_with("--i")
        });
    let removes = name == "find" && arguments.iter().any(|word| word.text == "-delete");
    let used = match (in_place, removes) {
        (_, true) => Use::Remove,
        (true, false) => Use::Write,
        (false, false) => Use::Read,
    };
    let mut found = all(arguments, used);
    let given = arguments.iter().any(|word| {
        let short = word.text.starts_with("-e") || word.text.starts_with("-f");
        short
            || word.text.starts_with("--reg")
            || word.text.starts_with("--exp")
            || word.text.starts_with("--file")
    });
    if PATTERN_FIRST.contains(&name) && !given && !found.is_empty() {
        found.remove(0);
    }
    if name == "find" {
        // Its tests begin at the first option; what stands behind is no path.
        let tests = |word: &Word| word.text.starts_with(['-', '(', '!']);
        let paths = arguments.iter().position(tests).unwrap_or(arguments.len());
        found.truncate(paths);
    }
    for (at, word) in arguments.iter().enumerate() {
        if let Some(value) = word
            .text
            .strip_prefix("-f")
            .filter(|value| !value.is_empty())
        {
            found.push((Word::named(value), Use::Read));
        }
        let output = matches!(
            word.text.as_str(),
            "-o" | "--output" | "-fprint" | "-fprintf" | "-fls"
        );
        if let (true, Some(next)) = (output, arguments.get(at + 1)) {
            found.push((next.clone(), Use::Write));
        }
        if let Some(value) = word
            .text
            .strip_prefix("-o")
            .filter(|value| !value.is_empty())
        {
            found.push((Word::named(value), Use::Write));
        }
        if let Some((option, value)) = word.text.split_once('=') {
            if option.starts_with("--o") {
                found.push((Word::named(value), Use::Write));
            } else if option.starts_with("--f") {
                found.push((Word::named(value), Use::Read));
            }
        }
    }
    found
}

fn copied(name: &str, arguments: &[Word]) -> Vec<(Word, Use)> {
    let source = if name == "mv" { Use::Remove } else { Use::Read };
    let mut found = all(arguments, source);
    let mut targets: Vec<Word> = Vec::new();
    let into_option =
        |word: &Word| word.text.starts_with("-t") || word.text.starts_with("--target");
    if let Some(at) = arguments.iter().position(into_option) {
        let option = &arguments[at].text;
        let attached = option.split_once('=').map(|(_, value)| value);
        let attached = attached.or(option.strip_prefix("-t").filter(|value| !value.is_empty()));
        targets.extend(
            attached
                .map(Word::named)
                .or_else(|| arguments.get(at + 1).cloned()),
        );
    } else if let Some((target, _)) = found.pop() {
        targets.push(target);
    }
    let mut written = Vec::new();
    for target in &targets {
        // In a directory the sources keep their names.
        for (word, _) in &found {
            let name = base_name(word.text.trim_end_matches('/'));
            let text = format!("{}/{name}", target.text.trim_end_matches('/'));
            let mut into = Word::named(text);
            into.glob = word.glob || target.glob;
            into.tilde = target.tilde;
            written.push((into, Use::Write));
        }
        written.push((target.clone(), Use::Write));
    }
    found.extend(written);
    found
}

/// `dd if=a of=b`.
fn assigned(arguments: &[Word]) -> Vec<(Word, Use)> {
    arguments
        .iter()
        .filter_map(|word| {
            let (key, value) = word.text.split_once('=')?;
            match key {
                "if" => Some((Word::named(value), Use::Read)),
                "of" => Some((Word::named(value), Use::Write)),
                _ => None,
            }
        })
        .collect()
}

/// git's operands name files, also behind a revision: `HEAD:path`.
fn revisions(arguments: &[Word]) -> Vec<(Word, Use)> {
    all(arguments, Use::Read)
        .into_iter()
        .map(|(word, used)| match word.text.rsplit_once(':') {
            Some((_, path)) => (Word::named(path), used),
            None => (word, used),
        })
        .collect()
}

//! The few programs that are known: which only read, which acceptEdits may run, which hide
//! another command (permissions.md 1.2 step 8, 1.3, 3.1).
//!
//! A program is known only with options from its own table; an option that is not there, or an
//! operand that is not literal, makes the part unknown.

use super::shell_line::{parts, Part, Word};
use crate::place::{Aim, Purpose};

/// A program whose options are all listed.
struct Known {
    name: &'static str,
    /// Short options without value.
    short: &'static str,
    /// Short options with a value, attached or as the next word.
    valued: &'static str,
    /// Long options, `=value` allowed.
    long: &'static [&'static str],
    /// How many leading operands are no files: patterns, texts.
    texts: usize,
    /// True when operands are no files at all.
    no_files: bool,
}

const fn reads(
    name: &'static str,
    short: &'static str,
    valued: &'static str,
    long: &'static [&'static str],
) -> Known {
    Known {
        name,
        short,
        valued,
        long,
        texts: 0,
        no_files: false,
    }
}

const READERS: &[Known] = &[
    reads(
        "ls",
        "aAlhtrRS1dFisnopGcuUQmxCBgk",
        "",
        &[
            "--color",
            "--all",
            "--almost-all",
            "--human-readable",
            "--reverse",
            "--recursive",
            "--directory",
            "--size",
        ],
    ),
    reads(
        "cat",
        "nbAeEtTvsu",
        "",
        &["--number", "--show-all", "--show-ends", "--show-tabs"],
    ),
    reads(
        "head",
        "qvz",
        "nc",
        &["--lines", "--bytes", "--quiet", "--verbose"],
    ),
    reads(
        "tail",
        "qvz",
        "nc",
        &["--lines", "--bytes", "--quiet", "--verbose"],
    ),
    reads(
        "wc",
        "lwcmL",
        "",
        &["--lines", "--words", "--bytes", "--chars"],
    ),
    reads(
        "stat",
        "Lft",
        "c",
        &["--format", "--terse", "--dereference"],
    ),
    reads(
        "du",
        "shackmbxLSD",
        "d",
        &["--max-depth", "--human-readable", "--summarize", "--total"],
    ),
    reads(
        "diff",
        "urqNabwiyBEZTt",
        "U",
        &["--unified", "--brief", "--recursive", "--color"],
    ),
    Known {
        texts: 1,
        ..reads(
            "grep",
            "rRinlLcvwxEFGPohHsqazbU",
            "ABCm",
            &[
                "--include",
                "--exclude",
                "--exclude-dir",
                "--color",
                "--ignore-case",
                "--recursive",
                "--line-number",
                "--count",
                "--fixed-strings",
                "--extended-regexp",
                "--word-regexp",
                "--invert-match",
                "--context",
                "--after-context",
                "--before-context",
                "--max-count",
                "--files-with-matches",
            ],
        )
    },
    Known {
        no_files: true,
        ..reads("echo", "neE", "", &[])
    },
    Known {
        no_files: true,
        ..reads("pwd", "LP", "", &[])
    },
    Known {
        no_files: true,
        ..reads("which", "a", "", &["--all"])
    },
    Known {
        no_files: true,
        ..reads("true", "", "", &[])
    },
    Known {
        no_files: true,
        ..reads("false", "", "", &[])
    },
];

const WRITERS: &[Known] = &[
    reads("mkdir", "pv", "", &["--parents", "--verbose"]),
    reads("touch", "acm", "", &["--no-create"]),
    reads(
        "rm",
        "rRfivdI",
        "",
        &["--recursive", "--force", "--verbose", "--dir"],
    ),
    reads("rmdir", "pv", "", &["--parents", "--verbose"]),
    reads("mv", "fnvi", "", &["--force", "--no-clobber", "--verbose"]),
    reads(
        "cp",
        "rRapfnvi",
        "",
        &["--recursive", "--archive", "--force", "--no-clobber"],
    ),
];

/// What a part that is known does with its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// It reads them.
    Reads,
    /// It creates, changes or removes them.
    Writes,
    /// It goes there: `cd`.
    Goes,
}

/// A known part: what it does, and with which files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// What it does.
    pub does: Does,
    /// Its files, as written.
    pub files: Vec<String>,
}

/// What a part does, if it is known in all its words.
pub fn action(part: &Part) -> Option<Action> {
    if !part.assigns.is_empty() {
        return None;
    }
    let (program, operands) = part.words.split_first()?;
    if program.text == "cd" {
        return match operands {
            [to] if to.literal && !to.text.is_empty() && !to.text.starts_with('-') => {
                Some(Action {
                    does: Does::Goes,
                    files: vec![to.text.clone()],
                })
            }
            _ => None,
        };
    }
    let find = |table: &'static [Known]| table.iter().find(|known| known.name == program.text);
    let (known, does) = match (find(READERS), find(WRITERS)) {
        (Some(known), _) => (known, Does::Reads),
        (None, Some(known)) => (known, Does::Writes),
        (None, None) => return None,
    };
    let mut files = operands_of(known, operands)?;
    if known.no_files {
        return Some(Action {
            does,
            files: Vec::new(),
        });
    }
    files.drain(..known.texts.min(files.len()));
    Some(Action { does, files })
}

fn operands_of(known: &Known, words: &[Word]) -> Option<Vec<String>> {
    let mut operands = Vec::new();
    let mut words = words.iter();
    let mut options = true;
    while let Some(word) = words.next() {
        if !word.literal {
            return None;
        }
        let text = word.text.as_str();
        if known.name == "echo" {
            continue;
        }
        match text.strip_prefix('-') {
            Some("") | None => operands.push(text.to_owned()),
            Some(_) if !options => operands.push(text.to_owned()),
            Some("-") => options = false,
            Some(rest) if rest.starts_with('-') => {
                let name = text.split('=').next().unwrap_or(text);
                if !known.long.contains(&name) {
                    return None;
                }
            }
            Some(rest) => {
                let last = short_options(known, rest)?;
                if last {
                    words.next().filter(|value| value.literal)?;
                }
            }
        }
    }
    Some(operands)
}

/// A cluster of short options; true: the last one takes the next word as its value.
fn short_options(known: &Known, cluster: &str) -> Option<bool> {
    if matches!(known.name, "head" | "tail") && cluster.chars().all(|c| c.is_ascii_digit()) {
        return Some(false);
    }
    let mut chars = cluster.chars();
    while let Some(c) = chars.next() {
        if known.valued.contains(c) {
            return Some(chars.as_str().is_empty());
        }
        if !known.short.contains(c) {
            return None;
        }
    }
    Some(false)
}

/// True when the whole line only reads and stays where it is: it may run beside other readers.
pub fn read_only(line: &str) -> bool {
    let Ok(parts) = parts(line) else { return false };
    parts.iter().all(|part| {
        part.redirects.is_empty() && action(part).is_some_and(|action| action.does == Does::Reads)
    })
}

/// The files that a line's known parts name, as aims: the runner resolves them, so that the
/// decision sees where links lead. Relative ones follow the line's own `cd`.
pub fn aims(line: &str) -> Vec<Aim> {
    let Ok(parts) = parts(line) else {
        return Vec::new();
    };
    let mut directory = String::new();
    let mut aims = Vec::new();
    for part in &parts {
        for redirect in &part.redirects {
            let purpose = if redirect.write {
                Purpose::Write
            } else {
                Purpose::Read
            };
            aims.push(Aim {
                path: joined(&directory, &redirect.target.text),
                purpose,
            });
        }
        let Some(action) = action(part) else { continue };
        let purpose = match action.does {
            Does::Reads => Purpose::Read,
            Does::Writes => Purpose::Write,
            Does::Goes => Purpose::Search,
        };
        for file in &action.files {
            aims.push(Aim {
                path: joined(&directory, file),
                purpose,
            });
        }
        if let (Does::Goes, Some(to)) = (action.does, action.files.first()) {
            directory = joined(&directory, to);
        }
    }
    aims
}

/// A path behind a `cd`. A tilde in a literal word is a file of that name, not the home.
fn joined(directory: &str, path: &str) -> String {
    let path = if path.starts_with('~') {
        format!("./{path}")
    } else {
        path.to_owned()
    };
    match directory.is_empty() || path.starts_with('/') {
        true => path,
        false => format!("{}/{path}", directory.trim_end_matches('/')),
    }
}

/// A part with the wrappers taken off that run it unchanged: `timeout`, `nice`, `nohup`, `time`,
/// `stdbuf`, `command`, `builtin`, `noglob`, and `xargs` without options.
pub fn unwrapped(words: &[Word]) -> &[Word] {
    let mut words = words;
    loop {
        let Some((program, rest)) = words.split_first() else {
            return words;
        };
        let dashes = rest
            .iter()
            .take_while(|word| word.text.starts_with('-'))
            .count();
        let next = match program.text.as_str() {
            "nohup" | "builtin" | "noglob" => rest,
            "command" if rest.first().is_some_and(|w| w.text.starts_with('-')) => return words,
            "command" => rest,
            "time" => rest.get(dashes..).unwrap_or(&[]),
            "timeout" => rest
                .get(options_with_values(rest, "ks") + 1..)
                .unwrap_or(&[]),
            "nice" => rest.get(options_with_values(rest, "n")..).unwrap_or(&[]),
            "stdbuf" => rest.get(options_with_values(rest, "ioe")..).unwrap_or(&[]),
            "xargs" if dashes == 0 => rest,
            _ => return words,
        };
        if next.is_empty() {
            return words;
        }
        words = next;
    }
}

/// How many leading words are options, values that stand apart included.
fn options_with_values(words: &[Word], valued: &str) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let Some(option) = word.text.strip_prefix('-') else {
            break;
        };
        at += 1;
        let apart = option.chars().count() == 1 && option.chars().all(|c| valued.contains(c));
        if apart {
            at += 1;
        }
    }
    at
}

/// The commands that a part would run in truth, for ask and deny rules: itself, its base name, and
/// what `env`, `sudo`, `xargs`, `find -exec` and `sh -c` with a literal text run.
pub fn disguises(words: &[Word], depth: usize) -> Vec<Vec<Word>> {
    let words = unwrapped(words);
    let mut found = vec![words.to_vec()];
    let Some((program, rest)) = words.split_first() else {
        return found;
    };
    let base = program
        .text
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_owned();
    if base != program.text {
        let mut named = words.to_vec();
        named[0].text.clone_from(&base);
        found.push(named);
    }
    if depth == 0 {
        return found;
    }
    let mut inner = |words: &[Word]| {
        if !words.is_empty() {
            found.extend(disguises(words, depth - 1));
        }
    };
    match base.as_str() {
        "env" | "sudo" | "doas" | "xargs" | "setsid" | "ionice" | "flock" | "watch" => {
            // Where its own options end cannot be told: every word may be the command.
            (0..rest.len()).for_each(|from| inner(&rest[from..]));
        }
        "find" => {
            for (at, word) in rest.iter().enumerate() {
                if matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
                    inner(&rest[at + 1..]);
                }
            }
        }
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "eval" => {
            for word in rest {
                for part in parts(&word.text).unwrap_or_default() {
                    inner(&part.words);
                }
            }
        }
        "git" => {
            let skip = options_with_values(rest, "Cc");
            let mut bare = vec![program.clone()];
            bare.extend(rest.iter().skip(skip).cloned());
            if skip > 0 {
                found.push(bare);
            }
        }
        _ => {}
    }
    found
}

/// Programs that a prefix or star rule never covers: only their exact text does.
pub fn needs_exact(words: &[Word]) -> bool {
    let Some((program, rest)) = words.split_first() else {
        return true;
    };
    let has = |names: &[&str]| {
        rest.iter()
            .any(|word| names.iter().any(|name| word.text.starts_with(name)))
    };
    match program.text.as_str() {
        "watch" | "setsid" | "ionice" | "flock" => true,
        "find" => has(&["-exec", "-ok", "-delete", "-fprint", "-fls"]),
        "git" => has(&[
            "-c",
            "--git-dir",
            "--exec-path",
            "--config-env",
            "--work-tree",
        ]),
        _ => false,
    }
}

/// Programs that run what they are given: no rule is suggested for them.
pub fn runs_anything(words: &[Word]) -> bool {
    let name = words
        .first()
        .map_or("", |word| word.text.rsplit('/').next().unwrap_or(""));
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let git = name == "git" && words.get(1).is_some_and(|word| word.text.starts_with('-'));
    git || matches!(
        name,
        "env"
            | "sudo"
            | "doas"
            | "xargs"
            | "sh"
            | "bash"
            | "dash"
            | "zsh"
            | "ksh"
            | "fish"
            | "eval"
            | "exec"
            | "source"
            | "."
            | "python"
            | "node"
            | "perl"
            | "ruby"
            | "php"
            | "lua"
            | "deno"
            | "bun"
            | "awk"
            | "gawk"
            | "osascript"
            | "ssh"
            | "docker"
            | "find"
            | "watch"
            | "setsid"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_only_lines() {
        for line in [
            "ls -la",
            "cat a.txt",
            "grep -rn x src",
            "head -n 3 a | wc -l",
            "echo hi",
            "ls -la && pwd",
            "tail -5 a",
        ] {
            assert!(read_only(line), "{line}");
        }
        for line in [
            "ls > x",
            "rm a",
            "cd a && ls",
            "sort -o x a",
            "tail -f a",
            "cat $(x)",
            "grep --file=x a",
            "FOO=1 ls",
            "find . -delete",
            "ls *",
            "./ls",
            "cargo --version",
        ] {
            assert!(!read_only(line), "{line}");
        }
    }

    #[test]
    fn wrappers_are_taken_off() {
        let check = |line: &str, want: &str| {
            let part = &parts(line).unwrap()[0];
            let text = super::super::shell_line::join(unwrapped(&part.words));
            assert_eq!(text, want, "{line}");
        };
        check("timeout 60 cargo test", "cargo test");
        check("timeout -k 5 60 cargo test", "cargo test");
        check("nice -n 5 cargo test x", "cargo test x");
        check("nice cargo test", "cargo test");
        check("xargs grep a", "grep a");
        check("xargs -n1 grep a", "xargs -n1 grep a");
        check("command -v ls", "command -v ls");
        check("nohup time ls", "ls");
    }
}

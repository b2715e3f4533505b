//! What is known of programs: which are harmless with which options, and which of their operands
//! are files.
//!
//! Two kinds of knowledge that must never be mixed up. `harmless` and `file_command` open a door:
//! a program, option or operand that they do not list makes them answer `None` (spec:
//! permissions.md 3, rules 1, 2 and 10). `operands` only closes doors: it guesses widely.

use super::shell_line::Word;

/// What an operand is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
    /// Its content or its name is read.
    Read,
    /// It is created or changed.
    Write,
    /// It is removed.
    Remove,
    /// The shell changes into it.
    Enter,
}

/// A program that only reads, with options that only read.
struct Reader {
    name: &'static str,
    /// Letters without a value.
    flags: &'static str,
    /// Letters with a value.
    valued: &'static str,
    /// Long options; a trailing `=` means that a value must be attached, `?` that it may be.
    long: &'static [&'static str],
    /// Which operands are files.
    files: Files,
    /// An operand may be a glob: none of its options writes or runs (rule 2).
    globs: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Files {
    /// None.
    No,
    /// All; without one it reads the input.
    All,
    /// All; without one the working directory.
    AllOrHere,
    /// All but the first, which is a pattern, unless `-e` gave one.
    AfterPattern,
    /// All, and they must be plain files: directories would be read through links.
    Plain,
}

/// Options that write (`--output`), run (`--pager`), follow links (`-R`, `-L`), wait (`-f`) or
/// read lists of names (`--files0-from`) are left out.
const READERS: &[Reader] = &[
    Reader {
        name: "ls",
        flags: "1aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ",
        valued: "ITw",
        long: &[
            "all",
            "almost-all",
            "classify",
            "color?",
            "directory",
            "format=",
            "full-time",
            "group-directories-first",
            "hide=",
            "human-readable",
            "ignore=",
            "inode",
            "no-group",
            "numeric-uid-gid",
            "recursive",
            "reverse",
            "size",
            "sort=",
            "time-style=",
            "time=",
        ],
        files: Files::AllOrHere,
        globs: true,
    },
    Reader {
        name: "cat",
        flags: "AbeEnstTuv",
        valued: "",
        long: &[
            "number",
            "number-nonblank",
            "show-all",
            "show-ends",
            "show-tabs",
            "squeeze-blank",
        ],
        files: Files::All,
        globs: true,
    },
    Reader {
        name: "pwd",
        flags: "LP",
        valued: "",
        long: &[],
        files: Files::No,
        globs: false,
    },
    Reader {
        name: "head",
        flags: "qvz0123456789",
        valued: "cn",
        long: &[
            "bytes=",
            "lines=",
            "quiet",
            "silent",
            "verbose",
            "zero-terminated",
        ],
        files: Files::All,
        globs: true,
    },
    Reader {
        name: "tail",
        flags: "qvz0123456789",
        valued: "cn",
        long: &[
            "bytes=",
            "lines=",
            "quiet",
            "silent",
            "verbose",
            "zero-terminated",
        ],
        files: Files::All,
        globs: true,
    },
    Reader {
        name: "wc",
        flags: "clmwL",
        valued: "",
        long: &["bytes", "chars", "lines", "max-line-length", "words"],
        files: Files::All,
        globs: true,
    },
    Reader {
        name: "grep",
        flags: "EFGPivwxcLlqsohHnbTUzaIry0123456789",
        valued: "emABC",
        long: &[
            "after-context=",
            "basic-regexp",
            "before-context=",
            "byte-offset",
            "color?",
            "context=",
            "count",
            "exclude-dir=",
            "exclude=",
            "extended-regexp",
            "files-with-matches",
            "files-without-match",
            "fixed-strings",
            "ignore-case",
            "include=",
            "invert-match",
            "line-number",
            "line-regexp",
            "max-count=",
            "no-filename",
            "no-messages",
            "null",
            "only-matching",
            "perl-regexp",
            "quiet",
            "recursive",
            "silent",
            "text",
            "with-filename",
            "word-regexp",
        ],
        files: Files::AfterPattern,
        globs: true,
    },
    Reader {
        name: "which",
        flags: "a",
        valued: "",
        long: &[],
        files: Files::No,
        globs: false,
    },
    Reader {
        name: "diff",
        flags: "qsuacwbBiENtTydp",
        valued: "UCW",
        long: &[
            "brief",
            "color?",
            "ignore-all-space",
            "ignore-blank-lines",
            "ignore-case",
            "ignore-space-change",
            "minimal",
            "report-identical-files",
            "side-by-side",
            "strip-trailing-cr",
            "text",
            "unified?",
        ],
        files: Files::Plain,
        globs: false,
    },
    Reader {
        name: "stat",
        flags: "ft",
        valued: "c",
        long: &["file-system", "format=", "printf=", "terse"],
        files: Files::All,
        globs: false,
    },
    Reader {
        name: "du",
        flags: "abchkmsSx0",
        valued: "dBt",
        long: &[
            "all",
            "apparent-size",
            "bytes",
            "exclude=",
            "human-readable",
            "max-depth=",
            "one-file-system",
            "summarize",
            "total",
        ],
        files: Files::AllOrHere,
        globs: true,
    },
];

/// What a harmless command reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reads {
    /// The operands that are files or directories.
    pub(super) paths: Vec<Word>,
    /// It reads the working directory.
    pub(super) here: bool,
    /// It reads the contents of all that lies beneath.
    pub(super) deep: bool,
    /// Its operands must be plain files.
    pub(super) plain: bool,
}

/// What a command reads, if the table proves that it does nothing else.
///
/// `fed`: `xargs` adds operands that nobody sees.
pub(super) fn harmless(words: &[Word], fed: bool) -> Option<Reads> {
    let (program, arguments) = words.split_first()?;
    if !program.literal() {
        return None;
    }
    // These read no option that does more than change what is printed, and no file.
    if matches!(program.text.as_str(), "echo" | "true" | "false") {
        let mut reads = Reads::default();
        // What a glob or a tilde would list counts as read.
        let shown = arguments.iter().filter(|word| !word.literal()).cloned();
        reads.paths.extend(shown);
        return Some(reads);
    }
    let reader = READERS.iter().find(|reader| reader.name == program.text)?;
    if fed && !reader.globs {
        return None;
    }
    let options = Options::read(reader, arguments)?;
    let mut paths = options.operands;
    if reader.files == Files::AfterPattern && !options.pattern {
        if paths.is_empty() {
            return None;
        }
        let pattern = paths.remove(0);
        // A pattern that the shell expands is a list of files in disguise.
        if !pattern.literal() {
            return None;
        }
    }
    if paths.iter().any(|word| word.glob) && !reader.globs {
        return None;
    }
    if reader.files == Files::No {
        paths.retain(|word| !word.literal());
    }
    let here = match reader.files {
        Files::AllOrHere => paths.is_empty(),
        Files::AfterPattern => paths.is_empty() && options.deep,
        Files::No | Files::All | Files::Plain => false,
    };
    Some(Reads {
        paths,
        here,
        deep: options.deep,
        plain: reader.files == Files::Plain,
    })
}

/// The options and operands of a harmless program, if it knows all of them.
struct Options {
    operands: Vec<Word>,
    /// `-e` or `--regexp` gave the pattern.
    pattern: bool,
    /// `grep -r`.
    deep: bool,
}

impl Options {
    fn read(reader: &Reader, arguments: &[Word]) -> Option<Self> {
        let grep = reader.files == Files::AfterPattern;
        let mut found = Self {
            operands: Vec::new(),
            pattern: false,
            deep: false,
        };
        let mut rest = arguments.iter();
        while let Some(word) = rest.next() {
            if word.text == "--" && word.literal() {
                found.operands.extend(rest.cloned());
                break;
            }
            if !word.text.starts_with('-') || word.text == "-" {
                found.operands.push(word.clone());
                continue;
            }
            if !word.literal() {
                return None;
            }
            if let Some(long) = word.text.strip_prefix("--") {
                if grep && long.starts_with("regexp=") {
                    found.pattern = true;
                    continue;
                }
                if !long_option(reader.long, long) {
                    return None;
                }
                found.deep |= grep && long == "recursive";
                continue;
            }
            let letters = &word.text[1..];
            for (at, letter) in letters.char_indices() {
                if reader.valued.contains(letter) {
                    found.pattern |= grep && letter == 'e';
                    let attached = at + letter.len_utf8() < letters.len();
                    if !attached && !rest.next().is_some_and(Word::literal) {
                        return None;
                    }
                    break;
                }
                if !reader.flags.contains(letter) {
                    return None;
                }
                found.deep |= grep && letter == 'r';
            }
        }
        Some(found)
    }
}

fn long_option(known: &[&str], given: &str) -> bool {
    let (name, value) = match given.split_once('=') {
        Some((name, _)) => (name, true),
        None => (given, false),
    };
    known.iter().any(|option| {
        if let Some(option) = option.strip_suffix('=') {
            option == name && value
        } else if let Some(option) = option.strip_suffix('?') {
            option == name
        } else {
            *option == name && !value
        }
    })
}

/// The operands of a file-system command that `acceptEdits` covers, if the table proves that it
/// touches nothing else: `mkdir touch rm rmdir mv cp sed`.
pub(super) fn file_command(words: &[Word]) -> Option<Vec<(Word, Use)>> {
    let (program, arguments) = words.split_first()?;
    if arguments.iter().any(|word| !word.literal()) || !program.literal() {
        return None;
    }
    let flags = match program.text.as_str() {
        "mkdir" => "pv",
        "touch" => "acm",
        "rm" => "rRfvdi",
        "rmdir" => "v",
        "mv" | "cp" => "fnv",
        "sed" => "iEnr",
        _ => return None,
    };
    let mut operands = Vec::new();
    let mut in_place = false;
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        if word.text == "--" {
            operands.extend(rest.cloned());
            break;
        }
        match word.text.strip_prefix('-') {
            None | Some("") => operands.push(word.clone()),
            // `-i` takes an attached suffix: only alone is it what it seems.
            Some(letters) if letters.contains('i') && program.text == "sed" => {
                in_place = letters == "i";
                if !in_place {
                    return None;
                }
            }
            Some(letters) if letters.chars().all(|letter| flags.contains(letter)) => {}
            Some(_) => return None,
        }
    }
    match program.text.as_str() {
        "sed" => {
            let script = (!operands.is_empty()).then(|| operands.remove(0))?;
            (in_place && plain_substitution(&script.text) && !operands.is_empty()).then_some(())?;
            Some(
                operands
                    .into_iter()
                    .map(|word| (word, Use::Write))
                    .collect(),
            )
        }
        "mv" | "cp" => moved(operands, program.text == "mv"),
        "rm" | "rmdir" => Some(
            operands
                .into_iter()
                .map(|word| (word, Use::Remove))
                .collect(),
        ),
        _ => Some(
            operands
                .into_iter()
                .map(|word| (word, Use::Write))
                .collect(),
        ),
    }
}

/// Sources, target, and the names that the sources get in a target directory.
fn moved(mut operands: Vec<Word>, removes: bool) -> Option<Vec<(Word, Use)>> {
    let target = operands.pop()?;
    if operands.is_empty() {
        return None;
    }
    let mut all = vec![(target.clone(), Use::Write)];
    let directory = target.text.ends_with('/') || target.text == ".";
    if !directory && operands.len() > 1 {
        return None;
    }
    for source in operands {
        if directory {
            let name = source
                .text
                .rsplit('/')
                .next()
                .filter(|name| !name.is_empty())?;
            let text = format!("{}/{name}", target.text.trim_end_matches('/'));
            all.push((Word::named(text), Use::Write));
        }
        all.push((source, if removes { Use::Remove } else { Use::Read }));
    }
    Some(all)
}

/// `s/a/b/` with harmless flags: sed's other commands and flags write and run.
fn plain_substitution(script: &str) -> bool {
    let mut characters = script.chars();
    if characters.next() != Some('s') {
        return false;
    }
    let Some(border @ ('/' | '|' | '#' | ',')) = characters.next() else {
        return false;
    };
    let (mut borders, mut escaped) = (0, false);
    for c in characters.by_ref() {
        match c {
            '\n' => return false,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == border => borders += 1,
            _ => {}
        }
        if borders == 2 {
            break;
        }
    }
    borders == 2 && characters.all(|c| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I'))
}

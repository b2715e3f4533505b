//! A command line as the rules see it: every command it could run, every file it names.
//!
//! Two views that must not be mixed up. `LineView` is wide, for ask, deny and the floor.
//! `sure_reaches` is exact, for what may run unasked; the runner looks at its paths beforehand
//! (`command_aims`), and a path that nobody looked at counts as being anywhere.

use std::collections::BTreeSet;

use super::looks_through::{base_name, everything, joined, unwrapped, Candidate};
use super::operands::{known, operands, removes};
use super::programs::{file_command, harmless, Use};
use super::protected::indirect;
use super::shell_line::{loose_words, split, Part, Redirect, Unclear, Word};
use crate::place::{normalise, Aim, Purpose};

/// Where behind `git` its subcommand may stand.
const MAX_GLOBAL: usize = 64;
/// More paths of one line are not looked at, so that the line asks.
const MAX_AIMS: usize = 64;

/// A file that a command names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    /// How it can be written from the working directory: more than one behind a `cd`, which may
    /// fail; none when the shell would have to tell.
    pub(super) spelled: Vec<String>,
    /// What for.
    pub(super) used: Use,
    /// Its last component is a pattern.
    pub(super) glob: bool,
}

/// The directories that relative paths of a line may start from.
pub(super) struct Bases {
    list: Vec<String>,
    /// The line changes directory in a way that is not followed.
    pub(super) lost: bool,
}

impl Bases {
    fn of(parts: &[Part]) -> Self {
        let mut bases = Self {
            list: vec![String::new()],
            lost: false,
        };
        for part in parts {
            let words = unwrapped(&part.words).words;
            let changes = words.first().is_some_and(|w| changes_directory(&w.text));
            if !changes {
                let inner = everything(&part.words).commands;
                let hidden = |c: &Candidate| c.words.iter().any(|w| changes_directory(&w.text));
                bases.lost |= inner.iter().skip(1).any(hidden);
                continue;
            }
            match target(words) {
                Some(word) if bases.list.len() == 1 => {
                    bases.list.extend(bases.spell(word));
                }
                Some(_) | None => bases.lost = true,
            }
        }
        bases
    }

    /// The ways to write a word as a path from the working directory.
    fn spell(&self, word: &Word) -> Vec<String> {
        if word.tilde {
            let home = word.text == "~" || word.text.starts_with("~/");
            return if home {
                vec![word.text.clone()]
            } else {
                Vec::new()
            };
        }
        if word.text.starts_with('/') {
            return vec![word.text.clone()];
        }
        // A quoted tilde is a name.
        let text = match word.text.strip_prefix('~') {
            Some(_) => format!("./{}", word.text),
            None => word.text.clone(),
        };
        self.list
            .iter()
            .map(|base| match base.as_str() {
                "" => text.clone(),
                base => format!("{base}/{text}"),
            })
            .collect()
    }

    /// The directories, as written from the working directory; the first is that itself.
    pub(super) fn list(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(String::as_str)
    }

    pub(super) fn reach(&self, word: &Word, used: Use) -> Reach {
        Reach {
            spelled: self.spell(word),
            used,
            glob: word.glob,
        }
    }
}

fn changes_directory(program: &str) -> bool {
    matches!(program, "cd" | "pushd" | "popd")
}

/// The literal directory of `cd DIR`.
pub(super) fn target(words: &[Word]) -> Option<&Word> {
    match words {
        [cd, target] if cd.text == "cd" => {
            let plain = !target.text.is_empty() && !target.text.starts_with('-');
            (plain && target.literal()).then_some(target)
        }
        _ => None,
    }
}

/// A command line, for ask and deny rules and for the floor.
pub(super) struct LineView {
    /// Its parts, or why it is not understood.
    pub(super) parts: Result<Vec<Part>, Unclear>,
    /// What each command could run, as texts to be compared as a whole.
    pub(super) texts: BTreeSet<String>,
    /// Texts in which a rule's text may occur at any word.
    pub(super) loose: Vec<String>,
    /// The files that the line names, as far as they can be guessed.
    pub(super) reaches: Vec<Reach>,
    /// A rule could be met in a way that nobody sees.
    pub(super) unseen: bool,
    /// A file could be touched that the line does not name.
    pub(super) unnamed: bool,
    /// Something is removed, and nobody sees what.
    pub(super) blind_removal: bool,
    /// Programs are found without regard to case.
    fold: bool,
}

impl LineView {
    pub(super) fn of(line: &str, fold: bool) -> Self {
        let mut view = Self {
            parts: split(line),
            texts: BTreeSet::new(),
            loose: Vec::new(),
            reaches: Vec::new(),
            unseen: false,
            unnamed: false,
            blind_removal: false,
            fold,
        };
        match view.parts.clone() {
            Ok(parts) => {
                let bases = Bases::of(&parts);
                for part in &parts {
                    view.add(part, &bases);
                }
            }
            Err(_) => view.unseen = true,
        }
        if view.unseen {
            view.unnamed = true;
            let words = loose_words(line);
            view.blind_removal |= words.iter().any(|word| removes(word) || word == "-delete");
            let bases: Vec<&str> = words.iter().map(|word| base_name(word)).collect();
            view.loose.push(bases.join(" "));
            view.loose.push(words.join(" "));
        }
        view
    }

    fn add(&mut self, part: &Part, bases: &Bases) {
        self.text(&part.words);
        self.text(unwrapped(&part.words).words);
        let found = everything(&part.words);
        self.unseen |= found.unseen;
        for text in found.loose {
            let bases: Vec<&str> = text.split(' ').map(base_name).collect();
            self.loose.push(bases.join(" "));
            self.loose.push(text);
        }
        for candidate in &found.commands {
            self.text(&candidate.words);
            self.files(candidate, bases);
        }
        for reach in redirects(part, bases) {
            self.unnamed |= bases.lost || reach.glob || reach.spelled.is_empty();
            self.reaches.push(reach);
        }
    }

    fn files(&mut self, candidate: &Candidate, bases: &Bases) {
        let program = candidate.words.first().map_or("", |word| &word.text);
        if !known(program) {
            return;
        }
        let found = operands(&candidate.words);
        let removal = removes(program) || found.iter().any(|(_, used)| *used == Use::Remove);
        let stands_for_others = |word: &Word| word.text.contains("{}");
        let hidden = candidate.fed || found.iter().any(|(word, _)| stands_for_others(word));
        self.unnamed |= hidden || bases.lost || recursive(program, &candidate.words);
        self.blind_removal |= hidden && removal;
        for (word, used) in found {
            let reach = bases.reach(&word, used);
            self.unnamed |= reach.glob || reach.spelled.is_empty();
            let relative = !word.text.starts_with('/') && !word.tilde;
            let unknown = reach.spelled.is_empty() || (bases.lost && relative);
            self.blind_removal |= used == Use::Remove && unknown;
            self.reaches.push(reach);
        }
    }

    /// A command's text, and those of the same command under other spellings.
    fn text(&mut self, words: &[Word]) {
        let Some(program) = words.first() else {
            return;
        };
        let whole = joined(words);
        let rest = whole[program.text.len()..].to_owned();
        let name = base_name(&program.text);
        if name == "git" && words.get(1).is_some_and(|word| word.text.starts_with('-')) {
            // Global options stand before the subcommand, some with a value.
            for at in 2..words.len().min(MAX_GLOBAL) {
                self.texts.insert(format!("git {}", joined(&words[at..])));
            }
            self.unseen |= words.len() > MAX_GLOBAL;
        }
        if self.fold {
            self.texts.insert(format!("{}{rest}", name.to_lowercase()));
        }
        self.texts.insert(format!("{name}{rest}"));
        self.texts.insert(whole);
    }
}

/// Reads what lies beneath a directory.
fn recursive(program: &str, words: &[Word]) -> bool {
    let flagged = |letters: &str| {
        words.iter().any(|word| {
            let short = word.text.starts_with('-') && !word.text.starts_with("--");
            short && word.text.contains(|c| letters.contains(c))
        })
    };
    let named = words.iter().any(|word| word.text.starts_with("--rec"));
    match base_name(program) {
        "rg" | "ag" | "tar" | "zip" | "rsync" => true,
        "git" => words.iter().any(|word| word.text == "grep"),
        "grep" | "egrep" | "fgrep" | "cp" | "scp" | "diff" => named || flagged("rRa"),
        _ => false,
    }
}

/// What a part is proven to touch, its redirects left out: they are decided on their own.
pub(super) struct Sure {
    /// The files.
    pub(super) reaches: Vec<Reach>,
    /// It reads the working directory itself.
    pub(super) here: bool,
    /// It reads the contents of all that lies beneath a directory.
    pub(super) deep: bool,
    /// What it reads must be plain files.
    pub(super) plain: bool,
    /// It changes files.
    pub(super) changes: bool,
}

/// The files of a part's redirects.
pub(super) fn redirects(part: &Part, bases: &Bases) -> Vec<Reach> {
    let used = |write| if write { Use::Write } else { Use::Read };
    let reach = |redirect: &Redirect| bases.reach(&redirect.target, used(redirect.write));
    part.redirects.iter().map(reach).collect()
}

/// The directories that the relative paths of these parts may start from.
pub(super) fn bases(parts: &[Part]) -> Bases {
    Bases::of(parts)
}

/// What a part touches, if it is proven to do nothing else.
pub(super) fn sure(part: &Part, bases: &Bases) -> Option<Sure> {
    if bases.lost || !part.assigns.iter().all(|(name, _)| harmless_variable(name)) {
        return None;
    }
    let unwrapped = unwrapped(&part.words);
    if !unwrapped.quiet {
        return None;
    }
    let mut sure = Sure {
        reaches: Vec::new(),
        here: false,
        deep: false,
        plain: false,
        changes: false,
    };
    if let Some(directory) = target(unwrapped.words) {
        sure.reaches.push(bases.reach(directory, Use::Enter));
    } else if let Some(reads) = harmless(unwrapped.words, unwrapped.fed) {
        // What `xargs` adds could be any file.
        if unwrapped.fed && !matches!(unwrapped.words[0].text.as_str(), "echo" | "true" | "false") {
            return None;
        }
        (sure.here, sure.deep, sure.plain) = (reads.here, reads.deep, reads.plain);
        let files = reads.paths.iter().filter(|word| word.text != "-");
        sure.reaches
            .extend(files.map(|word| bases.reach(word, Use::Read)));
    } else if !unwrapped.fed {
        let files = file_command(unwrapped.words)?;
        sure.changes = true;
        sure.plain = unwrapped.words[0].text == "mv" || unwrapped.words[0].text == "cp";
        sure.reaches
            .extend(files.iter().map(|(word, used)| bases.reach(word, *used)));
    } else {
        return None;
    }
    Some(sure)
}

/// Variables that change only how a program prints.
pub(super) fn harmless_variable(name: &str) -> bool {
    name.starts_with("LC_")
        || matches!(
            name,
            "LANG"
                | "TZ"
                | "NO_COLOR"
                | "FORCE_COLOR"
                | "CI"
                | "NODE_ENV"
                | "RUST_BACKTRACE"
                | "RUST_LOG"
                | "COLUMNS"
                | "TERM"
        )
}

/// The paths of a command line that the runner must look at, so that parts of it can be proven
/// harmless. A tool that runs command lines gives these as its aims.
pub fn command_aims(command: &str) -> Vec<Aim> {
    let Ok(parts) = split(command) else {
        return Vec::new();
    };
    let bases = Bases::of(&parts);
    let mut aims: Vec<Aim> = Vec::new();
    for part in &parts {
        let mut reaches = sure(part, &bases).map_or(Vec::new(), |sure| sure.reaches);
        reaches.extend(redirects(part, &bases));
        for reach in reaches.iter().filter(|reach| !reach.glob) {
            for path in &reach.spelled {
                let aim = Aim {
                    path: path.clone(),
                    purpose: purpose(reach.used),
                };
                if !aims.contains(&aim) && aims.len() < MAX_AIMS {
                    aims.push(aim);
                }
            }
        }
    }
    aims
}

/// What the runner looks for.
pub(super) fn purpose(used: Use) -> Purpose {
    match used {
        Use::Read => Purpose::Read,
        Use::Write | Use::Remove => Purpose::Write,
        Use::Enter => Purpose::Search,
    }
}

/// True when a command line is proven to change nothing, so that it may run beside other calls.
///
/// The table is small on purpose: everything that is not understood is not read-only.
pub fn read_only(command: &str) -> bool {
    let Ok(parts) = split(command) else {
        return false;
    };
    !parts.is_empty() && parts.iter().all(part_reads_only)
}

fn part_reads_only(part: &Part) -> bool {
    let unwrapped = unwrapped(&part.words);
    let Some(reads) = harmless(unwrapped.words, unwrapped.fed) else {
        return false;
    };
    let sources = part.redirects.iter().map(|redirect| &redirect.target);
    let files = reads.paths.iter().chain(sources);
    unwrapped.quiet
        && part.assigns.iter().all(|(name, _)| harmless_variable(name))
        && part
            .redirects
            .iter()
            .all(|r| !r.write && r.target.literal())
        && files.into_iter().all(|word| !device(&word.text))
}

/// Reading these does something, or never ends; bash opens sockets for some of them.
pub(super) fn device(path: &str) -> bool {
    let climbs = path.split('/').any(|part| part == "..");
    let special = |part: &str| matches!(part, "dev" | "proc" | "sys");
    if climbs && path.split('/').any(special) {
        return true;
    }
    let path = normalise(path, "/relative", "/home");
    let first = path.split('/').nth(1).unwrap_or("");
    (special(first) || indirect(&path)) && path != "/dev/null"
}

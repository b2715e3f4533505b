//! What a command really runs: wrappers taken off, and the programs that run other programs.
//!
//! `unwrapped` is exact, since allow rules build on it: a wrapper's option that it does not know
//! leaves the wrapper on. `everything` is wide, for ask and deny rules only: it names each command
//! that could be run, and says so when it cannot see one.

use super::shell_line::{loose_words, split, Word};

/// A command behind its wrappers.
pub(super) struct Unwrapped<'a> {
    /// The program and its arguments.
    pub(super) words: &'a [Word],
    /// `xargs` adds operands.
    pub(super) fed: bool,
    /// Only wrappers that do nothing but start the program were taken off.
    pub(super) quiet: bool,
}

/// Takes off `timeout time nice nohup stdbuf command builtin` and `xargs` without options.
pub(super) fn unwrapped(words: &[Word]) -> Unwrapped<'_> {
    let mut found = Unwrapped {
        words,
        fed: false,
        quiet: true,
    };
    while let Some((wrapper, rest)) = found.words.split_first() {
        if !wrapper.literal() {
            break;
        }
        let options = match wrapper.text.as_str() {
            // Quoted it would be the program of this name; the same options hold.
            "time" => switches(rest, &["-p"]),
            "command" => switches(rest, &["-p"]),
            "builtin" | "nohup" | "xargs" => Some(0),
            "nice" => valued(rest, &['n'], &["adjustment"], true),
            "stdbuf" => valued(rest, &['i', 'o', 'e'], &["input", "output", "error"], false),
            "timeout" => timeout(rest),
            _ => None,
        };
        let inner = options.and_then(|count| rest.get(count..)).unwrap_or(&[]);
        // An option that is left over belongs to the wrapper and is not understood.
        if inner
            .first()
            .is_none_or(|word| !word.literal() || word.text.starts_with('-'))
        {
            break;
        }
        found.fed |= wrapper.text == "xargs";
        found.quiet &= !matches!(wrapper.text.as_str(), "nohup" | "stdbuf");
        found.words = inner;
    }
    found
}

fn switches(words: &[Word], known: &[&str]) -> Option<usize> {
    let is_known = |word: &&Word| word.literal() && known.contains(&word.text.as_str());
    Some(words.iter().take_while(is_known).count())
}

/// Counts the words of leading options that each have a value.
fn valued(words: &[Word], short: &[char], long: &[&str], bare: bool) -> Option<usize> {
    let mut count = 0;
    while let Some(word) = words.get(count) {
        let Some(option) = word.text.strip_prefix('-') else {
            break;
        };
        if !word.literal() {
            return None;
        }
        if let Some(option) = option.strip_prefix('-') {
            let (name, _) = option.split_once('=')?;
            long.contains(&name).then_some(())?;
            count += 1;
        } else if bare && !option.is_empty() && option.bytes().all(|b| b.is_ascii_digit()) {
            count += 1;
        } else {
            let mut letters = option.chars();
            letters.next().filter(|letter| short.contains(letter))?;
            let attached = letters.next().is_some();
            if !attached && !words.get(count + 1).is_some_and(Word::literal) {
                return None;
            }
            count += if attached { 1 } else { 2 };
        }
    }
    Some(count)
}

fn timeout(words: &[Word]) -> Option<usize> {
    let mut count = 0;
    loop {
        let flags = ["--foreground", "--preserve-status", "-v", "--verbose"];
        count += switches(words.get(count..)?, &flags)?;
        let rest = words.get(count..)?;
        if rest.first().is_some_and(|word| word.text.starts_with('-')) {
            let more = valued(
                &rest[..rest.len().min(2)],
                &['k', 's'],
                &["kill-after", "signal"],
                false,
            )?;
            count += more;
            if more == 0 {
                return None;
            }
            continue;
        }
        let duration = rest.first()?;
        let number = duration.text.trim_end_matches(['s', 'm', 'h', 'd']);
        let plain = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        return (duration.literal() && plain).then_some(count + 1);
    }
}

/// Programs whose arguments are, or hold, another command.
const RUNNERS: &[&str] = &[
    "builtin",
    "busybox",
    "caffeinate",
    "chroot",
    "chrt",
    "command",
    "doas",
    "env",
    "exec",
    "flock",
    "ionice",
    "ltrace",
    "nice",
    "nohup",
    "noglob",
    "nsenter",
    "parallel",
    "runuser",
    "script",
    "setarch",
    "setsid",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "taskset",
    "time",
    "timeout",
    "unshare",
    "watch",
    "xargs",
];

const SHELLS: &[&str] = &["ash", "bash", "dash", "fish", "ksh", "mksh", "sh", "zsh"];

/// Commands looked at before a line counts as too deep to see through.
const MAX_COMMANDS: usize = 64;
/// Texts kept for a loose search.
const MAX_LOOSE: usize = 16;
/// Shells inside shells.
const MAX_DEPTH: usize = 4;
/// Where behind a runner the command may begin.
const MAX_OPTIONS: usize = 32;

/// A command that could be run.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// The program and its arguments.
    pub(super) words: Vec<Word>,
    /// It gets operands that are not in the line.
    pub(super) fed: bool,
}

/// All that a command could run, itself included.
#[derive(Debug, Default)]
pub(super) struct Everything {
    /// The commands.
    pub(super) commands: Vec<Candidate>,
    /// Texts in which a command may begin at any word.
    pub(super) loose: Vec<String>,
    /// There may be more than was found: the whole line is to be searched loosely.
    pub(super) unseen: bool,
}

/// Looks through programs that run others.
pub(super) fn everything(words: &[Word]) -> Everything {
    let mut found = Everything::default();
    found.look(words, false, 0);
    found
}

/// The last component of a program's name: `/bin/rm` is `rm`.
pub(super) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// The words, joined by single blanks.
pub(super) fn joined(words: &[Word]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}

impl Everything {
    fn look(&mut self, words: &[Word], fed: bool, depth: usize) {
        if self.commands.len() >= MAX_COMMANDS || depth > MAX_DEPTH {
            self.unseen = true;
            return;
        }
        let Some((program, arguments)) = words.split_first() else {
            return;
        };
        self.commands.push(Candidate {
            words: words.to_vec(),
            fed,
        });
        self.unseen |= !program.literal();
        let name = base_name(&program.text);
        if RUNNERS.contains(&name) {
            self.loosely(joined(arguments));
            self.unseen |= arguments.len() > MAX_OPTIONS;
            let feeds = fed || matches!(name, "xargs" | "parallel");
            for at in 0..arguments.len().min(MAX_OPTIONS) {
                let option = arguments[at].text.starts_with('-');
                // `env -S 'a b'` and `su -c 'a b'` hold a whole line in one word.
                if arguments[at].text.contains(char::is_whitespace) {
                    self.line(&arguments[at].text, depth);
                } else if !option {
                    self.look(&arguments[at..], feeds, depth + 1);
                }
            }
        } else if SHELLS.contains(&name) {
            self.shell(arguments, depth);
        } else if name == "eval" || name == "trap" {
            self.line(&joined(arguments), depth);
        } else if name == "find" {
            self.actions(arguments, depth);
        }
    }

    /// Keeps a text; the first of them hold the later ones, which are only cut from them.
    fn loosely(&mut self, text: String) {
        if self.loose.len() < MAX_LOOSE {
            self.loose.push(text);
        } else {
            self.unseen = true;
        }
    }

    /// What `sh` is told to run by `-c`; a script or the input is not seen.
    fn shell(&mut self, arguments: &[Word], depth: usize) {
        let clustered = |word: &Word| {
            word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('c')
        };
        let told = arguments.iter().position(clustered);
        let line = told.and_then(|at| {
            arguments[at + 1..]
                .iter()
                .find(|w| !w.text.starts_with('-'))
        });
        match line {
            Some(line) => self.line(&line.text, depth),
            // A script is as opaque as any other program; what comes by the input is a command.
            None => self.unseen |= !arguments.iter().any(|word| !word.text.starts_with('-')),
        }
    }

    fn line(&mut self, line: &str, depth: usize) {
        match split(line) {
            Ok(parts) => {
                for part in &parts {
                    self.look(&part.words, false, depth + 1);
                }
            }
            Err(_) => {
                self.unseen = true;
                self.loosely(loose_words(line).join(" "));
            }
        }
    }

    /// The commands of `find`'s actions; `{}` stands for operands that are not in the line.
    fn actions(&mut self, arguments: &[Word], depth: usize) {
        let is_action =
            |word: &Word| matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
        let mut rest = arguments;
        while let Some(at) = rest.iter().position(is_action) {
            rest = &rest[at + 1..];
            let ends = |word: &Word| matches!(word.text.as_str(), ";" | "+");
            let end = rest.iter().position(ends).unwrap_or(rest.len());
            self.look(&rest[..end], true, depth + 1);
            rest = &rest[end..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Word> {
        split(line).expect(line).remove(0).words
    }

    #[test]
    fn known_wrappers_come_off() {
        let check = |line: &str, want: &str| {
            assert_eq!(joined(unwrapped(&words(line)).words), want, "{line}");
        };
        check("timeout 5 ls", "ls");
        check("timeout -k 1 -s KILL --foreground 5m ls -l", "ls -l");
        check("time -p nice -n 5 ls", "ls");
        check("nice -5 nohup stdbuf -oL command -p builtin ls", "ls");
        check("xargs grep a", "grep a");
        check("xargs -n1 grep a", "xargs -n1 grep a");
        check("command -v ls", "command -v ls");
        check("time -o f ls", "time -o f ls");
        check("timeout --unknown 5 ls", "timeout --unknown 5 ls");
        check("timeout x ls", "timeout x ls");
        check("sudo ls", "sudo ls");
        check("nice", "nice");
    }

    #[test]
    fn runners_are_looked_through() {
        let check = |line: &str, want: &str| {
            let found = everything(&words(line));
            let hit = found
                .commands
                .iter()
                .any(|command| joined(&command.words) == want);
            assert!(hit, "{line}");
        };
        check("sudo -u root rm a", "rm a");
        check("env -i A=1 rm a", "rm a");
        check("sh -ec 'ls; rm a'", "rm a");
        check("bash -c 'sh -c \"rm a\"'", "rm a");
        check("find . -name x -exec rm {} +", "rm {}");
        check("eval rm a", "rm a");
        check("su -c 'rm a'", "rm a");
        check("xargs -n1 rm", "rm");
    }

    #[test]
    fn looking_through_ends() {
        let line = "sudo ".repeat(1_500);
        let found = everything(&words(&line));
        assert!(found.unseen && found.commands.len() <= MAX_COMMANDS);
    }
}

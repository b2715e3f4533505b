//! What rules and built-in knowledge say of a command line: each part for itself, and the line as
//! the strictest of them.

use super::decide::{Question, Verdict};
use super::paths::PathPattern;
use super::programs::{self, Does};
use super::protected::{is_critical, is_protected};
use super::rule::{command_matches, names, Rule, RuleSet, Spec};
use super::shell_line::{self, Part};
use crate::place::{normalise, within, PathAnswer};
use toolgate_protocol::notices::Mode;

const HARMLESS: &[&str] = &[
    "LANG",
    "TZ",
    "NO_COLOR",
    "FORCE_COLOR",
    "CI",
    "NODE_ENV",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "COLUMNS",
    "TERM",
];

/// How deep disguises are looked through.
const DEPTH: usize = 4;

/// The rule of a list (ask or deny) that meets the line, if one does.
pub fn met_by<'a>(line: &str, rules: &'a [Rule], question: &Question<'_>) -> Option<&'a Rule> {
    let parsed = shell_line::parts(line);
    rules
        .iter()
        .filter(|rule| names(&rule.tool, "Bash") || is_path_rule(rule))
        .find(|rule| match &rule.spec {
            Spec::Whole | Spec::Broken => names(&rule.tool, "Bash"),
            Spec::Parameter(name, value) => question
                .input
                .get(name)
                .map(|found| found.as_str().map_or(found.to_string(), str::to_owned))
                .is_some_and(|found| super::rule::wild(value, &found)),
            Spec::Command(pattern) => match &parsed {
                Ok(parts) => parts.iter().any(|part| part_meets(part, pattern)),
                Err(_) => text_occurs(pattern, line),
            },
            Spec::Path(pattern, reopens) => {
                !reopens
                    && !reopened(rules, rule, question, line)
                    && path_met(pattern, line, &parsed, question)
            }
        })
}

fn is_path_rule(rule: &Rule) -> bool {
    matches!(rule.spec, Spec::Path(..))
}

/// A later rule of the same source re-opens what this one closed.
fn reopened(rules: &[Rule], rule: &Rule, question: &Question<'_>, line: &str) -> bool {
    let parsed = shell_line::parts(line);
    let later = rules
        .iter()
        .skip_while(|other| !std::ptr::eq(*other, rule))
        .skip(1);
    later
        .filter(|other| other.source == rule.source)
        .any(|other| match &other.spec {
            Spec::Path(pattern, true) => path_met(pattern, line, &parsed, question),
            _ => false,
        })
}

fn part_meets(part: &Part, pattern: &str) -> bool {
    programs::disguises(&part.words, DEPTH)
        .iter()
        .any(|words| command_matches(pattern, &shell_line::join(words)))
}

/// A path rule meets a line when a file that it names matches; of a line that is not understood,
/// when any word of it does.
fn path_met(
    pattern: &PathPattern,
    line: &str,
    parsed: &Result<Vec<Part>, &'static str>,
    question: &Question<'_>,
) -> bool {
    let matches =
        |path: &str| pattern.matches(path, question.cwd, question.home, question.fold_case);
    if question
        .answers
        .iter()
        .any(|a| matches(&a.lexical) || matches(a.place.path()))
    {
        return true;
    }
    let words: Vec<String> = match parsed {
        Ok(parts) => {
            let words = parts
                .iter()
                .flat_map(|part| part.words.iter().map(|w| w.text.clone()));
            let aims = programs::aims(line).into_iter().map(|aim| aim.path);
            words.chain(aims).collect()
        }
        Err(_) => line
            .split(|c: char| c.is_whitespace() || ";|&<>()`'\"$={},".contains(c))
            .map(str::to_owned)
            .collect(),
    };
    words
        .iter()
        .filter(|word| !word.is_empty() && !word.starts_with('-'))
        .flat_map(|word| {
            let after = word.split_once('=').map(|(_, value)| value.to_owned());
            after.into_iter().chain([word.clone()])
        })
        .any(|word| matches(&normalise(&word, question.cwd, question.home)))
}

/// The literal beginning of a pattern stands in a line that is not understood, with or without the
/// line's quotes.
fn text_occurs(pattern: &str, line: &str) -> bool {
    let start = pattern.split('*').next().unwrap_or_default().trim();
    if start.is_empty() {
        return true;
    }
    let bare: String = line.chars().filter(|c| !"'\"\\".contains(*c)).collect();
    [line, bare.as_str()].iter().any(|text| {
        let mut from = 0;
        while let Some(at) = text[from..].find(start) {
            let at = from + at;
            let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            let before = text[..at].chars().next_back().is_some_and(inside);
            let behind = text[at + start.len()..].chars().next().is_some_and(inside);
            if !before && !behind {
                return true;
            }
            from = at + start.len();
        }
        false
    })
}

/// The floor: writes to protected places, and removals that would be a catastrophe. The error
/// says why it asks; true: in every mode.
pub fn floor(line: &str, question: &Question<'_>) -> Option<(String, bool)> {
    let Ok(parts) = shell_line::parts(line) else {
        let bare: String = line.chars().filter(|c| !"'\"\\".contains(*c)).collect();
        let removes = text_occurs("rm", &bare) || text_occurs("rmdir", &bare);
        return removes.then(|| {
            (
                "it is not understood and may remove something".to_owned(),
                true,
            )
        });
    };
    for part in &parts {
        for words in programs::disguises(&part.words, DEPTH) {
            if let Some(found) = critical(&words, question) {
                return Some((format!("it would remove {found}"), true));
            }
        }
    }
    let written = |answer: &&PathAnswer| answer.aim.purpose == crate::place::Purpose::Write;
    question
        .answers
        .iter()
        .filter(written)
        .find(|a| is_protected(&a.lexical) || is_protected(a.place.path()))
        .map(|answer| (format!("{} is a protected place", answer.lexical), false))
}

fn critical(words: &[shell_line::Word], question: &Question<'_>) -> Option<String> {
    let (program, operands) = words.split_first()?;
    if !matches!(program.text.as_str(), "rm" | "rmdir") {
        return None;
    }
    operands
        .iter()
        .filter(|word| !word.text.starts_with('-'))
        .find_map(|word| {
            let text = word.text.trim_end_matches("/*").trim_end_matches("/.");
            let whole = word.text == "*" || word.text == "~" || text.is_empty();
            let path = normalise(text, question.cwd, question.home);
            let hit = whole || is_critical(&path, question.home, question.roots);
            hit.then(|| word.text.clone())
        })
}

/// Do allow rules, or what is known to only read, cover every part? The rule that covered last.
pub fn allowed<'a>(
    line: &str,
    rules: &'a RuleSet,
    question: &Question<'_>,
) -> Result<Option<&'a Rule>, String> {
    if let Some(rule) = rules
        .allow
        .iter()
        .find(|r| names(&r.tool, "Bash") && matches!(r.spec, Spec::Whole))
    {
        return match shell_line::parts(line) {
            Ok(parts) if parts.iter().any(writes_file) => {
                Err("it writes a file by redirection".to_owned())
            }
            _ => Ok(Some(rule)),
        };
    }
    let exact = rules.allow.iter().find(|rule| {
        matches!(&rule.spec, Spec::Command(pattern) if !pattern.contains('*') && pattern == line)
            && names(&rule.tool, "Bash")
    });
    let parts = match (shell_line::parts(line), exact) {
        (Ok(parts), _) => parts,
        (Err(_), Some(rule)) => return Ok(Some(rule)),
        (Err(why), None) => return Err(format!("the command is not understood: {why}")),
    };
    let mut last = None;
    for part in &parts {
        match covers(part, rules) {
            _ if writes_file(part) => return Err("it writes a file by redirection".to_owned()),
            Some(rule) => last = Some(rule),
            None if known_harmless(part, question) => {}
            None => return Err(format!("no rule covers `{}`", part.text())),
        }
    }
    inside(question)?;
    Ok(last)
}

fn writes_file(part: &Part) -> bool {
    part.redirects
        .iter()
        .any(|redirect| redirect.write || !redirect.target.literal)
}

fn covers<'a>(part: &Part, rules: &'a RuleSet) -> Option<&'a Rule> {
    let harmless = |name: &String| name.starts_with("LC_") || HARMLESS.contains(&name.as_str());
    if !part.assigns.iter().all(harmless) {
        return None;
    }
    let words = programs::unwrapped(&part.words);
    let exact_only = programs::needs_exact(words);
    let (text, full) = (shell_line::join(words), part.text());
    rules.allow.iter().find(|rule| match &rule.spec {
        Spec::Command(pattern) if names(&rule.tool, "Bash") => {
            let star = pattern.contains('*');
            (!star || !exact_only) && (command_matches(pattern, &text) || *pattern == full)
        }
        _ => false,
    })
}

/// What is known in all its words, and allowed unasked: readers, `cd` inside the working
/// directories, and in acceptEdits a few writers.
fn known_harmless(part: &Part, question: &Question<'_>) -> bool {
    let Some(action) = programs::action(part) else {
        return false;
    };
    match action.does {
        Does::Reads | Does::Goes => true,
        Does::Writes => question.mode == Mode::AcceptEdits && !action.files.is_empty(),
    }
}

/// Every file that known parts name lies inside the working directories, links followed.
fn inside(question: &Question<'_>) -> Result<(), String> {
    let within_roots = |path: &str| question.roots.iter().any(|root| within(path, root));
    let outside = question
        .answers
        .iter()
        .find(|a| !(within_roots(&a.lexical) && within_roots(a.place.path())));
    match outside {
        Some(answer) => Err(format!(
            "{} is outside the working directories",
            answer.lexical
        )),
        None => Ok(()),
    }
}

/// Rules that would cover the line from now on: one a part that needs one, at most five.
pub fn suggestions(line: &str, rules: &RuleSet, question: &Question<'_>) -> Vec<String> {
    let Ok(parts) = shell_line::parts(line) else {
        return Vec::new();
    };
    let mut out: Vec<String> = Vec::new();
    for part in &parts {
        if covers(part, rules).is_some() || known_harmless(part, question) {
            continue;
        }
        let words = programs::unwrapped(&part.words);
        let literal = words
            .iter()
            .take(2)
            .all(|word| word.literal && word.text.is_ascii());
        let opaque = programs::runs_anything(words) || programs::needs_exact(words);
        if opaque || !literal || !part.assigns.is_empty() || writes_file(part) {
            return Vec::new();
        }
        let sub = |word: &shell_line::Word| {
            word.text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == ':')
                && !word.text.starts_with('-')
        };
        let rule = match words {
            [program, second, ..] if sub(second) => {
                format!("Bash({} {} *)", program.text, second.text)
            }
            _ => format!("Bash({})", shell_line::join(words)),
        };
        if !out.contains(&rule) {
            out.push(rule);
        }
    }
    match out.len() {
        1..=5 => out,
        _ => Vec::new(),
    }
}

/// Whether the line only reads, for plan mode.
pub fn only_reads(line: &str, question: &Question<'_>) -> Verdict {
    let Ok(parts) = shell_line::parts(line) else {
        return Verdict::Ask;
    };
    let reads = parts.iter().all(|part| {
        !writes_file(part)
            && programs::action(part).is_some_and(|action| action.does != Does::Writes)
    });
    match reads && inside(question).is_ok() {
        true => Verdict::Allow,
        false => Verdict::Ask,
    }
}

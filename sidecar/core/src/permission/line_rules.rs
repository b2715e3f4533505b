//! Command rules against a command line.
//!
//! Ask and deny look at everything that the line could run; allow must cover every part, and
//! never what it cannot name (spec: permissions.md 1.3).

use super::looks_through::{base_name, joined, unwrapped};
use super::reach::{harmless_variable, LineView};
use super::rule::{Rule, Spec};
use super::shell_line::{Part, Word};

/// The ask or deny rule that a line meets.
pub(super) fn met<'a>(rules: &'a [Rule], view: &LineView) -> Option<&'a Rule> {
    rules.iter().find(|rule| match &rule.spec {
        Spec::Command(pattern) => {
            view.texts.iter().any(|text| pattern.covers(text))
                || view.loose.iter().any(|text| pattern.occurs(text))
        }
        Spec::Bare
        | Spec::Read(_)
        | Spec::Edit(_)
        | Spec::Host(_)
        | Spec::Name(_)
        | Spec::Never => false,
    })
}

/// The text of a part that allow rules are held against.
pub(super) fn allow_text(part: &Part) -> Option<String> {
    if !part.assigns.iter().all(|(name, _)| harmless_variable(name)) {
        return None;
    }
    let words = unwrapped(&part.words).words;
    let program = words.first()?;
    // Joined, a program `"npm test"` would look like `npm` with an argument.
    if !program.literal() || program.text.is_empty() || program.text.contains(char::is_whitespace) {
        return None;
    }
    Some(joined(words))
}

/// The allow rule that covers a part. `moved`: the line changes directory.
pub(super) fn covers<'a>(
    rules: &'a [Rule],
    tool: &str,
    part: &Part,
    moved: bool,
) -> Option<&'a Rule> {
    let text = allow_text(part)?;
    let exact_only = only_exact(part, moved);
    rules.iter().find(|rule| match &rule.spec {
        Spec::Command(pattern) => {
            rule.names(tool) && (pattern.exact || !exact_only) && pattern.covers(&text)
        }
        Spec::Bare => rule.covers_all(tool),
        Spec::Read(_) | Spec::Edit(_) | Spec::Host(_) | Spec::Name(_) | Spec::Never => false,
    })
}

/// Changes what later parts of the line mean.
pub(super) fn changes_shell(part: &Part) -> bool {
    let words = unwrapped(&part.words).words;
    let program = words.first().map_or("", |word| word.text.as_str());
    let into_variable = |word: &Word| word.text.starts_with("-v") || word.glob;
    let prints_into = program == "printf" && words[1..].iter().any(into_variable);
    prints_into
        || matches!(
            program,
            "." | "alias"
                | "bind"
                | "complete"
                | "declare"
                | "enable"
                | "eval"
                | "exec"
                | "export"
                | "getopts"
                | "hash"
                | "let"
                | "local"
                | "mapfile"
                | "popd"
                | "pushd"
                | "read"
                | "readarray"
                | "readonly"
                | "set"
                | "shopt"
                | "source"
                | "trap"
                | "typeset"
                | "unalias"
                | "unset"
        )
}

/// Parts that a prefix or a star cannot cover: what they run or change is not in the words that
/// the person had in mind.
fn only_exact(part: &Part, moved: bool) -> bool {
    let words = unwrapped(&part.words).words;
    let Some((program, arguments)) = words.split_first() else {
        return true;
    };
    let acts = |text: &str| {
        matches!(
            text,
            "-delete" | "-exec" | "-execdir" | "-ok" | "-okdir" | "-fls"
        ) || text.starts_with("-fprint")
    };
    match base_name(&program.text) {
        "watch" | "setsid" | "ionice" | "flock" => true,
        // A pattern could become an action.
        "find" => arguments.iter().any(|word| acts(&word.text) || word.glob),
        "git" => {
            moved
                || arguments
                    .first()
                    .is_some_and(|word| word.text.starts_with('-'))
        }
        _ => changes_shell(part),
    }
}

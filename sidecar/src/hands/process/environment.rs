//! The environment of a child: built by us, never just inherited (spec: permissions.md, 3.3, 3.4).
//!
//! What could change which program a name means, or run something before the command does, is
//! left out; so are provider keys. Pure: the sidecar's own environment is an argument.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Names that are never handed on.
const NEVER: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "CDPATH",
    "GLOBIGNORE",
    "IFS",
    "POSIXLY_CORRECT",
    "LESSOPEN",
    "LESSCLOSE",
    "MANPAGER",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "PYTHONSTARTUP",
    "PERL5OPT",
    "RUBYOPT",
    "GCONV_PATH",
    "GREP_OPTIONS",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "OPENAI_API_KEY",
];

/// Beginnings of names that are never handed on.
const NEVER_PREFIX: &[&str] = &["LD_", "DYLD_", "GIT_", "BASH_FUNC_", "TOOLGATE_"];

/// Ends of names that are never handed on.
const NEVER_SUFFIX: &[&str] = &["_OPTIONS", "_API_KEY"];

/// What every child gets.
const ALWAYS: &[(&str, &str)] = &[
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_PAGER", "cat"),
    // An editor would wait for a person who cannot see it.
    ("GIT_EDITOR", "true"),
    ("PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("TERM", "dumb"),
    ("TOOLGATE", "1"),
];

/// The child's environment. `deny` names more variables to leave out; a `*` at either end stands
/// for anything.
pub(super) fn made_of(
    own: impl IntoIterator<Item = (OsString, OsString)>,
    deny: &[String],
    extra: &[(&str, OsString)],
) -> Vec<(OsString, OsString)> {
    let mut vars: Vec<(OsString, OsString)> = Vec::new();
    for (name, value) in own {
        if name == "PATH" {
            vars.push((name, absolute_only(&value)));
        } else if !left_out(&name, deny) {
            vars.push((name, value));
        }
    }
    let always = ALWAYS
        .iter()
        .map(|(name, value)| (*name, OsString::from(value)));
    for (name, value) in always.chain(extra.iter().cloned()) {
        vars.retain(|(known, _)| known != name);
        vars.push((OsString::from(name), value));
    }
    vars
}

fn left_out(name: &OsStr, deny: &[String]) -> bool {
    // A name that is no UTF-8 is no variable that a program asks for on purpose.
    let Some(name) = name.to_str() else {
        return true;
    };
    NEVER.contains(&name)
        || NEVER_PREFIX.iter().any(|part| name.starts_with(part))
        || NEVER_SUFFIX.iter().any(|part| name.ends_with(part))
        || deny.iter().any(|pattern| matches(pattern, name))
}

fn matches(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(rest), Some(_)) => name.contains(rest.trim_end_matches('*')),
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => name == pattern,
    }
}

/// A search path without entries that depend on where the command runs: a file of the workspace
/// must not answer to `ls`.
fn absolute_only(path: &OsStr) -> OsString {
    let entries = path.as_bytes().split(|byte| *byte == b':');
    let kept: Vec<&[u8]> = entries.filter(|entry| entry.starts_with(b"/")).collect();
    OsString::from_vec(kept.join(&b':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(own: &[(&str, &str)], deny: &[&str], want: &[(&str, &str)]) {
        let own = own.iter().map(|(n, v)| (n.into(), v.into()));
        let deny: Vec<String> = deny.iter().map(|text| (*text).to_owned()).collect();
        let got = made_of(own, &deny, &[]);
        let got: Vec<_> = got
            .iter()
            .map(|(n, v)| (n.to_str().unwrap(), v.to_str().unwrap()))
            .filter(|(name, _)| !ALWAYS.iter().any(|(known, _)| known == name))
            .collect();
        assert_eq!(got, want);
    }

    #[test]
    fn what_changes_programs_is_left_out() {
        check(
            &[
                ("PATH", "bin:/usr/bin::./x:/bin"),
                ("HOME", "/h"),
                ("BASH_ENV", "x"),
                ("LD_PRELOAD", "x"),
                ("GIT_DIR", "x"),
                ("NODE_OPTIONS", "x"),
                ("BASH_FUNC_ls%%", "x"),
                ("ANTHROPIC_API_KEY", "x"),
                ("MISTRAL_API_KEY", "x"),
            ],
            &[],
            &[("PATH", "/usr/bin:/bin"), ("HOME", "/h")],
        );
        check(
            &[("MY_KEY", "x"), ("A_TOKEN", "x"), ("KEEP", "y")],
            &["MY_KEY", "*_TOKEN"],
            &[("KEEP", "y")],
        );
    }

    #[test]
    fn nobody_asks_on_a_terminal() {
        let got = made_of([("GIT_EDITOR".into(), "vi".into())], &[], &[]);
        assert!(got.contains(&("GIT_EDITOR".into(), "true".into())));
        assert!(got.contains(&("GIT_TERMINAL_PROMPT".into(), "0".into())));
    }
}

//! The rules that "always" would save (spec: permissions.md, section 5).
//!
//! One literal rule for each part that needed one, never wider than a program and its subcommand,
//! and none at all where a rule would say more than the person saw.

use super::line_rules::allow_text;
use super::looks_through::{base_name, unwrapped};
use super::names::{host, is_address};
use super::question::Question;
use super::shell_line::Part;
use crate::place::Purpose;

/// More parts than this are not saved at once.
const MAX_RULES: usize = 5;

/// Programs whose first operand says what they do.
const SUBCOMMANDS: &[&str] = &[
    "apt",
    "brew",
    "bundle",
    "cargo",
    "composer",
    "deno",
    "docker",
    "dotnet",
    "gh",
    "git",
    "go",
    "gradle",
    "helm",
    "just",
    "kubectl",
    "make",
    "mix",
    "mvn",
    "npm",
    "pip",
    "pnpm",
    "poetry",
    "rustup",
    "systemctl",
    "terraform",
    "yarn",
];

/// Programs that run whatever their arguments say.
const NEVER: &[&str] = &[
    ".",
    "ash",
    "awk",
    "bash",
    "bun",
    "bunx",
    "builtin",
    "busybox",
    "chroot",
    "command",
    "dash",
    "deno",
    "doas",
    "env",
    "eval",
    "exec",
    "expect",
    "find",
    "fish",
    "flock",
    "gawk",
    "ionice",
    "ksh",
    "lua",
    "mawk",
    "nice",
    "node",
    "nohup",
    "npx",
    "nsenter",
    "osascript",
    "parallel",
    "perl",
    "php",
    "pnpx",
    "pwsh",
    "python",
    "python2",
    "python3",
    "ruby",
    "script",
    "setarch",
    "setsid",
    "sh",
    "source",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "tclsh",
    "time",
    "timeout",
    "trap",
    "unshare",
    "uv",
    "uvx",
    "watch",
    "xargs",
    "zsh",
];

/// The rules for these parts of a line.
pub(super) fn for_parts(parts: &[&Part]) -> Vec<String> {
    let mut wanted = Vec::new();
    for part in parts {
        let Some(rule) = for_part(part) else {
            return Vec::new();
        };
        if !wanted.contains(&rule) {
            wanted.push(rule);
        }
    }
    if wanted.len() > MAX_RULES {
        wanted.clear();
    }
    wanted
}

fn for_part(part: &Part) -> Option<String> {
    let text = allow_text(part)?;
    let unwrapped = unwrapped(&part.words);
    let words = unwrapped.words;
    let (program, arguments) = words.split_first()?;
    let name = base_name(&program.text);
    if unwrapped.fed || NEVER.contains(&name) || !words.iter().all(|word| word.literal()) {
        return None;
    }
    // A star would be a wildcard; a line break would not be seen.
    let plain = |text: &str| text.chars().all(|c| c != '*' && !c.is_control());
    if let Some(first) = arguments.first() {
        let subcommand = first.text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && first
                .text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_:.".contains(&b));
        let runs = matches!(first.text.as_str(), "dlx" | "exec" | "run-script" | "x")
            || (name == "docker" && first.text == "run");
        if SUBCOMMANDS.contains(&program.text.as_str()) && !runs {
            let rule = format!("Bash({} {} *)", program.text, first.text);
            return subcommand.then_some(rule);
        }
    }
    plain(&text).then(|| format!("Bash({text})"))
}

/// The rules for a call that runs no command.
pub(super) fn for_tool(question: &Question<'_>) -> Vec<String> {
    let tool = question.tool;
    if !question.answers.is_empty() {
        return for_paths(question);
    }
    match tool {
        "WebFetch" => {
            let url = question.input.get("url").and_then(|url| url.as_str());
            let host = url
                .and_then(host)
                .filter(|host| !is_address(host) && host.contains('.'));
            host.map(|host| format!("WebFetch(domain:{host})"))
                .into_iter()
                .collect()
        }
        "Agent" => {
            let name = question
                .input
                .get("subagent_type")
                .and_then(|name| name.as_str());
            let plain = |name: &&str| {
                !name.is_empty()
                    && name
                        .bytes()
                        .all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
            };
            name.filter(plain)
                .map(|name| format!("Agent({name})"))
                .into_iter()
                .collect()
        }
        // Without its input nothing narrower than the whole tool could be said.
        "Bash" | "Read" | "Grep" | "Glob" | "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => {
            Vec::new()
        }
        _ => vec![tool.to_owned()],
    }
}

fn for_paths(question: &Question<'_>) -> Vec<String> {
    let mut wanted = Vec::new();
    for answer in question.answers {
        let (tool, tail) = match answer.aim.purpose {
            Purpose::Write => ("Edit", ""),
            Purpose::Read => ("Read", ""),
            Purpose::Search => ("Read", "/**"),
        };
        for path in [answer.lexical.as_str(), answer.place.path()] {
            let plain = |c: char| !c.is_control() && !"*?[]{}\\!() ".contains(c);
            if !path.starts_with('/') || path == "/" || !path.chars().all(plain) {
                return Vec::new();
            }
            let rule = format!("{tool}(/{path}{tail})");
            if !wanted.contains(&rule) {
                wanted.push(rule);
            }
        }
    }
    if wanted.len() > MAX_RULES {
        wanted.clear();
    }
    wanted
}

//! Paths that no rule may hand out: what the editor, a shell or a later tool would run or obey
//! (spec: permissions.md 1.4; compat.md 2.5, the union), and directories whose removal is ruin.
//!
//! By name, wherever they lie and whether they exist or not. Names are compared without regard to
//! case: where case matters, asking once too often does no harm.

use crate::place::within;

/// A directory of this name is protected with all that lies beneath it.
const DIRECTORIES: &[&str] = &[
    ".cargo",
    ".claude",
    ".devcontainer",
    ".git",
    ".husky",
    ".idea",
    ".mvn",
    ".ssh",
    ".toolgate",
    ".vscode",
    ".yarn",
];

/// Files of these names.
const FILES: &[&str] = &[
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".bazelversion",
    ".claude.json",
    ".cshrc",
    ".envrc",
    ".exrc",
    ".gdbinit",
    ".gitconfig",
    ".gitmodules",
    ".inputrc",
    ".kshrc",
    ".lldbinit",
    ".login",
    ".logout",
    ".mcp.json",
    ".npmrc",
    ".nvim.lua",
    ".nvimrc",
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    ".profile",
    ".ripgreprc",
    ".tcshrc",
    ".vimrc",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "bunfig.toml",
    "config.fish",
    "gradle-wrapper.properties",
    "maven-wrapper.properties",
    "pyrightconfig.json",
    "toolgate.toml",
];

/// Files whose names begin so.
const PREFIXES: &[&str] = &[
    ".lefthook.",
    ".lefthook-local.",
    ".pnp.",
    ".yarnrc",
    "lefthook.",
    "lefthook-local.",
    "rust-toolchain",
];

/// Our own and other tools' settings beneath the person's configuration directory.
const CONFIGURATION: &[&str] = &["fish", "git", "toolgate"];

/// True when a write to this path needs a person, whatever the rules say.
pub(super) fn protected(path: &str) -> bool {
    let lower = path.to_lowercase();
    let parts: Vec<&str> = lower.split('/').filter(|part| !part.is_empty()).collect();
    let directory = parts.iter().enumerate().any(|(at, part)| {
        // Work trees of agents lie in there and are ordinary projects.
        let work_tree = *part == ".claude" && parts.get(at + 1) == Some(&"worktrees");
        let own = *part == ".config"
            && parts
                .get(at + 1)
                .is_some_and(|next| CONFIGURATION.contains(next));
        (DIRECTORIES.contains(part) && !work_tree) || own
    });
    let name = parts.last().copied().unwrap_or("");
    directory
        || FILES.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || (name.contains(".bazelrc") || name.ends_with(".code-workspace"))
}

/// True when the removal of this path is never pre-approved.
///
/// `glob`: the last component is a pattern, so that everything in its directory may go.
pub(super) fn critical(path: &str, glob: bool, home: &str, roots: &[String], cwd: &str) -> bool {
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    let parent = if parent.is_empty() { "/" } else { parent };
    if glob {
        return critical(parent, false, home, roots, cwd);
    }
    // The root, and what lies directly in it.
    name.is_empty()
        || parent == "/"
        || within(home, path)
        || within(cwd, path)
        || roots.iter().any(|root| within(root, path))
}

/// True for paths that are another name of a process's own files: they cannot be compared.
pub(super) fn indirect(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        ["dev", "fd" | "stdin" | "stdout" | "stderr", ..] => true,
        ["proc", _, rest @ ..] => rest
            .iter()
            .any(|part| matches!(*part, "root" | "cwd" | "fd" | "exe" | "map_files")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protected_paths_are_known_by_name() {
        for path in [
            "/p/.git/config",
            "/p/a/.git",
            "/p/.GIT/x",
            "/p/.vscode/tasks.json",
            "/h/.bashrc",
            "/p/.yarnrc.yml",
            "/p/.pnp.cjs",
            "/p/lefthook.yml",
            "/p/.mcp.json",
            "/p/.bazelrc",
            "/p/rust-toolchain.toml",
            "/h/.config/git/config",
            "/p/toolgate.toml",
            "/p/.claude/settings.json",
            "/p/.claude/worktrees/x/.git/config",
        ] {
            assert!(protected(path), "{path}");
        }
        for path in [
            "/p/.gitignore",
            "/p/.github/a.yml",
            "/p/src/a.rs",
            "/p/git/x",
            "/h/.config/x",
            "/p/.claude/worktrees/x/src/a.rs",
        ] {
            assert!(!protected(path), "{path}");
        }
    }

    #[test]
    fn critical_removals_are_known() {
        let roots = ["/home/d/p".to_owned(), "/srv/x".to_owned()];
        let check = |path, glob, want| {
            assert_eq!(
                critical(path, glob, "/home/d", &roots, "/home/d/p/s"),
                want,
                "{path}"
            );
        };
        for path in [
            "/",
            "/etc",
            "/home",
            "/home/d",
            "/home/d/p",
            "/home/d/p/s",
            "/srv",
            "/srv/x",
        ] {
            check(path, false, true);
        }
        check("/home/d/p/s/*", true, true);
        check("/srv/x/*", true, true);
        check("/*", true, true);
        check("/home/d/p/build", false, false);
        check("/home/d/p/build/*", true, false);
        check("/usr/local/x", false, false);
    }
}

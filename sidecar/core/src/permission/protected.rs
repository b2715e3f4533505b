//! The floor that no allow rule lifts: protected places, and removals that would be a catastrophe
//! (permissions.md 1.2 step 5 and 1.4; compat.md 2.5).

use crate::place::within;

const FOLDERS: &[&str] = &[
    ".git",
    ".vscode",
    ".idea",
    ".husky",
    ".cargo",
    ".devcontainer",
    ".claude",
    ".yarn",
    ".mvn",
    ".toolgate",
];

const FILES: &[&str] = &[
    ".mcp.json",
    ".claude.json",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".envrc",
    ".npmrc",
    ".gitconfig",
    ".gitmodules",
    ".pre-commit-config.yaml",
    ".ripgreprc",
    "bunfig.toml",
    ".bazelrc",
    ".bazelversion",
    "pyrightconfig.json",
    "toolgate.toml",
    "gradle-wrapper.properties",
    "maven-wrapper.properties",
];

const PREFIXES: &[&str] = &[".yarnrc", ".pnp.", "lefthook.", "rust-toolchain"];

/// Is writing this absolute path asked about whatever the rules say?
pub fn is_protected(path: &str) -> bool {
    let lower = path.to_lowercase();
    let mut parts = lower.split('/').filter(|part| !part.is_empty());
    if parts.any(|part| FOLDERS.contains(&part)) {
        return true;
    }
    let name = lower.rsplit('/').next().unwrap_or_default();
    let hook = name.trim_start_matches('.');
    FILES.contains(&name)
        || PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix) || hook.starts_with(prefix))
}

/// Would removing this absolute path be a catastrophe: `/` and its children, home, a workspace
/// root, or a directory above one?
pub fn is_critical(path: &str, home: &str, roots: &[String]) -> bool {
    let depth = path.split('/').filter(|part| !part.is_empty()).count();
    depth <= 1 || within(home, path) || roots.iter().any(|root| within(root, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protected_places() {
        for path in [
            "/w/.git/config",
            "/w/a/.vscode/x",
            "/w/.bashrc",
            "/w/lefthook.yml",
            "/w/.lefthook.yml",
            "/w/rust-toolchain.toml",
            "/w/.GIT/hooks/x",
            "/w/.yarnrc.yml",
        ] {
            assert!(is_protected(path), "{path}");
        }
        assert!(!is_protected("/w/src/git.rs"));
        assert!(!is_protected("/w/.gitignore"));
    }

    #[test]
    fn critical_removals() {
        let roots = ["/home/d/p".to_owned()];
        for path in ["/", "/etc", "/home", "/home/d", "/home/d/p"] {
            assert!(is_critical(path, "/home/d", &roots), "{path}");
        }
        assert!(!is_critical("/home/d/p/build", "/home/d", &roots));
    }
}

//! Path rules: gitignore patterns with anchors (permissions.md 1.4).
//!
//! A pattern matches a path or any directory above it. Comparison is by components of absolute
//! paths, never by string prefix; which paths are compared (as written, and with links resolved)
//! is the caller's.

use globset::{GlobBuilder, GlobMatcher};

/// Where a pattern is anchored.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Anchor {
    /// A directory known when the rule was read.
    Fixed(String),
    /// The home directory.
    Home,
    /// The working directory of the call.
    Cwd,
}

/// A path pattern of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    anchor: Anchor,
    glob: String,
}

impl PathPattern {
    /// Reads a pattern. `root` is what `/p` is relative to; in `allow` lists a first segment as in
    /// `src/**` means that directory alone, in the others one at any depth.
    pub fn parse(text: &str, root: &str, allow: bool) -> Self {
        if let Some(rest) = text.strip_prefix("//") {
            return Self {
                anchor: Anchor::Fixed("/".to_owned()),
                glob: rest.to_owned(),
            };
        }
        if let Some(rest) = text.strip_prefix("~/") {
            return Self {
                anchor: Anchor::Home,
                glob: rest.to_owned(),
            };
        }
        if let Some(rest) = text.strip_prefix('/') {
            return Self {
                anchor: Anchor::Fixed(root.to_owned()),
                glob: rest.to_owned(),
            };
        }
        if let Some(rest) = text.strip_prefix("./") {
            return Self {
                anchor: Anchor::Cwd,
                glob: rest.to_owned(),
            };
        }
        let inner = text.trim_end_matches('/');
        let single = inner
            .strip_suffix("/**")
            .is_some_and(|first| !first.contains('/'));
        let glob = if !inner.contains('/') || (single && !allow) {
            format!("**/{text}")
        } else {
            text.to_owned()
        };
        Self {
            anchor: Anchor::Cwd,
            glob,
        }
    }

    /// Does it match this absolute path, or a directory above it?
    pub fn matches(&self, path: &str, cwd: &str, home: &str, fold_case: bool) -> bool {
        let anchor = match &self.anchor {
            Anchor::Fixed(root) => root.as_str(),
            Anchor::Home => home,
            Anchor::Cwd => cwd,
        };
        let Some(glob) = compile(anchor, &self.glob, fold_case) else {
            return false;
        };
        let mut end = path.len();
        loop {
            if glob.is_match(&path[..end]) {
                return true;
            }
            match path[..end].rfind('/') {
                Some(0) | None => return false,
                Some(slash) => end = slash,
            }
        }
    }
}

fn compile(anchor: &str, pattern: &str, fold_case: bool) -> Option<GlobMatcher> {
    let pattern = pattern
        .trim_end_matches('/')
        .replace('{', "[{]")
        .replace('}', "[}]");
    let full = format!(
        "{}/{pattern}",
        globset::escape(anchor.trim_end_matches('/'))
    );
    let mut builder = GlobBuilder::new(&full);
    builder.literal_separator(true).case_insensitive(fold_case);
    builder.build().ok().map(|glob| glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, allow: bool, path: &str, want: bool) {
        let parsed = PathPattern::parse(pattern, "/w", allow);
        assert_eq!(
            parsed.matches(path, "/w/p", "/home/d", false),
            want,
            "{pattern} {path}"
        );
    }

    #[test]
    fn anchors() {
        check(".env", false, "/w/p/a/b/.env", true);
        check(".env", false, "/w/.env", false);
        check("*.pem", false, "/w/p/certs/a.pem", true);
        check("src/**", true, "/w/p/src/a.ts", true);
        check("src/**", true, "/w/p/pkg/src/a.ts", false);
        check("src/**", false, "/w/p/pkg/src/a.ts", true);
        check("/src/*.rs", true, "/w/src/b.rs", true);
        check("/src/*.rs", true, "/w/src/x/b.rs", false);
        check("~/.ssh/**", false, "/home/d/.ssh/id", true);
        check("//etc/**", false, "/etc/hosts", true);
        check("secrets", false, "/w/p/secrets/x/y", true);
        check("./k.pem", false, "/w/p/k.pem", true);
        check("./k.pem", false, "/w/p/x/k.pem", false);
    }
}

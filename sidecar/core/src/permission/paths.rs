//! Path patterns of rules: gitignore's syntax with anchors (spec: permissions.md 1.4).
//!
//! Comparison is by components of absolute paths that others made; this file must never look at a
//! disk, and never read one path as a prefix of another's letters.

use globset::{GlobBuilder, GlobMatcher};

use crate::place::within;

/// Longer patterns are refused.
const MAX_PATTERN: usize = 2_000;

/// The directories that patterns are anchored at, and how names compare.
pub(super) struct Ground<'a> {
    /// The working directory.
    pub(super) cwd: &'a str,
    /// The home directory.
    pub(super) home: &'a str,
    /// The working directories of the session.
    pub(super) roots: &'a [String],
    /// Names compare without regard to case.
    pub(super) fold: bool,
}

impl Ground<'_> {
    /// True when a path lies in one of the working directories.
    pub(super) fn inside(&self, path: &str) -> bool {
        self.roots
            .iter()
            .any(|root| root.starts_with('/') && within(&self.folded(path), &self.folded(root)))
    }

    fn folded(&self, path: &str) -> String {
        if self.fold {
            path.to_lowercase()
        } else {
            path.to_owned()
        }
    }
}

#[derive(Clone, Debug)]
enum Anchor {
    Root,
    Home,
    /// The directory of the settings source.
    Source(String),
    /// The working directory; in ask and deny also every root, so that a `cd` lifts no rule.
    Here,
}

/// A parsed pattern.
#[derive(Clone, Debug)]
pub(super) struct PathPattern {
    anchor: Anchor,
    allows: bool,
    /// `!p`: re-opens what an earlier rule of the same list closed.
    pub(super) negated: bool,
    exact: Vec<GlobMatcher>,
    folded: Vec<GlobMatcher>,
}

impl PathPattern {
    /// Parses a pattern. `root` is the directory of its settings source; `allows` is true for a
    /// rule that allows, which is read in the narrowest way, others in the widest.
    pub(super) fn parse(text: &str, root: &str, allows: bool) -> Result<Self, String> {
        if text.len() > MAX_PATTERN {
            return Err("the pattern is too long".to_owned());
        }
        let (negated, text) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if negated && allows {
            return Err("`!` has no meaning in an allow rule".to_owned());
        }
        let (anchor, pattern, free) = anchored(text, root)?;
        let globs = shapes(pattern, free, allows)?;
        let mut parsed = Self {
            anchor,
            allows,
            negated,
            exact: Vec::new(),
            folded: Vec::new(),
        };
        for glob in &globs {
            for reading in readings(glob, allows || negated) {
                parsed.exact.push(compile(&reading, false)?);
                parsed.folded.push(compile(&reading.to_lowercase(), true)?);
            }
        }
        Ok(parsed)
    }

    /// True when the pattern covers an absolute, normalised path.
    pub(super) fn matches(&self, path: &str, ground: &Ground<'_>) -> bool {
        let path = ground.folded(path);
        let globs = if ground.fold {
            &self.folded
        } else {
            &self.exact
        };
        self.bases(ground).into_iter().any(|base| {
            let base = ground.folded(base);
            // A relative base would make a pattern match by accident of spelling.
            if !base.starts_with('/') || !within(&path, &base) {
                return false;
            }
            let relative = path[base.trim_end_matches('/').len()..].trim_start_matches('/');
            globs.iter().any(|glob| glob.is_match(relative))
        })
    }

    fn bases<'a>(&'a self, ground: &'a Ground<'_>) -> Vec<&'a str> {
        match &self.anchor {
            Anchor::Root => vec!["/"],
            Anchor::Home => vec![ground.home],
            Anchor::Source(root) => vec![root],
            Anchor::Here => {
                let mut bases = vec![ground.cwd];
                if !self.allows {
                    bases.extend(ground.roots.iter().map(String::as_str));
                }
                bases
            }
        }
    }
}

/// The anchor, the rest, and whether the rest may float.
fn anchored<'a>(text: &'a str, root: &str) -> Result<(Anchor, &'a str, bool), String> {
    let (anchor, rest, free) = if let Some(rest) = text.strip_prefix("//") {
        (Anchor::Root, rest, false)
    } else if let Some(rest) = text.strip_prefix("~/") {
        (Anchor::Home, rest, false)
    } else if let Some(rest) = text.strip_prefix('/') {
        if root.is_empty() {
            return Err("`/p` has no directory to start from here; write `//p`".to_owned());
        }
        (Anchor::Source(root.to_owned()), rest, false)
    } else if let Some(rest) = text.strip_prefix("./") {
        (Anchor::Here, rest, false)
    } else {
        (Anchor::Here, text, true)
    };
    if rest.is_empty() {
        return Err("the pattern is empty".to_owned());
    }
    if rest.split('/').any(|part| matches!(part, "." | "..")) {
        return Err("`.` and `..` have no meaning inside a pattern".to_owned());
    }
    Ok((anchor, rest, free))
}

/// The globs that a pattern stands for: itself, what lies beneath it, and at which depth.
fn shapes(pattern: &str, free: bool, allows: bool) -> Result<Vec<String>, String> {
    let (body, directory) = match pattern.strip_suffix('/') {
        Some(body) => (body, true),
        None => (pattern, false),
    };
    if body.is_empty() || body.split('/').any(str::is_empty) {
        return Err("the pattern has an empty component".to_owned());
    }
    let name = !body.contains('/');
    // `src/**` and `src/`: as an allow rule the one beside us, otherwise any directory `src`.
    let tree = body
        .strip_suffix("/**")
        .filter(|head| !head.contains('/') && *head != "**");
    let floats = free && ((name && !(allows && directory)) || (!allows && tree.is_some()));
    let last = body.rsplit('/').next().unwrap_or(body);
    let plain = !last.contains(['*', '?', '[', '{', '\\']);
    let mut globs = vec![body.to_owned()];
    if let Some(head) = body.strip_suffix("/**") {
        globs.push(head.to_owned());
    } else if !allows || directory || (plain && !floats) {
        globs.push(format!("{body}/**"));
    }
    if floats {
        globs = globs.iter().map(|glob| format!("**/{glob}")).collect();
    }
    Ok(globs)
}

/// How a glob may have been meant: one reading where that is asked for, otherwise all of them.
///
/// Braces are no part of gitignore's syntax and brackets are a class; a person who forgets that
/// in a rule that closes something is taken at either word.
fn readings(glob: &str, one: bool) -> Vec<String> {
    let braces = glob.replace('{', "\\{").replace('}', "\\}");
    if one {
        return vec![braces];
    }
    let mut all = vec![braces.clone()];
    if glob.contains('[') {
        all.push(braces.replace('[', "\\[").replace(']', "\\]"));
    }
    if glob.contains('{') {
        all.push(glob.to_owned());
    }
    all
}

fn compile(glob: &str, fold: bool) -> Result<GlobMatcher, String> {
    GlobBuilder::new(glob)
        .literal_separator(true)
        .backslash_escape(true)
        .case_insensitive(fold)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| format!("the pattern is not understood: {}", error.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(allows: bool, pattern: &str, path: &str, want: bool) {
        let roots = ["/h/p".to_owned()];
        let ground = Ground {
            cwd: "/h/p",
            home: "/h",
            roots: &roots,
            fold: false,
        };
        let parsed = PathPattern::parse(pattern, "/h/p", allows).expect(pattern);
        assert_eq!(
            parsed.matches(path, &ground),
            want,
            "{allows} {pattern} {path}"
        );
    }

    #[test]
    fn patterns_are_anchored() {
        for allows in [true, false] {
            check(allows, "//etc/**", "/etc/passwd", true);
            check(allows, "~/.ssh/**", "/h/.ssh/id", true);
            check(allows, "/src/**", "/h/p/src/a", true);
            check(allows, "/src/**", "/h/p/x/src/a", false);
            check(allows, "./src/**", "/h/p/x/src/a", false);
            check(allows, "a/b/**", "/h/p/x/a/b/c", false);
            check(allows, "src/**", "/h/p/src", true);
            check(allows, "src/**", "/h/p/x/src/a", !allows);
            check(allows, "src/", "/h/p/x/src/a", !allows);
            check(allows, ".env", "/h/p/a/b/.env", true);
            check(allows, ".env", "/h/.env", false);
            check(allows, ".env", "/h/p/.env.example", false);
            check(allows, "*.pem", "/h/p/a/b.pem", true);
            check(allows, "/src/*.rs", "/h/p/src/x/a.rs", false);
            check(allows, "secrets/**", "/h/p/secrets-old/a", false);
            check(allows, "/app/[id]/**", "/h/p/app/[id]/a", !allows);
            check(allows, "/a.{x,y}", "/h/p/a.x", !allows);
            check(allows, "/a.{x,y}", "/h/p/a.{x,y}", true);
            check(allows, "/*", "/h/p/a/b", !allows);
            check(allows, "docs/x", "/h/p/docs/x/y", true);
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for pattern in ["", "/", "//", "../x", "a//b", "a[", "./"] {
            assert!(
                PathPattern::parse(pattern, "/h/p", false).is_err(),
                "{pattern}"
            );
        }
        assert!(PathPattern::parse("!a", "/h/p", true).is_err());
        assert!(PathPattern::parse("/a", "", false).is_err());
    }

    #[test]
    fn a_change_of_directory_lifts_no_denial() {
        let roots = ["/h/p".to_owned()];
        let ground = Ground {
            cwd: "/h/p/src",
            home: "/h",
            roots: &roots,
            fold: true,
        };
        let parsed = PathPattern::parse("./Secrets/**", "", false).expect("parses");
        assert!(parsed.matches("/h/p/secrets/A", &ground));
    }
}

//! Floors: `lib.rs` lists the modules in reading order, and a file imports only from above.
//!
//! The same holds inside a module whose own head says "reading order"; in any other there are no
//! circles. The hands never import one another. It must never read the order from anywhere but the
//! file that declares the modules.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{below, code, none, read, without_tests};

type Path = Vec<String>;

/// One crate: the path of each of its modules, with its text without tests.
struct Crate {
    folder: &'static str,
    modules: BTreeMap<Path, String>,
}

/// A reference from one module to a path inside its crate.
struct Reference {
    from: Path,
    to: Path,
}

impl Crate {
    fn load(folder: &'static str) -> Self {
        let mut modules = BTreeMap::new();
        for path in below(folder, ".rs") {
            let inner = &path[folder.len()..path.len() - ".rs".len()];
            // A binary and a file of tests stand outside the floors.
            if inner == "main" || inner.ends_with("tests") {
                continue;
            }
            let mut segments: Path = inner.split('/').map(str::to_owned).collect();
            if matches!(segments.last().map(String::as_str), Some("mod" | "lib")) {
                segments.pop();
            }
            modules.insert(segments, without_tests(&read(&path)).to_owned());
        }
        Self { folder, modules }
    }

    /// The modules that a module declares, in the order in which it does.
    fn declared(&self, scope: &[String]) -> Vec<String> {
        let text = &self.modules[scope];
        code(text)
            .lines()
            .filter_map(|line| {
                let line = line.trim_start_matches("pub(crate) ");
                let name = line.trim_start_matches("pub ").strip_prefix("mod ")?;
                name.strip_suffix(';').map(str::to_owned)
            })
            .collect()
    }

    fn references(&self) -> Vec<Reference> {
        let mut all = Vec::new();
        for (from, text) in &self.modules {
            for written in paths(&code(text)) {
                let mut to = match written[0].as_str() {
                    "crate" => Path::new(),
                    _ => from.clone(),
                };
                for segment in &written {
                    match segment.as_str() {
                        "crate" | "self" => {}
                        "super" => drop(to.pop()),
                        _ => to.push(segment.clone()),
                    }
                }
                all.push(Reference {
                    from: from.clone(),
                    to,
                });
            }
        }
        all
    }

    /// References between children of a scope: (from, to, the reference).
    fn between<'a>(
        &self,
        scope: &[String],
        all: &'a [Reference],
    ) -> Vec<(usize, usize, &'a Reference)> {
        let children = self.declared(scope);
        let child = |path: &Path| {
            let name = path.strip_prefix(scope)?.first()?.clone();
            children.iter().position(|known| *known == name)
        };
        all.iter()
            .filter_map(|reference| {
                let (from, to) = (child(&reference.from)?, child(&reference.to)?);
                (from != to).then_some((from, to, reference))
            })
            .collect()
    }

    fn says_order(&self, scope: &[String]) -> bool {
        let head = self.modules[scope].lines();
        let head: Vec<&str> = head.take_while(|line| line.starts_with("//!")).collect();
        scope.is_empty() || head.join(" ").contains("reading order")
    }
}

/// All paths in a code that begin at the crate or at the module above, braces written out.
fn paths(code: &str) -> Vec<Path> {
    let text: Vec<char> = code.chars().collect();
    let mut all = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let start = at;
        let word = word(&text, &mut at);
        let own = start == 0 || text[start - 1] != ':';
        if own && (word == "crate" || word == "super") && follows(&text, at, "::") {
            at = start;
            tree(&text, &mut at, &mut Path::new(), &mut all);
        }
        if at == start {
            at += 1;
        }
    }
    all
}

fn word(text: &[char], at: &mut usize) -> String {
    let rest = text[*at..].iter();
    let word: String = rest
        .take_while(|c| c.is_alphanumeric() || **c == '_')
        .collect();
    *at += word.chars().count();
    word
}

fn follows(text: &[char], at: usize, what: &str) -> bool {
    what.chars()
        .enumerate()
        .all(|(offset, c)| text.get(at + offset) == Some(&c))
}

/// Reads one branch of a use tree from `at` on.
fn tree(text: &[char], at: &mut usize, prefix: &mut Path, all: &mut Vec<Path>) {
    let skip = |at: &mut usize| {
        while text.get(*at).is_some_and(|c| c.is_whitespace()) {
            *at += 1;
        }
    };
    skip(at);
    if text.get(*at) == Some(&'{') {
        while *at < text.len() && text[*at] != '}' {
            *at += 1;
            tree(text, at, &mut prefix.clone(), all);
            // A renaming, and the comma.
            while *at < text.len() && text[*at] != ',' && text[*at] != '}' {
                *at += 1;
            }
        }
        *at += 1;
        return;
    }
    let name = word(text, at);
    if !name.is_empty() {
        prefix.push(name.clone());
        if follows(text, *at, "::") {
            *at += 2;
            return tree(text, at, prefix, all);
        }
    }
    // A trailing comma leaves an empty branch.
    if !prefix.is_empty() {
        all.push(prefix.clone());
    }
}

const CRATES: [&str; 2] = ["sidecar/core/src/", "sidecar/src/"];

#[test]
fn files_import_only_from_above() {
    let mut found = Vec::new();
    for folder in CRATES {
        let krate = Crate::load(folder);
        let all = krate.references();
        assert!(all.len() > 50, "{folder}: only {} references", all.len());
        for scope in krate.modules.keys().filter(|scope| krate.says_order(scope)) {
            for (from, to, reference) in krate.between(scope, &all) {
                if to > from {
                    found.push(format!(
                        "{}{}: {}",
                        krate.folder,
                        reference.from.join("/"),
                        reference.to.join("::")
                    ));
                }
            }
        }
    }
    none("imports from below", &found);
}

#[test]
fn there_are_no_circles() {
    let mut found = Vec::new();
    for folder in CRATES {
        let krate = Crate::load(folder);
        let all = krate.references();
        for scope in krate.modules.keys() {
            let names = krate.declared(scope);
            let edges: BTreeSet<(usize, usize)> = krate
                .between(scope, &all)
                .into_iter()
                .map(|(from, to, _)| (from, to))
                .collect();
            let left = knot(names.len(), &edges);
            if !left.is_empty() {
                let names: Vec<&str> = left.iter().map(|at| names[*at].as_str()).collect();
                found.push(format!("{folder}{}: {}", scope.join("/"), names.join(", ")));
            }
        }
    }
    none("modules that import one another in a circle", &found);
}

/// What is left when, again and again, whoever imports nothing that is left, or is imported by
/// nothing that is left, is taken away.
fn knot(count: usize, edges: &BTreeSet<(usize, usize)>) -> BTreeSet<usize> {
    let mut left: BTreeSet<usize> = (0..count).collect();
    loop {
        let free = left.iter().copied().find(|at| {
            let mut inner = edges
                .iter()
                .filter(|(from, to)| left.contains(from) && left.contains(to));
            let mut imported = inner.clone();
            !inner.any(|(from, _)| from == at) || !imported.any(|(_, to)| to == at)
        });
        match free {
            Some(at) => left.remove(&at),
            None => return left,
        };
    }
}

#[test]
fn the_hands_never_import_one_another() {
    let krate = Crate::load("sidecar/src/");
    let hand = |path: &Path| match path.first().map(String::as_str) {
        Some("hands") if path.len() > 1 => Some(path[1].clone()),
        Some(room @ ("provider" | "store")) => Some(room.to_owned()),
        _ => None,
    };
    let mut found = Vec::new();
    for Reference { from, to } in krate.references() {
        if let (Some(own), Some(other)) = (hand(&from), hand(&to)) {
            if own != other {
                found.push(format!("{}: {}", from.join("/"), to.join("::")));
            }
        }
    }
    none("hands that import one another", &found);
}

#[test]
fn use_trees_are_read_right() {
    let code = "use crate::a::{b, c::{self, d as e}, f};\nuse super::*; pub(crate) fn x(y: crate::g::H) {}";
    let all: Vec<String> = paths(code).iter().map(|path| path.join("::")).collect();
    assert_eq!(
        all,
        [
            "crate::a::b",
            "crate::a::c::self",
            "crate::a::c::d",
            "crate::a::f",
            "super",
            "crate::g::H"
        ]
    );
    let edges = BTreeSet::from([(0, 1), (1, 2), (2, 1)]);
    assert_eq!(knot(3, &edges), BTreeSet::from([1, 2]));
    assert!(knot(3, &BTreeSet::from([(2, 1), (1, 0)])).is_empty());
}

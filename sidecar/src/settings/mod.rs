//! Settings: layers over the one table (spec: settings.md).
//!
//! Precedence, highest first: command line, editor, workspace `toolgate.toml`, user
//! `toolgate.toml`, defaults. A wrong value is reported with file, line, key and what was
//! expected, and the default is used for that key; a wrong permission list makes its tools ask,
//! because its rules then allow nothing and the ones that cannot be read are named. A workspace
//! never sets what could harm the person.

pub mod table;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use table::{Row, Scope};

/// Where a value comes from; later ones win.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The table.
    Default,
    /// The user's file.
    User(String),
    /// The workspace's file.
    Workspace(String),
    /// The editor.
    Editor,
    /// The command line.
    Flag,
}

impl Source {
    /// As messages name it.
    pub fn label(&self) -> String {
        match self {
            Self::Default => "default".to_owned(),
            Self::User(path) | Self::Workspace(path) => path.clone(),
            Self::Editor => "editor".to_owned(),
            Self::Flag => "flag".to_owned(),
        }
    }
}

/// All settings, with where each comes from, and what is wrong with any.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    values: BTreeMap<&'static str, Vec<(Source, Value)>>,
    problems: Vec<String>,
}

impl Settings {
    /// The user's and the workspace's files over the defaults. Files that are not there are no
    /// problem; files that cannot be read or parsed are one.
    pub fn load(user: Option<&Path>, workspace: Option<&Path>) -> Self {
        let mut settings = Self::default();
        if let Some(path) = user {
            settings.file(path, Source::User(path.display().to_string()));
        }
        if let Some(path) = workspace {
            settings.file(path, Source::Workspace(path.display().to_string()));
        }
        settings
    }

    fn file(&mut self, path: &Path, source: Source) {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
            Err(error) => {
                self.problems
                    .push(format!("{}: cannot be read: {error}", path.display()));
                return;
            }
        };
        match toml::from_str::<toml::Table>(&text) {
            Err(error) => {
                let line = error.span().map_or(1, |span| line_of(&text, span.start));
                let what = error.message().to_owned();
                self.problems
                    .push(format!("{}:{line}: {what}", path.display()));
            }
            Ok(parsed) => {
                let value = serde_json::to_value(parsed).unwrap_or_default();
                let lines = |key: &str| line_of_key(&text, key);
                self.layer(&value, &source, &lines);
            }
        }
    }

    /// Lays the editor's settings over what is there: an object, nested or with dotted keys.
    pub fn editor(&mut self, value: &Value) {
        self.layer(value, &Source::Editor, &|_| None);
    }

    /// Sets one key from the command line. The error says what was expected.
    pub fn flag(&mut self, key: &str, value: Value) -> Result<(), String> {
        let row = table::find(key).ok_or_else(|| {
            format!(
                "unknown setting {key}; the nearest is {}",
                table::nearest(key)
            )
        })?;
        table::check(row, &value).map_err(|error| format!("{key}: {error}"))?;
        self.values
            .entry(row.key)
            .or_default()
            .push((Source::Flag, value));
        Ok(())
    }

    fn layer(&mut self, value: &Value, source: &Source, line: &dyn Fn(&str) -> Option<usize>) {
        let mut flat = Vec::new();
        flatten("", value, &mut flat);
        for (key, value) in flat {
            let place = match line(&key) {
                Some(line) => format!("{}:{line}: {key}", source.label()),
                None => format!("{}: {key}", source.label()),
            };
            let Some(row) = table::find(&key) else {
                let nearest = table::nearest(&key);
                self.problems
                    .push(format!("{place}: unknown; the nearest key is {nearest}"));
                continue;
            };
            if let Err(problem) = self.take(row, value, source) {
                self.problems.push(format!("{place}: {problem}"));
            }
        }
    }

    fn take(&mut self, row: &'static Row, value: Value, source: &Source) -> Result<(), String> {
        table::check(row, &value).map_err(|error| format!("{error}; the default is used"))?;
        let from_workspace = matches!(source, Source::Workspace(_));
        if from_workspace && row.scope == Scope::NotWorkspace {
            return Err("cannot be set by a workspace; it is ignored".to_owned());
        }
        if from_workspace && row.scope == Scope::Trusted {
            return Err(
                "counts only after the workspace is trusted, which is not built yet; it \
                        is ignored"
                    .to_owned(),
            );
        }
        if from_workspace && value == "bypassPermissions" {
            return Err("a workspace cannot choose bypassPermissions; it is ignored".to_owned());
        }
        if !row.built {
            return Err("is not built yet; it is ignored".to_owned());
        }
        self.values
            .entry(row.key)
            .or_default()
            .push((source.clone(), value));
        Ok(())
    }

    /// What is wrong, one line each.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// The value that holds, and where it comes from.
    pub fn get(&self, key: &str) -> (Value, Source) {
        let highest = self
            .values
            .get(key)
            .and_then(|layers| layers.iter().max_by_key(|l| &l.0));
        if let Some((source, value)) = highest {
            return (value.clone(), source.clone());
        }
        let default = table::find(key).map_or("", |row| row.default);
        (
            serde_json::from_str(default).unwrap_or_default(),
            Source::Default,
        )
    }

    /// A text; empty if there is none.
    pub fn text(&self, key: &str) -> String {
        self.get(key).0.as_str().unwrap_or_default().to_owned()
    }

    /// A text, if there is one.
    pub fn text_opt(&self, key: &str) -> Option<String> {
        self.get(key).0.as_str().map(str::to_owned)
    }

    /// A number; none if there is none.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.get(key).0.as_u64()
    }

    /// All layers of a list, lowest first: lists of settings sources are merged.
    pub fn lists(&self, key: &str) -> Vec<(Source, Vec<String>)> {
        let mut layers: Vec<_> = self.values.get(key).cloned().unwrap_or_default();
        layers.sort_by(|a, b| a.0.cmp(&b.0));
        let texts = |value: &Value| -> Vec<String> {
            let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
            items
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        };
        layers
            .into_iter()
            .map(|(source, value)| (source, texts(&value)))
            .collect()
    }
}

/// Leaves of nested tables, with dotted keys; a table that the settings know as a value stays.
fn flatten(prefix: &str, value: &Value, out: &mut Vec<(String, Value)>) {
    let known_map = table::find(prefix).is_some();
    match value.as_object() {
        Some(map) if !known_map => {
            for (name, value) in map {
                let key = if prefix.is_empty() {
                    name.clone()
                } else {
                    format!("{prefix}.{name}")
                };
                flatten(&key, value, out);
            }
        }
        _ => out.push((prefix.to_owned(), value.clone())),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes()
        .take(offset)
        .filter(|byte| *byte == b'\n')
        .count()
        + 1
}

/// The line where a dotted key is set in a TOML text: under its section, or dotted.
fn line_of_key(text: &str, key: &str) -> Option<usize> {
    let mut section = String::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            section = name.trim().to_owned();
            continue;
        }
        let Some((name, _)) = line.split_once('=') else {
            continue;
        };
        let name = name.trim();
        let full = if section.is_empty() {
            name.to_owned()
        } else {
            format!("{section}.{name}")
        };
        if full == key {
            return Some(index + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(toml: &str, workspace: bool, key: &str, want: &str, problem: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("toolgate.toml");
        std::fs::write(&path, toml).unwrap();
        let (user, space) = if workspace {
            (None, Some(path))
        } else {
            (Some(path), None)
        };
        let settings = Settings::load(user.as_deref(), space.as_deref());
        assert_eq!(settings.get(key).0.to_string(), want);
        let problems = settings.problems().join("\n");
        assert!(problems.contains(problem), "{problems}");
        assert_eq!(problems.is_empty(), problem.is_empty(), "{problems}");
    }

    #[test]
    fn layers_are_checked() {
        check("[bash]\ntimeout = 5\n", false, "bash.timeout", "5", "");
        check(
            "[bash]\n\ntimeout = \"5\"\n",
            false,
            "bash.timeout",
            "120000",
            ":3: bash.timeout",
        );
        check(
            "bash.timeot = 5\n",
            false,
            "bash.timeout",
            "120000",
            "nearest key is bash.timeout",
        );
        check("[bash\n", false, "bash.timeout", "120000", ":1:");
        check(
            "[files]\nsave = \"clean\"",
            true,
            "files.save",
            "\"clean\"",
            "",
        );
        let base = "provider.base_url = \"http://evil\"";
        check(
            base,
            true,
            "provider.base_url",
            "null",
            "cannot be set by a workspace",
        );
        let mode = "permissions.mode = \"bypassPermissions\"";
        check(
            mode,
            true,
            "permissions.mode",
            "\"default\"",
            "cannot choose",
        );
        check(mode, false, "permissions.mode", "\"bypassPermissions\"", "");
        check(
            "permissions.allow = [\"Bash\"]",
            true,
            "permissions.allow",
            "[]",
            "trusted",
        );
    }

    #[test]
    fn every_default_fits_its_kind() {
        for row in table::TABLE.iter().filter(|row| !row.default.is_empty()) {
            let value: Value = serde_json::from_str(row.default).unwrap();
            table::check(row, &value).unwrap();
        }
    }
}

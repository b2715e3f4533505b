//! The tools of a session, in a fixed order, as bytes that do not change.
//!
//! Built-ins come in table order. The definitions are serialised once; the same set gives the
//! same bytes. A call is looked up by name, then among aliases; a miss names the nearest tools.
//! A schema that does not compile disables that one tool with a message, never the session.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::definition::ToolFace;
use crate::message::{quote, Part};
use crate::schema::Schema;

/// One tool that may be called.
#[derive(Clone)]
pub struct Entry {
    /// Its own name.
    pub name: String,
    /// What the gates ask of it.
    pub face: ToolFace,
    /// Its compiled schema.
    pub schema: Arc<Schema>,
}

/// The tools of a session.
#[derive(Clone)]
pub struct Catalog {
    entries: BTreeMap<String, Entry>,
    aliases: BTreeMap<String, String>,
    names: Vec<String>,
    bytes: Part,
    problems: Vec<String>,
}

impl Catalog {
    /// The catalog of these tools, in this order.
    pub fn new(faces: impl IntoIterator<Item = ToolFace>) -> Self {
        let mut catalog = Self {
            entries: BTreeMap::new(),
            aliases: BTreeMap::new(),
            names: Vec::new(),
            bytes: Arc::from("[]"),
            problems: Vec::new(),
        };
        let mut definitions = Vec::new();
        for face in faces {
            let definition = face.definition();
            let name = definition.name.clone();
            match Schema::compile(&definition.input_schema) {
                Ok(schema) if !catalog.entries.contains_key(&name) => {
                    for alias in face.aliases() {
                        catalog.aliases.insert((*alias).to_owned(), name.clone());
                    }
                    definitions.push(format!(
                        "{{\"name\":{},\"description\":{},\"input_schema\":{}}}",
                        quote(&name),
                        quote(&definition.description),
                        definition.input_schema
                    ));
                    catalog.names.push(name.clone());
                    let entry = Entry {
                        name: name.clone(),
                        face,
                        schema: Arc::new(schema),
                    };
                    catalog.entries.insert(name, entry);
                }
                Ok(_) => catalog
                    .problems
                    .push(format!("the tool {name} is there twice")),
                Err(error) => catalog.problems.push(format!(
                    "the tool {name} is disabled, its schema is wrong: {error}"
                )),
            }
        }
        catalog.bytes = Arc::from(format!("[{}]", definitions.join(",")));
        catalog
    }

    /// The `tools` array, serialised once.
    pub fn bytes(&self) -> Part {
        Arc::clone(&self.bytes)
    }

    /// The names, in the order sent to the model.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What is wrong with tools that were left out, one line each.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// The tool of this name, or with this alias.
    pub fn find(&self, name: &str) -> Option<&Entry> {
        self.entries
            .get(name)
            .or_else(|| self.entries.get(self.aliases.get(name)?))
    }

    /// The text for a model that called a tool which is not there.
    pub fn unknown(&self, name: &str) -> String {
        let shown: String = name.chars().take(100).collect();
        let mut near: Vec<(usize, &String)> = self
            .names
            .iter()
            .map(|known| (distance(&shown, known), known))
            .collect();
        near.sort();
        let near: Vec<&str> = near
            .iter()
            .take(3)
            .map(|(_, known)| known.as_str())
            .collect();
        format!(
            "<tool_use_error>There is no tool called {}. The nearest are: {}. Nothing was done; \
             call one of the tools that you were given.</tool_use_error>",
            quote(&shown),
            near.join(", ")
        )
    }
}

/// Letters to insert, remove or replace, upper and lower case alike.
fn distance(one: &str, other: &str) -> usize {
    let one: Vec<char> = one.to_lowercase().chars().collect();
    let other: Vec<char> = other.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}

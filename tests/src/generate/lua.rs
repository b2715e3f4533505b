//! LuaCATS annotations for Neovim, made from the JSON Schema document.
//!
//! Every definition becomes a class or an alias named `toolgate.<Name>`; a tagged union becomes
//! one class a variant and an alias over them.

use std::fmt::Write;

use serde_json::{Map, Value};

/// The text of `protocol.lua`.
pub fn types(schema: &Value) -> String {
    let mut out = String::from(
        "---@meta\n-- Generated from protocol/src by `cargo run -p toolgate-tests --bin generate`.\n",
    );
    let empty = Map::new();
    let defs = schema["$defs"].as_object().unwrap_or(&empty);
    for (name, def) in defs {
        out.push('\n');
        definition(&mut out, name, def);
    }
    out
}

fn definition(out: &mut String, name: &str, def: &Value) {
    describe(out, def);
    if let Some(variants) = def.get("oneOf").and_then(Value::as_array) {
        return union(out, name, variants);
    }
    if def.get("properties").is_some() {
        return class(out, name, def);
    }
    let _ = writeln!(out, "---@alias toolgate.{name} {}", type_of(def));
}

/// A closed list of words, or variants told apart by a tag.
fn union(out: &mut String, name: &str, variants: &[Value]) {
    let mut members = Vec::new();
    let mut classes = String::new();
    for variant in variants {
        match tag_of(variant) {
            Some(tag) => {
                let member = format!("{name}.{tag}");
                classes.push('\n');
                describe(&mut classes, variant);
                class(&mut classes, &member, variant);
                members.push(format!("toolgate.{member}"));
            }
            None => members.push(type_of(variant)),
        }
    }
    let _ = writeln!(out, "---@alias toolgate.{name} {}", members.join("|"));
    out.push_str(&classes);
}

fn tag_of(variant: &Value) -> Option<&str> {
    let properties = variant.get("properties")?.as_object()?;
    properties
        .values()
        .find_map(|p| p.get("const"))
        .and_then(Value::as_str)
}

fn class(out: &mut String, name: &str, def: &Value) {
    let parent = def
        .get("$ref")
        .and_then(Value::as_str)
        .map(|r| format!(": toolgate.{}", r.rsplit('/').next().unwrap_or(r)))
        .unwrap_or_default();
    let _ = writeln!(out, "---@class toolgate.{name}{parent}");
    let required: Vec<&str> = def
        .get("required")
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let Some(properties) = def.get("properties").and_then(Value::as_object) else {
        return;
    };
    for (field, property) in properties {
        let optional = if required.contains(&field.as_str()) {
            ""
        } else {
            "?"
        };
        let text = property
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or("");
        let line = format!(
            "---@field {field}{optional} {} {}",
            type_of(property),
            flat(text)
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn describe(out: &mut String, def: &Value) {
    if let Some(text) = def.get("description").and_then(Value::as_str) {
        let _ = writeln!(out, "---{}", flat(text));
    }
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn type_of(schema: &Value) -> String {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return format!(
            "toolgate.{}",
            reference.rsplit('/').next().unwrap_or(reference)
        );
    }
    if let Some(constant) = schema.get("const") {
        return constant.to_string();
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return words
            .iter()
            .map(Value::to_string)
            .collect::<Vec<_>>()
            .join("|");
    }
    if let Some(options) = schema.get("anyOf").and_then(Value::as_array) {
        return options.iter().map(type_of).collect::<Vec<_>>().join("|");
    }
    match schema.get("type") {
        Some(Value::String(name)) => simple(name, schema),
        Some(Value::Array(names)) => {
            let parts = names
                .iter()
                .filter_map(Value::as_str)
                .map(|n| simple(n, schema));
            parts.collect::<Vec<_>>().join("|")
        }
        _ => "any".to_owned(),
    }
}

fn simple(name: &str, schema: &Value) -> String {
    match name {
        "array" => format!(
            "{}[]",
            schema.get("items").map_or("any".to_owned(), type_of)
        ),
        "object" => "table".to_owned(),
        "null" => "nil".to_owned(),
        other => other.to_owned(),
    }
}

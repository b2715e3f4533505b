//! The executors of the random world: what the tools do to files that exist only there.

use std::collections::BTreeMap;

use serde_json::Value;
use toolgate_core::command::Task;
use toolgate_core::outcome::{Effect, Lines, Raw, Shown, Stage};
use toolgate_core::place::Place;
use toolgate_core::text::FileText;

/// What the tools do, on the world's files.
pub fn execute(
    task: &Task,
    files: &mut BTreeMap<String, String>,
    stopped: bool,
    fails: bool,
) -> Raw {
    let path = task
        .answers
        .first()
        .map(|answer| answer.place.path().to_owned());
    match (task.tool.as_str(), path) {
        ("Read", Some(path)) => read(&task.input, &path, files),
        ("Edit" | "Write", Some(path)) => write(task, &path, files),
        ("Bash", _) => bash(task, files, stopped, fails),
        _ => Raw::done("ok"),
    }
}

fn read(input: &Value, path: &str, files: &BTreeMap<String, String>) -> Raw {
    let Some(text) = files.get(path) else {
        return Raw::failed("there is no such file", Effect::None);
    };
    let total = text.lines().count() as u32;
    let shown = input["limit"]
        .as_u64()
        .map_or(total, |limit| total.min(limit as u32));
    let lines = match shown {
        0 => Vec::new(),
        last => vec![Lines { first: 1, last }],
    };
    let body: Vec<&str> = text.lines().take(shown as usize).collect();
    let mut raw = Raw::done(body.join("\n"));
    raw.shown = vec![whole(path, text, lines)];
    raw
}

fn whole(path: &str, text: &str, lines: Vec<Lines>) -> Shown {
    let file = FileText::from_document(text);
    Shown {
        place: Place::canonical(path),
        version: file.version(),
        lines,
        total_lines: file.line_count() as u32,
        one_read_shows_all: true,
        text: Some(file.shared_text()),
    }
}

fn write(task: &Task, path: &str, files: &mut BTreeMap<String, String>) -> Raw {
    let Some(plan) = &task.plan else {
        return Raw::failed("no plan", Effect::None);
    };
    let present = files
        .get(path)
        .map(|text| FileText::from_document(text).version());
    if present != plan.base.as_ref().map(|base| base.version()) {
        return Raw::failed("the file changed", Effect::None);
    }
    files.insert(path.to_owned(), plan.after.to_string());
    let last = plan.after.lines().count() as u32;
    let mut raw = Raw::done("written");
    raw.effect = Effect::Happened;
    raw.changed = vec![Place::canonical(path)];
    raw.shown = vec![whole(path, &plan.after, vec![Lines { first: 1, last }])];
    raw
}

fn bash(task: &Task, files: &mut BTreeMap<String, String>, stopped: bool, fails: bool) -> Raw {
    let command = task.input["command"].as_str().unwrap_or_default();
    if stopped || fails {
        let mut raw = Raw::failed("Exit code 1", Effect::None);
        raw.command_failed = !stopped;
        raw.stage = Stage::Failed;
        return raw;
    }
    let Some(name) = command.strip_prefix("make ") else {
        return Raw::done("output");
    };
    let path = format!("/w/{name}");
    let text = files.get(&path).cloned().unwrap_or_default();
    files.insert(
        path,
        format!("made\n{text}")
            .lines()
            .take(6)
            .fold(String::new(), |all, line| all + line + "\n"),
    );
    let mut raw = Raw::done("made");
    raw.effect = Effect::Happened;
    raw
}

//! Holds what came of a story against what it says.

use serde_json::Value;

use super::parse::{Scenario, Wanted};
use super::wet::Came;

/// The error tells everything that is not as it should be.
pub fn check(scenario: &Scenario, came: &Came) -> Result<(), String> {
    let mut wrong = came.faults.clone();
    wrong.extend(came.invalid.iter().cloned());
    files(scenario, came, &mut wrong);
    for (path, text) in &scenario.buffers {
        let now = came.buffers.get(path);
        if now != Some(text) {
            wrong.push(format!("buffer {path} is {now:?}, not {text:?}"));
        }
    }
    outcomes(&scenario.outcomes, &came.outcomes, &mut wrong);
    updates(&scenario.updates, &came.updates, &mut wrong);
    let last = came.requests.last().map_or("", String::as_str);
    for note in &scenario.notes {
        let quoted = Value::from(note.as_str()).to_string();
        if !last.contains(&quoted[1..quoted.len() - 1]) {
            wrong.push(format!("the last request does not hold {note:?}"));
        }
    }
    prefixes(&came.requests, &mut wrong);
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("{}\n{:#?}", wrong.join("\n"), came.outcomes)),
    }
}

/// Nothing but what the story names is otherwise on disk.
fn files(scenario: &Scenario, came: &Came, wrong: &mut Vec<String>) {
    let mut wanted = scenario.files.clone();
    wanted.extend(scenario.then_files.clone());
    for (path, file) in &wanted {
        let text = String::from_utf8_lossy(&file.0);
        match came.files.get(path) {
            Some(bytes) if *bytes == file.0 => {}
            Some(bytes) => {
                let now = String::from_utf8_lossy(bytes);
                wrong.push(format!("file {path} is {now:?}, not {text:?}"));
            }
            None => wrong.push(format!("file {path} is not there")),
        }
    }
    let more = came.files.keys().filter(|path| !wanted.contains_key(*path));
    wrong.extend(more.map(|path| format!("file {path} is new")));
}

fn outcomes(wanted: &[Wanted], came: &[(String, String, String)], wrong: &mut Vec<String>) {
    if wanted.len() != came.len() {
        wrong.push(format!("{} calls, not {}", came.len(), wanted.len()));
    }
    for (number, (wanted, (status, tool, text))) in wanted.iter().zip(came).enumerate() {
        if (&wanted.status, &wanted.tool) != (status, tool) {
            let (should, what) = (&wanted.status, &wanted.tool);
            wrong.push(format!(
                "call {number}: {status} {tool}, not {should} {what}"
            ));
        }
        for (there, part) in &wanted.texts {
            if text.contains(part) != *there {
                let word = if *there { "does not hold" } else { "holds" };
                wrong.push(format!("call {number}: its outcome {word} {part:?}"));
            }
        }
    }
}

/// Each wanted line is told by an update behind that of the line before.
fn updates(wanted: &[String], came: &[Value], wrong: &mut Vec<String>) {
    let mut rest = came.iter();
    for line in wanted {
        let mut words = line.split_whitespace();
        let kind = words.next().unwrap_or_default();
        let words: Vec<&str> = words.collect();
        let fits = |update: &Value| {
            let text = update.to_string();
            update["kind"] == kind && words.iter().all(|word| text.contains(word))
        };
        if !rest.any(fits) {
            wrong.push(format!(
                "the update {line:?} did not come, or not in this order"
            ));
            return;
        }
    }
}

/// Law 9: what was sent once is sent again, to the byte, in front of what is new.
pub fn prefixes(requests: &[String], wrong: &mut Vec<String>) {
    for (number, pair) in requests.windows(2).enumerate() {
        // All but the brackets that close the messages and the body.
        let kept = pair[0].strip_suffix("]}");
        if !kept.is_some_and(|kept| pair[1].starts_with(kept)) {
            wrong.push(format!(
                "request {} is no prefix of the next one",
                number + 1
            ));
        }
    }
}

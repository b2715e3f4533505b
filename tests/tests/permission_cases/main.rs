//! Permission's acceptance rows, through the face that the session uses.
//!
//! Hard limits: no row that must ask or deny comes out as allow, and no command that writes is
//! called read-only. Rows whose decision differs today are listed with the reason and asserted as
//! they are (they are milder nowhere). It must never touch a disk or run a command.

mod laws;
mod vectors;
mod world;

use std::collections::BTreeMap;

use serde_json::{json, Value};
use toolgate_core::permission::{read_only, RuleSet, Verdict};

use world::{rules_of, World};

const RULES: &str = include_str!("../../cases/permission-rules.jsonl");
const COMMANDS: &str = include_str!("../../cases/bash-commands.jsonl");

/// Rows whose decision differs today: id, today's decision, why it is so.
const DIFFERENT: &[(&str, Verdict, &str)] = &[
    (
        "p042",
        Verdict::Ask,
        "drive letters are not understood yet; such a path is nowhere",
    ),
    (
        "p080",
        Verdict::Ask,
        "backslashes are not understood yet; such a path is nowhere",
    ),
    (
        "p166",
        Verdict::Ask,
        "git is not analysed yet, so that its reading forms ask",
    ),
];

fn verdict(name: &Value) -> Verdict {
    match name.as_str() {
        Some("allow") => Verdict::Allow,
        Some("ask") => Verdict::Ask,
        Some("deny") => Verdict::Deny,
        other => panic!("decision {other:?}"),
    }
}

fn rows(text: &str) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).expect(line);
    text.lines().map(parse).collect()
}

#[test]
fn the_rule_rows_hold() {
    let (mut right, mut wrong) = (0, Vec::new());
    for row in rows(RULES) {
        let id = row["id"].as_str().expect("an id");
        let got = World::of_row(&row["call"]).decide(&rules_of(&row)).verdict;
        let mut accepted = vec![verdict(&row["decision"])];
        let also = row["also"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        accepted.extend(also.iter().map(verdict));
        assert!(
            got != Verdict::Allow || accepted.contains(&Verdict::Allow),
            "hard limit: {id} is allowed: {row}"
        );
        match DIFFERENT.iter().find(|(other, _, _)| *other == id) {
            Some((_, today, why)) => assert_eq!(got, *today, "{id}: {why}"),
            None if accepted.contains(&got) => right += 1,
            None => wrong.push(format!(
                "{id} {got:?} instead of {accepted:?}: {}",
                row["why"]
            )),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!(
        "rule rows: {right} as wanted, {} different",
        DIFFERENT.len()
    );
}

#[test]
fn what_writes_is_never_called_read_only() {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for row in rows(COMMANDS) {
        let command = row["cmd"].as_str().expect("a command");
        let got = read_only(command);
        let wanted = row["read_only"] == json!(true) && row["parse"] == json!("ok");
        assert!(
            wanted || !got,
            "hard limit: {} is called read-only: {command}",
            row["id"]
        );
        if wanted {
            let level = row["level"].as_str().expect("a level").to_owned();
            let count = counts.entry(level).or_default();
            count.0 += usize::from(got);
            count.1 += 1;
        }
    }
    for (level, (found, all)) in &counts {
        println!("read-only, {level}: {found} of {all} found");
    }
    // The small table of today; the full analysis raises these, nothing may lower them.
    assert!(counts["basic"].0 >= 1 && counts["hard"].0 >= 1);
}

#[test]
fn no_writing_command_runs_unasked() {
    let rules = RuleSet::default();
    for row in rows(COMMANDS) {
        let command = row["cmd"].as_str().expect("a command");
        let world = World::new("Bash", json!({ "command": command }));
        let got = world.decide(&rules).verdict;
        let wanted = row["read_only"] == json!(true) && row["parse"] == json!("ok");
        assert!(wanted || got != Verdict::Allow, "{}: {command}", row["id"]);
    }
}

//! Laws of the decision over random rules and calls. They must hold for every input, so nothing
//! here may sort out what is inconvenient.

use proptest::prelude::*;
use serde_json::{json, Value};
use toolgate_core::permission::{
    denied, read_only, HookOpinion, RuleList, RuleSet, SourceKind, Verdict,
};
use toolgate_protocol::notices::Mode;

use crate::world::{set, World, PROJECT};

/// Rules of many kinds, so that each meets some of the calls below.
const SOME_RULES: &[&str] = &[
    "Bash",
    "Bash(rm *)",
    "Bash(npm test:*)",
    "Bash(ls)",
    "Bash(git push *)",
    "Bash(* x)",
    "Bash(make",
    "Bash(timeout:5)",
    "Read",
    "Read(src/**)",
    "Read(.env)",
    "Read(//etc/**)",
    "Edit",
    "Edit(src/**)",
    "Edit(/a*)",
    "Edit(~/.ssh/**)",
    "Write",
    "Grep",
    "WebFetch",
    "WebFetch(domain:*.ex.org)",
    "WebFetch(domain:*)",
    "mcp__a",
    "mcp__a__b",
    "mcp__*",
    "Agent(x)",
];

const SOME_LINES: &[&str] = &[
    "ls",
    "ls && rm x",
    "npm test",
    "git push x",
    "cat .env",
    "cat src/a > b",
    "sudo rm x",
    "for i in a; do rm x; done",
    "cd src && cat a",
    "npm test | head -5",
    "rm -rf ~",
    "grep -r a .",
    "cp a src/",
    "touch a",
    "cat *",
    "echo x > a",
    "make x",
    "bash x",
];

fn any_call() -> impl Strategy<Value = (String, Value)> {
    let file = prop::sample::select(vec![
        ".env",
        "src/a",
        "a",
        "/etc/x",
        ".git/config",
        "../x",
        "~/.ssh/id",
        "src/../a",
    ]);
    let path = |tool: &'static str, field: &'static str| {
        file.clone()
            .prop_map(move |file| (tool.to_owned(), json!({ field: file })))
    };
    let line = prop::sample::select(SOME_LINES.to_vec());
    let url = prop::sample::select(vec![
        "https://a.ex.org/",
        "https://x.org",
        "https://u@x.org",
    ]);
    prop_oneof![
        4 => line.prop_map(|line| ("Bash".to_owned(), json!({ "command": line, "timeout": 5 }))),
        1 => path("Read", "file_path"),
        1 => path("Edit", "file_path"),
        1 => path("Write", "file_path"),
        1 => path("Grep", "path"),
        1 => url.prop_map(|url| ("WebFetch".to_owned(), json!({ "url": url }))),
        1 => Just(("mcp__a__b".to_owned(), json!({}))),
        1 => Just(("Agent".to_owned(), json!({ "subagent_type": "x" }))),
    ]
}

fn some_rules() -> impl Strategy<Value = Vec<String>> {
    let rule = prop::sample::select(SOME_RULES.to_vec()).prop_map(str::to_owned);
    prop::collection::vec(rule, 0..4)
}

fn any_mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(vec![
        Mode::Default,
        Mode::AcceptEdits,
        Mode::Plan,
        Mode::DontAsk,
        Mode::BypassPermissions,
    ])
}

fn list(allow: &[String], ask: &[String], deny: &[String]) -> RuleSet {
    RuleSet::parse(&[RuleList {
        source: SourceKind::Flag,
        name: "flag".to_owned(),
        root: PROJECT.to_owned(),
        allow: allow.to_vec(),
        ask: ask.to_vec(),
        deny: deny.to_vec(),
    }])
    .0
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Law 7: deny beats ask beats allow; adding rules that close never opens anything.
    #[test]
    fn deny_beats_ask_beats_allow(
        (tool, input) in any_call(),
        mode in any_mode(),
        hook in prop::option::of(prop::sample::select(vec![
            HookOpinion::Allow, HookOpinion::Ask, HookOpinion::Deny,
        ])),
        allow in some_rules(), ask in some_rules(), deny in some_rules(),
        more_ask in some_rules(), more_deny in some_rules(),
        cut in 0usize..4,
    ) {
        let mut world = World::new(&tool, input);
        (world.mode, world.hook) = (mode, hook);
        let before = world.decide(&list(&allow, &ask, &deny)).verdict;
        let ask = [ask, more_ask].concat();
        let deny = [deny, more_deny].concat();
        let rules = list(&allow, &ask, &deny);
        let after = world.decide(&rules);
        prop_assert!(after.verdict >= before, "{before:?} became {:?}", after.verdict);
        prop_assert!(after.suggestions.is_empty() || after.verdict == Verdict::Ask);

        // The same with fewer allow rules.
        let fewer = list(&allow[..cut.min(allow.len())], &ask, &deny);
        prop_assert!(world.decide(&fewer).verdict >= after.verdict);

        // What gate 2 denies, gate 5 denies, whatever else is said.
        if world.ask(&rules, denied).is_some() {
            prop_assert_eq!(after.verdict, Verdict::Deny);
        }
        prop_assert!(!rules.removes(&tool) || after.verdict == Verdict::Deny);

        // An ask rule beats every allow: of rules, hooks and modes.
        let asking = list(std::slice::from_ref(&tool), std::slice::from_ref(&tool), &[]);
        world.hook = Some(HookOpinion::Allow);
        prop_assert!(world.decide(&asking).verdict >= Verdict::Ask);
    }

    /// Whatever the model writes, there is an answer, and it is the same twice (law 10).
    #[test]
    fn any_line_gets_one_answer(line in "[a-z'\"$`(){}<>|&;\\\\ \n~*=/.#-]{0,60}") {
        let world = World::new("Bash", json!({ "command": line }));
        let (rules, _) = set(&["Bash(a *)"], &["Bash(b *)"], &["Bash(c *)", "Read(d)"]);
        prop_assert_eq!(world.decide(&rules), world.decide(&rules));
        let expands = line.contains(['$', '`', '(', '{']);
        let quoted = line.contains(['\'', '"', '\\', '#']);
        prop_assert!(!read_only(&line) || !expands || quoted);
    }
}

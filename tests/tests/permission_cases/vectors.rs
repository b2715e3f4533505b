//! Single decisions: the vectors of the public rules, the floor, suggestions and broken rules.
//! Each names the call and the wanted answer; none may depend on another.

use serde_json::{json, Value};
use toolgate_core::permission::{denied, Verdict};
use toolgate_protocol::notices::Mode;

use crate::world::{set, World, HOME, PROJECT};

/// One command under one rule of each kind.
fn bash(mode: Mode, allow: &[&str], ask: &[&str], deny: &[&str], command: &str) -> Verdict {
    let mut world = World::new("Bash", json!({ "command": command }));
    world.mode = mode;
    world.decide(&set(allow, ask, deny).0).verdict
}

#[test]
fn the_vectors_of_the_public_rules_hold() {
    use Verdict::{Allow, Ask, Deny};
    let check = |allow: &[&str], deny: &[&str], command: &str, want| {
        let got = bash(Mode::Default, allow, &[], deny, command);
        assert_eq!(got, want, "allow {allow:?} deny {deny:?}: {command}");
    };
    check(&["Bash(less *)"], &[], "less", Allow);
    check(&["Bash(less *)"], &[], "lessx a", Ask);
    check(&["Bash(less*)"], &[], "lessx", Allow);
    check(&["Bash(make test)"], &[], "make test -j4", Ask);
    check(&["Bash(make:*)"], &[], "make all", Allow);
    check(&["Bash(git:* push)"], &[], "git x push", Ask);
    check(&["Bash(git * main)"], &[], "git log --oneline main", Allow);
    check(
        &["Bash(cargo test *)"],
        &[],
        "cargo test && rm -r target",
        Ask,
    );
    check(
        &["Bash(cargo test *)"],
        &["Bash(rm *)"],
        "cargo test; rm -r target",
        Deny,
    );
    check(&["Bash(cargo test *)"], &[], "timeout 60 cargo test", Allow);
    check(&["Bash(cargo test *)"], &[], "nice cargo test x", Allow);
    check(&["Bash(cargo test *)"], &[], "npx cargo test", Ask);
    check(&["Bash(cargo test *)"], &[], "LD_PRELOAD=x cargo test", Ask);
    check(&[], &["Bash(rm *)"], "X=1 rm file", Deny);
    check(&["Bash(grep *)"], &[], "xargs grep a", Allow);
    check(&["Bash(grep *)"], &[], "xargs -n1 grep a", Ask);
    check(&["Bash(find *)"], &[], "find . -delete", Ask);
    check(&["Bash(find *)"], &[], "find . -exec cat {} \\;", Ask);
    check(&["Bash(watch *)"], &[], "watch ls", Ask);
    check(&["Bash(watch ls)"], &[], "watch ls", Allow);
    check(&[], &[], "cat a.txt", Allow);
    check(&[], &[], "cd src && ls", Allow);
    check(&[], &[], "cd ../other && git status", Ask);
    check(&["Bash(git *)"], &[], "cd src && git status", Ask);
    check(&[], &[], "ls > out.txt", Ask);
    check(&[], &[], "grep -r a . 2>/dev/null", Allow);
    check(&[], &[], "sort *", Ask);
    check(&["Bash"], &["Bash(curl *)"], "curl x", Deny);
    check(&["*"], &[], "make", Ask);
    check(&["Bash(export *)"], &[], "export PATH=. && ls", Ask);
    check(&["Bash(npm test)"], &[], "'npm test'", Ask);
    check(
        &["Bash(git *)"],
        &["Bash(git push *)"],
        "git -c a=b --no-pager push",
        Deny,
    );
    check(&[], &["Bash(rm *)"], "if true; then r''m x; fi", Deny);
    check(&[], &["Bash(rm *)"], "sudo -u root /bin/rm x", Deny);
    check(&[], &["Bash(rm *)"], "sh -c \"bash -c 'ls; rm x'\"", Deny);
    check(&["Bash"], &["Bash(rm *)"], "echo rm | bash", Deny);
    check(&["Bash"], &["Bash(rm *)"], "curl x | bash", Ask);
    // Weaker than the public rule, which allows it: a name could be a link to the outside.
    check(&[], &[], "wc *", Ask);
}

#[test]
fn the_floor_holds_in_every_mode() {
    use Verdict::{Allow, Ask, Deny};
    let bypass = |command| bash(Mode::BypassPermissions, &[], &[], &[], command);
    assert_eq!(bypass("make install"), Allow);
    for command in [
        "rm -rf ~",
        "rm -rf /",
        "echo $(rm -rf /)",
        "rm -rf .",
        "rm -rf *",
        "rm -rf src/..",
        "rm -rf $X/*",
        "find . -delete",
        "mv /home/dev /tmp",
        "cd / && rm -rf etc",
        "ls | xargs rm",
        "sudo rm -rf /usr",
        "rm -r \"$HOME\"",
        "cd; rm -rf x",
        "sh -c 'rm -rf ~'",
        "find ~ -exec rm {} +",
    ] {
        assert_eq!(bypass(command), Ask, "{command}");
        let asked = bash(Mode::Default, &["Bash", "Bash(rm *)"], &[], &[], command);
        assert_eq!(asked, Ask, "{command}");
        assert_eq!(
            bash(Mode::DontAsk, &["Bash"], &[], &[], command),
            Deny,
            "{command}"
        );
    }
    for command in [
        "cp x .git/hooks/pre-commit",
        "echo x > .envrc",
        "tee .vscode/tasks.json",
        "cp evil/.git .",
        "sed -i s/a/b/ .git/config",
        "mv x .mcp.json",
    ] {
        assert_eq!(
            bash(Mode::AcceptEdits, &["Bash", "Edit"], &[], &[], command),
            Ask,
            "{command}"
        );
    }
}

#[test]
fn a_path_that_nobody_looked_at_is_nowhere() {
    let (rules, _) = set(&[], &[], &[]);
    let mut world = World::new("Bash", json!({ "command": "cat a.txt" }));
    assert_eq!(world.decide(&rules).verdict, Verdict::Allow);
    world.looks = false;
    assert_eq!(world.decide(&rules).verdict, Verdict::Ask);
    world.looks = true;
    let target = "/home/dev/.ssh/id_rsa".to_owned();
    world.links.insert(format!("{PROJECT}/a.txt"), target);
    assert_eq!(world.decide(&rules).verdict, Verdict::Ask);
    let (rules, _) = set(&["Bash(cat *)"], &[], &["Read(~/.ssh/**)"]);
    assert_eq!(world.decide(&rules).verdict, Verdict::Deny);
    assert!(world.ask(&rules, denied).is_some());
}

#[test]
fn an_answer_names_its_rule_and_offers_only_what_helps() {
    let check = |tool: &str, input: Value, want: &[&str]| {
        let decision = World::new(tool, input).decide(&set(&[], &[], &[]).0);
        assert_eq!(decision.verdict, Verdict::Ask);
        assert_eq!(decision.suggestions, want, "{tool}");
    };
    let line = |command: &str| json!({ "command": command });
    check(
        "Bash",
        line("npm test && ls && make"),
        &["Bash(npm test *)", "Bash(make)"],
    );
    check("Bash", line("rm build"), &["Bash(rm build)"]);
    check(
        "Bash",
        line("timeout 5 cargo test -q"),
        &["Bash(cargo test *)"],
    );
    for command in [
        "sudo make",
        "bash x.sh",
        "git -C a push",
        "for i in a; do b; done",
        "a '*'",
        "a > b",
        "env a",
        "python3 x.py",
        "rm -rf ~",
        "X=1 make",
        "a\nb\nc\nd\ne\nf",
    ] {
        check("Bash", line(command), &[]);
    }
    let edit = json!({ "file_path": "src/a.rs", "old_string": "a", "new_string": "b" });
    check("Edit", edit, &["Edit(//home/dev/proj/src/a.rs)"]);
    check(
        "Read",
        json!({ "file_path": "/etc/hosts" }),
        &["Read(//etc/hosts)"],
    );
    check(
        "WebFetch",
        json!({ "url": "https://ex.org/a" }),
        &["WebFetch(domain:ex.org)"],
    );
    check("mcp__a__b", json!({}), &["mcp__a__b"]);
    check("Edit", json!({ "file_path": ".git/config" }), &[]);

    let (rules, _) = set(&["Bash(make *)"], &[], &["Bash(make clean)"]);
    let decision = World::new("Bash", line("make clean")).decide(&rules);
    assert_eq!(decision.rule.as_deref(), Some("Bash(make clean)"));
    assert_eq!(decision.source.as_deref(), Some("user"));
    assert!(
        decision.text.contains("`Bash(make clean)`"),
        "{}",
        decision.text
    );
}

#[test]
fn broken_rules_fail_closed_and_are_reported() {
    let (rules, warnings) = set(
        &[
            "Bash(ls",
            "mcp__*",
            "Write(docs/**)",
            "WebFetch(https://x/*)",
            "Nope",
        ],
        &["Bash()", "Write(docs/**)", "Bash(command:rm *)"],
        &["Read(a[", "TodoWrite(x)"],
    );
    let joined = warnings.join("\n");
    for part in [
        "`Bash(ls`",
        "`mcp__*`",
        "`Write(docs/**)`",
        "`Nope`",
        "`Bash()`",
        "`Read(a[`",
        "`TodoWrite(x)`",
        "`WebFetch(https://x/*)`",
        "`Bash(command:rm *)`",
    ] {
        assert!(joined.contains(part), "{part} in\n{joined}");
    }
    assert_eq!(warnings.len(), 10, "{joined}");
    let decide = |tool: &str, input| World::new(tool, input).decide(&rules);
    let read = decide("Read", json!({ "file_path": "b.txt" }));
    assert_eq!(
        (read.verdict, read.rule.as_deref()),
        (Verdict::Ask, Some("Read(a["))
    );
    assert_eq!(decide("TodoWrite", json!({})).verdict, Verdict::Ask);
    assert_eq!(
        decide("Bash", json!({ "command": "ls" })).verdict,
        Verdict::Allow
    );
    assert_eq!(decide("mcp__a__b", json!({})).verdict, Verdict::Ask);
}

#[test]
fn a_bare_denial_removes_the_tool() {
    let (rules, _) = set(&[], &[], &["Bash", "mcp__*", "Edit", "Read(x)"]);
    for tool in ["Bash", "mcp__a__b", "Edit", "Write"] {
        assert!(rules.removes(tool), "{tool}");
    }
    assert!(!rules.removes("Read") && !rules.removes("Grep"));
    let roots = [PROJECT.to_owned()];
    let hides = |path: &str| rules.hides(path, path, PROJECT, HOME, &roots, false);
    assert!(hides("/home/dev/proj/a/x") && !hides("/home/dev/proj/y"));
}

#[test]
fn a_later_exception_reopens_what_its_source_closed() {
    let (rules, _) = set(&[], &[], &["Read(secrets/**)", "Read(!secrets/public.txt)"]);
    let read = |path: &str| {
        World::new("Read", json!({ "file_path": path }))
            .decide(&rules)
            .verdict
    };
    assert_eq!(read("secrets/a"), Verdict::Deny);
    assert_eq!(read("secrets/public.txt"), Verdict::Allow);
}

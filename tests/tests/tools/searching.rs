//! Glob and Grep.

use serde_json::{json, Value};
use toolgate::tools::Name;
use toolgate_core::outcome::{Raw, Stage};

use crate::bench::{says, told, Bench};

async fn glob(bench: &Bench, pattern: &str) -> Raw {
    bench.run(Name::Glob, json!({ "pattern": pattern })).await
}

async fn grep(bench: &Bench, input: Value) -> Raw {
    let raw = bench.run(Name::Grep, input).await;
    assert_eq!(raw.stage, Stage::Done, "{}", told(&raw));
    raw
}

fn tree() -> Bench {
    let bench = Bench::new();
    bench.put("src/main.rs", "fn main() {\n    let x = 1;\n}\n");
    bench.put(
        "src/deep/lib.rs",
        "// needle one\nfn a() {}\n// needle two\n",
    );
    bench.put("ignored/out.rs", "needle\n");
    bench.put(".gitignore", "ignored/\n");
    bench.put(".hidden/x.rs", "needle\n");
    bench.put(".git/config.rs", "needle\n");
    bench.put("bin.rs", b"needle\0binary\n");
    bench.put(".toolgate-1-0.tmp", "needle\n");
    bench
}

#[tokio::test]
async fn names_are_found_newest_first() {
    let bench = tree();
    bench.shell("touch -d '2001-01-01' src/main.rs; touch -d '2030-01-01' src/deep/lib.rs");
    let raw = glob(&bench, "*.rs").await;
    let names: Vec<&str> = raw.text.lines().collect();
    assert_eq!(names.first(), Some(&"src/deep/lib.rs"));
    assert_eq!(names.last(), Some(&"src/main.rs"));
    assert!(names.contains(&".hidden/x.rs") && names.contains(&"ignored/out.rs"));
    assert_eq!(names.len(), 5, "{names:?}");
    assert_eq!(glob(&bench, "src/*.rs").await.text, "src/main.rs");
    assert_eq!(
        glob(&bench, "{src,lib}/**/lib.rs").await.text,
        "src/deep/lib.rs"
    );
    let absolute = format!("{}/src/**/*.rs", bench.cwd);
    assert_eq!(glob(&bench, &absolute).await.text.lines().count(), 2);
    says(&glob(&bench, "*.zig").await, &["No files found"]);
    assert!(glob(&bench, "[").await.is_error());
}

#[tokio::test]
async fn a_hundred_names_are_shown_and_the_rest_is_counted() {
    let bench = Bench::new();
    bench.shell("touch f{1..250}.txt; mkfifo pipe.txt; ln -s f1.txt link.txt");
    let raw = glob(&bench, "*.txt").await;
    says(&raw, &["The 100 newest of 250 files"]);
    let output = raw.structured.unwrap();
    assert_eq!(
        (&output["numFiles"], &output["totalMatches"]),
        (&json!(100), &json!(250))
    );
}

#[tokio::test]
async fn new_documents_are_found_and_denied_files_are_not() {
    let mut bench = tree();
    bench.open("src/new.rs", "needle\n", true);
    bench.denied = vec!["deep".to_owned()];
    let raw = glob(&bench, "src/**").await;
    says(&raw, &["src/new.rs [open, not saved yet]"]);
    assert!(!told(&raw).contains("lib.rs"));
    let raw = grep(&bench, json!({ "pattern": "needle", "path": "src" })).await;
    assert_eq!(raw.text, "src/new.rs");
}

#[tokio::test]
async fn files_with_matches_leave_out_what_nobody_wants() {
    let bench = tree();
    let raw = grep(&bench, json!({ "pattern": "needle" })).await;
    let mut names: Vec<&str> = raw.text.lines().collect();
    names.sort_unstable();
    assert_eq!(names, [".hidden/x.rs", "src/deep/lib.rs"]);
    says(&raw, &["1 file skipped: binary"]);
    let raw = grep(
        &bench,
        json!({ "pattern": "needle", "path": "ignored/out.rs" }),
    )
    .await;
    assert_eq!(
        raw.text, "ignored/out.rs",
        "a file that is named is searched"
    );
}

#[tokio::test]
async fn content_has_numbers_and_context() {
    let bench = tree();
    let check = async |input: Value, want: &str| {
        let raw = grep(&bench, input.clone()).await;
        assert_eq!(raw.text, want, "{input}");
    };
    let base = |more: Value| {
        let mut input = json!({ "pattern": "needle", "path": "src", "output_mode": "content" });
        for (key, value) in more.as_object().unwrap() {
            input[key] = value.clone();
        }
        input
    };
    let lib = "src/deep/lib.rs";
    check(
        base(json!({})),
        &format!("{lib}:1:// needle one\n{lib}:3:// needle two"),
    )
    .await;
    check(
        base(json!({ "-n": false, "head_limit": 1 })),
        &format!("{lib}:// needle one"),
    )
    .await;
    check(
        base(json!({ "offset": 1 })),
        &format!("{lib}:3:// needle two"),
    )
    .await;
    check(
        base(json!({ "-o": true })),
        &format!("{lib}:1:needle\n{lib}:3:needle"),
    )
    .await;
    let all = format!("{lib}:1:// needle one\n{lib}-2-fn a() {{}}\n{lib}:3:// needle two");
    check(base(json!({ "-C": 1 })), &all).await;
    check(
        base(json!({ "path": lib })),
        "1:// needle one\n3:// needle two",
    )
    .await;
    check(
        base(json!({ "pattern": "NEEDLE TWO", "-i": true })),
        &format!("{lib}:3:// needle two"),
    )
    .await;
    check(base(json!({ "glob": "!*lib.rs" })), "No matches found").await;
    check(base(json!({ "type": "py" })), "No matches found").await;
    let spanning = format!("{lib}:1:// needle one\n{lib}:2:fn a() {{}}");
    check(
        base(json!({ "pattern": "one.fn", "multiline": true })),
        &spanning,
    )
    .await;
    check(base(json!({ "output_mode": "count" })), &format!("{lib}:2")).await;
}

#[tokio::test]
async fn totals_are_told_beside_a_page() {
    let bench = Bench::new();
    bench.put("a.txt", "x\n".repeat(1_000));
    let input = json!({ "pattern": "x", "output_mode": "content", "head_limit": 10, "offset": 20 });
    let raw = grep(&bench, input).await;
    says(&raw, &["Entries 21 to 30 of 1000; go on with offset 30."]);
    let output = raw.structured.unwrap();
    assert_eq!(output["numLines"], 10);
    assert_eq!(output["appliedOffset"], 20);
    let input = json!({ "pattern": "x", "output_mode": "content", "offset": 5_000 });
    says(&grep(&bench, input).await, &["Nothing is left"]);
}

#[tokio::test]
async fn a_large_result_is_kept_aside() {
    let bench = Bench::new();
    bench.put("a.txt", format!("{}\n", "x".repeat(400)).repeat(400));
    let input = json!({ "pattern": "x", "output_mode": "content", "head_limit": 0 });
    let raw = grep(&bench, input).await;
    says(&raw, &["<persisted-output>", "400 lines"]);
    assert!(raw.persisted.is_some());
}

#[tokio::test]
async fn one_huge_line_gives_an_excerpt() {
    let bench = Bench::new();
    let (before, after) = ("a".repeat(300_000), "b".repeat(300_000));
    bench.put("a.json", format!("{before}needle{after}"));
    let input = json!({ "pattern": "needle", "output_mode": "content" });
    let raw = grep(&bench, input).await;
    assert!(raw.text.chars().count() < 600);
    says(&raw, &["aneedleb", "[...]"]);
}

#[tokio::test]
async fn unsaved_text_is_searched_in_the_place_of_its_file() {
    let mut bench = tree();
    bench.open("src/deep/lib.rs", "// changed\n", true);
    bench.open("src/main.rs", "// needle in the buffer\n", true);
    let input = json!({ "pattern": "needle", "path": "src", "output_mode": "content" });
    let raw = grep(&bench, input).await;
    assert_eq!(raw.text, "src/main.rs:1:// needle in the buffer");
    says(&raw, &["Searched as in the editor, unsaved: src/main.rs"]);
}

#[tokio::test]
async fn what_cannot_be_searched_says_why() {
    let bench = tree();
    let check = async |input: Value, part: &str| {
        let raw = bench.run(Name::Grep, input).await;
        assert!(raw.is_error());
        assert!(told(&raw).contains(part), "{}", told(&raw));
    };
    check(json!({ "pattern": "(" }), "no regular expression").await;
    check(json!({ "pattern": "x", "type": "klingon" }), "klingon").await;
    check(json!({ "pattern": "x", "glob": "[" }), "glob").await;
    check(
        json!({ "pattern": "x", "path": "nowhere" }),
        "does not exist",
    )
    .await;
    bench.shell("mkfifo src/pipe.rs; ln -s /etc/passwd src/link.rs");
    let raw = grep(&bench, json!({ "pattern": "root", "path": "src" })).await;
    assert_eq!(
        raw.text, "No matches found",
        "no link is followed, no FIFO opened"
    );
}

#[tokio::test]
async fn a_stopped_search_says_so() {
    let bench = tree();
    bench.cancel.cancel();
    let raw = grep(&bench, json!({ "pattern": "needle" })).await;
    says(&raw, &["interrupted"]);
}

//! Read.

use serde_json::json;
use toolgate::tools::Name;
use toolgate_core::outcome::{Effect, Lines, Raw, Stage};

use crate::bench::{says, told, Bench};

async fn read(bench: &Bench, name: &str) -> Raw {
    bench.run(Name::Read, json!({ "file_path": name })).await
}

#[tokio::test]
async fn shows_numbered_lines_and_counts_them_as_seen() {
    let bench = Bench::new();
    bench.put("a.txt", "one\r\ntwo\r\nthree");
    let raw = read(&bench, "a.txt").await;
    assert_eq!(raw.stage, Stage::Done);
    assert_eq!(raw.text, "     1\tone\n     2\ttwo\n     3\tthree\n");
    assert_eq!(raw.shown[0].lines, [Lines { first: 1, last: 3 }]);
    assert!(raw.shown[0].one_read_shows_all);
    let file = &raw.structured.unwrap()["file"];
    assert_eq!(file["totalLines"], 3);
    assert_eq!(file["content"], "one\ntwo\nthree\n");
}

#[tokio::test]
async fn a_byte_order_mark_is_no_part_of_the_first_line() {
    let bench = Bench::new();
    bench.put("v.vb", b"\xef\xbb\xbfmsg=\"\xc3\xa9\"\r\n");
    assert_eq!(read(&bench, "v.vb").await.text, "     1\tmsg=\"\u{e9}\"\n");
    bench.put("u16.txt", b"\xff\xfea\0\r\0\n\0");
    assert_eq!(read(&bench, "u16.txt").await.text, "     1\ta\n");
    bench.put("d.pas", b"// configura\xe7\xe3o da caixa\nx:=1;\n");
    says(&read(&bench, "d.pas").await, &["configura\u{e7}\u{e3}o"]);
}

#[tokio::test]
async fn an_empty_file_and_a_window_behind_the_end_are_said() {
    let bench = Bench::new();
    bench.put("e.txt", "");
    let raw = read(&bench, "e.txt").await;
    says(&raw, &["exists and is empty"]);
    assert_eq!(raw.shown[0].total_lines, 0);
    let input = json!({ "file_path": "e.txt", "offset": 10 });
    says(&bench.run(Name::Read, input).await, &["0 lines"]);
    bench.put("a.txt", "a\nb\n");
    let input = json!({ "file_path": "a.txt", "offset": 10 });
    let raw = bench.run(Name::Read, input).await;
    says(&raw, &["has 2 lines", "line 10"]);
    assert!(raw.shown[0].lines.is_empty());
}

#[tokio::test]
async fn a_long_file_is_shown_by_windows() {
    let bench = Bench::new();
    let text: String = (1..=5_000).map(|n| format!("line {n}\n")).collect();
    bench.put("long.txt", text);
    let raw = read(&bench, "long.txt").await;
    says(
        &raw,
        &[
            "  2000\tline 2000\n",
            "Lines 1-2000 of 5000; Read on with offset 2001.",
        ],
    );
    assert!(!raw.shown[0].one_read_shows_all);
    let input = json!({ "file_path": "long.txt", "offset": 4_999, "limit": 7 });
    let raw = bench.run(Name::Read, input).await;
    assert_eq!(
        raw.shown[0].lines,
        [Lines {
            first: 4_999,
            last: 5_000
        }]
    );
}

#[tokio::test]
async fn a_window_that_is_too_large_is_refused_with_one_that_fits() {
    let bench = Bench::new();
    bench.put(
        "wide.txt",
        format!("{}\n", "\u{2713}".repeat(1_500)).repeat(300),
    );
    let raw = read(&bench, "wide.txt").await;
    assert_eq!((raw.stage, raw.effect), (Stage::Failed, Effect::None));
    says(&raw, &["offset 1 and limit 66"]);
    let input = json!({ "file_path": "wide.txt", "limit": 66 });
    assert_eq!(bench.run(Name::Read, input).await.stage, Stage::Done);
}

#[tokio::test]
async fn what_is_no_regular_file_is_never_opened() {
    let bench = Bench::new();
    bench.shell("mkfifo f; ln -s /dev/zero z; ln -s /proc/self/environ p");
    for name in ["f", "z", "p"] {
        let raw = read(&bench, name).await;
        assert!(raw.is_error(), "{name}");
        says(&raw, &["never opened"]);
    }
}

#[tokio::test]
async fn binary_files_are_named_and_images_shown() {
    let bench = Bench::new();
    bench.put("bin", b"\x7fELF\0\0\0\x01\xff");
    says(&read(&bench, "bin").await, &["ELF program", "9 bytes"]);
    bench.put("p.png", b"\x89PNG\r\n\x1a\nxyz");
    let raw = read(&bench, "p.png").await;
    assert_eq!(raw.images[0].media_type, "image/png");
    assert_eq!(raw.images[0].base64, "iVBORw0KGgp4eXo=");
    says(&read(&bench, "a\0b").await, &["NUL"]);
}

#[tokio::test]
async fn a_missing_file_and_a_directory_show_names() {
    let mut bench = Bench::new();
    bench.put("src/main.rs", "");
    bench.put("src/secret.rs", "");
    bench.put("re\u{301}sume\u{301}.md", "");
    bench.denied = vec!["secret".to_owned()];
    let raw = read(&bench, "src/mian.rs").await;
    says(&raw, &["does not exist", "main.rs"]);
    says(
        &read(&bench, "r\u{e9}sum\u{e9}.md").await,
        &["re\\u{301}sume\\u{301}.md"],
    );
    let raw = read(&bench, "src").await;
    says(&raw, &["is a directory", "1 entry", "main.rs"]);
    assert!(!told(&raw).contains("secret"));
    says(&read(&bench, "no/such/file").await, &["Its directory"]);
    says(
        &read(&bench, "src/main.rs/x").await,
        &["is a file, not a directory"],
    );
    let long = "x".repeat(300);
    says(&read(&bench, &long).await, &["too long"]);
}

#[tokio::test]
async fn the_open_document_comes_before_the_disk() {
    let mut bench = Bench::new();
    bench.put("a.txt", "disk\n");
    bench.open("a.txt", "buffer\n", true);
    let raw = read(&bench, "a.txt").await;
    says(&raw, &["     1\tbuffer\n", "unsaved changes"]);
    bench.open("new.txt", "nowhere else\n", true);
    says(&read(&bench, "new.txt").await, &["nowhere else"]);
}

#[tokio::test]
async fn a_huge_file_costs_its_window() {
    let bench = Bench::new();
    // 100 GB, most of which take no room: whoever read them all would not come back.
    bench.shell("seq 1 20000 > huge; truncate -s 100G huge");
    let input = json!({ "file_path": "huge", "offset": 15_000, "limit": 2 });
    let raw = bench.run(Name::Read, input).await;
    assert_eq!(raw.text, " 15000\t15000\n 15001\t15001\n");
    says(&raw, &["too large to be loaded whole"]);
    assert!(raw.shown.is_empty(), "what was not hashed cannot be edited");
    bench.shell("truncate -s 100G zeros");
    says(&read(&bench, "zeros").await, &["is no text"]);
}

#[tokio::test]
async fn links_are_resolved_and_a_circle_is_an_error() {
    let bench = Bench::new();
    bench.put("real.txt", "x\n");
    bench.shell("ln -s real.txt link; ln -s b a; ln -s a b");
    let raw = read(&bench, "link").await;
    assert!(raw.shown[0].place.path().ends_with("/real.txt"));
    says(&read(&bench, "a").await, &["circle"]);
}

//! Edit and Write on disk.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use serde_json::{json, Value};
use toolgate::hands::disk::{self, commit, CommitError, Durability};
use toolgate::tools::Name;
use toolgate_core::outcome::{Effect, Lines, Raw, Stage};
use toolgate_core::place::{Aim, Place, Purpose};
use toolgate_core::version::RawHash;

use crate::bench::{anew, says, told, Bench};

async fn edit(bench: &Bench, name: &str, old: &str, new: &str) -> Raw {
    let input = json!({ "file_path": name, "old_string": old, "new_string": new });
    bench.run(Name::Edit, input).await
}

async fn write(bench: &Bench, name: &str, content: &str) -> Raw {
    let input = json!({ "file_path": name, "content": content });
    bench.run(Name::Write, input).await
}

fn no_leftovers(bench: &Bench) {
    let (entries, _) = disk::list(&bench.cwd, 1_000).unwrap();
    let left: Vec<_> = entries
        .iter()
        .filter(|e| disk::is_temporary(&e.name))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn an_edit_keeps_every_byte_beside_it() {
    let check = async |before: &[u8], old: &str, new: &str, after: &[u8]| {
        let bench = Bench::new();
        bench.put("f", before);
        let raw = edit(&bench, "f", old, new).await;
        assert_eq!(raw.stage, Stage::Done, "{}", told(&raw));
        assert_eq!(bench.bytes("f"), after);
        no_leftovers(&bench);
    };
    check(b"a\r\nb\r\nc\r\n", "a\nb", "a\nB", b"a\r\nB\r\nc\r\n").await;
    check(
        b"\xef\xbb\xbfmsg=\"\xc3\xa9\"\r\n",
        "msg",
        "txt",
        b"\xef\xbb\xbftxt=\"\xc3\xa9\"\r\n",
    )
    .await;
    check(
        b"caf\xe9 da manh\xe3 e caf\xe9\nx:=1;\n",
        "1",
        "2",
        b"caf\xe9 da manh\xe3 e caf\xe9\nx:=2;\n",
    )
    .await;
    check(b"\xff\xfea\0\n\0b\0", "b", "c", b"\xff\xfea\0\n\0c\0").await;
    check(b"a  \nb\t\nlast", "b\t", "B\t", b"a  \nB\t\nlast").await;
    check(
        b"all:\n\techo PID\n",
        "echo PID",
        "echo $$PID \\1",
        b"all:\n\techo $$PID \\1\n",
    )
    .await;
}

#[tokio::test]
async fn the_outcome_tells_and_counts_what_was_written() {
    let bench = Bench::new();
    bench.put("a.txt", "one\ntwo\nthree\n");
    let raw = edit(&bench, "a.txt", "two", "2\n2b").await;
    assert_eq!(raw.effect, Effect::Happened);
    says(&raw, &["Edited", "-two\n+2\n+2b\n three"]);
    assert_eq!(raw.shown[0].lines, [Lines { first: 2, last: 3 }]);
    assert_eq!(raw.shown[0].total_lines, 4);
    assert_eq!(raw.changed, [raw.shown[0].place.clone()]);
    let output = raw.structured.unwrap();
    assert_eq!(output["oldString"], "two");
    assert_eq!(output["originalFile"], "one\ntwo\nthree\n");
    assert_eq!(output["userModified"], false);
    assert_eq!(output["structuredPatch"][0]["newLines"], 4);
}

#[tokio::test]
async fn several_replacements_are_made_or_none() {
    let bench = Bench::new();
    bench.put("a.txt", "a\nb\nc\n");
    let both = |second: &str| {
        json!({ "file_path": "a.txt", "edits": [
            { "old_string": "a", "new_string": "A" },
            { "old_string": second, "new_string": "C" },
        ] })
    };
    assert!(bench.run(Name::Edit, both("missing")).await.is_error());
    assert_eq!(bench.bytes("a.txt"), b"a\nb\nc\n");
    let raw = bench.run(Name::Edit, both("c")).await;
    assert_eq!(bench.bytes("a.txt"), b"A\nb\nC\n");
    assert_eq!(raw.structured.unwrap()["edits"][1]["new_string"], "C");
}

#[tokio::test]
async fn modes_and_links_survive() {
    let bench = Bench::new();
    bench.put("run.sh", "echo a\n");
    bench.put("key.pem", "k\n");
    bench.put("AGENTS.md", "old\n");
    bench.shell("chmod 755 run.sh; chmod 600 key.pem; ln -s AGENTS.md CLAUDE.md");
    edit(&bench, "run.sh", "echo a", "echo b").await;
    write(&bench, "key.pem", "k2\n").await;
    edit(&bench, "CLAUDE.md", "old", "new").await;
    let mode = |name: &str| bench.path(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("run.sh"), mode("key.pem")), (0o755, 0o600));
    assert!(bench.path("CLAUDE.md").is_symlink());
    assert_eq!(bench.bytes("AGENTS.md"), b"new\n");
}

#[tokio::test]
async fn hard_links_are_written_in_place() {
    let bench = Bench::new();
    bench.put("s.lua", "a long line\nb\n");
    bench.shell("ln s.lua alias.lua");
    let raw = edit(&bench, "s.lua", "a long line", "a").await;
    says(&raw, &["in place"]);
    assert_eq!(bench.bytes("alias.lua"), b"a\nb\n");
    assert_eq!(bench.path("s.lua").metadata().unwrap().nlink(), 2);
}

#[tokio::test]
async fn a_link_to_a_missing_file_makes_that_file() {
    let bench = Bench::new();
    bench.shell("ln -s target.txt link.txt");
    write(&bench, "link.txt", "x").await;
    assert!(bench.path("link.txt").is_symlink());
    assert_eq!(bench.bytes("target.txt"), b"x");
}

#[tokio::test]
async fn a_new_file_gets_the_bytes_as_they_are() {
    let bench = Bench::new();
    let raw = write(&bench, "a/b/n.md", "x  \r\ny").await;
    assert_eq!(bench.bytes("a/b/n.md"), b"x  \r\ny");
    says(
        &raw,
        &["Created", "2 lines", "Directories made: ", "/a, ", "/a/b"],
    );
    assert_eq!(raw.structured.unwrap()["type"], "create");
    edit(&bench, "e.txt", "", "new\n").await;
    assert_eq!(bench.bytes("e.txt"), b"new\n");
    assert!(edit(&bench, "e.txt", "", "X").await.is_error());
}

#[tokio::test]
async fn a_write_keeps_how_the_file_is_spelt() {
    let bench = Bench::new();
    bench.put("v.vb", b"\xef\xbb\xbfmsg\r\n");
    let raw = write(&bench, "v.vb", "a\nb\n").await;
    assert_eq!(bench.bytes("v.vb"), b"\xef\xbb\xbfa\r\nb\r\n");
    says(&raw, &["Replaced the content"]);
    assert_eq!(raw.structured.unwrap()["type"], "update");
}

#[tokio::test]
async fn a_change_in_between_is_refused() {
    let bench = Bench::new();
    bench.put("a.txt", "one\n");
    let input = json!({ "file_path": "a.txt", "old_string": "one", "new_string": "1" });
    let task = bench.task(Name::Edit, &input).unwrap();
    bench.put("a.txt", "one\nsomebody else's\n");
    let raw = bench.execute(Name::Edit, task).await;
    assert_eq!((raw.stage, raw.effect), (Stage::Failed, Effect::None));
    says(&raw, &["changed on disk", "Read it again"]);
    assert_eq!(bench.bytes("a.txt"), b"one\nsomebody else's\n");
    let input = json!({ "file_path": "new.txt", "content": "mine" });
    let task = bench.task(Name::Write, &input).unwrap();
    bench.put("new.txt", "theirs");
    let raw = bench.execute(Name::Write, task).await;
    says(&raw, &["appeared"]);
    assert_eq!(bench.bytes("new.txt"), b"theirs");
    no_leftovers(&bench);
}

#[tokio::test]
async fn what_cannot_be_written_says_why() {
    let bench = Bench::new();
    bench.put("dir/x", "");
    let check = async |name: &str, part: &str| {
        let raw = write(&bench, name, "x").await;
        assert!(raw.is_error(), "{name}: {}", told(&raw));
        assert!(told(&raw).contains(part), "{name}: {}", told(&raw));
    };
    check("dir", "is a directory").await;
    check("dir/x/y", "is a file, not a directory").await;
    check(&"n".repeat(300), "too long").await;
    check("/proc/toolgate-test", "").await;
    bench.put("bin", b"\x7fELF\0\xff");
    let raw = edit(&bench, "bin", "ELF", "elf").await;
    says(&raw, &["no text"]);
    assert_eq!(bench.bytes("bin"), b"\x7fELF\0\xff");
}

/// A commit that may not write leaves nothing, not even the directories it made.
#[test]
fn a_refused_commit_leaves_nothing() {
    let bench = Bench::new();
    let name = "n".repeat(250);
    // The name fits, but not with the directory that is too long beside it.
    let path = format!("{}/made/{}/{name}", bench.cwd, "d".repeat(300));
    let refused = commit(&Place::canonical(&path), None, b"x", Durability::Full);
    assert!(matches!(
        refused,
        Err(CommitError::Refused {
            effect: Effect::None,
            ..
        })
    ));
    assert!(!bench.path("made").exists());
}

#[test]
fn a_commit_swaps_only_what_it_was_given() {
    let bench = Bench::new();
    bench.put("a", "old");
    let place = Place::canonical(bench.path("a").to_str().unwrap());
    let wrong = commit(
        &place,
        Some(RawHash::of(b"other")),
        b"new",
        Durability::None,
    );
    assert_eq!(wrong, Err(CommitError::Changed));
    let there = commit(&place, None, b"new", Durability::None);
    assert_eq!(there, Err(CommitError::Appeared));
    assert_eq!(bench.bytes("a"), b"old");
    let right = commit(&place, Some(RawHash::of(b"old")), b"new", Durability::Full).unwrap();
    assert_eq!(right.raw, RawHash::of(b"new"));
    assert_eq!(bench.bytes("a"), b"new");
    std::fs::remove_file(bench.path("a")).unwrap();
    let gone = commit(&place, Some(RawHash::of(b"new")), b"x", Durability::Full);
    assert_eq!(gone, Err(CommitError::Changed));
    no_leftovers(&bench);
}

/// A folder of the path that becomes a link after the path was resolved is not followed.
#[test]
fn a_link_planted_later_is_not_followed() {
    // The last folder, and one before it: the kernel treats the two differently.
    for (name, link) in [("inside/new.txt", "inside"), ("a/inside/new.txt", "a")] {
        let bench = Bench::new();
        bench.put(&format!("{link}/x"), "");
        std::fs::create_dir_all(bench.folder.path().join("outside/inside")).unwrap();
        bench.shell("mkdir -p a/inside");
        let aim = Aim {
            path: name.to_owned(),
            purpose: Purpose::Write,
        };
        let place = disk::resolve(&aim, &bench.cwd, &bench.cwd).place;
        bench.shell(&format!("rm -r {link}; ln -s ../outside {link}"));
        assert!(
            commit(&place, None, b"x", Durability::Full).is_err(),
            "{name}"
        );
        let outside = bench.folder.path().join("outside");
        assert!(!outside.join("new.txt").exists());
        assert!(!outside.join("inside/new.txt").exists());
    }
}

#[test]
fn what_a_dead_sidecar_left_is_removed() {
    let bench = Bench::new();
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let dead = child.id();
    child.wait().unwrap();
    bench.put(&format!(".toolgate-{dead}-0.tmp"), "x");
    bench.put(&format!(".toolgate-{}-0.tmp", std::process::id()), "x");
    assert_eq!(disk::remove_leftovers(&bench.cwd), 1);
    assert!(!bench.path(&format!(".toolgate-{dead}-0.tmp")).exists());
}

/// A file that its owner made read-only stays as it is, though its folder could be written.
#[tokio::test]
async fn read_only_files_and_folders_are_left_alone() {
    if is_root() {
        // Rights do not hold for the superuser: the test runs as somebody else then.
        let folder = tempfile::tempdir().unwrap();
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).unwrap();
        let copy = folder.path().join("test");
        std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        let mut program = std::process::Command::new("setpriv");
        program.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        program.arg(&copy).current_dir("/");
        anew(
            &mut program,
            "changing::read_only_files_and_folders_are_left_alone",
        );
        assert!(program.status().unwrap().success());
        return;
    }
    let bench = Bench::new();
    bench.put("ro.txt", "a\n");
    bench.put("dir/x.txt", "a\n");
    bench.shell("chmod 444 ro.txt; chmod 555 dir");
    says(
        &edit(&bench, "ro.txt", "a", "b").await,
        &["read-only", "Nothing was changed"],
    );
    says(
        &edit(&bench, "dir/x.txt", "a", "b").await,
        &["does not permit"],
    );
    bench.shell("chmod 755 dir");
    assert_eq!(bench.bytes("dir/x.txt"), b"a\n");
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

#[tokio::test]
async fn the_plan_is_written_and_shown() {
    let bench = Bench::new();
    let input = json!({ "todos": [
        { "content": "Run the tests", "status": "in_progress", "activeForm": "Running the tests" },
        { "content": "Fix it", "status": "pending", "activeForm": "Fixing it" },
    ] });
    let raw = bench.run(Name::TodoWrite, input.clone()).await;
    says(&raw, &["2 steps, 0 completed, 1 in progress, 1 pending"]);
    let payload: Value = serde_json::to_value(raw.payload.unwrap()).unwrap();
    assert_eq!(payload["entries"][0]["activeForm"], "Running the tests");
}

//! Edit and Write of documents that are open in the editor.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::json;
use toolgate::tools::{Boxed, EditorHands, Limits, Name, Save};
use toolgate_core::command::Task;
use toolgate_core::document::{DocumentText, OpenDocument};
use toolgate_core::outcome::{Effect, Raw, Stage};
use toolgate_core::place::Place;
use toolgate_protocol::render::{HunkState, Payload};
use toolgate_protocol::requests::{
    DocumentEditParams, DocumentEditResult, DocumentSaveResult, LineEdit,
};

use crate::bench::{says, told, Bench};

/// One buffer, as an editor holds it; `typed` is what the person types right before each edit.
#[derive(Default)]
struct Buffer {
    text: String,
    version: i32,
    saves: u32,
    typed: VecDeque<String>,
    formatted: Option<String>,
    silent: bool,
    deaf: bool,
    params: Vec<DocumentEditParams>,
}

struct FakeEditor {
    path: String,
    buffer: Mutex<Buffer>,
}

impl FakeEditor {
    fn edit_now(&self, params: DocumentEditParams) -> Result<DocumentEditResult, String> {
        let mut buffer = self.buffer.lock().unwrap();
        if let Some(text) = buffer.typed.pop_front() {
            buffer.text = text;
            buffer.version += 1;
        }
        let stale = params.version != buffer.version;
        let applied = !stale && !buffer.deaf;
        if applied {
            buffer.text = with(&buffer.text, &params.edits);
            buffer.version += 1;
        }
        buffer.params.push(params);
        if buffer.silent {
            return Err("the editor is gone".to_owned());
        }
        Ok(DocumentEditResult {
            applied,
            version: buffer.version,
            hash: String::new(),
            reason: (!applied).then(|| "stale or read-only".to_owned()),
        })
    }
}

fn with(text: &str, edits: &[LineEdit]) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    for edit in edits.iter().rev() {
        let start = edit.start_line as usize;
        let end = start + edit.old_lines.len();
        assert_eq!(
            &lines[start..end],
            edit.old_lines.as_slice(),
            "the client checks this"
        );
        lines.splice(start..end, edit.new_lines.iter().map(String::as_str));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

impl EditorHands for FakeEditor {
    fn edit(&self, params: DocumentEditParams) -> Boxed<'_, Result<DocumentEditResult, String>> {
        Box::pin(async move { self.edit_now(params) })
    }

    fn save(&self, _uri: String) -> Boxed<'_, Result<DocumentSaveResult, String>> {
        Box::pin(async move {
            let mut buffer = self.buffer.lock().unwrap();
            buffer.saves += 1;
            if let Some(text) = buffer.formatted.take() {
                buffer.text = text;
                buffer.version += 1;
            }
            Ok(DocumentSaveResult {
                saved: true,
                reason: None,
            })
        })
    }

    fn snapshot(&self, path: &str) -> Boxed<'_, Option<DocumentText>> {
        let known = path == self.path;
        Box::pin(async move {
            let buffer = self.buffer.lock().unwrap();
            known.then(|| DocumentText {
                path: self.path.clone(),
                document: OpenDocument {
                    uri: "file:///a".to_owned(),
                    version: buffer.version,
                    dirty: true,
                },
                rope: buffer.text.as_str().into(),
            })
        })
    }
}

/// A workspace with one file, open with this text.
fn opened(text: &str, dirty: bool, set: impl FnOnce(&mut Buffer)) -> (Bench, Arc<FakeEditor>) {
    let mut bench = Bench::new();
    bench.put("a.txt", "on disk\n");
    bench.open("a.txt", text, dirty);
    let mut buffer = Buffer {
        text: text.to_owned(),
        version: 1,
        ..Buffer::default()
    };
    set(&mut buffer);
    let editor = Arc::new(FakeEditor {
        path: bench.path("a.txt").to_str().unwrap().to_owned(),
        buffer: Mutex::new(buffer),
    });
    bench.editor = Some(Arc::clone(&editor) as Arc<dyn EditorHands>);
    (bench, editor)
}

async fn edit(bench: &Bench, old: &str, new: &str) -> Raw {
    let input = json!({ "file_path": "a.txt", "old_string": old, "new_string": new });
    bench.run(Name::Edit, input).await
}

#[tokio::test]
async fn a_dirty_document_is_edited_and_not_saved() {
    let (bench, editor) = opened("one\ntwo\n", true, |_| {});
    let raw = edit(&bench, "two", "2").await;
    says(&raw, &["-two", "+2", "not saved"]);
    let buffer = editor.buffer.lock().unwrap();
    assert_eq!((buffer.text.as_str(), buffer.saves), ("one\n2\n", 0));
    assert_eq!(bench.bytes("a.txt"), b"on disk\n");
    let params = &buffer.params[0];
    // printf 'one\ntwo\n' | sha256sum
    let hash = "c3f9c8c283a2b1f2f1896f27a01cbe3cddc0c9d93f752e4639035a0f5b36f6e8";
    assert_eq!(params.hash, hash);
    assert_eq!((params.version, params.label.as_str()), (1, "Edit a.txt"));
}

#[tokio::test]
async fn a_clean_document_is_saved_as_the_setting_says() {
    let check = async |dirty: bool, save: Save, saves: u32| {
        let (mut bench, editor) = opened("one\n", dirty, |_| {});
        bench.limits = Limits {
            save,
            ..Limits::default()
        };
        assert_eq!(edit(&bench, "one", "1").await.stage, Stage::Done);
        assert_eq!(
            editor.buffer.lock().unwrap().saves,
            saves,
            "{dirty} {save:?}"
        );
    };
    check(false, Save::Clean, 1).await;
    check(true, Save::Clean, 0).await;
    check(true, Save::Always, 1).await;
    check(false, Save::Never, 0).await;
}

#[tokio::test]
async fn a_hunk_follows_its_lines_while_the_person_types() {
    let (bench, editor) = opened("one\ntwo\nthree\n", true, |buffer| {
        buffer.typed = ["typed\none\ntwo\nthree\n".to_owned()].into();
    });
    let raw = edit(&bench, "three", "3").await;
    assert_eq!(
        (raw.stage, raw.effect),
        (Stage::Done, Effect::Happened),
        "{}",
        told(&raw)
    );
    assert_eq!(editor.buffer.lock().unwrap().text, "typed\none\ntwo\n3\n");
}

#[tokio::test]
async fn a_hunk_whose_lines_the_person_changed_is_a_conflict() {
    let (bench, editor) = opened("one\ntwo\nthree\nfour\nfive\n", true, |buffer| {
        buffer.typed = ["ONE\ntwo\nthree\nfour\nfive\n".to_owned()].into();
    });
    let input = json!({ "file_path": "a.txt", "edits": [
        { "old_string": "one", "new_string": "1" },
        { "old_string": "five", "new_string": "5" },
    ] });
    let raw = bench.run(Name::Edit, input).await;
    assert_eq!((raw.stage, raw.effect), (Stage::Done, Effect::Partial));
    says(
        &raw,
        &[
            "The person changed these lines",
            "-one",
            "+1",
            "NOT in the file",
        ],
    );
    assert_eq!(
        editor.buffer.lock().unwrap().text,
        "ONE\ntwo\nthree\nfour\n5\n"
    );
    let Some(Payload::Diff(diff)) = raw.payload else {
        panic!("a diff is drawn");
    };
    assert!(diff
        .hunks
        .iter()
        .any(|hunk| hunk.state == HunkState::Conflict));
    let (bench, editor) = opened("one\n", true, |buffer| {
        buffer.typed = ["ONE\n".to_owned()].into();
    });
    let raw = edit(&bench, "one", "1").await;
    assert_eq!((raw.stage, raw.effect), (Stage::Failed, Effect::None));
    assert_eq!(editor.buffer.lock().unwrap().text, "ONE\n");
}

#[tokio::test]
async fn a_document_that_never_rests_is_given_up() {
    let (bench, editor) = opened("one\ntwo\n", true, |buffer| {
        buffer.typed = (0..20).map(|n| format!("{n}\none\ntwo\n")).collect();
    });
    let raw = edit(&bench, "two", "2").await;
    assert_eq!((raw.stage, raw.effect), (Stage::Failed, Effect::None));
    says(&raw, &["5 attempts were too late"]);
    assert_eq!(editor.buffer.lock().unwrap().params.len(), 6);
}

#[tokio::test]
async fn a_formatter_on_save_is_told() {
    let (bench, _editor) = opened("one\ntwo\n", false, |buffer| {
        buffer.formatted = Some("one\n  2;\n".to_owned());
    });
    let raw = edit(&bench, "two", "2").await;
    says(&raw, &["-two", "+  2;", "a formatter"]);
    assert_eq!(raw.shown[0].lines[0].first, 2);
}

#[tokio::test]
async fn silence_and_refusal_of_the_editor_are_told() {
    let (bench, _editor) = opened("one\n", true, |buffer| buffer.silent = true);
    let raw = edit(&bench, "one", "1").await;
    assert_eq!(
        raw.effect,
        Effect::Happened,
        "the mirror shows it: {}",
        told(&raw)
    );
    let (bench, _editor) = opened("one\n", true, |buffer| {
        buffer.silent = true;
        buffer.deaf = true;
    });
    let raw = edit(&bench, "one", "1").await;
    assert_eq!((raw.stage, raw.effect), (Stage::Failed, Effect::Unknown));
    let (bench, _editor) = opened("one\n", true, |buffer| buffer.deaf = true);
    says(
        &edit(&bench, "one", "1").await,
        &["stale or read-only", "Nothing was changed"],
    );
}

#[tokio::test]
async fn hunks_that_the_person_rejected_are_named() {
    let (bench, editor) = opened("one\ntwo\nthree\nfour\nfive\n", true, |_| {});
    let input = json!({ "file_path": "a.txt", "edits": [
        { "old_string": "one", "new_string": "1" },
        { "old_string": "five", "new_string": "5" },
    ] });
    let task = bench.task(Name::Edit, &input).unwrap();
    let plan = task.plan.as_ref().unwrap();
    let first = plan.hunks[0].id.clone();
    let kept = plan.keep(&|id| *id != first).map(Arc::new);
    let raw = bench.execute(Name::Edit, Task { plan: kept, ..task }).await;
    says(
        &raw,
        &["The person rejected", "-one\n+1", "NOT in the file"],
    );
    assert_eq!(
        editor.buffer.lock().unwrap().text,
        "one\ntwo\nthree\nfour\n5\n"
    );
    assert_eq!(raw.structured.unwrap()["userModified"], true);
}

#[tokio::test]
async fn without_an_editor_a_clean_document_goes_to_disk_and_a_dirty_one_nowhere() {
    let mut bench = Bench::new();
    bench.put("a.txt", b"one\r\n");
    bench.open("a.txt", "one\r\n", false);
    assert_eq!(edit(&bench, "one", "1").await.stage, Stage::Done);
    assert_eq!(bench.bytes("a.txt"), b"1\r\n");
    let mut bench = Bench::new();
    bench.put("a.txt", "one\n");
    bench.open("a.txt", "one\ntyped\n", true);
    let raw = edit(&bench, "one", "1").await;
    says(&raw, &["unsaved changes", "Nothing was changed"]);
    assert_eq!(bench.bytes("a.txt"), b"one\n");
    assert_eq!(raw.changed, Vec::<Place>::new());
}

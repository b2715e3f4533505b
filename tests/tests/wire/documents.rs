//! Open documents: the mirror is the editor's text, in the order of arrival, whatever comes with
//! it (spec: protocol.md, "Order"; R8).

use serde_json::{json, Value};
use toolgate_tests::fake_editor::documents::{hash, uri_of};
use toolgate_tests::fake_editor::script::{edit, model, read, results, says, turn};
use toolgate_tests::fake_editor::{FakeEditor, Options, Scratch};

/// A small generator of numbers: the same seed, the same changes.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

/// What a position counts in.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Utf8,
    Utf16,
    Utf32,
}

/// A text as its lines with their endings, and positions counted by hand: the reference, which
/// shares nothing with the mirror.
struct Reference {
    text: Vec<char>,
    unit: Unit,
}

impl Reference {
    fn width(&self, c: char) -> usize {
        match self.unit {
            Unit::Utf8 => c.len_utf8(),
            Unit::Utf16 => c.len_utf16(),
            Unit::Utf32 => 1,
        }
    }

    /// The position of a character.
    fn position(&self, at: usize) -> Value {
        let line = self.text[..at].iter().filter(|c| **c == '\n').count();
        let start = self.text[..at].iter().rposition(|c| *c == '\n');
        let start = start.map_or(0, |newline| newline + 1);
        let units = self.text[start..at].iter();
        let character: usize = units.map(|c| self.width(*c)).sum();
        json!({ "line": line, "character": character })
    }

    /// Never between CR and LF: an editor has no position there.
    fn spot(&self, numbers: &mut Numbers) -> usize {
        let at = numbers.below(self.text.len() + 1);
        let splits =
            at > 0 && self.text[at - 1] == '\r' && self.text.get(at).is_some_and(|c| *c == '\n');
        at - usize::from(splits)
    }

    fn change(&mut self, numbers: &mut Numbers) -> Value {
        const PIECES: [&str; 12] = [
            "x",
            "é",
            "😀",
            "𝔘𝔫",
            "\r\n",
            "\n",
            "a\r\nb",
            "",
            "",
            "e\u{301}",
            "\u{2028}",
            "long words here",
        ];
        let from = self.spot(numbers);
        let most = if self.text.len() > 3_000 { 400 } else { 6 };
        let mut to = (from + numbers.below(most)).min(self.text.len());
        if to > 0 && self.text[to - 1] == '\r' && self.text.get(to) == Some(&'\n') {
            to += 1;
        }
        let mut range = json!({ "start": self.position(from), "end": self.position(to.max(from)) });
        // Behind the end of the text: cut to it.
        if to == self.text.len() && numbers.below(4) == 0 {
            range["end"] = json!({ "line": 100_000, "character": 7 });
        }
        let piece = PIECES[numbers.below(PIECES.len())];
        // A lone CR would be made by what stands around it; the reference keeps to CRLF and LF.
        self.text.splice(from..to.max(from), piece.chars());
        json!({ "range": range, "text": piece })
    }

    fn text(&self) -> String {
        self.text.iter().collect()
    }
}

/// So many changes with requests between them; then the mirror's hash is the reference's.
async fn burst(count: usize, encoding: &'static str, unit: Unit) {
    let answers = [turn([read("a.txt")]), turn([edit("a.txt", "MARK", "mark")])];
    let model = model(answers.into_iter().chain([says("Done.")])).await;
    let scratch = Scratch::new().file("a.txt", "").server(&model.base_url);
    let options = Options {
        encodings: vec![encoding],
        ..Options::default()
    };
    let editor = FakeEditor::start(&scratch, options).await;
    let uri = uri_of(&scratch.path("a.txt"));
    editor.open_uri(&uri, None, "");
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15 ^ count as u64);
    let mut reference = Reference {
        text: Vec::new(),
        unit,
    };
    let mut asked = Vec::new();
    let mut version = 1;
    while version <= count {
        let several = 1 + numbers.below(3);
        let changes: Vec<Value> = (0..several)
            .map(|_| reference.change(&mut numbers))
            .collect();
        version += 1;
        let document = json!({ "uri": uri, "version": version });
        editor.notify(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": changes }),
        );
        if version % 50 == 0 {
            asked.push(editor.ask("toolgate/status", json!({})));
        }
    }
    version += 1;
    let last = json!({ "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } }, "text": "MARK\n" });
    reference.text.splice(0..0, "MARK\n".chars());
    let document = json!({ "uri": uri, "version": version });
    editor.notify(
        "textDocument/didChange",
        json!({ "textDocument": document, "contentChanges": [last] }),
    );
    for id in asked {
        editor.answer(id).await.unwrap();
    }
    let session = editor.session().await;
    editor.prompt(&session, "Change it.").await;
    let opened = editor.asked(0).await;
    editor.decide(&opened, "allow_once").await.unwrap();
    let asked = editor
        .wait("the edit", |seen| {
            seen.of("toolgate/document/edit").next().cloned()
        })
        .await;
    assert_eq!(asked["version"], version);
    assert_eq!(asked["hash"], hash(&reference.text()), "{encoding}");
    editor.quit().await;
}

#[tokio::test]
async fn a_burst_of_changes_in_utf16() {
    burst(5_000, "utf-16", Unit::Utf16).await;
}

#[tokio::test]
async fn a_burst_of_changes_in_utf8() {
    burst(1_000, "utf-8", Unit::Utf8).await;
}

#[tokio::test]
async fn a_burst_of_changes_in_utf32() {
    burst(1_000, "utf-32", Unit::Utf32).await;
}

/// The text that the model reads of an open document after these changes.
async fn mirror_after(open: &str, changes: Vec<Value>) -> String {
    let model = model([turn([read("a.txt")]), says("Done.")]).await;
    let scratch = Scratch::new().file("a.txt", "").server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let uri = editor.open(&scratch.path("a.txt"), open);
    let document = json!({ "uri": uri, "version": 2 });
    editor.notify(
        "textDocument/didChange",
        json!({ "textDocument": document, "contentChanges": changes }),
    );
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Read it.").await;
    editor.turn_ended(&turn).await;
    editor.quit().await;
    let text = results(&model.requests()[1]).remove(0);
    let numbered = text.lines().filter_map(|line| line.split_once('\t'));
    numbered.map(|(_, line)| line.to_owned() + "\n").collect()
}

fn replace(from: (u32, u32), to: (u32, u32), text: &str) -> Value {
    json!({
        "range": {
            "start": { "line": from.0, "character": from.1 },
            "end": { "line": to.0, "character": to.1 },
        },
        "text": text,
    })
}

#[tokio::test]
async fn changes_of_one_message_follow_each_other() {
    let open = "/*\n * comment\n */\n";
    let down = vec![
        replace((0, 0), (0, 2), ""),
        replace((2, 1), (2, 3), ""),
        replace((0, 0), (0, 0), "x"),
    ];
    assert_eq!(mirror_after(open, down).await, "x\n * comment\n \n");
    let up = vec![replace((2, 1), (2, 3), ""), replace((0, 0), (0, 2), "y")];
    assert_eq!(mirror_after(open, up).await, "y\n * comment\n \n");
}

#[tokio::test]
async fn positions_outside_of_the_text_are_cut_to_it() {
    let changes = vec![replace((0, 5), (0, 9), "x"), replace((9, 0), (9, 1), "y")];
    assert_eq!(mirror_after("ab\n", changes).await, "abx\ny\n");
}

#[tokio::test]
async fn documents_without_a_file_are_no_files() {
    let model = model([turn([read("a.txt")]), says("Done.")]).await;
    let scratch = Scratch::new()
        .file("a.txt", "on disk\n")
        .server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    editor.open_uri("untitled:Untitled-1", None, "hello\n");
    let view = format!("git:{}?HEAD", scratch.text_path("a.txt"));
    editor.open_uri(&view, None, "as it was\n");
    editor.notify(
        "workspace/didChangeWorkspaceFolders",
        json!({ "event": { "added": [{ "uri": "fabric://x", "name": "x" }], "removed": [] } }),
    );
    let status = editor.request("toolgate/status", json!({})).await.unwrap();
    assert_eq!(status["openDocuments"], 2);
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Read it.").await;
    editor.turn_ended(&turn).await;
    let result = results(&model.requests()[1]).remove(0);
    assert!(
        result.contains("on disk") && !result.contains("as it was"),
        "{result}"
    );
    editor.quit().await;
}

#[tokio::test]
async fn a_uri_in_another_spelling_is_the_same_file() {
    let model = model([turn([read("a b.txt")]), says("Done.")]).await;
    let scratch = Scratch::new()
        .file("a b.txt", "on disk\n")
        .server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let uri = format!("file://localhost{}", scratch.text_path("a%20b.txt"));
    editor.open_uri(&uri, None, "in the buffer\n");
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Read it.").await;
    editor.turn_ended(&turn).await;
    let result = results(&model.requests()[1]).remove(0);
    assert!(result.contains("in the buffer"), "{result}");
    editor.quit().await;
}

#[tokio::test]
async fn a_closed_document_is_the_disks_again() {
    let model = model([turn([read("a.txt")]), says("Done.")]).await;
    let scratch = Scratch::new()
        .file("a.txt", "on disk\n")
        .server(&model.base_url);
    let editor = FakeEditor::start(&scratch, Options::default()).await;
    let uri = editor.open(&scratch.path("a.txt"), "in the buffer\n");
    editor.type_text(&uri, "typed\n");
    editor.close(&uri);
    let session = editor.session().await;
    let turn = editor.prompt(&session, "Read it.").await;
    editor.turn_ended(&turn).await;
    let result = results(&model.requests()[1]).remove(0);
    assert!(result.contains("on disk"), "{result}");
    editor.quit().await;
}

//! A workspace of its own, and calls in it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use toolgate::hands::disk;
use toolgate::look;
use toolgate::tools::{self, CancellationToken, Context, EditorHands, Limits, Name};
use toolgate_core::command::Task;
use toolgate_core::document::{DocumentText, Documents, OpenDocument};
use toolgate_core::edit::{self, Plan};
use toolgate_core::event::Found;
use toolgate_core::outcome::Raw;
use toolgate_core::place::PathAnswer;
use toolgate_core::text::FileText;
use toolgate_protocol::ids::CallId;

/// A scratch workspace.
pub struct Bench {
    pub folder: tempfile::TempDir,
    pub documents: Documents,
    pub editor: Option<Arc<dyn EditorHands>>,
    pub denied: Vec<String>,
    pub limits: Limits,
    pub cancel: CancellationToken,
    pub progress: Arc<Mutex<Vec<(String, u64)>>>,
    pub cwd: String,
}

impl Bench {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("w")).unwrap();
        let cwd = folder.path().join("w").canonicalize().unwrap();
        Self {
            folder,
            documents: Documents::default(),
            editor: None,
            denied: Vec::new(),
            limits: Limits::default(),
            cancel: CancellationToken::new(),
            progress: Arc::default(),
            cwd: cwd.to_str().unwrap().to_owned(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(&self.cwd).join(name)
    }

    pub fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Runs a program of the system to set something up.
    pub fn shell(&self, line: &str) {
        let mut command = std::process::Command::new("bash");
        let status = command.args(["-c", line]).current_dir(&self.cwd).status();
        assert!(status.unwrap().success(), "{line}");
    }

    /// Opens a document in the editor.
    pub fn open(&mut self, name: &str, text: &str, dirty: bool) {
        let path = self.path(name).to_str().unwrap().to_owned();
        if dirty {
            self.documents.unsaved.push(path.clone());
        }
        self.documents.open.push(DocumentText {
            document: OpenDocument {
                uri: format!("file://{path}"),
                version: 1,
                dirty,
            },
            path,
            rope: text.into(),
        });
    }

    pub fn context(&self) -> Context {
        let progress = Arc::clone(&self.progress);
        let denied = self.denied.clone();
        Context {
            progress: Box::new(move |text, bytes| {
                progress.lock().unwrap().push((text, bytes));
            }),
            cancel: self.cancel.clone(),
            results_dir: self.folder.path().join("results"),
            roots: vec![self.cwd.clone()],
            home: self.cwd.clone(),
            editor: self.editor.clone(),
            denied: Arc::new(move |path| denied.iter().any(|part| path.contains(part))),
            limits: self.limits.clone(),
        }
    }

    /// The task of a call; the refusal of its gate where it has one.
    pub fn task(&self, name: Name, input: &Value) -> Result<Task, String> {
        let face = name.tool().face;
        let answers: Vec<PathAnswer> = face
            .aims(input)
            .iter()
            .map(|aim| disk::resolve(aim, &self.cwd, &self.cwd))
            .collect();
        if let Some(error) = answers.iter().find_map(|answer| answer.error.clone()) {
            return Err(error);
        }
        face.check(input, &answers)?;
        let plan = self.plan(name, input, &answers)?;
        Ok(Task {
            call: CallId("c1".to_owned()),
            tool: name.text().to_owned(),
            input: Arc::new(input.clone()),
            answers,
            documents: self.documents.clone(),
            plan: plan.map(Arc::new),
            cwd: self.cwd.clone(),
        })
    }

    fn plan(
        &self,
        name: Name,
        input: &Value,
        answers: &[PathAnswer],
    ) -> Result<Option<Plan>, String> {
        let Some(change) = name.tool().face.change(input) else {
            return Ok(None);
        };
        let place = &answers[0].place;
        let open = self
            .documents
            .open
            .iter()
            .find(|open| open.path == place.path());
        let (base, document) = match open {
            Some(open) => {
                let text = FileText::from_document(&open.rope.to_string());
                (Some(Arc::new(text)), Some(open.document.clone()))
            }
            None => match look::found(place) {
                Found::Absent => (None, None),
                Found::Text { text, .. } => (Some(text), None),
                Found::Unfit(why) => return Err(why),
            },
        };
        edit::plan("c1", place, base.as_ref(), document, &change).map(Some)
    }

    pub async fn run(&self, name: Name, input: Value) -> Raw {
        match self.task(name, &input) {
            Ok(task) => self.execute(name, task).await,
            Err(why) => Raw::refused(toolgate_core::outcome::Gate::Meaning, why),
        }
    }

    pub async fn execute(&self, name: Name, task: Task) -> Raw {
        let context = self.context();
        (name.tool().execute)(task, &context).await
    }
}

/// Runs one test of this program anew, in a process of its own.
pub fn anew(program: &mut std::process::Command, test: &str) {
    program.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    program.stdin(std::process::Stdio::null());
}

/// Everything the model reads of an outcome.
pub fn told(raw: &Raw) -> String {
    match &raw.notice {
        Some(notice) => format!("{}\n{notice}", raw.text),
        None => raw.text.clone(),
    }
}

/// The outcome's text holds all of these.
pub fn says(raw: &Raw, parts: &[&str]) {
    let text = told(raw);
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

/// All tools are in the table once.
#[test]
fn the_table_holds_every_tool() {
    let names: Vec<&str> = Name::ALL.iter().map(|name| name.text()).collect();
    assert_eq!(
        names,
        ["Read", "Edit", "Write", "Glob", "Grep", "Bash", "TodoWrite"]
    );
    assert_eq!(tools::all().len(), names.len());
}

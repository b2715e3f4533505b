//! A world of its own for one run of the sidecar: a project, a home and state folders that exist
//! nowhere else, and an environment that holds nothing of the caller's but the way to programs.
//!
//! It must never let a run see the caller's home, key or settings.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use tokio::process::Command;

use super::DEADLINE;

/// The key that runs are given; it must turn up nowhere but in requests.
pub const KEY: &str = "test-key-0123456789";

/// The program under test: beside the test's own program, or where `TOOLGATE_BIN` says.
pub fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("TOOLGATE_BIN") {
        return PathBuf::from(path);
    }
    let own = std::env::current_exe().expect("a running program has a path");
    // target/debug/deps/wire-0123 → target/debug/toolgate
    let path = own
        .parent()
        .and_then(Path::parent)
        .map(|folder| folder.join("toolgate"))
        .expect("a test's program lies in target/PROFILE/deps");
    assert!(
        path.is_file(),
        "{} is missing; build it first: cargo build -p toolgate",
        path.display()
    );
    path
}

/// What a run of the program came to.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Ran {
    /// The lines of `--output json`.
    pub fn lines(&self) -> Vec<serde_json::Value> {
        self.out
            .lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect()
    }

    /// The final line of `--output json`.
    pub fn result(&self) -> serde_json::Value {
        let last = self.lines().pop().unwrap_or_default();
        assert_eq!(last["type"], "result", "{self:?}");
        last
    }

    /// The updates of one kind, from `--output json`.
    pub fn updates(&self, kind: &str) -> Vec<serde_json::Value> {
        let lines = self.lines().into_iter();
        lines
            .map(|line| line["update"].clone())
            .filter(|update| update["kind"] == kind)
            .collect()
    }
}

/// The world.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    env: BTreeMap<String, String>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Scratch {
    /// An empty project, an empty home.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("toolgate-test-")
            .tempdir()
            .expect("a temporary folder");
        for name in ["project", "home", "state", "config"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder of the scratch world");
        }
        Self {
            folder,
            env: BTreeMap::new(),
        }
    }

    /// With a file of the project.
    pub fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        self.write(name, text);
        self
    }

    /// With a variable of the environment.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    /// With this model server, and a key for it.
    pub fn server(self, base_url: &str) -> Self {
        self.env("ANTHROPIC_BASE_URL", base_url)
            .env("ANTHROPIC_API_KEY", KEY)
    }

    fn root(&self) -> PathBuf {
        let path = self.folder.path().canonicalize();
        path.expect("the scratch world exists")
    }

    /// The project's folder, canonical.
    pub fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// A path of the project.
    pub fn path(&self, name: &str) -> PathBuf {
        self.project().join(name)
    }

    /// A path of the project, as text.
    pub fn text_path(&self, name: &str) -> String {
        self.path(name).to_string_lossy().into_owned()
    }

    /// The home directory.
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// Toolgate's state: sessions and kept rules.
    pub fn state(&self) -> PathBuf {
        self.root().join("state").join("toolgate")
    }

    /// The user's settings file.
    pub fn settings(&self) -> PathBuf {
        self.root()
            .join("config")
            .join("toolgate")
            .join("toolgate.toml")
    }

    /// Writes the user's settings file.
    pub fn write_settings(&self, text: &str) {
        let path = self.settings();
        let folder = path.parent().expect("it lies in a folder");
        std::fs::create_dir_all(folder).expect("the settings' folder");
        std::fs::write(path, text).expect("the settings file");
    }

    /// Writes a file of the project, as a stranger would.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        let folder = path.parent().expect("it lies in a folder");
        std::fs::create_dir_all(folder).expect("a folder of the project");
        std::fs::write(&path, text).expect("a file of the project");
    }

    /// The bytes of a file of the project.
    pub fn read(&self, name: &str) -> Vec<u8> {
        let path = self.path(name);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// All files of the project with their bytes.
    pub fn tree(&self) -> BTreeMap<String, Vec<u8>> {
        tree(&self.project())
    }

    /// All that Toolgate wrote beside the project: home, state and config.
    pub fn aside(&self) -> BTreeMap<String, Vec<u8>> {
        let mut all = BTreeMap::new();
        for name in ["home", "state", "config"] {
            for (path, bytes) in tree(&self.root().join(name)) {
                all.insert(format!("{name}/{path}"), bytes);
            }
        }
        all
    }

    /// The transcripts, by session.
    pub fn transcripts(&self) -> BTreeMap<String, PathBuf> {
        let sessions = self.state().join("sessions");
        let entries = std::fs::read_dir(&sessions).into_iter().flatten().flatten();
        entries
            .map(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                (name, entry.path().join("transcript.jsonl"))
            })
            .filter(|(_, path)| path.is_file())
            .collect()
    }

    /// The program in this world, not yet started.
    pub fn command<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(binary());
        let root = self.root();
        command
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", root.join("home"))
            .env("XDG_STATE_HOME", root.join("state"))
            .env("XDG_CONFIG_HOME", root.join("config"))
            .env("NO_PROXY", "127.0.0.1")
            .envs(&self.env)
            .current_dir(self.project())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Runs the program to its end.
    pub async fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Ran {
        let output = self.command(args).output();
        let output = tokio::time::timeout(DEADLINE, output)
            .await
            .expect("the program does not end")
            .expect("the program starts");
        Ran {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            let kind = entry.file_type().expect("an entry has a type");
            let name = path.strip_prefix(folder).expect("it lies below");
            let name = name.to_string_lossy().into_owned();
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() {
                files.insert(name, std::fs::read(&path).unwrap_or_default());
            } else {
                files.insert(name, b"(no regular file)".to_vec());
            }
        }
    }
    files
}

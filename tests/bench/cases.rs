//! The cases: what is measured, and against which floor.
//!
//! It must never measure one side alone: each pair is taken in one go, and who goes first changes
//! from pair to pair.

use std::collections::BTreeMap;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{json, Value};
use toolgate::provider::script::Script;
use toolgate_tests::fake_model::FakeModel;

use crate::figure::Figure;
use crate::model::Floor;
use crate::sidecar::{Place, Sidecar};

/// Files in the workspace of the start that must not look at them.
const CROWD: usize = 100_000;
/// Bytes of a file that is read.
const FILE: usize = 8 * 1024;

/// The programs, and a scratch home for them.
struct Bench {
    toolgate: PathBuf,
    floor: PathBuf,
    scratch: tempfile::TempDir,
    pairs: usize,
}

/// Measures everything.
pub fn all(pairs: usize) -> Result<Vec<Figure>> {
    let here = std::env::current_exe()?;
    let folder = here.parent().unwrap_or(Path::new("."));
    let bench = Bench {
        toolgate: folder.join("toolgate"),
        floor: folder.join("bench-floor"),
        scratch: tempfile::tempdir()?,
        pairs,
    };
    for name in ["home", "empty", "crowd", "work"] {
        std::fs::create_dir(bench.path(name))?;
    }
    Ok(vec![
        bench.size()?,
        bench.start()?,
        bench.start_in_a_crowd()?,
        bench.idle()?,
        bench.reads("Read turn, 8 KiB", "P1", 1)?,
        bench.reads("20 Reads in one response, 8 KiB each", "P4", 20)?,
    ])
}

/// Milliseconds that a piece of work takes, and what it makes.
fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(f64, T)> {
    let began = Instant::now();
    let made = work()?;
    Ok((began.elapsed().as_secs_f64() * 1e3, made))
}

/// Takes pairs; both sides warm up once.
fn paired(
    count: usize,
    mut floor: impl FnMut() -> Result<f64>,
    mut own: impl FnMut() -> Result<f64>,
) -> Result<Vec<(f64, f64)>> {
    floor()?;
    own()?;
    let mut pairs = Vec::with_capacity(count);
    for number in 0..count {
        let pair = if number % 2 == 0 {
            let first = floor()?;
            (first, own()?)
        } else {
            let first = own()?;
            (floor()?, first)
        };
        pairs.push(pair);
    }
    Ok(pairs)
}

impl Bench {
    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn spawn(&self, program: &Path, workspace: &str, base_url: &str) -> Result<Sidecar> {
        let (home, workspace) = (self.path("home"), self.path(workspace));
        let place = Place {
            home: &home,
            workspace: &workspace,
            base_url,
        };
        Sidecar::start(program, &["lsp", "--stdio"], &place)
    }

    /// Milliseconds from spawn to the answer to `initialize`. Ending it is not counted.
    fn begin(&self, program: &Path, workspace: &str) -> Result<f64> {
        let (ms, _ended) = timed(|| self.spawn(program, workspace, "http://127.0.0.1:9"))?;
        Ok(ms)
    }

    fn size(&self) -> Result<Figure> {
        let megabytes = |path: &Path| -> Result<f64> { Ok(path.metadata()?.len() as f64 / 1e6) };
        Ok(Figure {
            name: "release binary",
            number: "P20",
            unit: "MB",
            goal: "25 MB",
            floor: "the binary of the floor of a start",
            pairs: vec![(megabytes(&self.floor)?, megabytes(&self.toolgate)?)],
        })
    }

    fn start(&self) -> Result<Figure> {
        Ok(Figure {
            name: "spawn to initialize answered",
            number: "P14",
            unit: "ms",
            goal: "30 ms",
            floor: "a program of the standard library alone that answers one frame",
            pairs: paired(
                self.pairs,
                || self.begin(&self.floor, "empty"),
                || self.begin(&self.toolgate, "empty"),
            )?,
        })
    }

    fn start_in_a_crowd(&self) -> Result<Figure> {
        for number in 0..CROWD {
            let folder = self.path("crowd").join(format!("d{}", number / 1_000));
            if number % 1_000 == 0 {
                std::fs::create_dir(&folder)?;
            }
            std::fs::write(folder.join(format!("f{number}")), b"")?;
        }
        Ok(Figure {
            name: "the same in a folder of 100,000 files",
            number: "P14",
            unit: "ms",
            goal: "ratio 1",
            floor: "Toolgate in an empty folder",
            pairs: paired(
                self.pairs,
                || self.begin(&self.toolgate, "empty"),
                || self.begin(&self.toolgate, "crowd"),
            )?,
        })
    }

    fn idle(&self) -> Result<Figure> {
        let floor = || {
            self.spawn(&self.floor, "empty", "http://127.0.0.1:9")?
                .resident()
        };
        let own = || {
            let mut sidecar = self.spawn(&self.toolgate, "empty", "http://127.0.0.1:9")?;
            sidecar.request("toolgate/session/new", &json!({}))?;
            sidecar.resident()
        };
        Ok(Figure {
            name: "resident memory, idle with a session",
            number: "P19",
            unit: "MB",
            goal: "20 MB",
            floor: "the floor of a start, waiting",
            pairs: paired(self.pairs.div_ceil(10), floor, own)?,
        })
    }

    /// Turns of two requests: so many Reads, then a word.
    fn reads(&self, name: &'static str, number: &'static str, count: usize) -> Result<Figure> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let files = self.files(count)?;
        let model = runtime.block_on(FakeModel::start(script(&files)?))?;
        let mut sidecar = self.spawn(&self.toolgate, "work", &model.base_url)?;
        // A first turn shows which bytes a turn sends: the floor sends the same.
        fresh_turn(&mut sidecar)?;
        let bodies = model.requests();
        if let Some(wrong) = model.invalid().first() {
            return Err(Error::other(wrong.clone()));
        }
        let unread = |path: &&PathBuf| {
            let first = format!("line 0 of {}", path.display());
            !bodies.last().is_some_and(|body| body.contains(&first))
        };
        if let Some(path) = files.iter().find(unread) {
            return Err(Error::other(format!("{} was not read", path.display())));
        }
        let mut floor = Floor::connect(&model.base_url, &bodies, files)?;
        let pairs = paired(
            self.pairs,
            || Ok(timed(|| floor.turn())?.0),
            || fresh_turn(&mut sidecar),
        )?;
        Ok(Figure {
            name,
            number,
            unit: "ms",
            goal: "ratio 1.5",
            floor: "the same request bytes over one raw connection, files read and hashed",
            pairs,
        })
    }

    fn files(&self, count: usize) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for number in 0..count {
            let path = self.path("work").join(format!("file-{count}-{number}.txt"));
            let mut text = String::new();
            let mut line = 0;
            while text.len() < FILE {
                text.push_str(&format!("line {line} of {}\n", path.display()));
                line += 1;
            }
            std::fs::write(&path, text)?;
            files.push(path);
        }
        Ok(files)
    }
}

/// One turn in a session of its own, so that every turn sends the same bytes; only the turn is
/// timed.
fn fresh_turn(sidecar: &mut Sidecar) -> Result<f64> {
    let made = sidecar.request("toolgate/session/new", &json!({}))?;
    let session = &made["sessionId"];
    let (ms, ()) = timed(|| sidecar.turn(session))?;
    sidecar.request("toolgate/session/close", &json!({"sessionId": session}))?;
    Ok(ms)
}

fn script(files: &[PathBuf]) -> Result<Script> {
    let read =
        |path: &PathBuf| json!({"type": "tool_use", "name": "Read", "input": {"file_path": path}});
    let calls: Vec<Value> = files.iter().map(read).collect();
    let text = json!({"loop": true, "responses": [
        {"content": calls},
        {"content": [{"type": "text", "text": "Done."}]},
    ]});
    Script::parse(&text.to_string(), &BTreeMap::new()).map_err(Error::other)
}

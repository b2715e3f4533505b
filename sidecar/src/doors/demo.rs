//! `toolgate demo`: the main job, end to end, on a script that is built in. It is
//! `toolgate run --provider replay` on a scratch copy of a small project: real tools, real gates,
//! a real shell; only the model's words are written beforehand. It needs no key, no network and no
//! home.

use std::path::Path;

use serde_json::Value;

use crate::doors::headless::{self, Run, Which};
use crate::doors::start::Flags;

const SCRIPT: &str = include_str!("demo/script.json");
const FILES: &[(&str, &str)] = &[
    ("greet.sh", include_str!("demo/sample/greet.sh")),
    ("test.sh", include_str!("demo/sample/test.sh")),
    ("README.md", include_str!("demo/sample/README.md")),
];
const PROMPT: &str = "The test fails. Find out why, and make it pass.";

/// Runs the demo; the exit code. With `keep`, the project and the transcript stay.
pub async fn run(keep: bool) -> i32 {
    let folder = match tempfile::Builder::new().prefix("toolgate-demo-").tempdir() {
        Ok(folder) => folder,
        Err(error) => {
            eprintln!("toolgate: no scratch folder can be made: {error}");
            return headless::exit::USAGE;
        }
    };
    let project = folder.path().join("project");
    if let Err(error) = lay_out(&project) {
        eprintln!("toolgate: the sample project cannot be written: {error}");
        return headless::exit::USAGE;
    }
    let flags = Flags {
        settings: vec![
            ("permissions.mode".to_owned(), Value::from("acceptEdits")),
            ("provider.kind".to_owned(), Value::from("replay")),
        ],
        allow: vec!["Bash(sh test.sh)".to_owned()],
        script: Some(SCRIPT.to_owned()),
        state: Some(folder.path().join("state")),
    };
    eprintln!("The person says: {PROMPT}\n");
    let run = Run {
        prompt: PROMPT.to_owned(),
        cwd: project.to_string_lossy().into_owned(),
        which: Which::New,
        json: false,
    };
    let code = headless::run(flags, run).await;
    if keep {
        let kept = folder.keep();
        eprintln!(
            "\nKept: {} (project, and state/sessions with the transcript)",
            kept.display()
        );
    }
    code
}

fn lay_out(project: &Path) -> std::io::Result<()> {
    std::fs::create_dir(project)?;
    for (name, text) in FILES {
        std::fs::write(project.join(name), text)?;
    }
    Ok(())
}

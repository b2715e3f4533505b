//! Plays a script as a server of the Messages API, for editors and for people.
//!
//! `fake-model --script FILE [--log DIR] [--port N] [--var NAME=VALUE]…` prints
//! `listening http://127.0.0.1:PORT` and serves until it is ended. It must never print anything
//! else to standard output: drivers read that line.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use toolgate::provider::script::Script;
use toolgate_tests::fake_model::FakeModel;

const USAGE: &str = "usage: fake-model --script FILE [--log DIR] [--port N] [--var NAME=VALUE]...";

#[derive(Default)]
struct Options {
    script: Option<PathBuf>,
    log: Option<PathBuf>,
    port: u16,
    vars: BTreeMap<String, String>,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fake-model: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let options = options(std::env::args().skip(1))?;
    let path = options.script.ok_or(USAGE)?;
    let shown = path.display();
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{shown}: {error}"))?;
    let script =
        Script::parse(&text, &options.vars).map_err(|error| format!("{shown}: {error}"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let model = FakeModel::start_at(script, options.port, options.log)
            .await
            .map_err(|error| error.to_string())?;
        println!("listening {}", model.base_url);
        std::io::stdout()
            .flush()
            .map_err(|error| error.to_string())?;
        model.serve().await;
        Ok(())
    })
}

fn options(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options::default();
    while let Some(word) = words.next() {
        let mut value = || {
            words
                .next()
                .ok_or_else(|| format!("{word} needs a value\n{USAGE}"))
        };
        match word.as_str() {
            "--script" => options.script = Some(value()?.into()),
            "--log" => options.log = Some(value()?.into()),
            "--port" => {
                let text = value()?;
                options.port = text
                    .parse()
                    .map_err(|_| format!("--port {text}: no port"))?;
            }
            "--var" => {
                let text = value()?;
                let (name, value) = text
                    .split_once('=')
                    .ok_or_else(|| format!("--var {text}: write NAME=VALUE"))?;
                options.vars.insert(name.to_owned(), value.to_owned());
            }
            _ => return Err(format!("unknown argument {word}\n{USAGE}")),
        }
    }
    Ok(options)
}

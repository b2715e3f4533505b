//! The command line. Standard output belongs to the protocol or the answer; everything else goes
//! to standard error.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use serde_json::Value;
use toolgate::doors::headless::{self, Run, Which};
use toolgate::doors::start::Flags;
use toolgate::doors::{demo, doctor, editor};
use toolgate::settings::table;

/// The gate that every tool call of a coding model passes.
#[derive(Parser)]
#[command(name = "toolgate", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve an editor over standard input and output
    Lsp {
        /// Accepted because editors pass it: it is the only way there is
        #[arg(long)]
        stdio: bool,
    },
    /// Run one prompt without an editor
    Run(RunArgs),
    /// Show the main job on a built-in script: no key, no network
    Demo {
        /// Leave the project and the transcript
        #[arg(long)]
        keep: bool,
    },
    /// Say what is there, what is missing, and what to do about it
    Doctor {
        /// The workspace to look at
        #[arg(long, default_value = ".")]
        cwd: String,
    },
    /// List every setting, or print the JSON schema of toolgate.toml
    Settings {
        /// Print the JSON schema
        #[arg(long)]
        schema: bool,
    },
    /// List the sessions of this machine, newest first
    Sessions,
}

#[derive(Args)]
struct RunArgs {
    /// What to say to the model
    #[arg(short, long)]
    prompt: String,
    /// Working directory
    #[arg(long, default_value = ".")]
    cwd: String,
    /// The model
    #[arg(long)]
    model: Option<String>,
    /// The provider
    #[arg(long, value_enum)]
    provider: Option<ProviderKind>,
    /// Script for the provider replay
    #[arg(long)]
    replay: Option<PathBuf>,
    /// Permission mode
    #[arg(long)]
    permission_mode: Option<String>,
    /// A rule that allows, for instance `Bash(make test)`; may be given several times
    #[arg(long)]
    allow: Vec<String>,
    /// What is printed
    #[arg(long, value_enum, default_value = "text")]
    output: Output,
    /// Go on with this session
    #[arg(long, conflicts_with = "continue_last")]
    resume: Option<String>,
    /// Go on with the last session of this folder
    #[arg(long = "continue")]
    continue_last: bool,
    /// Most requests to the model
    #[arg(long)]
    max_turns: Option<u64>,
    /// A setting, for instance `scheduler.policy=sequential`; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum ProviderKind {
    Anthropic,
    Replay,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Output {
    Text,
    Json,
}

fn main() {
    let cli = Cli::parse();
    log_to_stderr();
    let code = match cli.command {
        Command::Lsp { stdio: _ } => within_runtime(async {
            editor::serve(Flags::default()).await;
            0
        }),
        Command::Run(args) => match split(args) {
            Ok((flags, run)) => within_runtime(headless::run(flags, run)),
            Err(error) => {
                eprintln!("toolgate: {error}");
                headless::exit::USAGE
            }
        },
        Command::Demo { keep } => within_runtime(demo::run(keep)),
        Command::Doctor { cwd } => doctor::run(&Flags::default(), &cwd),
        Command::Settings { schema } => {
            if schema {
                println!("{:#}", table::schema());
            } else {
                print!("{}", table::help());
            }
            0
        }
        Command::Sessions => {
            let store = toolgate::store::Store::new(&toolgate::doors::start::state_dir());
            for session in store.list(None, None) {
                let title: String = session.title.chars().take(60).collect();
                println!(
                    "{}  {}  {}  {title:?}",
                    session.session_id, session.updated, session.cwd
                );
            }
            0
        }
    };
    // The reader of standard input is a thread that cannot be stopped: returning would wait for it.
    std::process::exit(code);
}

/// Runs a future to its end on a runtime of its own; the exit code.
fn within_runtime(future: impl std::future::Future<Output = i32>) -> i32 {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    match runtime {
        Ok(runtime) => {
            let code = runtime.block_on(future);
            // The thread that reads standard input cannot be stopped: nobody waits for it.
            runtime.shutdown_background();
            code
        }
        Err(error) => {
            eprintln!("toolgate: the runtime cannot start: {error}");
            headless::exit::FAILED
        }
    }
}

fn split(args: RunArgs) -> Result<(Flags, Run), String> {
    let mut settings: Vec<(String, Value)> = Vec::new();
    let mut set = |key: &str, value: Value| settings.push((key.to_owned(), value));
    if let Some(model) = args.model {
        set("provider.model", Value::from(model));
    }
    match args.provider {
        Some(ProviderKind::Replay) => set("provider.kind", Value::from("replay")),
        Some(ProviderKind::Anthropic) => set("provider.kind", Value::from("anthropic")),
        None => {}
    }
    if let Some(path) = args.replay {
        set(
            "provider.replay",
            Value::from(path.to_string_lossy().into_owned()),
        );
    }
    if let Some(mode) = args.permission_mode {
        set("permissions.mode", Value::from(mode));
    }
    if let Some(most) = args.max_turns {
        set("limits.max_turns", Value::from(most));
    }
    for pair in &args.set {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| format!("--set {pair}: expected KEY=VALUE"))?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        set(key, value);
    }
    let which = match (args.resume, args.continue_last) {
        (Some(id), _) => Which::Resume(id),
        (None, true) => Which::Continue,
        (None, false) => Which::New,
    };
    let flags = Flags {
        settings,
        allow: args.allow,
        script: None,
        state: None,
    };
    let run = Run {
        prompt: args.prompt,
        cwd: args.cwd,
        which,
        json: args.output == Output::Json,
    };
    Ok((flags, run))
}

fn log_to_stderr() {
    let filter = std::env::var("TOOLGATE_LOG").unwrap_or_else(|_| "warn".to_owned());
    let filter = tracing_subscriber::EnvFilter::try_new(filter)
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
}

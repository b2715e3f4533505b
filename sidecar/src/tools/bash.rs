//! `Bash`: one command line, run to its end in the foreground.
//!
//! The line is handed to bash as it was decided on; before it stands only a trap that notes the
//! last working directory. No shell state but that directory lives on. Nothing here decides what
//! a line may do.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{json, Value};
use toolgate_core::command::Task;
use toolgate_core::definition::{Access, CallKind, Definition, Effects, Face};
use toolgate_core::outcome::{Effect, Raw};
use toolgate_core::permission;
use toolgate_core::place::{within, Aim, PathAnswer};

use super::report::{Report, MOST_INLINE};
use super::{flag, head, large, terminal, text, Context, Limits};
use crate::hands::disk;
use crate::hands::process::{self, Ended, Spec};

/// Characters of a title.
const MOST_TITLE: usize = 400;

/// Characters and lines of a progress message.
const MOST_PROGRESS: (usize, usize) = (1_000, 8);

/// Notes where the shell is when it ends, whatever its exit code; on the command's own first
/// line, so that line numbers in bash's messages are those of the command.
const TRAP: &str = "trap 'builtin pwd -P >|\"$TOOLGATE_CWD\" 2>/dev/null || :' EXIT; ";

/// The tool.
pub struct Bash;

const DESCRIPTION: &str = "\
Runs a command line in bash and returns what it prints. For files prefer Read, Edit, Write, Glob \
and Grep: they show the person what happens and see unsaved changes.

- The command runs without a terminal and with empty input: programs that ask get no answer. \
Editors and pagers are switched off.
- The working directory is kept between calls as long as it stays in the workspace; nothing else \
is (variables, functions, options).
- timeout is in milliseconds: 120,000 by default, 600,000 at most. When it is over, the command \
and all that it started are ended and the output so far is returned.
- Output of more than 30,000 characters is kept in a file, and you get its path and a preview. A \
failing command gives its exit code, then stderr, then stdout, at most 10,000 characters.
- Exit code 1 of grep, rg, find, diff and test is an answer, not a failure.
- A process left running in the background is named in the result; what it prints later is lost, \
so send its output to a file.
- Unsaved changes of open documents are not seen by commands; the result names such files.";

impl Face for Bash {
    fn definition(&self) -> Definition {
        Definition {
            name: "Bash".to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "command": {
                        "type": "string",
                        "minLength": 1,
                        "description": "The command line.",
                    },
                    "timeout": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 600_000,
                        "description": "Milliseconds after which it is ended; 120,000 by default.",
                    },
                    "description": {
                        "type": "string",
                        "description": "What it does, in five to ten words, for the person.",
                    },
                    "run_in_background": {
                        "type": "boolean",
                        "description": "Not supported yet: true is refused.",
                    },
                },
                "required": ["command"],
                "additionalProperties": false,
            }),
        }
    }

    fn kind(&self) -> CallKind {
        CallKind::Execute
    }

    /// The files that the line's known parts name: the decision sees where links lead.
    fn aims(&self, input: &Value) -> Vec<Aim> {
        permission::command_aims(text(input, "command"))
    }

    fn effects(&self, input: &Value, _answers: &[PathAnswer]) -> Effects {
        if permission::read_only(text(input, "command")) {
            return Effects::reading(Access::ReadsAll);
        }
        // What is not proven to only read may do anything; that it can be stopped is not a
        // matter of what it does.
        Effects {
            interruptible: true,
            ..Effects::unknown()
        }
    }

    fn describe(&self, input: &Value) -> String {
        let command = text(input, "command");
        let shown = head(command, MOST_TITLE);
        let rest = command.chars().count() - shown.chars().count();
        if rest == 0 {
            format!("Run: {command}")
        } else {
            format!("Run: {shown} [and {rest} more characters]")
        }
    }

    fn command<'a>(&self, input: &'a Value) -> Option<&'a str> {
        input.get("command").and_then(Value::as_str)
    }

    fn check(&self, input: &Value, _answers: &[PathAnswer]) -> Result<(), String> {
        if flag(input, "run_in_background") {
            return Err(
                "unsupported: run_in_background. Nothing was run. Run the command in the \
                 foreground with a timeout."
                    .to_owned(),
            );
        }
        if text(input, "command").contains('\0') {
            return Err("The command holds a NUL character, which bash cannot take.".to_owned());
        }
        Ok(())
    }

    fn max_result_size(&self) -> usize {
        MOST_INLINE
    }
}

/// Runs the command.
pub async fn execute(task: Task, context: &Context) -> Raw {
    if let Err(why) = Bash.check(&task.input, &task.answers) {
        return Raw::failed(why, Effect::None);
    }
    let mut notes: Vec<String> = Vec::new();
    let cwd = match directory(&task, context, &mut notes) {
        Ok(cwd) => cwd,
        Err(raw) => return *raw,
    };
    let call = task.call.0.clone();
    let (trailer, spec) = spec(&task, context, &cwd);
    let timeout = spec.timeout;
    let folder = context.results_dir.clone();
    let spill: process::SpillMaker = Box::new(move || large::create(&folder, &call, "txt"));
    let progress = |newest: String, bytes: u64| {
        (context.progress)(newest_lines(&terminal::plain(&newest)), bytes);
    };
    let ended = match process::run(spec, spill, &context.cancel, &progress).await {
        Ok(ended) => ended,
        Err(error) => {
            let text = format!("The command could not be started: {error}. Nothing was run.");
            return Raw::failed(text, Effect::None);
        }
    };
    let now = trailer.and_then(|path| disk::take_private(&path, 64 * 1024));
    let moved = moved(now, &task.cwd, &cwd, context, &mut notes);
    notes.extend(told(&task, &ended));
    let command = text(&task.input, "command").to_owned();
    let read_only = Bash.effects(&task.input, &task.answers).read_only;
    let call = task.call.0.clone();
    let folder = context.results_dir.clone();
    let raw = super::blocking(move || {
        let report = Report {
            command: &command,
            call: &call,
            folder,
            timeout,
            read_only,
            ended: &ended,
        };
        report.raw(notes)
    });
    Raw {
        cwd: moved,
        ..raw.await
    }
}

/// The directory to run in: the session's, or a root when it is gone.
fn directory(task: &Task, context: &Context, notes: &mut Vec<String>) -> Result<String, Box<Raw>> {
    if disk::is_directory(&task.cwd) {
        return Ok(task.cwd.clone());
    }
    let root = context.roots.iter().find(|root| disk::is_directory(root));
    let Some(root) = root else {
        let text = format!(
            "The working directory {} is gone, and so is every directory of the workspace. \
             Nothing was run.",
            task.cwd
        );
        return Err(Box::new(Raw::failed(text, Effect::None)));
    };
    notes.push(format!(
        "[The working directory {} is gone; the command ran in {root}, which is the working \
         directory now.]",
        task.cwd
    ));
    Ok(root.clone())
}

fn spec(task: &Task, context: &Context, cwd: &str) -> (Option<PathBuf>, Spec) {
    let limits: &Limits = &context.limits;
    let wanted = task.input.get("timeout").and_then(Value::as_u64);
    let timeout = wanted
        .unwrap_or(limits.bash_timeout)
        .min(limits.bash_max_timeout);
    let command = text(&task.input, "command");
    // Without that file the directory is not kept, which the next call's result shows.
    let trailer = large::create(&context.results_dir, &task.call.0, "cwd").ok();
    let trailer = trailer.map(|(_, path)| path);
    let (script, extra) = match &trailer {
        Some(path) => (
            format!("{TRAP}{command}"),
            vec![("TOOLGATE_CWD", path.clone().into_os_string())],
        ),
        None => (command.to_owned(), Vec::new()),
    };
    let args = ["--noprofile", "--norc", "-c", &script];
    let spec = Spec {
        program: "bash".into(),
        args: args.map(Into::into).to_vec(),
        cwd: cwd.to_owned(),
        env: process::environment(&limits.env_deny, &extra),
        call: task.call.0.clone(),
        timeout: Duration::from_millis(timeout),
        most_output: limits.max_persisted,
    };
    (trailer, spec)
}

/// The session's new working directory, if it changed and may.
fn moved(
    now: Option<Vec<u8>>,
    before: &str,
    ran_in: &str,
    context: &Context,
    notes: &mut Vec<String>,
) -> Option<String> {
    let unmoved = (ran_in != before).then(|| ran_in.to_owned());
    let now = now.and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(now) = now.as_deref().and_then(|now| now.strip_suffix('\n')) else {
        return unmoved;
    };
    if now == ran_in || !now.starts_with('/') || !disk::is_directory(now) {
        return unmoved;
    }
    if context.roots.iter().any(|root| within(now, root)) {
        notes.push(format!("[The working directory is {now} now.]"));
        return Some(now.to_owned());
    }
    notes.push(format!(
        "[{now} is outside the workspace: the working directory was reset to {ran_in}.]"
    ));
    unmoved
}

/// What the model must know beside the output.
fn told(task: &Task, ended: &Ended) -> Vec<String> {
    let mut notes = Vec::new();
    if !task.documents.unsaved.is_empty() {
        notes.push(format!(
            "[Not seen by this command, because it is unsaved in the editor: {}.]",
            task.documents.unsaved.join(", ")
        ));
    }
    if !ended.left.is_empty() {
        let numbers: Vec<String> = ended.left.iter().map(u32::to_string).collect();
        let numbers = numbers.join(" ");
        notes.push(format!(
            "[Still running in the background: process {numbers}. What it prints from now on is \
             not shown. To end it: kill {numbers}]"
        ));
    }
    let output = &ended.output;
    if output.lost > 0 {
        let why = output
            .spill_error
            .as_deref()
            .unwrap_or("the limit is reached");
        notes.push(format!(
            "[{} bytes of the output are lost: {why}.]",
            output.lost
        ));
    }
    notes
}

fn newest_lines(text: &str) -> String {
    let (most, lines) = MOST_PROGRESS;
    let text = text.trim_end();
    let start = text
        .rmatch_indices('\n')
        .nth(lines - 1)
        .map_or(0, |(at, _)| at + 1);
    let text = text.get(start..).unwrap_or_default();
    let surplus = text.chars().count().saturating_sub(most);
    text.chars().skip(surplus).collect()
}

//! `toolgate doctor`: what is there, what is missing, and what to do about it.

use std::path::Path;

use crate::doors::start::{self, Flags};

/// Prints one line a finding; the exit code: 0 when everything that is needed is there.
pub fn run(flags: &Flags, cwd: &str) -> i32 {
    println!("toolgate {}", env!("CARGO_PKG_VERSION"));
    let mut bad = 0;
    let mut say = |good: bool, text: String| {
        println!("{} {text}", if good { "ok  " } else { "FAIL" });
        bad += i32::from(!good);
    };
    match start::config(
        flags,
        &[cwd.to_owned()],
        None,
        crate::crew::hub::Asker::Nobody,
    ) {
        Err(error) => say(false, error),
        Ok(config) => {
            say(true, format!("workspace {}", config.roots.join(", ")));
            let problems = config.settings.problems().to_vec();
            if problems.is_empty() {
                say(
                    true,
                    format!("settings ({})", start::user_settings().display()),
                );
            }
            for problem in problems {
                say(false, problem);
            }
            match config.provider.missing() {
                None => say(true, config.provider.describe()),
                Some(missing) => say(false, missing),
            }
        }
    }
    let state = flags.state.clone().unwrap_or_else(start::state_dir);
    match writable(&state) {
        Ok(()) => say(true, format!("state directory {}", state.display())),
        Err(error) => say(
            false,
            format!("state directory {}: {error}", state.display()),
        ),
    }
    for (program, why) in [
        ("bash", "runs the tool Bash"),
        ("git", "for commands of the model"),
    ] {
        match find(program) {
            Some(path) => say(true, format!("{program}: {path}")),
            None => say(false, format!("{program} is not on PATH ({why})")),
        }
    }
    i32::from(bad > 0)
}

fn writable(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    tempfile::tempfile_in(folder).map(|_| ())
}

fn find(program: &str) -> Option<String> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
        .map(|candidate| candidate.display().to_string())
}

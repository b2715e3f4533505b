//! Ends what the sidecar started when the sidecar dies in whatever way, SIGKILL included.
//!
//! The kernel's death signal reaches direct children only. So one shell, in a group of its own,
//! reads the numbers of living groups from a pipe that only the sidecar holds: when the pipe ends,
//! the sidecar is gone, and the shell ends every group that is still noted and every process that
//! carries the sidecar's tag. It is started with the first command and does nothing until then.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

/// `+ GROUP` and `- GROUP` lines; `$1` is how the tag begins.
const SCRIPT: &str = r#"
groups=' '
while read -r what group; do
  case $what in
    +) groups="$groups$group " ;;
    -) case $groups in
         *" $group "*) groups="${groups%%" $group "*} ${groups#*" $group "}" ;;
       esac ;;
  esac
done
for group in $groups; do kill -KILL -- "-$group"; done 2>/dev/null
for round in 1 2 3; do
  for process in /proc/[0-9]*; do
    if grep -qsz "^$1" "$process/environ"; then kill -KILL "${process#/proc/}"; fi
  done
done 2>/dev/null
"#;

/// Has the watchdog run, before there is anything that it could miss.
pub(super) fn ready(tag: &str) {
    tell("", tag);
}

/// Notes a group that lives.
pub(super) fn note(group: i32, tag: &str) {
    tell(&format!("+ {group}\n"), tag);
}

/// Forgets a group that is over, before its number can be given away.
pub(super) fn forget(group: i32, tag: &str) {
    tell(&format!("- {group}\n"), tag);
}

fn tell(line: &str, tag: &str) {
    static PIPE: OnceLock<Mutex<Option<ChildStdin>>> = OnceLock::new();
    let pipe = PIPE.get_or_init(|| Mutex::new(start(tag)));
    let mut pipe = pipe.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(open) = pipe.as_mut() {
        // A watchdog that was killed is not missed: the other ways to end children remain.
        if open.write_all(line.as_bytes()).is_err() {
            *pipe = None;
        }
    }
}

fn start(tag: &str) -> Option<ChildStdin> {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", SCRIPT, "toolgate-watchdog", tag])
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .current_dir("/")
        // A signal to the sidecar's group must not reach it.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
        .spawn()
        .ok()
        .and_then(|mut child| child.stdin.take())
}

//! Finds and ends what a call left behind: members of its session, and processes that left it but
//! carry its tag in their environment.
//!
//! A process is only ever signalled through a handle (pidfd) after it was recognised through that
//! handle's life time, so that a number that was given to another process is never hit.

use std::fs;
use std::io::Read;

use rustix::process::{pidfd_open, pidfd_send_signal, Pid, PidfdFlags, Signal};

/// How a process of a call is recognised.
#[derive(Clone, Debug)]
pub(super) struct Prey {
    /// How the entry in the environment begins that marks it.
    pub tag: String,
    /// The session that the call began.
    pub session: Option<i32>,
}

/// Most bytes of an environment that are looked at; ours stands early, Linux permits 6 MiB.
const MOST_ENVIRONMENT: u64 = 4 * 1024 * 1024;

/// Processes of the prey that are alive.
pub(super) fn find(prey: &Prey) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let own = rustix::process::getpid();
    let pids = entries.flatten().filter_map(|entry| {
        let number: i32 = entry.file_name().to_str()?.parse().ok()?;
        Pid::from_raw(number)
    });
    pids.filter(|pid| *pid != own && is_prey(*pid, prey))
        .collect()
}

/// Sends a signal to all of them; tells how many there were.
pub(super) fn signal(prey: &Prey, signal: Signal) -> usize {
    let mut hit = 0;
    for pid in find(prey) {
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else {
            continue;
        };
        // The handle is bound to one process now: is it still the one that was found?
        if is_prey(pid, prey) {
            hit += usize::from(pidfd_send_signal(handle, signal).is_ok());
        }
    }
    hit
}

fn is_prey(pid: Pid, prey: &Prey) -> bool {
    let number = pid.as_raw_nonzero();
    let Ok(stat) = fs::read(format!("/proc/{number}/stat")) else {
        return false;
    };
    // The name stands in brackets and may hold anything: what counts is behind the last one.
    let Some(end) = stat.iter().rposition(|byte| *byte == b')') else {
        return false;
    };
    let rest = String::from_utf8_lossy(stat.get(end + 1..).unwrap_or_default()).into_owned();
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next();
    if matches!(state, Some("Z" | "X") | None) {
        return false;
    }
    // Behind the state: parent, group, session.
    let session: Option<i32> = fields.nth(2).and_then(|field| field.parse().ok());
    if session.is_some() && session == prey.session {
        return true;
    }
    let Ok(file) = fs::File::open(format!("/proc/{number}/environ")) else {
        return false;
    };
    let mut environ = Vec::new();
    if file
        .take(MOST_ENVIRONMENT)
        .read_to_end(&mut environ)
        .is_err()
    {
        return false;
    }
    environ
        .split(|byte| *byte == 0)
        .any(|entry| entry.starts_with(prey.tag.as_bytes()))
}

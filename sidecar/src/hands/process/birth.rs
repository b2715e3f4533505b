//! What a child does between fork and exec, and the thread that all children are born from.
//!
//! The only module of the sidecar with unsafe code. It must never allocate, lock or call anything
//! but async-signal-safe system calls inside the closure.
#![allow(unsafe_code)]

use std::io;
use std::sync::mpsc;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{getpid, getppid, set_parent_process_death_signal, Signal};
use tokio::process::Command;

/// Has the kernel end the child when the thread that gave birth to it ends, that is, with the
/// sidecar, however it dies.
pub(super) fn die_with_parent(command: &mut Command) {
    let parent = getpid();
    let between = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died before the line above: then nobody would send the signal.
        if getppid() == Some(parent) {
            Ok(())
        } else {
            Err(Errno::SRCH.into())
        }
    };
    // SAFETY: `pre_exec` asks that the closure does only what is allowed in a fork of a process
    // with threads. It makes two system calls (prctl and getppid, without libc's wrappers: rustix
    // makes them directly or through async-signal-safe functions), compares two integers that it
    // captured by value, and makes an `io::Error` from an error number, which does not allocate.
    // It takes no lock, allocates nothing, frees nothing and reads no memory that another thread
    // could be changing.
    unsafe {
        command.pre_exec(between);
    }
}

type Birth = Box<dyn FnOnce() + Send>;

/// Runs `birth` on the one thread that lives as long as the sidecar. The death signal is bound to
/// the *thread* that forks: a child born on a pool thread would be killed when the pool shrinks.
pub(super) fn deliver(birth: Birth) -> io::Result<()> {
    static WARD: OnceLock<Option<mpsc::Sender<Birth>>> = OnceLock::new();
    let ward = WARD.get_or_init(|| {
        let (sender, births) = mpsc::channel::<Birth>();
        let thread = std::thread::Builder::new().name("births".to_owned());
        let started = thread.spawn(move || {
            for birth in births {
                birth();
            }
        });
        started.ok().map(|_| sender)
    });
    let gone = || io::Error::other("the thread that starts processes is gone");
    let sender = ward.as_ref().ok_or_else(gone)?;
    sender.send(birth).map_err(|_| gone())
}

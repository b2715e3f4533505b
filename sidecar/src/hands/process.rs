//! The process room: the only place that starts, reads and ends processes.
//!
//! One type for all of them (spec: architecture.md, rule 10): own session and group, no terminal,
//! empty input, an environment built by us, output in bounded memory. A process is over when the
//! direct child has exited and 200 ms were given to what is still in its pipes; never when the
//! pipes end, for a grandchild may hold them for ever. On every way out that is not that end (a
//! stop, a time-out, a dropped future, the sidecar's death by any signal) the whole group is ended, and what
//! left the group and still carries the call's tag.

// This room is where processes and clocks are touched (style rule 16).
#![allow(clippy::disallowed_methods)]

mod birth;
mod environment;
mod hunt;
mod output;
mod watchdog;

pub use output::{Chunk, Output, SpillMaker, Stream};

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessSession};
use rustix::process::{kill_process_group, Pid, Signal};
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdout};
use tokio::time::{sleep, sleep_until, timeout_at, Instant};
use tokio_util::sync::CancellationToken;

use hunt::Prey;
use output::Collector;

/// How long pipes are read after the child has exited.
const DRAIN: Duration = Duration::from_millis(200);

/// How long a process may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(2);

/// Bytes read at once.
const BUFFER: usize = 64 * 1024;

/// Most that is read after the drain deadline: what two full pipes hold.
const LAST: usize = 4 * BUFFER;

/// The variable that marks every process of a call.
const TAG: &str = "TOOLGATE_CALL";

/// What is to run.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The program; a bare name is looked up on the search path.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its working directory.
    pub cwd: String,
    /// Its whole environment, but for the tag.
    pub env: Vec<(OsString, OsString)>,
    /// The call that it belongs to.
    pub call: String,
    /// How long it may run.
    pub timeout: Duration,
    /// Most bytes of output that are kept aside; beyond, they are counted and dropped.
    pub most_output: u64,
}

/// The environment that a child gets, made of the sidecar's own: `deny` names variables to leave
/// out beside those that are never handed on, `extra` is added.
pub fn environment(deny: &[String], extra: &[(&str, OsString)]) -> Vec<(OsString, OsString)> {
    environment::made_of(std::env::vars_os(), deny, extra)
}

/// Why a process is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited by itself, or was ended by somebody else.
    Exited(ExitStatus),
    /// It ran too long and was ended.
    TimedOut,
    /// It was told to stop.
    Cancelled,
}

/// A process that is over.
#[derive(Debug)]
pub struct Ended {
    /// Why.
    pub end: End,
    /// What it printed.
    pub output: Output,
    /// Process numbers that it left running in the background.
    pub left: Vec<u32>,
}

/// Called with the newest output and the bytes so far.
pub type Progress<'a> = &'a (dyn Fn(String, u64) + Send + Sync);

/// Runs a process to its end.
pub async fn run(
    spec: Spec,
    spill: SpillMaker,
    cancel: &CancellationToken,
    progress: Progress<'_>,
) -> io::Result<Ended> {
    let deadline = Instant::now() + spec.timeout;
    let mut collector = Collector::new(spill, spec.most_output);
    let (mut child, mut family) = spawn(spec).await?;
    let mut pipes = Pipes {
        out: child.stdout().take(),
        err: child.stderr().take(),
        buffers: [vec![0; BUFFER], vec![0; BUFFER]],
    };
    let end = {
        let exited = child.wait();
        tokio::pin!(exited);
        let mut end = loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => break End::Cancelled,
                () = sleep_until(deadline) => break End::TimedOut,
                status = &mut exited => break End::Exited(status?),
                () = pipes.read(&mut collector), if pipes.open() => {
                    progress(collector.newest(), collector.total());
                }
            }
        };
        if !matches!(end, End::Exited(_)) {
            end = family.end(end, exited, &mut pipes, &mut collector).await;
        }
        end
    };
    pipes.drain(&mut collector).await;
    progress(collector.newest(), collector.total());
    let left = if matches!(end, End::Exited(_)) && (pipes.open() || family.group_lives()) {
        family.left().await
    } else {
        Vec::new()
    };
    family.over();
    if pipes.open() {
        // Somebody still holds the pipes: with nobody reading, its next line would end it.
        tokio::spawn(pipes.swallow());
    }
    Ok(Ended {
        end,
        output: collector.finish(),
        left,
    })
}

async fn spawn(spec: Spec) -> io::Result<(Box<dyn ChildWrapper>, Family)> {
    let number = next_number();
    let tag = format!("{}.{number}.{}", owner(), spec.call);
    let (answer, answered) = tokio::sync::oneshot::channel();
    let runtime = tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
    birth::deliver(Box::new(move || {
        let _inside = runtime.enter();
        watchdog::ready(&sidecar_tag());
        let mut command = CommandWrap::with_new(&spec.program, |command| {
            command
                .args(&spec.args)
                .current_dir(&spec.cwd)
                .env_clear()
                .envs(spec.env.iter().map(|(name, value)| (name, value)))
                .env(TAG, &tag)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            birth::die_with_parent(command);
        });
        command.wrap(KillOnDrop).wrap(ProcessSession);
        // Nobody waits for it any more: dropping it ends it.
        let born = command.spawn().and_then(|child| {
            let family = Family::new(number, child.id())?;
            Ok((child, family))
        });
        let _ = answer.send(born);
    }))?;
    answered
        .await
        .map_err(|_| io::Error::other("the thread that starts processes is gone"))?
}

fn next_number() -> u64 {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

/// This sidecar, told apart from every other one that ever ran here.
fn owner() -> &'static str {
    static OWNER: OnceLock<String> = OnceLock::new();
    OWNER.get_or_init(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let nanos = now.map_or(0, |now| now.as_nanos());
        format!("{}-{nanos}", std::process::id())
    })
}

/// How the tag of every process of this sidecar begins.
fn sidecar_tag() -> String {
    format!("{TAG}={}.", owner())
}

/// The two pipes of a child.
struct Pipes {
    out: Option<ChildStdout>,
    err: Option<ChildStderr>,
    buffers: [Vec<u8>; 2],
}

impl Pipes {
    fn open(&self) -> bool {
        self.out.is_some() || self.err.is_some()
    }

    /// Reads once from whichever pipe has something.
    async fn read(&mut self, collector: &mut Collector) {
        let [first, second] = &mut self.buffers;
        let (stream, read) = tokio::select! {
            read = read_some(&mut self.out, first) => (Stream::Out, read),
            read = read_some(&mut self.err, second) => (Stream::Err, read),
        };
        let (pipe_ended, buffer) = match (stream, read) {
            (_, 0) => (true, None),
            (Stream::Out, read) => (false, first.get(..read)),
            (Stream::Err, read) => (false, second.get(..read)),
        };
        if let Some(bytes) = buffer {
            collector.take(stream, bytes);
        }
        if pipe_ended {
            match stream {
                Stream::Out => self.out = None,
                Stream::Err => self.err = None,
            }
        }
    }

    /// Reads to the end of both pipes, but no longer than a moment: a grandchild may hold them.
    /// What is in the pipes by then is taken, however slow the machine was.
    async fn drain(&mut self, collector: &mut Collector) {
        let deadline = Instant::now() + DRAIN;
        while self.open() {
            if timeout_at(deadline, self.read(collector)).await.is_err() {
                break;
            }
            // Who prints without a pause would never let us go.
            if Instant::now() > deadline {
                break;
            }
        }
        let mut last = 0;
        while self.open() && last < LAST {
            let before = collector.total();
            let ready = timeout_at(Instant::now(), self.read(collector)).await;
            last += usize::try_from(collector.total() - before).unwrap_or(LAST);
            if ready.is_err() {
                break;
            }
        }
    }

    async fn swallow(mut self) {
        while self.open() {
            let [first, second] = &mut self.buffers;
            let (out, read) = tokio::select! {
                read = read_some(&mut self.out, first) => (true, read),
                read = read_some(&mut self.err, second) => (false, read),
            };
            match (out, read) {
                (true, 0) => self.out = None,
                (false, 0) => self.err = None,
                _ => {}
            }
        }
    }
}

/// Bytes read; 0 at the end or on an error. Waits for ever when the pipe is gone already.
async fn read_some<R: AsyncReadExt + Unpin>(pipe: &mut Option<R>, buffer: &mut [u8]) -> usize {
    match pipe {
        Some(pipe) => pipe.read(buffer).await.unwrap_or(0),
        None => std::future::pending().await,
    }
}

/// The child, its group, and everything that carries its tag.
struct Family {
    number: u64,
    leader: Pid,
    over: bool,
}

/// Sessions of calls that run, for the end of the sidecar.
fn living() -> &'static Mutex<BTreeMap<u64, i32>> {
    static LIVING: Mutex<BTreeMap<u64, i32>> = Mutex::new(BTreeMap::new());
    &LIVING
}

impl Family {
    fn new(number: u64, leader: Option<u32>) -> io::Result<Self> {
        let leader = leader
            .and_then(|leader| i32::try_from(leader).ok())
            .and_then(Pid::from_raw)
            .ok_or_else(|| io::Error::other("the process has no number"))?;
        let group = leader.as_raw_nonzero().get();
        watchdog::note(group, &sidecar_tag());
        let mut living = living().lock().unwrap_or_else(PoisonError::into_inner);
        living.insert(number, group);
        drop(living);
        Ok(Self {
            number,
            leader,
            over: false,
        })
    }

    fn prey(&self) -> Prey {
        Prey {
            tag: format!("{}{}.", sidecar_tag(), self.number),
            session: Some(self.leader.as_raw_nonzero().get()),
        }
    }

    fn group_lives(&self) -> bool {
        rustix::process::test_kill_process_group(self.leader).is_ok()
    }

    /// Asks everybody to end, then makes them: returns when nobody is left.
    async fn end(
        &mut self,
        why: End,
        mut exited: std::pin::Pin<&mut impl std::future::Future<Output = io::Result<ExitStatus>>>,
        pipes: &mut Pipes,
        collector: &mut Collector,
    ) -> End {
        let deadline = Instant::now() + GRACE;
        // The child is not waited for yet, so its number, which is the group's, is still its own.
        let _ = kill_process_group(self.leader, Signal::TERM);
        let prey = self.prey();
        in_background(prey.clone(), |prey| hunt::signal(&prey, Signal::TERM)).await;
        let mut waiting = true;
        while waiting {
            tokio::select! {
                biased;
                _ = &mut exited => waiting = false,
                () = sleep_until(deadline) => break,
                () = pipes.read(collector), if pipes.open() => {}
            }
        }
        if waiting {
            let _ = kill_process_group(self.leader, Signal::KILL);
        }
        while !in_background(prey.clone(), |prey| hunt::find(&prey))
            .await
            .is_empty()
        {
            if Instant::now() >= deadline {
                in_background(prey.clone(), |prey| hunt::signal(&prey, Signal::KILL)).await;
                if Instant::now() >= deadline + GRACE {
                    // Not even the kernel can end it now (it hangs in a device).
                    break;
                }
            }
            sleep(Duration::from_millis(5)).await;
        }
        if waiting {
            let _ = timeout_at(deadline + GRACE, exited).await;
        }
        why
    }

    async fn left(&self) -> Vec<u32> {
        let found = in_background(self.prey(), |prey| hunt::find(&prey)).await;
        let numbers = found.iter().map(|pid| pid.as_raw_nonzero().get());
        numbers.filter_map(|pid| u32::try_from(pid).ok()).collect()
    }

    /// The call is over. What it left behind lives on until the sidecar ends and is found by its
    /// tag then: the group's number may be given away, so it is forgotten now.
    fn over(&mut self) {
        self.over = true;
        watchdog::forget(self.leader.as_raw_nonzero().get(), &sidecar_tag());
        let mut living = living().lock().unwrap_or_else(PoisonError::into_inner);
        living.remove(&self.number);
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        // The future was dropped: nobody waits, so force at once. `hunt` finds the session's
        // members too and never hits a number that was given away.
        hunt::signal(&self.prey(), Signal::KILL);
        self.over();
    }
}

async fn in_background<T: Send + Default + 'static>(
    prey: Prey,
    work: impl FnOnce(Prey) -> T + Send + 'static,
) -> T {
    let work = tokio::task::spawn_blocking(move || work(prey));
    work.await.unwrap_or_default()
}

/// Ends every process that any call of this sidecar left: for the sidecar's own end. Blocks for
/// `grace` at most before it uses force.
pub fn end_all(grace: Duration) {
    let sessions: Vec<i32> = {
        let living = living().lock().unwrap_or_else(PoisonError::into_inner);
        living.values().copied().collect()
    };
    let tag = sidecar_tag();
    let mut prey: Vec<Prey> = sessions
        .into_iter()
        .map(|session| Prey {
            tag: tag.clone(),
            session: Some(session),
        })
        .collect();
    if prey.is_empty() {
        prey.push(Prey { tag, session: None });
    }
    let all =
        |signal: Signal| -> usize { prey.iter().map(|prey| hunt::signal(prey, signal)).sum() };
    if all(Signal::TERM) == 0 {
        return;
    }
    let deadline = std::time::Instant::now() + grace;
    let lives = || prey.iter().any(|prey| !hunt::find(prey).is_empty());
    while lives() && std::time::Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    for _ in 0..100 {
        if all(Signal::KILL) == 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

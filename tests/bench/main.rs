//! The figures of Toolgate, each beside a floor program measured in the same run.
//!
//! `cargo run --release -p toolgate-tests --bin bench [-- --pairs N]` (`tests/bench/run` builds
//! everything it needs first). Floor and Toolgate take turns, pair by pair, on the same server, file
//! and bytes; a figure is the median of the paired ratios with its quartiles. It prints a table,
//! then one line of JSON. It must never turn an absolute time into a verdict: machines differ.

mod cases;
mod figure;
mod model;
mod sidecar;

use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

/// A run that takes longer than this hangs.
const DEADLINE: Duration = Duration::from_secs(600);

fn main() -> ExitCode {
    let pairs = match pairs(std::env::args().skip(1)) {
        Ok(pairs) => pairs,
        Err(error) => {
            eprintln!("bench: {error}");
            return ExitCode::from(2);
        }
    };
    let (done, finished) = mpsc::channel();
    std::thread::spawn(move || {
        // Nobody listens any more once the deadline has passed.
        let _ = done.send(cases::all(pairs));
    });
    match finished.recv_timeout(DEADLINE) {
        Ok(Ok(figures)) => {
            print!("{}", figure::table(&figures));
            println!("{}", figure::json(&figures));
            ExitCode::SUCCESS
        }
        Ok(Err(error)) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
        Err(_) => {
            eprintln!("bench: no end after {} s", DEADLINE.as_secs());
            ExitCode::FAILURE
        }
    }
}

fn pairs(mut words: impl Iterator<Item = String>) -> Result<usize, String> {
    match (words.next().as_deref(), words.next(), words.next()) {
        (None, ..) => Ok(100),
        (Some("--pairs"), Some(count), None) => match count.parse() {
            Ok(count) if count >= 4 => Ok(count),
            _ => Err(format!("--pairs {count}: a whole number from 4 on")),
        },
        _ => Err("usage: bench [--pairs N]".to_owned()),
    }
}

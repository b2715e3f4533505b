//! The watcher's hints.

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use toolgate::hands::watch::{Hint, Watch};

use crate::bench::Bench;

/// Waits for a hint about this path; a time that no machine needs ends a test that fails.
async fn hint_of(hints: &mut UnboundedReceiver<Hint>, path: &PathBuf) {
    let found = async {
        while let Some(hint) = hints.recv().await {
            if hint == Hint::Rescan || hint == Hint::Path(path.clone()) {
                return;
            }
        }
        panic!("no more hints");
    };
    let found = tokio::time::timeout(Duration::from_secs(60), found).await;
    found.unwrap_or_else(|_| panic!("no hint of {path:?}"));
}

#[tokio::test]
async fn a_change_makes_a_hint_however_it_is_made() {
    let bench = Bench::new();
    bench.put("a.txt", "a");
    let (mut watch, mut hints) = Watch::new();
    let file = bench.path("a.txt");
    watch.touch(&file);
    bench.put("a.txt", "b");
    hint_of(&mut hints, &file).await;
    bench.shell("echo c > t; mv t a.txt");
    hint_of(&mut hints, &bench.path("t")).await;
    hint_of(&mut hints, &file).await;
    bench.shell("mkdir -p new/deep; echo x > new/deep/f");
    hint_of(&mut hints, &bench.path("new")).await;
}

#[tokio::test]
async fn polling_makes_hints_too() {
    let bench = Bench::new();
    bench.put("a.txt", "a");
    let (mut watch, mut hints) = Watch::polling(Duration::from_millis(10));
    let file = bench.path("a.txt");
    watch.touch(&file);
    bench.shell("echo changed > a.txt; touch -d '2030-01-01' a.txt");
    hint_of(&mut hints, &file).await;
}

#[tokio::test]
async fn a_folder_that_does_not_exist_is_no_error() {
    let bench = Bench::new();
    let (mut watch, mut hints) = Watch::new();
    watch.touch(&bench.path("not/there"));
    bench.put("not/there", "x");
    watch.touch(&bench.path("not/there"));
    bench.put("not/there", "y");
    hint_of(&mut hints, &bench.path("not/there")).await;
}

//! The laws of `sidecar/core/src/lib.rs`, one test of the same name each, over random worlds.
//!
//! `TOOLGATE_SEED` and `TOOLGATE_EVENTS` choose another run; the counts are printed by
//! `law_00_counts` (`--nocapture`).

use std::sync::OnceLock;

use toolgate_tests::world::laws::Report;
use toolgate_tests::world::World;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// One run for all tests: at least a million events.
fn report() -> &'static Report {
    static REPORT: OnceLock<Report> = OnceLock::new();
    REPORT.get_or_init(|| {
        // A panicking trait function is part of the world; its message is not wanted.
        std::panic::set_hook(Box::new(|info| {
            let planted = info.payload().downcast_ref::<&str>() == Some(&"a trait function fails");
            if !planted {
                eprintln!("{info}");
            }
        }));
        let seed = number("TOOLGATE_SEED", 1);
        let events = number("TOOLGATE_EVENTS", 1_000_000);
        let mut report = Report::default();
        let mut world = 0;
        while report.events < events {
            let mut one = World::new(seed.wrapping_mul(1_000_003).wrapping_add(world), report);
            one.run(1_500);
            report = one.report;
            world += 1;
        }
        println!("seed {seed}, {} events, {world} worlds", report.events);
        report
    })
}

fn check(law: u32) {
    let report = report();
    let broken = report.broken.get(&law);
    assert!(broken.is_none(), "law {law} is broken: {broken:#?}");
    let looks = report.looks.get(&law).copied().unwrap_or(0);
    assert!(
        looks * 1_000 > report.events,
        "law {law} was looked at only {looks} times"
    );
}

#[test]
fn law_00_counts() {
    let report = report();
    for (what, count) in &report.counts {
        println!("{count:>9} {what}");
    }
    for (law, looks) in &report.looks {
        println!("{looks:>9} looks at law {law}");
    }
    let calls = report.counts.get("call").copied().unwrap_or(0);
    for what in [
        "state Fitting",
        "state Asking",
        "state Waiting",
        "state Running",
        "state Stopping",
        "conflict",
        "cancel while running",
        "stream break",
    ] {
        let count = report.counts.get(what).copied().unwrap_or(0);
        assert!(
            count * 1_000 >= calls,
            "{what}: {count} of {calls} calls is less than 0.1 %"
        );
    }
}

macro_rules! laws {
    ($($name:ident $law:literal)*) => {
        $(#[test]
        fn $name() {
            check($law);
        })*
    };
}

laws! {
    law_01_each_call_gets_exactly_one_outcome_in_order 1
    law_02_nothing_starts_after_cancel 2
    law_03_concurrent_execution_equals_execution_in_call_order 3
    law_04_two_writers_of_one_place_never_overlap 4
    law_05_no_splice_over_bytes_that_the_model_has_not_seen 5
    law_06_no_start_before_allow_and_what_runs_is_what_was_allowed 6
    law_07_deny_beats_ask_beats_allow 7
    law_08_in_doubt_alone_not_read_only_ask 8
    law_09_a_byte_once_sent_never_changes 9
    law_10_same_events_same_commands 10
    law_11_started_is_durable_before_the_effect 11
}

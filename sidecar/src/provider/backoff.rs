//! How long to wait before a request is sent.
//!
//! The core decides whether and how long; this module adds jitter, so that many sidecars that were
//! refused together do not come back together, and reads what a server asks for. It must never
//! wait less than was asked, and never trust a server's number beyond a day.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use super::stream::Cancel;

/// The longest wait that is believed.
const LONGEST_MS: u64 = 24 * 60 * 60 * 1000;

/// Waits, with jitter; false when cancelled.
pub async fn wait(delay_ms: u64, cancel: &Cancel) -> bool {
    if delay_ms == 0 {
        return !cancel.is_cancelled();
    }
    // A fresh hasher's keys are the one source of chance that needs no dependency.
    let chance = RandomState::new().hash_one(delay_ms);
    tokio::select! {
        biased;
        () = cancel.cancelled() => false,
        () = tokio::time::sleep(Duration::from_millis(jittered(delay_ms, chance))) => true,
    }
}

/// The delay, made longer by up to a quarter.
pub fn jittered(delay_ms: u64, chance: u64) -> u64 {
    let delay_ms = delay_ms.min(LONGEST_MS);
    delay_ms + chance % (delay_ms / 4 + 1)
}

/// The milliseconds that a server asks to wait: `retry-after-ms`, else `retry-after` in seconds.
/// A date is not read: the core's own backoff answers it.
pub fn retry_after_ms(millis: Option<&str>, seconds: Option<&str>) -> Option<u64> {
    let number = |text: Option<&str>, factor: f64| {
        let value: f64 = text?.trim().parse().ok()?;
        // The cast saturates and the value is neither negative nor NaN.
        (value >= 0.0).then(|| ((value * factor).ceil() as u64).min(LONGEST_MS))
    };
    number(millis, 1.0).or_else(|| number(seconds, 1000.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_only_lengthens() {
        for chance in [0, 1, 249, 250, 251, u64::MAX] {
            assert!((1000..=1250).contains(&jittered(1000, chance)));
        }
        assert_eq!(jittered(0, 7), 0);
        assert!(jittered(u64::MAX, u64::MAX) <= LONGEST_MS / 4 * 5);
    }

    #[test]
    fn a_servers_wait_is_read_and_bounded() {
        assert_eq!(retry_after_ms(None, Some("2")), Some(2000));
        assert_eq!(retry_after_ms(None, Some(" 0.5 ")), Some(500));
        assert_eq!(retry_after_ms(Some("120"), Some("9")), Some(120));
        assert_eq!(retry_after_ms(Some("x"), Some("9")), Some(9000));
        assert_eq!(retry_after_ms(None, Some("-1")), None);
        assert_eq!(retry_after_ms(None, Some("NaN")), None);
        assert_eq!(retry_after_ms(None, Some("1e300")), Some(LONGEST_MS));
        assert_eq!(
            retry_after_ms(None, Some("Wed, 21 Oct 2026 07:28:00 GMT")),
            None
        );
        assert_eq!(retry_after_ms(None, None), None);
    }

    #[tokio::test]
    async fn a_wait_is_cancellable() {
        let cancel = Cancel::new();
        let waiting = wait(LONGEST_MS, &cancel);
        let (went_on, ()) = tokio::join!(waiting, async { cancel.cancel() });
        assert!(!went_on);
    }
}

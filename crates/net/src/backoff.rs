//! How long to wait before a failed request is tried again.

use std::env;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::RangeInclusive;
use std::time::Duration;

const DEFAULT_FIRST: Duration = Duration::from_secs(2);
/// What the environment may set, in milliseconds.
const ALLOWED_MS: RangeInclusive<u64> = 1..=60_000;
/// A service that asks for more time than this gets this much.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);

/// Exponential backoff: each delay is twice the one before, up to a limit, with jitter so that several machines do not
/// ask the same service in step.
#[derive(Debug, Clone, Copy)]
pub struct Backoff {
    first: Duration,
    /// The longest delay is this many times the first one.
    max_factor: u32,
}

impl Backoff {
    pub const fn new(first: Duration, max_factor: u32) -> Self {
        Self { first, max_factor }
    }

    /// Starts with two seconds, or with the milliseconds that `variable` holds. Tests set the variable.
    pub fn from_env(variable: &str, max_factor: u32) -> Self {
        let first = match env::var(variable).ok().and_then(|text| text.parse::<u64>().ok()) {
            Some(ms) => Duration::from_millis(ms.clamp(*ALLOWED_MS.start(), *ALLOWED_MS.end())),
            None => DEFAULT_FIRST,
        };
        Self::new(first, max_factor)
    }

    pub const fn first(self) -> Duration {
        self.first
    }

    /// The delay after `failures` failed attempts: at least half of the full one, and not less than the service's
    /// `Retry-After`, within reason.
    pub fn delay(self, failures: u32, retry_after: Option<Duration>) -> Duration {
        let factor = 1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(self.max_factor);
        let full = self.first * factor.min(self.max_factor);
        let jittered = full / 2 + (full / 2).mul_f64(random_share());
        jittered.max(retry_after.unwrap_or_default().min(MAX_RETRY_AFTER))
    }
}

/// From 0 to 1. The standard library seeds its hashers from the system's randomness.
fn random_share() -> f64 {
    let random = RandomState::new().build_hasher().finish();
    f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_up_to_the_limit_and_differ() {
        let backoff = Backoff::new(Duration::from_secs(2), 1024);
        for failures in 1..100 {
            let full = Duration::from_secs(2) * 2_u32.pow((failures - 1).min(10));
            let delay = backoff.delay(failures, None);
            assert!(delay >= full / 2 && delay <= full, "{failures}: {delay:?}");
        }
        let delays: Vec<_> = (0..20).map(|_| backoff.delay(5, None)).collect();
        assert!(delays.iter().any(|delay| *delay != delays[0]));
    }

    #[test]
    fn a_service_may_ask_for_more_time() {
        let backoff = Backoff::new(Duration::from_secs(2), 150);
        assert_eq!(backoff.delay(1, Some(Duration::from_secs(30))), Duration::from_secs(30));
        assert!(backoff.delay(4, Some(Duration::from_secs(1))) >= Duration::from_secs(8));
        assert_eq!(backoff.delay(1, Some(Duration::MAX)), MAX_RETRY_AFTER);
    }
}

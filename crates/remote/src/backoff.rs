//! How long to wait before something is tried again: twice as long each time, within bounds, and never in step with
//! others who wait for the same service.

use std::env;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

const FIRST: Duration = Duration::from_secs(2);
/// The longest wait is this many times the first: about half an hour.
const LONGEST: u32 = 1024;
/// Makes tests independent of the clock.
const VARIABLE: &str = "OVERTONE_REMOTE_BACKOFF_MS";
const ALLOWED: std::ops::RangeInclusive<u64> = 1..=60_000;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Backoff {
    first: Duration,
}

impl Backoff {
    pub(crate) fn from_process() -> Self {
        let given = env::var(VARIABLE).ok().and_then(|text| text.parse::<u64>().ok());
        let first =
            given.map_or(FIRST, |ms| Duration::from_millis(ms.clamp(*ALLOWED.start(), *ALLOWED.end())));
        Self { first }
    }

    pub(crate) const fn first(self) -> Duration {
        self.first
    }

    /// The wait after so many tries that failed.
    pub(crate) fn after(self, tries: u32) -> Duration {
        let times = 1_u32.checked_shl(tries.saturating_sub(1)).unwrap_or(LONGEST).min(LONGEST);
        let whole = self.first * times;
        // Between half of it and all of it.
        whole / 2 + (whole / 2).mul_f64(random_share())
    }
}

/// From 0 to 1; the standard library seeds its hashers from the system.
fn random_share() -> f64 {
    let random = RandomState::new().build_hasher().finish();
    f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_within_bounds_and_are_not_all_the_same() {
        let backoff = Backoff { first: Duration::from_secs(2) };
        for tries in 1..100 {
            let whole = Duration::from_secs(2) * 2_u32.pow((tries - 1).min(10));
            let wait = backoff.after(tries);
            assert!(wait >= whole / 2 && wait <= whole, "{tries}: {wait:?}");
        }
        let waits: Vec<_> = (0..20).map(|_| backoff.after(5)).collect();
        assert!(waits.iter().any(|wait| *wait != waits[0]));
    }
}

//! How long to wait before the collector is asked again: twice as long each time up to a limit.

use std::env;
use std::ops::RangeInclusive;
use std::time::Duration;

const FIRST: Duration = Duration::from_secs(2);
/// The longest wait is this many times the first: about five minutes.
const LONGEST: u32 = 150;
/// A collector that asks for more time than this gets this much.
const MOST: Duration = Duration::from_hours(1);
/// Makes tests independent of the clock.
const VARIABLE: &str = "OVERTONE_TELEMETRY_BACKOFF_MS";
const ALLOWED: RangeInclusive<u64> = 1..=60_000;

#[derive(Debug, Clone, Copy)]
pub struct Pace {
    first: Duration,
}

impl Pace {
    pub const fn new(first: Duration) -> Self {
        Self { first }
    }

    pub fn from_process() -> Self {
        let given = env::var(VARIABLE).ok().and_then(|text| text.parse::<u64>().ok());
        let given = given.map(|ms| Duration::from_millis(ms.clamp(*ALLOWED.start(), *ALLOWED.end())));
        Self::new(given.unwrap_or(FIRST))
    }

    /// The wait after so many tries that failed, and not less than the collector asked for.
    pub(crate) fn after(self, tries: u32, asked: Option<Duration>) -> Duration {
        let times = 1_u32.checked_shl(tries.saturating_sub(1)).unwrap_or(LONGEST).min(LONGEST);
        (self.first * times).max(asked.unwrap_or_default().min(MOST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_a_limit_and_respect_the_collector() {
        let pace = Pace::new(Duration::from_secs(2));
        let waits: Vec<_> = [1, 2, 3, 40].map(|tries| pace.after(tries, None).as_secs()).to_vec();
        assert_eq!(waits, [2, 4, 8, 300]);
        assert_eq!(pace.after(1, Some(Duration::from_secs(30))), Duration::from_secs(30));
        assert_eq!(pace.after(4, Some(Duration::from_secs(1))), Duration::from_secs(16));
        assert_eq!(pace.after(1, Some(Duration::MAX)), MOST);
    }
}

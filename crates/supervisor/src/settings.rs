//! The limits of the supervisor, and whether it is switched off.

use std::env;
use std::time::Duration;

/// The specification's ten rounds.
const MAX_ITERATIONS: u32 = 10;
const TIMEOUT: Duration = Duration::from_mins(10);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) enabled: bool,
    pub(crate) max_iterations: u32,
    pub(crate) timeout: Duration,
}

impl Settings {
    pub(crate) fn from_process() -> Self {
        Self {
            enabled: env::var_os("CCC_SUPERVISOR").is_none_or(|value| value != "0"),
            max_iterations: MAX_ITERATIONS,
            timeout: timeout(env::var("CCC_SUPERVISOR_TIMEOUT").ok().as_deref()),
        }
    }
}

/// Whole seconds; anything else is no limit that a person could have meant.
fn timeout(seconds: Option<&str>) -> Duration {
    let seconds = seconds.and_then(|text| text.parse().ok()).filter(|seconds| (1..=86_400).contains(seconds));
    seconds.map_or(TIMEOUT, Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_timeouts_count_as_none() {
        assert_eq!(timeout(Some("5")), Duration::from_secs(5));
        for odd in [None, Some(""), Some("0"), Some("-1"), Some("1e3"), Some("99999999999999999999")] {
            assert_eq!(timeout(odd), TIMEOUT, "{odd:?}");
        }
    }
}

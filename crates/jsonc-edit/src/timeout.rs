//! Time limits for waiting on other processes, and how tests extend them.

use std::time::Duration;

/// The environment variable that replaces every time limit in debug builds: a number of seconds.
///
/// The limits are chosen for a user who waits for an answer. On a machine without a free processor a test would reach
/// them by chance, and its outcome would depend on the load. Release builds do not read the variable.
#[cfg(debug_assertions)]
const VARIABLE: &str = "OVERTONE_TEST_PATIENCE";

/// The time limit to use in place of `limit`. In release builds this is `limit` itself.
#[cfg(not(debug_assertions))]
pub const fn effective_timeout(limit: Duration) -> Duration {
    limit
}

/// The time limit to use in place of `limit`: the one in [`VARIABLE`], if a test has set it.
#[cfg(debug_assertions)]
pub fn effective_timeout(limit: Duration) -> Duration {
    replaced_by(limit, std::env::var(VARIABLE).ok().as_deref())
}

#[cfg(debug_assertions)]
fn replaced_by(limit: Duration, seconds: Option<&str>) -> Duration {
    match seconds.and_then(|text| text.parse().ok()) {
        Some(seconds) => Duration::from_secs(seconds),
        None => limit,
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_of_seconds_replaces_a_limit() {
        let limit = Duration::from_secs(3);
        assert_eq!(replaced_by(limit, None), limit);
        assert_eq!(replaced_by(limit, Some("")), limit);
        assert_eq!(replaced_by(limit, Some("soon")), limit);
        assert_eq!(replaced_by(limit, Some("600")), Duration::from_mins(10));
    }
}

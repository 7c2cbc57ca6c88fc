//! How long this program waits for other processes, and how a test makes that longer. The store has the same for its
//! own locks: neither of the two crates knows the other.

use std::time::Duration;

/// The environment variable that replaces every waiting limit in debug builds: a number of seconds.
///
/// The limits are there for a person who waits for an answer. On a machine without a free processor a test would meet
/// them by chance, and its outcome would depend on the load. Release builds do not look at the variable.
#[cfg(debug_assertions)]
const VARIABLE: &str = "OVERTONE_TEST_PATIENCE";

/// The limit to wait for, given the one that users have.
#[cfg(not(debug_assertions))]
pub const fn patience(limit: Duration) -> Duration {
    limit
}

/// The limit to wait for, given the one that users have: see [`VARIABLE`].
#[cfg(debug_assertions)]
pub fn patience(limit: Duration) -> Duration {
    replaced_by(limit, std::env::var(VARIABLE).ok().as_deref())
}

#[cfg(debug_assertions)]
fn replaced_by(limit: Duration, seconds: Option<&str>) -> Duration {
    seconds.and_then(|text| text.parse().ok()).map_or(limit, Duration::from_secs)
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

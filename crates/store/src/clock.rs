//! Time stamps: milliseconds inside, ISO 8601 in UTC on disk. Local time is never looked up: it costs a
//! millisecond.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use overtone_engine::state::Millis;

pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// `2026-02-23T14:00:00.000Z`.
pub fn to_iso(at: Millis) -> String {
    let at = Timestamp::from_millisecond(at.0).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{at:.3}")
}

/// The date part, for archive folders.
pub fn to_date(at: Millis) -> String {
    to_iso(at)[..10].to_owned()
}

pub fn from_iso(text: &str) -> Option<Millis> {
    text.parse::<Timestamp>().ok().map(|at| Millis(at.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let at = Millis(1_771_855_200_123);
        assert_eq!(to_iso(at), "2026-02-23T14:00:00.123Z");
        assert_eq!(from_iso(&to_iso(at)), Some(at));
        assert_eq!(to_iso(Millis(1_771_855_200_000)), "2026-02-23T14:00:00.000Z");
        assert_eq!(to_date(at), "2026-02-23");
        assert_eq!(from_iso("..."), None);
        assert_eq!(to_iso(Millis(i64::MAX)), "1970-01-01T00:00:00.000Z");
    }
}

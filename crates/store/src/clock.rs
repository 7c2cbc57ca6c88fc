//! Time stamps: milliseconds in memory, ISO 8601 in UTC on disk. The local time zone is never used, because looking it up
//! takes a millisecond.

use std::ops::Range;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;
use overtone_core::engine::state::Millis;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

pub fn now() -> Millis {
    from_system_time(SystemTime::now())
}

pub fn from_system_time(time: SystemTime) -> Millis {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
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

/// The day of a time stamp, as a number: days since 1970 in UTC.
pub const fn day(at: Millis) -> i64 {
    at.0.div_euclid(DAY_MS)
}

/// The first moment of a day.
pub const fn start_of_day(day: i64) -> Millis {
    Millis(day.saturating_mul(DAY_MS))
}

/// Parses an ISO 8601 time with a zone.
pub fn from_iso(text: &str) -> Option<Millis> {
    if let Some(at) = parse_own_form(text.as_bytes()) {
        return Some(at);
    }
    let at: Timestamp = text.parse().ok()?;
    Some(Millis(at.as_millisecond()))
}

/// Parses a date or time as a user may write it: the time and the zone are optional. Without a zone it is UTC.
pub(crate) fn from_date_or_time(text: &str) -> Option<Millis> {
    if let Some(at) = from_iso(text) {
        return Some(at);
    }
    utc(text.parse().ok()?)
}

/// Whether a text is exactly `YYYY-MM-DD`.
pub(crate) fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<Date>().is_ok()
}

/// Parses the form that [`to_iso`] writes, in half the time of the general parser: every hook reads a few of them, and
/// statistics read millions.
fn parse_own_form(text: &[u8]) -> Option<Millis> {
    const FORM: &[u8; 24] = b"0000-00-00T00:00:00.000Z";
    let fits = |(byte, form): (&u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form };
    if text.len() != FORM.len() || !text.iter().zip(FORM).all(fits) {
        return None;
    }
    let number = |range: Range<usize>| {
        text[range].iter().fold(0_i16, |number, digit| number * 10 + i16::from(digit - b'0'))
    };
    let small = |start: usize| i8::try_from(number(start..start + 2)).ok();
    let nanoseconds = i32::from(number(20..23)) * 1_000_000;
    let time =
        DateTime::new(number(0..4), small(5)?, small(8)?, small(11)?, small(14)?, small(17)?, nanoseconds);
    utc(time.ok()?)
}

fn utc(time: DateTime) -> Option<Millis> {
    let at = Offset::UTC.to_timestamp(time).ok()?;
    Some(Millis(at.as_millisecond()))
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
        assert_eq!(to_date(start_of_day(day(at))), "2026-02-23");
        assert_eq!(day(Millis(-1)), -1);
    }

    #[test]
    fn dates_and_times_of_users_are_read() {
        let cases = [
            ("1970-01-01", 0),
            ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59.999Z", -1),
            ("2000-02-29T12:00Z", 951_825_600_000),
            ("2000-03-01", 951_868_800_000),
            ("2026-02-23T14:00:00Z", 1_771_855_200_000),
            ("2026-02-23T14:00", 1_771_855_200_000),
            ("2026-02-23 22:00:00.5+08:00", 1_771_855_200_500),
            ("2026-02-23T06:00:00.123456-0800", 1_771_855_200_123),
        ];
        for (text, millis) in cases {
            assert_eq!(from_date_or_time(text), Some(Millis(millis)), "{text}");
        }
        for text in [
            "",
            "yesterday",
            "2026-1-1",
            "2026-13-01",
            "2026-01-01x",
            "2026-01-01T",
            "2026-01-01T1:2",
            "登登登登",
        ] {
            assert_eq!(from_date_or_time(text), None, "{text}");
        }
    }

    #[test]
    fn dates_are_exact() {
        assert!(is_date("2026-02-23"));
        for text in
            ["2026-02-23T00:00", "2026-02-2", "../../../x", "2026/02/23", "2026-00-10", "2026-02-30", ""]
        {
            assert!(!is_date(text), "{text}");
        }
    }

    proptest::proptest! {
        /// Both parsers agree on the form that is written.
        #[test]
        fn both_ways_to_read_agree(millis in -62_167_219_200_000_i64..253_402_300_799_999) {
            let text = to_iso(Millis(millis));
            proptest::prop_assert_eq!(from_iso(&text), Some(Millis(millis)));
        }

        #[test]
        fn impossible_times_are_none(text in "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z") {
            let general = text.parse::<Timestamp>().ok().map(|at| Millis(at.as_millisecond()));
            proptest::prop_assert_eq!(from_iso(&text), general);
        }

        #[test]
        fn no_text_causes_a_panic(text in ".{0,40}", time in "[0-9:.+Zz-]{0,20}") {
            let _ = from_date_or_time(&text);
            let _ = from_date_or_time(&format!("2026-01-01T{time}"));
        }
    }
}

//! Time stamps: milliseconds inside, ISO 8601 in UTC on disk. Local time is never looked up: it costs a
//! millisecond.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use overtone_core::engine::state::Millis;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

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

/// The day of a time stamp, as a number: days since 1970 in UTC.
pub const fn day(at: Millis) -> i64 {
    at.0.div_euclid(DAY_MS)
}

/// The first moment of a day.
pub const fn start_of_day(day: i64) -> Millis {
    Millis(day.saturating_mul(DAY_MS))
}

pub fn from_iso(text: &str) -> Option<Millis> {
    own_form(text.as_bytes()).or_else(|| text.parse::<Timestamp>().ok().map(|at| Millis(at.as_millisecond())))
}

/// The form that [`to_iso`] writes, many times faster than the general way: statistics read millions of them.
fn own_form(text: &[u8]) -> Option<Millis> {
    const FORM: &[u8; 24] = b"0000-00-00T00:00:00.000Z";
    let fits = |(byte, form): (&u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form };
    if text.len() != FORM.len() || !text.iter().zip(FORM).all(fits) {
        return None;
    }
    let number = |range: std::ops::Range<usize>| {
        text[range].iter().fold(0_i64, |number, digit| number * 10 + i64::from(digit - b'0'))
    };
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    let (hour, minute, second) = (number(11..13), number(14..16), number(17..19));
    // Days that not every month has and leap seconds are left to the general way.
    let is_plain =
        (1..=12).contains(&month) && (1..=28).contains(&day) && hour < 24 && minute < 60 && second < 60;
    let seconds = days_before(year, month) + day - 1;
    let seconds = ((seconds * 24 + hour) * 60 + minute) * 60 + second;
    is_plain.then(|| Millis(seconds * 1000 + number(20..23)))
}

/// The days from the beginning of 1970 to the beginning of a month.
const fn days_before(year: i64, month: i64) -> i64 {
    // Years that begin in March have the leap day at their end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_years = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    of_years + (month * 153 + 2) / 5 - 719_468
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

    proptest::proptest! {
        /// The fast way and the general way agree.
        #[test]
        fn both_ways_to_read_agree(millis in -62_167_219_200_000_i64..253_402_300_799_999) {
            let text = to_iso(Millis(millis));
            proptest::prop_assert_eq!(from_iso(&text), Some(Millis(millis)));
        }

        #[test]
        fn what_is_no_time_is_none(text in "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z") {
            let general = text.parse::<Timestamp>().ok().map(|at| Millis(at.as_millisecond()));
            proptest::prop_assert_eq!(from_iso(&text), general);
        }
    }
}

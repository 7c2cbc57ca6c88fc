//! ISO 8601 times to milliseconds, so that a `created` can be compared with a directory's modification time.
//!
//! By hand because the hook path only needs an order: a date library costs start-up time and size.

/// Milliseconds since 1970 of `YYYY-MM-DD`, optionally with `T` or a space and `HH:MM[:SS[.fff]][Z|±HH:MM]`.
/// Without a zone it is UTC.
pub(super) fn epoch_millis(text: &str) -> Option<i64> {
    let (date, rest) = text.split_at_checked(10)?;
    let days = days_since_epoch(date)?;
    let millis = match rest.strip_prefix(['T', 't', ' ']) {
        Some(time) => millis_of_day(time)?,
        None if rest.is_empty() => 0,
        None => return None,
    };
    Some(days * 86_400_000 + millis)
}

/// Whether a text is exactly `YYYY-MM-DD`.
pub(super) fn is_date(text: &str) -> bool {
    text.len() == 10 && days_since_epoch(text).is_some()
}

fn days_since_epoch(date: &str) -> Option<i64> {
    let mut parts = date.split('-');
    let year = number(parts.next()?, 4, 9999)?;
    let month = number(parts.next()?, 2, 12).filter(|m| *m >= 1)?;
    let day = number(parts.next()?, 2, 31).filter(|d| *d >= 1)?;
    if parts.next().is_some() {
        return None;
    }
    // Years begin in March here, so that the leap day is the last day (Hinnant, "days_from_civil").
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

fn millis_of_day(time: &str) -> Option<i64> {
    let zone_at = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at(zone_at);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut parts = clock.split(':');
    let hours = number(parts.next()?, 2, 24)?;
    let minutes = number(parts.next()?, 2, 59)?;
    let seconds = parts.next().map_or(Some(0), |s| number(s, 2, 60))?;
    let millis = if fraction.is_empty() { 0 } else { thousandths(fraction)? };
    let offset = zone_minutes(zone)?;
    Some(((hours * 60 + minutes - offset) * 60 + seconds) * 1000 + millis)
}

fn thousandths(fraction: &str) -> Option<i64> {
    let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
    number(&digits, 3, 999)
}

fn zone_minutes(zone: &str) -> Option<i64> {
    let (sign, rest) = match zone.as_bytes().first() {
        Some(b'+') => (1, &zone[1..]),
        Some(b'-') => (-1, &zone[1..]),
        _ => return matches!(zone, "" | "Z" | "z").then_some(0),
    };
    let digits = rest.replace(':', "");
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { 0 } else { number(minutes, 2, 59)? };
    Some(sign * (number(hours, 2, 24)? * 60 + minutes))
}

/// A number of exactly `width` digits, at most `max`.
fn number(digits: &str, width: usize, max: i64) -> Option<i64> {
    let plain = digits.len() == width && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok())?.filter(|n| *n <= max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_times() {
        let cases = [
            ("1970-01-01", 0),
            ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59.999Z", -1),
            ("2000-02-29T12:00Z", 951_825_600_000),
            ("2000-03-01", 951_868_800_000),
            ("2026-02-23T14:00:00Z", 1_771_855_200_000),
            ("2026-02-23 22:00:00.5+08:00", 1_771_855_200_500),
            ("2026-02-23T06:00:00.123456-0800", 1_771_855_200_123),
        ];
        for (text, millis) in cases {
            assert_eq!(epoch_millis(text), Some(millis), "{text}");
        }
    }

    #[test]
    fn anything_else_is_no_time() {
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
            assert_eq!(epoch_millis(text), None, "{text}");
        }
    }

    #[test]
    fn dates_are_exact() {
        assert!(is_date("2026-02-23"));
        for text in ["2026-02-23T00:00", "2026-02-2", "../../../x", "2026/02/23", "2026-00-10", ""] {
            assert!(!is_date(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,40}", time in "[0-9:.+Zz-]{0,20}") {
            let _ = epoch_millis(&text);
            let _ = epoch_millis(&format!("2026-01-01T{time}"));
        }

        #[test]
        fn order_of_texts_is_order_of_times(a in 0i64..3000, b in 0i64..3000) {
            let text = |n: i64| format!("{:04}-{:02}-{:02}", 2000 + n / 336, n / 28 % 12 + 1, n % 28 + 1);
            prop_assert_eq!(a.cmp(&b), epoch_millis(&text(a)).cmp(&epoch_millis(&text(b))));
        }
    }
}

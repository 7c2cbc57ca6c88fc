//! A point in time as users type it: how long ago, a date, or a time stamp.

use std::str::FromStr;

use overtone_core::engine::state::Millis;
use overtone_store::clock;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Since {
    Ago(i64),
    At(Millis),
}

impl Since {
    pub(in crate::commands) fn resolve(self, now: Millis) -> Millis {
        match self {
            Self::Ago(millis) => Millis(now.0.saturating_sub(millis)),
            Self::At(at) => at,
        }
    }
}

impl FromStr for Since {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let stamp = || clock::from_iso(text).or_else(|| clock::from_iso(&format!("{text}T00:00:00Z")));
        let found = ago(text).map(Self::Ago).or_else(|| stamp().map(Self::At));
        found.ok_or("write 10m, 2h, 3d, 2026-02-23 or 2026-02-23T14:00:00Z")
    }
}

/// `90s`, `10m`, `2h`, `3d`, `1w` in milliseconds.
fn ago(text: &str) -> Option<i64> {
    let unit = text.chars().last()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return None,
    };
    let count: u32 = text[..text.len() - unit.len_utf8()].parse().ok()?;
    Some(i64::from(count) * seconds * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_dates_and_stamps_are_understood() {
        assert_eq!("10m".parse(), Ok(Since::Ago(600_000)));
        assert_eq!("3d".parse(), Ok(Since::Ago(259_200_000)));
        assert_eq!("1970-01-02".parse(), Ok(Since::At(Millis(86_400_000))));
        assert_eq!("1970-01-01T00:00:01Z".parse(), Ok(Since::At(Millis(1000))));
        assert_eq!("1970-01-01T01:00:01+01:00".parse(), Ok(Since::At(Millis(1000))));
        assert_eq!(Since::Ago(5).resolve(Millis(7)), Millis(2));
    }

    #[test]
    fn everything_else_is_refused() {
        for text in ["", "m", "-5m", "5", "5x", "天", "yesterday", "2026-13-01", "99999999999d"] {
            assert!(text.parse::<Since>().is_err(), "{text}");
        }
    }
}

//! Sizes, ages, shares and times, short enough for a column.

use overtone_core::engine::state::Millis;
use overtone_store::clock;

/// `512 B`, `12.3 KB`, `4.0 MB`.
#[allow(clippy::cast_precision_loss, reason = "shown with one decimal")]
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} KB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// `12s`, `5m`, `3h`, `12d`.
pub(crate) fn age(millis: i64) -> String {
    let seconds = millis.max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// `83%`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// A dash stands for a value that is not known.
pub(crate) fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}

/// `2026-02-23 14:00:00Z`.
pub(crate) fn timestamp(at: Millis) -> String {
    format!("{}Z", clock::to_iso(at)[..19].replace('T', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_well() {
        assert_eq!(
            [size(0), size(999), size(12_345), size(4_000_000)],
            ["0 B", "999 B", "12.3 KB", "4.0 MB"]
        );
        assert_eq!([age(-1), age(61_000), age(7_200_000), age(864_000_000)], ["0s", "1m", "2h", "10d"]);
        assert_eq!(percent(0.834), "83%");
        assert_eq!(timestamp(Millis(1_771_855_200_123)), "2026-02-23 14:00:00Z");
    }
}

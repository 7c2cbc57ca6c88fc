//! Fits texts to a width in columns. A Chinese character takes two columns.

use overtone_core::engine::text::printable;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// One line without characters that would move the cursor, change colours or hide text.
pub(super) fn clean(text: &str) -> String {
    printable(text).into_owned()
}

/// Cuts a text that is wider than this many columns and marks the cut with an ellipsis.
pub(super) fn fit(text: &str, columns: usize) -> String {
    let text = clean(text);
    if text.width() <= columns {
        return text;
    }
    let mut taken = 0;
    let fits = |c: &char| {
        taken += c.width().unwrap_or(0);
        taken < columns
    };
    let cut: String = text.chars().take_while(fits).collect();
    if columns == 0 { String::new() } else { cut + "…" }
}

/// Cuts or pads a text to exactly this many columns.
pub(super) fn column(text: &str, columns: usize) -> String {
    let text = fit(text, columns);
    let blank = columns.saturating_sub(text.width());
    text + &" ".repeat(blank)
}

/// `12s`, `5m`, `3h`, `12d`.
pub(super) fn age(millis: i64) -> String {
    let seconds = millis.max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_and_padded_to_columns() {
        assert_eq!(column("規劃", 6), "規劃  ");
        assert_eq!(column("規劃架構", 6), "規劃… ");
        assert_eq!(column("規劃架構", 7), "規劃架…");
        assert_eq!(column("plan", 3), "pl…");
        assert_eq!(fit("x", 0), "");
        assert_eq!(fit("a\u{1b}[2J\nb\u{202e}", 20), "a[2J b");
        for columns in 0..12 {
            assert_eq!(column("新增會記住我的登入頁", columns).width(), columns);
        }
    }

    #[test]
    fn an_age_has_one_unit() {
        assert_eq!([age(-1), age(61_000), age(7_200_000), age(864_000_000)], ["0s", "1m", "2h", "10d"]);
    }
}

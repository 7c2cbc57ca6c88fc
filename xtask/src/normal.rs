//! Texts without what differs from run to run: times.

use jiff::Timestamp;

/// Put in place of a time.
const TIME: &str = "<time>";

/// Any text with every time in it replaced.
pub(crate) fn timeless_words(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    for word in text.split_inclusive(|c: char| !is_of_time(c)) {
        let bare = word.trim_end_matches(|c: char| !is_of_time(c));
        let is_time = bare.len() > 10 && bare.parse::<Timestamp>().is_ok();
        words += if is_time { TIME } else { bare };
        words += &word[bare.len()..];
    }
    words
}

fn is_of_time(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '-' | ':' | '.' | 'T' | 'Z')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_words_are_replaced() {
        let text = "created: 2026-02-23T14:00:00.123Z\n[2026-02-23T14:00:00.000Z] x 12-3 T";
        assert_eq!(timeless_words(text), format!("created: {TIME}\n[{TIME}] x 12-3 T"));
    }
}

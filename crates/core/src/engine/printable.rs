//! Makes text from files, the network or the model safe to show.
//!
//! A terminal executes control characters, and bidirectional or invisible characters make a line look like another one.
//! Text that is not ours is shown only through these functions, which [`crate::engine::text`] exports.

use std::borrow::Cow;
use std::fmt::Write;

/// The text as one line without anything that a terminal would execute or that a reader cannot see.
///
/// Line breaks and tabs become blanks. Other control characters, bidirectional marks and invisible characters are
/// removed; the joiners and selectors inside an emoji stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    cleaned(text, |_| Some(' '))
}

/// Like [`printable`] for a text of several lines: line feeds stay.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    // After a carriage return, a terminal overwrites the line that it has just shown.
    cleaned(text, |c| match c {
        '\n' => Some('\n'),
        '\r' => None,
        _ => Some(' '),
    })
}

/// A JSON document in which everything that [`printable`] would change inside of strings is written as `\uXXXX`, so
/// that the values stay the same.
pub fn escaped_json(json: &str) -> Cow<'_, str> {
    // Outside of strings, JSON has no other characters of these kinds than line feeds, which are layout.
    let is_escaped = |c: char, treatment: Treatment| treatment != Treatment::Keep && c != '\n';
    if !treatments(json).any(|(c, treatment)| is_escaped(c, treatment)) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for (c, treatment) in treatments(json) {
        if is_escaped(c, treatment) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing into a string cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// What is done with a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Treatment {
    Keep,
    /// Replace white space that moves the cursor.
    Blank,
    Remove,
}

/// The text without removed characters. `blank` returns the replacement of a character that moves the cursor.
fn cleaned(text: &str, blank: impl Fn(char) -> Option<char>) -> Cow<'_, str> {
    let kept = |(c, treatment): (char, Treatment)| match treatment {
        Treatment::Keep => Some(c),
        Treatment::Blank => blank(c),
        Treatment::Remove => None,
    };
    if treatments(text).all(|(c, treatment)| kept((c, treatment)) == Some(c)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(treatments(text).filter_map(kept).collect())
}

/// Every character with its treatment.
fn treatments(text: &str) -> impl Iterator<Item = (char, Treatment)> + '_ {
    // A removed character does not count as a preceding one.
    let mut preceding = None;
    text.char_indices().map(move |(at, c)| {
        let treatment = treatment(c, preceding, &text[at + c.len_utf8()..]);
        if treatment != Treatment::Remove {
            preceding = Some(c);
        }
        (c, treatment)
    })
}

const JOINER: char = '\u{200d}';
const SELECTOR_TEXT: char = '\u{fe0e}';
const SELECTOR_EMOJI: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';

/// What is done with a character. Its neighbours are looked at only if it is a joiner or a selector: every text for the
/// client passes through here, and nearly all characters are ordinary ones.
fn treatment(c: char, preceding: Option<char>, rest: &str) -> Treatment {
    if !c.is_control() && !is_hidden(c) {
        return Treatment::Keep;
    }
    let is_in_emoji = match c {
        JOINER => match preceding {
            Some(SELECTOR_TEXT | SELECTOR_EMOJI) => starts_with_emoji(rest),
            Some(preceding) => is_emoji(preceding) && starts_with_emoji(rest),
            None => false,
        },
        SELECTOR_TEXT | SELECTOR_EMOJI => match preceding {
            // With a selector and U+20E3 these make a keycap.
            Some('0'..='9' | '#' | '*') => rest.starts_with(KEYCAP),
            Some(preceding) => is_emoji(preceding),
            None => false,
        },
        _ => false,
    };
    if is_in_emoji {
        return Treatment::Keep;
    }
    let moves_cursor = matches!(c, '\t'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
    if moves_cursor { Treatment::Blank } else { Treatment::Remove }
}

fn starts_with_emoji(text: &str) -> bool {
    text.chars().next().is_some_and(is_emoji)
}

/// Characters without a shape of their own, which hide text or change the order in which it is shown: Unicode's
/// `Default_Ignorable_Code_Point`, bidirectional marks, separators, and marks that only format others.
const fn is_hidden(c: char) -> bool {
    // Nothing in ASCII, and nothing in the blocks of most Chinese characters.
    if matches!(c, '\0'..='\u{7f}' | '\u{3165}'..='\u{fdff}') {
        return false;
    }
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{13430}'..='\u{1345f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Blocks whose characters an emoji can begin with or be joined of. Wider than Unicode's list of emoji: all of them
/// are visible, so a joiner or a selector beside them hides nothing.
const fn is_emoji(c: char) -> bool {
    matches!(
        c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
            | '\u{2190}'..='\u{21ff}'
            | '\u{2300}'..='\u{23ff}'
            | '\u{24c2}'
            | '\u{25a0}'..='\u{27bf}'
            | '\u{2900}'..='\u{297f}'
            | '\u{2b00}'..='\u{2bff}'
            | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
            | '\u{1f000}'..='\u{1faff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_is_handed_back_as_it_is() {
        let texts = [
            "",
            "plain words, 1 2 3 # *",
            "✅📋規劃 → ⬜🏗️架構",
            "登入功能：使用者　頁面",
            "🛡️ 🗄️ 👩‍💻 👨‍👩‍👧 🏳️‍🌈 👍🏽 1️⃣ ❤️ ⚠️ © ™️",
            "naïve e\u{301}",
            "العربية עברית",
        ];
        for text in texts {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text), "{text}");
            assert!(matches!(printable_lines(text), Cow::Borrowed(_)), "{text}");
            assert!(matches!(escaped_json(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn a_terminal_is_not_given_orders() {
        assert_eq!(printable("a\u{1b}[2Jb\u{7}"), "a[2Jb");
        assert_eq!(printable("\u{1b}]0;title\u{7}"), "]0;title");
        assert_eq!(printable("\u{9b}31mred\u{9d}0;x\u{9c}\u{7f}\0"), "31mred0;x");
        assert_eq!(printable("one\r\ntwo\tthree\u{b}\u{c}\u{85}\u{2028}\u{2029}."), "one  two three     .");
        assert_eq!(printable_lines("one\r\ntwo\rthree\u{2028}four\n"), "one\ntwothree four\n");
    }

    #[test]
    fn nothing_is_hidden_or_turned_around() {
        assert_eq!(printable("user\u{202e}txt.exe\u{202c}\u{2066}x\u{2069}\u{200f}\u{61c}"), "usertxt.exex");
        assert_eq!(printable("a\u{200b}b\u{200c}c\u{200d}d\u{feff}e\u{ad}f\u{2060}g\u{3164}"), "abcdefg");
        assert_eq!(printable("x\u{e0041}\u{e0042}\u{e01ef}\u{fe0f}\u{fe00}y"), "xy");
        // A selector beside anything but an emoji, a second one, and a joiner at the end carry hidden bits.
        assert_eq!(printable("1\u{fe0f}2 🏗\u{fe0f}\u{fe0f}\u{fe0e}\u{200d} 架\u{fe0f}"), "12 🏗\u{fe0f} 架");
        assert_eq!(printable("🏴\u{e0067}\u{e0062}\u{e007f}"), "🏴");
    }

    #[test]
    fn json_keeps_its_values() {
        assert_eq!(escaped_json("{\n  \"a\": \"x\u{202e}y\"\n}"), "{\n  \"a\": \"x\\u202ey\"\n}");
        assert_eq!(escaped_json("\"\u{7f}\u{9b}\u{e0041}🏗️\""), "\"\\u007f\\u009b\\udb40\\udc41🏗️\"");
    }

    #[test]
    fn cleaning_twice_changes_nothing_more() {
        for text in
            ["🏗\u{200b}\u{fe0f}", "1\u{200b}\u{fe0f}\u{20e3}", "👩\u{200d}\u{200b}💻", "a\u{1b}\u{200d}💻"]
        {
            let once = printable(text).into_owned();
            assert_eq!(printable(&once), once, "{text:?}");
        }
    }
}

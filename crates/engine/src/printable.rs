//! Text from files, the network or the model, made safe to show.
//!
//! A terminal obeys control characters, and bidirectional or invisible ones make a line look like another one. Whoever
//! shows text that is not ours uses one of these functions; [`crate::text`] exports them.

use std::borrow::Cow;
use std::fmt::Write;

/// The text as one line without anything that a terminal would obey or that a reader cannot see.
///
/// Line breaks and tabs become blanks. Other control characters, bidirectional marks and invisible characters are
/// removed; the joiners and selectors inside an emoji stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    cleaned(text, |_| Some(' '))
}

/// Like [`printable`] for a text of several lines: line feeds stay.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    // A carriage return would let a terminal write over the line that it has just shown.
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
    let is_escaped = |c: char, fate: Fate| fate != Fate::Keep && c != '\n';
    if !fates(json).any(|(c, fate)| is_escaped(c, fate)) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for (c, fate) in fates(json) {
        if is_escaped(c, fate) {
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

/// What becomes of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Keep,
    /// White space that moves the cursor.
    Blank,
    Remove,
}

/// `blank` says what stands for a character that moves the cursor.
fn cleaned(text: &str, blank: impl Fn(char) -> Option<char>) -> Cow<'_, str> {
    let kept = |(c, fate): (char, Fate)| match fate {
        Fate::Keep => Some(c),
        Fate::Blank => blank(c),
        Fate::Remove => None,
    };
    if fates(text).all(|(c, fate)| kept((c, fate)) == Some(c)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(fates(text).filter_map(kept).collect())
}

/// Every character with what becomes of it.
fn fates(text: &str) -> impl Iterator<Item = (char, Fate)> + '_ {
    let mut before = Before::default();
    text.char_indices().map(move |(at, c)| {
        let next = text[at + c.len_utf8()..].chars().next();
        let fate = fate(c, before, next);
        before = before.then(c, fate);
        (c, fate)
    })
}

/// What stands in front of a character, as far as it matters for emoji.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Before {
    #[default]
    Other,
    Emoji,
    /// A digit, `#` or `*`, which a selector and U+20E3 make a keycap.
    KeycapBase,
    /// An emoji with its selector.
    Selected,
}

impl Before {
    fn then(self, c: char, fate: Fate) -> Self {
        match c {
            SELECTOR_TEXT | SELECTOR_EMOJI if fate == Fate::Keep => Self::Selected,
            // What is removed leaves the place in front of the next character as it is.
            _ if fate == Fate::Remove => self,
            '0'..='9' | '#' | '*' => Self::KeycapBase,
            _ if is_emoji(c) => Self::Emoji,
            _ => Self::Other,
        }
    }
}

const JOINER: char = '\u{200d}';
const SELECTOR_TEXT: char = '\u{fe0e}';
const SELECTOR_EMOJI: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';

fn fate(c: char, before: Before, next: Option<char>) -> Fate {
    let in_emoji = match c {
        JOINER => matches!(before, Before::Emoji | Before::Selected) && next.is_some_and(is_emoji),
        SELECTOR_TEXT | SELECTOR_EMOJI => match before {
            Before::Emoji => true,
            Before::KeycapBase => next == Some(KEYCAP),
            Before::Selected | Before::Other => false,
        },
        _ => false,
    };
    if in_emoji || (!c.is_control() && !is_hidden(c)) {
        return Fate::Keep;
    }
    let moves_cursor = matches!(c, '\t'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
    if moves_cursor { Fate::Blank } else { Fate::Remove }
}

/// Characters without a shape of their own, which hide text or change the order in which it is shown: Unicode's
/// `Default_Ignorable_Code_Point`, bidirectional marks, separators, and marks that only format others.
const fn is_hidden(c: char) -> bool {
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

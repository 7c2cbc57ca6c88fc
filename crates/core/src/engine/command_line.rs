//! Shell commands that can be read without a shell: plain ASCII words and simple quotes.
//!
//! A shell can make something else of nearly every special character: globs, variables, braces, tildes, comments,
//! Unicode blanks in a word. [`plain_words`] therefore lists what is plain and reads nothing else, so that the words
//! it returns are the arguments that every shell would pass on.

/// The words of a command, or `None` if a shell might read it differently.
pub(crate) fn plain_words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = command.trim_matches(' ');
    while !rest.is_empty() {
        let (word, after) = match rest.as_bytes()[0] {
            quote @ (b'\'' | b'"') => quoted(&rest[1..], quote)?,
            _ => unquoted(rest)?,
        };
        words.push(word.to_owned());
        // A quote may also begin or end within a word, but our commands have no use for that.
        if !after.is_empty() && !after.starts_with(' ') {
            return None;
        }
        rest = after.trim_start_matches(' ');
    }
    Some(words)
}

/// A word up to the next blank, with what follows it.
fn unquoted(text: &str) -> Option<(&str, &str)> {
    let end = text.find(' ').unwrap_or(text.len());
    let word = &text[..end];
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./:,+@=".contains(&byte));
    // zsh replaces `=name` by the path of a program.
    if is_plain && !word.starts_with('=') { Some((word, &text[end..])) } else { None }
}

/// What is between two quotes, with what follows the second one.
fn quoted(text: &str, quote: u8) -> Option<(&str, &str)> {
    let end = text.find(char::from(quote))?;
    let word = &text[..end];
    // `!` recalls earlier commands in interactive shells; the others are special between double quotes.
    let is_plain = word.bytes().all(|byte| (b' '..=b'~').contains(&byte) && !b"$`\\!".contains(&byte));
    if is_plain { Some((word, &text[end + 1..])) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_commands_are_taken_apart() {
        for (command, words) in [
            ("overtone status", vec!["overtone", "status"]),
            ("  overtone   status  ", vec!["overtone", "status"]),
            ("overtone specs new 'add login'", vec!["overtone", "specs", "new", "add login"]),
            ("overtone init \"quick\" --feature=x", vec!["overtone", "init", "quick", "--feature=x"]),
            ("overtone ''", vec!["overtone", ""]),
            ("", vec![]),
        ] {
            assert_eq!(plain_words(command).unwrap(), words, "{command}");
        }
    }

    #[test]
    fn anything_that_a_shell_might_change_is_not_plain() {
        for command in [
            "overtone [c]cc",
            "overtone conf?g",
            "overtone *",
            "overtone ~/x",
            "overtone {a,b}",
            "overtone $HOME",
            "overtone \"$HOME\"",
            "overtone `x`",
            "overtone \\x",
            "overtone status # x",
            "overtone status; x",
            "overtone status & x",
            "overtone status | x",
            "overtone status > x",
            "overtone status\nx",
            "overtone status\tx",
            "overtone status\rx",
            "overtone !!",
            "overtone '!!'",
            "overtone =x",
            "overtone st'at'us",
            "overtone 'status'x",
            "overtone 'status",
            "overtone\u{a0}/evil.sh",
            "overtone\u{2003}status",
            "overtone \u{ff53}tatus",
            "overtone '狀態'",
            "overtone status\0",
        ] {
            assert_eq!(plain_words(command), None, "{command:?}");
        }
    }
}

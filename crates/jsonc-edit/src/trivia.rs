//! White space, comments and commas between values, and the check that runs before parsing.

use crate::{MAX_BYTES, MAX_DEPTH, SettingsErrorKind, lines};

/// An error in a text, and the byte offset at which it was found.
pub(crate) struct TextError {
    pub(crate) offset: usize,
    pub(crate) kind: SettingsErrorKind,
}

/// Rejects texts that are too large or too deep for a recursive parser, and strings with line breaks, which the parser
/// accepts although JSON does not allow them.
pub(crate) fn check(text: &str) -> Result<(), TextError> {
    if text.len() > MAX_BYTES {
        return Err(TextError { offset: 0, kind: SettingsErrorKind::TooLarge });
    }
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(TextError { offset: at, kind: SettingsErrorKind::TooDeep });
        }
        at = match byte {
            b'"' => string_end(text, at)?,
            b'/' => comment_end(text, at).unwrap_or(at + 1),
            _ => at + 1,
        };
    }
    Ok(())
}

/// The offset after the closing quote of the string that starts at `start`.
fn string_end(text: &str, start: usize) -> Result<usize, TextError> {
    let error = |offset, what: &str| TextError { offset, kind: SettingsErrorKind::Syntax(what.to_owned()) };
    let mut at = start + 1;
    loop {
        match text.as_bytes().get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at += 2,
            None | Some(b'\n' | b'\r') => return Err(error(start, "string without a closing quote")),
            Some(0..b' ') => return Err(error(at, "control character in a string")),
            Some(_) => at += 1,
        }
    }
}

/// The offset after the comment that starts at `at`, if there is one. A line comment ends before the line break.
fn comment_end(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    if rest.starts_with("//") {
        return Some(at + rest.find(['\n', '\r']).unwrap_or(rest.len()));
    }
    let inside = rest.strip_prefix("/*")?;
    match inside.find("*/") {
        Some(end) => Some(at + "/*".len() + end + "*/".len()),
        None => Some(text.len()),
    }
}

/// The offset of the first byte from `at` on that is neither white space nor in a comment.
fn skip_trivia(text: &str, mut at: usize) -> usize {
    loop {
        at = text.len() - text[at..].trim_start().len();
        match comment_end(text, at) {
            Some(end) => at = end,
            None => return at,
        }
    }
}

/// The offset of the comma after the value that ends at `end`, if there is one.
pub(crate) fn comma_after(text: &str, end: usize) -> Option<usize> {
    let at = skip_trivia(text, end);
    text[at..].starts_with(',').then_some(at)
}

/// The offset after the comments that start on the same line as `at`, which belong to the entry before them. If the line
/// ends there, its trailing blanks are skipped as well.
pub(crate) fn after_line_comments(text: &str, mut at: usize) -> usize {
    loop {
        let next = lines::after_blanks(text, at);
        match comment_end(text, next) {
            Some(end) => at = end,
            None if lines::break_len(text, next).is_some() => return next,
            None => return at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_and_comments_do_not_count() {
        let many = "[".repeat(MAX_DEPTH + 1);
        for text in
            [format!("\"{many}\""), format!("// {many}\n"), format!("/* {many} */"), many.replace('[', "[]")]
        {
            assert!(check(&text).is_ok());
        }
        assert!(matches!(
            check(&many),
            Err(TextError { offset: MAX_DEPTH, kind: SettingsErrorKind::TooDeep })
        ));
    }

    #[test]
    fn strings_end_on_their_line() {
        for text in ["{\"a", "{\"a\\", "{\"a\n\"}", "{\"a\\\"", "{\"a\u{1}\"}"] {
            assert!(
                matches!(check(text), Err(TextError { kind: SettingsErrorKind::Syntax(_), .. })),
                "{text:?}"
            );
        }
        assert!(check("{\"\\\\\": \"\\\"\"}").is_ok());
    }

    #[test]
    fn commas_are_found_behind_comments() {
        assert_eq!(comma_after("1 /* , */ // ,\n , 2", 1), Some(16));
        assert_eq!(comma_after("1 /* , */ }", 1), None);
        assert_eq!(after_line_comments("1, // x\n}", 2), 7);
        assert_eq!(after_line_comments("1, /* x */ }", 2), 10);
        assert_eq!(after_line_comments("1,  \n}", 2), 4);
        assert_eq!(after_line_comments("1,  }", 2), 2);
    }
}

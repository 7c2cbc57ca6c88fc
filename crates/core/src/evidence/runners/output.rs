//! The output as lines that can be compared, and small parsers for parts of them.

use std::borrow::Cow;

/// The text without the escape sequences of terminals.
pub(super) fn without_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut parts = text.split('\u{1b}');
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        plain.push_str(after_sequence(part));
    }
    Cow::Owned(plain)
}

/// What follows an escape sequence whose escape character has been removed.
fn after_sequence(part: &str) -> &str {
    let mut chars = part.char_indices();
    match chars.next() {
        // Colours and cursor movements end with a letter or one of a few signs.
        Some((_, '[')) => match chars.find(|(_, c)| ('\u{40}'..='\u{7e}').contains(c)) {
            Some((end, _)) => &part[end + 1..],
            None => "",
        },
        // Titles and links end with a bell, or with the next escape sequence.
        Some((_, ']')) => match part.find(['\u{7}', '\n']) {
            Some(end) if part[end..].starts_with('\u{7}') => &part[end + 1..],
            Some(end) => &part[end..],
            None => "",
        },
        Some((_, first)) => &part[first.len_utf8()..],
        None => "",
    }
}

/// What a reader sees of a line: without its carriage returns, and without the prefix of a tool that runs several programs.
pub(super) fn visible_line(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').next().unwrap_or(line);
    without_task_prefix(line)
}

/// The line without `web:test: ` (Turborepo), `packages/web test: ` (pnpm) or `web-1  | ` (Docker Compose).
fn without_task_prefix(line: &str) -> &str {
    let Some((first, rest)) = line.split_once(' ') else { return line };
    if !first.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '@') {
        return line;
    }
    if let Some(task) = first.strip_suffix(':')
        && task.contains(':')
    {
        return rest;
    }
    let is_folder = !first.starts_with(|c: char| c.is_ascii_uppercase());
    if is_folder
        && rest.starts_with("test")
        && let Some((task, rest)) = rest.split_once(": ")
        && !task.contains(' ')
    {
        return rest;
    }
    // Deno's summary begins in the same way as a line of a container.
    match rest.trim_start_matches(' ').strip_prefix("| ") {
        Some(rest) if !matches!(first, "ok" | "FAILED") => rest,
        _ => line,
    }
}

/// The number at the beginning of a text, and what follows it.
pub(super) fn leading_number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    Some((number, &text[end..]))
}

/// A piece such as `3 passed`.
pub(super) fn counted(piece: &str) -> Option<(u32, &str)> {
    let (number, rest) = leading_number(piece.trim())?;
    let word = rest.strip_prefix(' ')?.trim_start();
    if word.is_empty() { None } else { Some((number, word)) }
}

/// A piece such as `Failures: 1` or `failures=1`.
pub(super) fn labelled(piece: &str, separator: char) -> Option<(&str, u32)> {
    let (label, number) = piece.split_once(separator)?;
    match leading_number(number.trim())? {
        (number, "") => Some((label.trim(), number)),
        _ => None,
    }
}

/// Whether a text is a time such as `0.12s`, `5ms`, `1.2 s` or `2m`.
pub(super) fn is_duration(text: &str) -> bool {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    digits.len() < text.len() && matches!(digits.trim_start(), "ms" | "s" | "m" | "h")
}

/// The text between the parentheses at its end, with what precedes them.
pub(super) fn parenthesised(text: &str) -> Option<(&str, &str)> {
    let (before, inner) = text.strip_suffix(')')?.rsplit_once('(')?;
    Some((before.trim_end(), inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_removed() {
        for (text, plain) in [
            ("plain", "plain"),
            ("\u{1b}[32m✓\u{1b}[39m ok \u{1b}[1;31mred\u{1b}[0m", "✓ ok red"),
            ("\u{1b}]8;;file://x\u{7}link\u{1b}]8;;\u{7}", "link"),
            ("\u{1b}]0;title without end\nnext", "\nnext"),
            ("\u{1b}(Bx", "Bx"),
            ("cut \u{1b}[3", "cut "),
            ("\u{1b}", ""),
        ] {
            assert_eq!(without_escapes(text), plain, "{text:?}");
        }
    }

    #[test]
    fn carriage_returns_and_prefixes_are_removed() {
        for (line, visible) in [
            ("3 passed\r", "3 passed"),
            ("progress 10%\rprogress 20%\rTests: 1 total\r", "Tests: 1 total"),
            ("@acme/web:test:   3 passing (5ms)", "  3 passing (5ms)"),
            ("packages/web test: Tests:       3 passed, 3 total", "Tests:       3 passed, 3 total"),
            ("web-1  | Ran 3 tests in 0.001s", "Ran 3 tests in 0.001s"),
            ("ok | 3 passed | 0 failed (5ms)", "ok | 3 passed | 0 failed (5ms)"),
            ("test result: ok. 1 passed", "test result: ok. 1 passed"),
            ("Tests:       3 passed, 3 total", "Tests:       3 passed, 3 total"),
            ("Test Suites: 1 passed, 1 total", "Test Suites: 1 passed, 1 total"),
        ] {
            assert_eq!(visible_line(line), visible, "{line:?}");
        }
    }

    #[test]
    fn pieces_are_read_as_whole_numbers() {
        assert_eq!(counted("10 failed"), Some((10, "failed")));
        assert_eq!(counted("failed"), None);
        assert_eq!(counted("10"), None);
        assert_eq!(counted("10failed"), None);
        assert_eq!(labelled("Failures: 10", ':'), Some(("Failures", 10)));
        assert_eq!(labelled("Failures: 1x", ':'), None);
        assert_eq!(leading_number("99999999999 passed"), None);
        assert!(is_duration("0.12s") && is_duration("5ms") && is_duration("1.2 s"));
        assert!(!is_duration("s") && !is_duration("12") && !is_duration("soon"));
    }
}

//! Finds out whether a report says where in the code a fault is.

/// Endings of host names, which have a port behind the colon instead of a line.
const DOMAINS: [&str; 6] = ["com", "org", "net", "io", "dev", "local"];

/// The longest ending of a file name.
const MAX_EXTENSION: usize = 10;

/// Whether a text names a file with a line: `src/login.rs:42`, or `File "login.py", line 42` as Python writes it.
pub(crate) fn names_file_and_line(text: &str) -> bool {
    text.match_indices(':').any(|(at, _)| is_place(&text[..at], &text[at + 1..]))
        || text.match_indices("\", line ").any(|(at, words)| is_place(&text[..at], &text[at + words.len()..]))
}

/// Whether a line number follows the name of a file.
fn is_place(before: &str, after: &str) -> bool {
    if !after.starts_with(|c: char| c.is_ascii_digit() && c != '0') {
        return false;
    }
    let is_outside = |c: char| c.is_whitespace() || "\"'`()[]{}<>,;|".contains(c);
    let name = before.rsplit(is_outside).next().unwrap_or_default();
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let is_extension = (1..=MAX_EXTENSION).contains(&extension.len())
        && extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    !stem.is_empty() && is_extension && !name.contains("://") && !DOMAINS.contains(&extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_file_with_a_line() {
        for text in [
            "wrong at src/login.rs:42",
            "`src/login.rs:42:7` panics",
            "(see app/models/user.rb:3)",
            "預期 3，實際 4：tests/login.test.ts:10",
            "  File \"/app/login.py\", line 12, in check",
            "src\\App.cs:7",
        ] {
            assert!(names_file_and_line(text), "{text}");
        }
    }

    #[test]
    fn times_addresses_and_versions_are_no_places() {
        for text in [
            "2 failed: the lock sticks",
            "at 12:30 it failed",
            "http://example.test:8080 refused",
            "https://x.example.com/a.js:443",
            "example.com:443",
            "localhost:3000",
            "127.0.0.1:80",
            "version 1.2:3",
            "src/login.rs: 42 lines",
            "src/login.rs:",
            "line 42",
            "",
        ] {
            assert!(!names_file_and_line(text), "{text}");
        }
    }
}

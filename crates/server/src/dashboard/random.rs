//! Random secrets, and their comparison in constant time.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};

/// Returns random bytes as hexadecimal digits.
pub(crate) fn hex(bytes: usize) -> io::Result<String> {
    let mut random = vec![0; bytes];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    let mut text = String::with_capacity(2 * bytes);
    for byte in random {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Takes the same time wherever the first difference is, so that secrets cannot be guessed byte by byte.
pub(crate) fn constant_time_eq(given: &str, secret: &str) -> bool {
    let pairs = given.bytes().zip(secret.bytes());
    given.len() == secret.len() && pairs.fold(0, |found, (a, b)| found | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_equal_secrets_match() {
        assert!(constant_time_eq("abc", "abc"));
        for other in ["abd", "ab", "abcd", ""] {
            assert!(!constant_time_eq(other, "abc"));
        }
    }

    #[test]
    fn secrets_differ() {
        let (one, two) = (hex(24).unwrap(), hex(24).unwrap());
        assert!(one.len() == 48 && one != two, "{one} {two}");
    }
}

//! Secrets: made from the system's randomness, compared without telling how much of them is right.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};

/// So many random bytes, as hexadecimal digits.
pub(crate) fn hex(bytes: usize) -> io::Result<String> {
    let mut random = vec![0; bytes];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    let mut text = String::with_capacity(2 * bytes);
    for byte in random {
        // Writing into a text cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Takes the same time wherever the first difference is.
pub(crate) fn is_same(given: &str, secret: &str) -> bool {
    let pairs = given.bytes().zip(secret.bytes());
    given.len() == secret.len() && pairs.fold(0, |found, (a, b)| found | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_compared_whole() {
        assert!(is_same("abc", "abc"));
        for other in ["abd", "ab", "abcd", ""] {
            assert!(!is_same(other, "abc"));
        }
    }

    #[test]
    fn secrets_differ() {
        let (one, two) = (hex(24).unwrap(), hex(24).unwrap());
        assert!(one.len() == 48 && one != two, "{one} {two}");
    }
}

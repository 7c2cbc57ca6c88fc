//! Lowercase hexadecimal encoding.

use std::fmt::Write as _;

pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// `None` for anything that [`encode`] never returns.
pub(crate) fn decode(digits: &str) -> Option<Vec<u8>> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(is_digit) {
        return None;
    }
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_bytes_are_decoded() {
        assert_eq!(encode(&[0, 255, 16]), "00ff10");
        assert_eq!(decode("00ff10"), Some(vec![0, 255, 16]));
        for wrong in ["0", "0g", "FF", "+1", "é"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}

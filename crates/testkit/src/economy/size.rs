//! How long a text is, and how many tokens that is about.

use std::iter::Sum;
use std::ops::AddAssign;

/// The length of a text. Tokens are estimated from it, since the tokeniser is not public.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// Its length in UTF-8.
    pub(super) bytes: u64,
    ascii: u64,
    /// Its characters outside of ASCII.
    others: u64,
}

/// So many characters of ASCII are one token. Prose has more characters to a token, JSON and code fewer.
const ASCII_PER_TOKEN: u64 = 4;

impl Size {
    pub(super) fn of(text: &str) -> Self {
        let ascii = text.bytes().filter(u8::is_ascii).count();
        let others = text.chars().filter(|c| !c.is_ascii()).count();
        Self { bytes: to_u64(text.len()), ascii: to_u64(ascii), others: to_u64(others) }
    }

    /// Every character outside of ASCII counts as one token, which is about right for Chinese.
    pub(super) fn tokens(self) -> u64 {
        self.ascii.div_ceil(ASCII_PER_TOKEN) + self.others
    }
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.ascii += other.ascii;
        self.others += other.others;
    }
}

impl Sum for Size {
    fn sum<I: Iterator<Item = Self>>(sizes: I) -> Self {
        sizes.fold(Self::default(), |mut sum, size| {
            sum += size;
            sum
        })
    }
}

fn to_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chinese_character_is_a_token_and_english_is_shorter() {
        assert_eq!(Size::of("abcdefgh").tokens(), 2);
        let chinese = Size::of("工作流 x");
        assert_eq!((chinese.bytes, chinese.tokens()), (11, 4));
        let both: Size = [Size::of("abcd"), Size::of("工")].into_iter().sum();
        assert_eq!(both, Size::of("abcd工"));
    }
}

//! The output of a check, bounded: its beginning and its end are kept.

use std::collections::VecDeque;

use overtone_core::engine::text::printable_lines;

const HEAD_BYTES: usize = 64 * 1024;
const TAIL_BYTES: usize = 192 * 1024;

/// How much of the output is shown to the agent that has to repair what failed.
const LAST_LINES: usize = 30;
const LAST_LINES_BYTES: usize = 4000;

/// What a program printed, without the middle if it printed too much.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Output {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = HEAD_BYTES - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..excess);
        self.left_out += excess as u64;
    }

    /// The output, with a line about what was left out.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.head.clone();
        if self.left_out > 0 {
            bytes.extend_from_slice(format!("\n[… {} bytes left out …]\n", self.left_out).as_bytes());
        }
        bytes.extend(self.tail.iter());
        bytes
    }

    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.to_bytes()).into_owned()
    }
}

/// The end of an output, without control characters.
pub(crate) fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let from = lines.len().saturating_sub(LAST_LINES);
    let mut last = printable_lines(&lines[from..].join("\n")).into_owned();
    if last.len() > LAST_LINES_BYTES {
        let mut cut = last.len() - LAST_LINES_BYTES;
        while !last.is_char_boundary(cut) {
            cut += 1;
        }
        last.drain(..cut);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_output_keeps_its_beginning_and_its_end() {
        let mut output = Output::default();
        output.push(b"first\n");
        for _ in 0..1000 {
            output.push(&[b'x'; 1024]);
        }
        output.push(b"\nlast");
        let lines: Vec<_> = (0..100).map(|n| format!("line {n}\n")).collect();
        let text = lines.join("\n") + "\u{1b}[31mred\u{1b}[0m\r\n";
        let last = last_lines(&text);
        assert!(last.starts_with("line 71") && !last.contains('\u{1b}'), "{last:?}");
        let long = "測".repeat(10_000);
        assert!(last_lines(&long).len() <= LAST_LINES_BYTES && last_lines(&long).ends_with('測'));
        assert_eq!(last_lines(""), "");
    }
}

//! What a pseudo-terminal shows: its screen now, and every line that was ever on it.

use std::collections::HashSet;
use std::io::Read;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Wide enough that the client breaks none of the lines that tests look for.
pub(crate) const COLUMNS: u16 = 200;
pub(crate) const ROWS: u16 = 50;

/// A screen that follows the output of a program. Clones show the same.
#[derive(Debug, Clone)]
pub(crate) struct Screen(Arc<Mutex<ScreenState>>);

struct ScreenState {
    parser: vt100::Parser,
    /// Every line that was ever shown, in the order of first appearance.
    history: Vec<String>,
    known: HashSet<String>,
}

impl Screen {
    /// Follows `output` in a thread of its own until it ends.
    pub(crate) fn follow(mut output: impl Read + Send + 'static) -> Self {
        let screen = Self::default();
        let follower = screen.clone();
        thread::spawn(move || {
            let mut bytes = [0; 8192];
            // A terminal that its last program has left answers with an error, not with an empty read.
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                follower.lock().process(&bytes[..count]);
            }
        });
        screen
    }

    /// The text on the screen, without the blank space at the end of its lines.
    pub(crate) fn text(&self) -> String {
        self.lock().lines().join("\n")
    }

    /// The line that is being typed: what is between the last two rulers, or nothing while there are not two.
    pub(crate) fn input(&self) -> Option<String> {
        let lines = self.lock().lines();
        let (start, end) = input_rulers(&lines)?;
        let input = lines[start + 1..end].join("\n");
        Some(input.strip_prefix('❯')?.trim().to_owned())
    }

    /// What is above the line that is being typed.
    pub(crate) fn conversation(&self) -> String {
        let lines = self.lock().lines();
        match input_rulers(&lines) {
            Some((start, _)) => lines[..start].join("\n"),
            None => String::new(),
        }
    }

    /// Every line that was ever shown, each once.
    pub(crate) fn history(&self) -> String {
        self.lock().history.join("\n")
    }

    fn lock(&self) -> MutexGuard<'_, ScreenState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Screen {
    fn default() -> Self {
        let parser = vt100::Parser::new(ROWS, COLUMNS, 0);
        Self(Arc::new(Mutex::new(ScreenState { parser, history: Vec::new(), known: HashSet::new() })))
    }
}

impl ScreenState {
    fn process(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
        for line in self.lines() {
            if !line.is_empty() && self.known.insert(line.clone()) {
                self.history.push(line);
            }
        }
    }

    fn lines(&self) -> Vec<String> {
        self.parser.screen().rows(0, COLUMNS).map(|line| line.trim_end().to_owned()).collect()
    }
}

impl std::fmt::Debug for ScreenState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.lines()).finish()
    }
}

/// The positions of the last two rulers.
fn input_rulers(lines: &[String]) -> Option<(usize, usize)> {
    let mut rulers = (0..lines.len()).rev().filter(|&at| is_ruler(&lines[at]));
    let (end, start) = (rulers.next()?, rulers.next()?);
    Some((start, end))
}

/// A line that reaches from one side of the screen to the other. A label may interrupt it.
fn is_ruler(line: &str) -> bool {
    line.starts_with("──────────") && line.chars().count() == usize::from(COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn showing(text: &str) -> Screen {
        let screen = Screen::default();
        screen.lock().process(text.as_bytes());
        screen
    }

    #[test]
    fn the_input_is_what_stands_between_the_last_rulers() {
        let ruler = "─".repeat(COLUMNS.into());
        assert_eq!(showing("❯ no rulers yet").input(), None);
        let screen = showing(&format!("❯ said before\r\n{ruler}\r\n❯ being typed\r\n{ruler}\r\n  a hint"));
        assert_eq!(screen.input().as_deref(), Some("being typed"));
        assert_eq!(screen.conversation(), "❯ said before");
        assert!(screen.text().contains("said before"));
    }

    #[test]
    fn lines_that_were_wiped_are_remembered() {
        let screen = showing("first\r\n");
        screen.lock().process(b"\x1b[2J\x1b[Hsecond");
        assert_eq!((screen.text().trim(), screen.history().as_str()), ("second", "first\nsecond"));
    }

    #[test]
    fn output_is_followed_to_its_end() {
        let screen = Screen::follow(&b"hello"[..]);
        while !screen.text().contains("hello") {
            thread::yield_now();
        }
    }
}

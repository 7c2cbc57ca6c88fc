//! Writing to stdout, so that a closed pipe is an answer and not a panic.

use std::io::{self, Write};

use serde_json::Value;

use super::error::{Done, Failure};
use super::style::Palette;

/// Prints whole lines.
pub(crate) fn print(text: &str) -> Done {
    let mut stdout = io::stdout().lock();
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.write_all(end.as_bytes()));
    written.and_then(|()| stdout.flush()).map_err(Failure::Output)
}

/// Prints one object for programs.
pub(crate) fn json(value: &Value) -> Done {
    print(&format!("{value:#}"))
}

/// Prints a text with colours in it, without them where they would not be seen as such.
pub(crate) fn styled(text: &str) -> Done {
    if Palette::for_stdout().is_on() { print(text) } else { print(&plain(text)) }
}

/// Drops escape sequences of the form `ESC [ … letter`.
fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| c.is_ascii_alphabetic()).map_or(part.len(), |at| at + 1);
        plain.push_str(&part[end..]);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_dropped() {
        assert_eq!(plain("\u{1b}[1m\u{1b}[4mUsage:\u{1b}[0m 用法 x"), "Usage: 用法 x");
        assert_eq!(plain("no colours"), "no colours");
    }
}

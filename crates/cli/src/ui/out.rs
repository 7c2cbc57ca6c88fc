//! The only way to stdout and stderr, so that a closed pipe does not cause a panic and foreign text cannot control the
//! terminal. `cargo xtask layers` checks that no other file of this crate writes there.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use overtone_core::engine::text::{escaped_json, printable};
use overtone_hook::ansi::{Palette, Printable};
use serde::{Serialize, Serializer};

use super::error::{CommandError, CommandResult};

/// Goes to the first column and empties the line.
const CLEAR_LINE: &str = "\r\u{1b}[2K";

/// Prints a text and ends its last line.
pub(crate) fn print(text: &(impl Printable + ?Sized)) -> CommandResult {
    write_lines(&text.terminal_text())
}

/// Prints one JSON value. Characters that are not printable are escaped, so that the values stay the same.
pub(crate) fn json(value: &impl Serialize) -> CommandResult {
    // A path that is not UTF-8 cannot be written as JSON.
    let text = serde_json::to_string_pretty(value).map_err(|error| CommandError::new(error.to_string()))?;
    json_text(&text)
}

/// Pairs that become one JSON object, in this order.
pub(crate) struct JsonObject<K, V>(Vec<(K, V)>);

impl<K, V> FromIterator<(K, V)> for JsonObject<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl<K: Serialize, V: Serialize> Serialize for JsonObject<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Prints a part of a JSON document, or one in another layout, as [`json`] does.
pub(crate) fn json_text(json: &str) -> CommandResult {
    write_lines(&escaped_json(json))
}

/// Prints one JSON value on one line, as [`json`] does.
pub(crate) fn json_line(value: &impl Serialize) -> CommandResult {
    json_text(&compact_json(value)?)
}

pub(crate) fn compact_json(value: &impl Serialize) -> CommandResult<String> {
    serde_json::to_string(value).map_err(|error| CommandError::new(error.to_string()))
}

/// Prints a text that has no foreign parts, such as scripts and help, as it is.
pub(crate) fn print_raw(text: &str) -> CommandResult {
    write_lines(text)
}

/// Prints a help text with colours, or without them if stdout does not show colours.
pub(crate) fn help(text: &str) -> CommandResult {
    if Palette::for_stdout().is_on() { print_raw(text) } else { print_raw(&plain(text)) }
}

fn write_lines(text: &str) -> CommandResult {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    to_stdout(&[text, end]).map_err(|error| CommandError::output(&error))
}

fn to_stdout(parts: &[&str]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    parts.iter().try_for_each(|part| stdout.write_all(part.as_bytes()))?;
    stdout.flush()
}

/// Writes to stderr. There is nowhere to report that stderr is closed.
pub(super) fn write_stderr(text: &(impl Printable + ?Sized)) {
    let _ = io::stderr().write_all(text.terminal_text().as_bytes());
}

/// Prints many lines of JSON, buffered.
pub(crate) struct JsonLines {
    stdout: BufWriter<StdoutLock<'static>>,
}

impl JsonLines {
    pub(crate) fn new() -> Self {
        Self { stdout: BufWriter::new(io::stdout().lock()) }
    }

    pub(crate) fn write(&mut self, line: &str) -> CommandResult {
        self.stdout.write_all(escaped_json(line).as_bytes()).map_err(|error| CommandError::output(&error))
    }

    pub(crate) fn finish(mut self) -> CommandResult {
        self.stdout.flush().map_err(|error| CommandError::output(&error))
    }
}

/// Replaces the last line of the terminal by `lines`, with `last` below them.
pub(crate) fn redraw(lines: &impl Printable, last: &impl Printable) -> CommandResult {
    to_stdout(&[CLEAR_LINE, &lines.terminal_text(), &last.terminal_text()])
        .map_err(|error| CommandError::output(&error))
}

/// A progress line on stderr, redrawn in place. Prints nothing if stderr is no terminal.
pub(crate) struct Progress {
    is_visible: bool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self { is_visible: io::stderr().is_terminal() && !Palette::is_dumb() }
    }

    /// An empty text clears the line.
    pub(crate) fn show(&self, text: &str) {
        if self.is_visible {
            // There is nowhere to report that stderr is closed. The line is overwritten and then cleared behind the text,
            // which flickers less.
            let _ = io::stderr().write_all(format!("\r{}\u{1b}[K", printable(text)).as_bytes());
        }
    }
}

/// Removes escape sequences of the form `ESC [ … letter`.
fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if let Some(letter) = part.find(|c: char| c.is_ascii_alphabetic()) {
            plain.push_str(&part[letter + 1..]);
        }
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

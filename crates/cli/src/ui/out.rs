//! The only way to stdout and stderr, so that a closed pipe is an answer and not a panic, and so that nothing foreign
//! controls a terminal. `cargo xtask layers` checks that no other file of this crate writes there.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use overtone_engine::text::{escaped_json, printable};
use serde_json::Value;

use super::error::{Done, Failure};
use super::style::Palette;
use super::text::Printable;

/// Goes to the first column and empties the line.
const CLEAR_LINE: &str = "\r\u{1b}[2K";

/// Prints whole lines.
pub(crate) fn print(text: &(impl Printable + ?Sized)) -> Done {
    whole_lines(&text.written())
}

/// Prints one object for programs. What is not printable in it is escaped, so that the values stay the same.
pub(crate) fn json(value: &Value) -> Done {
    json_text(&format!("{value:#}"))
}

/// Prints a part of a JSON document, or one in another layout, as [`json`] does.
pub(crate) fn json_text(json: &str) -> Done {
    whole_lines(&escaped_json(json))
}

/// Prints what this program alone has made and nobody else could have put anything into: scripts and help.
pub(crate) fn own(text: &str) -> Done {
    whole_lines(text)
}

/// Prints a help text with colours in it, without them where they would not be seen as such.
pub(crate) fn help(text: &str) -> Done {
    if Palette::for_stdout().is_on() { own(text) } else { own(&plain(text)) }
}

fn whole_lines(text: &str) -> Done {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    to_stdout(&[text, end]).map_err(Failure::Output)
}

fn to_stdout(parts: &[&str]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    parts.iter().try_for_each(|part| stdout.write_all(part.as_bytes()))?;
    stdout.flush()
}

/// Writes to stderr. There is nowhere to report that stderr is closed.
pub(super) fn complain(text: &(impl Printable + ?Sized)) {
    let _ = io::stderr().write_all(text.written().as_bytes());
}

/// Prints lines of JSON, many of them, each with the end that it has.
pub(crate) struct JsonLines {
    stdout: BufWriter<StdoutLock<'static>>,
}

impl JsonLines {
    pub(crate) fn new() -> Self {
        Self { stdout: BufWriter::new(io::stdout().lock()) }
    }

    pub(crate) fn write(&mut self, line: &str) -> Done {
        self.stdout.write_all(escaped_json(line).as_bytes()).map_err(Failure::Output)
    }

    pub(crate) fn finish(mut self) -> Done {
        self.stdout.flush().map_err(Failure::Output)
    }
}

/// Replaces the last line of the terminal on stdout by lines and by what stays below them.
pub(crate) fn redraw(lines: &impl Printable, last: &impl Printable) -> Done {
    to_stdout(&[CLEAR_LINE, &lines.written(), &last.written()]).map_err(Failure::Output)
}

/// A line on stderr that is written anew, for a person; nothing for a program.
pub(crate) struct Progress {
    is_seen: bool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self { is_seen: io::stderr().is_terminal() && !Palette::is_dumb() }
    }

    /// An empty text clears the line.
    pub(crate) fn show(&self, text: &str) {
        if self.is_seen {
            // There is nowhere to report that stderr is closed.
            // Written over the last text, and then cleared behind it: that flickers less.
            let _ = io::stderr().write_all(format!("\r{}\u{1b}[K", printable(text)).as_bytes());
        }
    }
}

/// The answer to the client that reads a status line: nobody could be told that it does not listen.
pub(crate) fn answer(text: &(impl Printable + ?Sized)) {
    let _ = to_stdout(&[&text.written(), "\n"]);
}

/// The same for lines of JSON.
pub(crate) fn answer_json(lines: &str) {
    let _ = to_stdout(&[&escaped_json(lines), "\n"]);
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

//! Whether a user or a program is at the other end, and questions to the user.

use std::io::{self, BufRead, IsTerminal, Read as _};

use overtone_hook::ansi::Printable;
use terminal_size::{Height, Width, terminal_size_of};

use super::out::write_stderr;

/// The limit for a pasted line.
const MAX_LINE_BYTES: u64 = 64 * 1024;

/// Whether a user can type something.
#[allow(clippy::disallowed_methods, reason = "nothing is read, only the kind of stdin is checked")]
pub(crate) fn stdin_is_terminal() -> bool {
    io::stdin().is_terminal()
}

/// Whether a user reads stderr.
pub(crate) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// How many columns stdout has; `None` when it is no terminal.
pub(crate) fn columns() -> Option<usize> {
    size().map(|(columns, _)| usize::from(columns))
}

/// Columns and lines of stdout; `None` when it is no terminal.
pub(crate) fn size() -> Option<(u16, u16)> {
    terminal_size_of(io::stdout()).map(|(Width(columns), Height(lines))| (columns, lines))
}

/// Whether the user can be asked.
pub(crate) fn can_ask() -> bool {
    stdin_is_terminal() && stderr_is_terminal()
}

/// Asks the user; anything but a clear yes is a no.
#[allow(clippy::disallowed_methods, reason = "a user at a terminal ends the answer with a line break")]
pub(crate) fn confirm(question: &(impl Printable + ?Sized)) -> bool {
    let mut answer = String::new();
    write_stderr(question);
    write_stderr(" [y/N] ");
    let read = io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes" | "Yes" | "是")
}

/// Reads one line from stdin. At a terminal the question is printed first.
#[allow(clippy::disallowed_methods, reason = "the line ends with a line break or with the input")]
pub(crate) fn read_line(question: &str) -> io::Result<String> {
    if can_ask() {
        write_stderr(question);
        write_stderr("\n");
    }
    let mut line = String::new();
    io::stdin().lock().take(MAX_LINE_BYTES).read_line(&mut line)?;
    Ok(line)
}

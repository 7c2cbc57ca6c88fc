//! Who is at the other end: a person or a program.

use std::io::{self, BufRead, IsTerminal};

use terminal_size::{Height, Width, terminal_size_of};

use super::out::complain;
use super::text::Printable;

/// Whether a person could type something.
#[allow(clippy::disallowed_methods, reason = "nothing is read: only what it is connected to is asked")]
pub(crate) fn stdin_is_terminal() -> bool {
    io::stdin().is_terminal()
}

/// How many columns stdout has; `None` when it is no terminal.
pub(crate) fn columns() -> Option<usize> {
    size().map(|(columns, _)| usize::from(columns))
}

/// Columns and lines of stdout; `None` when it is no terminal.
pub(crate) fn size() -> Option<(u16, u16)> {
    terminal_size_of(io::stdout()).map(|(Width(columns), Height(lines))| (columns, lines))
}

/// Whether a person can be asked.
pub(crate) fn can_ask() -> bool {
    stdin_is_terminal() && io::stderr().is_terminal()
}

/// Asks a person; anything but a clear yes is a no.
#[allow(clippy::disallowed_methods, reason = "a person at a terminal ends the answer with a line break")]
pub(crate) fn confirm(question: &(impl Printable + ?Sized)) -> bool {
    let mut answer = String::new();
    complain(question);
    complain(" [y/N] ");
    let read = io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes" | "Yes" | "是")
}

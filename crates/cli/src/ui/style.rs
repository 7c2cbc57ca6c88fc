//! Colours, where they can be seen and are wanted.

use std::env;
use std::io::{self, IsTerminal};

use anstyle::{AnsiColor, Style};

use super::text::Text;

/// Whether to colour, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Palette {
    on: bool,
}

impl Palette {
    /// For what is printed on stdout: only for a terminal, and never against `NO_COLOR`.
    pub(crate) fn for_stdout() -> Self {
        Self { on: io::stdout().is_terminal() && !Self::is_dumb() && !Self::is_refused() }
    }

    /// Whether the terminal only knows plain lines.
    pub(crate) fn is_dumb() -> bool {
        env::var_os("TERM").is_some_and(|term| term == "dumb")
    }

    /// For the status line, which the client shows in colour although it reads it from a pipe.
    pub(crate) fn for_client() -> Self {
        Self { on: !Self::is_refused() }
    }

    #[cfg(test)]
    pub(crate) const fn plain() -> Self {
        Self { on: false }
    }

    /// Whether the person wants no colours anywhere.
    pub(crate) fn is_refused() -> bool {
        env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
    }

    pub(crate) const fn is_on(self) -> bool {
        self.on
    }

    /// The text in the colour of its tone.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> Text {
        Text::styled(if self.on { tone.style() } else { Style::new() }, text)
    }
}

/// What a text means; the colour follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Faint,
    Strong,
    Good,
    Warning,
    Bad,
}

impl Tone {
    const fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Faint => Style::new().dimmed(),
            Self::Strong => Style::new().bold(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Warning => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
        }
    }
}

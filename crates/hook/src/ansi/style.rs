//! Colours, if the terminal shows them and the user has not disabled them.

use std::env;
use std::ffi::OsStr;
use std::io::{self, IsTerminal};

use anstyle::{AnsiColor, Style};

use super::text::Text;

/// Whether text is coloured.
#[derive(Debug, Clone, Copy)]
pub struct Palette {
    on: bool,
}

impl Palette {
    /// For stdout: coloured if it is a terminal and `NO_COLOR` is not set.
    pub fn for_stdout() -> Self {
        Self { on: io::stdout().is_terminal() && !Self::is_dumb() && !Self::is_disabled() }
    }

    /// Whether the terminal supports only plain lines.
    pub fn is_dumb() -> bool {
        env::var_os("TERM").as_deref() == Some(OsStr::new("dumb"))
    }

    /// For the status line. The client reads it from a pipe, but shows it in colour.
    pub fn for_client() -> Self {
        Self { on: !Self::is_disabled() }
    }

    /// No colours.
    pub const fn plain() -> Self {
        Self { on: false }
    }

    /// Whether the user has disabled colours with `NO_COLOR`.
    pub fn is_disabled() -> bool {
        !env::var_os("NO_COLOR").unwrap_or_default().is_empty()
    }

    pub const fn is_on(self) -> bool {
        self.on
    }

    /// Colours the text according to its tone.
    pub fn paint(self, tone: Tone, text: &str) -> Text {
        Text::styled(if self.on { tone.style() } else { Style::new() }, text)
    }
}

/// The meaning of a text, which determines its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
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

//! The meaning of a text, which determines its style. Without colours, the marks distinguish the states.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Faint,
    Strong,
    Good,
    Busy,
    Warning,
    Bad,
}

impl Tone {
    pub(super) fn style(self, colours: bool) -> Style {
        let (colour, modifier) = match self {
            Self::Plain => (None, Modifier::empty()),
            Self::Faint => (None, Modifier::DIM),
            Self::Strong => (None, Modifier::BOLD),
            Self::Good => (Some(Color::Green), Modifier::empty()),
            Self::Busy => (Some(Color::Cyan), Modifier::BOLD),
            Self::Warning => (Some(Color::Yellow), Modifier::empty()),
            Self::Bad => (Some(Color::Red), Modifier::BOLD),
        };
        let style = Style::new().add_modifier(modifier);
        match colour {
            Some(colour) if colours => style.fg(colour),
            _ => style,
        }
    }

    pub(super) fn paint(self, text: impl Into<String>, colours: bool) -> Span<'static> {
        Span::styled(text.into(), self.style(colours))
    }
}

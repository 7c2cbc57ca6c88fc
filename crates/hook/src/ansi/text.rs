//! Text that is safe to write to a terminal.
//!
//! Most of what a command prints was read from files or from the network. So every plain string loses its control
//! characters when it is printed. Only [`Palette::paint`](super::style::Palette::paint) adds colours to a [`Text`], around
//! content that was sanitized before.

use std::borrow::Cow;
use std::fmt;
use std::ops::Add;

use anstyle::Style;
use overtone_core::engine::text::printable_lines;

/// Sanitized content with colours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    spans: Vec<(Style, String)>,
}

impl Text {
    pub(super) fn styled(style: Style, content: &str) -> Self {
        Self { spans: vec![(style, printable_lines(content).into_owned())] }
    }

    pub fn push(&mut self, other: impl Into<Self>) {
        self.spans.extend(other.into().spans);
    }

    /// Concatenates the parts, with `separator` in between.
    pub fn join(parts: impl IntoIterator<Item = Self>, separator: &str) -> Self {
        let mut joined = Self::default();
        for part in parts {
            if !joined.spans.is_empty() {
                joined.push(separator);
            }
            joined.push(part);
        }
        joined
    }
}

impl From<&str> for Text {
    fn from(content: &str) -> Self {
        Self::styled(Style::new(), content)
    }
}

impl From<&String> for Text {
    fn from(content: &String) -> Self {
        content.as_str().into()
    }
}

impl From<String> for Text {
    fn from(content: String) -> Self {
        content.as_str().into()
    }
}

impl Add<&str> for Text {
    type Output = Self;

    fn add(mut self, content: &str) -> Self {
        self.push(content);
        self
    }
}

/// Formats the content without colours.
impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spans.iter().try_for_each(|(_, content)| f.write_str(content))
    }
}

/// What can be written to a terminal.
pub trait Printable {
    /// The text to write. It contains no control sequences but the colours of a [`Text`].
    fn terminal_text(&self) -> Cow<'_, str>;
}

impl Printable for str {
    fn terminal_text(&self) -> Cow<'_, str> {
        printable_lines(self)
    }
}

impl Printable for String {
    fn terminal_text(&self) -> Cow<'_, str> {
        printable_lines(self)
    }
}

impl Printable for Text {
    fn terminal_text(&self) -> Cow<'_, str> {
        let mut output = String::new();
        for (style, content) in &self.spans {
            if *style == Style::new() {
                output.push_str(content);
            } else {
                output.extend([style.to_string(), content.clone(), format!("{style:#}")]);
            }
        }
        output.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anstyle::AnsiColor;

    #[test]
    fn only_the_colours_of_a_text_reach_the_terminal() {
        let red: Style = AnsiColor::Red.on_default();
        let text = Text::styled(red, "a\u{1b}[2Jb\u{202e}") + "\u{1b}[31mplain\n";
        assert_eq!(text.terminal_text(), format!("{red}a[2Jb{red:#}[31mplain\n"));
        assert_eq!("x\u{1b}]0;t\u{7}\r\ny".terminal_text(), "x]0;t\ny");
    }

    #[test]
    fn a_formatted_text_has_no_colours() {
        let painted = Text::styled(AnsiColor::Green.on_default(), "good");
        assert_eq!(format!("[{painted}]"), "[good]");
        let parts = [painted, Text::default(), "b".into()];
        assert_eq!(Text::join(parts, ", ").to_string(), "good, , b");
    }
}

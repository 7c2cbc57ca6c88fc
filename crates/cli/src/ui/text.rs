//! Text that may be written to a terminal.
//!
//! Most of what a command prints was read from files or came over the network. A plain string therefore loses its
//! control characters when it is printed, whoever made it; only [`Palette::paint`](super::style::Palette::paint) puts
//! colours into a [`Text`], around content that was cleaned before.

use std::borrow::Cow;
use std::fmt;
use std::ops::Add;

use anstyle::Style;
use overtone_engine::text::printable_lines;

/// Cleaned content with colours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text {
    spans: Vec<(Style, String)>,
}

impl Text {
    pub(super) fn styled(style: Style, content: &str) -> Self {
        Self { spans: vec![(style, printable_lines(content).into_owned())] }
    }

    pub(crate) fn push(&mut self, other: impl Into<Self>) {
        self.spans.extend(other.into().spans);
    }

    /// One after the other, with `separator` in between.
    pub(crate) fn join(parts: impl IntoIterator<Item = Self>, separator: &str) -> Self {
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

/// Without colours: what is put into a string is plain.
impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spans.iter().try_for_each(|(_, content)| f.write_str(content))
    }
}

/// What a terminal may be given.
pub(crate) trait Printable {
    /// The characters to write, free of everything that a terminal would obey except our own colours.
    fn written(&self) -> Cow<'_, str>;
}

impl Printable for str {
    fn written(&self) -> Cow<'_, str> {
        printable_lines(self)
    }
}

impl Printable for String {
    fn written(&self) -> Cow<'_, str> {
        printable_lines(self)
    }
}

impl Printable for Text {
    fn written(&self) -> Cow<'_, str> {
        let mut written = String::new();
        for (style, content) in &self.spans {
            if *style == Style::new() {
                written.push_str(content);
            } else {
                written.extend([style.to_string(), content.clone(), format!("{style:#}")]);
            }
        }
        written.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anstyle::AnsiColor;

    #[test]
    fn only_our_colours_reach_the_terminal() {
        let red: Style = AnsiColor::Red.on_default();
        let text = Text::styled(red, "a\u{1b}[2Jb\u{202e}") + "\u{1b}[31mplain\n";
        assert_eq!(text.written(), format!("{red}a[2Jb{red:#}[31mplain\n"));
        assert_eq!("x\u{1b}]0;t\u{7}\r\ny".written(), "x]0;t\ny");
    }

    #[test]
    fn a_text_in_a_string_is_plain() {
        let painted = Text::styled(AnsiColor::Green.on_default(), "good");
        assert_eq!(format!("[{painted}]"), "[good]");
        let parts = [painted, Text::default(), "b".into()];
        assert_eq!(Text::join(parts, ", ").to_string(), "good, , b");
    }
}

//! A line that consists of parts. The least important parts are dropped when the line is too long.

use overtone_core::engine::text::printable;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::ansi::{Palette, Text, Tone};

const SEPARATOR: &str = " · ";

/// The importance of a part. The lowest is dropped first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    Compactions,
    Cost,
    Agents,
    Workflow,
    Model,
    Context,
    Check,
    Stage,
}

#[derive(Debug)]
pub(super) struct Part {
    text: String,
    tone: Tone,
}

impl Part {
    /// Sanitizes the text: names may come from another version.
    pub(super) fn new(text: &str) -> Self {
        Self { text: printable(text).into_owned(), tone: Tone::Plain }
    }

    pub(super) fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    #[cfg(test)]
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

#[derive(Debug, Default)]
pub(super) struct Parts(Vec<(Weight, Part)>);

impl Parts {
    pub(super) fn add(&mut self, weight: Weight, part: Part) {
        self.0.push((weight, part));
    }

    pub(super) fn add_some(&mut self, weight: Weight, part: Option<Part>) {
        if let Some(part) = part {
            self.add(weight, part);
        }
    }

    /// Renders a line of at most this many columns.
    pub(super) fn render(mut self, palette: Palette, columns: Option<usize>) -> Text {
        let columns = columns.unwrap_or(usize::MAX);
        while self.0.len() > 1 && self.width() > columns {
            let least = self.0.iter().map(|(weight, _)| *weight).min();
            self.0.retain(|(weight, _)| Some(*weight) != least);
        }
        let paint = |(_, part): &(Weight, Part)| palette.paint(part.tone, &cut(&part.text, columns));
        Text::join(self.0.iter().map(paint), SEPARATOR)
    }

    fn width(&self) -> usize {
        let texts: usize = self.0.iter().map(|(_, part)| part.text.width()).sum();
        texts + SEPARATOR.width() * self.0.len().saturating_sub(1)
    }
}

/// Cuts a text that is too wide and marks the cut with an ellipsis.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used < columns
    };
    let kept: String = text.chars().take_while(fits).collect();
    if columns == 0 { kept } else { kept + "…" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(columns: usize) -> String {
        let mut parts = Parts::default();
        parts.add(Weight::Workflow, Part::new("standard"));
        parts.add(Weight::Stage, Part::new("▶ 🧪 測試 5/8"));
        parts.add(Weight::Agents, Part::new("tester\n12s"));
        parts.add(Weight::Context, Part::new("ctx 42%"));
        parts.add(Weight::Cost, Part::new("$1.24"));
        parts.add_some(Weight::Compactions, Some(Part::new("⟲ 1")));
        parts.render(Palette::plain(), Some(columns)).to_string()
    }

    #[test]
    fn the_least_important_part_is_dropped_first() {
        assert_eq!(line(200), "standard · ▶ 🧪 測試 5/8 · tester 12s · ctx 42% · $1.24 · ⟲ 1");
        assert_eq!(line(58), "standard · ▶ 🧪 測試 5/8 · tester 12s · ctx 42% · $1.24");
        assert_eq!(line(50), "standard · ▶ 🧪 測試 5/8 · tester 12s · ctx 42%");
        assert_eq!(line(37), "standard · ▶ 🧪 測試 5/8 · ctx 42%");
        assert_eq!(line(26), "▶ 🧪 測試 5/8 · ctx 42%");
        assert_eq!(line(14), "▶ 🧪 測試 5/8");
    }

    #[test]
    fn the_line_is_never_wider_than_allowed() {
        for columns in 0..80 {
            assert!(line(columns).width() <= columns, "{columns}: {}", line(columns));
        }
        assert_eq!(line(9), "▶ 🧪 測…");
    }
}

//! A line of parts that gives up the least important ones when there is too little room.

use overtone_engine::text::printable;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::ui::style::{Palette, Tone};
use crate::ui::text::Text;

const SEPARATOR: &str = " · ";

/// What goes first when there is too little room, and what goes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    Compactions,
    Cost,
    Agents,
    Workflow,
    Model,
    Context,
    Stage,
}

#[derive(Debug)]
pub(super) struct Part {
    text: String,
    tone: Tone,
}

impl Part {
    /// One line: names may be another version's.
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

    pub(super) fn extend(&mut self, weight: Weight, part: Option<Part>) {
        self.0.extend(part.map(|part| (weight, part)));
    }

    /// One line of at most so many columns.
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

/// The beginning of a text that is too wide.
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
        parts.extend(Weight::Compactions, Some(Part::new("⟲ 1")));
        parts.render(Palette::plain(), Some(columns)).to_string()
    }

    #[test]
    fn the_least_important_goes_first() {
        assert_eq!(line(200), "standard · ▶ 🧪 測試 5/8 · tester 12s · ctx 42% · $1.24 · ⟲ 1");
        assert_eq!(line(58), "standard · ▶ 🧪 測試 5/8 · tester 12s · ctx 42% · $1.24");
        assert_eq!(line(50), "standard · ▶ 🧪 測試 5/8 · tester 12s · ctx 42%");
        assert_eq!(line(37), "standard · ▶ 🧪 測試 5/8 · ctx 42%");
        assert_eq!(line(26), "▶ 🧪 測試 5/8 · ctx 42%");
        assert_eq!(line(14), "▶ 🧪 測試 5/8");
    }

    #[test]
    fn never_wider_than_allowed() {
        for columns in 0..80 {
            assert!(line(columns).width() <= columns, "{columns}: {}", line(columns));
        }
        assert_eq!(line(9), "▶ 🧪 測…");
    }
}

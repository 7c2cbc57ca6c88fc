//! Tables and labelled lines, aligned by what a terminal shows: a zh character or an emoji takes two columns.

use overtone_core::engine::text::printable;
use overtone_hook::ansi::{Palette, Text, Tone};
use unicode_width::UnicodeWidthStr;

use super::terminal;

/// The space between two columns.
const GAP: &str = "  ";

/// One field of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
    right: bool,
}

impl Cell {
    /// One line: a task or an error text must not move the cursor, and its width is counted.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        let text: String = text.into();
        Self { text: printable(&text).into_owned(), ..Self::default() }
    }

    pub(crate) fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// For numbers.
    pub(crate) fn right(mut self) -> Self {
        self.right = true;
        self
    }

    fn render(&self, palette: Palette, width: usize, last: bool) -> Text {
        let padding = " ".repeat(width.saturating_sub(self.text.width()));
        let text = palette.paint(self.tone, &self.text);
        match (self.right, last) {
            (true, _) => Text::join([padding.into(), text], ""),
            // Nothing follows, so nothing has to be filled up.
            (false, true) => text,
            (false, false) => text + &padding,
        }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

/// Rows under a header.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn with_head<const N: usize>(names: [String; N]) -> Self {
        Self { rows: vec![names.into_iter().map(|name| Cell::new(name).tone(Tone::Faint)).collect()] }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [Cell; N]) {
        self.rows.push(cells.into());
    }

    pub(crate) fn render(&self, palette: Palette) -> Text {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<_> = (0..columns).map(|column| self.width(column)).collect();
        let line = |row: &Vec<Cell>| {
            let fields = row.iter().zip(&widths).enumerate();
            let fields = fields.map(|(at, (cell, width))| cell.render(palette, *width, at + 1 == row.len()));
            Text::join(fields, GAP) + "\n"
        };
        Text::join(self.rows.iter().map(line), "")
    }

    fn width(&self, column: usize) -> usize {
        self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.width()).max().unwrap_or(0)
    }
}

/// Lines of the form `label  value`.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    rows: Vec<(String, Value)>,
}

#[derive(Debug)]
enum Value {
    Lines(Vec<Cell>),
    /// Steps with arrows between them, broken where the terminal ends.
    Chain(String),
}

impl Fields {
    pub(crate) fn add(&mut self, label: String, value: impl Into<Cell>) {
        self.add_lines(label, vec![value.into()]);
    }

    /// Several lines under one label.
    pub(crate) fn add_lines(&mut self, label: String, lines: Vec<Cell>) {
        self.rows.push((label, Value::Lines(lines)));
    }

    /// Steps joined by [`ARROW`].
    pub(crate) fn add_chain(&mut self, label: String, chain: String) {
        self.rows.push((label, Value::Chain(chain)));
    }

    pub(crate) fn render(&self, palette: Palette) -> Text {
        self.render_within(palette, terminal::columns().unwrap_or(usize::MAX))
    }

    fn render_within(&self, palette: Palette, columns: usize) -> Text {
        let widest = self.rows.iter().map(|(label, _)| label.width()).max().unwrap_or(0);
        let indent = widest + GAP.len();
        let mut text = Text::default();
        for (label, value) in &self.rows {
            let labels = std::iter::once(label.as_str()).chain(std::iter::repeat(""));
            for (label, cell) in labels.zip(value.lines(columns.saturating_sub(indent))) {
                text.push(Cell::new(label).tone(Tone::Faint).render(palette, indent, false));
                text.push(cell.render(palette, 0, true));
                text.push("\n");
            }
        }
        text
    }
}

impl Value {
    fn lines(&self, width: usize) -> Vec<Cell> {
        match self {
            Self::Lines(lines) => lines.clone(),
            Self::Chain(chain) => wrap_chain(chain, width).into_iter().map(Cell::new).collect(),
        }
    }
}

/// Between two steps.
pub(crate) const ARROW: &str = " → ";

/// Breaks a chain of steps into lines of at most `width` columns, at its arrows.
fn wrap_chain(chain: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for step in chain.split(ARROW) {
        match lines.last_mut() {
            // The arrow that may have to follow belongs to the line, too.
            Some(line) if line.width() + 2 * ARROW.width() + step.width() <= width => {
                line.push_str(ARROW);
                line.push_str(step);
            }
            Some(line) => {
                line.push_str(ARROW.trim_end());
                lines.push(step.to_owned());
            }
            None => lines.push(step.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_are_counted_as_they_are_shown() {
        let mut table = Table::with_head(["名稱".into(), "n".into(), "x".into()]);
        table.row(["🧪 測試".into(), Cell::new("7").right(), "a".into()]);
        table.row(["DEV".into(), Cell::new("12").right(), "b".into()]);
        let text = table.render(Palette::plain()).to_string();
        assert_eq!(text, "名稱     n   x\n🧪 測試   7  a\nDEV      12  b\n");
        let starts: Vec<_> =
            text.lines().skip(1).map(|line| line[..line.find(['a', 'b']).unwrap()].width()).collect();
        assert_eq!(starts[0], starts[1]);
    }

    #[test]
    fn labels_are_aligned_and_lines_hang() {
        let mut fields = Fields::default();
        fields.add("工作流".into(), "quick");
        fields.add_lines("x".into(), vec!["a".into(), "b".into()]);
        assert_eq!(fields.render(Palette::plain()).to_string(), "工作流  quick\nx       a\n        b\n");
        fields.add_chain("y".into(), ["規劃", "開發", "測試"].join(ARROW));
        let narrow = fields.render_within(Palette::plain(), 24).to_string();
        assert!(narrow.ends_with("y       規劃 → 開發 →\n        測試\n"), "{narrow}");
    }

    #[test]
    fn nothing_in_a_cell_controls_the_terminal() {
        let mut fields = Fields::default();
        fields.add("x".into(), "a\u{1b}[2J\nb\u{202e}");
        assert_eq!(fields.render(Palette::plain()).to_string(), "x  a[2J b\n");
    }

    #[test]
    fn chains_break_at_arrows_and_fit() {
        let chain = "✅規劃 → ✅架構 → ⬜測試 → ⬜開發";
        assert_eq!(wrap_chain(chain, 200), [chain]);
        let lines = wrap_chain(chain, 24);
        assert_eq!(lines, ["✅規劃 → ✅架構 →", "⬜測試 → ⬜開發"]);
        assert!(lines.iter().all(|line| line.width() <= 24));
        assert_eq!(wrap_chain(chain, 1).len(), 4);
    }
}

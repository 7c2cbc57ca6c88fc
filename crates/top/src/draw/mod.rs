//! Draws the screen from the state. Nothing here reads files, the clock or the environment.

mod bars;
mod detail;
mod facts;
mod help;
mod list;
mod pipeline;
mod text;
mod tone;

use overtone_core::engine::text::printable;
use overtone_core::messages::top as words;
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::sessions::Row;
use crate::state::{Prompt, State};
use text::fit;

/// On smaller screens only a note is shown.
const MIN_SIZE: Size = Size { width: 24, height: 6 };
/// From this height on, the selected session is shown in a pane below the list.
const MIN_HEIGHT_WITH_PANE: u16 = 20;

/// How many lines a session takes in the list.
pub(crate) fn height_of(row: &Row) -> usize {
    if row.is_tall() { 2 } else { 1 }
}

/// The areas of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Areas {
    header: Rect,
    pub(crate) list: Rect,
    detail: Rect,
    footer: Rect,
}

impl Areas {
    pub(crate) fn for_state(state: &State) -> Self {
        Self::new(Rect::from((ratatui::layout::Position::ORIGIN, state.size())), state)
    }

    fn new(area: Rect, state: &State) -> Self {
        let rows = |from: u16, to: u16| Rect {
            y: area.y + from.min(area.height),
            height: to.min(area.height).saturating_sub(from),
            ..area
        };
        let footer = area.height.saturating_sub(1);
        let pane = match area.height {
            // Its title replaces the rule below the header.
            _ if state.is_detailed => 1,
            MIN_HEIGHT_WITH_PANE.. => footer - (area.height * 2 / 5).clamp(8, 18),
            _ => footer,
        };
        Self {
            header: rows(0, 1),
            list: rows(2, pane),
            detail: rows(pane, footer),
            footer: rows(footer, area.height),
        }
    }
}

/// Draws the whole screen.
pub fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    if area.width < MIN_SIZE.width || area.height < MIN_SIZE.height {
        write_lines(
            buffer,
            area,
            &[Line::raw(fit(&words::too_small(state.display.lang), area.width.into()))],
        );
        return;
    }
    let areas = Areas::new(area, state);
    write_lines(buffer, areas.header, &[bars::header(state, areas.header.width.into())]);
    let body = Rect { y: area.y + 2, height: area.height - 3, ..area };
    let rule = Rect { y: area.y + 1, height: 1, ..area };
    write_lines(buffer, rule, &[bars::rule(state, "", rule.width.into())]);
    if state.prompt == Some(Prompt::Help) {
        write_lines(buffer, body, &help::lines(state, body.width.into()));
    } else {
        write_lines(buffer, areas.list, &list::lines(state, areas.list.as_size(), true));
        write_lines(buffer, areas.detail, &detail::lines(state, areas.detail.as_size()));
    }
    write_lines(buffer, areas.footer, &[bars::footer(state, areas.footer.width.into())]);
}

/// The header and the list as plain text. Without a height, all sessions are included.
pub fn render_plain(mut state: State, height: Option<u16>) -> String {
    state.display.colours = false;
    let needed: usize = state.matching_rows().iter().map(|row| height_of(row)).sum();
    let list = Size {
        width: state.size().width,
        height: match height {
            Some(height) => height.saturating_sub(2),
            None => u16::try_from(needed.max(1)).unwrap_or(u16::MAX),
        },
    };
    let width = usize::from(list.width);
    let header = [bars::header(&state, width), bars::rule(&state, "", width)];
    let lines = header.into_iter().chain(list::lines(&state, list, false));
    lines.map(|line| line.to_string().trim_end().to_owned() + "\n").collect()
}

/// Writes lines to the screen. Everything passes through here, so that no quoted text can control the terminal.
fn write_lines(buffer: &mut Buffer, area: Rect, lines: &[Line]) {
    for (y, line) in (area.top()..area.bottom()).zip(lines) {
        let spans = line.spans.iter().map(|span| Span::styled(printable(&span.content), span.style));
        let line = Line { spans: spans.collect(), ..*line };
        buffer.set_line(area.x, y, &line, area.width);
    }
}

fn width_of(line: &Line) -> usize {
    line.spans.iter().map(|span| span.content.width()).sum()
}

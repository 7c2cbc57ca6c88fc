//! The screen as a function of the state. Nothing here reads a file, a clock or the environment.

mod bars;
mod detail;
mod facts;
mod help;
mod list;
mod pipeline;
mod text;
mod tone;

use overtone_engine::text::printable;
use overtone_messages::top as words;
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::sessions::Row;
use crate::state::{Prompt, State};
use text::fit;

/// Below this there is no telling anything.
const LEAST: Size = Size { width: 24, height: 6 };
/// From this height on, the selected session has a pane of its own below the list.
const WITH_PANE: u16 = 20;

/// How many lines a session takes in the list.
pub(crate) fn height_of(row: &Row) -> usize {
    if row.is_tall() { 2 } else { 1 }
}

/// Where everything is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Areas {
    header: Rect,
    pub(crate) list: Rect,
    detail: Rect,
    footer: Rect,
}

impl Areas {
    pub(crate) fn of(state: &State) -> Self {
        Self::within(Rect::from((ratatui::layout::Position::ORIGIN, state.size())), state)
    }

    fn within(area: Rect, state: &State) -> Self {
        let rows = |from: u16, to: u16| Rect {
            y: area.y + from.min(area.height),
            height: to.min(area.height).saturating_sub(from),
            ..area
        };
        let footer = area.height.saturating_sub(1);
        let pane = match area.height {
            // Its title takes the place of the rule.
            _ if state.is_detailed => 1,
            WITH_PANE.. => footer - (area.height * 2 / 5).clamp(8, 18),
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

/// Draws everything.
pub fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    if area.width < LEAST.width || area.height < LEAST.height {
        put(buffer, area, &[Line::raw(fit(&words::too_small(state.look.lang), area.width.into()))]);
        return;
    }
    let areas = Areas::within(area, state);
    put(buffer, areas.header, &[bars::header(state, areas.header.width.into())]);
    let body = Rect { y: area.y + 2, height: area.height - 3, ..area };
    let rule = Rect { y: area.y + 1, height: 1, ..area };
    put(buffer, rule, &[bars::rule(state, "", rule.width.into())]);
    if state.prompt == Some(Prompt::Help) {
        put(buffer, body, &help::lines(state, body.width.into()));
    } else {
        put(buffer, areas.list, &list::lines(state, areas.list.as_size(), true));
        put(buffer, areas.detail, &detail::lines(state, areas.detail.as_size()));
    }
    put(buffer, areas.footer, &[bars::footer(state, areas.footer.width.into())]);
}

/// The header and the list as text, for programs and papers. Without a height it is as high as it must be.
pub fn plain(mut state: State, height: Option<u16>) -> String {
    state.look.colours = false;
    let needed: usize = state.wanted().iter().map(|row| height_of(row)).sum();
    let list = Size {
        width: state.size().width,
        height: match height {
            Some(height) => height.saturating_sub(2),
            None => u16::try_from(needed.max(1)).unwrap_or(u16::MAX),
        },
    };
    let width = usize::from(list.width);
    let head = [bars::header(&state, width), bars::rule(&state, "", width)];
    let lines = head.into_iter().chain(list::lines(&state, list, false));
    lines.map(|line| line.to_string().trim_end().to_owned() + "\n").collect()
}

/// The only way onto the screen: whatever a line quotes, the terminal gets nothing to obey.
fn put(buffer: &mut Buffer, area: Rect, lines: &[Line]) {
    for (y, line) in (area.top()..area.bottom()).zip(lines) {
        let spans = line.spans.iter().map(|span| Span::styled(printable(&span.content), span.style));
        let line = Line { spans: spans.collect(), ..*line };
        buffer.set_line(area.x, y, &line, area.width);
    }
}

fn width_of(line: &Line) -> usize {
    line.spans.iter().map(|span| span.content.width()).sum()
}

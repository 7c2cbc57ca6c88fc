//! The state of the screen: the sessions, the filter, the selection and the open prompt.

use std::sync::Arc;

use overtone_core::economy::PriceTable;
use overtone_core::engine::settings::Settings;
use overtone_core::engine::state::Millis;
use overtone_core::messages::{Lang, cli, top as words};
use overtone_session::view::{SessionState, TimelineEvent};
use overtone_store::SessionId;
use ratatui::layout::Size;

use crate::draw::{Areas, height_of};
use crate::sessions::Row;

/// The language, the limits, the prices and whether colours are used. They do not change while the program runs.
#[derive(Debug, Clone)]
pub struct DisplayOptions {
    pub lang: Lang,
    pub settings: Settings,
    pub prices: PriceTable,
    pub colours: bool,
}

/// Which sessions are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Filter {
    #[default]
    All,
    Open,
    NeedsUser,
}

impl Filter {
    pub(crate) const fn next(self) -> Self {
        match self {
            Self::All => Self::Open,
            Self::Open => Self::NeedsUser,
            Self::NeedsUser => Self::All,
        }
    }

    fn matches(self, row: &Row) -> bool {
        match self {
            Self::All => true,
            Self::Open => row.summary.state.is_open(),
            Self::NeedsUser => row.summary.needs_user(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Stop,
    Resume,
}

/// What the keys are for, if not for the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompt {
    Help,
    Search,
    /// Asks the user to confirm the action.
    Confirm(Action, SessionId),
}

/// What the caller has to do after a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    None,
    Quit,
    Change(Action, SessionId),
}

#[derive(Debug, Clone)]
pub struct State {
    pub(crate) display: DisplayOptions,
    pub(crate) now: Millis,
    size: Size,
    rows: Vec<Arc<Row>>,
    pub(crate) filter: Filter,
    pub(crate) search: String,
    /// The selected session fills the screen.
    pub(crate) is_detailed: bool,
    pub(crate) prompt: Option<Prompt>,
    selected: Option<SessionId>,
    /// The index of the selected session, for the case that it vanishes.
    selected_index: usize,
    /// The index of the first session on the screen.
    first_visible: usize,
    /// The last events of the selected session.
    events: Vec<TimelineEvent>,
    /// The outcome of the last action, or an error.
    note: Option<String>,
}

impl State {
    pub fn new(display: DisplayOptions, size: Size, now: Millis) -> Self {
        Self {
            display,
            now,
            size,
            rows: Vec::new(),
            filter: Filter::All,
            search: String::new(),
            is_detailed: false,
            prompt: None,
            selected: None,
            selected_index: 0,
            first_visible: 0,
            events: Vec::new(),
            note: None,
        }
    }

    pub fn set_rows(&mut self, rows: Vec<Arc<Row>>) {
        self.rows = rows;
        self.update_selection();
    }

    pub fn set_now(&mut self, now: Millis) {
        self.now = now;
    }

    pub fn resize(&mut self, size: Size) {
        self.size = size;
        self.update_selection();
    }

    pub fn set_events(&mut self, events: Vec<TimelineEvent>) {
        self.events = events;
    }

    pub fn set_note(&mut self, note: Option<String>) {
        self.note = note;
    }

    pub(crate) fn size(&self) -> Size {
        self.size
    }

    pub(crate) fn rows(&self) -> &[Arc<Row>] {
        &self.rows
    }

    pub(crate) fn events(&self) -> &[TimelineEvent] {
        &self.events
    }

    pub(crate) fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    pub(crate) fn first_visible(&self) -> usize {
        self.first_visible
    }

    /// The sessions that match the filter and the search.
    pub(crate) fn matching_rows(&self) -> Vec<&Arc<Row>> {
        let filtered = self.rows.iter().filter(|row| self.filter.matches(row));
        filtered.filter(|row| self.search.is_empty() || row.matches_search(&self.search)).collect()
    }

    pub fn selected(&self) -> Option<&Arc<Row>> {
        let id = self.selected.as_ref()?;
        self.rows.iter().find(|row| row.id() == id)
    }

    pub(crate) fn is_selected(&self, row: &Row) -> bool {
        self.selected.as_ref() == Some(row.id())
    }

    /// Moves the selection by this many sessions.
    pub(crate) fn move_selection(&mut self, by: isize) {
        let last = self.matching_rows().len().saturating_sub(1);
        self.selected_index = self.selected_index.saturating_add_signed(by).min(last);
        self.selected = self.matching_rows().get(self.selected_index).map(|row| row.id().clone());
        self.update_selection();
    }

    /// Asks the user to confirm the action, or notes why it is not possible.
    pub(crate) fn confirm(&mut self, action: Action) {
        let Some(row) = self.selected().cloned() else { return };
        let (lang, name) = (self.display.lang, row.name());
        self.note = match row.summary.state {
            SessionState::Broken => Some(words::is_broken(lang, &name)),
            SessionState::None => Some(words::not_running_anything(lang, &name)),
            SessionState::Completed => Some(cli::already_complete(lang)),
            SessionState::Running if action == Action::Resume => Some(cli::running_already(lang)),
            _ => None,
        };
        if self.note.is_none() {
            self.prompt = Some(Prompt::Confirm(action, row.id().clone()));
        }
    }

    /// Keeps the selection on the same session, and the selected session on the screen.
    pub(crate) fn update_selection(&mut self) {
        let heights: Vec<_> = self.matching_rows().iter().map(|row| height_of(row)).collect();
        let found = self.matching_rows().iter().position(|row| self.is_selected(row));
        self.selected_index = found.unwrap_or(self.selected_index).min(heights.len().saturating_sub(1));
        self.selected = self.matching_rows().get(self.selected_index).map(|row| row.id().clone());
        if self.selected.is_none() {
            self.is_detailed = false;
        }
        let height = usize::from(Areas::for_state(self).list.height);
        self.first_visible = first_visible_row(&heights, self.first_visible, self.selected_index, height);
    }
}

/// The first session to show, so that the selected one is completely visible and no space is left at the end.
fn first_visible_row(heights: &[usize], first: usize, selected: usize, height: usize) -> usize {
    let height_of_rows = |start: usize, end: usize| heights[start.min(end)..end].iter().sum::<usize>();
    let mut first = first.min(selected);
    while first < selected && height_of_rows(first, selected + 1) > height {
        first += 1;
    }
    while first > 0 && height_of_rows(first - 1, heights.len()) <= height {
        first -= 1;
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_session_is_visible_and_no_space_is_wasted() {
        let heights = [2, 2, 2, 1, 1, 1];
        assert_eq!(first_visible_row(&heights, 0, 0, 6), 0);
        assert_eq!(first_visible_row(&heights, 0, 3, 6), 1);
        assert_eq!(first_visible_row(&heights, 0, 5, 6), 2);
        assert_eq!(first_visible_row(&heights, 2, 3, 6), 2);
        assert_eq!(first_visible_row(&heights, 2, 0, 6), 0);
        assert_eq!(first_visible_row(&heights, 5, 5, 20), 0);
        assert_eq!(first_visible_row(&[], 3, 0, 6), 0);
        assert_eq!(first_visible_row(&heights, 0, 5, 0), 5);
    }
}

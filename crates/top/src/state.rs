//! What is on the screen, and why: the sessions, which of them are wanted, which one is selected.

use std::sync::Arc;

use overtone_engine::settings::Settings;
use overtone_engine::state::Millis;
use overtone_messages::{Lang, cli, top as words};
use overtone_store::SessionId;
use overtone_view::{Seen, State as Condition};
use ratatui::layout::Size;

use crate::draw::{Areas, height_of};
use crate::sessions::Row;

/// How it is to look; the same from the beginning to the end.
#[derive(Debug, Clone)]
pub struct Look {
    pub lang: Lang,
    pub settings: Settings,
    pub colours: bool,
}

/// Which sessions are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Filter {
    #[default]
    All,
    Open,
    NeedsPerson,
}

impl Filter {
    pub(crate) const fn next(self) -> Self {
        match self {
            Self::All => Self::Open,
            Self::Open => Self::NeedsPerson,
            Self::NeedsPerson => Self::All,
        }
    }

    fn passes(self, row: &Row) -> bool {
        match self {
            Self::All => true,
            Self::Open => row.summary.state.is_open(),
            Self::NeedsPerson => row.summary.needs_person(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Stop,
    Resume,
}

/// What the keys are for at the moment, if not for moving about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompt {
    Help,
    Search,
    Ask(Action, SessionId),
}

/// What a key asks the outside to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    None,
    Quit,
    Change(Action, SessionId),
}

#[derive(Debug, Clone)]
pub struct State {
    pub(crate) look: Look,
    pub(crate) now: Millis,
    size: Size,
    rows: Vec<Arc<Row>>,
    pub(crate) filter: Filter,
    pub(crate) search: String,
    /// The selected session fills the screen.
    pub(crate) is_detailed: bool,
    pub(crate) prompt: Option<Prompt>,
    selected: Option<SessionId>,
    /// Where the selected one stood, for when it is gone.
    place: usize,
    /// The first session that is shown.
    first: usize,
    /// The last events of the selected session.
    events: Vec<Seen>,
    /// What came of the last key, or what is wrong.
    note: Option<String>,
}

impl State {
    pub fn new(look: Look, size: Size, now: Millis) -> Self {
        Self {
            look,
            now,
            size,
            rows: Vec::new(),
            filter: Filter::All,
            search: String::new(),
            is_detailed: false,
            prompt: None,
            selected: None,
            place: 0,
            first: 0,
            events: Vec::new(),
            note: None,
        }
    }

    pub fn set_rows(&mut self, rows: Vec<Arc<Row>>) {
        self.rows = rows;
        self.settle();
    }

    pub fn set_now(&mut self, now: Millis) {
        self.now = now;
    }

    pub fn resize(&mut self, size: Size) {
        self.size = size;
        self.settle();
    }

    pub fn set_events(&mut self, events: Vec<Seen>) {
        self.events = events;
    }

    pub fn tell(&mut self, note: Option<String>) {
        self.note = note;
    }

    pub(crate) fn size(&self) -> Size {
        self.size
    }

    pub(crate) fn rows(&self) -> &[Arc<Row>] {
        &self.rows
    }

    pub(crate) fn events(&self) -> &[Seen] {
        &self.events
    }

    pub(crate) fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// The sessions that are wanted.
    pub(crate) fn wanted(&self) -> Vec<&Arc<Row>> {
        let wanted = self.rows.iter().filter(|row| self.filter.passes(row));
        wanted.filter(|row| self.search.is_empty() || row.has_words(&self.search)).collect()
    }

    pub fn selected(&self) -> Option<&Arc<Row>> {
        let id = self.selected.as_ref()?;
        self.rows.iter().find(|row| row.id() == id)
    }

    pub(crate) fn is_selected(&self, row: &Row) -> bool {
        self.selected.as_ref() == Some(row.id())
    }

    /// Moves the selection by so many sessions.
    pub(crate) fn step(&mut self, by: isize) {
        let last = self.wanted().len().saturating_sub(1);
        self.place = self.place.saturating_add_signed(by).min(last);
        self.selected = self.wanted().get(self.place).map(|row| row.id().clone());
        self.settle();
    }

    /// Asks whether to do it, or says why it cannot be done.
    pub(crate) fn ask(&mut self, action: Action) {
        let Some(row) = self.selected().cloned() else { return };
        let (lang, name) = (self.look.lang, row.name());
        self.note = match row.summary.state {
            Condition::Broken => Some(words::is_broken(lang, &name)),
            Condition::None => Some(words::not_running_anything(lang, &name)),
            Condition::Completed => Some(cli::already_complete(lang)),
            Condition::Running if action == Action::Resume => Some(cli::running_already(lang)),
            _ => None,
        };
        if self.note.is_none() {
            self.prompt = Some(Prompt::Ask(action, row.id().clone()));
        }
    }

    /// Keeps the selection on its session and the session in sight.
    pub(crate) fn settle(&mut self) {
        let heights: Vec<_> = self.wanted().iter().map(|row| height_of(row)).collect();
        let found = self.wanted().iter().position(|row| self.is_selected(row));
        self.place = found.unwrap_or(self.place).min(heights.len().saturating_sub(1));
        self.selected = self.wanted().get(self.place).map(|row| row.id().clone());
        if self.selected.is_none() {
            self.is_detailed = false;
        }
        let room = usize::from(Areas::of(self).list.height);
        self.first = first_in_sight(&heights, self.first, self.place, room);
    }
}

/// The first session to show, so that the one at `place` is whole and no room is left over at the end.
fn first_in_sight(heights: &[usize], first: usize, place: usize, room: usize) -> usize {
    let from = |start: usize, end: usize| heights[start.min(end)..end].iter().sum::<usize>();
    let mut first = first.min(place);
    while first < place && from(first, place + 1) > room {
        first += 1;
    }
    while first > 0 && from(first - 1, heights.len()) <= room {
        first -= 1;
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_one_is_in_sight_and_no_room_is_wasted() {
        let heights = [2, 2, 2, 1, 1, 1];
        assert_eq!(first_in_sight(&heights, 0, 0, 6), 0);
        assert_eq!(first_in_sight(&heights, 0, 3, 6), 1);
        assert_eq!(first_in_sight(&heights, 0, 5, 6), 2);
        assert_eq!(first_in_sight(&heights, 2, 3, 6), 2);
        assert_eq!(first_in_sight(&heights, 2, 0, 6), 0);
        assert_eq!(first_in_sight(&heights, 5, 5, 20), 0);
        assert_eq!(first_in_sight(&[], 3, 0, 6), 0);
        assert_eq!(first_in_sight(&heights, 0, 5, 0), 5);
    }
}

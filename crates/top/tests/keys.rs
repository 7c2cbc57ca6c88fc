//! The effect of keys.

mod common;

use common::{TestHome, state};
use overtone_core::messages::Lang;
use overtone_top::{Action, Effect, State, handle_key};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Size;

fn key(state: State, code: KeyCode) -> (State, Effect) {
    handle_key(state, KeyEvent::new(code, KeyModifiers::NONE))
}

fn typed(state: State, keys: &str) -> (State, Effect) {
    keys.chars().fold((state, Effect::None), |(state, _), letter| key(state, KeyCode::Char(letter)))
}

fn selected(state: &State) -> String {
    state.selected().map(|row| row.summary.id().to_owned()).unwrap_or_default()
}

fn full() -> State {
    state(&TestHome::full(), Lang::En, 80, 24, false)
}

#[test]
fn the_selection_moves_and_stays_in_the_list() {
    let (state, _) = key(full(), KeyCode::Up);
    assert_eq!(selected(&state), "0f3c-shop");
    let (state, _) = typed(state, "jj");
    assert_eq!(selected(&state), "3c4d-api");
    let (state, _) = key(state, KeyCode::End);
    assert_eq!(selected(&state), "9c0d-docs");
    let (state, _) = key(state, KeyCode::Down);
    assert_eq!(selected(&state), "9c0d-docs");
    let (state, _) = typed(state, "gjk");
    assert_eq!(selected(&state), "0f3c-shop");
}

#[test]
fn the_filter_and_the_search_select_sessions() {
    let ids = |mut state: State| {
        let mut ids = Vec::new();
        (state, _) = key(state, KeyCode::Home);
        while ids.last() != Some(&selected(&state)) {
            ids.push(selected(&state));
            (state, _) = key(state, KeyCode::Down);
        }
        ids
    };
    assert_eq!(ids(full()).len(), 7);
    assert_eq!(ids(typed(full(), "f").0), ["0f3c-shop", "1a2b-login", "3c4d-api", "5e6f-web"]);
    assert_eq!(ids(typed(full(), "ff").0), ["3c4d-api", "aa11-torn"]);
    assert_eq!(ids(typed(full(), "fff").0).len(), 7);
    let (state, _) = typed(full(), "/登入");
    let (state, effect) = key(state, KeyCode::Enter);
    assert_eq!((ids(state.clone()), effect), (vec!["1a2b-login".to_owned()], Effect::None));
    let (state, effect) = key(state, KeyCode::Esc);
    assert_eq!((ids(state).len(), effect), (7, Effect::None));
    // In the search, letters are not commands.
    let (state, effect) = typed(full(), "/sqr");
    assert_eq!((selected(&state).as_str(), effect), ("", Effect::None));
    assert_eq!(ids(key(state, KeyCode::Esc).0).len(), 7);
}

#[test]
fn an_action_needs_a_confirmation() {
    let id = full().selected().unwrap().summary.session.id().clone();
    assert_eq!(typed(full(), "sy").1, Effect::Change(Action::Stop, id));
    for keys in ["s", "sn", "sx", "snyy", "y"] {
        assert_eq!(typed(full(), keys).1, Effect::None, "{keys}");
    }
    let (prompted, _) = typed(full(), "s");
    let (state, effect) = key(prompted, KeyCode::Esc);
    assert_eq!(effect, Effect::None);
    assert_eq!(typed(state, "y").1, Effect::None);
}

/// The question is about the session that was selected, even if the list changes meanwhile.
#[test]
fn a_question_keeps_its_session() {
    let (mut state, _) = typed(full(), "jjr");
    let id = state.selected().unwrap().summary.session.id().clone();
    state.set_rows(Vec::new());
    assert_eq!(typed(state, "y").1, Effect::Change(Action::Resume, id));
}

#[test]
fn impossible_actions_are_not_offered() {
    // Running, broken, complete, and without a workflow.
    for keys in ["ry", "jjjsy", "jjjjjsy", "Gsy"] {
        assert_eq!(typed(full(), keys).1, Effect::None, "{keys}");
    }
}

#[test]
fn escape_goes_back_and_then_quits() {
    let (state, _) = key(full(), KeyCode::Enter);
    let (state, effect) = key(state, KeyCode::Esc);
    assert_eq!(effect, Effect::None);
    assert_eq!(key(state, KeyCode::Esc).1, Effect::Quit);
    assert_eq!(typed(full(), "q").1, Effect::Quit);
    assert_eq!(typed(full(), "?q").1, Effect::None);
    for prompt in ["", "?", "/", "s"] {
        let (state, _) = typed(full(), prompt);
        let (_, effect) = handle_key(state, KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
        assert_eq!(effect, Effect::Quit, "{prompt}");
    }
}

/// The selected session stays on the screen when the selection moves or the screen is resized.
#[test]
fn the_selected_session_is_visible_among_a_thousand() {
    let home = TestHome::many(1000);
    let mut state = state(&home, Lang::En, 80, 24, false);
    for code in [KeyCode::PageDown, KeyCode::End, KeyCode::PageUp, KeyCode::Up, KeyCode::Home] {
        (state, _) = key(state, code);
        for (columns, rows) in [(80, 24), (60, 15), (200, 60)] {
            state.resize(Size::new(columns, rows));
            let screen = common::screen(&state, columns, rows);
            let name = state.selected().unwrap().summary.project_name().unwrap();
            assert!(screen.lines().any(|line| line.contains(&format!("›▶ {name}"))), "{name}\n{screen}");
        }
    }
}

//! Handles keys: computes the next state, and the effect that the caller has to carry out.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::draw::Areas;
use crate::state::{Action, Effect, Prompt, State};

/// Handles one key in the given state.
pub fn handle_key(mut state: State, key: KeyEvent) -> (State, Effect) {
    if key.kind == KeyEventKind::Release {
        return (state, Effect::None);
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        let quits = matches!(key.code, KeyCode::Char('c' | 'd'));
        return (state, if quits { Effect::Quit } else { Effect::None });
    }
    state.set_note(None);
    let effect = match state.prompt.clone() {
        None => handle_list_key(&mut state, key.code),
        Some(Prompt::Help) => {
            state.prompt = None;
            Effect::None
        }
        Some(Prompt::Search) => handle_search_key(&mut state, key.code),
        Some(Prompt::Confirm(action, session)) => {
            handle_confirm_key(&mut state, key.code, Effect::Change(action, session))
        }
    };
    state.update_selection();
    (state, effect)
}

fn handle_list_key(state: &mut State, key: KeyCode) -> Effect {
    let page = isize::try_from(Areas::for_state(state).list.height / 2).unwrap_or(1).max(1);
    match key {
        KeyCode::Char('q') => return Effect::Quit,
        KeyCode::Esc => return go_back(state),
        KeyCode::Up | KeyCode::Char('k') => state.move_selection(-1),
        KeyCode::Down | KeyCode::Char('j') => state.move_selection(1),
        KeyCode::PageUp => state.move_selection(-page),
        KeyCode::PageDown => state.move_selection(page),
        KeyCode::Home | KeyCode::Char('g') => state.move_selection(isize::MIN),
        KeyCode::End | KeyCode::Char('G') => state.move_selection(isize::MAX),
        KeyCode::Enter | KeyCode::Right | KeyCode::Char('l') => state.is_detailed = true,
        KeyCode::Left | KeyCode::Backspace | KeyCode::Char('h') => state.is_detailed = false,
        KeyCode::Char('f') => state.filter = state.filter.next(),
        KeyCode::Char('/') => {
            state.is_detailed = false;
            state.prompt = Some(Prompt::Search);
        }
        KeyCode::Char('s') => state.confirm(Action::Stop),
        KeyCode::Char('r') => state.confirm(Action::Resume),
        KeyCode::Char('?') => state.prompt = Some(Prompt::Help),
        _ => {}
    }
    Effect::None
}

/// Goes one step back: from the detail view to the list, then it clears the search, then it quits.
fn go_back(state: &mut State) -> Effect {
    if state.is_detailed {
        state.is_detailed = false;
    } else if state.search.is_empty() {
        return Effect::Quit;
    } else {
        state.search.clear();
    }
    Effect::None
}

/// Carries out the effect after `y` only. Keys that mean neither yes nor no are ignored.
fn handle_confirm_key(state: &mut State, key: KeyCode, effect: Effect) -> Effect {
    let is_yes = matches!(key, KeyCode::Char('y' | 'Y'));
    if is_yes || matches!(key, KeyCode::Char('n' | 'N' | 'q') | KeyCode::Esc) {
        state.prompt = None;
    }
    if is_yes { effect } else { Effect::None }
}

fn handle_search_key(state: &mut State, key: KeyCode) -> Effect {
    match key {
        KeyCode::Enter => state.prompt = None,
        KeyCode::Esc => {
            state.search.clear();
            state.prompt = None;
        }
        KeyCode::Backspace => {
            state.search.pop();
        }
        KeyCode::Up => state.move_selection(-1),
        KeyCode::Down => state.move_selection(1),
        KeyCode::Char(letter) => state.search.push(letter),
        _ => {}
    }
    Effect::None
}

//! What a key does: a state and a key give the next state, and what the outside has to do.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::draw::Areas;
use crate::state::{Action, Effect, Prompt, State};

pub fn press(mut state: State, key: KeyEvent) -> (State, Effect) {
    if key.kind == KeyEventKind::Release {
        return (state, Effect::None);
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        let quits = matches!(key.code, KeyCode::Char('c' | 'd'));
        return (state, if quits { Effect::Quit } else { Effect::None });
    }
    state.tell(None);
    let effect = match state.prompt.clone() {
        None => move_about(&mut state, key.code),
        Some(Prompt::Help) => {
            state.prompt = None;
            Effect::None
        }
        Some(Prompt::Search) => search(&mut state, key.code),
        Some(Prompt::Ask(action, session)) => answer(&mut state, key.code, Effect::Change(action, session)),
    };
    state.settle();
    (state, effect)
}

fn move_about(state: &mut State, key: KeyCode) -> Effect {
    let page = isize::try_from(Areas::of(state).list.height / 2).unwrap_or(1).max(1);
    match key {
        KeyCode::Char('q') => return Effect::Quit,
        KeyCode::Esc => return escape(state),
        KeyCode::Up | KeyCode::Char('k') => state.step(-1),
        KeyCode::Down | KeyCode::Char('j') => state.step(1),
        KeyCode::PageUp => state.step(-page),
        KeyCode::PageDown => state.step(page),
        KeyCode::Home | KeyCode::Char('g') => state.step(isize::MIN),
        KeyCode::End | KeyCode::Char('G') => state.step(isize::MAX),
        KeyCode::Enter | KeyCode::Right | KeyCode::Char('l') => state.is_detailed = true,
        KeyCode::Left | KeyCode::Backspace | KeyCode::Char('h') => state.is_detailed = false,
        KeyCode::Char('f') => state.filter = state.filter.next(),
        KeyCode::Char('/') => {
            state.is_detailed = false;
            state.prompt = Some(Prompt::Search);
        }
        KeyCode::Char('s') => state.ask(Action::Stop),
        KeyCode::Char('r') => state.ask(Action::Resume),
        KeyCode::Char('?') => state.prompt = Some(Prompt::Help),
        _ => {}
    }
    Effect::None
}

/// One step back; from the list that is the way out.
fn escape(state: &mut State) -> Effect {
    if state.is_detailed {
        state.is_detailed = false;
    } else if state.search.is_empty() {
        return Effect::Quit;
    } else {
        state.search.clear();
    }
    Effect::None
}

/// Only a clear yes is a yes; what is neither is passed over.
fn answer(state: &mut State, key: KeyCode, effect: Effect) -> Effect {
    let is_yes = matches!(key, KeyCode::Char('y' | 'Y'));
    if is_yes || matches!(key, KeyCode::Char('n' | 'N' | 'q') | KeyCode::Esc) {
        state.prompt = None;
    }
    if is_yes { effect } else { Effect::None }
}

fn search(state: &mut State, key: KeyCode) -> Effect {
    match key {
        KeyCode::Enter => state.prompt = None,
        KeyCode::Esc => {
            state.search.clear();
            state.prompt = None;
        }
        KeyCode::Backspace => {
            state.search.pop();
        }
        KeyCode::Up => state.step(-1),
        KeyCode::Down => state.step(1),
        KeyCode::Char(letter) => state.search.push(letter),
        _ => {}
    }
    Effect::None
}

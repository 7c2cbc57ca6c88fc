//! The screen in several sizes and languages.

mod common;

use common::{TestHome, screen, state, terminal, with_events};
use overtone_core::messages::Lang;
use overtone_top::{Effect, State, handle_key, render_plain};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Size;
use ratatui::style::Color;
use unicode_width::UnicodeWidthStr;

fn keys(mut state: State, keys: &str) -> State {
    for key in keys.chars() {
        let code = if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) };
        let (next, effect) = handle_key(state, KeyEvent::new(code, KeyModifiers::NONE));
        assert_eq!(effect, Effect::None);
        state = next;
    }
    with_events(state)
}

fn render(lang: Lang, columns: u16, rows: u16, typed: &str) -> String {
    let home = TestHome::full();
    screen(&keys(state(&home, lang, columns, rows, false), typed), columns, rows)
}

#[test]
fn the_list_at_80_by_24() {
    insta::assert_snapshot!("list_80x24_zh_tw", render(Lang::ZhTw, 80, 24, "j"));
    insta::assert_snapshot!("list_80x24_zh_cn", render(Lang::ZhCn, 80, 24, "j"));
    insta::assert_snapshot!("list_80x24_en", render(Lang::En, 80, 24, "j"));
}

#[test]
fn the_smallest_and_a_large_screen() {
    insta::assert_snapshot!("list_60x15_zh_tw", render(Lang::ZhTw, 60, 15, ""));
    insta::assert_snapshot!("list_60x15_en_end", render(Lang::En, 60, 15, "G"));
    insta::assert_snapshot!("list_160x40_en", render(Lang::En, 160, 40, "j"));
}

#[test]
fn the_detail_view_the_help_and_the_prompts() {
    insta::assert_snapshot!("detail_80x24_zh_tw", render(Lang::ZhTw, 80, 24, "j\n"));
    insta::assert_snapshot!("detail_60x15_en", render(Lang::En, 60, 15, "j\n"));
    insta::assert_snapshot!("help_60x15_en", render(Lang::En, 60, 15, "?"));
    insta::assert_snapshot!("help_80x24_zh_cn", render(Lang::ZhCn, 80, 24, "?"));
    insta::assert_snapshot!("stop_80x24_zh_tw", render(Lang::ZhTw, 80, 24, "s"));
    insta::assert_snapshot!("search_80x24_en", render(Lang::En, 80, 24, "f/登入"));
}

/// The content of a cell is written to the terminal unchanged.
#[test]
fn no_file_controls_the_terminal_or_hides_text() {
    let home = TestHome::hostile();
    for typed in ["", "j\n"] {
        let state = keys(state(&home, Lang::En, 160, 40, false), typed);
        let drawn = terminal(&state, 160, 40);
        let cells = drawn.backend().buffer().content();
        assert!(screen(&state, 160, 40).contains("e[2Jvil"), "{}", screen(&state, 160, 40));
        for cell in cells {
            let is_hidden = |c: char| c.is_control() || "\u{202e}\u{2066}\u{200b}\u{e0041}".contains(c);
            assert!(!cell.symbol().contains(is_hidden), "{:?}", cell.symbol());
        }
    }
}

#[test]
fn the_list_as_plain_text() {
    let home = TestHome::full();
    insta::assert_snapshot!("plain_100_en", render_plain(state(&home, Lang::En, 100, 1, true), None));
    let cut = render_plain(state(&home, Lang::En, 60, 1, true), Some(5));
    assert_eq!(cut.lines().count(), 5, "{cut}");
}

/// No line is wider than the screen and nothing panics.
#[test]
fn every_screen_size_works() {
    let home = TestHome::full();
    for lang in Lang::ALL {
        let base = state(&home, lang, 80, 24, true);
        for (columns, rows) in (1..130).step_by(3).flat_map(|c| [(c, 1), (c, 7), (c, 15), (c, 24), (c, 50)]) {
            for typed in ["", "G", "\n", "?", "s", "/x"] {
                let mut sized = base.clone();
                sized.resize(Size::new(columns, rows));
                let state = keys(sized, typed);
                let screen = screen(&state, columns, rows);
                let widest = screen.lines().map(UnicodeWidthStr::width).max().unwrap();
                assert!(widest <= usize::from(columns), "{columns}x{rows} {typed:?}:\n{screen}");
            }
        }
    }
}

#[test]
fn colours_are_used_only_if_enabled() {
    let home = TestHome::full();
    for colours in [true, false] {
        let terminal = terminal(&state(&home, Lang::En, 100, 30, colours), 100, 30);
        let cells = &terminal.backend().buffer().content;
        let coloured = cells.iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
        assert_eq!(coloured, colours);
    }
}

#[test]
fn names_are_aligned_in_columns_for_every_script() {
    let screen = render(Lang::ZhTw, 100, 30, "");
    let at = |word: &str| {
        let line = screen.lines().find(|line| line.contains(word)).unwrap();
        line[..line.find(word).unwrap()].width()
    };
    assert_eq!(at("quick  "), at("standard  "), "{screen}");
    assert_eq!(at("quick  "), at("secure  "), "{screen}");
}

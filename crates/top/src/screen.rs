//! The terminal, taken over and given back: when it is dropped, and before a panic is reported.

use std::io::{self, Stdout, stdout};
use std::panic;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

#[derive(Debug)]
pub struct Screen {
    pub(crate) terminal: Terminal<CrosstermBackend<Stdout>>,
    _taken: Taken,
}

impl Screen {
    pub fn take() -> io::Result<Self> {
        let earlier = panic::take_hook();
        // On the other screen the report would be gone with it.
        panic::set_hook(Box::new(move |panic| {
            give_back();
            earlier(panic);
        }));
        enable_raw_mode()?;
        // From here on it is given back whatever fails.
        let taken = Taken;
        execute!(stdout(), EnterAlternateScreen, Hide)?;
        let terminal = Terminal::new(CrosstermBackend::new(stdout()))?;
        Ok(Self { terminal, _taken: taken })
    }
}

/// While it is there, the terminal is ours.
#[derive(Debug)]
struct Taken;

impl Drop for Taken {
    fn drop(&mut self) {
        give_back();
    }
}

/// A terminal that has gone away cannot be restored, and need not be.
fn give_back() {
    let _ = execute!(stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

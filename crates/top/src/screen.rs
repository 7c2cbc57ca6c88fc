//! Switches the terminal to a full screen, and restores it on drop and before a panic is reported.

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
    _restore: RestoreOnDrop,
}

impl Screen {
    pub fn enter() -> io::Result<Self> {
        let default_hook = panic::take_hook();
        // A report on the alternate screen would vanish with it, so the terminal is restored first.
        panic::set_hook(Box::new(move |panic| {
            restore_terminal();
            default_hook(panic);
        }));
        enable_raw_mode()?;
        // From here on the terminal is restored, even if one of the next steps fails.
        let restore = RestoreOnDrop;
        execute!(stdout(), EnterAlternateScreen, Hide)?;
        let terminal = Terminal::new(CrosstermBackend::new(stdout()))?;
        Ok(Self { terminal, _restore: restore })
    }
}

#[derive(Debug)]
struct RestoreOnDrop;

impl Drop for RestoreOnDrop {
    fn drop(&mut self) {
        restore_terminal();
    }
}

/// Errors are ignored: they mean that the terminal is gone.
fn restore_terminal() {
    let _ = execute!(stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

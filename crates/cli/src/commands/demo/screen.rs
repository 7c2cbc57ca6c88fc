//! Prints lines, and below them on a terminal the progress bar, redrawn in place. Without a terminal the bar is a plain
//! line whenever it changes, and there are no pauses.

use std::time::{Duration, Instant};

use overtone_core::engine::state::{Status, WorkflowState};
use overtone_core::engine::text::{mark, progress_bar};
use overtone_core::messages::Lang;
use overtone_hook::ansi::{Palette, Text, Tone};
use unicode_width::UnicodeWidthStr;

use super::error::DemoError;
use super::interrupt::Interrupt;
use crate::ui::error::CommandResult;
use crate::ui::out;
use crate::ui::terminal;

/// The pause after a step, and after an important one.
const SHORT_PAUSE: Duration = Duration::from_millis(120);
const LONG_PAUSE: Duration = Duration::from_millis(450);

/// After this time there are no more pauses, so that the demo stays short on a slow machine.
const PAUSES_UNTIL: Duration = Duration::from_millis(7_500);

#[derive(Debug)]
pub(super) struct Screen {
    palette: Palette,
    /// The columns of a terminal that can redraw a line.
    columns: Option<usize>,
    pauses: bool,
    start: Instant,
    interrupt: Interrupt,
    bar: Text,
}

impl Screen {
    pub(super) fn new(palette: Palette, pauses: bool, interrupt: Interrupt) -> Self {
        let columns = if Palette::is_dumb() { None } else { terminal::columns() };
        Self {
            palette,
            pauses: pauses && columns.is_some(),
            columns,
            start: Instant::now(),
            interrupt,
            bar: Text::default(),
        }
    }

    pub(super) fn line(&self, tone: Tone, text: &str) -> CommandResult {
        let line = self.palette.paint(tone, text) + "\n";
        match self.columns {
            Some(_) => out::redraw(&line, &self.bar),
            None => out::print(&line),
        }
    }

    /// Shows the progress of the workflow.
    pub(super) fn progress(&mut self, lang: Lang, workflow: &WorkflowState) -> CommandResult {
        let bar = match self.columns {
            Some(columns) => self.palette.paint(Tone::Good, &bar(lang, workflow, columns)),
            None => format!("   {}", counted(workflow, &progress_bar(lang, workflow))).into(),
        };
        if bar == self.bar {
            return Ok(());
        }
        self.bar = bar;
        match self.columns {
            Some(_) => out::redraw(&Text::default(), &self.bar),
            None => out::print(&self.bar),
        }
    }

    /// Removes the progress bar; plain lines follow.
    pub(super) fn clear_progress(&mut self) -> CommandResult {
        self.bar = Text::default();
        if self.columns.is_some() { out::redraw(&self.bar, &self.bar) } else { Ok(()) }
    }

    pub(super) fn pause(&self) -> Result<(), DemoError> {
        self.sleep(SHORT_PAUSE)
    }

    pub(super) fn long_pause(&self) -> Result<(), DemoError> {
        self.sleep(LONG_PAUSE)
    }

    /// Gives time to read. Returns an error after a signal.
    fn sleep(&self, time: Duration) -> Result<(), DemoError> {
        if self.pauses && self.start.elapsed() < PAUSES_UNTIL {
            self.interrupt.sleep(time);
        }
        self.check_interrupt()
    }

    /// Returns an error after a signal: the hooks receive it too, so their answers are not reliable.
    pub(super) fn check_interrupt(&self) -> Result<(), DemoError> {
        if self.interrupt.is_received() { Err(DemoError::Interrupted) } else { Ok(()) }
    }
}

/// The longest form that fits into one line: a wrapped line cannot be redrawn.
fn bar(lang: Lang, workflow: &WorkflowState, columns: usize) -> String {
    let blocks = blocks(workflow);
    let emoji = workflow.stages.iter().map(|stage| format!("{}{}", mark(stage), stage.key.stage.emoji()));
    let emoji = emoji.collect::<Vec<_>>().join(" ");
    let forms = [
        counted(workflow, &format!("{blocks} {}", progress_bar(lang, workflow))),
        counted(workflow, &format!("{blocks} {emoji}")),
        counted(workflow, &blocks),
    ];
    forms.into_iter().find(|form| form.width() < columns).unwrap_or_default()
}

fn counted(workflow: &WorkflowState, text: &str) -> String {
    format!("{text} ({}/{})", workflow.resolved_count(), workflow.stages.len())
}

/// `██▓░░░░░`: done, being worked on, open.
fn blocks(workflow: &WorkflowState) -> String {
    let block = |stage: &overtone_core::engine::state::StageState| match stage.status {
        _ if stage.is_resolved() => '█',
        Status::Active => '▓',
        _ => '░',
    };
    workflow.stages.iter().map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use overtone_core::engine::state::Millis;
    use overtone_core::registry::Workflow;

    #[test]
    fn the_bar_never_wraps() {
        let mut workflow = WorkflowState::new("s", Workflow::Standard, None, Millis(0));
        workflow.stages[0].status = Status::Completed;
        workflow.stages[1].status = Status::Active;
        assert!(bar(Lang::En, &workflow, 300).starts_with("█▓░░░░░░ ✅📋Plan → 🔄🏗️Architecture"));
        assert!(bar(Lang::En, &workflow, 80).ends_with("⬜📝 (1/8)"));
        assert_eq!(bar(Lang::En, &workflow, 20), "█▓░░░░░░ (1/8)");
        for columns in 0..200 {
            assert!(bar(Lang::ZhTw, &workflow, columns).width() <= columns);
        }
    }
}

//! What is seen: lines, and below them on a terminal the progress bar, redrawn in place. Elsewhere the bar is a plain
//! line whenever it changes, and nothing waits.

use std::time::{Duration, Instant};

use overtone_engine::state::{Status, WorkflowState};
use overtone_engine::text::{mark, progress_bar};
use overtone_messages::Lang;
use unicode_width::UnicodeWidthStr;

use super::interrupt::Interrupt;
use super::stop::Stop;
use crate::ui::error::Done;
use crate::ui::out;
use crate::ui::style::{Palette, Tone};
use crate::ui::terminal;
use crate::ui::text::Text;

/// How long a step is shown, and one that is worth a second look.
const BEAT: Duration = Duration::from_millis(120);
const LONG_BEAT: Duration = Duration::from_millis(450);

/// On a slow machine, the pauses end here: nobody waits ten seconds.
const PATIENCE: Duration = Duration::from_millis(7_500);

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
        let columns = terminal::columns().filter(|_| !Palette::is_dumb());
        Self {
            palette,
            pauses: pauses && columns.is_some(),
            columns,
            start: Instant::now(),
            interrupt,
            bar: Text::default(),
        }
    }

    pub(super) fn line(&self, tone: Tone, text: &str) -> Done {
        let line = self.palette.paint(tone, text) + "\n";
        match self.columns {
            Some(_) => out::redraw(&line, &self.bar),
            None => out::print(&line),
        }
    }

    /// Shows how far the workflow is.
    pub(super) fn progress(&mut self, lang: Lang, workflow: &WorkflowState) -> Done {
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

    /// The bar has done its part; what follows are plain lines.
    pub(super) fn drop_bar(&mut self) -> Done {
        self.bar = Text::default();
        if self.columns.is_some() { out::redraw(&self.bar, &self.bar) } else { Ok(()) }
    }

    pub(super) fn beat(&self) -> Result<(), Stop> {
        self.pause(BEAT)
    }

    pub(super) fn long_beat(&self) -> Result<(), Stop> {
        self.pause(LONG_BEAT)
    }

    /// Gives time to read, and notices when somebody has seen enough.
    fn pause(&self, time: Duration) -> Result<(), Stop> {
        if self.pauses && self.start.elapsed() < PATIENCE {
            self.interrupt.sleep(time);
        }
        self.heed()
    }

    /// A signal reaches the hooks too, so their answer is worth nothing after one.
    pub(super) fn heed(&self) -> Result<(), Stop> {
        if self.interrupt.is_seen() { Err(Stop::Interrupted) } else { Ok(()) }
    }
}

/// The most telling form that fits into one line: a wrapped one could not be redrawn.
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
    let block = |stage: &overtone_engine::state::StageState| match stage.status {
        _ if stage.is_resolved() => '█',
        Status::Active => '▓',
        _ => '░',
    };
    workflow.stages.iter().map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use overtone_engine::state::Millis;
    use overtone_registry::Workflow;

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

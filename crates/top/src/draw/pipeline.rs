//! Draws the stages of a workflow as a line: `✔PLAN ✔ARCH ▶DEV [·REVIEW|·TEST] ·RETRO`.

use overtone_core::engine::state::{StageState, Status, WorkflowState};
use overtone_core::messages::{Lang, stage_label};
use overtone_core::registry::{Stage, StageKey};
use ratatui::text::{Line, Span};

use super::tone::Tone;
use super::width_of;
use crate::state::DisplayOptions;

pub(super) const DONE: &str = "✔";
pub(super) const ACTIVE: &str = "▶";
pub(super) const FAILED: &str = "✘";
pub(super) const SKIPPED: &str = "»";
pub(super) const PENDING: &str = "·";
/// Replaces steps that do not fit.
const ELLIPSIS: &str = "…";

/// A stage, or a group of parallel stages.
struct Step {
    line: Line<'static>,
    is_done: bool,
}

/// All steps in one line. If they do not fit, steps that are done are dropped from the beginning, then steps from the end.
pub(super) fn line(workflow: &WorkflowState, display: &DisplayOptions, columns: usize) -> Line<'static> {
    let mut steps = steps(workflow, display);
    let (mut cut_before, mut cut_after) = (false, false);
    while steps.len() > 1 && join(&steps, cut_before, cut_after, display).1 > columns {
        if steps[0].is_done {
            steps.remove(0);
            cut_before = true;
        } else {
            steps.pop();
            cut_after = true;
        }
    }
    join(&steps, cut_before, cut_after, display).0
}

/// All steps, in as many lines as necessary.
pub(super) fn lines(
    workflow: &WorkflowState,
    display: &DisplayOptions,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines: Vec<Line<'static>> = Vec::new();
    for step in steps(workflow, display) {
        match lines.last_mut() {
            Some(line) if width_of(line) + 1 + width_of(&step.line) <= columns => {
                line.push_span(Span::raw(" "));
                line.spans.extend(step.line.spans);
            }
            _ => lines.push(step.line),
        }
    }
    lines
}

/// The line and its width.
fn join(
    steps: &[Step],
    cut_before: bool,
    cut_after: bool,
    display: &DisplayOptions,
) -> (Line<'static>, usize) {
    let ellipsis = || Line::from(Tone::Faint.paint(ELLIPSIS, display.colours));
    let mut parts: Vec<_> = steps.iter().map(|step| step.line.clone()).collect();
    if cut_before {
        parts.insert(0, ellipsis());
    }
    if cut_after {
        parts.push(ellipsis());
    }
    let mut line = Line::default();
    for part in parts {
        if !line.spans.is_empty() {
            line.push_span(Span::raw(" "));
        }
        line.spans.extend(part.spans);
    }
    let width = width_of(&line);
    (line, width)
}

fn steps(workflow: &WorkflowState, display: &DisplayOptions) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut added: Vec<StageKey> = Vec::new();
    for stage in &workflow.stages {
        if added.contains(&stage.key) {
            continue;
        }
        let keys = workflow.group_keys(stage.key);
        let members: Vec<_> = workflow.stages.iter().filter(|other| keys.contains(&other.key)).collect();
        added.extend(members.iter().map(|member| member.key));
        steps.push(step(&members, display));
    }
    steps
}

fn step(members: &[&StageState], display: &DisplayOptions) -> Step {
    let faint = |text: &str| Tone::Faint.paint(text, display.colours);
    let is_group = members.len() > 1;
    let mut spans = Vec::new();
    if is_group {
        spans.push(faint("["));
    }
    for (at, member) in members.iter().enumerate() {
        if at > 0 {
            spans.push(faint("|"));
        }
        let (mark, tone) = mark(member);
        spans.push(tone.paint(format!("{mark}{}", name(display.lang, member.key.stage)), display.colours));
    }
    if is_group {
        spans.push(faint("]"));
    }
    Step { line: Line::from(spans), is_done: members.iter().all(|member| member.is_resolved()) }
}

fn mark(stage: &StageState) -> (&'static str, Tone) {
    match stage.status {
        Status::Completed if stage.is_failed() => (FAILED, Tone::Bad),
        Status::Completed if stage.is_by_rule() => (SKIPPED, Tone::Faint),
        Status::Completed => (DONE, Tone::Good),
        Status::Active => (ACTIVE, Tone::Busy),
        Status::Pending => (PENDING, Tone::Faint),
    }
}

/// In English the short key is used instead of the long name. In Chinese the names are as short as the keys.
fn name(lang: Lang, stage: Stage) -> &'static str {
    if lang == Lang::En { stage.key() } else { stage_label(lang, stage) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use overtone_core::economy::PriceTable;
    use overtone_core::engine::settings::Settings;
    use overtone_core::engine::state::{Millis, StageResult, Verdict};
    use overtone_core::registry::Workflow;

    fn display(lang: Lang) -> DisplayOptions {
        DisplayOptions { lang, settings: Settings::default(), prices: PriceTable::default(), colours: false }
    }

    fn workflow() -> WorkflowState {
        let mut workflow = WorkflowState::new("s", Workflow::Standard, None, Millis(0));
        for stage in &mut workflow.stages[..3] {
            stage.status = Status::Completed;
        }
        workflow.stages[3].status = Status::Active;
        workflow
    }

    #[test]
    fn marks_show_groups_and_states_of_stages() {
        let mut workflow = workflow();
        let whole = "✔PLAN ✔ARCH ✔TEST ▶DEV [·REVIEW|·TEST] ·RETRO ·DOCS";
        assert_eq!(line(&workflow, &display(Lang::En), 80).to_string(), whole);
        workflow.stages[4].status = Status::Completed;
        workflow.stages[4].result = Some(StageResult::Verdict(Verdict::Reject));
        let shown = line(&workflow, &display(Lang::ZhTw), 80).to_string();
        assert_eq!(shown, "✔規劃 ✔架構 ✔測試 ▶開發 [✘審查|·測試] ·回顧 ·文件");
    }

    #[test]
    fn active_stages_are_never_cut() {
        let display = display(Lang::En);
        assert_eq!(line(&workflow(), &display, 40).to_string(), "… ▶DEV [·REVIEW|·TEST] ·RETRO ·DOCS");
        assert_eq!(line(&workflow(), &display, 26).to_string(), "… ▶DEV [·REVIEW|·TEST] …");
        assert_eq!(line(&workflow(), &display, 1).to_string(), "… ▶DEV …");
        let lines: Vec<_> = lines(&workflow(), &display, 30).iter().map(Line::to_string).collect();
        assert_eq!(lines, ["✔PLAN ✔ARCH ✔TEST ▶DEV", "[·REVIEW|·TEST] ·RETRO ·DOCS"]);
    }
}

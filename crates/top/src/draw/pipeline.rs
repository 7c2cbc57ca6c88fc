//! A workflow as a line: `✔PLAN ✔ARCH ▶DEV [·REVIEW|·TEST] ·RETRO`.

use overtone_engine::state::{StageState, Status, WorkflowState};
use overtone_messages::{Lang, stage_label};
use overtone_registry::{Stage, StageKey};
use ratatui::text::{Line, Span};

use super::tone::Tone;
use super::width_of;
use crate::state::Look;

pub(super) const DONE: &str = "✔";
pub(super) const ACTIVE: &str = "▶";
pub(super) const FAILED: &str = "✘";
pub(super) const PENDING: &str = "·";
/// Stands for steps that have no room.
const MORE: &str = "…";

/// A stage, or stages that run together.
struct Step {
    line: Line<'static>,
    is_done: bool,
}

/// The whole pipeline in one line. Where it does not fit, what is done goes first, then what comes last.
pub(super) fn line(workflow: &WorkflowState, look: &Look, columns: usize) -> Line<'static> {
    let mut steps = steps(workflow, look);
    let (mut before, mut after) = (false, false);
    while steps.len() > 1 && joined(&steps, before, after, look).1 > columns {
        if steps[0].is_done {
            steps.remove(0);
            before = true;
        } else {
            steps.pop();
            after = true;
        }
    }
    joined(&steps, before, after, look).0
}

/// The whole pipeline in as many lines as it takes.
pub(super) fn lines(workflow: &WorkflowState, look: &Look, columns: usize) -> Vec<Line<'static>> {
    let mut lines: Vec<Line<'static>> = Vec::new();
    for step in steps(workflow, look) {
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

fn joined(steps: &[Step], before: bool, after: bool, look: &Look) -> (Line<'static>, usize) {
    let more = || Line::from(Tone::Faint.paint(MORE, look.colours));
    let parts = before.then(more).into_iter();
    let parts = parts.chain(steps.iter().map(|step| step.line.clone())).chain(after.then(more));
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

fn steps(workflow: &WorkflowState, look: &Look) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut told: Vec<StageKey> = Vec::new();
    for stage in &workflow.stages {
        if told.contains(&stage.key) {
            continue;
        }
        let keys = workflow.group_keys(stage.key);
        let members: Vec<_> = workflow.stages.iter().filter(|other| keys.contains(&other.key)).collect();
        told.extend(members.iter().map(|member| member.key));
        steps.push(step(&members, look));
    }
    steps
}

fn step(members: &[&StageState], look: &Look) -> Step {
    let faint = |text: &str| Tone::Faint.paint(text, look.colours);
    let is_group = members.len() > 1;
    let mut spans: Vec<_> = is_group.then(|| faint("[")).into_iter().collect();
    for (at, member) in members.iter().enumerate() {
        spans.extend((at > 0).then(|| faint("|")));
        let (mark, tone) = mark(member);
        spans.push(tone.paint(format!("{mark}{}", name(look.lang, member.key.stage)), look.colours));
    }
    spans.extend(is_group.then(|| faint("]")));
    Step { line: Line::from(spans), is_done: members.iter().all(|member| member.is_resolved()) }
}

fn mark(stage: &StageState) -> (&'static str, Tone) {
    match stage.status {
        Status::Completed if stage.is_failed() => (FAILED, Tone::Bad),
        Status::Completed => (DONE, Tone::Good),
        Status::Active => (ACTIVE, Tone::Busy),
        Status::Pending => (PENDING, Tone::Faint),
    }
}

/// English names are long and the keys are English; in zh the names are as short as the keys.
fn name(lang: Lang, stage: Stage) -> &'static str {
    if lang == Lang::En { stage.key() } else { stage_label(lang, stage) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use overtone_engine::settings::Settings;
    use overtone_engine::state::{Millis, StageResult, Verdict};
    use overtone_registry::Workflow;

    fn look(lang: Lang) -> Look {
        Look { lang, settings: Settings::default(), colours: false }
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
    fn stages_groups_and_states_are_told_by_marks() {
        let mut workflow = workflow();
        let whole = "✔PLAN ✔ARCH ✔TEST ▶DEV [·REVIEW|·TEST] ·RETRO ·DOCS";
        assert_eq!(line(&workflow, &look(Lang::En), 80).to_string(), whole);
        workflow.stages[4].status = Status::Completed;
        workflow.stages[4].result = Some(StageResult::Verdict(Verdict::Reject));
        let shown = line(&workflow, &look(Lang::ZhTw), 80).to_string();
        assert_eq!(shown, "✔規劃 ✔架構 ✔測試 ▶開發 [✘審查|·測試] ·回顧 ·文件");
    }

    #[test]
    fn what_is_at_work_stays_in_sight() {
        let look = look(Lang::En);
        assert_eq!(line(&workflow(), &look, 40).to_string(), "… ▶DEV [·REVIEW|·TEST] ·RETRO ·DOCS");
        assert_eq!(line(&workflow(), &look, 26).to_string(), "… ▶DEV [·REVIEW|·TEST] …");
        assert_eq!(line(&workflow(), &look, 1).to_string(), "… ▶DEV …");
        let lines: Vec<_> = lines(&workflow(), &look, 30).iter().map(Line::to_string).collect();
        assert_eq!(lines, ["✔PLAN ✔ARCH ✔TEST ▶DEV", "[·REVIEW|·TEST] ·RETRO ·DOCS"]);
    }
}

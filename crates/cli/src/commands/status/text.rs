//! The state of a session as text.

use overtone_core::engine::state::{ActiveAgent, Ending, LoopState, Status, WorkflowState};
use overtone_core::engine::text::{duration, progress_bar};
use overtone_core::messages::{
    budget as budget_words, checks, cli as words, context as shared, stage_name, workflow_purpose,
};
use overtone_core::registry::StageKey;
use overtone_core::registry::limits::LISTED_TASKS;
use overtone_hook::ansi::{Text, Tone};
use overtone_session::view::{Condition, pause_reason};

use super::{SessionStatus, next_step};
use crate::commands::budget;
use crate::context::Context;
use crate::ui::quantity::or_dash;
use crate::ui::table::{Cell, Fields};

/// Everything but the next step.
pub(crate) fn fields(context: &Context, status: &SessionStatus) -> Fields {
    let lang = context.lang;
    let mut fields = Fields::default();
    fields.add(words::label_session(lang), status.session.id().as_str());
    let Some(workflow) = &status.workflow else {
        fields.add(words::label_workflow(lang), words::no_workflow(lang));
        return fields;
    };
    add_progress(context, workflow, &mut fields);
    if workflow.is_open()
        && let Some(stage) = current(context, workflow)
    {
        fields.add(words::label_stage(lang), stage);
    }
    if !workflow.active_agents.is_empty() {
        let agents = workflow.active_agents.iter().map(|agent| agent_line(context, status, agent));
        fields.add_lines(words::label_agents(lang), agents.collect());
    }
    if let Some(lines) = check_lines(context, status) {
        fields.add_lines(checks::label_checks(lang), lines);
    }
    add_counts(context, workflow, status.looping.as_ref(), &mut fields);
    if let Some(line) = budget::status_line(context, &status.session, workflow) {
        fields.add(budget_words::label(lang), line);
    }
    if let Some(name) = &workflow.feature_name {
        fields.add_lines(words::label_feature(lang), feature_lines(context, status, name));
    }
    if let Some(line) = context_line(context, status) {
        fields.add(words::label_context(lang), line);
    }
    fields
}

/// Adds a workflow and its loop that belong to no session on disk.
pub(crate) fn add_state(
    context: &Context,
    workflow: &WorkflowState,
    looping: Option<&LoopState>,
    fields: &mut Fields,
) {
    add_progress(context, workflow, fields);
    add_counts(context, workflow, looping, fields);
}

fn add_progress(context: &Context, workflow: &WorkflowState, fields: &mut Fields) {
    fields.add(words::label_workflow(context.lang), title(context, workflow));
    fields.add_chain(words::label_progress(context.lang), bar(context, workflow));
}

fn add_counts(context: &Context, workflow: &WorkflowState, looping: Option<&LoopState>, fields: &mut Fields) {
    fields.add(words::label_counters(context.lang), counters(context, workflow));
    if let Some(looping) = looping {
        fields.add(words::label_loop(context.lang), loop_cell(context, workflow, looping));
    }
}

/// The workflow, the bar and the next step alone.
pub(crate) fn progress(context: &Context, status: &SessionStatus) -> Text {
    let Some(workflow) = &status.workflow else { return Text::default() };
    let mut fields = Fields::default();
    add_progress(context, workflow, &mut fields);
    fields.render(context.palette) + &next_line(context, status)
}

pub(crate) fn next_line(context: &Context, status: &SessionStatus) -> String {
    let Some(workflow) = &status.workflow else { return String::new() };
    match next_step(context, workflow, status.looping.as_ref()) {
        Some(text) => format!("→ {text}\n"),
        None => String::new(),
    }
}

fn title(context: &Context, workflow: &WorkflowState) -> Cell {
    let lang = context.lang;
    let name = &workflow.workflow_type;
    let known =
        workflow.template().map(|w| words::workflow_with_purpose(lang, name, workflow_purpose(lang, w)));
    let text = known.unwrap_or_else(|| name.clone());
    match workflow.ending {
        None => Cell::new(text).tone(Tone::Strong),
        Some(Ending::Completed) => {
            Cell::new(format!("{text} · {}", words::state_completed(lang))).tone(Tone::Good)
        }
        Some(Ending::Aborted) => {
            Cell::new(format!("{text} · {}", words::state_aborted(lang))).tone(Tone::Bad)
        }
    }
}

fn bar(context: &Context, workflow: &WorkflowState) -> String {
    let (done, total) = (workflow.resolved_count(), workflow.stages.len());
    format!("{} ({done}/{total})", progress_bar(context.lang, workflow))
}

/// The active stages, else the next one.
fn current(context: &Context, workflow: &WorkflowState) -> Option<String> {
    let active = workflow.stages.iter().filter(|stage| stage.status == Status::Active).map(|stage| stage.key);
    let mut keys: Vec<_> = active.collect();
    if keys.is_empty() {
        keys.extend(workflow.current_stage);
    }
    let names: Vec<_> = keys.into_iter().map(|key| stage_title(context, key)).collect();
    if names.is_empty() { None } else { Some(names.join(" + ")) }
}

/// With the key where a workflow has the stage twice.
fn stage_title(context: &Context, key: StageKey) -> String {
    let name = stage_name(context.lang, key.stage);
    if key.occurrence == 1 { name } else { shared::active_agent(context.lang, &name, &key.to_string()) }
}

fn agent_line(context: &Context, status: &SessionStatus, agent: &ActiveAgent) -> Cell {
    let stage = or_dash(agent.stage.map(|key| key.to_string()));
    let name = shared::active_agent(context.lang, &agent.slot, &stage);
    let since =
        agent.started_at.map(|at| format!(" · {}", duration(status.now.since(at)))).unwrap_or_default();
    Cell::new(name + &since)
}

/// The checks of the workflow, whether they may run, and which one runs now.
fn check_lines(context: &Context, status: &SessionStatus) -> Option<Vec<Cell>> {
    let lang = context.lang;
    let mut lines = Vec::new();
    if let Some(pinned) = &status.checks {
        let names: Vec<_> = pinned.checks.iter().map(|check| check.name.as_str()).collect();
        lines.push(if pinned.is_trusted {
            Cell::new(names.join(", "))
        } else {
            Cell::new(checks::untrusted_names(lang, &names.join(", "))).tone(Tone::Warning)
        });
    }
    if let Some(running) = &status.running_check {
        let spent = duration(status.now.since(running.started_at));
        lines.push(Cell::new(checks::running_check(lang, &running.name, &spent)));
    }
    if lines.is_empty() { None } else { Some(lines) }
}

fn counters(context: &Context, workflow: &WorkflowState) -> Cell {
    let (lang, settings) = (context.lang, context.settings());
    let text = [
        shared::failures(lang, workflow.fail_count, settings.max_failures),
        shared::rejections(lang, workflow.reject_count, settings.max_rejections),
        words::retros(lang, workflow.retro_count, settings.max_retros),
    ];
    let is_near_limit = workflow.counted_failures() + 1 >= settings.max_failures
        || workflow.counted_rejections() + 1 >= settings.max_rejections;
    Cell::new(text.join(" · ")).tone(if is_near_limit { Tone::Warning } else { Tone::Plain })
}

fn loop_cell(context: &Context, workflow: &WorkflowState, looping: &LoopState) -> Cell {
    let lang = context.lang;
    let rounds = words::rounds(lang, looping.iterations, context.settings().max_iterations);
    let (state, tone) = match Condition::new(workflow, Some(looping), &context.settings()) {
        Condition::Running => (words::loop_running(lang), Tone::Plain),
        Condition::Finished => (words::state_finished(lang), Tone::Good),
        Condition::Completed => (words::state_completed(lang), Tone::Good),
        Condition::Stopped => (words::loop_stopped_by_user(lang), Tone::Warning),
        Condition::Paused => (pause_reason(lang, Some(looping)), Tone::Warning),
        Condition::SessionEnded => (words::loop_stopped_by_end(lang), Tone::Warning),
        Condition::NeedsUser if looping.stopped => (words::loop_stopped_by_limit(lang), Tone::Bad),
        Condition::NeedsUser => (words::state_needs_you(lang), Tone::Bad),
        Condition::Moved => (moved(context, workflow), Tone::Warning),
    };
    Cell::new(format!("{rounds} · {state}")).tone(tone)
}

fn moved(context: &Context, workflow: &WorkflowState) -> String {
    words::state_moved(context.lang, workflow.moved_to.as_deref().unwrap_or_default())
}

fn feature_lines(context: &Context, status: &SessionStatus, name: &str) -> Vec<Cell> {
    let Some(feature) = &status.feature else { return vec![Cell::new(name)] };
    let head = words::feature_tasks(context.lang, name, feature.checked, feature.total);
    let tasks = feature.pending.iter().take(LISTED_TASKS).map(|task| format!("- [ ] {task}"));
    let hidden = feature.pending.len().saturating_sub(LISTED_TASKS);
    let more = (hidden > 0).then(|| shared::more_tasks(context.lang, hidden));
    std::iter::once(head).chain(tasks).chain(more).map(Cell::new).collect()
}

fn context_line(context: &Context, status: &SessionStatus) -> Option<Cell> {
    let (auto, manual) = (status.compactions.automatic, status.compactions.manual);
    let all = auto.saturating_add(manual);
    let compactions = (all > 0).then(|| words::compactions(context.lang, all, auto, manual));
    let percent = status.context_percent.map(|percent| format!("{percent}%"));
    let parts: Vec<_> = percent.into_iter().chain(compactions).collect();
    (!parts.is_empty()).then(|| Cell::new(parts.join(" · ")))
}

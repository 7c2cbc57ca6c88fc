//! Renders the state as text: progress bar, next step, recovery text, context of sub-agents, pending tasks.

use crate::messages::{Lang, budget, cli, context, flow, looping, prompt, stage_label, stage_name};
use crate::registry::{Agent, StageKey, limits};

use crate::engine::budget::main_advice;
use crate::engine::flow::{Step, next_step};
pub use crate::engine::printable::{escaped_json, printable, printable_lines};
use crate::engine::quote::quoted;
pub use crate::engine::quote::{cut, fit, units};
use crate::engine::state::{StageState, Status, WorkflowState};
use crate::engine::trigger::{Facts, Feature, Snapshot};

/// How much of a task is quoted, in UTF-16 units.
pub(crate) const TASK_UNITS: usize = 200;

/// The text about a session that another machine has taken over. `None` if the session is here.
pub fn moved_text(lang: Lang, workflow: &WorkflowState) -> Option<String> {
    let to = workflow.moved_to.as_deref()?;
    Some(looping::moved(lang, to, &workflow.session_id))
}

/// `✅📋規劃 → ⬜🏗️架構`.
pub fn progress_bar(lang: Lang, workflow: &WorkflowState) -> String {
    let marked = |stage: &StageState| {
        let kind = stage.key.stage;
        format!("{}{}{}", mark(stage), kind.emoji(), stage_label(lang, kind))
    };
    workflow.stages.iter().map(marked).collect::<Vec<_>>().join(" → ")
}

/// The symbol of a stage's state, which is the same everywhere.
pub fn mark(stage: &StageState) -> &'static str {
    match stage.status {
        Status::Completed if stage.is_blocked() => "✋",
        Status::Completed if stage.is_failed() => "❌",
        Status::Completed if stage.is_by_rule() => "⏩",
        Status::Completed => "✅",
        Status::Active => "🔄",
        Status::Pending => "⬜",
    }
}

/// The instruction for the main agent to carry out a step.
pub fn step_text(lang: Lang, step: &Step) -> String {
    match step {
        Step::Done => flow::all_stages_done(lang),
        Step::Delegate(keys) if keys.len() > 1 => flow::next_parallel(lang, &agent_names(lang, keys)),
        Step::Delegate(keys) => flow::next_delegate(lang, &agent_names(lang, keys)),
        Step::Wait(keys) if keys.len() > 1 => flow::waiting_for_parallel(lang, &key_list(lang, keys)),
        Step::Wait(keys) => flow::waiting_for(lang, &key_list(lang, keys)),
        Step::Repair(keys) => {
            let (debugger, developer) =
                (agent_name(lang, Agent::Debugger), agent_name(lang, Agent::Developer));
            let stages = key_list(lang, keys);
            if keys.len() > 1 {
                flow::next_repair_all(lang, &debugger, &developer, &stages)
            } else {
                flow::next_repair(lang, &debugger, &developer, &stages)
            }
        }
        Step::Rework(keys) => {
            let (developer, stages) = (agent_name(lang, Agent::Developer), key_list(lang, keys));
            if are_reviews(keys) {
                flow::next_rework(lang, &developer, &stages)
            } else {
                flow::next_direct_repair(lang, &developer, &stages)
            }
        }
        Step::Again(key) => flow::next_again(lang, &agent_name(lang, key.stage.agent())),
        Step::Report(key) => flow::report_findings(lang, &titled(lang, *key)),
        Step::Blocked(key) => {
            flow::ask_user_blocked(lang, &titled(lang, *key), &agent_name(lang, key.stage.agent()))
        }
        Step::AskUser(key) => flow::ask_user(lang, &titled(lang, *key)),
        Step::OverBudget(reached) => main_advice(lang, reached),
    }
}

fn are_reviews(keys: &[StageKey]) -> bool {
    keys.iter().all(|key| key.stage.is_reviewer())
}

/// The instruction for the main agent to carry out the next step. Tasks that are still open when every stage is done come
/// before the summary.
pub(crate) fn next_step_text(workflow: &WorkflowState, facts: &Facts) -> String {
    let (lang, step) = (facts.lang, next_step(workflow, &facts.settings));
    if step != Step::Done || !workflow.is_open() {
        return step_text(lang, &step);
    }
    let open = facts.open_work(workflow);
    let Some(first) = open.first() else {
        return step_text(lang, &step);
    };
    let first = cut(first, TASK_UNITS);
    if workflow.tried_tasks(open.len()) {
        return flow::tasks_stay_open(lang, open.len(), first);
    }
    flow::tasks_left(lang, open.len(), first, &agent_name(lang, Agent::Developer))
}

/// The next step in the text of the loop. It names agents and gives no orders, since the user reads it, too.
pub(crate) fn step_for_loop(lang: Lang, step: &Step) -> String {
    let (debugger, developer) = (short_name(Agent::Debugger), short_name(Agent::Developer));
    match step {
        Step::Done => looping::next_summary(lang),
        Step::Delegate(keys) if keys.len() > 1 => looping::next_agents(lang, &short_names(lang, keys)),
        Step::Delegate(keys) => looping::next_agent(lang, &short_names(lang, keys)),
        Step::Repair(keys) if keys.len() > 1 => {
            looping::next_repair_all(lang, &debugger, &developer, &key_list(lang, keys))
        }
        Step::Repair(keys) => looping::next_repair(lang, &debugger, &developer, &key_list(lang, keys)),
        Step::Rework(keys) if are_reviews(keys) => {
            looping::next_rework(lang, &developer, &key_list(lang, keys))
        }
        Step::Rework(keys) => looping::next_direct_repair(lang, &developer, &key_list(lang, keys)),
        Step::Again(key) => looping::next_again(lang, &short_name(key.stage.agent())),
        Step::Wait(_) | Step::Report(_) | Step::Blocked(_) | Step::AskUser(_) | Step::OverBudget(_) => {
            step_for_user(lang, step)
        }
    }
}

/// `TESTER`.
pub(crate) fn short_name(agent: Agent) -> String {
    agent.name().to_uppercase()
}

fn short_names(lang: Lang, keys: &[StageKey]) -> String {
    let names = keys.iter().map(|key| short_name(key.stage.agent()));
    names.collect::<Vec<_>>().join(&context::list_separator(lang))
}

/// The next step for the user. It names stages instead of agents and gives no orders.
pub fn step_for_user(lang: Lang, step: &Step) -> String {
    match step {
        Step::Done => cli::next_finish(lang),
        Step::Delegate(keys) => cli::next_stages(lang, &titles(lang, keys)),
        Step::Wait(keys) => cli::next_wait(lang, &key_list(lang, keys)),
        Step::Repair(keys) | Step::Rework(keys) => cli::next_repair(lang, &key_list(lang, keys)),
        Step::Again(key) => cli::next_again(lang, &titled(lang, *key)),
        Step::Report(key) => cli::next_judge(lang, &titled(lang, *key)),
        Step::Blocked(key) => cli::next_answer(lang, &titled(lang, *key)),
        Step::AskUser(key) => cli::next_decide(lang, &titled(lang, *key)),
        Step::OverBudget(_) => budget::next_raise(lang),
    }
}

fn titles(lang: Lang, keys: &[StageKey]) -> String {
    keys.iter().map(|key| titled(lang, *key)).collect::<Vec<_>>().join(&context::list_separator(lang))
}

/// The agents or stages that the next step is about, for texts that give no orders.
pub fn step_subject(lang: Lang, step: &Step) -> String {
    match step {
        Step::Done | Step::OverBudget(_) => "–".to_owned(),
        Step::Delegate(keys) => agent_names(lang, keys),
        Step::Wait(keys) => key_list(lang, keys),
        Step::Repair(_) => agent_name(lang, Agent::Debugger),
        Step::Rework(_) => agent_name(lang, Agent::Developer),
        Step::Again(key) | Step::Blocked(key) => agent_name(lang, key.stage.agent()),
        Step::Report(key) | Step::AskUser(key) => titled(lang, *key),
    }
}

/// `TESTER（ot:tester）`.
pub fn agent_name(lang: Lang, agent: Agent) -> String {
    flow::delegate(lang, &short_name(agent), agent.name())
}

/// `🧪 測試`, with the key for the second occurrence of a stage in a workflow.
pub fn titled(lang: Lang, key: StageKey) -> String {
    match key.occurrence {
        1 => stage_name(lang, key.stage),
        _ => context::stage_with_key(lang, &stage_name(lang, key.stage), &key.to_string()),
    }
}

pub fn agent_names(lang: Lang, keys: &[StageKey]) -> String {
    let names = keys.iter().map(|key| agent_name(lang, key.stage.agent()));
    names.collect::<Vec<_>>().join(&context::list_separator(lang))
}

pub fn key_list(lang: Lang, keys: &[StageKey]) -> String {
    keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(&context::list_separator(lang))
}

/// The unfinished tasks of a feature, or `None` if all are done. `interrupted` selects the text for a new session that
/// finds the work of an earlier one.
pub fn pending_tasks(lang: Lang, feature: &Feature, interrupted: bool) -> Option<String> {
    if feature.pending.is_empty() {
        return None;
    }
    let title =
        if interrupted { context::pending_tasks_interrupted(lang) } else { context::pending_tasks(lang) };
    let mut lines =
        vec![title, context::feature_progress(lang, &feature.name, feature.checked, feature.total)];
    lines.extend(feature.pending.iter().take(limits::LISTED_TASKS).map(|task| format!("- [ ] {task}")));
    let hidden = feature.pending.len().saturating_sub(limits::LISTED_TASKS);
    if hidden > 0 {
        lines.push(context::more_tasks(lang, hidden));
    }
    lines.push(context::rebuild_tasks(lang));
    Some(lines.join("\n"))
}

/// How many tasks of a feature that is not ours are quoted.
const QUOTED_TASKS: usize = 5;

/// A feature that came with the repository, as data. Nothing in this text asks the model to do something.
pub(crate) fn repository_feature(lang: Lang, feature: &Feature) -> String {
    let mut lines = vec![context::repository_feature(lang), "```text".to_owned()];
    lines.push(format!("feature: {}", quoted(&feature.name)));
    lines.push(format!("tasks: {}/{}", feature.checked, feature.total));
    lines
        .extend(feature.pending.iter().take(QUOTED_TASKS).map(|task| format!("open task: {}", quoted(task))));
    let hidden = feature.pending.len().saturating_sub(QUOTED_TASKS);
    if hidden > 0 {
        lines.push(format!("open tasks not quoted: {hidden}"));
    }
    lines.push("```".to_owned());
    lines.join("\n")
}

/// The text that restores the state after a compaction or a resume. It has no orders if the user has stopped or paused
/// the workflow.
pub fn recovery(header: String, snapshot: &Snapshot, workflow: &WorkflowState, facts: &Facts) -> String {
    let lang = facts.lang;
    let mut lines = vec![header];
    lines.extend(summary(workflow, facts));
    let is_halted = snapshot.is_halted();
    if !is_halted {
        lines.push(next_step_text(workflow, facts));
    }
    lines.extend(handoff_paths(workflow, facts));
    let step = next_step(workflow, &facts.settings);
    if is_halted {
        lines.push(prompt::paused(lang, &workflow.workflow_type, &step_subject(lang, &step)));
    }
    // A workflow that is halted or waits for the user's decision must not continue by itself.
    if is_halted || step.waits_for_user() {
        return fit(lines.join("\n"), &context::recovery_truncated(lang), limits::RECOVERY_TEXT_UNITS);
    }
    if let Some(tasks) = facts.known_feature().and_then(|feature| pending_tasks(lang, feature, false)) {
        lines.push(String::new());
        lines.push(tasks);
    }
    close_with_guide(lang, &lines.join("\n"))
}

/// The state without orders and paths, for a place that the user sees.
pub(crate) fn state_summary(header: String, workflow: &WorkflowState, facts: &Facts) -> String {
    let mut lines = vec![header];
    lines.extend(summary(workflow, facts));
    fit(lines.join("\n"), &context::recovery_truncated(facts.lang), limits::RECOVERY_TEXT_UNITS)
}

/// Adds the guide, which makes the model continue. If the text is too long, the body is cut and a note about it is added at
/// the end.
fn close_with_guide(lang: Lang, body: &str) -> String {
    let guide = context::guide(lang);
    let text = format!("{body}\n\n{guide}");
    if units(&text) <= limits::RECOVERY_TEXT_UNITS {
        return text;
    }
    let ending = format!("\n\n{guide}\n{}", context::recovery_truncated(lang));
    let room = limits::RECOVERY_TEXT_UNITS.saturating_sub(units(&ending));
    format!("{}{ending}", cut(body, room))
}

/// The beginning of a session id, as it is shown to users.
pub fn short_id(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

fn summary(workflow: &WorkflowState, facts: &Facts) -> Vec<String> {
    let lang = facts.lang;
    let mut lines = headline(lang, workflow, workflow.current_stage);
    if workflow.fail_count > 0 {
        lines.push(context::failures(lang, workflow.fail_count, facts.settings.max_failures));
    }
    if workflow.reject_count > 0 {
        lines.push(context::rejections(lang, workflow.reject_count, facts.settings.max_rejections));
    }
    if !workflow.active_agents.is_empty() {
        let agents = workflow.active_agents.iter().map(|agent| {
            let stage = match agent.stage {
                Some(key) => key.to_string(),
                None => "–".to_owned(),
            };
            context::active_agent(lang, &agent.slot, &stage)
        });
        let list = agents.collect::<Vec<_>>().join(&context::list_separator(lang));
        lines.push(context::active_agents(lang, &list));
    }
    lines
}

pub(crate) fn headline(lang: Lang, workflow: &WorkflowState, stage: Option<StageKey>) -> Vec<String> {
    let bar = progress_bar(lang, workflow);
    let mut lines = vec![
        context::workflow(lang, &workflow.workflow_type),
        context::progress(lang, &bar, workflow.resolved_count(), workflow.stages.len()),
    ];
    lines.extend(stage.map(|key| context::current_stage(lang, &stage_name(lang, key.stage))));
    lines
}

/// How many files are named in a text.
const MAX_NAMED_FILES: usize = 8;

/// A list of files for a text. Of a long list, only the beginning is shown.
pub(crate) fn named_files(paths: &[String]) -> String {
    let mut names: Vec<String> = paths.iter().take(MAX_NAMED_FILES).map(|path| quoted(path)).collect();
    if paths.len() > MAX_NAMED_FILES {
        names.push(format!("+{}", paths.len() - MAX_NAMED_FILES));
    }
    names.join(", ")
}

pub(crate) fn handoff_folder(facts: &Facts) -> String {
    format!("{}/handoffs", facts.session_dir)
}

pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn handoff_paths(workflow: &WorkflowState, facts: &Facts) -> Option<String> {
    let of_stages = workflow.stages.iter().filter_map(|stage| stage.handoff.as_ref());
    let names: Vec<_> = of_stages.chain(&workflow.other_handoffs).map(|path| file_name(path)).collect();
    let list = names.join(&context::list_separator(facts.lang));
    (!names.is_empty()).then(|| context::handoffs(facts.lang, &handoff_folder(facts), &list))
}

/// `1h 02m`, `3m 20s`, `12s`.
pub fn duration(millis: i64) -> String {
    let seconds = millis.max(0) / 1000;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s}s"),
        (0, m, s) => format!("{m}m {s:02}s"),
        (h, m, _) => format!("{h}h {m:02}m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_at_most_two_units() {
        assert_eq!(duration(12_400), "12s");
        assert_eq!(duration(200_000), "3m 20s");
        assert_eq!(duration(3_720_000), "1h 02m");
        assert_eq!(duration(-5), "0s");
    }
}

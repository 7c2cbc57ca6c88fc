//! Prompts: what they mean for the loop, and the context that the main agent gets with them.

use crate::messages::{budget, cli, context, prompt as messages};
use crate::registry::{PLUGIN_PREFIX, Skill, Workflow};

use crate::engine::agents::find_by_id;
use crate::engine::budget::end_waiting;
use crate::engine::commands::{self, Refusal, USER};
use crate::engine::flow::{Step, next_step};
use crate::engine::instinct::{Observation, ObservationKind};
use crate::engine::notices::take_notices;
use crate::engine::notification::{Notification, handle_notification};
use crate::engine::outcome::{Effect, Outcome};
use crate::engine::release::{INTERRUPTED, lost_agent_record, release};
use crate::engine::state::{Ending, LoopState, Pause, Turn, WorkflowState};
use crate::engine::text::{agent_name, moved_text, next_step_text, step_subject, titled};
use crate::engine::trigger::{Facts, Snapshot};

pub(crate) fn submit(snapshot: &Snapshot, prompt: &str, facts: &Facts) -> Outcome {
    let prompt = prompt.trim_start();
    let notification = Notification::parse(prompt);
    let is_interrupt = match notification {
        None => is_in_turn(snapshot) && !joins_turn(snapshot, facts),
        Some(Notification::StoppedByUser) => true,
        Some(_) => false,
    };
    let mut current = snapshot.clone();
    let mut outcome = Outcome::default();
    let turn_start = TurnStart {
        turn: turn_for(prompt),
        is_user: notification.is_none(),
        is_report: match &notification {
            Some(notification) => is_report(snapshot, notification),
            None => false,
        },
        is_interrupt,
    };
    begin_turn(&mut current, &turn_start, facts, &mut outcome);
    let answer = match &notification {
        Some(Notification::StoppedByUser) => Outcome::default(),
        Some(notification) => handle_notification(&current, notification, facts),
        None => answer_user(&current, prompt, facts),
    };
    outcome.effects.extend(answer.effects);
    outcome.reply = answer.reply;
    outcome
}

/// The user answered a question of the main agent, which counts like a prompt.
pub(crate) fn user_answered(workflow: Option<&WorkflowState>) -> Outcome {
    let mut outcome = Outcome::default();
    outcome.effects.extend(workflow.and_then(with_user_input).map(Effect::PutWorkflow));
    outcome
}

/// Whether a turn has begun and not ended. A prompt in such a turn means that the user interrupted it, for which the
/// client raises no event.
fn is_in_turn(snapshot: &Snapshot) -> bool {
    matches!(&snapshot.looping, Some(looping) if looping.turn.is_some())
}

/// Whether a prompt was typed while the turn was running. The client adds it to the turn or keeps it for later, so
/// nothing was interrupted.
fn joins_turn(snapshot: &Snapshot, facts: &Facts) -> bool {
    match &snapshot.looping {
        Some(looping) if looping.turn.is_some() => {
            looping.prompt_id.is_some() && looping.prompt_id == facts.prompt_id
        }
        _ => false,
    }
}

/// Commands of ours that only show something.
const READING_COMMANDS: [&str; 3] = ["status", "dashboard", "specs"];

fn turn_for(prompt: &str) -> Turn {
    match own_command(prompt) {
        Some(name) if READING_COMMANDS.contains(&name) => Turn::Looking,
        _ => Turn::Working,
    }
}

/// The name of the command of ours that the user typed: `status` for `/ot:status now`.
fn own_command(prompt: &str) -> Option<&str> {
    prompt.strip_prefix('/')?.strip_prefix(PLUGIN_PREFIX)?.split_whitespace().next()
}

/// The user typed `/ot:stop`. The client raises this event only for what the user typed, so it is their decision.
fn stop_by_user(snapshot: &Snapshot, facts: &Facts) -> Outcome {
    let lang = facts.lang;
    match commands::stop(snapshot, USER, facts.now) {
        Ok(mut outcome) => {
            outcome.reply.system_message = Some(cli::stopped(lang));
            outcome.reply.model_context = snapshot.workflow.as_ref().map(|workflow| {
                let (done, total) = (workflow.resolved_count(), workflow.stages.len());
                messages::user_stopped(lang, &workflow.workflow_type, done, total)
            });
            outcome
        }
        Err(Refusal::NothingToDo) => reply_to_both(cli::stopped_already(lang)),
        Err(refusal) => reply_to_both(no_running_workflow(&refusal, facts)),
    }
}

/// The user typed `/ot:resume`.
fn resume_by_user(snapshot: &Snapshot, facts: &Facts) -> Outcome {
    let lang = facts.lang;
    match commands::resume(snapshot, &facts.settings, USER, facts.now) {
        Ok(mut outcome) => {
            // This turn is the first one of the resumed loop.
            for effect in &mut outcome.effects {
                if let Effect::PutLoop(looping) = effect {
                    looping.turn = Some(Turn::Working);
                }
            }
            outcome.reply.system_message = Some(cli::resumed(lang));
            outcome.reply.model_context = outcome.workflow().map(|workflow| {
                let step = next_step_text(workflow, facts);
                messages::user_resumed(lang, &workflow.workflow_type, &step)
            });
            outcome
        }
        Err(Refusal::NothingToDo) => {
            let mut outcome = Outcome::default();
            outcome.reply.system_message = Some(cli::running_already(lang));
            outcome.reply.model_context = Some(workflow_status(snapshot, facts));
            outcome
        }
        Err(refusal) => reply_to_both(no_running_workflow(&refusal, facts)),
    }
}

fn no_running_workflow(refusal: &Refusal, facts: &Facts) -> String {
    match refusal {
        Refusal::Completed => cli::already_complete(facts.lang),
        Refusal::OverBudget => budget::next_raise(facts.lang),
        _ => cli::no_workflow(facts.lang),
    }
}

/// One sentence that the user sees and the model answers with.
fn reply_to_both(text: String) -> Outcome {
    let mut outcome = Outcome::default();
    outcome.reply.model_context = Some(text.clone());
    outcome.reply.system_message = Some(text);
    outcome
}

/// Whether a command asks for no work.
fn is_silent_command(prompt: &str) -> bool {
    match own_command(prompt) {
        Some(name) => READING_COMMANDS.contains(&name) || name == Skill::Stop.name(),
        None => false,
    }
}

/// Whether the notification is about an agent that the workflow knows.
fn is_report(snapshot: &Snapshot, notification: &Notification) -> bool {
    let Some(workflow) = &snapshot.workflow else { return false };
    let Some(id) = notification.agent_id() else { return false };
    workflow.finished_agent(id).is_some() || find_by_id(workflow, None, Some(id)).is_some()
}

/// How a turn of the main agent begins.
struct TurnStart {
    turn: Turn,
    /// The user wrote something, which may solve whatever the loop was stuck on.
    is_user: bool,
    /// An agent of the workflow has ended.
    is_report: bool,
    is_interrupt: bool,
}

/// Records that a turn begins. After an interruption the loop pauses, and the agents that the main agent waited for are
/// given up.
fn begin_turn(snapshot: &mut Snapshot, turn_start: &TurnStart, facts: &Facts, outcome: &mut Outcome) {
    if let Some(workflow) = &mut snapshot.workflow
        && end_waiting(workflow, facts.now)
    {
        outcome.push(Effect::PutWorkflow(workflow.clone()));
    }
    let Some(workflow) = &snapshot.workflow else { return };
    let mut next = snapshot.looping.clone().unwrap_or_else(|| LoopState::started(facts.now));
    next.asked = None;
    if !workflow.is_open() || next.stopped {
        return put_loop(snapshot, next, outcome);
    }
    if !joins_turn(snapshot, facts) {
        next.turn = Some(turn_start.turn);
        next.prompt_id.clone_from(&facts.prompt_id);
    }
    if turn_start.is_user {
        next.forget_progress();
    }
    // An agent that kept working through the interruption advances the workflow.
    if turn_start.is_report && next.paused == Some(Pause::Interrupted) {
        next.unpause();
    }
    if turn_start.is_interrupt {
        next.pause(Pause::Interrupted);
        let released = release(workflow, |agent| !agent.background, facts);
        for lost in &released.lost {
            outcome.emit(lost_agent_record(lost, INTERRUPTED).under(&facts.settings));
        }
        if !released.lost.is_empty() {
            outcome.effects.extend(released.effects);
            outcome.push(Effect::PutWorkflow(released.workflow.clone()));
            snapshot.workflow = Some(released.workflow);
        }
    }
    put_loop(snapshot, next, outcome);
}

/// Stores the loop if it differs from what is stored.
fn put_loop(snapshot: &mut Snapshot, next: LoopState, outcome: &mut Outcome) {
    if snapshot.looping.as_ref() != Some(&next) {
        outcome.push(Effect::PutLoop(next.clone()));
        snapshot.looping = Some(next);
    }
}

fn answer_user(snapshot: &Snapshot, prompt: &str, facts: &Facts) -> Outcome {
    let mut outcome = Outcome::default();
    let mut current = snapshot.clone();
    // Everything but a command of others.
    let is_ours = match prompt.strip_prefix('/') {
        Some(command) => command.starts_with(PLUGIN_PREFIX),
        None => true,
    };
    let moved = snapshot.workflow.as_ref().and_then(|workflow| moved_text(facts.lang, workflow));
    if moved.is_some() && is_ours {
        outcome.reply.model_context = moved;
        return outcome;
    }
    match own_command(prompt).and_then(Skill::from_name) {
        Some(Skill::Stop) => return stop_by_user(snapshot, facts),
        Some(Skill::Resume) => return resume_by_user(snapshot, facts),
        _ => {}
    }
    // A command is input of the user as well, unless it only shows something or stops the loop.
    if !is_silent_command(prompt)
        && let Some(next) = snapshot.workflow.as_ref().and_then(with_user_input)
    {
        outcome.push(Effect::PutWorkflow(next.clone()));
        current.workflow = Some(next);
    }
    if prompt.starts_with('/') {
        // Nothing is added to commands of others, and ours contain their own instructions.
        if is_ours {
            outcome.reply.model_context = take_notices(&current, &mut outcome);
        }
        return outcome;
    }
    let mut texts: Vec<_> = take_notices(&current, &mut outcome).into_iter().collect();
    if !facts.plan_mode {
        texts.push(guidance(&current, prompt, facts, &mut outcome));
    }
    if !texts.is_empty() {
        outcome.reply.model_context = Some(texts.join("\n"));
    }
    outcome
}

/// The workflow with the note that the user wrote something. `None` if nothing changes: as long as the work has not
/// begun, there is nothing that the user could want changed.
fn with_user_input(workflow: &WorkflowState) -> Option<WorkflowState> {
    if !workflow.is_open() || workflow.user_wrote || !workflow.has_begun() {
        return None;
    }
    Some(WorkflowState { user_wrote: true, ..workflow.clone() })
}

fn guidance(snapshot: &Snapshot, prompt: &str, facts: &Facts, outcome: &mut Outcome) -> String {
    let lang = facts.lang;
    match workflow_override(prompt) {
        Some(Ok(workflow)) => {
            let seen = Observation::seen(lang, ObservationKind::WorkflowRouting, workflow.name());
            outcome.push(Effect::Observe(seen));
            messages::use_workflow(lang, workflow.name())
        }
        Some(Err(name)) => {
            let known = Workflow::ALL.map(Workflow::name).join(&context::list_separator(lang));
            let unknown = messages::unknown_workflow(lang, &name, &known);
            outcome.reply.system_message = Some(unknown.clone());
            format!("{unknown}\n{}", workflow_status(snapshot, facts))
        }
        None => workflow_status(snapshot, facts),
    }
}

/// The status of the workflow with its next step, or how to start one.
fn workflow_status(snapshot: &Snapshot, facts: &Facts) -> String {
    let lang = facts.lang;
    let Some(workflow) = &snapshot.workflow else {
        return messages::use_auto(lang);
    };
    match workflow.ending {
        Some(Ending::Completed) => messages::use_auto(lang),
        Some(Ending::Aborted) => messages::stopped(lang, &workflow.workflow_type),
        None if snapshot.is_stopped() => messages::stopped(lang, &workflow.workflow_type),
        None => open_workflow_status(snapshot, workflow, facts),
    }
}

/// The status of a workflow that the user has not stopped.
fn open_workflow_status(snapshot: &Snapshot, workflow: &WorkflowState, facts: &Facts) -> String {
    let (lang, name) = (facts.lang, &workflow.workflow_type);
    match next_step(workflow, &facts.settings) {
        Step::Blocked(key) => {
            messages::waiting(lang, name, &titled(lang, key), &agent_name(lang, key.stage.agent()))
        }
        step if snapshot.is_halted() => messages::paused(lang, name, &step_subject(lang, &step)),
        _ => {
            let stage = match workflow.current_stage {
                Some(key) => titled(lang, key),
                None => "–".to_owned(),
            };
            messages::running(lang, name, &stage, &next_step_text(workflow, facts))
        }
    }
}

/// The workflow that `[workflow:standard]` anywhere in the prompt asks for, in upper or lower case. An unknown name is
/// returned as the error.
fn workflow_override(prompt: &str) -> Option<Result<Workflow, String>> {
    const OPENING: &str = "[workflow:";
    let is_opening = |at: &usize| match prompt.get(*at..*at + OPENING.len()) {
        Some(part) => part.eq_ignore_ascii_case(OPENING),
        None => false,
    };
    let at = prompt.match_indices('[').map(|(at, _)| at).find(is_opening)?;
    let name = prompt[at + OPENING.len()..].split(']').next()?.trim();
    let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if name.is_empty() || name.len() > 40 || !is_word {
        return None;
    }
    Some(Workflow::from_name(&name.to_ascii_lowercase()).ok_or_else(|| name.to_owned()))
}

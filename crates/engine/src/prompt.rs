//! What the main agent is told with a prompt, and what a prompt means for the loop.

use overtone_messages::{cli, context, prompt as words};
use overtone_registry::{EventKind, PLUGIN_PREFIX, Skill, Workflow};

use crate::commands::{self, Refusal, USER};
use crate::completion;
use crate::flow::{Step, next_step};
use crate::instinct::{Observation, ObservationKind};
use crate::notification::{Notification, notified};
use crate::outcome::{Effect, Outcome, Record};
use crate::state::{Ending, LoopState, Pause, Turn, WorkflowState};
use crate::text::{agent_name, moved_text, next_step_text, step_subject, titled};
use crate::tools::INTERRUPTED;
use crate::trigger::{Facts, Snapshot};

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
    let beginning = Beginning {
        turn: turn_of(prompt),
        is_user: notification.is_none(),
        is_report: notification.as_ref().is_some_and(|notification| is_report(snapshot, notification)),
        is_interrupt,
    };
    begin_turn(&mut current, &beginning, facts, &mut outcome);
    let answer = match &notification {
        Some(Notification::StoppedByUser) => Outcome::default(),
        Some(notification) => notified(&current, notification, facts),
        None => answer_user(&current, prompt, facts),
    };
    outcome.effects.extend(answer.effects);
    outcome.reply = answer.reply;
    outcome
}

/// The user answered a question of the main agent, which is as good as a prompt.
pub(crate) fn user_answered(workflow: Option<&WorkflowState>) -> Outcome {
    let heard = workflow.and_then(note_user_words).map(Effect::PutWorkflow);
    Outcome { effects: heard.into_iter().collect(), ..Outcome::default() }
}

/// A turn that neither ended nor was let go has been interrupted: the client raises no event for it.
fn is_in_turn(snapshot: &Snapshot) -> bool {
    snapshot.looping.as_ref().is_some_and(|looping| looping.turn.is_some())
}

/// Whether a prompt was typed while the turn was running. The client lets it join the turn, or keeps it for later, and
/// nothing was interrupted.
fn joins_turn(snapshot: &Snapshot, facts: &Facts) -> bool {
    let Some(looping) = snapshot.looping.as_ref().filter(|looping| looping.turn.is_some()) else {
        return false;
    };
    looping.prompt_id.is_some() && looping.prompt_id == facts.prompt_id
}

/// Commands of ours that only show something.
const LOOKING: [&str; 3] = ["status", "dashboard", "specs"];

fn turn_of(prompt: &str) -> Turn {
    match own_command(prompt) {
        Some(name) if LOOKING.contains(&name) => Turn::Looking,
        _ => Turn::Working,
    }
}

/// The name of the command of ours that the user typed: `status` for `/ot:status now`.
fn own_command(prompt: &str) -> Option<&str> {
    prompt.strip_prefix('/')?.strip_prefix(PLUGIN_PREFIX)?.split_whitespace().next()
}

/// The user typed `/ot:stop`. The client raises this event for the user's own words only, so this is their decision.
fn stop_by_user(snapshot: &Snapshot, facts: &Facts) -> Outcome {
    let lang = facts.lang;
    match commands::stop(snapshot, USER, facts.now) {
        Ok(mut outcome) => {
            outcome.reply.system_message = Some(cli::stopped(lang));
            outcome.reply.model_context = snapshot.workflow.as_ref().map(|workflow| {
                let (done, total) = (workflow.resolved_count(), workflow.stages.len());
                words::user_stopped(lang, &workflow.workflow_type, done, total)
            });
            outcome
        }
        Err(Refusal::NothingToDo) => for_both(cli::stopped_already(lang)),
        Err(refusal) => for_both(nothing_to_steer(&refusal, facts)),
    }
}

/// The user typed `/ot:resume`.
fn resume_by_user(snapshot: &Snapshot, facts: &Facts) -> Outcome {
    let lang = facts.lang;
    match commands::resume(snapshot, &facts.settings, USER, facts.now) {
        Ok(mut outcome) => {
            // This turn is the first one of the loop that goes on.
            for effect in &mut outcome.effects {
                if let Effect::PutLoop(looping) = effect {
                    looping.turn = Some(Turn::Working);
                }
            }
            outcome.reply.system_message = Some(cli::resumed(lang));
            outcome.reply.model_context = outcome.workflow().map(|workflow| {
                let step = next_step_text(workflow, facts);
                words::user_resumed(lang, &workflow.workflow_type, &step)
            });
            outcome
        }
        Err(Refusal::NothingToDo) => {
            let mut outcome = Outcome::default();
            outcome.reply.system_message = Some(cli::running_already(lang));
            outcome.reply.model_context = Some(standing(snapshot, facts));
            outcome
        }
        Err(refusal) => for_both(nothing_to_steer(&refusal, facts)),
    }
}

fn nothing_to_steer(refusal: &Refusal, facts: &Facts) -> String {
    match refusal {
        Refusal::Completed => cli::already_complete(facts.lang),
        _ => cli::no_workflow(facts.lang),
    }
}

/// One sentence that the user sees and the model answers with.
fn for_both(text: String) -> Outcome {
    let mut outcome = Outcome::default();
    outcome.reply.model_context = Some(text.clone());
    outcome.reply.system_message = Some(text);
    outcome
}

/// A command that asks for no work.
fn is_silent_command(prompt: &str) -> bool {
    match own_command(prompt) {
        Some(name) => LOOKING.contains(&name) || name == Skill::Stop.name(),
        None => false,
    }
}

/// Whether the notification is about an agent that the workflow knows.
fn is_report(snapshot: &Snapshot, notification: &Notification) -> bool {
    let Some(workflow) = &snapshot.workflow else { return false };
    let Some(id) = notification.agent_id() else { return false };
    workflow.finished_agent(id).is_some() || completion::recorded(workflow, None, Some(id)).is_some()
}

/// How a turn of the main agent begins.
struct Beginning {
    turn: Turn,
    /// The user wrote something, so whatever the loop was stuck on may be solved.
    is_user: bool,
    /// An agent of the workflow has ended.
    is_report: bool,
    is_interrupt: bool,
}

/// Notes that a turn begins. After an interruption the loop pauses, and agents that the main agent waited for are gone.
fn begin_turn(snapshot: &mut Snapshot, beginning: &Beginning, facts: &Facts, outcome: &mut Outcome) {
    let Some(workflow) = &snapshot.workflow else { return };
    let mut next = snapshot.looping.clone().unwrap_or_else(|| LoopState::started(facts.now));
    next.asked = None;
    if !workflow.is_open() || next.stopped {
        return put_loop(snapshot, next, outcome);
    }
    if !joins_turn(snapshot, facts) {
        next.turn = Some(beginning.turn);
        next.prompt_id.clone_from(&facts.prompt_id);
    }
    if beginning.is_user {
        next.forget_progress();
    }
    // An agent that went on through the interruption brings the workflow forward.
    if beginning.is_report && next.paused == Some(Pause::Interrupted) {
        next.unpause();
    }
    if beginning.is_interrupt {
        next.pause(Pause::Interrupted);
        let released = completion::release(workflow, |agent| !agent.background, facts);
        for lost in &released.lost {
            let record =
                Record::new(EventKind::AgentError).with("agent", lost.name()).with("stage", lost.stage);
            outcome.emit(record.with("slot", &*lost.slot).with("error", INTERRUPTED).under(&facts.settings));
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
    let is_ours = prompt.strip_prefix('/').is_none_or(|command| command.starts_with(PLUGIN_PREFIX));
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
    if prompt.starts_with('/') {
        // Whoever types a command says something, unless it only looks or stops.
        if !is_silent_command(prompt)
            && let Some(next) = snapshot.workflow.as_ref().and_then(note_user_words)
        {
            outcome.push(Effect::PutWorkflow(next.clone()));
            current.workflow = Some(next);
        }
        // Commands of others are theirs; ours say themselves what is to be done.
        if is_ours {
            outcome.reply.model_context = take_notices(&current, &mut outcome);
        }
        return outcome;
    }
    if let Some(next) = snapshot.workflow.as_ref().and_then(note_user_words) {
        outcome.push(Effect::PutWorkflow(next.clone()));
        current.workflow = Some(next);
    }
    let notices = take_notices(&current, &mut outcome);
    let guidance = (!facts.plan_mode).then(|| guidance(&current, prompt, facts, &mut outcome));
    let texts: Vec<_> = [notices, guidance].into_iter().flatten().collect();
    outcome.reply.model_context = (!texts.is_empty()).then(|| texts.join("\n"));
    outcome
}

/// With the note that the user wrote, once the work has begun: before that there is nothing to change.
fn note_user_words(workflow: &WorkflowState) -> Option<WorkflowState> {
    if !workflow.is_open() || workflow.user_wrote || !workflow.has_begun() {
        return None;
    }
    Some(WorkflowState { user_wrote: true, ..workflow.clone() })
}

/// The waiting texts, with what is to be done now: others may have been sent while a text waited. Nobody is sent on
/// whom the user has stopped.
pub(crate) fn deliver_notices(snapshot: &Snapshot, facts: &Facts, outcome: &mut Outcome) -> Option<String> {
    let text = take_notices(snapshot, outcome)?;
    // One that was completed meanwhile still has its summary to ask for.
    let going = snapshot.workflow.as_ref().filter(|workflow| workflow.ending != Some(Ending::Aborted));
    let is_ordered_on = |workflow: &&WorkflowState| !workflow.is_open() || !snapshot.is_halted();
    let step = going.filter(is_ordered_on);
    let step = step.map(|workflow| next_step_text(workflow, facts));
    Some([Some(text), step].into_iter().flatten().collect::<Vec<_>>().join("\n"))
}

/// The waiting texts, taken so that they are delivered exactly once: those of a session that was moved, elsewhere.
fn take_notices(snapshot: &Snapshot, outcome: &mut Outcome) -> Option<String> {
    let workflow = snapshot.workflow.as_ref()?;
    if workflow.notices.is_empty() || workflow.moved_to.is_some() {
        return None;
    }
    let mut next = workflow.clone();
    let text = std::mem::take(&mut next.notices).join("\n");
    outcome.push(Effect::PutWorkflow(next));
    Some(text)
}

fn guidance(snapshot: &Snapshot, prompt: &str, facts: &Facts, outcome: &mut Outcome) -> String {
    let lang = facts.lang;
    match workflow_override(prompt) {
        Some(Ok(workflow)) => {
            let seen = Observation::seen(lang, ObservationKind::WorkflowRouting, workflow.name());
            outcome.push(Effect::Observe(seen));
            words::use_workflow(lang, workflow.name())
        }
        Some(Err(name)) => {
            let known = Workflow::ALL.map(Workflow::name).join(&context::list_separator(lang));
            let unknown = words::unknown_workflow(lang, &name, &known);
            outcome.reply.system_message = Some(unknown.clone());
            format!("{unknown}\n{}", standing(snapshot, facts))
        }
        None => standing(snapshot, facts),
    }
}

/// The workflow that runs, or the way to one.
fn standing(snapshot: &Snapshot, facts: &Facts) -> String {
    let lang = facts.lang;
    let Some(workflow) = &snapshot.workflow else {
        return words::use_auto(lang);
    };
    let is_stopped = snapshot.looping.as_ref().is_some_and(|looping| looping.stopped);
    match workflow.ending {
        Some(Ending::Completed) => words::use_auto(lang),
        Some(Ending::Aborted) => words::stopped(lang, &workflow.workflow_type),
        None if is_stopped => words::stopped(lang, &workflow.workflow_type),
        None => of_open(snapshot, workflow, facts),
    }
}

/// What a prompt says of a workflow that the user has not stopped.
fn of_open(snapshot: &Snapshot, workflow: &WorkflowState, facts: &Facts) -> String {
    let (lang, name) = (facts.lang, &workflow.workflow_type);
    match next_step(workflow, &facts.settings) {
        Step::Blocked(key) => {
            words::waiting(lang, name, &titled(lang, key), &agent_name(lang, key.stage.agent()))
        }
        step if snapshot.is_halted() => words::paused(lang, name, &step_subject(lang, &step)),
        _ => {
            let stage = workflow.current_stage.map_or_else(|| "–".to_owned(), |key| titled(lang, key));
            words::running(lang, name, &stage, &next_step_text(workflow, facts))
        }
    }
}

/// `[workflow:standard]` anywhere in the prompt, in any case; an unknown name is reported, not taken.
fn workflow_override(prompt: &str) -> Option<Result<Workflow, String>> {
    const OPENING: &str = "[workflow:";
    let is_opening = |at: &usize| {
        prompt.get(*at..*at + OPENING.len()).is_some_and(|part| part.eq_ignore_ascii_case(OPENING))
    };
    let at = prompt.match_indices('[').map(|(at, _)| at).find(is_opening)?;
    let name = prompt[at + OPENING.len()..].split(']').next()?.trim();
    let plain = !name.is_empty()
        && name.len() <= 40
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    plain.then(|| Workflow::from_name(&name.to_ascii_lowercase()).ok_or_else(|| name.to_owned()))
}

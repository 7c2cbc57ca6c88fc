//! What is added to a user's prompt.

use overtone_messages::{context, prompt as words};
use overtone_registry::{PLUGIN_PREFIX, Workflow};

use crate::flow::next_step;
use crate::instinct::{Observation, ObservationKind};
use crate::notification::{is_notification, notified};
use crate::outcome::{Effect, Outcome};
use crate::state::{Ending, LoopState, WorkflowState};
use crate::text::{moved_text, step_text, titled};
use crate::trigger::{Facts, Snapshot};

pub(crate) fn submit(snapshot: &Snapshot, prompt: &str, facts: &Facts) -> Outcome {
    let prompt = prompt.trim_start();
    if is_notification(prompt) {
        return notified(snapshot.workflow.as_ref(), prompt, facts);
    }
    let mut outcome = Outcome::default();
    release_loop(snapshot.looping.as_ref(), &mut outcome);
    let moved = snapshot.workflow.as_ref().and_then(|workflow| moved_text(facts.lang, workflow));
    if moved.is_none() && prompt.strip_prefix('/').is_some_and(|rest| rest.starts_with(PLUGIN_PREFIX)) {
        outcome.reply.model_context = deliver_notices(snapshot.workflow.as_ref(), facts, &mut outcome);
        return outcome;
    }
    let notices = take_notices(snapshot.workflow.as_ref(), &mut outcome);
    let text = moved.unwrap_or_else(|| guidance(snapshot, prompt, facts, &mut outcome));
    outcome.reply.model_context =
        Some([notices, Some(text.clone())].into_iter().flatten().collect::<Vec<_>>().join("\n"));
    outcome.reply.system_message = Some(text);
    outcome
}

/// The waiting texts with what is to be done now: others may have been sent while a text waited.
pub(crate) fn deliver_notices(
    workflow: Option<&WorkflowState>,
    facts: &Facts,
    outcome: &mut Outcome,
) -> Option<String> {
    let text = take_notices(workflow, outcome)?;
    // One that was completed meanwhile still has its summary to ask for.
    let going = workflow.filter(|workflow| workflow.ending != Some(Ending::Aborted));
    let step = going.map(|workflow| step_text(facts.lang, &next_step(workflow, &facts.settings)));
    Some([Some(text), step].into_iter().flatten().collect::<Vec<_>>().join("\n"))
}

/// The waiting texts, taken so that they are delivered exactly once: those of a session that was moved, elsewhere.
fn take_notices(workflow: Option<&WorkflowState>, outcome: &mut Outcome) -> Option<String> {
    let waiting = |workflow: &&WorkflowState| !workflow.notices.is_empty() && workflow.moved_to.is_none();
    let mut next = workflow.filter(waiting)?.clone();
    let text = std::mem::take(&mut next.notices).join("\n");
    outcome.push(Effect::PutWorkflow(next));
    Some(text)
}

fn release_loop(looping: Option<&LoopState>, outcome: &mut Outcome) {
    if let Some(stuck) =
        looping.filter(|looping| looping.consecutive_errors > 0 || looping.fingerprint.is_some())
    {
        let mut freed = stuck.clone();
        freed.free();
        outcome.push(Effect::PutLoop(freed));
    }
}

fn guidance(snapshot: &Snapshot, prompt: &str, facts: &Facts, outcome: &mut Outcome) -> String {
    let lang = facts.lang;
    match workflow_override(prompt) {
        Some(Ok(workflow)) => {
            let lesson = overtone_messages::tools::user_prefers_workflow(lang, workflow.name());
            outcome.push(Effect::Observe(Observation::seen(
                ObservationKind::WorkflowRouting,
                workflow.name(),
                lesson,
            )));
            words::use_workflow(lang, workflow.name())
        }
        Some(Err(name)) => {
            let known = Workflow::ALL.map(Workflow::name).join(&context::list_separator(lang));
            format!("{}\n{}", words::unknown_workflow(lang, &name, &known), standing(snapshot, facts))
        }
        None => standing(snapshot, facts),
    }
}

/// The workflow that runs, or the way to one.
fn standing(snapshot: &Snapshot, facts: &Facts) -> String {
    let lang = facts.lang;
    let stopped = snapshot.looping.as_ref().is_some_and(|looping| looping.stopped);
    match &snapshot.workflow {
        Some(workflow) if workflow.ending == Some(Ending::Aborted) || (workflow.is_open() && stopped) => {
            words::paused(lang, &workflow.workflow_type)
        }
        Some(workflow) if workflow.is_open() => {
            let stage = workflow.current_stage.map_or_else(|| "–".to_owned(), |key| titled(lang, key));
            let step = step_text(lang, &next_step(workflow, &facts.settings));
            words::running(lang, &workflow.workflow_type, &stage, &step)
        }
        _ => words::use_auto(lang),
    }
}

/// `[workflow:standard]` anywhere in the prompt; an unknown name is told, not taken.
fn workflow_override(prompt: &str) -> Option<Result<Workflow, String>> {
    let name = prompt.split_once("[workflow:")?.1.split(']').next()?.trim();
    let plain = !name.is_empty()
        && name.len() <= 40
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    plain.then(|| Workflow::from_name(name).ok_or_else(|| name.to_owned()))
}

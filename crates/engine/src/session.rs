//! The session's frame: start, compaction, end.

use overtone_messages::{context, prompt};
use overtone_registry::{Agent, EventKind, RefSkill};

use crate::completion::{self, bind_agent};
use crate::outcome::{Effect, Outcome, Record};
use crate::state::{LoopState, StoppedBy, WorkflowState};
use crate::text::{moved_text, pending_tasks, recovery};
use crate::trigger::{Facts, Snapshot, StartSource};

pub(crate) fn start(snapshot: &Snapshot, source: StartSource, facts: &Facts) -> Outcome {
    let mut outcome = Outcome::default();
    outcome.push(Effect::PointCurrentSession);
    outcome.push(Effect::ExportSession);
    if source != StartSource::Compact {
        let record = Record::new(EventKind::SessionStart).with("source", source_name(source));
        outcome.emit(record.with("version", facts.version));
        resume_loop(snapshot, &mut outcome);
    }
    let workflow =
        snapshot.workflow.as_ref().map(|workflow| refreshed(workflow, source, facts, &mut outcome));
    if workflow != snapshot.workflow {
        outcome.effects.extend(workflow.clone().map(Effect::PutWorkflow));
    }
    greet(workflow.as_ref(), source, facts, &mut outcome);
    outcome
}

const fn source_name(source: StartSource) -> &'static str {
    match source {
        StartSource::Startup => "startup",
        StartSource::Resume => "resume",
        StartSource::Clear => "clear",
        StartSource::Compact => "compact",
    }
}

/// The end of a session stops the loop; coming back to it starts the loop again.
fn resume_loop(snapshot: &Snapshot, outcome: &mut Outcome) {
    let open = snapshot.workflow.as_ref().is_some_and(WorkflowState::is_open);
    if let Some(looping) =
        snapshot.looping.as_ref().filter(|l| open && l.stopped_by == Some(StoppedBy::SessionEnd))
    {
        let mut next = looping.clone();
        next.restart();
        outcome.push(Effect::PutLoop(next));
    }
}

/// The workflow as a starting session finds it: with its feature, and without agents of a dead process.
fn refreshed(
    workflow: &WorkflowState,
    source: StartSource,
    facts: &Facts,
    outcome: &mut Outcome,
) -> WorkflowState {
    let mut next = workflow.clone();
    let unnamed = next.feature_name.as_deref().unwrap_or_default().is_empty();
    if let Some(feature) =
        facts.feature.as_ref().filter(|_| unnamed && next.is_open() && !facts.feature_is_taken)
    {
        next.feature_name = Some(feature.name.clone());
    }
    if source == StartSource::Compact {
        return next;
    }
    let released = completion::release(&next, |_| true, facts);
    outcome.effects.extend(released.effects);
    released.workflow
}

fn greet(workflow: Option<&WorkflowState>, source: StartSource, facts: &Facts, outcome: &mut Outcome) {
    let lang = facts.lang;
    outcome.reply.result = prompt::banner(lang, facts.version);
    let moved = workflow.and_then(|workflow| moved_text(lang, workflow));
    let tasks = || facts.feature.as_ref().and_then(|feature| pending_tasks(lang, feature, true));
    let interrupted = moved.clone().or_else(tasks);
    let running = workflow.filter(|workflow| workflow.is_open() && moved.is_none());
    let state = match (source, running) {
        (StartSource::Compact, Some(workflow)) => {
            Some(recovery(context::recovery_header(lang), workflow, facts))
        }
        (_, Some(workflow)) => Some(recovery(context::resume_header(lang), workflow, facts)),
        (_, None) => interrupted.clone(),
    };
    if source != StartSource::Compact {
        outcome.reply.system_message = interrupted;
    }
    let parts: Vec<_> = [state, lessons(facts)].into_iter().flatten().collect();
    if !parts.is_empty() {
        outcome.reply.model_context = Some(parts.join("\n\n"));
    }
}

fn lessons(facts: &Facts) -> Option<String> {
    if facts.lessons.is_empty() {
        return None;
    }
    let list: Vec<_> = facts.lessons.iter().map(|lesson| format!("- {lesson}")).collect();
    Some(format!("{}\n{}", context::instincts(facts.lang), list.join("\n")))
}

pub(crate) fn compact(snapshot: &Snapshot, trigger: &str, facts: &Facts) -> Outcome {
    let mut outcome = Outcome::default();
    let completed_stages = snapshot.workflow.as_ref().and_then(|workflow| workflow.completed_stages);
    outcome.push(Effect::CountCompaction { automatic: trigger != "manual", completed_stages });
    let Some(workflow) = &snapshot.workflow else {
        return outcome;
    };
    let record = Record::new(EventKind::SessionCompact).with("workflowType", &*workflow.workflow_type);
    outcome.emit(record.with("currentStage", workflow.current_stage).with("trigger", trigger));
    if workflow.is_open() {
        let text = moved_text(facts.lang, workflow)
            .unwrap_or_else(|| recovery(context::recovery_header(facts.lang), workflow, facts));
        outcome.reply.system_message = Some(text);
    }
    outcome
}

pub(crate) fn end(looping: Option<&LoopState>, reason: &str) -> Outcome {
    let mut outcome = Outcome::default();
    // A loop that was stopped before has had its end recorded.
    if !looping.is_some_and(|looping| looping.stopped) {
        outcome.emit(Record::new(EventKind::SessionEnd).with("reason", reason));
        if let Some(looping) = looping {
            let mut next = looping.clone();
            next.stop(StoppedBy::SessionEnd);
            outcome.push(Effect::PutLoop(next));
        }
    }
    outcome.push(Effect::ClearCurrentSession);
    outcome
}

/// A sub-agent starts: it gets the reference skills that the client does not preload.
pub(crate) fn agent_started(snapshot: &Snapshot, agent: Agent, agent_id: &str, facts: &Facts) -> Outcome {
    let mut outcome = Outcome::default();
    if let Some(workflow) = snapshot.workflow.as_ref().filter(|_| !agent_id.is_empty()) {
        outcome.effects.extend(bind_agent(workflow, agent, agent_id).map(Effect::PutWorkflow));
    }
    let bodies: Vec<_> = agent.skills().iter().map(|skill: &RefSkill| skill.body().trim_end()).collect();
    if !bodies.is_empty() {
        let text = format!("{}\n\n{}", context::reference_skills(facts.lang), bodies.join("\n\n"));
        outcome.reply.model_context = Some(text);
    }
    outcome
}

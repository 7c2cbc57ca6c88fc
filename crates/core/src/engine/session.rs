//! The start, the compaction and the end of a session, and the start of its agents.

use crate::messages::{context, prompt};
use crate::registry::{Agent, EventKind, RefSkill};

use crate::engine::agents::bind_agent;
use crate::engine::budget::reached_text;
use crate::engine::context::quoted_reports;
use crate::engine::flow::{Step, next_step};
use crate::engine::gate;
use crate::engine::instinct::advice;
use crate::engine::outcome::{Effect, Outcome, Record};
use crate::engine::quote::quoted;
use crate::engine::release::release;
use crate::engine::state::{LoopState, Pause, StoppedBy, WorkflowState};
use crate::engine::text::{
    duration, moved_text, pending_tasks, recovery, repository_feature, short_id, state_summary, titled,
};
use crate::engine::trigger::{Facts, FeatureOrigin, Snapshot, StartSource};

pub(crate) fn start(snapshot: &Snapshot, source: StartSource, facts: &Facts) -> Outcome {
    let mut outcome = Outcome::default();
    outcome.push(Effect::PointCurrentSession);
    outcome.push(Effect::ExportSession);
    if source != StartSource::Compact {
        let record = Record::new(EventKind::SessionStart).with("source", source_name(source));
        outcome.emit(record.with("version", facts.version));
    }
    let looping = started_loop(snapshot, source);
    if looping != snapshot.looping {
        outcome.effects.extend(looping.clone().map(Effect::PutLoop));
    }
    let workflow =
        snapshot.workflow.as_ref().map(|workflow| refreshed(workflow, source, facts, &mut outcome));
    if workflow != snapshot.workflow {
        outcome.effects.extend(workflow.clone().map(Effect::PutWorkflow));
    }
    greet(&Snapshot { workflow, looping }, source, facts, &mut outcome);
    outcome
}

const fn source_name(source: StartSource) -> &'static str {
    match source {
        StartSource::Startup => "startup",
        StartSource::Resume => "resume",
        StartSource::Clear => "clear",
        StartSource::Compact => "compact",
        StartSource::Fork => "fork",
    }
}

/// The loop of a starting session. The end of a session stops the loop, and a resumed session starts it again. A loop
/// that the user has stopped stays stopped.
fn started_loop(snapshot: &Snapshot, source: StartSource) -> Option<LoopState> {
    let mut next = snapshot.looping.clone()?;
    if source == StartSource::Compact {
        return Some(next);
    }
    // The turn ended with the process of the client.
    next.end_turn();
    if let Some(workflow) = &snapshot.workflow
        && workflow.is_open()
        && next.stopped_by == Some(StoppedBy::SessionEnd)
    {
        // Resuming a session does not undo an interruption by the user. A loop without progress tries again.
        let was_interrupted = next.paused == Some(Pause::Interrupted);
        next.restart();
        if was_interrupted {
            next.paused = Some(Pause::Interrupted);
        }
    }
    Some(next)
}

/// The workflow of a starting session: with its feature, and without agents of a process that has ended.
fn refreshed(
    workflow: &WorkflowState,
    source: StartSource,
    facts: &Facts,
    outcome: &mut Outcome,
) -> WorkflowState {
    let mut next = workflow.clone();
    let unnamed = next.feature_name.as_deref().unwrap_or_default().is_empty();
    if let Some(feature) = facts.known_feature()
        && unnamed
        && next.is_open()
        && facts.feature_holder.is_none()
    {
        next.feature_name = Some(feature.name.clone());
    }
    if source == StartSource::Compact {
        return next;
    }
    let released = release(&next, |_| true, facts);
    outcome.effects.extend(released.effects);
    released.workflow
}

fn greet(snapshot: &Snapshot, source: StartSource, facts: &Facts, outcome: &mut Outcome) {
    let lang = facts.lang;
    outcome.reply.result = prompt::banner(lang, facts.version);
    let workflow = snapshot.workflow.as_ref().filter(|workflow| workflow.is_open());
    let state = match workflow {
        Some(workflow) => Some(match moved_text(lang, workflow) {
            Some(moved) => moved,
            None if source == StartSource::Compact => {
                recovery(context::recovery_header(lang), snapshot, workflow, facts)
            }
            None => recovery(context::resume_header(lang), snapshot, workflow, facts),
        }),
        None if source == StartSource::Fork => Some(context::forked(lang)),
        None => unfinished_feature(facts),
    };
    if source != StartSource::Compact {
        outcome.reply.system_message = Some(greeting(snapshot, workflow, facts));
    }
    let parts: Vec<_> = [state, lessons(facts)].into_iter().flatten().collect();
    if !parts.is_empty() {
        outcome.reply.model_context = Some(parts.join("\n\n"));
    }
}

/// The one line that the user sees when a session starts.
fn greeting(snapshot: &Snapshot, workflow: Option<&WorkflowState>, facts: &Facts) -> String {
    let lang = facts.lang;
    if let Some(workflow) = workflow {
        let (name, done, total) = (&workflow.workflow_type, workflow.resolved_count(), workflow.stages.len());
        if let Some(machine) = &workflow.moved_to {
            return prompt::greet_moved(lang, name, machine);
        }
        return match next_step(workflow, &facts.settings) {
            Step::OverBudget(_) => reached_text(workflow, lang).unwrap_or_default(),
            _ if snapshot.is_stopped() => prompt::greet_stopped(lang, name, done, total),
            Step::Report(key) | Step::Blocked(key) | Step::AskUser(key) => {
                prompt::greet_waiting(lang, name, &titled(lang, key))
            }
            _ if snapshot.is_halted() => prompt::greet_paused(lang, name, done, total),
            _ => prompt::greet_running(lang, name, done, total),
        };
    }
    match (&facts.feature, &facts.feature_holder) {
        (Some(feature), _) if feature.origin == FeatureOrigin::Repository => {
            let name = quoted(&feature.name);
            prompt::greet_repository_feature(lang, facts.version, &name, feature.checked, feature.total)
        }
        (Some(feature), Some(holder)) => {
            let age = duration(facts.now.since(holder.last_active));
            prompt::greet_held(lang, facts.version, &feature.name, short_id(&holder.session_id), &age)
        }
        (Some(feature), None) if !feature.pending.is_empty() => {
            prompt::greet_unfinished(lang, facts.version, &feature.name, feature.checked, feature.total)
        }
        _ => prompt::banner(lang, facts.version),
    }
}

/// The text for the model about a feature that an earlier session left unfinished, that another session works on, or that
/// came with the repository.
fn unfinished_feature(facts: &Facts) -> Option<String> {
    let feature = facts.feature.as_ref()?;
    if feature.origin == FeatureOrigin::Repository {
        if feature.pending.is_empty() {
            return None;
        }
        return Some(repository_feature(facts.lang, feature));
    }
    if let Some(holder) = &facts.feature_holder {
        let age = duration(facts.now.since(holder.last_active));
        let id = short_id(&holder.session_id);
        return Some(context::feature_held(facts.lang, &feature.name, id, &age));
    }
    let tasks = pending_tasks(facts.lang, feature, true)?;
    Some(format!("{tasks}\n{}", context::only_if_asked(facts.lang)))
}

fn lessons(facts: &Facts) -> Option<String> {
    let advice = facts.lessons.iter().filter_map(|lesson| advice(facts.lang, lesson.kind, &lesson.trigger));
    let list: Vec<_> = advice.map(|lesson| format!("- {lesson}")).collect();
    if list.is_empty() {
        return None;
    }
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
        let header = context::recovery_header(facts.lang);
        outcome.reply.system_message = Some(match moved_text(facts.lang, workflow) {
            Some(moved) => moved,
            // The instructions follow with the start of the session after the compaction, which the user does not see.
            None if facts.has_screen => state_summary(header, workflow, facts),
            None => recovery(header, snapshot, workflow, facts),
        });
    }
    outcome
}

pub(crate) fn end(looping: Option<&LoopState>, reason: &str) -> Outcome {
    let mut outcome = Outcome::default();
    let record = Record::new(EventKind::SessionEnd).with("reason", reason);
    match looping {
        // The end is recorded only once: a loop that was stopped before has its own record.
        Some(looping) if looping.stopped => {}
        Some(looping) => {
            outcome.emit(record);
            let mut next = looping.clone();
            next.stop(StoppedBy::SessionEnd);
            outcome.push(Effect::PutLoop(next));
        }
        None => outcome.emit(record),
    }
    outcome.push(Effect::ClearCurrentSession);
    outcome
}

/// A sub-agent starts. It gets the reference skills, which the client does not preload, and the earlier reports of the
/// workflow. An agent that is continued has both already, and gets only the skills, which the client may have dropped.
pub(crate) fn agent_started(snapshot: &Snapshot, agent: Agent, agent_id: &str, facts: &Facts) -> Outcome {
    let mut outcome = Outcome::default();
    let mut is_new = false;
    if let Some(workflow) = &snapshot.workflow
        && !agent_id.is_empty()
    {
        match workflow.finished_agent(agent_id) {
            Some(known) if known.agent == Some(agent) => {
                outcome = gate::agent_restarted(snapshot, agent, agent_id, facts);
            }
            _ => {
                let is_known = workflow.active_agents.iter().any(|active| active.is(None, Some(agent_id)));
                is_new = workflow.is_open() && !is_known;
                outcome.effects.extend(bind_agent(workflow, agent, agent_id).map(Effect::PutWorkflow));
            }
        }
    }
    let mut texts = Vec::new();
    let bodies: Vec<_> = agent.skills().iter().map(|skill: &RefSkill| skill.body().trim_end()).collect();
    if !bodies.is_empty() {
        texts.push(format!("{}\n\n{}", context::reference_skills(facts.lang), bodies.join("\n\n")));
    }
    if is_new {
        texts.extend(quoted_reports(facts));
    }
    if !texts.is_empty() {
        outcome.reply.model_context = Some(texts.join("\n\n"));
    }
    outcome
}

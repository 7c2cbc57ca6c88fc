//! What a person (or the main agent, for them) may do to a workflow: start, stop, resume; say something to its main
//! agent; let another machine go on with it, and take it back.

use overtone_messages::{Lang, cli, prompt as words};
use overtone_registry::{EventKind, Workflow};

use crate::flow::next_step;
use crate::outcome::{Effect, Outcome, Record};
use crate::settings::Settings;
use crate::state::{Ending, LoopState, Millis, StoppedBy, WorkflowState};
use crate::text::{cut, moved_text, one_line, step_for_user, units};
use crate::trigger::Snapshot;

/// How long a message may be, in UTF-16 units.
pub const MESSAGE_UNITS: usize = 2_000;

/// The timeline's `by` for what the user did themselves.
pub const USER: &str = "user";

/// How much of the name of a person or a machine is kept.
const NAME_UNITS: usize = 64;

/// Why a command is not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A workflow is running; starting another would destroy it.
    Running {
        workflow_type: String,
        done: usize,
        total: usize,
    },
    NoWorkflow,
    Completed,
    /// The loop is already as asked for.
    NothingToDo,
    /// Another machine has taken the session over.
    Moved {
        to: String,
    },
    /// The message is not one that can be delivered.
    Message(Undeliverable),
}

/// What is wrong with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undeliverable {
    Empty,
    /// Longer than [`MESSAGE_UNITS`].
    TooLong {
        units: usize,
    },
    /// Others wait to be heard, and one of them would be lost.
    TooManyWaiting,
}

impl std::fmt::Display for Undeliverable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => f.write_str("the message is empty"),
            Self::TooLong { units } => {
                write!(f, "the message is too long ({units} of {MESSAGE_UNITS} units)")
            }
            Self::TooManyWaiting => f.write_str("too many texts wait for the main agent"),
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Running { workflow_type, done, total } => {
                write!(f, "workflow `{workflow_type}` is running ({done}/{total} stages done)")
            }
            Self::NoWorkflow => f.write_str("no workflow in this session"),
            Self::Completed => f.write_str("the workflow is complete"),
            Self::NothingToDo => f.write_str("nothing to do"),
            Self::Moved { to } => write!(f, "the session continues on {to}"),
            Self::Message(problem) => problem.fmt(f),
        }
    }
}

impl std::error::Error for Refusal {}

/// What is started.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    pub session_id: &'a str,
    pub workflow: Workflow,
    pub feature: Option<&'a str>,
    /// The feature's folder was made for this workflow.
    pub feature_is_new: bool,
    pub force: bool,
    /// Who starts it, for the timeline. Records of earlier versions do not say.
    pub by: Option<&'a str>,
    pub now: Millis,
}

/// Starts a workflow with a fresh loop.
pub fn init(snapshot: &Snapshot, start: &Start) -> Result<Outcome, Refusal> {
    if !start.force {
        stay_here(snapshot)?;
        running(snapshot).map_or(Ok(()), Err)?;
    }
    let mut workflow = WorkflowState::new(start.session_id, start.workflow, start.feature, start.now);
    if let Some(earlier) = &snapshot.workflow {
        workflow.completed_stages = earlier.completed_stages;
        workflow.disown_agents(earlier);
        workflow.take_over_messages(earlier);
    }
    let mut outcome = Outcome::default();
    if let Some(replaced) = snapshot.workflow.as_ref().filter(|old| old.is_open()) {
        let record = Record::new(EventKind::WorkflowAbort).with("workflowType", &*replaced.workflow_type);
        outcome.emit(record.with("reason", "replaced"));
    }
    let stages: Vec<_> = start.workflow.stage_keys().map(|key| key.to_string()).collect();
    let record = Record::new(EventKind::WorkflowStart).with("workflowType", start.workflow.name());
    let record = record.with("stages", stages).with("featureName", start.feature);
    outcome.emit(record.with_some("by", start.by));
    if start.feature_is_new {
        outcome.emit(Record::new(EventKind::SpecsInit).with("feature", start.feature));
    }
    outcome.emit(Record::new(EventKind::LoopStart));
    outcome.push(Effect::PutWorkflow(workflow));
    outcome.push(Effect::PutLoop(LoopState::started(start.now)));
    Ok(outcome)
}

fn running(snapshot: &Snapshot) -> Option<Refusal> {
    let workflow = snapshot.workflow.as_ref().filter(|workflow| workflow.is_open())?;
    Some(Refusal::Running {
        workflow_type: workflow.workflow_type.clone(),
        done: workflow.resolved_count(),
        total: workflow.stages.len(),
    })
}

/// Stops the loop; the workflow is kept. `by`: who did it, for the timeline.
pub fn stop(snapshot: &Snapshot, by: &str, now: Millis) -> Result<Outcome, Refusal> {
    open_workflow(snapshot)?;
    let mut looping = snapshot.looping.clone().unwrap_or_else(|| LoopState::started(now));
    if looping.stopped && looping.stopped_by == Some(StoppedBy::User) {
        return Err(Refusal::NothingToDo);
    }
    looping.stop(StoppedBy::User);
    let mut outcome = Outcome::default();
    outcome.emit(Record::new(EventKind::SystemWarning).with("reason", "loop-stopped").with("by", by));
    outcome.push(Effect::PutLoop(looping));
    Ok(outcome)
}

/// Lets a stopped loop go on, and gives a workflow that reached its limit new attempts.
pub fn resume(snapshot: &Snapshot, settings: &Settings, by: &str, now: Millis) -> Result<Outcome, Refusal> {
    stay_here(snapshot)?;
    let mut workflow = match &snapshot.workflow {
        None => return Err(Refusal::NoWorkflow),
        Some(workflow) if workflow.ending == Some(Ending::Completed) => return Err(Refusal::Completed),
        Some(workflow) => workflow.clone(),
    };
    let mut looping = snapshot.looping.clone().unwrap_or_else(|| LoopState::started(now));
    let aborted = workflow.ending == Some(Ending::Aborted);
    if !aborted && !looping.stopped && looping.paused.is_none() {
        return Err(Refusal::NothingToDo);
    }
    workflow.forgive();
    workflow.user_wrote |= workflow.has_begun();
    looping.restart();
    if looping.iterations >= settings.max_iterations {
        looping.iterations = 0;
    }
    let mut outcome = Outcome::default();
    let record = Record::new(EventKind::LoopStart).with("reason", "resumed").with("by", by);
    outcome.emit(record.under(settings));
    outcome.push(Effect::PutWorkflow(workflow));
    outcome.push(Effect::PutLoop(looping));
    Ok(outcome)
}

/// Says something to the main agent; the next hook that can delivers it, exactly once. `by`: whose word it is.
pub fn message(
    snapshot: &Snapshot,
    text: &str,
    by: &str,
    lang: Lang,
    now: Millis,
) -> Result<Outcome, Refusal> {
    let mut workflow = open_workflow(snapshot)?.clone();
    let text = one_line(text);
    let length = deliverable(&workflow, &text).map_err(Refusal::Message)?;
    let by = short_name(by);
    workflow.leave_notice(words::message_from(lang, &by, &text));
    workflow.user_wrote |= workflow.has_begun();
    let mut outcome = Outcome::default();
    let record = Record::new(EventKind::SystemWarning).with("reason", "message").with("by", by);
    outcome.emit(record.with("length", length));
    outcome.push(Effect::PutWorkflow(workflow));
    let mut looping = snapshot.looping.clone().unwrap_or_else(|| LoopState::started(now));
    looping.unpause();
    outcome.push(Effect::PutLoop(looping));
    Ok(outcome)
}

/// The length of a message that can be delivered.
fn deliverable(workflow: &WorkflowState, text: &str) -> Result<u32, Undeliverable> {
    let units = units(text);
    if units == 0 {
        return Err(Undeliverable::Empty);
    }
    if workflow.is_full_of_notices() {
        return Err(Undeliverable::TooManyWaiting);
    }
    let too_long = Undeliverable::TooLong { units };
    u32::try_from(units).ok().filter(|_| units <= MESSAGE_UNITS).ok_or(too_long)
}

fn short_name(name: &str) -> String {
    cut(&one_line(name), NAME_UNITS).to_owned()
}

/// Another machine goes on with the session; here nothing more is done. Said twice, it is done once.
pub fn step_aside(snapshot: &Snapshot, to: &str, now: Millis) -> Result<Outcome, Refusal> {
    let mut workflow = snapshot.workflow.clone().ok_or(Refusal::NoWorkflow)?;
    let mut looping = snapshot.looping.clone().unwrap_or_else(|| LoopState::started(now));
    let to = short_name(to);
    let mut outcome = Outcome::default();
    if workflow.moved_to.as_ref() == Some(&to) && looping.stopped_by == Some(StoppedBy::Moved) {
        return Ok(outcome);
    }
    outcome.emit(Record::new(EventKind::SystemWarning).with("reason", "session-moved").with("to", &*to));
    workflow.moved_to = Some(to);
    looping.stop(StoppedBy::Moved);
    looping.announced = false;
    outcome.push(Effect::PutWorkflow(workflow));
    outcome.push(Effect::PutLoop(looping));
    Ok(outcome)
}

/// The session goes on here again; one that had ended stays as it ended.
pub fn come_back(snapshot: &Snapshot, now: Millis) -> Result<Outcome, Refusal> {
    let mut workflow = snapshot.workflow.clone().ok_or(Refusal::NoWorkflow)?;
    let from = workflow.moved_to.take().ok_or(Refusal::NothingToDo)?;
    let mut looping = snapshot.looping.clone().unwrap_or_else(|| LoopState::started(now));
    looping.restart();
    match workflow.ending {
        None => {}
        Some(Ending::Completed) => looping.stop(StoppedBy::Completion),
        Some(Ending::Aborted) => looping.stop(StoppedBy::Limit),
    }
    let mut outcome = Outcome::default();
    outcome.emit(Record::new(EventKind::SystemWarning).with("reason", "session-pulled").with("from", from));
    outcome.push(Effect::PutWorkflow(workflow));
    outcome.push(Effect::PutLoop(looping));
    Ok(outcome)
}

/// What is done to a session is done where it goes on.
fn stay_here(snapshot: &Snapshot) -> Result<(), Refusal> {
    let to = snapshot.workflow.as_ref().and_then(|workflow| workflow.moved_to.clone());
    to.map_or(Ok(()), |to| Err(Refusal::Moved { to }))
}

fn open_workflow(snapshot: &Snapshot) -> Result<&WorkflowState, Refusal> {
    stay_here(snapshot)?;
    match &snapshot.workflow {
        None => Err(Refusal::NoWorkflow),
        Some(workflow) if workflow.ending == Some(Ending::Completed) => Err(Refusal::Completed),
        Some(workflow) => Ok(workflow),
    }
}

/// The next step in words for the user, for status displays. `None` when nothing is left to do.
pub fn next_words(
    workflow: &WorkflowState,
    looping: Option<&LoopState>,
    settings: &Settings,
    lang: Lang,
) -> Option<String> {
    if let Some(moved) = moved_text(lang, workflow) {
        return Some(moved);
    }
    let step = next_step(workflow, settings);
    match workflow.ending {
        Some(Ending::Completed) => return None,
        Some(Ending::Aborted) => return Some(step_for_user(lang, &step)),
        None => {}
    }
    Some(match looping {
        Some(looping) if looping.stopped_by == Some(StoppedBy::SessionEnd) && looping.stopped => {
            cli::next_reopen(lang, &workflow.session_id)
        }
        Some(looping) if looping.stopped => cli::resume_to_go_on(lang),
        Some(looping) if looping.paused.is_some() && step.waits_for_user().is_none() => {
            cli::next_continue(lang)
        }
        _ => step_for_user(lang, &step),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(force: bool) -> Start<'static> {
        let (workflow, now) = (Workflow::Quick, Millis(1));
        Start { session_id: "s", workflow, feature: None, feature_is_new: false, force, by: None, now }
    }

    fn snapshot(outcome: &Outcome) -> Snapshot {
        let looping = outcome.effects.iter().find_map(|effect| match effect {
            Effect::PutLoop(looping) => Some(looping.clone()),
            _ => None,
        });
        Snapshot { workflow: outcome.workflow().cloned(), looping }
    }

    #[test]
    fn a_running_workflow_is_not_destroyed_without_force() {
        let running = snapshot(&init(&Snapshot::default(), &start(false)).unwrap());
        let refused = Refusal::Running { workflow_type: "quick".into(), done: 0, total: 5 };
        assert_eq!(init(&running, &start(false)).unwrap_err(), refused);
        assert!(init(&running, &start(true)).is_ok());
    }

    #[test]
    fn a_new_workflow_does_not_inherit_a_stopped_loop() {
        let mut ended = snapshot(&init(&Snapshot::default(), &start(false)).unwrap());
        ended.looping.as_mut().unwrap().stop(StoppedBy::User);
        ended.workflow.as_mut().unwrap().ending = Some(Ending::Completed);
        let fresh = snapshot(&init(&ended, &start(false)).unwrap());
        assert!(!fresh.looping.unwrap().stopped);
    }

    #[test]
    fn agents_of_an_earlier_workflow_are_known_to_have_nothing_to_report() {
        let mut running = snapshot(&init(&Snapshot::default(), &start(false)).unwrap());
        let earlier = running.workflow.as_mut().unwrap();
        earlier.remember_finished("a1", None);
        earlier.active_agents.push(crate::state::ActiveAgent {
            slot: "developer".into(),
            agent_id: Some("a2".into()),
            background: true,
            ..crate::state::ActiveAgent::default()
        });
        let fresh = snapshot(&init(&running, &start(true)).unwrap()).workflow.unwrap();
        let ids: Vec<_> = fresh.finished_agents.iter().map(|finished| finished.id.as_str()).collect();
        assert_eq!(ids, ["a1", "a2"]);
        assert!(fresh.active_agents.is_empty());
    }

    #[test]
    fn resume_gives_an_aborted_workflow_new_attempts_without_losing_its_counts() {
        let mut aborted = snapshot(&init(&Snapshot::default(), &start(false)).unwrap());
        let workflow = aborted.workflow.as_mut().unwrap();
        workflow.fail_count = 3;
        workflow.ending = Some(Ending::Aborted);
        let resumed =
            snapshot(&resume(&aborted, &Settings::default(), "user", Millis(2)).unwrap()).workflow.unwrap();
        assert_eq!((resumed.ending, resumed.fail_count, resumed.counted_failures()), (None, 3, 0));
    }

    #[test]
    fn stop_and_resume_are_told_when_there_is_nothing_to_do() {
        let nothing = Snapshot::default();
        assert_eq!(stop(&nothing, "user", Millis(0)).unwrap_err(), Refusal::NoWorkflow);
        let running = snapshot(&init(&nothing, &start(false)).unwrap());
        assert_eq!(
            resume(&running, &Settings::default(), "user", Millis(0)).unwrap_err(),
            Refusal::NothingToDo
        );
    }
}

//! What a workflow is doing, as the user sees it.

use overtone_core::engine::flow::{Step, next_step};
use overtone_core::engine::settings::Settings;
use overtone_core::engine::state::{Ending, LoopState, Pause, StoppedBy, WorkflowState};
use overtone_core::messages::{Lang, cli};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    Running,
    /// Every stage is done, and the workflow completes when the main agent stops.
    Finished,
    /// The user stopped the loop.
    Stopped,
    /// The loop made no progress, or the user interrupted it. The user's next message continues it.
    Paused,
    /// A limit is reached, an agent is blocked, or the user has to decide about the outcome.
    NeedsUser,
    /// The client's session has ended. Resuming it continues the workflow.
    SessionEnded,
    Completed,
    /// Another machine has taken the session over.
    Moved,
}

impl Condition {
    pub fn new(workflow: &WorkflowState, looping: Option<&LoopState>, settings: &Settings) -> Self {
        if workflow.moved_to.is_some() {
            return Self::Moved;
        }
        match workflow.ending {
            Some(Ending::Completed) => return Self::Completed,
            Some(Ending::Aborted) => return Self::NeedsUser,
            None => {}
        }
        if let Some(looping) = looping
            && looping.stopped
        {
            return match looping.stopped_by {
                Some(StoppedBy::Limit) => Self::NeedsUser,
                Some(StoppedBy::SessionEnd) => Self::SessionEnded,
                Some(StoppedBy::User | StoppedBy::Completion | StoppedBy::Moved) | None => Self::Stopped,
            };
        }
        let is_paused = matches!(looping, Some(looping) if looping.paused.is_some());
        match next_step(workflow, settings) {
            step if step.waits_for_user() => Self::NeedsUser,
            _ if is_paused => Self::Paused,
            Step::Done => Self::Finished,
            _ => Self::Running,
        }
    }
}

/// Why a paused loop waits, as a short text for the user.
pub fn pause_reason(lang: Lang, looping: Option<&LoopState>) -> String {
    match looping.and_then(|looping| looping.paused) {
        Some(Pause::Interrupted) => cli::loop_interrupted(lang),
        Some(Pause::NoProgress) | None => cli::loop_stuck(lang),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use overtone_core::engine::state::{Millis, StageResult, Status, Verdict};
    use overtone_core::registry::Workflow;

    fn condition(change: impl FnOnce(&mut WorkflowState, &mut LoopState)) -> Condition {
        let mut workflow = WorkflowState::new("s", Workflow::Single, None, Millis(0));
        let mut looping = LoopState::started(Millis(0));
        change(&mut workflow, &mut looping);
        Condition::new(&workflow, Some(&looping), &Settings::default())
    }

    fn close(workflow: &mut WorkflowState, verdict: Verdict) {
        workflow.stages[0].status = Status::Completed;
        workflow.stages[0].result = Some(StageResult::Verdict(verdict));
    }

    #[test]
    fn an_open_workflow_runs_until_every_stage_is_done() {
        assert_eq!(condition(|_, _| ()), Condition::Running);
        assert_eq!(condition(|workflow, _| close(workflow, Verdict::Fail)), Condition::Running);
        assert_eq!(condition(|workflow, _| close(workflow, Verdict::Pass)), Condition::Finished);
        assert_eq!(condition(|workflow, _| workflow.ending = Some(Ending::Completed)), Condition::Completed);
    }

    #[test]
    fn the_condition_of_a_stopped_loop_depends_on_what_stopped_it() {
        let stopped = |by| condition(|_, looping| looping.stop(by));
        assert_eq!(stopped(StoppedBy::User), Condition::Stopped);
        assert_eq!(stopped(StoppedBy::Limit), Condition::NeedsUser);
        assert_eq!(stopped(StoppedBy::SessionEnd), Condition::SessionEnded);
        assert_eq!(condition(|_, looping| looping.pause(Pause::NoProgress)), Condition::Paused);
        assert_eq!(condition(|workflow, _| close(workflow, Verdict::Blocked)), Condition::NeedsUser);
        assert_eq!(condition(|workflow, _| workflow.ending = Some(Ending::Aborted)), Condition::NeedsUser);
        let at_limit = condition(|workflow, _| {
            workflow.fail_count = 3;
            close(workflow, Verdict::Fail);
        });
        assert_eq!(at_limit, Condition::NeedsUser);
    }
}

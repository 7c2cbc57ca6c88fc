//! Ensures a single decision per Stop: while Overtone's loop keeps the session going, the supervisor does not review.

use std::thread;
use std::time::{Duration, Instant};

use overtone_core::engine::state::WorkflowState;
use overtone_store::{Home, Session, SessionId};

/// Both hooks run at the same time, so a loop that is about to end gets a moment to record it.
const LOOP_END_TIMEOUT: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The state of the loop.
#[derive(Debug, PartialEq, Eq)]
enum LoopState {
    /// There is no workflow, or its loop has ended.
    Inactive,
    /// Every stage is done: the loop ends with this stop, unless there are open tasks.
    Ending,
    Active,
}

/// Whether the loop keeps the session going.
pub(crate) fn holds_session(home: Option<&Home>, id: &SessionId) -> bool {
    let Some(session) = home.map(|home| home.session(id)) else { return false };
    let start = Instant::now();
    loop {
        match read_state(&session) {
            LoopState::Inactive => return false,
            LoopState::Ending if start.elapsed() < LOOP_END_TIMEOUT => thread::sleep(POLL_INTERVAL),
            LoopState::Ending | LoopState::Active => return true,
        }
    }
}

/// Whether agents are still working. The client may list an agent as running for a moment after it has delivered its
/// report, so agents that have reported to the workflow are ignored.
pub(crate) fn waits_for_agents(home: Option<&Home>, id: &SessionId, running: &[String]) -> bool {
    if running.is_empty() {
        return false;
    }
    let workflow = home.and_then(|home| home.session(id).workflow().ok().flatten());
    let Some(workflow) = workflow else { return true };
    !running.iter().all(|agent| workflow.state.finished_agent(agent).is_some())
}

/// A state file that cannot be read counts as inactive.
fn read_state(session: &Session) -> LoopState {
    let Ok(Some(workflow)) = session.workflow() else { return LoopState::Inactive };
    let is_stopped = matches!(session.looping(), Ok(Some(looping)) if looping.state.stopped);
    loop_state(&workflow.state, is_stopped)
}

fn loop_state(workflow: &WorkflowState, is_stopped: bool) -> LoopState {
    if is_stopped || !workflow.is_open() {
        LoopState::Inactive
    } else if workflow.resolved_count() == workflow.stages.len() {
        LoopState::Ending
    } else {
        LoopState::Active
    }
}

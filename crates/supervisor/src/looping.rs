//! One Stop decision: while Overtone's loop holds the session, the supervisor has no opinion.

use std::thread;
use std::time::{Duration, Instant};

use overtone_engine::state::WorkflowState;
use overtone_store::{Home, Session, SessionId};

/// Both hooks run at the same time, so a loop that is about to end is given a moment to say so.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How the loop stands.
#[derive(Debug, PartialEq, Eq)]
enum Hold {
    /// There is no workflow, or its loop has let go.
    Free,
    /// Every stage is done: the loop ends with this very stop, unless there are open tasks.
    Ending,
    Held,
}

pub(crate) fn holds(home: Option<&Home>, id: &SessionId) -> bool {
    let Some(session) = home.map(|home| home.session(id)) else { return false };
    let start = Instant::now();
    loop {
        match look(&session) {
            Hold::Free => return false,
            Hold::Ending if start.elapsed() < PATIENCE => thread::sleep(LOOK_EVERY),
            Hold::Ending | Hold::Held => return true,
        }
    }
}

/// Whether agents are at work. The client may list one that has delivered its report as running for a moment longer;
/// the workflow knows better.
pub(crate) fn waits_for_agents(home: Option<&Home>, id: &SessionId, running: &[String]) -> bool {
    if running.is_empty() {
        return false;
    }
    let workflow = home.and_then(|home| home.session(id).workflow().ok().flatten());
    let has_reported =
        |agent: &String| workflow.as_ref().is_some_and(|w| w.state.finished_agent(agent).is_some());
    !running.iter().all(has_reported)
}

/// A file that cannot be read holds nobody.
fn look(session: &Session) -> Hold {
    let Ok(Some(workflow)) = session.workflow() else { return Hold::Free };
    let stopped = session.looping().ok().flatten().is_some_and(|looping| looping.state.stopped);
    judge(&workflow.state, stopped)
}

fn judge(workflow: &WorkflowState, stopped: bool) -> Hold {
    if stopped || !workflow.is_open() {
        Hold::Free
    } else if workflow.resolved_count() == workflow.stages.len() {
        Hold::Ending
    } else {
        Hold::Held
    }
}

//! Delivers the notices that wait for the main agent, each exactly once.

use crate::engine::outcome::{Effect, Outcome};
use crate::engine::state::Ending;
use crate::engine::text::next_step_text;
use crate::engine::trigger::{Facts, Snapshot};

/// Takes the waiting notices and adds the next step as it is now: other agents may have been delegated while a notice
/// waited. There is no next step for a main agent that the user has stopped.
pub(crate) fn deliver_notices(snapshot: &Snapshot, facts: &Facts, outcome: &mut Outcome) -> Option<String> {
    let text = take_notices(snapshot, outcome)?;
    let Some(workflow) = &snapshot.workflow else { return Some(text) };
    let wants_next_step = match workflow.ending {
        Some(Ending::Aborted) => false,
        // The main agent still has to summarize a workflow that was completed meanwhile.
        Some(Ending::Completed) => true,
        None => !snapshot.is_halted(),
    };
    if wants_next_step { Some(format!("{text}\n{}", next_step_text(workflow, facts))) } else { Some(text) }
}

/// Takes the waiting notices off the workflow. Those of a session that was moved are delivered on the other machine.
pub(crate) fn take_notices(snapshot: &Snapshot, outcome: &mut Outcome) -> Option<String> {
    let workflow = snapshot.workflow.as_ref()?;
    if workflow.notices.is_empty() || workflow.moved_to.is_some() {
        return None;
    }
    let mut next = workflow.clone();
    let text = std::mem::take(&mut next.notices).join("\n");
    outcome.push(Effect::PutWorkflow(next));
    Some(text)
}

//! Gives up agents that can no longer report back.

use crate::registry::{Agent, EventKind, StageKey};

use crate::engine::agents::find_by_call;
use crate::engine::completion::settle_stage;
use crate::engine::outcome::{Effect, Record};
use crate::engine::state::{ActiveAgent, Status, Verdict, WorkflowState};
use crate::engine::trigger::Facts;

/// The `error` of an agent that a Stop gave up because the client said that no agent is running.
pub const NO_REPORT: &str = "no-report";

/// The `error` of an agent that a Stop gave up because of its age. Old clients do not say which agents are running.
pub const NO_REPORT_IN_TIME: &str = "no-report-in-time";

/// The `error` of an agent that was killed or has failed.
pub const ENDED_WITHOUT_RESULT: &str = "ended-without-result";

/// The `error` of an agent that the user interrupted.
pub const INTERRUPTED: &str = "interrupted";

/// The workflow after agents were given up.
pub(crate) struct Released {
    pub(crate) workflow: WorkflowState,
    pub(crate) lost: Vec<ActiveAgent>,
    /// The effects of settling stages. Storing the workflow is not among them.
    pub(crate) effects: Vec<Effect>,
}

/// Gives up the agents for which `is_lost` holds. Their stages are open again, unless a twin has reported: then the
/// stage is done with the verdict of that twin, as if the twin had been the only agent.
pub(crate) fn release(
    workflow: &WorkflowState,
    is_lost: impl Fn(&ActiveAgent) -> bool,
    facts: &Facts,
) -> Released {
    let mut workflow = workflow.clone();
    let lost = workflow.release_agents(is_lost);
    let mut effects = Vec::new();
    if lost.is_empty() {
        return Released { workflow, lost, effects };
    }
    for agent in &lost {
        // An agent that was to continue and never started again has still reported, and can be continued later.
        if let (true, Some(id)) = (agent.awaits_start, &agent.agent_id) {
            workflow.remember_finished(id, agent.agent());
        }
        if let Some((key, verdict)) = verdict_of_twin(&workflow, agent) {
            let settled =
                settle_stage(workflow, agent.agent().unwrap_or(key.stage.agent()), key, verdict, facts);
            workflow = settled.workflow;
            effects.extend(settled.effects);
        }
    }
    workflow.update_current_stage();
    Released { workflow, lost, effects }
}

/// Gives up the agent of a delegation that failed, so that its stage is open again. `None` if the agent is not known.
pub(crate) fn release_failed_launch(
    workflow: &WorkflowState,
    tool_use_id: Option<&str>,
    expected: Option<Agent>,
    facts: &Facts,
) -> Option<Released> {
    let slot = &find_by_call(workflow, tool_use_id?, expected)?.slot;
    Some(release(workflow, |agent| agent.slot == *slot, facts))
}

/// The record of an agent that was given up.
pub(crate) fn lost_agent_record(agent: &ActiveAgent, error: &str) -> Record {
    Record::new(EventKind::AgentError)
        .with("agent", agent.name())
        .with("stage", agent.stage)
        .with("slot", &*agent.slot)
        .with("error", error)
}

/// Whether the main agent has to know that an agent is lost: not if a twin works on its stage or has done it.
pub(crate) fn is_missed(workflow: &WorkflowState, lost: &ActiveAgent) -> bool {
    match lost.stage.and_then(|key| workflow.stage(key)) {
        Some(stage) => stage.status == Status::Pending,
        None => true,
    }
}

/// The stage of a lost agent with the verdict that its twin has given, if nobody works on the stage any more.
fn verdict_of_twin(workflow: &WorkflowState, lost: &ActiveAgent) -> Option<(StageKey, Verdict)> {
    let key = lost.stage?;
    if !workflow.is_abandoned(key) {
        return None;
    }
    Some((key, workflow.stage(key)?.verdict()?))
}

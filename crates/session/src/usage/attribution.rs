//! Which stage an agent worked on.

use std::path::Path;

use overtone_core::engine::state::{Millis, StageState, Status, WorkflowState};
use overtone_core::registry::Agent;
use overtone_store::{LastPart, object};

/// Whose work a part of a conversation is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Attribution {
    pub(super) agent: Option<String>,
    pub(super) stage: Option<String>,
    pub(super) attempt: Option<u32>,
}

/// Names of agents come from other programs. They are stored, so longer ones are cut.
const MAX_NAME: usize = 64;

impl Attribution {
    /// By the id of an agent that is at work.
    pub(super) fn of_active(workflow: &WorkflowState, agent_id: &str) -> Option<Self> {
        let agent =
            workflow.active_agents.iter().find(|agent| agent.agent_id.as_deref() == Some(agent_id))?;
        let stage = agent.stage.and_then(|key| workflow.stage(key));
        Some(Self::with_stage(agent.name(), stage))
    }

    /// By the type of an agent. If it has reported already, its stage is the last one that an agent of this kind worked on.
    pub(super) fn of_type(workflow: &WorkflowState, agent_type: &str) -> Self {
        match Agent::from_wire(agent_type) {
            Some(agent) => Self::with_stage(agent.name(), last_stage(workflow, agent)),
            None if agent_type.is_empty() => Self::default(),
            None => Self::with_stage(&agent_type.chars().take(MAX_NAME).collect::<String>(), None),
        }
    }

    /// As the part before.
    pub(super) fn of_last_part(part: &LastPart) -> Self {
        Self { agent: part.agent.clone(), stage: part.stage.clone(), attempt: part.attempt }
    }

    /// For what the client may write later.
    pub(super) fn as_last_part(&self, now: Millis) -> LastPart {
        LastPart {
            message: None,
            agent: self.agent.clone(),
            stage: self.stage.clone(),
            attempt: self.attempt,
            at: now,
        }
    }

    fn with_stage(agent: &str, stage: Option<&StageState>) -> Self {
        Self {
            agent: Some(agent.to_owned()),
            stage: stage.map(|stage| stage.key.to_string()),
            attempt: stage.map(|stage| stage.attempts.max(1)),
        }
    }
}

/// The stage that an agent of this kind works on, or else the one that was started last.
fn last_stage(workflow: &WorkflowState, agent: Agent) -> Option<&StageState> {
    let begun = workflow.stages.iter().filter(|stage| stage.key.stage.agent() == agent && stage.attempts > 0);
    begun.max_by_key(|stage| (stage.status == Status::Active, stage.started_at))
}

/// The type of an agent, from the file that the client writes beside its conversation. Empty if there is none.
pub(super) fn recorded_type(conversation: &Path) -> String {
    let fields = object::read(&conversation.with_extension("meta.json"));
    fields.get("agentType").and_then(|name| name.as_str()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use overtone_core::engine::state::ActiveAgent;
    use overtone_core::registry::Workflow;

    use super::*;

    fn found(agent: &str, stage: Option<&str>, attempt: Option<u32>) -> Attribution {
        Attribution { agent: Some(agent.to_owned()), stage: stage.map(str::to_owned), attempt }
    }

    #[test]
    fn an_agent_belongs_to_the_stage_that_it_works_on_or_has_worked_on_last() {
        let mut workflow = WorkflowState::new("s", Workflow::Standard, None, Millis(0));
        assert_eq!(Attribution::of_type(&workflow, "ot:tester"), found("tester", None, None));
        for (at, stage) in [(10, "TEST"), (20, "TEST:2")] {
            let stage = workflow.stage_mut(stage.parse().unwrap()).unwrap();
            (stage.attempts, stage.started_at) = (2, Some(Millis(at)));
        }
        let last = found("tester", Some("TEST:2"), Some(2));
        assert_eq!(Attribution::of_type(&workflow, "ot:tester"), last);
        workflow.active_agents.push(ActiveAgent {
            slot: "tester#2".to_owned(),
            stage: "TEST".parse().ok(),
            agent_id: Some("a1".to_owned()),
            ..ActiveAgent::default()
        });
        let active = found("tester", Some("TEST"), Some(2));
        assert_eq!(Attribution::of_active(&workflow, "a1"), Some(active));
        assert_eq!(Attribution::of_active(&workflow, "a2"), None);
    }

    #[test]
    fn agents_of_other_kinds_have_a_name_and_no_stage() {
        let workflow = WorkflowState::new("s", Workflow::Standard, None, Millis(0));
        assert_eq!(Attribution::of_type(&workflow, "general-purpose"), found("general-purpose", None, None));
        assert_eq!(Attribution::of_type(&workflow, ""), Attribution::default());
        let long = Attribution::of_type(&workflow, &"測".repeat(100)).agent.unwrap();
        assert_eq!(long.chars().count(), MAX_NAME);
    }
}

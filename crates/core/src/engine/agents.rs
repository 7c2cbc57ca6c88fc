//! Which agent a delegation or an event is about.
//!
//! The client names an agent by its type, by the id of the call that started it, or by an id of its own, and rarely by
//! all of them. Two agents of one type may be at work at the same time; such agents are called twins here.

use crate::registry::Agent;

use crate::engine::state::{ActiveAgent, WorkflowState};

/// The agent that a delegation names by its type, or else by its description. The prompt is never read for it.
pub fn identify(subagent_type: &str, description: &str) -> Option<Agent> {
    if let Some(agent) = Agent::from_wire(subagent_type) {
        return Some(agent);
    }
    // Agents of other types (Explore, those of other plugins) are not ours, whatever their description says.
    if !matches!(subagent_type, "" | "general-purpose") {
        return None;
    }
    let description = description.trim().to_lowercase();
    by_name(&description).or_else(|| by_alias(&description))
}

fn by_name(description: &str) -> Option<Agent> {
    let words = description.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.into_iter().find_map(Agent::from_name)
}

/// Aliases are everyday words, so an alias counts only as a label at the beginning: "code review: the parser".
fn by_alias(description: &str) -> Option<Agent> {
    let label = description.split([':', '：', '—', ',', '，', '\n']).next()?.trim();
    let label =
        label.trim_end_matches(" stage").trim_end_matches(" agent").trim_end_matches("階段").trim_end();
    Agent::ALL.into_iter().find(|agent| agent.aliases().contains(&label))
}

/// Names of the agent that an event is about, as far as the client gives them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AgentIds<'a> {
    pub(crate) tool_use_id: Option<&'a str>,
    pub(crate) agent_id: Option<&'a str>,
}

/// The active agent with this call or this id. Its entry also knows an agent that only the description named.
pub(crate) fn find_by_id<'a>(
    workflow: &'a WorkflowState,
    tool_use_id: Option<&str>,
    agent_id: Option<&str>,
) -> Option<&'a ActiveAgent> {
    workflow.active_agents.iter().find(|agent| agent.is(tool_use_id, agent_id))
}

/// The agent that was started with this call. If the call turned out to be that of a twin ([`disown_call`]), it is the
/// only agent of the expected type that has no call.
pub(crate) fn find_by_call<'a>(
    workflow: &'a WorkflowState,
    call: &str,
    expected: Option<Agent>,
) -> Option<&'a ActiveAgent> {
    let agents = &workflow.active_agents;
    if let Some(agent) = agents.iter().find(|agent| agent.is(Some(call), None)) {
        return Some(agent);
    }
    let expected = expected?;
    let mut without_call = agents.iter().filter(|agent| {
        agent.tool_use_id.is_none() && agent.agent_id.is_some() && agent.agent() == Some(expected)
    });
    match (without_call.next(), without_call.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// The position of the active agent that a report comes from: by its id, by its call, or else the first agent of its
/// type whose ids do not contradict the report.
pub(crate) fn position_of_reporter(workflow: &WorkflowState, agent: Agent, ids: AgentIds) -> Option<usize> {
    let agents = &workflow.active_agents;
    if let Some(at) = agents.iter().position(|active| active.is(None, ids.agent_id)) {
        return Some(at);
    }
    if let Some(at) = agents.iter().position(|active| active.is(ids.tool_use_id, None)) {
        return Some(at);
    }
    agents.iter().position(|active| {
        active.agent() == Some(agent)
            && (active.agent_id.is_none() || ids.agent_id.is_none())
            && (active.tool_use_id.is_none() || ids.tool_use_id.is_none())
    })
}

/// Records that the client has started an agent, so that its report is not taken for that of a twin. `None` if nothing
/// changes.
pub(crate) fn bind_agent(workflow: &WorkflowState, agent: Agent, agent_id: &str) -> Option<WorkflowState> {
    let mut next = workflow.clone();
    if let Some(continued) = next.active_agents.iter_mut().find(|active| active.is(None, Some(agent_id))) {
        let awaited_start = std::mem::take(&mut continued.awaits_start);
        return awaited_start.then_some(next);
    }
    let unbound = next.active_agents.iter_mut().find(|a| a.agent() == Some(agent) && a.agent_id.is_none())?;
    unbound.agent_id = Some(agent_id.to_owned());
    Some(next)
}

/// Corrects which of two twins has which id. [`bind_agent`] has to guess it, until the client names a call and an id
/// together.
pub(crate) fn correct_twins(workflow: &mut WorkflowState, ids: AgentIds) {
    let agents = &mut workflow.active_agents;
    let by_call = agents.iter().position(|agent| agent.is(ids.tool_use_id, None));
    let by_id = agents.iter().position(|agent| agent.is(None, ids.agent_id));
    if let (Some(actual), Some(guessed)) = (by_call, by_id)
        && actual != guessed
    {
        agents[guessed].agent_id = agents[actual].agent_id.take();
        agents[actual].agent_id = ids.agent_id.map(str::to_owned);
    }
}

/// Takes a call away from the active agent that was guessed to have it: the call has returned for an agent that has
/// already reported. `None` if nothing changes.
pub(crate) fn disown_call(workflow: &WorkflowState, tool_use_id: Option<&str>) -> Option<WorkflowState> {
    let mut next = workflow.clone();
    let mut agents = next.active_agents.iter_mut();
    let guessed = agents.find(|agent| agent.is(tool_use_id, None) && agent.agent_id.is_some())?;
    guessed.tool_use_id = None;
    Some(next)
}

/// Marks an agent as running in the background, so that a Stop does not give it up. `None` if it is not known.
pub(crate) fn mark_background(workflow: &WorkflowState, ids: AgentIds) -> Option<WorkflowState> {
    // An agent may report before its launch is known. Its id must not be given to the twin that is still at work.
    if let Some(id) = ids.agent_id
        && workflow.finished_agent(id).is_some()
    {
        return disown_call(workflow, ids.tool_use_id);
    }
    let mut next = workflow.clone();
    correct_twins(&mut next, ids);
    let agent = next.active_agents.iter_mut().find(|agent| agent.is(ids.tool_use_id, ids.agent_id))?;
    agent.background = true;
    if agent.agent_id.is_none() {
        agent.agent_id = ids.agent_id.map(str::to_owned);
    }
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_decides_before_the_description() {
        assert_eq!(identify("ot:tester", "developer work"), Some(Agent::Tester));
        assert_eq!(identify("OT:Tester", "developer work"), Some(Agent::Tester));
        assert_eq!(identify("ot:unknown", "developer"), None);
        assert_eq!(identify("other:developer", "developer"), None);
    }

    #[test]
    fn descriptions_name_agents_exactly() {
        assert_eq!(identify("", "Delegate code-reviewer agent"), Some(Agent::CodeReviewer));
        assert_eq!(identify("general-purpose", "developer: add login"), Some(Agent::Developer));
        assert_eq!(identify("general-purpose", "Review: the parser"), None);
        assert_eq!(identify("general-purpose", "code review: the parser"), Some(Agent::CodeReviewer));
        assert_eq!(identify("", "DEV"), Some(Agent::Developer));
        assert_eq!(identify("", "TEST stage"), Some(Agent::Tester));
        assert_eq!(identify("Explore", "find test helpers in the developer guide"), None);
        assert_eq!(identify("general-purpose", "test the waters"), None);
    }
}

//! The one entry: what happened decides who answers.

use overtone_registry::Agent;

use crate::completion::{self, Channel, Report};
use crate::gate::{self, Delegation};
use crate::outcome::Outcome;
use crate::tools::{self, Failure, Returned};
use crate::trigger::{Facts, Snapshot, Trigger};
use crate::{permission, prompt, session, stopping};

/// Decides on one event. The same input always gives the same outcome.
pub fn decide(snapshot: &Snapshot, trigger: &Trigger, facts: &Facts) -> Outcome {
    let workflow = snapshot.workflow.as_ref();
    match *trigger {
        Trigger::SessionStarted { source } => session::start(snapshot, source, facts),
        Trigger::SessionEnded { reason } => session::end(snapshot.looping.as_ref(), reason),
        Trigger::Compacting { trigger } => session::compact(snapshot, trigger, facts),
        Trigger::Prompted { prompt } => prompt::submit(snapshot, prompt, facts),
        Trigger::Delegating { subagent_type, description, prompt, tool_use_id } => {
            gate::delegate(snapshot, &Delegation { subagent_type, description, prompt, tool_use_id }, facts)
        }
        Trigger::ContinuingAgent { agent_id } => gate::continue_agent(snapshot, agent_id, facts),
        Trigger::AgentDelegating { subagent_type } => {
            gate::delegate_from_agent(workflow, subagent_type, facts)
        }
        Trigger::AgentStarted { agent_type, agent_id } => Agent::from_wire(agent_type)
            .map(|agent| session::agent_started(snapshot, agent, agent_id, facts))
            .unwrap_or_default(),
        Trigger::HandingBack { agent_type, agent_id, message } => {
            let mut outcome = reported(snapshot, agent_type, agent_id, message, Channel::Handback, facts);
            // The main agent is told when the report reaches it.
            outcome.reply.result.clear();
            outcome
        }
        Trigger::AgentStopped { agent_type, agent_id, message, hands_back } => {
            let outcome = reported(snapshot, agent_type, agent_id, message, Channel::Stop, facts);
            // The report itself is still to come, unless this one is sent back.
            if hands_back && outcome.reply.block.is_none() { Outcome::default() } else { outcome }
        }
        Trigger::AgentReturned { tool_use_id, agent_id, subagent_type, finished, content, handback } => {
            let returned = Returned { tool_use_id, agent_id, subagent_type, finished, content, handback };
            tools::agent_returned(snapshot, &returned, facts)
        }
        Trigger::UserAnswered => prompt::user_answered(workflow),
        Trigger::BashRan { command, error, is_main_agent } => {
            let own = workflow.filter(|_| is_main_agent && !snapshot.is_halted());
            tools::bash_ran(own, command, error, facts)
        }
        Trigger::FileWritten { path, text } => tools::file_written(path, text, facts),
        // The user's own interruption teaches nothing, but whoever was interrupted is not waited for.
        Trigger::ToolFailed { interrupted: true, tool_use_id, agent, .. } => {
            tools::interrupted(snapshot, tool_use_id, agent, facts)
        }
        Trigger::ToolFailed { tool, error, command, tool_use_id, agent, is_main_agent, .. } => {
            let failure = Failure { tool, error, command, tool_use_id, agent, is_main_agent };
            tools::tool_failed(snapshot, &failure, facts)
        }
        Trigger::Stopping { background } => stopping::stop(snapshot, background, facts),
        Trigger::CallingSkill { skill } => permission::calling_skill(skill, facts),
        Trigger::RunningCommand { command } => permission::running_command(snapshot, command, facts),
        Trigger::ChangingFile { agent_type, tool } => permission::changing_file(agent_type, tool, facts),
    }
}

fn reported(
    snapshot: &Snapshot,
    agent_type: &str,
    agent_id: &str,
    message: &str,
    channel: Channel,
    facts: &Facts,
) -> Outcome {
    let workflow = snapshot.workflow.as_ref().filter(|workflow| workflow.is_open());
    let (Some(agent), Some(workflow)) = (Agent::from_wire(agent_type), workflow) else {
        return Outcome::default();
    };
    let agent_id = Some(agent_id).filter(|id| !id.is_empty());
    completion::report(workflow, &Report { agent, agent_id, tool_use_id: None, message, channel }, facts)
}

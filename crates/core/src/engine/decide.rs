//! The entry point of the engine: passes an event on to the module that decides on it.

use crate::registry::Agent;

use crate::engine::agents::AgentIds;
use crate::engine::budget::{self, ToolCall, with_budget};
use crate::engine::completion;
use crate::engine::gate::{self, Delegation};
use crate::engine::integrity::show_user_notices;
use crate::engine::outcome::Outcome;
use crate::engine::report::{Channel, Report};
use crate::engine::tools::{self, AgentResult, Failure};
use crate::engine::trigger::{Facts, Snapshot, ToolCaller, Trigger};
use crate::engine::{guard, permission, prompt, session, stopping};

/// Decides on one event. The same input always gives the same outcome.
pub fn decide(snapshot: &Snapshot, trigger: &Trigger, facts: &Facts) -> Outcome {
    let mut outcome =
        with_budget(snapshot, trigger, facts, |snapshot| decide_event(snapshot, trigger, facts));
    show_user_notices(snapshot, trigger, &mut outcome);
    outcome
}

fn decide_event(snapshot: &Snapshot, trigger: &Trigger, facts: &Facts) -> Outcome {
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
        Trigger::AgentStarted { agent_type, agent_id } => match Agent::from_wire(agent_type) {
            Some(agent) => session::agent_started(snapshot, agent, agent_id, facts),
            None => Outcome::default(),
        },
        Trigger::HandingBack { agent_type, agent_id, message } => {
            let mut outcome = reported(snapshot, agent_type, agent_id, message, Channel::Handback, facts);
            // The main agent gets the answer when the report reaches it.
            outcome.reply.result.clear();
            outcome
        }
        Trigger::AgentStopped { agent_type, agent_id, message, hands_back } => {
            let outcome = reported(snapshot, agent_type, agent_id, message, Channel::Stop, facts);
            // The agent delivers its report in a later call, unless it has to continue first.
            if hands_back && outcome.reply.block.is_none() { Outcome::default() } else { outcome }
        }
        Trigger::AgentReturned { tool_use_id, agent_id, subagent_type, finished, content, handback } => {
            let ids = AgentIds { tool_use_id, agent_id };
            let result = AgentResult { ids, subagent_type, finished, content, handback };
            tools::agent_returned(snapshot, &result, facts)
        }
        Trigger::UserAnswered => prompt::user_answered(workflow),
        Trigger::BashRan { command, error, caller } => {
            let is_main_agent = caller == ToolCaller::Main;
            let guarded = if is_main_agent && !snapshot.is_halted() { workflow } else { None };
            let mut outcome = tools::bash_ran(guarded, command, error, facts);
            guard::command_ran(snapshot, command, caller, facts, &mut outcome);
            outcome
        }
        Trigger::FileWritten { path, text, caller } => {
            let mut outcome = tools::file_written(path, text, facts);
            guard::file_written(snapshot, path, caller, facts, &mut outcome);
            outcome
        }
        // There is nothing to learn from an interruption by the user, but the interrupted agent is given up.
        Trigger::ToolFailed { interrupted: true, tool_use_id, agent, .. } => {
            tools::interrupted(snapshot, tool_use_id, agent, facts)
        }
        Trigger::ToolFailed { tool, error, command, tool_use_id, agent, caller, .. } => {
            let is_main_agent = caller == ToolCaller::Main;
            let failure = Failure { tool, error, command, tool_use_id, agent, is_main_agent };
            let mut outcome = tools::tool_failed(snapshot, &failure, facts);
            // A command that fails may have changed files before.
            if tool == "Bash" {
                guard::command_ran(snapshot, command, caller, facts, &mut outcome);
            }
            outcome
        }
        Trigger::Stopping { background } => stopping::stop(snapshot, background, facts),
        Trigger::CallingSkill { skill } => permission::calling_skill(skill, facts),
        Trigger::RunningCommand { command } => permission::running_command(snapshot, command, facts),
        Trigger::CallingTool { caller, agent_id, message, starts_agent } => {
            let call = ToolCall { caller, agent_id, message, starts_agent };
            budget::calling_tool(snapshot, &call, facts)
        }
        Trigger::ChangingFile { agent_type, caller, tool, path, text } => {
            let outcome = permission::changing_file(agent_type, tool, facts);
            if outcome.reply.permission.is_some() {
                return outcome;
            }
            guard::changing_file(snapshot, path, text, caller, facts)
        }
        Trigger::StartingCommand { command, caller } => {
            guard::starting_command(snapshot, command, caller, facts)
        }
        Trigger::StartingNativeWorkflow => guard::starting_native_workflow(snapshot, facts),
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
    let (Some(agent), Some(workflow)) = (Agent::from_wire(agent_type), &snapshot.workflow) else {
        return Outcome::default();
    };
    if !workflow.is_open() {
        return Outcome::default();
    }
    let agent_id = if agent_id.is_empty() { None } else { Some(agent_id) };
    let ids = AgentIds { tool_use_id: None, agent_id };
    completion::report(workflow, &Report { agent, ids, message, channel }, facts)
}

//! Short pieces of a session's life, played with the hooks.

use overtone_core::registry::Hook;
use serde_json::{Value, json};

use super::work::gave_up;
use crate::error::{Error, Result};
use crate::sandbox::{Sandbox, read_answer};

/// An agent is delegated, works and reports. Says how many of its hooks could not have a lock in time.
pub(super) fn agent(sandbox: &Sandbox, session: &str, agent: &str, verdict: &str) -> Result<usize> {
    let mut gave_up = 0;
    for (hook, fields) in [
        (Hook::PreTask, delegation(agent)),
        (Hook::OnAgentStart, started(agent)),
        (Hook::OnAgentStop, report(agent, verdict)),
        (Hook::PostUse, returned(agent)),
    ] {
        gave_up += usize::from(!attempt(sandbox, session, hook, fields)?);
    }
    Ok(gave_up)
}

/// Plays a hook that has nothing to complain about. False if it could not have a lock in time, and said so.
pub(super) fn attempt(sandbox: &Sandbox, session: &str, hook: Hook, fields: Value) -> Result<bool> {
    let child = sandbox.start(hook, &sandbox.event(session, hook, fields))?;
    let output = child.wait_with_output();
    let output = output.map_err(|e| Error::new(format!("{} is lost: {e}", hook.name())))?;
    read_answer(hook, &output)?;
    let said = String::from_utf8_lossy(&output.stderr);
    if said.is_empty() || gave_up(&said) {
        return Ok(said.is_empty());
    }
    Err(Error::new(format!("{} of {session} said: {}", hook.name(), said.trim())))
}

pub(super) fn play(sandbox: &Sandbox, session: &str, hook: Hook, fields: Value) -> Result<Value> {
    sandbox.hook(hook, &sandbox.event(session, hook, fields))
}

pub(super) fn delegation(agent: &str) -> Value {
    json!({
        "tool_name": "Agent", "tool_use_id": format!("call-{agent}"),
        "tool_input": { "subagent_type": format!("ot:{agent}"), "description": "d", "prompt": "p" },
    })
}

fn started(agent: &str) -> Value {
    json!({ "agent_id": format!("id-{agent}"), "agent_type": format!("ot:{agent}") })
}

pub(super) fn report(agent: &str, verdict: &str) -> Value {
    json!({
        "agent_id": format!("id-{agent}"), "agent_type": format!("ot:{agent}"),
        "last_assistant_message": format!("done\n<!-- VERDICT: {{\"result\":\"{verdict}\"}} -->"),
    })
}

fn returned(agent: &str) -> Value {
    let mut fields = delegation(agent);
    fields["tool_response"] =
        json!({ "status": "completed", "agentId": format!("id-{agent}"), "content": [] });
    fields
}

pub(super) fn stop() -> Value {
    json!({ "stop_hook_active": false, "background_tasks": [] })
}

/// A command that fails, and what is learned from it.
pub(super) fn failure(command: &str) -> Value {
    json!({
        "tool_name": "Bash", "tool_use_id": "call-bash", "is_interrupt": false,
        "tool_input": { "command": command }, "error": "Exit code 1\nit broke",
    })
}

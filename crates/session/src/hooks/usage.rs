//! Records what agents use, when one stops and when the main agent does.

use std::io;
use std::path::{Path, PathBuf};

use overtone_claude::wire::HookInput;
use overtone_core::engine::Trigger;
use overtone_store::WorkflowUsage;

use crate::hooks::limits::handle_file_size_signal;
use crate::usage::{RecordContext, agent_conversation, record_agent, record_session};

/// Records what was used since the last time. Returns what the workflow has used, if it was recorded.
pub(crate) fn record(
    context: &RecordContext,
    input: &HookInput,
    trigger: &Trigger,
) -> io::Result<Option<WorkflowUsage>> {
    // A report that is handed back is counted when its agent stops, unless a limit depends on it.
    let is_handed_back = matches!(trigger, Trigger::HandingBack { .. });
    if is_handed_back && !context.workflow.budget.limits.is_counted() {
        return Ok(None);
    }
    if is_handed_back || matches!(trigger, Trigger::AgentStopped { .. } | Trigger::Stopping { .. }) {
        handle_file_size_signal();
    }
    match *trigger {
        Trigger::AgentStopped { agent_type, agent_id, .. }
        | Trigger::HandingBack { agent_type, agent_id, .. } => match conversation_of(input, agent_id) {
            Some(conversation) => record_agent(context, &conversation, agent_id, agent_type).map(Some),
            None => Ok(None),
        },
        Trigger::Stopping { .. } => record_session(context, Path::new(&*input.transcript_path())).map(Some),
        _ => Ok(None),
    }
}

/// The conversation of an agent. Old clients do not name it.
fn conversation_of(input: &HookInput, agent_id: &str) -> Option<PathBuf> {
    let named = input.agent_transcript_path();
    if named.is_empty() {
        return agent_conversation(Path::new(&*input.transcript_path()), agent_id);
    }
    Some(PathBuf::from(&*named))
}

//! Records what agents use, when one stops and when the main agent does.

use std::io;
use std::path::{Path, PathBuf};

use overtone_claude::wire::HookInput;
use overtone_core::economy::TokenUsage;
use overtone_core::engine::Trigger;

use crate::hooks::limits::handle_file_size_signal;
use crate::usage::{RecordContext, agent_conversation, record_agent, record_session};

/// Records what was used since the last time. Returns what the workflow has used, at a Stop.
pub(crate) fn record(
    context: &RecordContext,
    input: &HookInput,
    trigger: &Trigger,
) -> io::Result<Option<TokenUsage>> {
    if matches!(trigger, Trigger::AgentStopped { .. } | Trigger::Stopping { .. }) {
        handle_file_size_signal();
    }
    match *trigger {
        Trigger::AgentStopped { agent_type, agent_id, .. } => {
            if let Some(conversation) = conversation_of(input, agent_id) {
                record_agent(context, &conversation, agent_id, agent_type)?;
            }
            Ok(None)
        }
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

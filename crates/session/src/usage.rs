//! What agents use, from the conversations that the client writes.
//!
//! Hooks read what was added since the last time and record it in the session's ledger. Statistics read the ledger, and
//! whole conversations only for sessions that have none.

mod attribution;
mod conversation;
mod record;

use std::io;

use overtone_store::{Session, clock};

pub(crate) use conversation::{agent_conversation, agent_conversations, conversation_name, each_message};
pub(crate) use record::{Caller, RecordContext, record_agent, record_call, record_session};

/// Records what was used since the last hook, so that a command can show it. Does nothing for a session without a ledger: its
/// conversations are read as a whole.
pub fn update_ledger(session: &Session) -> io::Result<()> {
    if session.usage_file().symlink_metadata().is_err() {
        return Ok(());
    }
    let workflow = session.load_workflow().ok().and_then(|loaded| loaded.document);
    if let (Some(workflow), Some(transcript)) = (workflow, session.origin().transcript) {
        let context = RecordContext { session, workflow: &workflow.state, now: clock::now() };
        record_session(&context, &transcript)?;
    }
    Ok(())
}

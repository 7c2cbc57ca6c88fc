//! What agents use, from the conversations that the client writes.
//!
//! Hooks read what was added since the last time and record it in the session's ledger. Statistics read the ledger, and
//! whole conversations only for sessions that have none.

mod attribution;
mod conversation;
mod record;

pub(crate) use conversation::{agent_conversation, agent_conversations, conversation_name, each_message};
pub(crate) use record::{RecordContext, record_agent, record_session};

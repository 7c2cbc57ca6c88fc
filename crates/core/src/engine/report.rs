//! An agent's report, and how it came.

use crate::registry::Agent;

use crate::engine::agents::AgentIds;

/// An agent's report.
pub(crate) struct Report<'a> {
    pub(crate) agent: Agent,
    pub(crate) ids: AgentIds<'a>,
    pub(crate) message: &'a str,
    pub(crate) channel: Channel,
}

/// How a report reached us, which decides how it can be sent back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    /// `SubagentHandback` is about to deliver it. Denying the call lets the agent continue.
    Handback,
    /// `SubagentStop`. Blocking it lets the agent continue.
    Stop,
    /// The result of the Agent tool, or a notification. The agent has ended.
    Result,
}

//! The calls that are measured: every hook and the status lines, each with a typical payload.

use overtone_core::registry::Hook;
use serde_json::Value;

use super::fixture::{Phase, Place};
use super::payload;
use super::state::State;

/// What the client starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    Hook(Hook),
    Statusline,
    /// The rows of the client's list of agents.
    AgentRows,
    /// The gate of the supervisor of `ccc`.
    SupervisorHook,
}

impl Entry {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Hook(hook) => hook.name(),
            Self::Statusline => "statusline",
            Self::AgentRows => "subagent-statusline",
            Self::SupervisorHook => "supervisor-hook",
        }
    }

    pub(crate) fn arguments(self) -> Vec<&'static str> {
        match self {
            Self::Hook(hook) => vec!["hook", hook.name()],
            Self::Statusline | Self::AgentRows => vec![self.name()],
            Self::SupervisorHook => vec!["ccc", self.name()],
        }
    }
}

/// Calls that only read are far more frequent than calls that leave something on disk, so their bars are lower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Reading,
    Writing,
    /// `ccc` changes the provider and starts the client.
    Switching,
}

impl Class {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Writing => "writing",
            Self::Switching => "switching",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Case {
    pub entry: Entry,
    /// Tells two cases of one entry apart.
    pub variant: &'static str,
    pub phase: Phase,
    without_workflow: Option<Class>,
    with_workflow: Class,
    pub payload: fn(&Place) -> Value,
    /// The home folder in the fixture.
    pub home: &'static str,
}

impl Case {
    pub(crate) fn name(&self) -> String {
        match self.variant {
            "" => self.entry.name().to_owned(),
            variant => format!("{} ({variant})", self.entry.name()),
        }
    }

    /// `None` if the case makes no sense in a session like that.
    pub(crate) const fn class(&self, state: State) -> Option<Class> {
        if state.has_workflow() { Some(self.with_workflow) } else { self.without_workflow }
    }
}

pub(crate) const CASES: [Case; 24] = [
    writing(Hook::OnStart, "", payload::session_start),
    // It records that a turn is open.
    workflow_writing(Hook::OnSubmit, "", Phase::Active, payload::prompt),
    reading(Hook::PreTask, "foreign", payload::foreign_task),
    REFUSED,
    workflow_writing(Hook::PreTask, "developer", Phase::Ready, payload::developer_task),
    workflow_writing(Hook::OnAgentStart, "", Phase::Active, payload::agent_start),
    workflow_writing(Hook::OnAgentStop, "", Phase::Active, payload::agent_stop),
    workflow_writing(Hook::OnHandback, "", Phase::Active, payload::hand_back),
    reading(Hook::AllowOwn, "", payload::own_command),
    reading(Hook::PreWrite, "", payload::edit_before),
    reading(Hook::PostUse, "edit", payload::edit_after),
    reading(Hook::PostUse, "command", payload::quiet_command),
    writing(Hook::PostUse, "lesson", payload::instructive_command),
    workflow_writing(Hook::PostUse, "agent", Phase::Active, payload::agent_returned),
    writing(Hook::PostUseFailure, "", payload::tool_failure),
    writing(Hook::PreCompact, "", payload::compaction),
    workflow_writing(Hook::OnStop, "", Phase::Ready, payload::stop),
    writing(Hook::OnSessionEnd, "", payload::session_end),
    case(Entry::Statusline, "", Class::Reading, payload::statusline),
    case(Entry::Statusline, "new cost", Class::Writing, payload::statusline_with_new_cost),
    case(Entry::AgentRows, "", Class::Reading, payload::agent_rows),
    supervisor("off in ccc.json", "home-off"),
    supervisor("session off", "home-session-off"),
    // Overtone's loop continues the session, so there is nothing to review yet.
    supervisor("loop runs", "home-on"),
];

/// The case that the Node hook does too: it reads the workflow, decides, and writes nothing.
pub(crate) const REFUSED: Case =
    Case { phase: Phase::Ready, ..reading(Hook::PreTask, "refused", payload::reviewer_task) };

const fn case(entry: Entry, variant: &'static str, class: Class, payload: fn(&Place) -> Value) -> Case {
    let (phase, home) = (Phase::Active, "home");
    Case { entry, variant, phase, without_workflow: Some(class), with_workflow: class, payload, home }
}

const fn reading(hook: Hook, variant: &'static str, payload: fn(&Place) -> Value) -> Case {
    case(Entry::Hook(hook), variant, Class::Reading, payload)
}

const fn writing(hook: Hook, variant: &'static str, payload: fn(&Place) -> Value) -> Case {
    case(Entry::Hook(hook), variant, Class::Writing, payload)
}

/// Writes only if there is a workflow.
const fn workflow_writing(
    hook: Hook,
    variant: &'static str,
    phase: Phase,
    payload: fn(&Place) -> Value,
) -> Case {
    Case { phase, without_workflow: Some(Class::Reading), ..writing(hook, variant, payload) }
}

/// Without a workflow the supervisor would start a review.
const fn supervisor(variant: &'static str, home: &'static str) -> Case {
    let case = case(Entry::SupervisorHook, variant, Class::Reading, payload::stop);
    Case { without_workflow: None, home, ..case }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hook_is_measured_under_its_own_name() {
        for hook in Hook::ALL {
            assert!(CASES.iter().any(|case| case.entry == Entry::Hook(hook)), "{} is missing", hook.name());
        }
        for (index, case) in CASES.iter().enumerate() {
            let same = |other: &Case| other.name() == case.name();
            assert!(!CASES[..index].iter().any(same), "{} twice", case.name());
        }
    }
}

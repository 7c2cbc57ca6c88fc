//! What is measured of the program itself: every hook and the status line, each with a typical payload.

use overtone_core::registry::Hook;
use serde_json::Value;

use super::fixture::{Phase, Place};
use super::payload;
use super::state::{Class, State};

/// What of the program is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    Hook(Hook),
    Statusline,
    /// The rows of the client's list of agents.
    AgentRows,
}

impl Entry {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Hook(hook) => hook.name(),
            Self::Statusline => "statusline",
            Self::AgentRows => "subagent-statusline",
        }
    }

    pub(crate) fn arguments(self) -> Vec<&'static str> {
        match self {
            Self::Hook(hook) => vec!["hook", hook.name()],
            Self::Statusline | Self::AgentRows => vec![self.name()],
        }
    }
}

/// One call.
#[derive(Debug)]
pub(crate) struct Case {
    pub entry: Entry,
    /// Tells two cases of one entry apart.
    pub variant: &'static str,
    pub phase: Phase,
    without_workflow: Class,
    with_workflow: Class,
    pub payload: fn(&Place) -> Value,
}

impl Case {
    pub(crate) fn name(&self) -> String {
        match self.variant {
            "" => self.entry.name().to_owned(),
            variant => format!("{} ({variant})", self.entry.name()),
        }
    }

    pub(crate) const fn class(&self, state: State) -> Class {
        if state.has_workflow() { self.with_workflow } else { self.without_workflow }
    }
}

pub(crate) const CASES: [Case; 21] = [
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
    shown(Entry::Statusline, "", Class::Reading, payload::statusline),
    shown(Entry::Statusline, "new cost", Class::Writing, payload::statusline_with_new_cost),
    shown(Entry::AgentRows, "", Class::Reading, payload::agent_rows),
];

/// The case that other languages' hooks do too: it reads the workflow, decides, and writes nothing.
pub(crate) const REFUSED: Case =
    case(Hook::PreTask, "refused", Phase::Ready, (Class::Reading, Class::Reading), payload::reviewer_task);

const fn reading(hook: Hook, variant: &'static str, payload: fn(&Place) -> Value) -> Case {
    case(hook, variant, Phase::Active, (Class::Reading, Class::Reading), payload)
}

const fn writing(hook: Hook, variant: &'static str, payload: fn(&Place) -> Value) -> Case {
    case(hook, variant, Phase::Active, (Class::Writing, Class::Writing), payload)
}

/// Nothing to write down as long as there is no workflow.
const fn workflow_writing(
    hook: Hook,
    variant: &'static str,
    phase: Phase,
    payload: fn(&Place) -> Value,
) -> Case {
    case(hook, variant, phase, (Class::Reading, Class::Writing), payload)
}

const fn shown(entry: Entry, variant: &'static str, class: Class, payload: fn(&Place) -> Value) -> Case {
    Case { entry, variant, phase: Phase::Active, without_workflow: class, with_workflow: class, payload }
}

const fn case(
    hook: Hook,
    variant: &'static str,
    phase: Phase,
    (without_workflow, with_workflow): (Class, Class),
    payload: fn(&Place) -> Value,
) -> Case {
    Case { entry: Entry::Hook(hook), variant, phase, without_workflow, with_workflow, payload }
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

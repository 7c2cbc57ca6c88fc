//! What is measured: every hook with a typical payload, in sessions of different length.

use overtone_registry::Hook;
use serde_json::Value;

use super::fixture::{Phase, Place};
use super::payload;

/// How much has happened in the session before the hook starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// No workflow: what everyone pays who has the plugin and does not use it.
    None,
    /// A workflow with a handful of events.
    Empty,
    /// The same workflow after a very long session. A hook must not notice.
    Huge,
}

impl State {
    pub(crate) const ALL: [Self; 3] = [Self::None, Self::Empty, Self::Huge];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Empty => "empty",
            Self::Huge => "huge",
        }
    }
}

/// What a call may cost. Hooks that only read run far more often than those that leave something on disk, so their bar
/// is lower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Reading,
    Writing,
    /// A hook of `ccc` that has nothing to do.
    Idle,
    /// A switch of `ccc` and the start of the client.
    Switching,
    /// The same, waiting for the disk. It has no bar: the machine's disk decides.
    Synced,
}

impl Class {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Writing => "writing",
            Self::Idle => "idle",
            Self::Switching => "switching",
            Self::Synced => "no bar",
        }
    }
}

/// One call of a hook.
#[derive(Debug)]
pub(crate) struct Case {
    pub hook: Hook,
    /// Tells two cases of one hook apart.
    pub variant: &'static str,
    pub phase: Phase,
    without_workflow: Class,
    with_workflow: Class,
    pub payload: fn(&Place) -> Value,
}

impl Case {
    pub(crate) fn name(&self) -> String {
        match self.variant {
            "" => self.hook.name().to_owned(),
            variant => format!("{} ({variant})", self.hook.name()),
        }
    }

    pub(crate) const fn class(&self, state: State) -> Class {
        match state {
            State::None => self.without_workflow,
            State::Empty | State::Huge => self.with_workflow,
        }
    }
}

pub(crate) const CASES: [Case; 16] = [
    writing(Hook::OnStart, "", payload::session_start),
    reading(Hook::OnSubmit, "", payload::prompt),
    reading(Hook::PreTask, "foreign", payload::foreign_task),
    workflow_writing(Hook::PreTask, "developer", Phase::Ready, payload::developer_task),
    workflow_writing(Hook::OnAgentStart, "", Phase::Active, payload::agent_start),
    workflow_writing(Hook::OnAgentStop, "", Phase::Active, payload::agent_stop),
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
];

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

const fn case(
    hook: Hook,
    variant: &'static str,
    phase: Phase,
    (without_workflow, with_workflow): (Class, Class),
    payload: fn(&Place) -> Value,
) -> Case {
    Case { hook, variant, phase, without_workflow, with_workflow, payload }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hook_is_measured_under_its_own_name() {
        for hook in Hook::ALL {
            assert!(CASES.iter().any(|case| case.hook == hook), "{} is missing", hook.name());
        }
        for (index, case) in CASES.iter().enumerate() {
            let same = |other: &Case| other.name() == case.name();
            assert!(!CASES[..index].iter().any(same), "{} twice", case.name());
        }
    }
}

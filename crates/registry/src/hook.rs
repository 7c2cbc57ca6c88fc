//! Hooks: which client events start our binary, and with which narrow matcher.

/// A hook command, `overtone hook <name>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hook {
    OnStart,
    OnSessionEnd,
    PreCompact,
    OnSubmit,
    PreTask,
    OnAgentStart,
    OnAgentStop,
    OnHandback,
    PostUse,
    PostUseFailure,
    OnStop,
    AllowOwn,
    PreWrite,
}

/// One entry of `hooks.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookBinding {
    /// The client's event name.
    pub event: &'static str,
    /// The tools it is started for; empty where the event has no tool.
    pub matcher: &'static str,
    /// A permission rule that must match too, so that other calls start no process.
    pub condition: Option<&'static str>,
    pub hook: Hook,
}

impl Hook {
    pub const ALL: [Self; 13] = [
        Self::OnStart,
        Self::OnSessionEnd,
        Self::PreCompact,
        Self::OnSubmit,
        Self::PreTask,
        Self::OnAgentStart,
        Self::OnAgentStop,
        Self::OnHandback,
        Self::PostUse,
        Self::PostUseFailure,
        Self::OnStop,
        Self::AllowOwn,
        Self::PreWrite,
    ];

    /// Every binding of `hooks.json`, in the order of a session's life. Only events that the oldest
    /// supported client knows: one unknown event would silently drop all hooks there.
    pub const BINDINGS: [HookBinding; 14] = [
        bind("SessionStart", "", Self::OnStart),
        bind("UserPromptSubmit", "", Self::OnSubmit),
        bind("PreToolUse", "Task|Agent|SendMessage", Self::PreTask),
        bind("PreToolUse", "Skill", Self::AllowOwn),
        HookBinding {
            event: "PreToolUse",
            matcher: "Bash",
            condition: Some("Bash(overtone *)"),
            hook: Self::AllowOwn,
        },
        bind("PreToolUse", "Write|Edit|MultiEdit|NotebookEdit", Self::PreWrite),
        // Newer clients have an agent deliver its report by this tool; refusing the call lets the agent go on.
        bind("PreToolUse", "SubagentHandback", Self::OnHandback),
        bind("SubagentStart", "", Self::OnAgentStart),
        bind("SubagentStop", "", Self::OnAgentStop),
        bind("PostToolUse", "Bash|Edit|Write|MultiEdit|Task|Agent|AskUserQuestion", Self::PostUse),
        bind("PostToolUseFailure", "", Self::PostUseFailure),
        bind("PreCompact", "", Self::PreCompact),
        bind("Stop", "", Self::OnStop),
        bind("SessionEnd", "", Self::OnSessionEnd),
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::OnStart => "on-start",
            Self::OnSessionEnd => "on-session-end",
            Self::PreCompact => "pre-compact",
            Self::OnSubmit => "on-submit",
            Self::PreTask => "pre-task",
            Self::OnAgentStart => "on-agent-start",
            Self::OnAgentStop => "on-agent-stop",
            Self::OnHandback => "on-handback",
            Self::PostUse => "post-use",
            Self::PostUseFailure => "post-use-failure",
            Self::OnStop => "on-stop",
            Self::AllowOwn => "allow-own",
            Self::PreWrite => "pre-write",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hook| hook.name() == name)
    }

    /// The hook for an event, for a client that passes no arguments. `tool` decides between the hooks of
    /// `PreToolUse`.
    pub fn for_event(event: &str, tool: &str) -> Option<Self> {
        Self::BINDINGS
            .iter()
            .find(|b| b.event == event && (b.matcher.is_empty() || b.matcher.split('|').any(|m| m == tool)))
            .map(|b| b.hook)
    }

    /// The client event that this hook answers; its name must be repeated in the output.
    pub fn event(self) -> &'static str {
        Self::BINDINGS.iter().find(|b| b.hook == self).map_or("", |b| b.event)
    }
}

const fn bind(event: &'static str, matcher: &'static str, hook: Hook) -> HookBinding {
    HookBinding { event, matcher, condition: None, hook }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hook_is_bound_and_found_by_its_event() {
        for hook in Hook::ALL {
            assert_eq!(Hook::from_name(hook.name()), Some(hook));
            assert!(!hook.event().is_empty(), "{} is not bound", hook.name());
        }
        assert_eq!(Hook::for_event("PreToolUse", "Agent"), Some(Hook::PreTask));
        assert_eq!(Hook::for_event("PreToolUse", "Skill"), Some(Hook::AllowOwn));
        assert_eq!(Hook::for_event("PreToolUse", "Edit"), Some(Hook::PreWrite));
        assert_eq!(Hook::for_event("PreToolUse", "SubagentHandback"), Some(Hook::OnHandback));
        assert_eq!(Hook::for_event("PreToolUse", "Read"), None);
        assert_eq!(Hook::for_event("Stop", ""), Some(Hook::OnStop));
        assert_eq!(Hook::for_event("constructor", ""), None);
    }
}

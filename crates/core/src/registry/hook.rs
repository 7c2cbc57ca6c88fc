//! Hooks: which client events start our binary, and for which tools.

use crate::registry::table;

table! {
    /// A hook command, `overtone hook <name>`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Hook {
        OnStart("on-start"),
        OnSessionEnd("on-session-end"),
        PreCompact("pre-compact"),
        OnSubmit("on-submit"),
        PreTask("pre-task"),
        OnAgentStart("on-agent-start"),
        OnAgentStop("on-agent-stop"),
        OnHandback("on-handback"),
        PostUse("post-use"),
        PostUseFailure("post-use-failure"),
        OnStop("on-stop"),
        AllowOwn("allow-own"),
        PreWrite("pre-write"),
        PreCommand("pre-command"),
        PreTool("pre-tool"),
    }

    struct HookRow {
        /// The argument of `overtone hook`.
        pub name: &'static str,
    }

    pub fn from_name(name) -> Option<Self>;
}

/// One entry of `hooks.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookBinding {
    /// The client's event name.
    pub event: &'static str,
    /// The tools that the hook is started for, separated by `|`; empty if the event has no tool. [`OTHER_TOOLS`] stands for
    /// all that no other hook of the event is started for.
    pub matcher: &'static str,
    /// A permission rule that must match as well, so that other calls do not start a process.
    pub condition: Option<&'static str>,
    pub hook: Hook,
}

impl Hook {
    /// Every binding of `hooks.json`, in the order in which they happen in a session. Only events that the oldest
    /// supported client knows are listed: a single unknown event makes that client ignore all hooks silently.
    pub const BINDINGS: [HookBinding; 16] = [
        bind("SessionStart", "", Self::OnStart),
        bind("UserPromptSubmit", "", Self::OnSubmit),
        bind("PreToolUse", "Task|Agent|SendMessage|Workflow", Self::PreTask),
        bind("PreToolUse", "Skill", Self::AllowOwn),
        HookBinding {
            event: "PreToolUse",
            matcher: "Bash",
            condition: Some("Bash(overtone *)"),
            hook: Self::AllowOwn,
        },
        bind("PreToolUse", "Bash", Self::PreCommand),
        bind("PreToolUse", "Write|Edit|MultiEdit|NotebookEdit", Self::PreWrite),
        // In newer clients, an agent delivers its report with this tool; denying the call lets the agent continue.
        bind("PreToolUse", "SubagentHandback", Self::OnHandback),
        // An agent that has used up the budget is ended at its next tool call, whatever the tool is.
        bind("PreToolUse", OTHER_TOOLS, Self::PreTool),
        bind("SubagentStart", "", Self::OnAgentStart),
        bind("SubagentStop", "", Self::OnAgentStop),
        bind(
            "PostToolUse",
            "Bash|Edit|Write|MultiEdit|NotebookEdit|Task|Agent|AskUserQuestion",
            Self::PostUse,
        ),
        bind("PostToolUseFailure", "", Self::PostUseFailure),
        bind("PreCompact", "", Self::PreCompact),
        bind("Stop", "", Self::OnStop),
        bind("SessionEnd", "", Self::OnSessionEnd),
    ];

    /// The hook for an event, for clients that pass no arguments. `tool` selects one of the hooks of `PreToolUse`.
    pub fn for_event(event: &str, tool: &str) -> Option<Self> {
        let own = |b: &&HookBinding| b.matcher.is_empty() || b.matcher.split('|').any(|m| m == tool);
        let bindings = || Self::BINDINGS.iter().filter(|b| b.event == event);
        let other = || bindings().find(|b| b.matcher == OTHER_TOOLS);
        bindings().find(own).or_else(other).map(|b| b.hook)
    }

    /// Whether the tool call must not happen without the hook's answer. Newer clients then block the call if the program is
    /// missing, fails or does not answer in time.
    pub const fn is_gate(self) -> bool {
        matches!(self, Self::PreTask | Self::OnHandback | Self::PreWrite)
    }

    /// The client event that this hook answers; its name must be repeated in the output.
    pub fn event(self) -> &'static str {
        match Self::BINDINGS.iter().find(|binding| binding.hook == self) {
            Some(binding) => binding.event,
            None => "",
        }
    }
}

/// A regular expression for the tools that no other binding of `PreToolUse` names.
pub(super) const OTHER_TOOLS: &str =
    "^(?!(?:Task|Agent|SendMessage|Workflow|Skill|Bash|Write|Edit|MultiEdit|NotebookEdit|SubagentHandback)$)";

const fn bind(event: &'static str, matcher: &'static str, hook: Hook) -> HookBinding {
    HookBinding { event, matcher, condition: None, hook }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_one_hook_before_it() {
        let named = Hook::BINDINGS.iter().filter(|b| b.event == "PreToolUse" && b.matcher != OTHER_TOOLS);
        let mut tools: Vec<_> = named.flat_map(|binding| binding.matcher.split('|')).collect();
        tools.dedup();
        assert_eq!(OTHER_TOOLS, format!("^(?!(?:{})$)", tools.join("|")));
    }

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
        assert_eq!(Hook::for_event("PreToolUse", "Read"), Some(Hook::PreTool));
        assert_eq!(Hook::for_event("PostToolUse", "Read"), None);
        assert_eq!(Hook::for_event("Stop", ""), Some(Hook::OnStop));
        assert_eq!(Hook::for_event("constructor", ""), None);
    }
}

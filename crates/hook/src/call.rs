//! Recognises calls of the client by their arguments.

use std::ffi::OsString;

use overtone_ccc::supervisor::Caller;
use overtone_claude::Environment;
use overtone_core::registry::SUPERVISOR_HOOK;

use crate::statusline;

/// A call of the client.
#[derive(Debug, PartialEq, Eq)]
pub enum Call {
    /// `hook <name>`; the name may be unknown.
    Hook(String),
    /// `ccc supervisor-hook`.
    SupervisorHook(Caller),
    /// `statusline`.
    StatusLine,
    /// `subagent-statusline`.
    SubagentStatusLine,
}

impl Call {
    /// Parses the arguments that follow the program's name. Returns `None` for commands of the user. Status lines take no
    /// arguments: with any, the user asks for help.
    pub fn from_arguments(arguments: &[OsString]) -> Option<Self> {
        let (first, rest) = arguments.split_first()?;
        match first.to_str()? {
            "hook" => {
                let name = rest.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                Some(Self::Hook(name))
            }
            "ccc" => Self::from_ccc_arguments(rest),
            "statusline" if rest.is_empty() => Some(Self::StatusLine),
            "subagent-statusline" if rest.is_empty() => Some(Self::SubagentStatusLine),
            _ => None,
        }
    }

    /// Like [`from_arguments`](Self::from_arguments), for a program that was started as `ccc`.
    pub fn from_ccc_arguments(arguments: &[OsString]) -> Option<Self> {
        let [_, name, plugin_flag] = SUPERVISOR_HOOK;
        if arguments.first()? != name {
            return None;
        }
        let caller = match arguments.last() {
            Some(last) if last == plugin_flag => Caller::Plugin,
            _ => Caller::Settings,
        };
        Some(Self::SupervisorHook(caller))
    }

    /// Prints the answer on stdout. Errors do not escape: there is always an answer.
    pub fn answer(&self, environment: &Environment) {
        match self {
            Self::Hook(name) => overtone_session::hooks::run_hook(name, environment),
            Self::SupervisorHook(caller) => overtone_ccc::supervisor::run_hook(environment, *caller),
            Self::StatusLine => statusline::run(environment),
            Self::SubagentStatusLine => statusline::rows::run(environment),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> Option<Call> {
        Call::from_arguments(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn calls_of_the_client_are_distinguished_from_commands_of_the_user() {
        assert_eq!(call("hook on-stop"), Some(Call::Hook("on-stop".into())));
        assert_eq!(call("hook"), Some(Call::Hook(String::new())));
        assert_eq!(call("statusline"), Some(Call::StatusLine));
        assert_eq!(call("subagent-statusline"), Some(Call::SubagentStatusLine));
        assert_eq!(call("ccc supervisor-hook"), Some(Call::SupervisorHook(Caller::Settings)));
        assert_eq!(call(&SUPERVISOR_HOOK.join(" ")), Some(Call::SupervisorHook(Caller::Plugin)));
        for command in ["", "statusline --help", "ccc", "ccc list", "status"] {
            assert_eq!(call(command), None, "{command}");
        }
    }
}

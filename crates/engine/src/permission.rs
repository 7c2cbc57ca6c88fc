//! Opinions on tool calls: our own doings go unasked, read-only agents stay read-only.

use overtone_messages::{flow, tools as words};
use overtone_registry::{Agent, PLUGIN_PREFIX};

use crate::outcome::{Outcome, Permission, Reply};
use crate::trigger::Facts;

/// The program whose plain calls need no asking.
const PROGRAM: &str = "overtone";

/// Subcommands that a person must be asked about: they delete, forge events or a person's words, move the limits, or
/// switch the provider or the supervisor of the one who asks.
const ASKED: [&[&str]; 10] = [
    &["uninstall"],
    &["down"],
    &["hook"],
    &["ccc"],
    &["message"],
    &["fleet"],
    &["relay"],
    &["sessions", "rm"],
    &["sessions", "gc"],
    &["config", "set"],
];

pub(crate) fn calling_skill(skill: &str, facts: &Facts) -> Outcome {
    if skill.trim_start_matches('/').starts_with(PLUGIN_PREFIX) { allow(facts) } else { Outcome::default() }
}

pub(crate) fn running_command(command: &str, facts: &Facts) -> Outcome {
    if is_own_plain_command(command) { allow(facts) } else { Outcome::default() }
}

/// One `overtone …` command with nothing that a shell could make more of.
fn is_own_plain_command(command: &str) -> bool {
    let command = command.trim();
    let shell_syntax = |c: char| ";&|<>$`(){}\\\n\r\0".contains(c);
    let mut words = command.split_whitespace();
    if command.contains(shell_syntax) || words.next() != Some(PROGRAM) {
        return false;
    }
    // Quotes and options do not hide a subcommand from this check.
    let words: Vec<_> = words.map(|word| word.replace(['"', '\''], "")).collect();
    let names: Vec<_> = words.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    let asked = ASKED.iter().any(|asked| names.windows(asked.len()).any(|window| window == *asked));
    !asked && !names.contains(&"rm")
}

fn allow(facts: &Facts) -> Outcome {
    let permission = Permission::Allow { reason: Some(words::own_command(facts.lang)), patch: None };
    Outcome { reply: Reply { permission: Some(permission), ..Reply::default() }, effects: Vec::new() }
}

pub(crate) fn changing_file(agent_type: &str, tool: &str, facts: &Facts) -> Outcome {
    match Agent::from_wire(agent_type) {
        Some(agent) if !agent.tools().permits(tool) => {
            let reason = flow::deny_read_only(facts.lang, agent.name(), tool);
            let permission = Some(Permission::Deny { reason });
            Outcome { reply: Reply { permission, ..Reply::default() }, effects: Vec::new() }
        }
        _ => Outcome::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_own_commands_are_ours() {
        for command in [
            "overtone status",
            "overtone init standard --feature add-login",
            " overtone ",
            "overtone specs new 'x'",
        ] {
            assert!(is_own_plain_command(command), "{command}");
        }
    }

    #[test]
    fn everything_else_is_not() {
        for command in [
            "overtone status; rm -rf x",
            "overtone status && x",
            "overtone status | sh",
            "overtone status > file",
            "overtone `x`",
            "overtone $(x)",
            "overtone ${X}",
            "overtone status\nrm x",
            "overtonex status",
            "X=1 overtone status",
            "./overtone status",
            "overtone uninstall",
            "overtone --json uninstall",
            "overtone 'uninstall'",
            "overtone sessions rm abc",
            "overtone \"sessions\" 'rm' abc",
            "overtone hook on-stop",
            "overtone config set limits.failures 99",
            "overtone message 'well done, skip the tests'",
            "overtone --session s 'message' x",
            "",
        ] {
            assert!(!is_own_plain_command(command), "{command}");
        }
    }
}

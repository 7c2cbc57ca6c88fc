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

/// What only the user may do leads to the client's question; planning starts nothing.
pub(crate) fn running_command(command: &str, facts: &Facts) -> Outcome {
    if is_own_plain_command(command) {
        let words = plain_words(command);
        return match needs_user(&words) {
            Some(name) => ask(&name, facts),
            None if facts.plan_mode && words.first().is_some_and(|word| word == "init") => Outcome::default(),
            None => allow(facts),
        };
    }
    Outcome::default()
}

/// Commands that end things or grant new attempts: the user's, whoever types them.
fn needs_user(words: &[String]) -> Option<String> {
    let names: Vec<_> = words.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    match *names.first()? {
        name @ ("stop" | "resume") => Some(name.to_owned()),
        "init" if words.iter().any(|word| word == "--force" || word == "--anyway") => {
            Some("init --force".to_owned())
        }
        _ => None,
    }
}

/// The words after the program's name, without quotes.
fn plain_words(command: &str) -> Vec<String> {
    command.split_whitespace().skip(1).map(|word| word.replace(['"', '\''], "")).collect()
}

fn ask(command: &str, facts: &Facts) -> Outcome {
    let permission = Permission::Ask { reason: words::ask_user_command(facts.lang, command) };
    Outcome { reply: Reply { permission: Some(permission), ..Reply::default() }, effects: Vec::new() }
}

/// One `overtone …` command with nothing that a shell could make more of.
fn is_own_plain_command(command: &str) -> bool {
    let command = command.trim();
    let shell_syntax = |c: char| ";&|<>$`(){}\\\n\r\0".contains(c);
    if command.contains(shell_syntax) || command.split_whitespace().next() != Some(PROGRAM) {
        return false;
    }
    // Quotes and options do not hide a subcommand from this check.
    let words = plain_words(command);
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
            let permission =
                Some(Permission::Deny { reason: flow::deny_read_only(facts.lang, agent.name()) });
            let model_context = Some(flow::read_only_advice(facts.lang, tool));
            Outcome { reply: Reply { model_context, permission, ..Reply::default() }, effects: Vec::new() }
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
    fn what_ends_things_or_grants_attempts_is_asked_of_the_user() {
        for command in [
            "overtone stop",
            "overtone resume",
            "overtone --json resume",
            "overtone 'stop'",
            "overtone init single --force",
            "overtone init --force single",
            "overtone init quick --feature x --anyway",
        ] {
            let outcome = running_command(command, &Facts::default());
            assert!(matches!(outcome.reply.permission, Some(Permission::Ask { .. })), "{command}");
        }
        let allowed = running_command("overtone init single", &Facts::default()).reply.permission;
        assert!(matches!(allowed, Some(Permission::Allow { .. })));
    }

    #[test]
    fn planning_starts_no_workflow() {
        let facts = Facts { plan_mode: true, ..Facts::default() };
        assert_eq!(running_command("overtone init single", &facts).reply.permission, None);
        assert!(running_command("overtone status", &facts).reply.permission.is_some());
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

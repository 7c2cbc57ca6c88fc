//! Decisions on tool calls: which of our commands the model may run without asking, which ones the user has to allow,
//! and which agents may not change files.

use crate::economy::parse_limits;
use crate::messages::{flow, tools};
use crate::registry::{Agent, PLUGIN_PREFIX, Skill, Workflow};

use crate::engine::command_line::plain_words;
use crate::engine::outcome::{Effect, Outcome, Permission, Reply};
use crate::engine::trigger::{Facts, Snapshot};

/// The program that these decisions are about.
const PROGRAM: &str = "overtone";

/// A command that the model may run without asking: exactly these words, followed only by the listed arguments.
struct OwnCommand {
    words: &'static [&'static str],
    /// The required arguments, in this order.
    positionals: &'static [Value],
    options: &'static [(&'static str, Value)],
    /// Whether the command changes something, which is not allowed while planning.
    writes: bool,
}

/// What an argument may look like.
#[derive(Clone, Copy)]
enum Value {
    /// An option without a value.
    Flag,
    Number,
    /// A name in kebab-case.
    Name,
    Workflow,
    /// An event type, a category or a time.
    Word,
    /// What a workflow may use. It can only be less than what the user allows.
    Limits,
}

const JSON: (&str, Value) = ("--json", Value::Flag);

const OWN_COMMANDS: [OwnCommand; 15] = [
    reading(&["status"], &[], &[JSON]),
    reading(
        &["timeline"],
        &[],
        &[
            JSON,
            ("--limit", Value::Number),
            ("-n", Value::Number),
            ("--type", Value::Word),
            ("--category", Value::Word),
            ("--since", Value::Word),
        ],
    ),
    reading(&["stats"], &[], &[JSON]),
    reading(&["cost"], &[], &[JSON, ("--by", Value::Word), ("--since", Value::Word)]),
    reading(&["budget"], &[], &[JSON]),
    reading(&["checks"], &[], &[JSON]),
    reading(&["checks", "detect"], &[], &[JSON]),
    reading(&["evidence"], &[], &[JSON, ("--report", Value::Word)]),
    reading(&["specs", "list"], &[], &[JSON]),
    reading(&["specs", "show"], &[Value::Name], &[JSON]),
    reading(&["instinct", "list"], &[], &[JSON]),
    reading(&["help"], &[], &[]),
    reading(&["--version"], &[], &[]),
    OwnCommand {
        words: &["init"],
        positionals: &[Value::Workflow],
        options: &[JSON, ("--brief", Value::Flag), ("--feature", Value::Name), ("--budget", Value::Limits)],
        writes: true,
    },
    OwnCommand {
        words: &["specs", "new"],
        positionals: &[Value::Name],
        options: &[JSON, ("--workflow", Value::Workflow), ("--backlog", Value::Flag)],
        writes: true,
    },
];

const fn reading(
    words: &'static [&'static str],
    positionals: &'static [Value],
    options: &'static [(&'static str, Value)],
) -> OwnCommand {
    OwnCommand { words, positionals, options, writes: false }
}

/// Allows our skills that are meant for the model. The client does not say where a skill comes from, and one of the
/// repository takes precedence over ours. If there may be such a skill, the client decides.
pub(crate) fn calling_skill(skill: &str, facts: &Facts) -> Outcome {
    let name = skill.strip_prefix('/').unwrap_or(skill);
    let ours = name.strip_prefix(PLUGIN_PREFIX).and_then(Skill::from_name);
    match ours {
        Some(skill) if skill.is_for_model() && !facts.may_have_foreign_skills => allow(facts),
        _ => Outcome::default(),
    }
}

/// Allows the listed commands and has the user asked about every other plain `overtone …` command. There is no decision
/// on commands that are not plain: the client handles them like any other command.
pub(crate) fn running_command(snapshot: &Snapshot, command: &str, facts: &Facts) -> Outcome {
    let Some(words) = plain_words(command) else { return Outcome::default() };
    let Some((PROGRAM, arguments)) = words.split_first().map(|(program, rest)| (program.as_str(), rest))
    else {
        return Outcome::default();
    };
    match OWN_COMMANDS.iter().find(|own| own.matches(arguments)) {
        Some(own) if own.writes && facts.plan_mode => deny_while_planning(facts),
        Some(_) => allow(facts),
        None => ask(snapshot, &arguments.join(" "), facts),
    }
}

impl OwnCommand {
    fn matches(&self, arguments: &[String]) -> bool {
        let Some(rest) = without_prefix(arguments, self.words) else { return false };
        let mut expected = self.positionals.iter();
        let mut rest = rest.iter();
        while let Some(argument) = rest.next() {
            let fits = if argument.starts_with('-') {
                self.option_fits(argument, || rest.next())
            } else {
                matches!(expected.next(), Some(value) if value.fits(argument))
            };
            if !fits {
                return false;
            }
        }
        expected.next().is_none()
    }

    fn option_fits<'a>(&self, argument: &str, next: impl FnOnce() -> Option<&'a String>) -> bool {
        let (name, given) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (argument, None),
        };
        let Some((_, value)) = self.options.iter().find(|(option, _)| *option == name) else { return false };
        match (value, given) {
            (Value::Flag, given) => given.is_none(),
            (value, Some(given)) => value.fits(given),
            (value, None) => matches!(next(), Some(given) if value.fits(given)),
        }
    }
}

fn without_prefix<'a>(arguments: &'a [String], words: &[&str]) -> Option<&'a [String]> {
    let (first, rest) = arguments.split_at_checked(words.len())?;
    if first == words { Some(rest) } else { None }
}

impl Value {
    fn fits(self, text: &str) -> bool {
        let only = |allowed: fn(u8) -> bool| {
            (1..=64).contains(&text.len()) && !text.starts_with('-') && text.bytes().all(allowed)
        };
        match self {
            Self::Flag => false,
            Self::Number => only(|byte| byte.is_ascii_digit()),
            Self::Name => only(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
            Self::Workflow => Workflow::from_name(text).is_some(),
            Self::Limits => parse_limits(text).is_ok(),
            Self::Word => only(|byte| byte.is_ascii_alphanumeric() || b":.-".contains(&byte)),
        }
    }
}

fn allow(facts: &Facts) -> Outcome {
    with_permission(Permission::Allow { reason: Some(tools::own_command(facts.lang)), patch: None })
}

/// The commands in our skills that are not in [`OWN_COMMANDS`]. The client runs them while it expands a skill, after the
/// permission of the skill and without a question of ours.
const SKILL_COMMANDS: [&[&str]; 1] = [&["dashboard"]];

/// Whether the model may run the program with these arguments without the user's decision. The program itself checks this
/// too, because a command that is not plain, such as one in a nested shell, does not reach the permission hook.
pub fn needs_no_decision(arguments: &[String]) -> bool {
    OWN_COMMANDS.iter().any(|own| own.matches(arguments))
        || SKILL_COMMANDS.iter().any(|own| arguments == *own)
}

/// Whether these arguments need the user's decision in every session, with an unfinished workflow or without: what is trusted
/// now runs in later workflows.
pub fn always_needs_decision(arguments: &[String]) -> bool {
    matches!(arguments.first(), Some(command) if command == "trust")
}

/// The command in a plain `overtone …` command line, if it always needs the user's decision.
pub fn question_to_remember(command: &str) -> Option<String> {
    let words = plain_words(command)?;
    let (program, arguments) = words.split_first()?;
    if program == PROGRAM && always_needs_decision(arguments) { Some(arguments.join(" ")) } else { None }
}

/// Makes the client ask the user. The session remembers the question, so that the command knows whether it was the user
/// or the model who decided. A client without a screen asks nobody and denies the call.
fn ask(snapshot: &Snapshot, command: &str, facts: &Facts) -> Outcome {
    let mut outcome =
        with_permission(Permission::Ask { reason: tools::ask_user_command(facts.lang, command) });
    if facts.has_screen
        && let Some(looping) = &snapshot.looping
        && looping.asked.as_deref() != Some(command)
    {
        let mut next = looping.clone();
        next.asked = Some(command.to_owned());
        outcome.push(Effect::PutLoop(next));
    }
    outcome
}

/// Nothing is written while the user is planning, so the command is denied without a question.
fn deny_while_planning(facts: &Facts) -> Outcome {
    let mut outcome = with_permission(Permission::Deny { reason: flow::deny_plan_writes(facts.lang) });
    outcome.reply.model_context = Some(flow::plan_mode_advice(facts.lang));
    outcome
}

fn with_permission(permission: Permission) -> Outcome {
    Outcome { reply: Reply { permission: Some(permission), ..Reply::default() }, effects: Vec::new() }
}

pub(crate) fn changing_file(agent_type: &str, tool: &str, facts: &Facts) -> Outcome {
    match Agent::from_wire(agent_type) {
        Some(agent) if !agent.tools().permits(tool) => {
            let reason = flow::deny_read_only(facts.lang, agent.name());
            let mut outcome = with_permission(Permission::Deny { reason });
            outcome.reply.model_context = Some(flow::read_only_advice(facts.lang, tool));
            outcome
        }
        _ => Outcome::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::state::{LoopState, Millis};

    fn permission_for(command: &str) -> Option<Permission> {
        running_command(&Snapshot::default(), command, &Facts::default()).reply.permission
    }

    #[test]
    fn listed_commands_are_allowed() {
        for command in [
            "overtone status",
            " overtone  status --json ",
            "overtone init standard --feature add-login",
            "overtone init standard --brief --feature add-login",
            "overtone init --feature=add-login quick",
            "overtone 'specs' \"new\" x --backlog",
            "overtone specs new x --workflow tdd --json",
            "overtone specs list",
            "overtone checks --json",
            "overtone budget",
            "overtone init quick --budget 5usd",
            "overtone checks detect",
            "overtone evidence --report md",
            "overtone timeline -n 20 --type agent:complete --since 10m",
            "overtone --version",
        ] {
            assert!(matches!(permission_for(command), Some(Permission::Allow { .. })), "{command}");
        }
    }

    #[test]
    fn every_other_plain_command_is_asked_of_the_user() {
        for command in [
            "overtone",
            "overtone stop",
            "overtone resume",
            "overtone --json resume",
            "overtone 'stop'",
            "overtone init single --force",
            "overtone init --force single",
            "overtone init quick --feature x --anyway",
            "overtone init quick --session other",
            "overtone init nonsense",
            "overtone init",
            "overtone init quick standard",
            "overtone status --session other",
            "overtone status other",
            "overtone stats --all",
            "overtone cost --all",
            "overtone cost --by stage --csv",
            "overtone timeline --follow",
            "overtone timeline other",
            "overtone specs new x --project /elsewhere",
            "overtone specs new --workflow",
            "overtone specs new ../x",
            "overtone specs archive x",
            "overtone specs pause x",
            "overtone dashboard --token",
            "overtone dashboard --host 0.0.0.0",
            "overtone remote add x",
            "overtone fleet stop x",
            "overtone relay",
            "overtone up",
            "overtone down",
            "overtone uninstall --purge --yes",
            "overtone config set limits.failures 99",
            "overtone trust",
            "overtone trust --yes",
            "overtone checks run",
            "overtone checks run test",
            "overtone checks detect --write",
            "overtone checks --session other",
            "overtone evidence --session other",
            "overtone budget raise",
            "overtone budget raise 5usd",
            "overtone init quick --budget lots",
            "overtone approve",
            "overtone skip DEV",
            "overtone message 'well done, skip the tests'",
            "overtone sessions rm abcd",
            "overtone hook on-stop",
            "overtone ccc -- -p x --dangerously-skip-permissions",
            "overtone ccc add evil",
            "overtone - ccc",
            "overtone -- status",
            "overtone ''",
            "overtone --json=status status",
        ] {
            assert!(matches!(permission_for(command), Some(Permission::Ask { .. })), "{command}");
        }
    }

    /// Includes the spellings of other systems, where another file may have the name.
    #[test]
    fn there_is_no_decision_on_anything_else() {
        for command in [
            "overtone status; rm -rf x",
            "overtone [c]cc",
            "overtone\u{a0}status",
            "overtone st\u{200b}atus",
            "overtonex status",
            "X=1 overtone status",
            "./overtone status",
            "overtone.exe status",
            "OVERTONE status",
            "Overtone status",
            ".\\overtone.exe status",
            "C:\\overtone\\overtone.exe status",
            "%USERPROFILE%\\overtone status",
            "& overtone status",
            "overtone status ^& calc",
            "overtone.cmd status",
            "\"overtone\".exe status",
            "",
        ] {
            assert_eq!(permission_for(command), None, "{command}");
        }
    }

    #[test]
    fn commands_that_write_are_denied_while_planning() {
        let facts = Facts { plan_mode: true, ..Facts::default() };
        let planning = |command| running_command(&Snapshot::default(), command, &facts).reply.permission;
        for command in ["overtone init single", "overtone specs new x"] {
            assert!(matches!(planning(command), Some(Permission::Deny { .. })), "{command}");
        }
        assert!(planning("overtone status").is_some());
    }

    #[test]
    fn what_the_user_is_asked_is_remembered_once() {
        let snapshot = Snapshot { looping: Some(LoopState::started(Millis(1))), ..Snapshot::default() };
        let facts = Facts { has_screen: true, ..Facts::default() };
        let outcome = running_command(&snapshot, "overtone resume", &facts);
        let [Effect::PutLoop(looping)] = &outcome.effects[..] else { panic!("{:?}", outcome.effects) };
        assert_eq!(looping.asked.as_deref(), Some("resume"));
        let again = Snapshot { looping: Some(looping.clone()), ..Snapshot::default() };
        assert!(running_command(&again, "overtone resume", &facts).effects.is_empty());
        assert!(running_command(&snapshot, "overtone status", &facts).effects.is_empty());
        let unattended = running_command(&snapshot, "overtone resume", &Facts::default());
        assert!(unattended.effects.is_empty(), "nobody is asked without a screen");
    }

    #[test]
    fn only_our_skills_for_the_model_are_allowed() {
        let only_ours = Facts::default();
        let maybe_foreign = Facts { may_have_foreign_skills: true, ..Facts::default() };
        for name in ["ot:auto", "/ot:auto", "ot:quick", "ot:status"] {
            assert!(calling_skill(name, &only_ours).reply.permission.is_some(), "{name}");
            assert_eq!(calling_skill(name, &maybe_foreign).reply.permission, None, "{name}");
        }
        for name in
            ["ot:stop", "ot:resume", "ot:evil", "ot:", "ot:Auto", "//ot:auto", "ot:ref-bdd-guide", "auto"]
        {
            assert_eq!(calling_skill(name, &only_ours).reply.permission, None, "{name}");
        }
    }
}

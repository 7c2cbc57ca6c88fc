//! Shell commands of the model: only a plain `overtone` command of the list is allowed, however it is spelled, and nothing
//! that a shell could read differently gets a decision at all.

use overtone_core::engine::{Facts, Permission, Snapshot, Trigger, decide};

/// The beginnings of all commands that may be allowed, and whether they write.
const ALLOWED: [(&[&str], bool); 10] = [
    (&["status"], false),
    (&["timeline"], false),
    (&["stats"], false),
    (&["specs", "list"], false),
    (&["specs", "show"], false),
    (&["instinct", "list"], false),
    (&["help"], false),
    (&["--version"], false),
    (&["init"], true),
    (&["specs", "new"], true),
];

/// All options that an allowed command may have.
const OPTIONS: [&str; 10] = [
    "--json",
    "--limit",
    "-n",
    "--type",
    "--category",
    "--since",
    "--feature",
    "--workflow",
    "--backlog",
    "--version",
];

/// What makes a second command, a redirection or another argument of a plain command.
const SHELL_SYNTAX: [&str; 12] =
    ["; x", " && x", " | x", "\nx", " > x", " $(x)", " `x`", " $X", " *", " ~", " \\x", "\u{a0}x"];

/// The decision, without its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    None,
    Allow,
    Ask,
    Deny,
}

pub fn check(data: &[u8]) {
    let Ok(command) = std::str::from_utf8(data) else { return };
    let decision = decision(command, false);
    assert_ne!(decision, Decision::Deny, "only planning denies a command");
    if decision == Decision::None {
        return assert_eq!(self::decision(command, true), Decision::None, "planning decides nothing else");
    }
    let words = words(command);
    assert_eq!(words[0], "overtone");
    for syntax in SHELL_SYNTAX {
        assert_eq!(self::decision(&format!("{command}{syntax}"), false), Decision::None, "{syntax:?}");
    }
    spelling_does_not_matter(&words, decision);
    if decision == Decision::Allow {
        is_on_the_list(&words[1..], self::decision(command, true));
    }
}

fn decision(command: &str, plan_mode: bool) -> Decision {
    let facts = Facts { plan_mode, ..Facts::default() };
    let outcome = decide(&Snapshot::default(), &Trigger::RunningCommand { command }, &facts);
    match outcome.reply.permission {
        None => Decision::None,
        Some(Permission::Allow { patch, .. }) => {
            assert!(patch.is_none(), "a command is run as it was written");
            Decision::Allow
        }
        Some(Permission::Ask { .. }) => Decision::Ask,
        Some(Permission::Deny { .. }) => Decision::Deny,
    }
}

/// The words of a plain command, read independently of the engine: quotes enclose whole words.
fn words(command: &str) -> Vec<String> {
    assert!(command.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "printable ASCII only");
    let mut words = Vec::new();
    let mut rest = command.trim_matches(' ');
    while let Some(first) = rest.chars().next() {
        let (word, after) = match first {
            '\'' | '"' => rest[1..].split_once(first).expect("a closing quote"),
            _ => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = after.trim_start_matches(' ');
    }
    words
}

fn spelling_does_not_matter(words: &[String], expected: Decision) {
    let single = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join("  ");
    if words.iter().all(|word| !word.contains('\'')) {
        assert_eq!(decision(&single, false), expected, "{single}");
    }
}

fn is_on_the_list(arguments: &[String], while_planning: Decision) {
    let listed = ALLOWED.iter().find(|(words, _)| arguments.starts_with(&owned(words)));
    let (words, writes) = listed.expect("a command of the list");
    let expected = if *writes { Decision::Deny } else { Decision::Allow };
    assert_eq!(while_planning, expected, "nothing is written while planning");
    for argument in &arguments[words.len()..] {
        let option = argument.split('=').next().unwrap_or_default();
        assert!(!option.starts_with('-') || OPTIONS.contains(&option), "{argument}");
        assert!(!argument.contains(['/', '\\', ' ']), "no paths and no sentences: {argument}");
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

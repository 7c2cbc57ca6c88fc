//! The first words of a `ccc` command line: whose they are.

use std::ffi::OsString;

/// Commands with a parser of their own.
const OWN: [&str; 15] = [
    "list",
    "current",
    "use",
    "add",
    "remove",
    "env",
    "run",
    "review",
    "audit",
    "supervise",
    "help",
    "--help",
    "-h",
    "--version",
    "-V",
];

/// More of them, for looking after the set-up.
const CARE: [&str; 6] = ["validate", "edit", "migrate", "doctor", "schema", "completions"];

/// The client's commands. They are about its installation and have nothing to do with a provider.
const CLIENT: [&str; 12] = [
    "agents",
    "auth",
    "auto-mode",
    "config",
    "install",
    "mcp",
    "migrate-installer",
    "plugin",
    "plugins",
    "setup-token",
    "update",
    "upgrade",
];

pub(super) const DRY_RUN: &str = "--dry-run";

/// What a command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// For the parser.
    Own,
    /// For the client, as it is.
    Through(Vec<OsString>),
    Launch(Start),
}

/// A start of the client on a provider.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) provider: Option<String>,
    pub(super) isolated: bool,
    pub(super) dry_run: bool,
    pub(super) arguments: Vec<OsString>,
}

/// Whether a word cannot be a provider's name.
pub(super) fn is_command(word: &str) -> bool {
    word == "supervisor-hook" || CARE.contains(&word) || OWN.contains(&word) || CLIENT.contains(&word)
}

pub(super) fn understand(words: Vec<OsString>) -> Line {
    let first = words.first().map(|word| word.to_string_lossy().into_owned());
    match first.as_deref() {
        Some("--") => Line::Through(words.into_iter().skip(1).collect()),
        Some(word) if OWN.contains(&word) || CARE.contains(&word) => Line::Own,
        Some(word) if CLIENT.contains(&word) => Line::Through(words),
        _ => Line::Launch(start(words)),
    }
}

/// `--dry-run` is ours before or right after the provider; further on everything is the client's.
fn start(words: Vec<OsString>) -> Start {
    let mut words = words.into_iter().peekable();
    let mut dry_run = words.next_if(|word| word == DRY_RUN).is_some();
    let provider = words.next_if(|word| !word.to_string_lossy().starts_with('-'));
    dry_run |= words.next_if(|word| word == DRY_RUN).is_some();
    words.next_if(|word| word == "--");
    let provider = provider.map(|word| word.to_string_lossy().into_owned());
    Start { provider, isolated: false, dry_run, arguments: words.collect() }
}

const SETTINGS: &str = "--settings";

/// The client's arguments without `--settings`, and what it was last given there. Words after `--` are a prompt.
pub(super) fn take_settings(arguments: &[OsString]) -> (Vec<OsString>, Option<OsString>) {
    let end = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
    let (options, prompt) = arguments.split_at(end);
    let (mut left, mut found) = (Vec::new(), None);
    let mut words = options.iter();
    while let Some(word) = words.next() {
        let joined = word.to_str().and_then(|word| word.strip_prefix(SETTINGS)?.strip_prefix('='));
        if let Some(value) = joined {
            found = Some(OsString::from(value));
        } else if word == SETTINGS {
            found = words.next().cloned().or(found);
        } else {
            left.push(word.clone());
        }
    }
    left.extend(prompt.iter().cloned());
    (left, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn launch(provider: Option<&str>, dry_run: bool, arguments: &str) -> Line {
        let provider = provider.map(str::to_owned);
        Line::Launch(Start { provider, isolated: false, dry_run, arguments: words(arguments) })
    }

    #[test]
    fn the_users_own_settings_are_found_in_both_forms() {
        for (line, left, found) in [
            ("-p hi", "-p hi", None),
            ("--settings a.json -p hi", "-p hi", Some("a.json")),
            ("-p hi --settings=a.json", "-p hi", Some("a.json")),
            ("--settings a.json --settings=b.json", "", Some("b.json")),
            ("-p -- --settings a.json", "-p -- --settings a.json", None),
            ("-p --settings", "-p", None),
        ] {
            assert_eq!(take_settings(&words(line)), (words(left), found.map(OsString::from)), "{line}");
        }
    }

    #[test]
    fn every_word_has_its_owner() {
        for (line, meaning) in [
            ("", launch(None, false, "")),
            ("kimi", launch(Some("kimi"), false, "")),
            ("kimi -p hello --dry-run", launch(Some("kimi"), false, "-p hello --dry-run")),
            ("kimi -- list", launch(Some("kimi"), false, "list")),
            ("--dry-run kimi -c", launch(Some("kimi"), true, "-c")),
            ("kimi --dry-run -c", launch(Some("kimi"), true, "-c")),
            ("--continue kimi", launch(None, false, "--continue kimi")),
            ("-- list --help", Line::Through(words("list --help"))),
            ("mcp list", Line::Through(words("mcp list"))),
            ("list --json", Line::Own),
            ("doctor --fix", Line::Own),
        ] {
            assert_eq!(understand(words(line)), meaning, "{line}");
        }
    }
}

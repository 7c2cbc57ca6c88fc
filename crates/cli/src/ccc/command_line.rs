//! Splits a `ccc` command line: a command of `ccc`, a command of the client, or a start.

use std::ffi::OsString;

/// Commands of `ccc`.
const OWN_COMMANDS: [&str; 15] = [
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

/// Commands of `ccc` that maintain the set-up.
const MAINTENANCE_COMMANDS: [&str; 6] = ["validate", "edit", "migrate", "doctor", "schema", "completions"];

/// The client's commands. They concern its installation and are independent of a provider.
const CLIENT_COMMANDS: [&str; 12] = [
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

/// The kind of a command line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CommandLine {
    /// A command of `ccc`, which clap parses.
    Own,
    /// Arguments that are passed to the client unchanged.
    Client(Vec<OsString>),
    Start(StartArgs),
}

/// A start of the client on a provider.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StartArgs {
    pub(super) provider: Option<String>,
    pub(super) isolated: bool,
    pub(super) dry_run: bool,
    pub(super) arguments: Vec<OsString>,
}

/// Whether a word is a command and therefore cannot be the name of a provider.
pub(super) fn is_command(word: &str) -> bool {
    word == "supervisor-hook"
        || MAINTENANCE_COMMANDS.contains(&word)
        || OWN_COMMANDS.contains(&word)
        || CLIENT_COMMANDS.contains(&word)
}

pub(super) fn parse(arguments: Vec<OsString>) -> CommandLine {
    let first = arguments.first().map(|word| word.to_string_lossy().into_owned());
    match first.as_deref() {
        Some("--") => CommandLine::Client(arguments.into_iter().skip(1).collect()),
        Some(word) if OWN_COMMANDS.contains(&word) || MAINTENANCE_COMMANDS.contains(&word) => {
            CommandLine::Own
        }
        Some(word) if CLIENT_COMMANDS.contains(&word) => CommandLine::Client(arguments),
        _ => CommandLine::Start(parse_start(arguments)),
    }
}

/// `--dry-run` before or directly after the provider is an option of `ccc`; everything else belongs to the client.
fn parse_start(arguments: Vec<OsString>) -> StartArgs {
    let mut words = arguments.into_iter().peekable();
    let mut dry_run = words.next_if(|word| word == DRY_RUN).is_some();
    let provider = words.next_if(|word| !word.to_string_lossy().starts_with('-'));
    dry_run |= words.next_if(|word| word == DRY_RUN).is_some();
    words.next_if(|word| word == "--");
    let provider = provider.map(|word| word.to_string_lossy().into_owned());
    StartArgs { provider, isolated: false, dry_run, arguments: words.collect() }
}

const SETTINGS: &str = "--settings";

/// Splits off the `--settings` option: returns the other arguments and its last value. Everything after `--` is a prompt.
pub(super) fn split_settings(arguments: &[OsString]) -> (Vec<OsString>, Option<OsString>) {
    let end = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
    let (options, prompt) = arguments.split_at(end);
    let (mut others, mut found) = (Vec::new(), None);
    let mut words = options.iter();
    while let Some(word) = words.next() {
        let joined = word.to_str().and_then(|word| word.strip_prefix(SETTINGS)?.strip_prefix('='));
        if let Some(value) = joined {
            found = Some(OsString::from(value));
        } else if word == SETTINGS {
            found = words.next().cloned().or(found);
        } else {
            others.push(word.clone());
        }
    }
    others.extend(prompt.iter().cloned());
    (others, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn start(provider: Option<&str>, dry_run: bool, arguments: &str) -> CommandLine {
        let provider = provider.map(str::to_owned);
        CommandLine::Start(StartArgs { provider, isolated: false, dry_run, arguments: words(arguments) })
    }

    #[test]
    fn the_settings_option_is_found_in_both_forms() {
        for (line, others, found) in [
            ("-p hi", "-p hi", None),
            ("--settings a.json -p hi", "-p hi", Some("a.json")),
            ("-p hi --settings=a.json", "-p hi", Some("a.json")),
            ("--settings a.json --settings=b.json", "", Some("b.json")),
            ("-p -- --settings a.json", "-p -- --settings a.json", None),
            ("-p --settings", "-p", None),
        ] {
            assert_eq!(split_settings(&words(line)), (words(others), found.map(OsString::from)), "{line}");
        }
    }

    #[test]
    fn command_lines_are_split_by_their_first_word() {
        for (line, expected) in [
            ("", start(None, false, "")),
            ("kimi", start(Some("kimi"), false, "")),
            ("kimi -p hello --dry-run", start(Some("kimi"), false, "-p hello --dry-run")),
            ("kimi -- list", start(Some("kimi"), false, "list")),
            ("--dry-run kimi -c", start(Some("kimi"), true, "-c")),
            ("kimi --dry-run -c", start(Some("kimi"), true, "-c")),
            ("--continue kimi", start(None, false, "--continue kimi")),
            ("-- list --help", CommandLine::Client(words("list --help"))),
            ("mcp list", CommandLine::Client(words("mcp list"))),
            ("list --json", CommandLine::Own),
            ("doctor --fix", CommandLine::Own),
        ] {
            assert_eq!(parse(words(line)), expected, "{line}");
        }
    }
}

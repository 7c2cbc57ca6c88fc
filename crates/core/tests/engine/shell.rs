//! Real shells must read an allowed command in the same way as the permission check.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a panic is the failure report of a test, and its files need no atomic writes"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use overtone_core::engine::{Facts, Permission, Snapshot, Trigger, decide};
use proptest::prelude::*;

/// Pieces of commands that are almost plain.
const PIECES: [&str; 62] = [
    "overtone",
    " ",
    " ",
    " ",
    "status",
    "init",
    "quick",
    "--feature",
    "add-login",
    "--json",
    "specs",
    "new",
    "list",
    "timeline",
    "-n",
    "20",
    "=",
    "'",
    "\"",
    "''",
    "\"\"",
    "*",
    "?",
    "[s]",
    "st[a]tus",
    "~",
    "~root",
    "$HOME",
    "${PATH}",
    "$(touch made)",
    "`touch made`",
    "{a,b}",
    "\\",
    "\n",
    "\t",
    "\r",
    ";",
    "&",
    "|",
    ">",
    "<",
    "#",
    "!",
    "!!",
    "^",
    "%",
    "\u{a0}",
    "\u{2003}",
    "\u{3000}",
    "\u{feff}",
    "\u{200b}",
    "\0",
    "é",
    "-",
    "--",
    "/",
    ".",
    ":",
    ",",
    "@",
    "+",
    "X=1",
];

/// A folder in which globs match, and a program `overtone` that writes down its arguments.
struct ShellFixture {
    dir: tempfile::TempDir,
}

impl ShellFixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["status", "stop", "a", "b", "s", "new", "quick", "-n", "--feature"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let bin = dir.path().join("bin");
        fs::create_dir(&bin).unwrap();
        let program = bin.join("overtone");
        fs::write(&program, "#!/bin/sh\nprintf '%s\\0' run \"$@\" >> \"$RECORD\"\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { dir }
    }

    fn record(&self) -> PathBuf {
        self.dir.path().join("bin/record")
    }

    /// The arguments that a shell passes on, beginning with `run` for every start.
    fn arguments(&self, shell: &str, command: &str) -> Vec<String> {
        let _ = fs::remove_file(self.record());
        let path = format!("{}:/usr/bin:/bin", self.dir.path().join("bin").display());
        let status = Command::new(shell)
            .args(["-c", command])
            .current_dir(self.dir.path())
            .env("PATH", path)
            .env("RECORD", self.record())
            .status()
            .unwrap();
        assert!(status.success(), "{shell}: {command:?}");
        let recorded = fs::read(self.record()).unwrap_or_default();
        let text = String::from_utf8(recorded).unwrap();
        text.split_terminator('\0').map(str::to_owned).collect()
    }
}

/// The shells of this machine that the client may use.
fn shells() -> Vec<&'static str> {
    ["/bin/sh", "/bin/bash", "/usr/bin/zsh", "/bin/dash"]
        .into_iter()
        .filter(|path| Path::new(path).exists())
        .collect()
}

fn is_allowed(command: &str) -> bool {
    let outcome = decide(&Snapshot::default(), &Trigger::RunningCommand { command }, &Facts::default());
    matches!(outcome.reply.permission, Some(Permission::Allow { .. }))
}

/// The words of an allowed command: quotes are around whole words only.
fn words(command: &str) -> Vec<String> {
    let mut words = vec!["run".to_owned()];
    let mut rest = command.trim_matches(' ').strip_prefix("overtone").unwrap().trim_start_matches(' ');
    while !rest.is_empty() {
        let quote = rest.chars().next().filter(|c| ['\'', '"'].contains(c));
        let (word, after) = match quote {
            Some(quote) => rest[1..].split_once(quote).unwrap(),
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = after.trim_start_matches(' ');
    }
    words
}

fn assert_read_alike(fixture: &ShellFixture, command: &str) {
    for shell in shells() {
        assert_eq!(fixture.arguments(shell, command), words(command), "{shell}: {command:?}");
    }
    assert!(!fixture.dir.path().join("made").exists(), "{command:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn shells_read_an_allowed_command_as_the_check_does(
        pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..9),
        rest in ".{0,3}",
    ) {
        let built = format!("overtone {}{rest}", pieces.concat());
        let loose = pieces.concat();
        for command in [built, loose] {
            if is_allowed(&command) {
                assert_read_alike(&ShellFixture::new(), &command);
            }
        }
    }
}

/// Without allowed commands, the property above would not test anything.
#[test]
fn ordinary_commands_are_allowed_and_read_alike() {
    let fixture = ShellFixture::new();
    for command in [
        "overtone status",
        "overtone  'status'  \"--json\" ",
        "overtone init quick --feature add-login",
        "overtone specs new a --workflow tdd",
        "overtone timeline -n 20 --since=2026-02-23T14:00:00Z",
    ] {
        assert!(is_allowed(command), "{command}");
        assert_read_alike(&fixture, command);
    }
}

/// Attacks that were allowed in earlier versions.
#[test]
fn known_attacks_are_not_allowed() {
    for command in [
        "overtone [c]cc",
        "overtone conf?g set limits.failures 99",
        "overtone\u{a0}/evil.sh",
        "overtone - ccc -- -p x --dangerously-skip-permissions",
        "overtone -ccc add evil",
        "overtone status\u{2028}rm x",
    ] {
        assert!(!is_allowed(command), "{command}");
    }
}

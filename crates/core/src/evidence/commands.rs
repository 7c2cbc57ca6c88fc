//! Classifies the shell commands that an agent runs: whether they test, only read, or change files.
//!
//! Commands are split as a shell would split them, with attention to quotes, and wrappers such as `timeout 60` or
//! `bash -c '…'` are looked through. Variables, aliases and scripts are not followed.

mod changes;
mod git;
mod invocation;
mod programs;
mod shell;
mod test_runs;

pub use changes::{FileChanges, OWN_HOME, file_changes};
use invocation::{Invocation, invocations};

/// What a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandKind {
    /// It runs tests.
    Test,
    /// It certainly changes no file.
    ReadOnly,
    /// It changes files.
    Writing,
    /// Anything else. It may change files, too.
    Other,
}

/// The kind of a whole command line: [`CommandKind::Writing`] if any part writes, else `Test` if any part tests, else `Other`
/// if any part is of no other kind.
pub fn classify(command: &str) -> CommandKind {
    let mut kind = CommandKind::ReadOnly;
    for invocation in invocations(command) {
        kind = match (kind, kind_of(&invocation)) {
            (CommandKind::Writing, _) | (_, CommandKind::Writing) => return CommandKind::Writing,
            (CommandKind::Test, _) | (_, CommandKind::Test) => CommandKind::Test,
            (CommandKind::Other, _) | (_, CommandKind::Other) => CommandKind::Other,
            (CommandKind::ReadOnly, CommandKind::ReadOnly) => CommandKind::ReadOnly,
        };
    }
    kind
}

fn kind_of(invocation: &Invocation) -> CommandKind {
    if invocation.written_files.is_empty() { programs::kind(invocation) } else { CommandKind::Writing }
}

/// Whether any part of a command runs tests, also if another part writes: `npm test > log.txt`.
pub fn names_test(command: &str) -> bool {
    invocations(command).iter().any(test_runs::runs_tests)
}

/// Whether a command keeps the hooks of git from running, for example by `git commit --no-verify` or `HUSKY=0`.
pub fn skips_git_hooks(command: &str) -> bool {
    git::skips_hooks(&invocations(command))
}

/// Whether a command overwrites history on a remote: `git push` with `--force`, `--force-with-lease`, `--mirror` or `+branch`.
pub fn forces_push(command: &str) -> bool {
    invocations(command).iter().any(git::forces_push)
}

#[cfg(test)]
mod tests;

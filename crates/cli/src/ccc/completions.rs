//! `ccc completions`: a script for the shell.

use clap::CommandFactory;

use super::args::{Cli, CompletionsArgs};
use crate::ui::error::CommandResult;
use crate::ui::out;

/// The command line of `ccc`, as a part of the one of `overtone`.
pub(crate) fn command() -> clap::Command {
    Cli::command()
}

pub(super) fn run(args: &CompletionsArgs) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "ccc", &mut script);
    out::print_raw(&String::from_utf8_lossy(&script))
}

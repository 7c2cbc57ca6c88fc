//! `overtone completions`: a script for the shell.

use clap::Args;
use clap_complete::Shell;

use crate::args::parser;
use crate::ui::error::CommandResult;
use crate::ui::out;

const EXAMPLES: &str = "\
Examples:
  overtone completions bash > ~/.local/share/bash-completion/completions/overtone
  overtone completions zsh  > ~/.zfunc/_overtone
  overtone completions fish > ~/.config/fish/completions/overtone.fish";

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut parser(), "overtone", &mut script);
    out::print_raw(&String::from_utf8_lossy(&script))
}

//! `overtone completions`: a script for the shell.

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::ui::error::Done;
use crate::ui::out;

pub(crate) fn run(args: &CompletionsArgs) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "overtone", &mut script);
    out::print(&String::from_utf8_lossy(&script))
}

//! `overtone checks`: the commands of a project that have to succeed before a stage passes.

mod detect;
mod list;
mod run;

use clap::{Args, Subcommand};

use crate::args::{OutputArgs, ProjectArgs};
use crate::context::Context;
use crate::ui::error::CommandResult;
use overtone_store::Session;

const EXAMPLES: &str = "\
Examples:
  overtone checks                     the project's checks, with their last result
  overtone checks detect --write      propose checks and add them to overtone.toml
  overtone checks run                 run all checks now
  overtone checks run lint            run one

overtone.toml in the project's root, made to be committed:
  [checks.test]
  run = \"cargo test --workspace\"      # by the shell, in the project's root
  stages = [\"DEV\", \"TEST\"]            # whose PASS needs it; this is the default
  timeout = \"10m\"                     # 90s, 10m, 1h; at most 1h

  [guard]
  level = \"strict\"                    # notice or strict; never below your own level

A check runs before the PASS of its stage counts, and again only after files
have changed. Workflows run checks only after you said overtone trust.";

/// List, propose and run the project's checks
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct ChecksArgs {
    #[command(subcommand)]
    action: Option<ChecksAction>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Args)]
struct ListArgs {
    /// The session whose results are shown [default: the current session, else the last one of this folder]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Subcommand)]
enum ChecksAction {
    Detect(detect::DetectArgs),
    Run(run::RunArgs),
}

pub(crate) fn run(context: &Context, args: &ChecksArgs) -> CommandResult {
    match &args.action {
        None => list::run(context, &args.list),
        Some(ChecksAction::Detect(args)) => detect::run(context, args),
        Some(ChecksAction::Run(args)) => run::run(context, args),
    }
}

/// The session whose receipts belong to the checks of this folder: the given one, the one that the command runs in, or one of
/// this folder. Never one of another project.
fn session_of_checks(context: &Context, named: Option<&str>) -> CommandResult<Option<Session>> {
    if let Some(name) = named {
        return context.existing_session(name).map(Some);
    }
    // Without a session, there are no receipts, which is not an error.
    let selected = context.session_to_change(None).ok().flatten();
    Ok(selected.map(|selected| selected.session).filter(Session::exists))
}

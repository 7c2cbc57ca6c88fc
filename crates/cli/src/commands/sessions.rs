//! `overtone sessions`: lists, shows and removes sessions.

mod gc;
mod list;
mod retention;
mod rm;
mod show;
mod summary;

use clap::{Args, Subcommand};

use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::CommandResult;

const EXAMPLES: &str = "\
Examples:
  overtone sessions                    the same as overtone sessions list
  overtone sessions show 3c4d
  overtone sessions rm 3c4d 0f3c --yes
  overtone sessions gc --dry-run

The first characters of an id, 4 or more, are enough if only one session's id
starts with them.";

/// List, show and remove sessions
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    action: Option<SessionsAction>,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Subcommand)]
enum SessionsAction {
    /// List all sessions, most recently active first
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Show one session
    Show {
        /// The session's id or its first characters (4 or more)
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Remove sessions with all their records
    Rm {
        /// The ids, or the first characters of each (4 or more)
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,
        /// Do not ask for confirmation
        #[arg(long, short)]
        yes: bool,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Remove old sessions, never the current one or one with an open workflow
    Gc {
        /// Keep sessions for this many days [default: retention.days of the configuration]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        days: Option<u32>,
        /// Only show what would be removed
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        output: OutputArgs,
    },
}

pub(crate) fn run(context: &Context, args: &SessionsArgs) -> CommandResult {
    let Some(action) = &args.action else { return list::run(context, &args.output) };
    match action {
        SessionsAction::List { output } => list::run(context, output),
        SessionsAction::Show { id, output } => show::run(context, id, output),
        SessionsAction::Rm { ids, yes, output } => rm::run(context, ids, *yes, output),
        SessionsAction::Gc { days, dry_run, output } => gc::run(context, *days, *dry_run, output),
    }
}

//! `overtone down`: removes Overtone from Claude Code. State and files stay.

use clap::Args;
use overtone_claude::install::{
    Client, InstallRecord, Locations, remove_commands, unlink_program, unregister,
};
use overtone_core::messages::install as words;
use overtone_store::Home;
use serde::Serialize;

use super::up::{client_location, register_error, search_path};
use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::out;

const EXAMPLES: &str = "\
Example:
  overtone down       and later: overtone up";

/// Remove Overtone from Claude Code, keeping its state and files
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DownArgs {
    #[command(flatten)]
    output: OutputArgs,
}

/// The output of `overtone down --json`.
#[derive(Serialize)]
struct DownJson {
    registered: bool,
}

pub(crate) fn run(context: &Context, args: &DownArgs) -> CommandResult {
    remove_from_client(context, context.home()?)?;
    if args.output.json {
        out::json(&DownJson { registered: false })
    } else {
        out::print(&words::down_done(context.lang))
    }
}

/// Undoes what `up` did outside of the home folder.
pub(super) fn remove_from_client(context: &Context, home: &Home) -> CommandResult {
    let binary = Locations::new(home).binary;
    if let Some(link) = InstallRecord::load(home).link {
        unlink_program(&link, &binary).map_err(|error| CommandError::io(context.lang, &link, &error))?;
    }
    remove_commands(&client_location())
        .map_err(|(path, error)| CommandError::io(context.lang, &path, &error))?;
    let client = Client::find(search_path().as_deref());
    unregister(home, &client_location(), client.as_ref())
        .map_err(|error| register_error(context.lang, &error))
}

//! Parses the command line of `ccc` and runs the command.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use overtone_claude::Environment;

use super::args::{Cli, Command};
use super::command_line::{CommandLine, StartArgs};
use super::context::{self, CccContext};
use super::{add, audit, change, command_line, launch, review, show, supervise};
use super::{completions, doctor, edit, migrate, schema, validate};
use crate::ui::error::{CommandResult, exit_with};

/// Whether the program was started as `ccc`.
pub(crate) fn is_called(program: &OsStr) -> bool {
    Path::new(program).file_name() == Some(OsStr::new("ccc"))
}

pub(crate) fn run(arguments: Vec<OsString>, environment: &Environment) -> ExitCode {
    let line = command_line::parse(arguments.clone());
    // Clap prints help and errors itself, before anything else is read.
    let command = if line == CommandLine::Own { Some(parse(arguments).command) } else { None };
    let lang = context::language(environment);
    let result = CccContext::new(lang).and_then(|context| match (command, line) {
        (Some(command), _) => run_command(&context, command),
        (None, CommandLine::Client(arguments)) => launch::pass_through(&context, &arguments),
        (None, CommandLine::Start(start)) => launch::run(&context, &start),
        (None, CommandLine::Own) => Ok(()),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(lang),
    }
}

/// Parses the arguments. Prints help or an error and exits if there is no command to run.
fn parse(arguments: Vec<OsString>) -> Cli {
    Cli::try_parse_from([OsString::from("ccc")].into_iter().chain(arguments))
        .unwrap_or_else(|error| exit_with(&error))
}

fn run_command(context: &CccContext, command: Command) -> CommandResult {
    match command {
        Command::List(output) => show::list(context, &output),
        Command::Current(output) => show::current(context, &output),
        Command::Env(args) => show::env(context, &args),
        Command::Use(args) => change::use_provider(context, &args),
        Command::Add(args) => add::run(context, &args),
        Command::Remove(args) => change::remove(context, &args),
        Command::Review(args) => review::run(context, &args),
        Command::Audit(args) => audit::run(context, &args),
        Command::Supervise(args) => supervise::run(context, &args),
        Command::Validate(args) => validate::run(context, &args),
        Command::Edit(args) => edit::run(context, &args),
        Command::Migrate(args) => migrate::run(context, &args),
        Command::Doctor(args) => doctor::run(context, &args),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Run(args) => launch::run(
            context,
            &StartArgs {
                provider: Some(args.provider),
                isolated: args.isolated,
                dry_run: args.dry_run,
                arguments: args.arguments,
            },
        ),
    }
}

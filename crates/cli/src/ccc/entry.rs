//! From the name and the words of the command line to what is done.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use overtone_hooks::Environment;

use super::args::{Cli, Command};
use super::face::{self, Face};
use super::line::{Line, Start, understand};
use super::{add, audit, change, launch, review, show, supervise};
use super::{completions, doctor, edit, migrate, schema, validate};
use crate::ui::error::{Done, Failure, exit_with};

/// Whether the program was started as `ccc`.
pub(crate) fn is_called(program: &OsStr) -> bool {
    Path::new(program).file_name().is_some_and(|name| name == "ccc")
}

pub(crate) fn run(words: Vec<OsString>, environment: &Environment) -> ExitCode {
    let line = understand(words.clone());
    let command = (line == Line::Own).then(|| parse(words).command);
    let lang = face::language(environment);
    let done = Face::new(lang).and_then(|face| match (command, line) {
        (Some(command), _) => carry_out(&face, command),
        (None, Line::Through(arguments)) => launch::through(&face, &arguments),
        (None, Line::Launch(start)) => launch::run(&face, &start),
        (None, Line::Own) => Ok(()),
    });
    done.map_or_else(|failure: Failure| failure.report(lang), |()| ExitCode::SUCCESS)
}

/// Prints help or a complaint and ends, if that is what is asked for.
fn parse(words: Vec<OsString>) -> Cli {
    Cli::try_parse_from([OsString::from("ccc")].into_iter().chain(words))
        .unwrap_or_else(|error| exit_with(&error))
}

fn carry_out(face: &Face, command: Command) -> Done {
    match command {
        Command::List(output) => show::list(face, &output),
        Command::Current(output) => show::current(face, &output),
        Command::Env(args) => show::env(face, &args),
        Command::Use(args) => change::use_provider(face, &args),
        Command::Add(args) => add::run(face, &args),
        Command::Remove(args) => change::remove(face, &args),
        Command::Review(args) => review::run(face, &args),
        Command::Audit(args) => audit::run(face, &args),
        Command::Supervise(args) => supervise::run(face, &args),
        Command::Validate(args) => validate::run(face, &args),
        Command::Edit(args) => edit::run(face, &args),
        Command::Migrate(args) => migrate::run(face, &args),
        Command::Doctor(args) => doctor::run(face, &args),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Run(args) => launch::run(
            face,
            &Start {
                provider: Some(args.provider),
                isolated: args.isolated,
                dry_run: args.dry_run,
                arguments: args.arguments,
            },
        ),
    }
}

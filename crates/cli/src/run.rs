//! From the command line to a command and to an exit code: 0 done, 1 failed, 2 not understood.

use std::process::ExitCode;

use clap::FromArgMatches;
use overtone_hooks::Environment;

use crate::args::{Cli, Command, whole};
use crate::commands;
use crate::context::Context;
use crate::ui::error::{Done, exit_with};
use crate::ui::{out, terminal};

pub(crate) fn run(environment: Environment) -> ExitCode {
    let parsed = whole()
        .try_get_matches()
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .unwrap_or_else(|error| exit_with(&error));
    let Some(command) = parsed.command else { return alone(environment) };
    let context = Context::new(environment);
    finish(&context, dispatch(&context, command))
}

/// Without arguments: a client that passes none has put the event on stdin; a person gets help.
fn alone(environment: Environment) -> ExitCode {
    if !terminal::stdin_is_terminal() && overtone_hooks::run_event(&environment) {
        return ExitCode::SUCCESS;
    }
    let help = whole().render_help().ansi().to_string();
    finish(&Context::new(environment), out::help(&help))
}

fn finish(context: &Context, done: Done) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(context.lang),
    }
}

fn dispatch(context: &Context, command: Command) -> Done {
    match command {
        Command::Up(args) => commands::up::run(context, &args),
        Command::Demo(args) => commands::demo::run(context, &args),
        Command::Down(args) => commands::down::run(context, &args),
        Command::Uninstall(args) => commands::uninstall::run(context, &args),
        Command::Doctor(args) => commands::doctor::run(context, &args),
        Command::Init(args) => commands::init::run(context, &args),
        Command::Status(args) => commands::status::run(context, &args),
        Command::Stop(args) => commands::stop::run(context, &args),
        Command::Resume(args) => commands::resume::run(context, &args),
        Command::Message(args) => commands::message::run(context, &args),
        Command::Timeline(args) => commands::timeline::run(context, &args),
        Command::Replay(args) => commands::replay::run(context, &args),
        Command::Stats(args) => commands::stats::run(context, &args),
        Command::Sessions(args) => commands::sessions::run(context, &args),
        Command::Specs(args) => commands::specs::run(context, &args),
        Command::Instinct(args) => commands::instinct::run(context, &args),
        Command::Config(args) => commands::config::run(context, &args),
        Command::Validate(args) => commands::validate::run(context, &args),
        Command::Statusline => {
            commands::statusline::run(&context.environment);
            Ok(())
        }
        Command::SubagentStatusline => {
            commands::statusline::rows::run(&context.environment);
            Ok(())
        }
        Command::Top(args) => commands::top::run(context, &args),
        Command::Dashboard(args) => commands::dashboard::run(context, &args),
        Command::Remote(args) => commands::remote::run(context, &args),
        Command::Fleet(args) => commands::fleet::run(context, &args),
        Command::Relay(args) => commands::fleet::relay::run(context, &args),
        Command::Completions(args) => commands::completions::run(&args),
    }
}

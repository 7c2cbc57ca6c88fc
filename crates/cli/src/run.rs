//! Parses the command line, runs the command and returns the exit code: 0 success, 1 error, 2 usage error.

use std::process::ExitCode;

use clap::FromArgMatches;
use overtone_claude::Environment;
use overtone_hook::Call;

use crate::args::{Cli, Command, parser};
use crate::commands;
use crate::context::Context;
use crate::ui::error::{CommandResult, exit_with};
use crate::ui::{out, terminal};

pub(crate) fn run(environment: Environment) -> ExitCode {
    let parsed = parser()
        .try_get_matches()
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .unwrap_or_else(|error| exit_with(&error));
    let Some(command) = parsed.command else { return run_without_arguments(environment) };
    let context = Context::new(environment);
    finish(&context, dispatch(&context, command))
}

/// Without arguments: a client that passes none sends the event on stdin; a user gets help.
fn run_without_arguments(environment: Environment) -> ExitCode {
    if !terminal::stdin_is_terminal() && overtone_session::hooks::run_event(&environment) {
        return ExitCode::SUCCESS;
    }
    let help = parser().render_help().ansi().to_string();
    finish(&Context::new(environment), out::help(&help))
}

fn finish(context: &Context, result: CommandResult) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(context.lang),
    }
}

fn dispatch(context: &Context, command: Command) -> CommandResult {
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
        Command::Checks(args) => commands::checks::run(context, &args),
        Command::Trust(args) => commands::trust::run(context, &args),
        Command::Evidence(args) => commands::evidence::run(context, &args),
        Command::Timeline(args) => commands::timeline::run(context, &args),
        Command::Replay(args) => commands::replay::run(context, &args),
        Command::Stats(args) => commands::stats::run(context, &args),
        Command::Cost(args) => commands::cost::run(context, &args),
        Command::Budget(args) => commands::budget::run(context, &args),
        Command::Sessions(args) => commands::sessions::run(context, &args),
        Command::Specs(args) => commands::specs::run(context, &args),
        Command::Instinct(args) => commands::instinct::run(context, &args),
        Command::Config(args) => commands::config::run(context, &args),
        Command::Validate(args) => commands::validate::run(context, &args),
        Command::Statusline => {
            Call::StatusLine.answer(&context.environment);
            Ok(())
        }
        Command::SubagentStatusline => {
            Call::SubagentStatusLine.answer(&context.environment);
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

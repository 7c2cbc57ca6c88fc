//! `overtone demo`: plays a whole workflow, with a failing test that is fixed, through the real hook processes and
//! shows it in the terminal. It needs nothing but this program and leaves nothing behind. It fails when a hook gives an
//! unexpected answer, so it also checks an installation.

mod agent_work;
mod error;
mod expected;
mod interrupt;
mod payload;
mod process;
mod runner;
mod sandbox;
mod scenario;
mod screen;
mod timings;

use clap::Args;
use overtone_core::messages::{Lang, demo as words};

use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::out;
use error::DemoError;
use interrupt::Interrupt;
use runner::DemoRunner;
use sandbox::Sandbox;
use screen::Screen;

const EXAMPLES: &str = "\
Examples:
  overtone demo
  overtone demo --fast --lang en     a self-test that takes a second

Needs neither Claude Code nor a network, and changes none of your files. Exits
with 1 and names the step if a hook gives a wrong answer.";

/// Play a whole workflow through the real hooks, in a temporary folder
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DemoArgs {
    /// Skip the pauses for reading
    #[arg(long)]
    fast: bool,
    /// Keep the temporary folder and print its path
    #[arg(long)]
    keep: bool,
    /// Language: zh-TW, zh-CN or en [default: as configured]
    #[arg(long, value_name = "LANG", value_parser = language)]
    lang: Option<Lang>,
}

fn language(tag: &str) -> Result<Lang, String> {
    let tags = || Lang::ALL.map(Lang::tag).join(", ");
    Lang::from_tag(tag).ok_or_else(|| format!("available: {}", tags()))
}

pub(crate) fn run(context: &Context, args: &DemoArgs) -> CommandResult {
    let lang = args.lang.unwrap_or(context.lang);
    let interrupt = Interrupt::watch();
    let sandbox = Sandbox::new(lang)?;
    let screen = Screen::new(context.palette, !args.fast, interrupt.clone());
    let mut runner = DemoRunner::new(lang, &sandbox, screen);
    let played = scenario::play(&mut runner);
    let ended = finish(runner, played);
    let removed = remove_sandbox(lang, sandbox, args.keep, ended.is_ok());
    // Only now, when the folder is gone, may a signal end the process.
    interrupt.end_process();
    ended.and(removed)
}

/// Prints the end of the demo, or returns why it failed.
fn finish(mut runner: DemoRunner, played: Result<(), DemoError>) -> CommandResult {
    let lang = runner.lang();
    runner.screen().clear_progress()?;
    match played {
        Ok(()) => scenario::print_end(&mut runner),
        Err(DemoError::Output(error)) => Err(error),
        Err(DemoError::Interrupted) => Err(CommandError::new(words::interrupted(lang))),
        Err(DemoError::Hook(error)) => {
            let message = words::failed(lang, runner.step(), &error.describe(lang));
            Err(CommandError::new(message).hint(words::failed_hint(lang)))
        }
    }
}

/// Removes the folder, or prints where it is kept.
fn remove_sandbox(lang: Lang, sandbox: Sandbox, keep: bool, succeeded: bool) -> CommandResult {
    if keep {
        return out::print(&words::kept(lang, &sandbox.keep().display().to_string()));
    }
    sandbox.remove()?;
    if succeeded { out::print(&words::removed(lang)) } else { Ok(()) }
}

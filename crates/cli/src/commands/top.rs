//! `overtone top`: every session live in the terminal.

use std::env;
use std::io::{self, IsTerminal};

use clap::Args;
use overtone_core::messages::top as words;
use overtone_hook::ansi::Palette;
use overtone_store::clock;
use overtone_top::{DisplayOptions, Options, render_once, run as show, sessions_json};

use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::{out, terminal};

const EXAMPLES: &str = "\
Examples:
  overtone top
  overtone top --once                 one frame, for scripts and pipes
  watch overtone top --once
  overtone top --json | jq -r '.[] | select(.needsPerson) | .project'

Keys: arrows select, Enter shows the whole session, f filters, / searches,
s stops and r resumes after confirmation, ? explains the rest, q quits.
Reads the session files itself; no dashboard is needed. Set NO_COLOR for
output without colours.";

/// Show every session live in the terminal; stop or resume them
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TopArgs {
    /// Print one frame as plain text and exit
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// The width of a frame if the terminal does not report one.
const DEFAULT_COLUMNS: u16 = 100;

pub(crate) fn run(context: &Context, args: &TopArgs) -> CommandResult {
    let display = DisplayOptions {
        lang: context.lang,
        settings: context.settings(),
        prices: context.prices(),
        colours: !Palette::is_disabled(),
    };
    let options = Options { home: context.home()?.clone(), display };
    let store_error = |error| CommandError::store(context.lang, &error);
    if args.output.json {
        return out::json(&sessions_json(options).map_err(store_error)?);
    }
    if args.once {
        let (columns, lines) = size();
        return out::print(&render_once(options, columns, lines, clock::now()).map_err(store_error)?);
    }
    if !io::stdout().is_terminal() || Palette::is_dumb() {
        let lang = context.lang;
        return Err(CommandError::new(words::no_terminal(lang)).hint(words::no_terminal_hint(lang)));
    }
    let ended = show(options).map_err(|error| CommandError::output(&error))?;
    ended.raise_signal();
    Ok(())
}

/// Columns and lines of the terminal, else of the environment, which `watch` sets. Without lines, everything is shown.
fn size() -> (u16, Option<u16>) {
    let variable = |name: &str| env::var(name).ok()?.trim().parse::<u16>().ok().filter(|n| *n > 0);
    let (columns, lines) = terminal::size().unzip();
    (columns.or_else(|| variable("COLUMNS")).unwrap_or(DEFAULT_COLUMNS), lines.or_else(|| variable("LINES")))
}

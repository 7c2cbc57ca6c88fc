//! `overtone top`: every session live in the terminal.

use std::env;
use std::io::{self, IsTerminal};

use overtone_messages::top as words;
use overtone_store::clock;
use overtone_top::{Look, Options, once, run as show, summaries};

use crate::args::TopArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use crate::ui::style::Palette;
use crate::ui::{out, terminal};

/// How wide a frame is where nobody says.
const COLUMNS: u16 = 100;

pub(crate) fn run(context: &Context, args: &TopArgs) -> Done {
    let look = Look { lang: context.lang, settings: context.settings(), colours: !Palette::is_refused() };
    let options = Options { home: context.home()?.clone(), look };
    let unreadable = |error| Failure::store(context.lang, &error);
    if args.output.json {
        return out::json(&summaries(options).map_err(unreadable)?);
    }
    if args.once {
        let (columns, lines) = size();
        return out::print(&once(options, columns, lines, clock::now()).map_err(unreadable)?);
    }
    if !io::stdout().is_terminal() || Palette::is_dumb() {
        let lang = context.lang;
        return Err(Failure::new(words::no_terminal(lang)).hint(words::no_terminal_hint(lang)));
    }
    let ended = show(options).map_err(Failure::Output)?;
    ended.obey();
    Ok(())
}

/// Of the terminal, else what `watch` and others say. Without lines, everything is shown.
fn size() -> (u16, Option<u16>) {
    let said = |name: &str| env::var(name).ok()?.trim().parse::<u16>().ok().filter(|n| *n > 0);
    let (columns, lines) = terminal::size().unzip();
    (columns.or_else(|| said("COLUMNS")).unwrap_or(COLUMNS), lines.or_else(|| said("LINES")))
}

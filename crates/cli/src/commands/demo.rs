//! `overtone demo`: a whole workflow, with a failing test that is repaired, played through the real hook processes
//! and told in the terminal. It needs nothing but this program, leaves nothing behind, and fails when a hook answers
//! other than the story needs, so it checks an installation too.

mod expected;
mod interrupt;
mod payload;
mod process;
mod sandbox;
mod screen;
mod stop;
mod story;
mod teller;
mod timings;

use overtone_messages::{Lang, demo as words};

use crate::args::DemoArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use crate::ui::out;
use interrupt::Interrupt;
use sandbox::Sandbox;
use screen::Screen;
use stop::Stop;
use teller::Teller;

pub(crate) fn run(context: &Context, args: &DemoArgs) -> Done {
    let lang = args.lang.unwrap_or(context.lang);
    let interrupt = Interrupt::watch();
    let sandbox = Sandbox::new(lang)?;
    let screen = Screen::new(context.palette, !args.fast, interrupt.clone());
    let mut teller = Teller::new(lang, &sandbox, screen);
    let played = story::play(&mut teller);
    let ended = finish(teller, played);
    let left = leave(lang, sandbox, args.keep, ended.is_ok());
    // Only now, when the folder is gone, may a signal end the process.
    interrupt.obey();
    ended.and(left)
}

/// The end of the story, or why there is none.
fn finish(mut teller: Teller, played: Result<(), Stop>) -> Done {
    let lang = teller.lang();
    teller.screen().drop_bar()?;
    match played {
        Ok(()) => story::close(&mut teller),
        Err(Stop::Output(failure)) => Err(failure),
        Err(Stop::Interrupted) => Err(Failure::new(words::interrupted(lang))),
        Err(Stop::Failed(problem)) => {
            let told = words::failed(lang, teller.step(), &problem.told(lang));
            Err(Failure::new(told).hint(words::failed_hint(lang)))
        }
    }
}

/// Removes the folder, or says where it is.
fn leave(lang: Lang, sandbox: Sandbox, keep: bool, well: bool) -> Done {
    if keep {
        return out::print(&words::kept(lang, &sandbox.keep().display().to_string()));
    }
    sandbox.remove()?;
    if well { out::print(&words::removed(lang)) } else { Ok(()) }
}

//! `overtone replay`: a recorded session through the engine again, and the first difference. Nothing is written.

mod object;
mod source;
mod stored;
mod text;

use overtone_engine::Snapshot;
use overtone_messages::replay as words;
use overtone_replay::{Difference, Replay, Summary};

use crate::args::ReplayArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use source::Source;
use stored::Stored;

/// The exit codes beside 0.
const DIFFERENT: u8 = 1;
const UNREADABLE: u8 = 2;

pub(crate) fn run(context: &Context, args: &ReplayArgs) -> Done {
    match play(context, args) {
        Err(failure @ Failure::Told { .. }) => {
            let _ = failure.report(context.lang);
            Err(Failure::Silent(UNREADABLE))
        }
        done => done,
    }
}

/// What a replay came to.
struct Ending<'a> {
    source: &'a Source,
    args: &'a ReplayArgs,
    summary: Summary,
    state: Snapshot,
    differences: u64,
    stored: Stored,
}

/// Where differences go as they are found, and how it ended.
trait Teller {
    fn difference(&mut self, difference: &Difference) -> Done;
    fn end(&mut self, ending: &Ending) -> Done;
}

fn play(context: &Context, args: &ReplayArgs) -> Done {
    let mut source = Source::open(context, args.timeline.as_deref(), !args.output.json)?;
    if args.redact {
        return source.redact(context);
    }
    let mut teller: Box<dyn Teller> =
        if args.output.json { Box::<object::Object>::default() } else { Box::new(text::Text { context }) };
    let ending = replay(context, args, &mut source, teller.as_mut())?;
    teller.end(&ending)?;
    let is_same = ending.differences == 0 && !matches!(ending.stored, Stored::Different(_));
    if is_same { Ok(()) } else { Err(Failure::Silent(DIFFERENT)) }
}

fn replay<'a>(
    context: &Context,
    args: &'a ReplayArgs,
    source: &'a mut Source,
    teller: &mut dyn Teller,
) -> Result<Ending<'a>, Failure> {
    let mut differences = 0;
    let mut replay = Replay::new(source.lines(), args.until);
    for difference in replay.by_ref() {
        teller.difference(&difference)?;
        differences += 1;
        if !args.all {
            break;
        }
    }
    let (summary, state) = (replay.summary(), replay.state().clone());
    source.check(context)?;
    if summary.lines == 0 && summary.skipped_count > 0 {
        let message = words::not_a_timeline(context.lang, &source.name);
        return Err(Failure::new(message).hint(words::no_timeline_hint(context.lang)));
    }
    // After a difference everything is different.
    let stored = if differences == 0 { stored::compare(source, &summary, &state) } else { Stored::Absent };
    Ok(Ending { source, args, summary, state, differences, stored })
}

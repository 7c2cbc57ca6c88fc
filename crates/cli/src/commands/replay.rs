//! `overtone replay`: runs a recorded session through the engine again and shows the first difference. No file is
//! written.

mod json;
mod source;
mod stored;
mod text;

use clap::{Args, ValueHint};
use overtone_core::engine::Snapshot;
use overtone_core::messages::replay as words;
use overtone_core::replay::{Difference, Replay, Summary};

use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult, ErrorKind};
use source::TimelineSource;
use stored::StoredState;

const EXAMPLES: &str = "\
Examples:
  overtone replay                                 the session you are in
  overtone replay 3c4d                            another one (overtone sessions lists them)
  overtone replay timeline.jsonl --all            every difference of a file
  overtone replay timeline.jsonl --until 120      the state after line 120
  overtone replay --redact > timeline.jsonl       a copy for a bug report
  overtone replay --json | jq '.differences[0]'

External events (delegations, verdicts, starts, stops, tool failures) are taken
from the recorded lines. The engine decides the rest again, and the result is
compared with the record: types, stages, agents, results and counters, but not
times or ids. If workflow.json is next to the timeline, the final state is
compared too. No file is written.

Exits with 0 if there is no difference, with 1 if there is one, with 2 if the
timeline could not be read.";

/// Re-run a recorded session through the engine and show the first difference, for bug reports
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReplayArgs {
    /// A timeline.jsonl, a session's id or its first characters (4 or more), or - for standard input [default: the current
    /// session, else the last one of this folder]
    #[arg(value_name = "TIMELINE", value_hint = ValueHint::FilePath)]
    timeline: Option<String>,
    /// Show every difference, not only the first
    #[arg(long)]
    all: bool,
    /// Stop after this line of the file and show the state at that point
    #[arg(long, value_name = "LINE")]
    until: Option<u64>,
    /// Only print a copy without free text, to attach to a bug report
    #[arg(long, conflicts_with_all = ["all", "until", "json"])]
    redact: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// The exit codes other than 0.
const DIFFERENT: u8 = 1;
const UNREADABLE: u8 = 2;

pub(crate) fn run(context: &Context, args: &ReplayArgs) -> CommandResult {
    play(context, args).map_err(|error| match error.kind {
        ErrorKind::Failed => error.with_exit_code(UNREADABLE),
        _ => error,
    })
}

/// The result of a replay.
struct ReplayOutcome<'a> {
    source: &'a TimelineSource,
    args: &'a ReplayArgs,
    summary: Summary,
    state: Snapshot,
    differences: u64,
    stored: StoredState,
}

/// Prints differences as they are found, then the outcome.
trait ReplayOutput {
    fn difference(&mut self, difference: &Difference) -> CommandResult;
    fn end(&mut self, outcome: &ReplayOutcome) -> CommandResult;
}

fn play(context: &Context, args: &ReplayArgs) -> CommandResult {
    let mut source = TimelineSource::open(context, args.timeline.as_deref(), !args.output.json)?;
    if args.redact {
        return source.redact(context);
    }
    let mut output: Box<dyn ReplayOutput> = if args.output.json {
        Box::<json::JsonOutput>::default()
    } else {
        Box::new(text::TextOutput { context })
    };
    let outcome = replay(context, args, &mut source, output.as_mut())?;
    output.end(&outcome)?;
    let is_same = outcome.differences == 0 && !matches!(outcome.stored, StoredState::Different(_));
    if is_same { Ok(()) } else { Err(CommandError::silent(DIFFERENT)) }
}

fn replay<'a>(
    context: &Context,
    args: &'a ReplayArgs,
    source: &'a mut TimelineSource,
    output: &mut dyn ReplayOutput,
) -> CommandResult<ReplayOutcome<'a>> {
    let mut differences = 0;
    let mut replay = Replay::new(source.lines(), args.until);
    for difference in replay.by_ref() {
        output.difference(&difference)?;
        differences += 1;
        if !args.all {
            break;
        }
    }
    let (summary, state) = (replay.summary(), replay.state().clone());
    source.check(context)?;
    if summary.lines == 0 && summary.skipped_count > 0 {
        let message = words::not_a_timeline(context.lang, &source.name);
        return Err(CommandError::new(message).hint(words::no_timeline_hint(context.lang)));
    }
    // After a difference, the states differ anyway.
    let stored =
        if differences == 0 { stored::compare(source, &summary, &state) } else { StoredState::Absent };
    Ok(ReplayOutcome { source, args, summary, state, differences, stored })
}

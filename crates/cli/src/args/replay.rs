//! `overtone replay`.

use clap::{Args, ValueHint};

use super::OutputArgs;

/// Re-run a recorded session through the engine and show the first difference, for bug reports
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct ReplayArgs {
    /// A timeline.jsonl, a session's id or its first characters (4 or more), or - for standard input [default: the session
    /// this runs in, else the last one of this folder]
    #[arg(value_name = "TIMELINE", value_hint = ValueHint::FilePath)]
    pub(crate) timeline: Option<String>,
    /// Show every difference, not only the first
    #[arg(long)]
    pub(crate) all: bool,
    /// End after this line of the file and show the state then
    #[arg(long, value_name = "LINE")]
    pub(crate) until: Option<u64>,
    /// Only print a copy without free text, to attach to a bug report
    #[arg(long, conflicts_with_all = ["all", "until", "json"])]
    pub(crate) redact: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

const HELP: &str = "\
Examples:
  overtone replay                                 the session you are in
  overtone replay 3c4d                            another one (overtone sessions lists them)
  overtone replay timeline.jsonl --all            every difference of a file
  overtone replay timeline.jsonl --until 120      the state after line 120
  overtone replay --redact > timeline.jsonl       a copy for a bug report
  overtone replay --json | jq '.differences[0]'

What happened outside (agents sent and come back with their verdicts, starts,
stops, failures of tools) is taken from the lines as given; what follows from
it is decided anew and compared: types, stages, agents, results, counters, but
no times and no ids. Where workflow.json is beside the timeline, the state at
the end must be the same. No file is written.

Ends with 0 when there is no difference, with 1 when there is one, with 2 when
the timeline could not be read.";

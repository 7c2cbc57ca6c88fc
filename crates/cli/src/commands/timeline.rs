//! `overtone timeline`: what happened in a session.

mod filter;
pub(super) mod follow;
pub(super) mod line;
pub(super) mod since;

use std::path::Path;

use clap::Args;
use clap::builder::PossibleValuesParser;
use overtone_core::messages::cli as words;
use overtone_hook::ansi::Text;
use overtone_session::view::ReverseLines;
use overtone_store::timeline::Entry;

use crate::args::{Names, SessionArgs, categories};
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult, warn};
use crate::ui::out;
use filter::Filter;
use since::Since;

const EXAMPLES: &str = "\
Examples:
  overtone timeline --since 2h
  overtone timeline 3c4d
  overtone timeline --category error --category tool
  overtone timeline --type stage:complete --limit 0
  overtone timeline --follow --json | jq .type

Times are UTC. With --json, every line is one event as recorded.";

/// Show what happened in a session, oldest first (times are UTC)
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TimelineArgs {
    /// The session, as with --session
    #[arg(value_name = "SESSION", conflicts_with = "id")]
    named: Option<String>,
    /// Keep printing new events as they happen
    #[arg(long, short)]
    follow: bool,
    /// Only events of this type; may be repeated
    #[arg(long = "type", value_name = "TYPE", value_parser = Names::events(), hide_possible_values = true)]
    types: Vec<String>,
    /// Only events of this category; may be repeated
    #[arg(long = "category", value_name = "CATEGORY", value_parser = PossibleValuesParser::new(categories()))]
    categories: Vec<String>,
    /// Only events since this time: 10m, 2h, 3d, 2026-02-23 or 2026-02-23T14:00:00Z
    #[arg(long, value_name = "WHEN")]
    since: Option<Since>,
    /// Show at most this many of the newest events, 0 for all [default: 50, or all with --since]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    session: SessionArgs,
}

/// How many events are shown by default.
const DEFAULT_LIMIT: usize = 50;

pub(crate) fn run(context: &Context, args: &TimelineArgs) -> CommandResult {
    let filter = Filter::new(context, args)?;
    let named = args.named.as_deref().or(args.session.id.as_deref());
    let selected = if args.follow {
        context.session_to_follow(named)?
    } else {
        context.required_session_to_read(named)?
    };
    // Also with --json, whose lines are the events as they were recorded.
    selected.announce(context);
    let path = selected.session.timeline_file();
    let printer =
        Printer { context, json: args.session.output.json, label_width: line::label_width(context.lang) };
    let past = read_past(context, &path, &filter, limit(args))?;
    if past.unreadable > 0 {
        warn(&words::unreadable_lines(context.lang, past.unreadable, &path.display().to_string()));
    }
    printer.print(&past.entries)?;
    if args.follow {
        return follow::follow(context, &path, past.end, &filter, |entry| printer.print(&[entry]));
    }
    if past.entries.is_empty() && !printer.json {
        return out::print(&words::no_events(context.lang));
    }
    Ok(())
}

fn limit(args: &TimelineArgs) -> usize {
    match args.limit {
        Some(0) => usize::MAX,
        Some(limit) => limit,
        None if args.since.is_some() => usize::MAX,
        None => DEFAULT_LIMIT,
    }
}

/// The recorded events that were asked for.
#[derive(Default)]
struct RecordedEvents {
    entries: Vec<Entry>,
    unreadable: usize,
    /// The offset after the last complete line.
    end: u64,
}

/// The newest events that match the filter, oldest first. Reads backwards and no further than needed.
fn read_past(context: &Context, path: &Path, filter: &Filter, limit: usize) -> CommandResult<RecordedEvents> {
    let unreadable = |error: std::io::Error| CommandError::io(context.lang, path, &error);
    let Some(lines) = ReverseLines::open(path).map_err(unreadable)? else {
        return Ok(RecordedEvents::default());
    };
    let mut past = RecordedEvents { end: lines.end(), ..RecordedEvents::default() };
    for line in lines {
        // A line that is too long for an event counts as unreadable.
        let Some(line) = line.map_err(unreadable)?.bytes else {
            past.unreadable += 1;
            continue;
        };
        match Entry::parse(&String::from_utf8_lossy(&line)) {
            Some(entry) if filter.is_before(&entry) => break,
            Some(entry) if filter.matches(&entry) => past.entries.push(entry),
            Some(_) => {}
            None if line.trim_ascii().is_empty() => {}
            None => past.unreadable += 1,
        }
        if past.entries.len() >= limit {
            break;
        }
    }
    past.entries.reverse();
    Ok(past)
}

struct Printer<'a> {
    context: &'a Context,
    json: bool,
    label_width: usize,
}

impl Printer<'_> {
    fn print(&self, entries: &[Entry]) -> CommandResult {
        if self.json {
            return out::json_text(&entries.iter().map(|entry| event_json(entry) + "\n").collect::<String>());
        }
        let lines = entries.iter().map(|entry| line::render(self.context, entry, self.label_width) + "\n");
        out::print(&Text::join(lines, ""))
    }
}

fn event_json(entry: &Entry) -> String {
    serde_json::Value::Object(entry.fields.clone()).to_string()
}

//! `overtone timeline`: what happened in a session.

mod filter;
pub(super) mod follow;
pub(super) mod line;

use std::path::Path;

use overtone_messages::cli as words;
use overtone_store::timeline::Entry;
use overtone_view::Backwards;

use crate::args::TimelineArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure, warn};
use crate::ui::out;
use crate::ui::text::Text;
use filter::Filter;

/// How many events are shown when nothing else is asked for.
const DEFAULT_LIMIT: usize = 50;

pub(crate) fn run(context: &Context, args: &TimelineArgs) -> Done {
    let filter = Filter::new(context, args)?;
    let named = args.named.as_deref().or(args.session.id.as_deref());
    let chosen = if args.follow {
        context.session_to_follow(named)?
    } else {
        context.required_session_to_read(named)?
    };
    // Also with --json, whose lines are the events as they were recorded.
    chosen.announce(context);
    let path = chosen.session.timeline_file();
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

/// What the timeline held at one moment.
#[derive(Default)]
struct Past {
    entries: Vec<Entry>,
    unreadable: usize,
    /// Where the whole lines ended.
    end: u64,
}

/// The newest events that pass, oldest first. Reads from the end and no further back than needed.
fn read_past(context: &Context, path: &Path, filter: &Filter, limit: usize) -> Result<Past, Failure> {
    let unreadable = |error: std::io::Error| Failure::io(context.lang, path, &error);
    let Some(lines) = Backwards::open(path).map_err(unreadable)? else { return Ok(Past::default()) };
    let mut past = Past { end: lines.end(), ..Past::default() };
    for line in lines {
        // One that is too long for an event cannot be read either.
        let Some(line) = line.map_err(unreadable)?.bytes else {
            past.unreadable += 1;
            continue;
        };
        match Entry::parse(&String::from_utf8_lossy(&line)) {
            Some(entry) if filter.is_before(&entry) => break,
            Some(entry) if filter.passes(&entry) => past.entries.push(entry),
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
    fn print(&self, entries: &[Entry]) -> Done {
        if self.json {
            return out::json_text(&entries.iter().map(|entry| recorded(entry) + "\n").collect::<String>());
        }
        let lines = entries.iter().map(|entry| line::render(self.context, entry, self.label_width) + "\n");
        out::print(&Text::join(lines, ""))
    }
}

fn recorded(entry: &Entry) -> String {
    serde_json::Value::Object(entry.fields.clone()).to_string()
}

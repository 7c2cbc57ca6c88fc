//! `overtone sessions gc`: removes what nobody needs any more.

use overtone_messages::cli as words;
use overtone_store::clock;
use serde_json::json;

use super::retention::{Candidate, Rule, outdated};
use super::summary::{self, Summary};
use super::{list, rm};
use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use crate::ui::out;
use crate::ui::quantity::size;
use crate::ui::text::Text;

pub(super) fn run(context: &Context, days: Option<u32>, dry_run: bool, output: &OutputArgs) -> Done {
    let sessions = summary::all(context)?;
    let doomed = choose(context, &sessions, days);
    if !dry_run {
        remove_all(context, &doomed)?;
    }
    let bytes = doomed.iter().map(|session| session.bytes).sum::<u64>();
    if output.json {
        return out::json(&json!({
            "removed": doomed.iter().map(Summary::id).collect::<Vec<_>>(),
            "bytes": bytes, "kept": sessions.len() - doomed.len(), "dryRun": dry_run,
        }));
    }
    out::print(&text(context, &doomed, bytes, sessions.len(), dry_run))
}

fn choose(context: &Context, sessions: &[Summary], days: Option<u32>) -> Vec<Summary> {
    let candidate = |s: &Summary| Candidate {
        last_activity: s.last_activity,
        open: summary::may_wait(s.state),
        current: s.current,
    };
    let candidates: Vec<_> = sessions.iter().map(candidate).collect();
    let rule = Rule {
        days: days.map_or_else(|| context.number("retention.days"), u64::from),
        sessions: context.number("retention.sessions"),
    };
    let places = outdated(&candidates, rule, clock::now());
    places.into_iter().filter_map(|place| sessions.get(place).cloned()).collect()
}

/// One that cannot be removed does not keep the others; the first problem is told in the end.
fn remove_all(context: &Context, doomed: &[Summary]) -> Done {
    context.home()?.sweep_removed();
    let results: Vec<_> = doomed.iter().map(|session| rm::remove(context, &session.session)).collect();
    results.into_iter().collect::<Result<(), Failure>>()
}

fn text(context: &Context, doomed: &[Summary], bytes: u64, all: usize, dry_run: bool) -> Text {
    let lang = context.lang;
    if doomed.is_empty() {
        return words::gc_nothing(lang, all).into();
    }
    let table = list::table(context, doomed).render(context.palette);
    let line = if dry_run {
        words::gc_would_remove(lang, doomed.len(), &size(bytes))
    } else {
        words::gc_removed(lang, doomed.len(), &size(bytes))
    };
    table + &line
}

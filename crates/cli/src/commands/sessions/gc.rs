//! `overtone sessions gc`: removes old sessions.

use overtone_core::messages::cli as words;
use overtone_hook::ansi::Text;
use overtone_store::clock;
use overtone_store::config::keys;
use serde::Serialize;

use super::retention::{Candidate, Rule, find_outdated};
use super::summary::{self, Summary};
use super::{list, rm};
use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::CommandResult;
use crate::ui::out;
use crate::ui::quantity::size;

/// The output of `overtone sessions gc --json`.
#[derive(Serialize)]
struct CleanupJson<'a> {
    removed: Vec<&'a str>,
    bytes: u64,
    kept: usize,
    #[serde(rename = "dryRun")]
    dry_run: bool,
}

pub(super) fn run(context: &Context, days: Option<u32>, dry_run: bool, output: &OutputArgs) -> CommandResult {
    let sessions = summary::all(context)?;
    let outdated = find_removable(context, &sessions, days);
    if !dry_run {
        remove_all(context, &outdated)?;
    }
    let bytes = outdated.iter().map(|session| session.bytes).sum::<u64>();
    if output.json {
        return out::json(&CleanupJson {
            removed: outdated.iter().map(Summary::id).collect(),
            bytes,
            kept: sessions.len() - outdated.len(),
            dry_run,
        });
    }
    out::print(&render(context, &outdated, bytes, sessions.len(), dry_run))
}

fn find_removable(context: &Context, sessions: &[Summary], days: Option<u32>) -> Vec<Summary> {
    let candidate = |s: &Summary| Candidate {
        last_activity: s.last_activity,
        open: summary::may_be_open(s.state),
        current: s.current,
    };
    let candidates: Vec<_> = sessions.iter().map(candidate).collect();
    let rule = Rule {
        days: u64::from(days.unwrap_or_else(|| context.setting(keys::RETENTION_DAYS))),
        sessions: u64::from(context.setting(keys::RETENTION_SESSIONS)),
    };
    let indexes = find_outdated(&candidates, rule, clock::now());
    indexes.into_iter().filter_map(|index| sessions.get(index).cloned()).collect()
}

/// Removes all of them even if one fails; returns the first error.
fn remove_all(context: &Context, outdated: &[Summary]) -> CommandResult {
    context.home()?.sweep_removed();
    let results: Vec<_> = outdated.iter().map(|session| rm::remove(context, &session.session)).collect();
    results.into_iter().collect::<CommandResult>()
}

fn render(context: &Context, outdated: &[Summary], bytes: u64, all: usize, dry_run: bool) -> Text {
    let lang = context.lang;
    if outdated.is_empty() {
        return words::gc_nothing(lang, all).into();
    }
    let table = list::table(context, outdated).render(context.palette);
    let line = if dry_run {
        words::gc_would_remove(lang, outdated.len(), &size(bytes))
    } else {
        words::gc_removed(lang, outdated.len(), &size(bytes))
    };
    table + &line
}

//! The filter for events.

use overtone_core::engine::state::Millis;
use overtone_core::messages::cli as words;
use overtone_core::registry::{EventKind, UnknownEvent};
use overtone_store::clock;
use overtone_store::timeline::Entry;

use super::TimelineArgs;
use super::since::Since;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::nearest::nearest;

/// Hooks that run at the same time may write a little out of order.
const MAX_DISORDER_MS: i64 = 60_000;

#[derive(Debug, Default)]
pub(super) struct Filter {
    types: Vec<String>,
    categories: Vec<String>,
    since: Option<Millis>,
}

impl Filter {
    pub(super) fn new(context: &Context, args: &TimelineArgs) -> CommandResult<Self> {
        for name in &args.types {
            EventKind::from_name(name).map_err(|error| unknown_event(context, &error))?;
        }
        let since = args.since.map(|since: Since| since.resolve(clock::now()));
        Ok(Self { types: args.types.clone(), categories: args.categories.clone(), since })
    }

    pub(super) fn matches(&self, entry: &Entry) -> bool {
        let listed = |list: &[String], name: &str| list.is_empty() || list.iter().any(|item| item == name);
        let is_recent = match (self.since, entry.at()) {
            (None, _) => true,
            (Some(since), Some(at)) => at >= since,
            (Some(_), None) => false,
        };
        is_recent && listed(&self.types, entry.text("type")) && listed(&self.categories, category(entry))
    }

    /// Whether everything written before this event is too old as well.
    pub(super) fn is_before(&self, entry: &Entry) -> bool {
        match (self.since, entry.at()) {
            (Some(since), Some(at)) => at.0 < since.0.saturating_sub(MAX_DISORDER_MS),
            _ => false,
        }
    }
}

fn category(entry: &Entry) -> &str {
    entry.text("type").split(':').next().unwrap_or_default()
}

fn unknown_event(context: &Context, error: &UnknownEvent) -> CommandError {
    let names = EventKind::ALL.map(EventKind::name);
    let list = names.join(", ");
    let hint = match nearest(&error.0, names) {
        Some(near) => words::did_you_mean_or(context.lang, near, &list),
        None => words::one_of(context.lang, &list),
    };
    CommandError::new(words::unknown_event(context.lang, &error.to_string())).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: &str, ts: &str) -> Entry {
        Entry::parse(&format!(r#"{{"ts":"{ts}","type":"{kind}"}}"#)).unwrap()
    }

    #[test]
    fn types_categories_and_time_must_all_fit() {
        let all = Filter::default();
        assert!(all.matches(&entry("future:thing", "?")));
        let filter = Filter {
            types: vec!["stage:start".into(), "tool:failure".into()],
            categories: vec!["stage".into()],
            since: Some(Millis(86_400_000)),
        };
        assert!(filter.matches(&entry("stage:start", "1970-01-02T00:00:00.000Z")));
        assert!(!filter.matches(&entry("stage:start", "1970-01-01T23:59:59.999Z")));
        assert!(!filter.matches(&entry("stage:start", "?")));
        assert!(!filter.matches(&entry("tool:failure", "1970-01-02T00:00:00.000Z")));
        assert!(!filter.matches(&entry("stage:retry", "1970-01-02T00:00:00.000Z")));
    }

    #[test]
    fn the_search_ends_only_well_before_the_time() {
        let filter = Filter { since: Some(Millis(86_400_000)), ..Filter::default() };
        assert!(!filter.is_before(&entry("x", "1970-01-01T23:59:30.000Z")));
        assert!(filter.is_before(&entry("x", "1970-01-01T23:00:00.000Z")));
        assert!(!filter.is_before(&entry("x", "?")));
    }
}

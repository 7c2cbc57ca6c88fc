//! Which events are asked for.

use overtone_engine::state::Millis;
use overtone_messages::cli as words;
use overtone_registry::{EventKind, UnknownEvent};
use overtone_store::clock;
use overtone_store::timeline::Entry;

use crate::args::{Since, TimelineArgs};
use crate::context::Context;
use crate::ui::error::Failure;
use crate::ui::nearest::nearest;

/// Hooks that run at the same time may write a little out of order.
const DISORDER: i64 = 60_000;

#[derive(Debug, Default)]
pub(super) struct Filter {
    types: Vec<String>,
    categories: Vec<String>,
    since: Option<Millis>,
}

impl Filter {
    pub(super) fn new(context: &Context, args: &TimelineArgs) -> Result<Self, Failure> {
        for name in &args.types {
            EventKind::from_name(name).map_err(|error| unknown(context, &error))?;
        }
        let since = args.since.map(|since: Since| since.resolve(clock::now()));
        Ok(Self { types: args.types.clone(), categories: args.categories.clone(), since })
    }

    pub(super) fn passes(&self, entry: &Entry) -> bool {
        let listed = |list: &[String], name: &str| list.is_empty() || list.iter().any(|item| item == name);
        let late = self.since.is_none_or(|since| entry.at().is_some_and(|at| at >= since));
        late && listed(&self.types, entry.text("type")) && listed(&self.categories, category(entry))
    }

    /// Whether everything written before this event is too old as well.
    pub(super) fn is_before(&self, entry: &Entry) -> bool {
        self.since.zip(entry.at()).is_some_and(|(since, at)| at.0 < since.0.saturating_sub(DISORDER))
    }
}

fn category(entry: &Entry) -> &str {
    entry.text("type").split(':').next().unwrap_or_default()
}

fn unknown(context: &Context, error: &UnknownEvent) -> Failure {
    let names = EventKind::ALL.map(EventKind::name);
    let list = names.join(", ");
    let hint = match nearest(&error.0, names) {
        Some(near) => words::did_you_mean_or(context.lang, near, &list),
        None => words::one_of(context.lang, &list),
    };
    Failure::new(words::unknown_event(context.lang, &error.to_string())).hint(hint)
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
        assert!(all.passes(&entry("future:thing", "?")));
        let filter = Filter {
            types: vec!["stage:start".into(), "tool:failure".into()],
            categories: vec!["stage".into()],
            since: Some(Millis(86_400_000)),
        };
        assert!(filter.passes(&entry("stage:start", "1970-01-02T00:00:00.000Z")));
        assert!(!filter.passes(&entry("stage:start", "1970-01-01T23:59:59.999Z")));
        assert!(!filter.passes(&entry("stage:start", "?")));
        assert!(!filter.passes(&entry("tool:failure", "1970-01-02T00:00:00.000Z")));
        assert!(!filter.passes(&entry("stage:retry", "1970-01-02T00:00:00.000Z")));
    }

    #[test]
    fn the_search_ends_only_well_before_the_time() {
        let filter = Filter { since: Some(Millis(86_400_000)), ..Filter::default() };
        assert!(!filter.is_before(&entry("x", "1970-01-01T23:59:30.000Z")));
        assert!(filter.is_before(&entry("x", "1970-01-01T23:00:00.000Z")));
        assert!(!filter.is_before(&entry("x", "?")));
    }
}

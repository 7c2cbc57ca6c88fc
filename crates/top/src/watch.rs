//! Which changes in the sessions' folders are worth another look.

use std::path::Path;

use overtone_store::{Home, SessionId};
use overtone_watch::Watch;

/// What is to be looked at again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    Session(SessionId),
    /// The system could not keep up, or something else happened: look at all.
    Anything,
}

/// Tells until it is dropped. `None` when the system does not tell, or when there is no folder yet.
pub(crate) fn watch(home: &Home, tell: impl Fn(Change) + Send + 'static) -> Option<Watch> {
    Watch::begin(home, move |change| match change {
        overtone_watch::Change::In(session, file) if is_shown(&file) => tell(Change::Session(session)),
        overtone_watch::Change::In(..) => {}
        overtone_watch::Change::Anything => tell(Change::Anything),
    })
}

fn is_shown(file: &Path) -> bool {
    let shown = [
        // The folder itself.
        "",
        "timeline.jsonl",
        "workflow.json",
        "loop.json",
        "context.json",
        "compact-count.json",
        "session.json",
    ];
    shown.iter().any(|shown| file == Path::new(shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_shown_matters() {
        for file in ["", "loop.json", "timeline.jsonl"] {
            assert!(is_shown(Path::new(file)), "{file}");
        }
        for file in [".lock", "handoffs/01.md", "observations.jsonl"] {
            assert!(!is_shown(Path::new(file)), "{file}");
        }
    }
}

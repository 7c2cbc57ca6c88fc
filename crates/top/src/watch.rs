//! Watches the sessions' folders for changes that affect what is shown.

use std::path::Path;

use overtone_session::watch::SessionWatcher;
use overtone_store::{Home, SessionId};

/// What has to be read again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    Session(SessionId),
    /// All sessions, because events may have been lost.
    All,
}

/// Calls `on_change` until the watcher is dropped. Returns `None` if the system does not report changes, or if the folder
/// does not exist yet.
pub(crate) fn watch(home: &Home, on_change: impl Fn(Change) + Send + 'static) -> Option<SessionWatcher> {
    SessionWatcher::start(home, move |change| match change {
        overtone_session::watch::Change::File(session, file) if is_relevant(&file) => {
            on_change(Change::Session(session));
        }
        overtone_session::watch::Change::File(..) => {}
        overtone_session::watch::Change::Rescan => on_change(Change::All),
    })
}

fn is_relevant(file: &Path) -> bool {
    let relevant = [
        // The folder itself.
        "",
        "timeline.jsonl",
        "workflow.json",
        "loop.json",
        "context.json",
        "compact-count.json",
        "session.json",
    ];
    relevant.iter().any(|name| file == Path::new(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_are_shown_are_relevant() {
        for file in ["", "loop.json", "timeline.jsonl"] {
            assert!(is_relevant(Path::new(file)), "{file}");
        }
        for file in [".lock", "handoffs/01.md", "observations.jsonl"] {
            assert!(!is_relevant(Path::new(file)), "{file}");
        }
    }
}

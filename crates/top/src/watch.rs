//! Hears from the system what changes in the sessions' folders.

use std::path::Path;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use overtone_store::{Home, SessionId};

/// What is to be looked at again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    Session(SessionId),
    /// The system could not keep up, or something else happened: look at all.
    Anything,
}

/// Tells until it is dropped. `None` when the system does not tell, or when there is no folder yet.
pub(crate) fn watch(home: &Home, tell: impl Fn(Change) + Send + 'static) -> Option<RecommendedWatcher> {
    let folder = home.sessions_dir();
    let root = folder.clone();
    let told = move |event: notify::Result<notify::Event>| changes(&root, event).into_iter().for_each(&tell);
    let mut watcher = notify::recommended_watcher(told).ok()?;
    watcher.watch(&folder, RecursiveMode::Recursive).ok()?;
    Some(watcher)
}

fn changes(folder: &Path, event: notify::Result<notify::Event>) -> Vec<Change> {
    let Ok(event) = event else { return vec![Change::Anything] };
    if event.need_rescan() {
        return vec![Change::Anything];
    }
    // Our own reading is reported, too.
    if event.kind.is_access() {
        return Vec::new();
    }
    event.paths.iter().filter_map(|path| change(folder, path)).collect()
}

fn change(folder: &Path, path: &Path) -> Option<Change> {
    let mut parts = path.strip_prefix(folder).ok()?.components();
    let Some(session) = parts.next() else { return Some(Change::Anything) };
    let session = SessionId::parse(session.as_os_str().to_str()?)?;
    let file = parts.next().map(|part| part.as_os_str().to_string_lossy().into_owned());
    let is_shown = matches!(
        file.as_deref(),
        None | Some(
            "timeline.jsonl"
                | "workflow.json"
                | "loop.json"
                | "context.json"
                | "compact-count.json"
                | "session.json"
        )
    );
    is_shown.then_some(Change::Session(session))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_shown_matters() {
        let of = |path: &str| change(Path::new("/s"), Path::new(path));
        let a = || Some(Change::Session(SessionId::parse("a").unwrap()));
        assert_eq!([of("/s/a"), of("/s/a/loop.json"), of("/s/a/timeline.jsonl")], [a(), a(), a()]);
        assert_eq!(of("/s"), Some(Change::Anything));
        for path in ["/s/a/.lock", "/s/a/handoffs/01.md", "/s/a/observations.jsonl", "/s/.removed-a-1", "/x"]
        {
            assert_eq!(of(path), None, "{path}");
        }
    }
}

//! Watches the sessions' folders for changed files.
//!
//! A hook opens, locks, writes and renames files within half a millisecond. A watcher that wakes up for each of these
//! events takes processor time from that hook. So the watching thread sleeps for a moment after the first event, and the
//! following events wait in the system's queue, where they cost nothing.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use overtone_store::{Home, SessionId};

/// How long events are collected after the first one.
const BATCH_DELAY: Duration = Duration::from_millis(15);
/// An event that comes later than this after the last delay starts a new batch.
const BATCH_END: Duration = Duration::from_millis(2);

/// What has changed and should be read again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A file in the folder of a session. An empty path is the folder itself.
    File(SessionId, PathBuf),
    /// Anything may have changed: the system has dropped events, or the folder of all sessions appeared or vanished.
    Rescan,
}

/// Reports changes until it is dropped.
#[derive(Debug)]
pub struct SessionWatcher {
    _watcher: RecommendedWatcher,
}

impl SessionWatcher {
    /// Calls `on_change` for every change, on a thread of its own. Returns `None` if the system does not report changes,
    /// or if the folder of sessions does not exist yet.
    pub fn start(home: &Home, mut on_change: impl FnMut(Change) + Send + 'static) -> Option<Self> {
        let folder = home.sessions_dir();
        let root = folder.clone();
        let mut batch = Batch::default();
        let on_event = move |event: notify::Result<notify::Event>| {
            batch.delay_first_event();
            changes(&root, event).into_iter().for_each(&mut on_change);
        };
        let mut watcher = notify::recommended_watcher(on_event).ok()?;
        watcher.watch(&folder, RecursiveMode::Recursive).ok()?;
        Some(Self { _watcher: watcher })
    }
}

#[derive(Debug, Default)]
struct Batch {
    /// When the last delay ended.
    delayed_at: Option<Instant>,
}

impl Batch {
    /// Sleeps if the event is the first of a batch.
    fn delay_first_event(&mut self) {
        match self.delayed_at {
            Some(at) if at.elapsed() <= BATCH_END => {}
            _ => {
                thread::sleep(BATCH_DELAY);
                self.delayed_at = Some(Instant::now());
            }
        }
    }
}

fn changes(folder: &Path, event: notify::Result<notify::Event>) -> Vec<Change> {
    let Ok(event) = event else { return vec![Change::Rescan] };
    if event.need_rescan() {
        return vec![Change::Rescan];
    }
    // Read accesses are reported too, including those of this program.
    if event.kind.is_access() {
        return Vec::new();
    }
    event.paths.iter().filter_map(|path| change(folder, path)).collect()
}

fn change(folder: &Path, path: &Path) -> Option<Change> {
    let mut parts = path.strip_prefix(folder).ok()?.components();
    let Some(session) = parts.next() else { return Some(Change::Rescan) };
    let session = SessionId::parse(session.as_os_str().to_str()?)?;
    Some(Change::File(session, parts.collect()))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests change files in every way there is")]
mod tests {
    use std::fs;
    use std::sync::mpsc::{self, Receiver};

    use super::*;

    const TIMEOUT: Duration = Duration::from_mins(10);

    fn id(id: &str) -> SessionId {
        SessionId::parse(id).unwrap()
    }

    #[test]
    fn a_path_is_assigned_to_its_session() {
        let parsed = |path: &str| change(Path::new("/s"), Path::new(path));
        assert_eq!(parsed("/s/a/loop.json"), Some(Change::File(id("a"), "loop.json".into())));
        assert_eq!(parsed("/s/a/handoffs/01.md"), Some(Change::File(id("a"), "handoffs/01.md".into())));
        assert_eq!(parsed("/s/a"), Some(Change::File(id("a"), PathBuf::new())));
        assert_eq!(parsed("/s"), Some(Change::Rescan));
        // A session that is being removed, and a path outside the folder.
        assert_eq!((parsed("/s/.removed-a-1"), parsed("/x")), (None, None));
    }

    #[test]
    fn dropped_events_and_errors_cause_a_rescan() {
        let lost = notify::Event::new(notify::EventKind::Other).set_flag(notify::event::Flag::Rescan);
        assert_eq!(changes(Path::new("/s"), Ok(lost)), [Change::Rescan]);
        assert_eq!(changes(Path::new("/s"), Err(notify::Error::generic("x"))), [Change::Rescan]);
    }

    #[test]
    fn a_missing_folder_cannot_be_watched() {
        let folder = tempfile::tempdir().unwrap();
        assert!(SessionWatcher::start(&Home::at(folder.path().to_owned()), |_| {}).is_none());
    }

    struct WatchedHome {
        sessions: PathBuf,
        changes: Receiver<Change>,
        _watcher: SessionWatcher,
        _folder: tempfile::TempDir,
    }

    impl WatchedHome {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let home = Home::at(folder.path().to_owned());
            let sessions = home.sessions_dir();
            fs::create_dir_all(sessions.join("known")).unwrap();
            let (sender, changes) = mpsc::channel();
            let watcher = SessionWatcher::start(&home, move |change| drop(sender.send(change))).unwrap();
            Self { sessions, changes, _watcher: watcher, _folder: folder }
        }

        /// All changes up to and including this one.
        fn changes_until(&self, last: &Change) -> Vec<Change> {
            let mut all = Vec::new();
            while all.last() != Some(last) {
                all.push(self.changes.recv_timeout(TIMEOUT).unwrap());
            }
            all
        }
    }

    #[test]
    fn writes_and_renames_are_reported_and_reads_are_not() {
        let home = WatchedHome::new();
        fs::write(home.sessions.join("known/.new"), "1").unwrap();
        fs::rename(home.sessions.join("known/.new"), home.sessions.join("known/loop.json")).unwrap();
        let written = Change::File(id("known"), "loop.json".into());
        assert!(home.changes_until(&written).len() > 1);
        fs::read(home.sessions.join("known/loop.json")).unwrap();
        fs::write(home.sessions.join("known/last"), "1").unwrap();
        let after = home.changes_until(&Change::File(id("known"), "last".into()));
        let read_only = after.iter().filter(|change| **change == written).count();
        // The rename is reported as two events. A read would be reported after them.
        assert!(read_only <= 1, "{after:?}");
    }

    #[test]
    fn a_session_that_is_created_later_is_watched_too() {
        let home = WatchedHome::new();
        fs::create_dir(home.sessions.join("new")).unwrap();
        home.changes_until(&Change::File(id("new"), PathBuf::new()));
        // The system may begin to watch the new folder a moment after it has reported the folder itself.
        let written = Change::File(id("new"), "timeline.jsonl".into());
        let started = std::time::Instant::now();
        loop {
            fs::write(home.sessions.join("new/timeline.jsonl"), "{}\n").unwrap();
            let change = home.changes.recv_timeout(Duration::from_millis(100));
            if change.as_ref() == Ok(&written) {
                return;
            }
            assert!(started.elapsed() < TIMEOUT, "not reported");
        }
    }
}

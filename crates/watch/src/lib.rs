//! Hears from the system what changes in the sessions' folders.
//!
//! A hook opens, locks, writes and renames within half a millisecond. Whoever is woken for each of these takes
//! processor time from that very hook, so the listening thread sleeps a little after the first: the rest waits in
//! the system's queue, where it costs nothing.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use overtone_store::{Home, SessionId};

/// What comes within this time is heard together.
const GATHER: Duration = Duration::from_millis(15);
/// After this time what is heard is no longer the rest of what was gathered.
const TOLD: Duration = Duration::from_millis(2);

/// What is worth another look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A file in the folder of a session; the empty path is the folder itself.
    In(SessionId, PathBuf),
    /// The system could not keep up, or the folder of all sessions came or went.
    Anything,
}

/// Tells until it is dropped.
#[derive(Debug)]
pub struct Watch {
    _watcher: RecommendedWatcher,
}

impl Watch {
    /// `None` when the system does not tell of changes, or when there is no folder of sessions yet.
    pub fn begin(home: &Home, mut tell: impl FnMut(Change) + Send + 'static) -> Option<Self> {
        let folder = home.sessions_dir();
        let root = folder.clone();
        let mut patience = Patience::default();
        let told = move |event: notify::Result<notify::Event>| {
            patience.gather();
            changes(&root, event).into_iter().for_each(&mut tell);
        };
        let mut watcher = notify::recommended_watcher(told).ok()?;
        watcher.watch(&folder, RecursiveMode::Recursive).ok()?;
        Some(Self { _watcher: watcher })
    }
}

#[derive(Debug, Default)]
struct Patience {
    gathered: Option<Instant>,
}

impl Patience {
    fn gather(&mut self) {
        if self.gathered.is_none_or(|at| at.elapsed() > TOLD) {
            thread::sleep(GATHER);
            self.gathered = Some(Instant::now());
        }
    }
}

fn changes(folder: &Path, event: notify::Result<notify::Event>) -> Vec<Change> {
    let Ok(event) = event else { return vec![Change::Anything] };
    if event.need_rescan() {
        return vec![Change::Anything];
    }
    // Reading is reported, too, and ours is among it.
    if event.kind.is_access() {
        return Vec::new();
    }
    event.paths.iter().filter_map(|path| change(folder, path)).collect()
}

fn change(folder: &Path, path: &Path) -> Option<Change> {
    let mut parts = path.strip_prefix(folder).ok()?.components();
    let Some(session) = parts.next() else { return Some(Change::Anything) };
    let session = SessionId::parse(session.as_os_str().to_str()?)?;
    Some(Change::In(session, parts.collect()))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests change files in every way there is")]
mod tests {
    use std::fs;
    use std::sync::mpsc::{self, Receiver};

    use super::*;

    const LONG: Duration = Duration::from_mins(10);

    fn id(id: &str) -> SessionId {
        SessionId::parse(id).unwrap()
    }

    #[test]
    fn a_path_says_whose_file_has_changed() {
        let of = |path: &str| change(Path::new("/s"), Path::new(path));
        assert_eq!(of("/s/a/loop.json"), Some(Change::In(id("a"), "loop.json".into())));
        assert_eq!(of("/s/a/handoffs/01.md"), Some(Change::In(id("a"), "handoffs/01.md".into())));
        assert_eq!(of("/s/a"), Some(Change::In(id("a"), PathBuf::new())));
        assert_eq!(of("/s"), Some(Change::Anything));
        // A session that is being removed, and what is none.
        assert_eq!((of("/s/.removed-a-1"), of("/x")), (None, None));
    }

    #[test]
    fn what_the_system_could_not_tell_may_be_anything() {
        let lost = notify::Event::new(notify::EventKind::Other).set_flag(notify::event::Flag::Rescan);
        assert_eq!(changes(Path::new("/s"), Ok(lost)), [Change::Anything]);
        assert_eq!(changes(Path::new("/s"), Err(notify::Error::generic("x"))), [Change::Anything]);
    }

    #[test]
    fn without_a_folder_there_is_nothing_to_hear() {
        let place = tempfile::tempdir().unwrap();
        assert!(Watch::begin(&Home::at(place.path().to_owned()), |_| {}).is_none());
    }

    struct Place {
        sessions: PathBuf,
        heard: Receiver<Change>,
        _watch: Watch,
        _folder: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let home = Home::at(folder.path().to_owned());
            let sessions = home.sessions_dir();
            fs::create_dir_all(sessions.join("known")).unwrap();
            let (sender, heard) = mpsc::channel();
            let watch = Watch::begin(&home, move |change| drop(sender.send(change))).unwrap();
            Self { sessions, heard, _watch: watch, _folder: folder }
        }

        /// Everything up to this change.
        fn hear_until(&self, last: &Change) -> Vec<Change> {
            let mut all = Vec::new();
            while all.last() != Some(last) {
                all.push(self.heard.recv_timeout(LONG).unwrap());
            }
            all
        }
    }

    #[test]
    fn what_is_written_and_renamed_is_told_and_what_is_read_is_not() {
        let place = Place::new();
        fs::write(place.sessions.join("known/.new"), "1").unwrap();
        fs::rename(place.sessions.join("known/.new"), place.sessions.join("known/loop.json")).unwrap();
        let written = Change::In(id("known"), "loop.json".into());
        assert!(place.hear_until(&written).len() > 1);
        fs::read(place.sessions.join("known/loop.json")).unwrap();
        fs::write(place.sessions.join("known/last"), "1").unwrap();
        let after = place.hear_until(&Change::In(id("known"), "last".into()));
        let read_only = after.iter().filter(|change| **change == written).count();
        // The rename is told in two ways; reading would be told after it.
        assert!(read_only <= 1, "{after:?}");
    }

    #[test]
    fn a_session_that_comes_later_is_heard_of_too() {
        let place = Place::new();
        fs::create_dir(place.sessions.join("new")).unwrap();
        place.hear_until(&Change::In(id("new"), PathBuf::new()));
        // Its own watch may begin a moment later than its folder is told of.
        let written = Change::In(id("new"), "timeline.jsonl".into());
        let begun = std::time::Instant::now();
        loop {
            fs::write(place.sessions.join("new/timeline.jsonl"), "{}\n").unwrap();
            let told = place.heard.recv_timeout(Duration::from_millis(100));
            if told.is_ok_and(|change| change == written) {
                return;
            }
            assert!(begun.elapsed() < LONG, "not heard");
        }
    }
}

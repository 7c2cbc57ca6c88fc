//! Which session of this machine works on a feature, so that two sessions do not work on it without knowing.

use std::path::Path;

use overtone_core::engine::state::{LoopState, Millis, StoppedBy};

use crate::lookup::is_same_folder;
use crate::{Home, Session, SessionId, clock};

/// A session that was not active for this long no longer holds its feature.
///
/// A client that is killed never says that it ended, and nothing on disk tells whether its process still runs. Two
/// hours is also how long a silent background agent is waited for, so a session at work stays well below it.
pub const HOLD_LIMIT_MS: i64 = 2 * 3600 * 1000;

/// A session that works on a feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    pub session: SessionId,
    pub last_active: Millis,
    /// Its loop was stopped by the user or by a limit: it does nothing now, but may continue.
    pub is_paused: bool,
}

impl Home {
    /// The live session of this machine, other than `except`, that works on `feature` of `project`: its workflow is
    /// open, it has neither ended nor moved to another machine, and it was active within [`HOLD_LIMIT_MS`]. Of several,
    /// one that is not paused, and then the last active.
    pub fn feature_holder(
        &self,
        project: &Path,
        feature: &str,
        except: Option<&SessionId>,
    ) -> Option<Holder> {
        let now = clock::now();
        // The age is checked first: it needs no file to be opened, and excludes nearly all sessions.
        let recent = self.recent_sessions().ok()?.into_iter();
        let mut holders: Vec<_> = recent
            .take_while(|(_, at)| now.since(*at) < HOLD_LIMIT_MS)
            .filter(|(session, _)| Some(session.id()) != except)
            .filter_map(|(session, at)| holder(&session, at, project, feature))
            .collect();
        // The sort is stable, so the last active stays first.
        holders.sort_by_key(|holder| holder.is_paused);
        holders.into_iter().next()
    }
}

fn holder(session: &Session, last_active: Millis, project: &Path, feature: &str) -> Option<Holder> {
    let workflow = session.workflow().ok()??.state;
    if workflow.feature_name.as_deref() != Some(feature) || !workflow.is_open() || workflow.moved_to.is_some()
    {
        return None;
    }
    if !is_same_folder(&session.origin().project?, project) {
        return None;
    }
    let looping = match session.looping() {
        Ok(Some(document)) => document.state,
        _ => LoopState::default(),
    };
    let is_paused = match looping.stopped_by {
        _ if !looping.stopped => false,
        Some(StoppedBy::SessionEnd | StoppedBy::Moved | StoppedBy::Completion) => return None,
        Some(StoppedBy::User | StoppedBy::Limit) | None => true,
    };
    Some(Holder { session: session.id().clone(), last_active, is_paused })
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::files::{self, PRIVATE};
    use crate::{Origin, Session};

    struct Machine {
        _dir: tempfile::TempDir,
        home: Home,
        project: std::path::PathBuf,
    }

    impl Machine {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let (home, project) = (Home::at(dir.path().join("home")), dir.path().join("project"));
            std::fs::create_dir(&project).unwrap();
            Self { _dir: dir, home, project }
        }

        fn session(&self, id: &str, workflow: &str, looping: &str) -> Session {
            let session = self.home.session(&SessionId::parse(id).unwrap());
            session.create().unwrap();
            session.note_origin(&Origin { project: Some(self.project.clone()), transcript: None }).unwrap();
            let write =
                |path: &Path, text: &str| files::write_atomic(path, text.as_bytes(), PRIVATE).unwrap();
            write(&session.workflow_file(), workflow);
            write(&session.loop_file(), looping);
            session
        }

        fn holder(&self) -> Option<(String, bool)> {
            let holder = self.home.feature_holder(&self.project, "login", None)?;
            Some((holder.session.to_string(), holder.is_paused))
        }
    }

    const OPEN: &str =
        r#"{"workflowType":"quick","featureName":"login","stages":{"DEV":{"status":"pending"}}}"#;

    fn age(session: &Session, by: Duration) {
        File::open(session.dir()).unwrap().set_modified(SystemTime::now() - by).unwrap();
    }

    #[test]
    fn an_open_workflow_holds_its_feature_from_others_only() {
        let machine = Machine::new();
        let session = machine.session("aaaa", OPEN, "{}");
        assert_eq!(machine.holder(), Some(("aaaa".to_owned(), false)));
        let home = &machine.home;
        assert_eq!(home.feature_holder(&machine.project, "login", Some(session.id())), None);
        assert_eq!(home.feature_holder(&machine.project, "search", None), None);
        assert_eq!(home.feature_holder(home.root(), "login", None), None);
    }

    #[test]
    fn ended_moved_and_silent_sessions_hold_nothing() {
        for (workflow, looping) in [
            (OPEN, r#"{"stopped":true,"stoppedBy":"session-end"}"#),
            (OPEN, r#"{"stopped":true,"stoppedBy":"moved"}"#),
            (&OPEN.replacen('{', r#"{"movedTo":"workshop","#, 1), "{}"),
            ("{broken", "{}"),
        ] {
            let machine = Machine::new();
            machine.session("aaaa", workflow, looping);
            assert_eq!(machine.holder(), None, "{workflow} {looping}");
        }
        let machine = Machine::new();
        let session = machine.session("aaaa", OPEN, "{}");
        age(&session, Duration::from_hours(1));
        assert!(machine.holder().is_some());
        age(&session, Duration::from_hours(3));
        assert_eq!(machine.holder(), None);
    }

    #[test]
    fn a_running_session_comes_before_a_paused_one() {
        let machine = Machine::new();
        let running = machine.session("aaaa", OPEN, "{}");
        age(&running, Duration::from_mins(10));
        machine.session("bbbb", OPEN, r#"{"stopped":true,"stoppedBy":"user"}"#);
        assert_eq!(machine.holder(), Some(("aaaa".to_owned(), false)));
        running.remove().unwrap();
        assert_eq!(machine.holder(), Some(("bbbb".to_owned(), true)));
    }
}

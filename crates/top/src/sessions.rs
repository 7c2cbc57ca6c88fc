//! A cache of the sessions on disk. Only sessions that have changed are read again.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use overtone_core::engine::state::{Ending, WorkflowState};
use overtone_session::view::{SessionState, Summary, Supervision, supervisor_switch};
use overtone_store::{Home, Session, SessionId, StoreError};

/// Tasks and reviews are outside the sessions' folders. They are refreshed for at most this many sessions.
const MAX_REFRESHED: usize = 50;

/// A session in the list.
#[derive(Debug)]
pub struct Row {
    pub summary: Summary,
    pub supervision: Option<Supervision>,
    /// Whether the supervisor was switched on or off for this session.
    pub supervisor: Option<bool>,
}

/// The section of the list that a session is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    Running,
    NeedsUser,
    Stopped,
    Ended,
    NoWorkflow,
}

impl Row {
    pub fn load(session: &Session) -> Self {
        let summary = Summary::load(session);
        let supervision = Supervision::load(&summary);
        let supervisor = if summary.state.is_open() { supervisor_switch(summary.session.id()) } else { None };
        Self { summary, supervision, supervisor }
    }

    pub(crate) fn id(&self) -> &SessionId {
        self.summary.session.id()
    }

    pub(crate) fn workflow(&self) -> Option<&WorkflowState> {
        self.summary.workflow.as_ref()
    }

    pub(crate) fn is_complete(&self) -> bool {
        matches!(self.workflow(), Some(workflow) if workflow.ending == Some(Ending::Completed))
    }

    /// Whether it has a second line in the list.
    pub(crate) fn is_tall(&self) -> bool {
        self.section() < Section::Ended
    }

    /// The name of the project, or else the beginning of the session's id.
    pub(crate) fn name(&self) -> String {
        self.summary.project_name().unwrap_or_else(|| self.summary.id().chars().take(8).collect())
    }

    /// The name with the workflow, because a project may have several sessions.
    pub(crate) fn title(&self) -> String {
        match self.summary.workflow_name() {
            Some(workflow) => format!("{} · {workflow}", self.name()),
            None => self.name(),
        }
    }

    /// Whether the id, the project, the workflow or the feature contains the text. Case is ignored.
    pub(crate) fn matches_search(&self, search: &str) -> bool {
        let search = search.to_lowercase();
        let project = self.summary.project().map(|path| path.to_string_lossy().into_owned());
        let feature = self.workflow().and_then(|workflow| workflow.feature_name.as_deref());
        let texts = [Some(self.summary.id()), project.as_deref(), self.summary.workflow_name(), feature];
        texts.into_iter().flatten().any(|text| text.to_lowercase().contains(&search))
    }

    fn section(&self) -> Section {
        match self.summary.state {
            SessionState::Running => Section::Running,
            _ if self.summary.needs_user() => Section::NeedsUser,
            SessionState::Stopped => Section::Stopped,
            SessionState::None => Section::NoWorkflow,
            _ => Section::Ended,
        }
    }

    /// Running sessions are sorted by their start, so that the order does not change with every event. Others are sorted by
    /// their last activity.
    fn sort_key(&self) -> (Section, i64, String) {
        let created = self.workflow().and_then(|workflow| workflow.created_at);
        let at = match self.section() {
            Section::Running => created.unwrap_or_default(),
            _ => self.summary.last_activity,
        };
        (self.section(), at.0.saturating_neg(), self.summary.id().to_owned())
    }
}

/// Sorts the running sessions first, then those that need the user, then the others.
pub(crate) fn sort(rows: &mut [Arc<Row>]) {
    rows.sort_by_cached_key(|row| row.sort_key());
}

/// The sessions of a home.
#[derive(Debug)]
pub struct Sessions {
    home: Home,
    cached: HashMap<SessionId, CachedSession>,
}

#[derive(Debug)]
struct CachedSession {
    stamp: Stamp,
    row: Arc<Row>,
}

/// Times and lengths that change when a session changes. State files are replaced by renaming, which changes the folder.
/// The timeline grows in place, and the user may edit the workflow in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp([Option<(SystemTime, u64)>; 3]);

impl Stamp {
    fn read(session: &Session) -> Self {
        let stamp = |path: &Path| {
            let metadata = fs::symlink_metadata(path).ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        };
        Self([stamp(session.dir()), stamp(&session.timeline_file()), stamp(&session.workflow_file())])
    }
}

impl Sessions {
    pub fn new(home: Home) -> Self {
        Self { home, cached: HashMap::new() }
    }

    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    pub(crate) fn contains(&self, id: &SessionId) -> bool {
        self.cached.contains_key(id)
    }

    /// Checks every folder and reads the sessions that have changed. If the folders cannot be listed, nothing changes.
    pub fn scan(&mut self) -> Result<(), StoreError> {
        let sessions = self.home.sessions()?;
        let existing: HashSet<_> = sessions.iter().map(Session::id).collect();
        self.cached.retain(|id, _| existing.contains(id));
        for session in &sessions {
            let stamp = Stamp::read(session);
            match self.cached.get(session.id()) {
                Some(cached) if cached.stamp == stamp => {}
                _ => self.read(session, stamp),
            }
        }
        Ok(())
    }

    /// Reads these sessions again.
    pub(crate) fn refresh(&mut self, ids: impl IntoIterator<Item = SessionId>) {
        for id in ids {
            let session = self.home.session(&id);
            if session.exists() {
                self.read(&session, Stamp::read(&session));
            } else {
                self.cached.remove(&id);
            }
        }
    }

    /// Reads the open sessions again, because their tasks and reviews are outside the sessions' folders.
    pub(crate) fn refresh_open(&mut self) {
        let mut open: Vec<_> = self
            .cached
            .values()
            .map(|cached| &cached.row)
            .filter(|row| row.summary.state.is_open())
            .collect();
        open.sort_by_key(|row| std::cmp::Reverse(row.summary.last_activity));
        let ids: Vec<_> = open.into_iter().take(MAX_REFRESHED).map(|row| row.id().clone()).collect();
        self.refresh(ids);
    }

    /// The stamp has to be read before, so that a change in between is noticed at the next scan.
    fn read(&mut self, session: &Session, stamp: Stamp) {
        let row = Arc::new(Row::load(session));
        self.cached.insert(session.id().clone(), CachedSession { stamp, row });
    }

    pub fn rows(&self) -> Vec<Arc<Row>> {
        let mut rows: Vec<_> = self.cached.values().map(|cached| Arc::clone(&cached.row)).collect();
        sort(&mut rows);
        rows
    }

    /// Whether agents are at work, so that running times are shown.
    pub(crate) fn has_agents(&self) -> bool {
        let is_busy = |workflow: &WorkflowState| !workflow.active_agents.is_empty();
        self.cached.values().any(|cached| cached.row.workflow().is_some_and(is_busy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use overtone_store::files;

    fn session(home: &Home, id: &str, workflow: &str) -> Session {
        let session = home.session(&SessionId::parse(id).unwrap());
        session.create().unwrap();
        files::write_atomic(&session.workflow_file(), workflow.as_bytes(), files::PRIVATE).unwrap();
        session
    }

    fn states(sessions: &Sessions) -> Vec<(String, SessionState)> {
        sessions.rows().iter().map(|row| (row.summary.id().to_owned(), row.summary.state)).collect()
    }

    fn running(created: &str) -> String {
        format!(
            r#"{{"sessionId":"x","workflowType":"single","createdAt":"{created}","stages":{{"DEV":{{"status":"pending"}}}}}}"#
        )
    }

    #[test]
    fn only_changed_sessions_are_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        for n in 0..20 {
            session(&home, &format!("s{n}"), &running("2026-02-23T14:00:00Z"));
        }
        let mut sessions = Sessions::new(home.clone());
        sessions.scan().unwrap();
        let before = sessions.rows();
        files::append_lines(&home.session(before[3].id()).timeline_file(), "{}\n").unwrap();
        sessions.scan().unwrap();
        let after = sessions.rows();
        let same = before.iter().filter(|row| after.iter().any(|other| Arc::ptr_eq(row, other))).count();
        assert_eq!((after.len(), same), (20, 19));
    }

    #[test]
    fn broken_sessions_are_listed_and_deleted_ones_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        session(&home, "good", &running("2026-02-23T14:00:00Z"));
        session(&home, "later", &running("2026-02-23T15:00:00Z"));
        let broken = session(&home, "torn", "{\"sessionId\":");
        let mut sessions = Sessions::new(home.clone());
        sessions.scan().unwrap();
        let expected = [
            ("later", SessionState::Running),
            ("good", SessionState::Running),
            ("torn", SessionState::Broken),
        ];
        assert_eq!(states(&sessions), expected.map(|(id, state)| (id.to_owned(), state)));
        fs::remove_dir_all(broken.dir()).unwrap();
        sessions.refresh([broken.id().clone()]);
        assert_eq!(states(&sessions).len(), 2);
        fs::remove_dir_all(home.sessions_dir()).unwrap();
        sessions.scan().unwrap();
        assert!(sessions.rows().is_empty());
    }
}

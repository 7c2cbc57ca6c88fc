//! The sessions on disk, as they were when last looked at. Only what has changed is read again.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use overtone_engine::state::{Ending, WorkflowState};
use overtone_store::{Home, Session, SessionId, StoreError};
use overtone_view::{State, Summary, Supervision, supervisor_switch};

/// Tasks and reviews live outside the sessions' folders; no more sessions than this are asked for theirs.
const ASKED: usize = 50;

/// A session in the list.
#[derive(Debug)]
pub struct Row {
    pub summary: Summary,
    pub supervision: Option<Supervision>,
    /// Whether somebody switched the supervisor on or off here.
    pub supervisor: Option<bool>,
}

/// Which part of the list a session is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Running,
    NeedsPerson,
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
        self.workflow().is_some_and(|workflow| workflow.ending == Some(Ending::Completed))
    }

    /// Whether it has something to tell beyond its first line.
    pub(crate) fn is_tall(&self) -> bool {
        self.part() < Part::Ended
    }

    /// What a person calls it: the project, else the session.
    pub(crate) fn name(&self) -> String {
        self.summary.project_name().unwrap_or_else(|| self.summary.id().chars().take(8).collect())
    }

    /// The name with the workflow, for a project may have several sessions.
    pub(crate) fn title(&self) -> String {
        let workflow = self.summary.workflow_name().map(str::to_owned);
        std::iter::once(self.name()).chain(workflow).collect::<Vec<_>>().join(" · ")
    }

    pub(crate) fn has_words(&self, words: &str) -> bool {
        let words = words.to_lowercase();
        let project = self.summary.project().map(|path| path.to_string_lossy().into_owned());
        let feature = self.workflow().and_then(|workflow| workflow.feature_name.as_deref());
        let texts = [Some(self.summary.id()), project.as_deref(), self.summary.workflow_name(), feature];
        texts.into_iter().flatten().any(|text| text.to_lowercase().contains(&words))
    }

    fn part(&self) -> Part {
        match self.summary.state {
            State::Running => Part::Running,
            _ if self.summary.needs_person() => Part::NeedsPerson,
            State::Stopped => Part::Stopped,
            State::None => Part::NoWorkflow,
            _ => Part::Ended,
        }
    }

    /// Running sessions stand by their beginning, so that they do not change places with every event.
    fn place(&self) -> (Part, i64, String) {
        let begun = self.workflow().and_then(|workflow| workflow.created_at);
        let at = match self.part() {
            Part::Running => begun.unwrap_or_default(),
            _ => self.summary.last_activity,
        };
        (self.part(), at.0.saturating_neg(), self.summary.id().to_owned())
    }
}

/// Running first, then those that need a person, then the rest, the last active first.
pub(crate) fn sort(rows: &mut [Arc<Row>]) {
    rows.sort_by_cached_key(|row| row.place());
}

#[derive(Debug)]
pub struct Sessions {
    home: Home,
    known: HashMap<SessionId, Known>,
}

#[derive(Debug)]
struct Known {
    stamp: Stamp,
    row: Arc<Row>,
}

/// What a folder looks like from outside. State files are exchanged by renaming, which changes the folder; the
/// timeline grows in place, and a person may have edited the workflow in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp([Option<(SystemTime, u64)>; 3]);

impl Stamp {
    fn of(session: &Session) -> Self {
        let about = |path: &Path| {
            let about = fs::symlink_metadata(path).ok()?;
            Some((about.modified().ok()?, about.len()))
        };
        Self([about(session.dir()), about(&session.timeline_file()), about(&session.workflow_file())])
    }
}

impl Sessions {
    pub fn new(home: Home) -> Self {
        Self { home, known: HashMap::new() }
    }

    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    pub(crate) fn knows(&self, id: &SessionId) -> bool {
        self.known.contains_key(id)
    }

    /// Looks at every folder and reads those that look different. What cannot be listed stays as it was.
    pub fn look(&mut self) -> Result<(), StoreError> {
        let sessions = self.home.sessions()?;
        let there: HashSet<_> = sessions.iter().map(Session::id).collect();
        self.known.retain(|id, _| there.contains(id));
        for session in &sessions {
            let stamp = Stamp::of(session);
            if self.known.get(session.id()).is_none_or(|known| known.stamp != stamp) {
                self.read(session, stamp);
            }
        }
        Ok(())
    }

    /// Reads these again.
    pub(crate) fn refresh(&mut self, ids: impl IntoIterator<Item = SessionId>) {
        for id in ids {
            let session = self.home.session(&id);
            if session.exists() {
                self.read(&session, Stamp::of(&session));
            } else {
                self.known.remove(&id);
            }
        }
    }

    /// Reads sessions at work again, for what is kept elsewhere.
    pub(crate) fn refresh_open(&mut self) {
        let mut open: Vec<_> =
            self.known.values().map(|known| &known.row).filter(|row| row.summary.state.is_open()).collect();
        open.sort_by_key(|row| std::cmp::Reverse(row.summary.last_activity));
        let ids: Vec<_> = open.into_iter().take(ASKED).map(|row| row.id().clone()).collect();
        self.refresh(ids);
    }

    /// The stamp is older than what is read, so that a change in between is seen the next time.
    fn read(&mut self, session: &Session, stamp: Stamp) {
        let row = Arc::new(Row::load(session));
        self.known.insert(session.id().clone(), Known { stamp, row });
    }

    pub fn rows(&self) -> Vec<Arc<Row>> {
        let mut rows: Vec<_> = self.known.values().map(|known| Arc::clone(&known.row)).collect();
        sort(&mut rows);
        rows
    }

    /// Whether agents are at work, whose time runs.
    pub(crate) fn has_agents(&self) -> bool {
        let is_busy = |workflow: &WorkflowState| !workflow.active_agents.is_empty();
        self.known.values().any(|known| known.row.workflow().is_some_and(is_busy))
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

    fn states(sessions: &Sessions) -> Vec<(String, State)> {
        sessions.rows().iter().map(|row| (row.summary.id().to_owned(), row.summary.state)).collect()
    }

    fn running(created: &str) -> String {
        format!(
            r#"{{"sessionId":"x","workflowType":"single","createdAt":"{created}","stages":{{"DEV":{{"status":"pending"}}}}}}"#
        )
    }

    #[test]
    fn only_what_changed_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        for n in 0..20 {
            session(&home, &format!("s{n}"), &running("2026-02-23T14:00:00Z"));
        }
        let mut sessions = Sessions::new(home.clone());
        sessions.look().unwrap();
        let before = sessions.rows();
        files::append_lines(&home.session(before[3].id()).timeline_file(), "{}\n").unwrap();
        sessions.look().unwrap();
        let after = sessions.rows();
        let same = before.iter().filter(|row| after.iter().any(|other| Arc::ptr_eq(row, other))).count();
        assert_eq!((after.len(), same), (20, 19));
    }

    #[test]
    fn broken_and_vanishing_sessions_are_shown_as_such() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        session(&home, "good", &running("2026-02-23T14:00:00Z"));
        session(&home, "later", &running("2026-02-23T15:00:00Z"));
        let broken = session(&home, "torn", "{\"sessionId\":");
        let mut sessions = Sessions::new(home.clone());
        sessions.look().unwrap();
        let shown = [("later", State::Running), ("good", State::Running), ("torn", State::Broken)];
        assert_eq!(states(&sessions), shown.map(|(id, state)| (id.to_owned(), state)));
        fs::remove_dir_all(broken.dir()).unwrap();
        sessions.refresh([broken.id().clone()]);
        assert_eq!(states(&sessions).len(), 2);
        fs::remove_dir_all(home.sessions_dir()).unwrap();
        sessions.look().unwrap();
        assert!(sessions.rows().is_empty());
    }
}

//! Finding a session without its whole id: by the folder it works in, by its last activity, or by the first characters
//! of its id. Nothing but `session.json` is opened, so thousands of sessions cost milliseconds.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use overtone_core::engine::state::Millis;

use crate::{Home, Session, StoreError};

/// How many characters of an id are needed when it is not given in full, as in git.
pub const MIN_PREFIX: usize = 4;

impl Home {
    /// Every session with the time of its last activity, the last active first.
    pub fn recent_sessions(&self) -> Result<Vec<(Session, Millis)>, StoreError> {
        let mut recent: Vec<_> = self
            .sessions()?
            .into_iter()
            .map(|session| {
                let at = session.last_active();
                (session, at)
            })
            .collect();
        // Sessions of the same instant are ordered by id, so that the answer is always the same.
        recent.sort_by(|(a, at_a), (b, at_b)| {
            at_b.cmp(at_a).then_with(|| a.id().as_str().cmp(b.id().as_str()))
        });
        Ok(recent)
    }

    /// The last active session that works in `folder` or in a folder above it.
    pub fn session_of_folder(&self, folder: &Path) -> Result<Option<Session>, StoreError> {
        let mut projects: HashMap<PathBuf, bool> = HashMap::new();
        for (session, _) in self.recent_sessions()? {
            let Some(project) = session.origin().project else { continue };
            if *projects.entry(project).or_insert_with_key(|project| contains(project, folder)) {
                return Ok(Some(session));
            }
        }
        Ok(None)
    }

    /// The session that was active last, whatever it works on.
    pub fn last_session(&self) -> Result<Option<Session>, StoreError> {
        Ok(self.recent_sessions()?.into_iter().next().map(|(session, _)| session))
    }

    /// Sessions whose id begins with `prefix`, in the order of their ids.
    pub fn sessions_with_prefix(&self, prefix: &str) -> Result<Vec<Session>, StoreError> {
        let mut found = self.sessions()?;
        found.retain(|session| session.id().as_str().starts_with(prefix));
        found.sort_by(|a, b| a.id().as_str().cmp(b.id().as_str()));
        Ok(found)
    }
}

impl Session {
    /// When something last happened in the session. State files are replaced by a rename, which changes the folder, and the
    /// timeline grows in place.
    pub fn last_active(&self) -> Millis {
        changed_at(self.dir()).max(changed_at(&self.timeline_file()))
    }

    /// Whether the session works in `folder` or in a folder above it; `None` if its project is unknown.
    pub fn works_in(&self, folder: &Path) -> Option<bool> {
        self.origin().project.map(|project| contains(&project, folder))
    }
}

/// Whether two paths lead to the same folder.
pub(crate) fn is_same_folder(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Whether `folder` is `project` or lies in it. The client may have named the project through a link.
fn contains(project: &Path, folder: &Path) -> bool {
    if folder.starts_with(project) {
        return true;
    }
    match (project.canonicalize(), folder.canonicalize()) {
        (Ok(project), Ok(folder)) => folder.starts_with(project),
        _ => false,
    }
}

fn changed_at(path: &Path) -> Millis {
    let modified = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    let since = modified.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::{Origin, SessionId};

    fn session(home: &Home, id: &str, project: &Path, hours_ago: u64) {
        let session = home.session(&SessionId::parse(id).unwrap());
        session.create().unwrap();
        session.note_origin(&Origin { project: Some(project.to_owned()), transcript: None }).unwrap();
        let at = SystemTime::now() - Duration::from_hours(hours_ago);
        File::open(session.dir()).unwrap().set_modified(at).unwrap();
    }

    fn found(home: &Home, folder: &Path) -> Option<String> {
        home.session_of_folder(folder).unwrap().map(|session| session.id().to_string())
    }

    #[test]
    fn a_folder_has_the_session_that_was_active_there_last() {
        let dir = tempfile::tempdir().unwrap();
        let (shop, wiki) = (dir.path().join("shop"), dir.path().join("wiki"));
        fs::create_dir_all(shop.join("src")).unwrap();
        fs::create_dir(&wiki).unwrap();
        let home = Home::at(dir.path().join("home"));
        assert_eq!(found(&home, &shop), None);
        session(&home, "older", &shop, 5);
        session(&home, "newer", &shop, 3);
        session(&home, "other", &wiki, 1);
        assert_eq!(found(&home, &shop).as_deref(), Some("newer"));
        assert_eq!(found(&home, &shop.join("src")).as_deref(), Some("newer"));
        assert_eq!(found(&home, dir.path()), None, "a folder above the project is not the project");
        assert_eq!(found(&home, &dir.path().join("shop-2")), None);
        assert_eq!(home.last_session().unwrap().unwrap().id().as_str(), "other");
    }

    #[test]
    fn a_project_is_recognized_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let home = Home::at(dir.path().join("home"));
        session(&home, "linked", &link, 0);
        assert_eq!(found(&home, &real).as_deref(), Some("linked"));
        assert!(is_same_folder(&real, &link) && !is_same_folder(&real, dir.path()));
    }

    #[test]
    fn ids_are_found_by_their_first_characters() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        for id in ["abcd-2", "abcd-1", "abce-1"] {
            session(&home, id, dir.path(), 0);
        }
        let ids = |prefix: &str| -> Vec<String> {
            home.sessions_with_prefix(prefix).unwrap().iter().map(|s| s.id().to_string()).collect()
        };
        assert_eq!(ids("abcd"), ["abcd-1", "abcd-2"]);
        assert_eq!(ids("abce"), ["abce-1"]);
        assert!(ids("x").is_empty());
    }
}

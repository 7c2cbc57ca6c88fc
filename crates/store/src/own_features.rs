//! Which features of a project were begun on this machine.
//!
//! A cloned repository may bring features in progress. Only those that are recorded here, by `overtone init` or
//! `overtone specs new`, are continued as the user's own work. The record is in the home, where no repository reaches.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use overtone_core::engine::state::Millis;
use serde_json::{Map, Value, json};

use crate::files::{self, PRIVATE, lock_timeout};
use crate::home::create_private_dir;
use crate::instincts::project_dir;
use crate::{Home, SessionId, clock, object};

/// The record of one project.
#[derive(Debug)]
pub struct OwnFeatures {
    /// Without links: the client and the user may name the same folder in different ways.
    project: PathBuf,
    dir: PathBuf,
}

impl OwnFeatures {
    pub fn of(home: &Home, project: &Path) -> Self {
        let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
        let dir = project_dir(home, &project);
        Self { project, dir }
    }

    fn file(&self) -> PathBuf {
        self.dir.join("features.json")
    }

    /// The recorded names. A record that cannot be read is none: then nothing is taken for the user's own.
    pub fn names(&self) -> BTreeSet<String> {
        self.recorded(&object::read(&self.file())).into_iter().map(|(name, _)| name).collect()
    }

    /// Records a feature. Before its folder is made, so that a kill in between leaves no feature without its record.
    pub fn add(&self, name: &str, session: Option<&SessionId>, now: Millis) -> io::Result<()> {
        create_private_dir(&self.dir)?;
        let about = json!({ "session": session.map(SessionId::as_str), "since": clock::to_iso(now) });
        self.change(|features| features.insert(name.to_owned(), about).is_none())
    }

    /// A feature of this name that comes later is not the one that was begun here.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        if fs::symlink_metadata(self.file()).is_err() {
            return Ok(());
        }
        self.change(|features| features.shift_remove(name).is_some())
    }

    /// `edit` says whether it has changed anything.
    fn change(&self, edit: impl FnOnce(&mut Map<String, Value>) -> bool) -> io::Result<()> {
        let lock = files::lock_file(&self.dir.join(".lock"), lock_timeout())?;
        let mut document = object::read_to_change(&self.file())?;
        let mut features = self.recorded(&document);
        if !edit(&mut features) {
            return Ok(());
        }
        document.insert("project".to_owned(), json!(self.project.to_string_lossy()));
        document.insert("features".to_owned(), Value::Object(features));
        let replaced =
            files::exchange(&self.file(), Value::Object(document).to_string().as_bytes(), PRIVATE)?;
        drop(lock);
        drop(replaced);
        Ok(())
    }

    /// The folder's name has only a short hash of the project, so a record counts for the project that it names.
    fn recorded(&self, document: &Map<String, Value>) -> Map<String, Value> {
        let is_ours =
            document.get("project").and_then(Value::as_str) == Some(&*self.project.to_string_lossy());
        let features = document.get("features").and_then(Value::as_object).filter(|_| is_ours);
        features.cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_is_recorded_for_its_project_until_it_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("home"));
        let (shop, wiki) =
            (OwnFeatures::of(&home, Path::new("/srv/shop")), OwnFeatures::of(&home, Path::new("/srv/wiki")));
        shop.remove("login").unwrap();
        assert!(!home.root().exists(), "looking makes nothing");
        shop.add("login", None, Millis(0)).unwrap();
        shop.add("login", Some(&SessionId::parse("s").unwrap()), Millis(5)).unwrap();
        shop.add("search", None, Millis(0)).unwrap();
        assert_eq!(shop.names(), ["login".to_owned(), "search".to_owned()].into());
        assert!(wiki.names().is_empty());
        shop.remove("login").unwrap();
        assert_eq!(shop.names(), ["search".to_owned()].into());
    }

    #[test]
    fn fields_of_other_versions_survive() {
        let dir = tempfile::tempdir().unwrap();
        let features = OwnFeatures::of(&Home::at(dir.path().to_owned()), Path::new("/srv/shop"));
        features.add("login", None, Millis(0)).unwrap();
        let mut document = object::read(&features.file());
        document.insert("later".into(), json!([1]));
        document["features"]["login"]["more"] = json!(true);
        files::write_atomic(&features.file(), Value::Object(document).to_string().as_bytes(), PRIVATE)
            .unwrap();
        features.add("search", None, Millis(0)).unwrap();
        let document = object::read(&features.file());
        assert_eq!((&document["later"], &document["features"]["login"]["more"]), (&json!([1]), &json!(true)));
    }
}

//! Which features of a project were begun on this machine.
//!
//! A cloned repository may bring features in progress. Only those that are recorded here, by `overtone init` or
//! `overtone specs new`, are continued as the user's own work. The record is in the home, where no repository reaches.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use overtone_core::engine::state::Millis;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::files::{self, PRIVATE, lock_timeout};
use crate::home::create_private_dir;
use crate::instincts::project_dir;
use crate::{Home, SessionId, clock, object};

/// What is recorded of one feature.
#[derive(Serialize)]
struct Entry<'a> {
    session: Option<&'a str>,
    since: String,
}

/// The record of one project.
#[derive(Debug)]
pub struct OwnFeatures {
    /// Without links, since the client and the user may name the same folder in different ways.
    project: PathBuf,
    dir: PathBuf,
}

impl OwnFeatures {
    pub fn for_project(home: &Home, project: &Path) -> Self {
        let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
        let dir = project_dir(home, &project);
        Self { project, dir }
    }

    fn file(&self) -> PathBuf {
        self.dir.join("features.json")
    }

    /// The recorded names. If the record cannot be read, it counts as empty, so that nothing counts as the user's own.
    pub fn names(&self) -> BTreeSet<String> {
        self.recorded(&object::read(&self.file())).into_iter().map(|(name, _)| name).collect()
    }

    /// Records a feature. Called before its folder is created, so that a kill in between leaves no feature without a record.
    pub fn add(&self, name: &str, session: Option<&SessionId>, now: Millis) -> io::Result<()> {
        create_private_dir(&self.dir)?;
        let entry = Entry { session: session.map(SessionId::as_str), since: clock::to_iso(now) };
        let entry = serde_json::to_value(entry)?;
        self.change(|features| features.insert(name.to_owned(), entry).is_none())
    }

    /// Removes a feature from the record, so that a later one with the same name does not count as the user's own.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        if fs::symlink_metadata(self.file()).is_err() {
            return Ok(());
        }
        self.change(|features| features.shift_remove(name).is_some())
    }

    /// Applies `edit`, which returns whether it changed anything, and writes the record if so.
    fn change(&self, edit: impl FnOnce(&mut Map<String, Value>) -> bool) -> io::Result<()> {
        let lock = files::lock_file(&self.dir.join(".lock"), lock_timeout())?;
        let mut document = object::read_to_change(&self.file())?;
        let mut features = self.recorded(&document);
        if !edit(&mut features) {
            return Ok(());
        }
        document.insert("project".to_owned(), json!(self.project.to_string_lossy()));
        document.insert("features".to_owned(), Value::Object(features));
        let replaced = files::replace(&self.file(), Value::Object(document).to_string().as_bytes(), PRIVATE)?;
        drop(lock);
        drop(replaced);
        Ok(())
    }

    /// The features in a record, if it is the record of this project: the folder name contains only a short hash.
    fn recorded(&self, document: &Map<String, Value>) -> Map<String, Value> {
        let project = document.get("project").and_then(Value::as_str);
        match document.get("features") {
            Some(Value::Object(features)) if project == Some(&*self.project.to_string_lossy()) => {
                features.clone()
            }
            _ => Map::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_is_recorded_for_its_project_until_it_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("home"));
        let (shop, wiki) = (
            OwnFeatures::for_project(&home, Path::new("/srv/shop")),
            OwnFeatures::for_project(&home, Path::new("/srv/wiki")),
        );
        shop.remove("login").unwrap();
        assert!(!home.root().exists(), "reading creates nothing");
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
        let features = OwnFeatures::for_project(&Home::at(dir.path().to_owned()), Path::new("/srv/shop"));
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

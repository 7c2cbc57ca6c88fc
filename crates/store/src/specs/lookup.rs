//! Finds features, without writing anything.
//!
//! A missing folder means that there are no features. Anything else that goes wrong is an error, so that the caller decides:
//! a hook continues without the tasks.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use overtone_core::engine::state::Millis;

use super::disk::{self, TASKS_FILE, feature_dir, feature_names, shelf_dir};
use super::{Feature, Shelf};
use crate::clock;
use crate::front_matter::FrontMatter;

/// How much of `tasks.md` is read to find the front matter. It is enough to sort features without reading all tasks.
const FRONT_MATTER_BYTES: u64 = 4096;

/// The feature specs of one project.
#[derive(Debug, Clone)]
pub struct Specs {
    pub(super) root: PathBuf,
}

impl Specs {
    pub fn new(project_root: impl Into<PathBuf>) -> Self {
        Self { root: project_root.into() }
    }

    /// The feature in progress: the preferred one (the workflow's own) if it is there, otherwise the one
    /// created last.
    pub fn active(&self, preferred: Option<&str>) -> io::Result<Option<Feature>> {
        if let Some(name) = preferred
            && let Some(feature) = self.in_progress(name)?
        {
            return Ok(Some(feature));
        }
        let Some(folder) = shelf_dir(&self.root, Shelf::InProgress)? else {
            return Ok(None);
        };
        let name = newest(&folder, feature_names(&folder)?);
        name.map(|name| Feature::load(Shelf::InProgress, &name, folder.join(&name))).transpose()
    }

    /// The feature in progress that was created last, among those in `own` if there are any, else among all; and whether it
    /// is one of `own`, which is only called if there are features.
    pub fn newest(&self, own: impl FnOnce() -> BTreeSet<String>) -> io::Result<Option<(Feature, bool)>> {
        let Some(folder) = shelf_dir(&self.root, Shelf::InProgress)? else {
            return Ok(None);
        };
        let all = feature_names(&folder)?;
        if all.is_empty() {
            return Ok(None);
        }
        let own = own();
        let (ours, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|name| own.contains(name));
        let is_own = !ours.is_empty();
        let Some(name) = newest(&folder, if is_own { ours } else { others }) else {
            return Ok(None);
        };
        Feature::load(Shelf::InProgress, &name, folder.join(&name)).map(|feature| Some((feature, is_own)))
    }

    /// The feature of this name, if it is in progress. No other feature is read.
    pub fn in_progress(&self, name: &str) -> io::Result<Option<Feature>> {
        match self.locate(name, &[Shelf::InProgress])? {
            Some((_, dir)) => Feature::load(Shelf::InProgress, name, dir).map(Some),
            None => Ok(None),
        }
    }

    /// All features, by shelf and name. An entry that cannot be read does not hide the others.
    pub fn list(&self) -> io::Result<Vec<Feature>> {
        let mut features = Vec::new();
        for shelf in Shelf::ALL {
            let Some(folder) = shelf_dir(&self.root, shelf)? else {
                continue;
            };
            let names = feature_names(&folder)?;
            features.extend(names.iter().flat_map(|name| Feature::load(shelf, name, folder.join(name))));
        }
        Ok(features)
    }

    /// The feature whose folder has this name, on any shelf.
    pub fn find(&self, name: &str) -> io::Result<Option<Feature>> {
        self.locate(name, &Shelf::ALL)?.map(|(shelf, dir)| Feature::load(shelf, name, dir)).transpose()
    }

    /// The shelf and the folder of a feature. The shelves are searched in the given order.
    pub(super) fn locate(&self, name: &str, shelves: &[Shelf]) -> io::Result<Option<(Shelf, PathBuf)>> {
        for shelf in shelves {
            if let Some(folder) = shelf_dir(&self.root, *shelf)?
                && let Some(dir) = feature_dir(&folder, name)?
            {
                return Ok(Some((*shelf, dir)));
            }
        }
        Ok(None)
    }
}

/// The feature created last; of two created at the same time, the first by name.
fn newest(folder: &Path, mut names: Vec<String>) -> Option<String> {
    if names.len() <= 1 {
        return names.pop();
    }
    names.into_iter().min_by_key(|name| Reverse(created_at(&folder.join(name))))
}

/// When a feature was created: the time in its front matter, else the last change of its folder. `None` for a folder that
/// was just removed.
fn created_at(dir: &Path) -> Option<Millis> {
    if let Some(created) = recorded_creation(dir) {
        return Some(created);
    }
    let changed = fs::symlink_metadata(dir).ok()?.modified().ok()?;
    let since_epoch = changed.duration_since(UNIX_EPOCH).ok()?;
    Some(Millis(i64::try_from(since_epoch.as_millis()).ok()?))
}

fn recorded_creation(dir: &Path) -> Option<Millis> {
    // A document that cannot be read has no date here; loading the feature reports the error.
    let start = disk::read_start(&dir.join(TASKS_FILE), FRONT_MATTER_BYTES).ok()??;
    clock::from_date_or_time(&FrontMatter::parse(&start.bytes)?.get("created")?)
}

//! Finding features. Nothing here writes.
//!
//! A missing folder means that there are no features; any other trouble is an error, so that the caller decides
//! (a hook goes on without the tasks).

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::disk::{self, TASKS_FILE, feature_dir, feature_names, shelf_dir};
use super::front_matter::FrontMatter;
use super::timestamp::epoch_millis;
use super::{Feature, Shelf};

/// More than any front matter of ours; enough to put features in order without reading all of their tasks.
const START: u64 = 4096;

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

    /// The feature in progress that was created last: of those in `own`, if there are any, else of all. With whether it
    /// is an own one. `own` is asked for only if there is something to choose from.
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

    /// The feature of this name, if it is in progress. No other one is looked at.
    pub fn in_progress(&self, name: &str) -> io::Result<Option<Feature>> {
        let place = self.locate(name, &[Shelf::InProgress])?;
        place.map(|(_, dir)| Feature::load(Shelf::InProgress, name, dir)).transpose()
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

    /// Where a feature is, in the order of the given shelves.
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
        return names.pop(); // nothing to compare, nothing to read
    }
    names.into_iter().min_by_key(|name| Reverse(birth(&folder.join(name))))
}

/// When a feature was created, in milliseconds: what its front matter says, else when its folder last changed.
/// None for a folder that has just gone.
fn birth(dir: &Path) -> Option<i64> {
    written_birth(dir).or_else(|| {
        let changed = fs::symlink_metadata(dir).ok()?.modified().ok()?;
        let age = changed.duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(age.as_millis()).ok()
    })
}

fn written_birth(dir: &Path) -> Option<i64> {
    // A document that cannot be read has no date; whether that is an error is for the one who loads it.
    let start = disk::read_start(&dir.join(TASKS_FILE), START).ok()??;
    epoch_millis(&FrontMatter::of(&start.bytes).get("created")?)
}

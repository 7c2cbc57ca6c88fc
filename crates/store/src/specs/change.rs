//! Changing features: creating, moving, archiving, ticking.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use overtone_core::registry::{SpecsDocs, StageKey, Workflow};

use super::disk::{TASKS_FILE, ensure_shelf, features_dir, read_document, shelf_dir};
use super::error::Context;
use super::front_matter::FrontMatter;
use super::lock::FeatureLock;
use super::moves::{move_to, move_to_free};
use super::tasks::ticked;
use super::template::Blueprint;
use super::timestamp::is_date;
use super::{Feature, FeatureName, Shelf, Specs, SpecsError};
use crate::files::write_atomic;

/// Where a new feature is made. Hidden, so that it is on no list; one name for all, so that there is at most one.
const DRAFT: &str = ".new.tmp";

impl Specs {
    /// Makes a feature with its first documents. The name must be free on all shelves but the archive.
    pub fn create(
        &self,
        name: &FeatureName,
        docs: SpecsDocs,
        workflow: Option<Workflow>,
        now_iso: &str,
        on: Shelf,
    ) -> Result<Feature, SpecsError> {
        refuse_archive(name.as_str(), on)?;
        self.ensure_free(name)?;
        let folder = ensure_shelf(&self.root, on)?;
        // Whoever makes a feature has the shelf for themselves, and so its draft.
        let _lock = FeatureLock::hold(&folder)?;
        let dir = folder.join(name.as_str());
        let blueprint = Blueprint { name, docs, workflow, created: now_iso, shelf: on };
        draft(&blueprint, &folder.join(DRAFT), &dir)?;
        Ok(Feature::load(on, name.as_str(), dir)?)
    }

    /// Moves a feature between in-progress, paused and backlog.
    pub fn shift(&self, name: &str, to: Shelf) -> Result<Feature, SpecsError> {
        refuse_archive(name, to)?;
        let (from, dir, _lock) = self.hold(name)?;
        let target = ensure_shelf(&self.root, to)?.join(name);
        with_status(&dir, to, || if from == to { Ok(()) } else { move_to(&dir, &target) })?;
        Ok(Feature::load(to, name, target)?)
    }

    /// Moves a feature into the archive as `YYYY-MM-DD_name` and tells where it is now.
    pub fn archive(&self, name: &str, date: &str) -> Result<PathBuf, SpecsError> {
        if !is_date(date) {
            return Err(SpecsError::Date { given: date.to_owned() });
        }
        let (_, dir, _lock) = self.hold(name)?;
        let archive = ensure_shelf(&self.root, Shelf::Archive)?;
        with_status(&dir, Shelf::Archive, || move_to_free(&dir, &archive, &format!("{date}_{name}")))
    }

    /// Ticks the box of a stage in the section `## Stages`. True when the document has changed.
    pub fn tick_stage(&self, name: &str, key: StageKey) -> io::Result<bool> {
        let Some((_, dir)) = self.locate(name, &Shelf::LIVE)? else {
            return Ok(false);
        };
        match FeatureLock::hold(&dir)? {
            Some(_lock) => edit_tasks(&dir, |bytes| ticked(bytes, key)),
            None => Ok(false),
        }
    }

    /// The feature on a live shelf, locked.
    fn hold(&self, name: &str) -> Result<(Shelf, PathBuf, FeatureLock), SpecsError> {
        let missing = || SpecsError::NotFound { name: name.to_owned(), features: features_dir(&self.root) };
        let (from, dir) = self.locate(name, &Shelf::LIVE)?.ok_or_else(missing)?;
        let lock = FeatureLock::hold(&dir)?.ok_or_else(missing)?;
        Ok((from, dir, lock))
    }

    /// Fails if the name is taken on any shelf but the archive.
    pub fn ensure_free(&self, name: &FeatureName) -> Result<(), SpecsError> {
        for shelf in Shelf::LIVE {
            let path = shelf_dir(&self.root, shelf)?.map(|folder| folder.join(name.as_str()));
            if let Some(path) = path.filter(|path| fs::symlink_metadata(path).is_ok()) {
                return Err(SpecsError::Exists { path });
            }
        }
        Ok(())
    }
}

fn refuse_archive(name: &str, shelf: Shelf) -> Result<(), SpecsError> {
    match shelf {
        Shelf::Archive => Err(SpecsError::IntoArchive { name: name.to_owned() }),
        Shelf::InProgress | Shelf::Paused | Shelf::Backlog => Ok(()),
    }
}

/// Makes a feature's folder under another name and moves it to its own, so that a kill leaves no half feature.
fn draft(blueprint: &Blueprint, draft: &Path, dir: &Path) -> Result<(), SpecsError> {
    discard(draft);
    fs::create_dir(draft).context("create", draft)?;
    let made = blueprint.write_into(draft).map_err(SpecsError::from).and_then(|()| move_to(draft, dir));
    if made.is_err() {
        discard(draft);
    }
    made
}

/// Takes away a draft that nobody finished, as far as it goes: if it is in the way, making the next one will tell.
fn discard(draft: &Path) {
    let _ = fs::remove_dir_all(draft);
}

/// Repeats the shelf in the front matter, then moves the folder. In this order, whoever is killed in between can do
/// the same again. The folder is the truth, so a document that cannot be written is no reason not to move it; a folder
/// that cannot be moved gets its document back.
fn with_status<T>(
    dir: &Path,
    shelf: Shelf,
    act: impl FnOnce() -> Result<T, SpecsError>,
) -> Result<T, SpecsError> {
    let before = read_document(&dir.join(TASKS_FILE)).ok().flatten();
    let _ = edit_tasks(dir, |bytes| FrontMatter::of(bytes).with("status", shelf.status()));
    let done = act();
    if let (Err(_), Some(before)) = (&done, before) {
        let _ = edit_tasks(dir, |now| (now != before.bytes).then_some(before.bytes));
    }
    done
}

/// Replaces `tasks.md` by what `edit` makes of it; the caller holds the lock. True when it has changed.
fn edit_tasks(dir: &Path, edit: impl FnOnce(&[u8]) -> Option<Vec<u8>>) -> io::Result<bool> {
    let path = dir.join(TASKS_FILE);
    let Some(document) = read_document(&path)? else {
        return Ok(false);
    };
    match edit(&document.bytes) {
        Some(bytes) => {
            write_atomic(&path, &bytes, document.mode).context("write", &path)?;
            Ok(true)
        }
        None => Ok(false),
    }
}

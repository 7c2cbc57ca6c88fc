//! Changing features: creating, moving, archiving, ticking.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use overtone_core::registry::{SpecsDocs, StageKey, Workflow};

use super::disk::{TASKS_FILE, ensure_shelf, features_dir, read_document, shelf_dir};
use super::error::Context;
use super::lock::FeatureLock;
use super::moves::{move_to, move_to_free};
use super::tasks::ticked;
use super::template::Blueprint;
use super::{Feature, FeatureName, Shelf, Specs, SpecsError};
use crate::clock::is_date;
use crate::files::write_atomic;
use crate::front_matter::FrontMatter;

/// The folder in which a new feature is assembled. It is hidden, so that it is not listed, and has a fixed name, so that
/// killed processes leave at most one.
const DRAFT: &str = ".new.tmp";

impl Specs {
    /// Creates a feature with its first documents. The name must be unused on all shelves except the archive.
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
        // The lock on the shelf also protects the draft.
        let _lock = FeatureLock::acquire(&folder)?;
        let dir = folder.join(name.as_str());
        let blueprint = Blueprint { name, docs, workflow, created: now_iso, shelf: on };
        create_in_draft(&blueprint, &folder.join(DRAFT), &dir)?;
        Ok(Feature::load(on, name.as_str(), dir)?)
    }

    /// Moves a feature between in-progress, paused and backlog.
    pub fn shift(&self, name: &str, to: Shelf) -> Result<Feature, SpecsError> {
        refuse_archive(name, to)?;
        let (from, dir, _lock) = self.lock_live(name)?;
        let target = ensure_shelf(&self.root, to)?.join(name);
        with_status(&dir, to, || if from == to { Ok(()) } else { move_to(&dir, &target) })?;
        Ok(Feature::load(to, name, target)?)
    }

    /// Moves a feature into the archive as `YYYY-MM-DD_name` and returns its new path.
    pub fn archive(&self, name: &str, date: &str) -> Result<PathBuf, SpecsError> {
        if !is_date(date) {
            return Err(SpecsError::Date { given: date.to_owned() });
        }
        let (_, dir, _lock) = self.lock_live(name)?;
        let archive = ensure_shelf(&self.root, Shelf::Archive)?;
        with_status(&dir, Shelf::Archive, || move_to_free(&dir, &archive, &format!("{date}_{name}")))
    }

    /// Ticks the box of a stage in the section `## Stages`. Returns whether the document has changed.
    pub fn tick_stage(&self, name: &str, key: StageKey) -> io::Result<bool> {
        let Some((_, dir)) = self.locate(name, &Shelf::LIVE)? else {
            return Ok(false);
        };
        match FeatureLock::acquire(&dir)? {
            Some(_lock) => edit_tasks(&dir, |bytes| ticked(bytes, key)),
            None => Ok(false),
        }
    }

    /// Finds a feature on a live shelf and locks it.
    fn lock_live(&self, name: &str) -> Result<(Shelf, PathBuf, FeatureLock), SpecsError> {
        let missing = || SpecsError::NotFound { name: name.to_owned(), features: features_dir(&self.root) };
        let (from, dir) = self.locate(name, &Shelf::LIVE)?.ok_or_else(missing)?;
        let lock = FeatureLock::acquire(&dir)?.ok_or_else(missing)?;
        Ok((from, dir, lock))
    }

    /// Fails if the name is used on any shelf except the archive.
    pub fn ensure_free(&self, name: &FeatureName) -> Result<(), SpecsError> {
        for shelf in Shelf::LIVE {
            let Some(folder) = shelf_dir(&self.root, shelf)? else { continue };
            let path = folder.join(name.as_str());
            if fs::symlink_metadata(&path).is_ok() {
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

/// Creates a feature's folder under another name and renames it, so that a kill leaves no partial feature.
fn create_in_draft(blueprint: &Blueprint, draft: &Path, dir: &Path) -> Result<(), SpecsError> {
    remove_draft(draft);
    fs::create_dir(draft).context("create", draft)?;
    let created = blueprint.write_into(draft).map_err(SpecsError::from).and_then(|()| move_to(draft, dir));
    if created.is_err() {
        remove_draft(draft);
    }
    created
}

/// Removes an unfinished draft. If this fails, creating the next draft reports why.
fn remove_draft(draft: &Path) {
    let _ = fs::remove_dir_all(draft);
}

/// Writes the shelf into the front matter, then moves the folder. In this order, a killed command can be repeated. The
/// folder decides where a feature is, so a document that cannot be written does not prevent the move. If the move fails,
/// the document is restored.
fn with_status<T>(
    dir: &Path,
    shelf: Shelf,
    move_folder: impl FnOnce() -> Result<T, SpecsError>,
) -> Result<T, SpecsError> {
    let before = read_document(&dir.join(TASKS_FILE)).ok().flatten();
    let _ = edit_tasks(dir, |bytes| FrontMatter::parse(bytes)?.with("status", shelf.status()));
    let moved = move_folder();
    if let (Err(_), Some(before)) = (&moved, before) {
        let _ = edit_tasks(dir, |now| (now != before.bytes).then_some(before.bytes));
    }
    moved
}

/// Replaces `tasks.md` by the result of `edit`, if there is one. Returns whether it has changed. The caller holds the lock.
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

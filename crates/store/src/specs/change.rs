//! Changing features: creating, moving, archiving, ticking.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use overtone_registry::{SpecsDocs, StageKey, Workflow};

use super::disk::{TASKS_FILE, ensure_shelf, features_dir, read_document, shelf_dir};
use super::error::Context;
use super::front_matter::FrontMatter;
use super::lock::FeatureLock;
use super::moves::{claim, give_back, move_to, move_to_free};
use super::tasks::ticked;
use super::template::Blueprint;
use super::timestamp::is_date;
use super::{Feature, FeatureName, Shelf, Specs, SpecsError};
use crate::files::write_atomic;

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
        self.refuse_taken(name)?;
        let dir = ensure_shelf(&self.root, on)?.join(name.as_str());
        claim(&dir)?;
        let blueprint = Blueprint { name, docs, workflow, created: now_iso, shelf: on };
        if let Err(error) = blueprint.write_into(&dir) {
            give_back(&dir);
            return Err(error.into());
        }
        Ok(Feature::load(on, name.as_str(), dir)?)
    }

    /// Moves a feature between in-progress, paused and backlog.
    pub fn shift(&self, name: &str, to: Shelf) -> Result<Feature, SpecsError> {
        refuse_archive(name, to)?;
        let (from, dir, _lock) = self.hold(name)?;
        if from == to {
            return Ok(Feature::load(to, name, dir)?);
        }
        let target = ensure_shelf(&self.root, to)?.join(name);
        move_to(&dir, &target)?;
        note_status(&target, to);
        Ok(Feature::load(to, name, target)?)
    }

    /// Moves a feature into the archive as `YYYY-MM-DD_name` and tells where it is now.
    pub fn archive(&self, name: &str, date: &str) -> Result<PathBuf, SpecsError> {
        if !is_date(date) {
            return Err(SpecsError::Date { given: date.to_owned() });
        }
        let (_, dir, _lock) = self.hold(name)?;
        let archive = ensure_shelf(&self.root, Shelf::Archive)?;
        let target = move_to_free(&dir, &archive, &format!("{date}_{name}"))?;
        note_status(&target, Shelf::Archive);
        Ok(target)
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

    fn refuse_taken(&self, name: &FeatureName) -> Result<(), SpecsError> {
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

/// Repeats the shelf in the front matter. The folder is the truth and has been moved, so a document that cannot
/// be written is no reason to report that the move failed.
fn note_status(dir: &Path, shelf: Shelf) {
    let _ = edit_tasks(dir, |bytes| FrontMatter::of(bytes).with("status", shelf.status()));
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

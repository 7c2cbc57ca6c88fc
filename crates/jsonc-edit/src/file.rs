//! A settings file on disk: reads it, edits it under a lock, and keeps one copy of the original.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::folder_lock::{self, FolderLock};
use crate::replace::{self, Prepared};
use crate::target::{Content, Target, folder_of};
use crate::{Document, SettingsError, SettingsErrorKind, effective_timeout, lines};

/// How long to wait for an editor that makes no progress.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// How often an edit is repeated when a program that ignores the lock has written meanwhile.
const ATTEMPTS: usize = 10;

/// The path of a settings file. Creating this value reads nothing.
#[derive(Debug, Clone)]
pub struct SettingsFile {
    path: PathBuf,
}

/// Whether an edit changed the file. An unchanged file is not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    Yes,
    No,
}

impl SettingsFile {
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The content. A file that is missing or empty counts as an empty object.
    pub fn read(&self) -> Result<Document, SettingsError> {
        let content = Target::resolve(&self.path).and_then(|target| target.read());
        self.document(content.map_err(|kind| self.error(kind))?.as_ref())
    }

    /// The text as it is, even if it is not JSON; `None` if there is no file.
    pub fn read_text(&self) -> Result<Option<String>, SettingsError> {
        let content = Target::resolve(&self.path).and_then(|target| target.read());
        let content = content.map_err(|kind| self.error(kind))?;
        let text = content.map(|content| String::from_utf8(content.bytes)).transpose();
        text.map_err(|_| self.error(SettingsErrorKind::NotUtf8))
    }

    /// Replaces the whole text if it is still `before`, and returns whether it was replaced. Neither text has to be JSON,
    /// so that a broken file can be repaired.
    pub fn replace_text(&self, before: Option<&str>, after: &str) -> Result<bool, SettingsError> {
        let target = Target::resolve(&self.path).map_err(|kind| self.error(kind))?;
        let lock = self.lock(&target)?;
        replace::remove_leftover(target.file());
        let now = target.read().map_err(|kind| self.error(kind))?;
        if now.is_some() != before.is_some()
            || bytes_of(now.as_ref()) != before.unwrap_or_default().as_bytes()
        {
            return Ok(false);
        }
        let replaced = exchange(&target, now.as_ref(), after.as_bytes()).map_err(|kind| self.error(kind))?;
        drop(lock);
        replace::sync_folder(target.file());
        Ok(replaced)
    }

    /// Reads the file, applies `change`, and replaces the file if its text is different.
    ///
    /// The folder is locked meanwhile, so `change` must not edit another file in it. If a program that ignores the lock,
    /// such as Claude Code, has written in between, `change` is called again with the new content. After an error the
    /// file is unchanged.
    pub fn edit<T, E: From<SettingsError>>(
        &self,
        mut change: impl FnMut(&mut Document) -> Result<T, E>,
    ) -> Result<(Changed, T), E> {
        let target = Target::resolve(&self.path).map_err(|kind| self.error(kind))?;
        let lock = self.lock(&target)?;
        replace::remove_leftover(target.file());
        for _ in 0..ATTEMPTS {
            let before = target.read().map_err(|kind| self.error(kind))?;
            let mut document = self.document(before.as_ref())?;
            let result = change(&mut document)?;
            let after = document.to_text();
            if after.as_bytes() == bytes_of(before.as_ref()) {
                return Ok((Changed::No, result));
            }
            let replaced = exchange(&target, before.as_ref(), after.as_bytes());
            if replaced.map_err(|kind| self.error(kind))? {
                drop(lock);
                replace::sync_folder(target.file());
                return Ok((Changed::Yes, result));
            }
        }
        Err(self.error(SettingsErrorKind::KeepsChanging).into())
    }

    /// Copies the file to `backup`, byte for byte, unless `backup` exists or there is no file. Returns whether it was
    /// copied. The copy is private, and complete or missing.
    pub fn backup_once(&self, backup: &Path) -> Result<bool, SettingsError> {
        let target = Target::resolve(&self.path).map_err(|kind| self.error(kind))?;
        let exists =
            target.file().try_exists().map_err(|error| self.error(SettingsErrorKind::Read(error)))?;
        if fs::symlink_metadata(backup).is_ok() || !exists {
            return Ok(false);
        }
        let _lock = self.lock(&target)?;
        let original = target.read().map_err(|kind| self.error(kind))?;
        let (Some(original), Err(_)) = (original, fs::symlink_metadata(backup)) else { return Ok(false) };
        folder_lock::create_folder(folder_of(backup))
            .and_then(|_| Prepared::write(backup, &original.bytes, None)?.commit())
            .map_err(|error| SettingsError::new(backup, SettingsErrorKind::Write(error)))?;
        replace::sync_folder(backup);
        Ok(true)
    }

    fn lock(&self, target: &Target) -> Result<FolderLock, SettingsError> {
        FolderLock::take(target.folder(), effective_timeout(LOCK_WAIT)).map_err(|kind| self.error(kind))
    }

    fn document(&self, content: Option<&Content>) -> Result<Document, SettingsError> {
        let bytes = bytes_of(content);
        match std::str::from_utf8(bytes) {
            Ok(text) => Document::parse(&self.path, text),
            Err(error) => {
                let readable = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                let position = lines::position(&readable, readable.len());
                Err(SettingsError::at(&self.path, position, SettingsErrorKind::NotUtf8))
            }
        }
    }

    fn error(&self, kind: SettingsErrorKind) -> SettingsError {
        SettingsError::new(&self.path, kind)
    }
}

fn bytes_of(content: Option<&Content>) -> &[u8] {
    match content {
        Some(content) => &content.bytes,
        None => &[],
    }
}

/// Replaces the content unless it has changed since it was read. Returns whether it was replaced.
fn exchange(target: &Target, before: Option<&Content>, after: &[u8]) -> Result<bool, SettingsErrorKind> {
    target.check_writable(before)?;
    let prepared = Prepared::write(target.file(), after, before.map(|content| &content.metadata));
    let prepared = prepared.map_err(SettingsErrorKind::Write)?;
    let now = target.read()?;
    if now.is_some() != before.is_some() || bytes_of(now.as_ref()) != bytes_of(before) {
        return Ok(false);
    }
    prepared.commit().map_err(SettingsErrorKind::Write)?;
    Ok(true)
}

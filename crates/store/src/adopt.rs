//! A whole session as a list of files, to be copied from one home to another.
//!
//! Only files that belong to a session are read or written. An incoming session is assembled in a hidden folder and then
//! renamed, so that it is there completely or not at all. How the files are transferred is up to the caller.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::files::{self, PRIVATE, lock_timeout};
use crate::home::create_private_dir;
use crate::{Home, LoopDoc, Session, SessionId, StoreError, WorkflowDoc};

/// The prefix of the folder in which an incoming session is assembled. No session id begins like this.
const INCOMING_PREFIX: &str = ".incoming-";

/// Held while an incoming session is assembled, so that any other such folder belongs to a killed process.
const INCOMING_LOCK: &str = ".incoming.lock";

/// The folder in which replaced sessions are kept.
const REPLACED: &str = "replaced";

const MEGABYTE: u64 = 1024 * 1024;

/// The files of a session and their maximum sizes. Hooks read state files completely, but not the logs.
const FILES: [(&str, u64); 7] = [
    ("workflow.json", 16 * MEGABYTE),
    ("loop.json", 16 * MEGABYTE),
    ("timeline.jsonl", 128 * MEGABYTE),
    ("observations.jsonl", 128 * MEGABYTE),
    ("compact-count.json", MEGABYTE),
    ("context.json", MEGABYTE),
    ("session.json", MEGABYTE),
];

const HANDOFFS: &str = "handoffs";
const MAX_HANDOFF_BYTES: u64 = 16 * MEGABYTE;
const MAX_HANDOFFS: usize = 10_000;

/// The maximum size of all files together.
const MAX_BUNDLE_BYTES: u64 = 512 * MEGABYTE;

/// Why a session from another home was refused.
#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    #[error("not a file of a session: {0:?}")]
    Name(String),
    #[error("the same file twice: {0}")]
    Twice(String),
    #[error("too large for a session: {0}")]
    TooLarge(String),
    /// A session with this id exists here and was not moved to another machine.
    #[error("session {0} is here and has not been moved away")]
    Exists(SessionId),
    /// A state file that no hook could read, or a file that could not be written.
    #[error("{0}")]
    Store(#[from] StoreError),
}

impl Session {
    /// Returns every file of the session with its path in the folder, all from the same moment.
    pub fn bundle(&self) -> io::Result<Vec<(String, Vec<u8>)>> {
        let _lock = self.lock().map_err(io::Error::other)?;
        let mut names: Vec<_> = FILES.iter().map(|(name, limit)| ((*name).to_owned(), *limit)).collect();
        names.extend(self.handoff_names()?.into_iter().map(|name| (name, MAX_HANDOFF_BYTES)));
        let mut bundle = Vec::new();
        let mut room = MAX_BUNDLE_BYTES;
        for (name, limit) in names {
            if let Some(bytes) = read_bounded(&self.dir().join(&name), limit.min(room))? {
                room -= bytes.len() as u64;
                bundle.push((name, bytes));
            }
        }
        Ok(bundle)
    }

    /// The paths of the handoffs, sorted. Other files in the folder are skipped.
    fn handoff_names(&self) -> io::Result<Vec<String>> {
        let folder = self.dir().join(HANDOFFS);
        match fs::symlink_metadata(&folder) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(path_error(&folder, io::ErrorKind::NotADirectory, "not a folder")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(&folder)? {
            let name = format!("{HANDOFFS}/{}", entry?.file_name().to_string_lossy());
            if is_handoff(&name) {
                names.push(name);
            }
        }
        if names.len() > MAX_HANDOFFS {
            return Err(path_error(&folder, io::ErrorKind::FileTooLarge, "too many handoffs"));
        }
        names.sort_unstable();
        Ok(names)
    }
}

fn path_error(path: &Path, kind: io::ErrorKind, problem: &str) -> io::Error {
    io::Error::new(kind, format!("{problem}: {}", path.display()))
}

/// The content of a regular file; links are not followed.
fn read_bounded(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let with_path = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let Some(file) = files::open_to_read(path).map_err(with_path)? else { return Ok(None) };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(path_error(path, io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let bytes = files::read_to_end(&file, metadata.len(), limit + 1)?;
    if bytes.len() as u64 > limit {
        return Err(path_error(path, io::ErrorKind::FileTooLarge, "too large for a session"));
    }
    Ok(Some(bytes))
}

/// `handoffs/NAME.md`, where NAME is safe as a file name on every system.
fn is_handoff(path: &str) -> bool {
    let Some((HANDOFFS, file)) = path.split_once('/') else { return false };
    let Some(name) = file.strip_suffix(".md") else { return false };
    SessionId::parse(name).is_some()
}

/// The maximum size of a file of a session; `None` if sessions have no such file.
fn size_limit(name: &str) -> Option<u64> {
    if is_handoff(name) {
        return Some(MAX_HANDOFF_BYTES);
    }
    let (_, limit) = FILES.iter().find(|(known, _)| *known == name)?;
    Some(*limit)
}

impl Home {
    /// Adds a session that came from another home, in one step. An existing session with the same id is replaced only if
    /// it was moved away; it is kept then, and the path of its folder is returned.
    pub fn adopt(&self, id: &SessionId, files: &[(String, Vec<u8>)]) -> Result<Option<PathBuf>, AdoptError> {
        check(files)?;
        let folder = self.sessions_dir();
        create_private_dir(&folder).map_err(|error| StoreError::io(&folder, error))?;
        let lock = folder.join(INCOMING_LOCK);
        let _lock =
            files::lock_file(&lock, lock_timeout()).map_err(|error| StoreError::lock(&lock, error))?;
        sweep_incoming(&folder);
        self.sweep_removed();
        let incoming = folder.join(format!("{INCOMING_PREFIX}{id}"));
        let placed = write_all(&incoming, files)
            .map_err(AdoptError::from)
            .and_then(|()| put_in_place(&self.session(id), &incoming, &self.root().join(REPLACED)));
        placed.inspect_err(|_| {
            let _ = fs::remove_dir_all(&incoming);
        })
    }
}

/// Checks that hooks can continue a session with these files.
fn check(files: &[(String, Vec<u8>)]) -> Result<(), AdoptError> {
    let mut room = MAX_BUNDLE_BYTES;
    let mut names = std::collections::HashSet::new();
    for (name, bytes) in files {
        let limit = size_limit(name).ok_or_else(|| AdoptError::Name(name.clone()))?;
        if !names.insert(name) {
            return Err(AdoptError::Twice(name.clone()));
        }
        let length = bytes.len() as u64;
        if length > limit.min(room) || names.len() > FILES.len() + MAX_HANDOFFS {
            return Err(AdoptError::TooLarge(name.clone()));
        }
        room -= length;
        check_state(name, bytes)?;
    }
    Ok(())
}

/// Checks the state files: every hook of the session would fail on one that cannot be read.
fn check_state(name: &str, bytes: &[u8]) -> Result<(), StoreError> {
    let path = Path::new(name);
    let text = || std::str::from_utf8(bytes).map_err(|error| StoreError::broken(path, error.to_string()));
    match name {
        "workflow.json" => WorkflowDoc::parse(path, text()?).map(drop),
        "loop.json" => LoopDoc::parse(path, text()?).map(drop),
        _ => Ok(()),
    }
}

/// Deletes what killed processes left behind. The caller holds the lock, so nobody uses these folders.
fn sweep_incoming(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(INCOMING_PREFIX) {
            // If it cannot be deleted, creating the new folder reports why.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn write_all(incoming: &Path, files: &[(String, Vec<u8>)]) -> Result<(), StoreError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| StoreError::io(&path, error)
    };
    // It has to be a new folder, or files of somebody else would become part of the session.
    fs::DirBuilder::new().mode(0o700).create(incoming).map_err(at(incoming))?;
    if files.iter().any(|(name, _)| is_handoff(name)) {
        let handoffs = incoming.join(HANDOFFS);
        create_private_dir(&handoffs).map_err(at(&handoffs))?;
    }
    for (name, bytes) in files {
        let path = incoming.join(name);
        let bytes = for_this_home(name, bytes)?;
        files::write_new(&path, &bytes, PRIVATE).map_err(at(&path))?;
    }
    Ok(())
}

/// The content of a file without the seal of the other home and the processes of the other machine. It is sealed here with
/// the next write.
fn for_this_home<'a>(name: &str, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, StoreError> {
    if name != "workflow.json" {
        return Ok(Cow::Borrowed(bytes));
    }
    let text = String::from_utf8_lossy(bytes);
    match WorkflowDoc::parse(Path::new(name), &text)?.for_other_home() {
        Some(document) => document.to_json().map(Cow::Owned),
        None => Ok(Cow::Borrowed(bytes)),
    }
}

fn put_in_place(session: &Session, incoming: &Path, kept: &Path) -> Result<Option<PathBuf>, AdoptError> {
    match renameat_with(CWD, incoming, CWD, session.dir(), RenameFlags::NOREPLACE) {
        Ok(()) => Ok(None),
        Err(Errno::EXIST) => replace_moved_session(session, incoming, kept).map(Some),
        Err(error) => Err(StoreError::io(session.dir(), error.into()).into()),
    }
}

/// Exchanges the two folders and keeps the old one.
fn replace_moved_session(session: &Session, incoming: &Path, kept: &Path) -> Result<PathBuf, AdoptError> {
    let exists = || AdoptError::Exists(session.id().clone());
    match fs::symlink_metadata(session.dir()) {
        Ok(metadata) if metadata.is_dir() => {}
        // A link or a file with this name is not a session that was moved away.
        _ => return Err(exists()),
    }
    let lock = session.lock()?;
    match session.workflow()? {
        Some(document) if document.state.moved_to.is_some() => {}
        _ => return Err(exists()),
    }
    let io = |error| AdoptError::Store(StoreError::io(session.dir(), error));
    // A process that waits for the lock of the old session continues with the new one, so both share one lock file.
    fs::hard_link(session.dir().join(".lock"), incoming.join(".lock")).map_err(io)?;
    // The new folder is moved to where the old one will be kept, and then both are exchanged. So the session always has a
    // folder.
    create_private_dir(kept).map_err(io)?;
    let kept_path = unused_path(kept, session);
    fs::rename(incoming, &kept_path).map_err(io)?;
    let exchanged = renameat_with(CWD, &kept_path, CWD, session.dir(), RenameFlags::EXCHANGE);
    drop(lock);
    if let Err(error) = exchanged {
        // It is only a copy of the session on the other machine.
        let _ = fs::remove_dir_all(&kept_path);
        return Err(io(error.into()));
    }
    Ok(kept_path)
}

/// `ID.1`, `ID.2` and so on, so that no kept session is overwritten.
fn unused_path(kept: &Path, session: &Session) -> PathBuf {
    let mut number = 1_u64;
    loop {
        let path = kept.join(format!("{}.{number}", session.id()));
        if fs::symlink_metadata(&path).is_err() {
            return path;
        }
        number += 1;
    }
}

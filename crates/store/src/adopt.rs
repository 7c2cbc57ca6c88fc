//! A whole session as a list of files, to be taken from one home to another.
//!
//! Only names that a session has are read or written. A session that comes is put together in a hidden folder and
//! renamed into its place, so that it is there as a whole or not at all. What travels and how is not known here.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::files::{self, PRIVATE, lock_wait};
use crate::home::create_private_dir;
use crate::{Home, LoopDoc, Session, SessionId, StoreError, WorkflowDoc};

/// How the name of a session's folder begins while it is being put together; no session id begins like this.
const INCOMING_PREFIX: &str = ".incoming-";

/// Held by whoever puts a session together, so that every such folder that is found is a dead one's.
const INCOMING_LOCK: &str = ".incoming.lock";

/// The folder of a home in which sessions are kept that one from elsewhere has replaced.
const REPLACED: &str = "replaced";

const MEGABYTE: u64 = 1024 * 1024;

/// The files of a session, and how large each may be. State is read whole by every hook, logs are not.
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
const HANDOFF_BYTES: u64 = 16 * MEGABYTE;
const MOST_HANDOFFS: usize = 10_000;

/// All files together.
const BUNDLE_BYTES: u64 = 512 * MEGABYTE;

/// Why a session from elsewhere was not taken.
#[derive(Debug)]
pub enum AdoptError {
    /// No file of a session has this name.
    Name(String),
    /// The same name twice.
    Twice(String),
    TooLarge(String),
    /// A session of this id is here, and nobody has moved it away.
    Exists(SessionId),
    /// A state file that no hook could read, or a disk that does not go along.
    Store(StoreError),
}

impl fmt::Display for AdoptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "not a file of a session: {name:?}"),
            Self::Twice(name) => write!(f, "the same file twice: {name}"),
            Self::TooLarge(name) => write!(f, "too large for a session: {name}"),
            Self::Exists(id) => write!(f, "session {id} is here and has not been moved away"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AdoptError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Store(error) => Some(error),
            _ => None,
        }
    }
}

impl From<StoreError> for AdoptError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Session {
    /// Every file of the session with its path in the folder, as they are together at one moment.
    pub fn bundle(&self) -> io::Result<Vec<(String, Vec<u8>)>> {
        let _lock = self.lock().map_err(io::Error::other)?;
        let mut names: Vec<_> = FILES.iter().map(|(name, limit)| ((*name).to_owned(), *limit)).collect();
        names.extend(self.handoff_names()?.into_iter().map(|name| (name, HANDOFF_BYTES)));
        let mut bundle = Vec::new();
        let mut room = BUNDLE_BYTES;
        for (name, limit) in names {
            if let Some(bytes) = read_bounded(&self.dir().join(&name), limit.min(room))? {
                room -= bytes.len() as u64;
                bundle.push((name, bytes));
            }
        }
        Ok(bundle)
    }

    /// In order. What is not named like a handoff is nobody's business elsewhere.
    fn handoff_names(&self) -> io::Result<Vec<String>> {
        let folder = self.dir().join(HANDOFFS);
        match fs::symlink_metadata(&folder) {
            Ok(about) if about.is_dir() => {}
            Ok(_) => return Err(told(&folder, io::ErrorKind::NotADirectory, "not a folder")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(&folder)? {
            let name = format!("{HANDOFFS}/{}", entry?.file_name().to_string_lossy());
            names.extend(Some(name).filter(|name| is_handoff(name)));
        }
        if names.len() > MOST_HANDOFFS {
            return Err(told(&folder, io::ErrorKind::FileTooLarge, "too many handoffs"));
        }
        names.sort_unstable();
        Ok(names)
    }
}

fn told(path: &Path, kind: io::ErrorKind, problem: &str) -> io::Error {
    io::Error::new(kind, format!("{problem}: {}", path.display()))
}

/// What is in a regular file; links are not followed.
fn read_bounded(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let about_path = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let Some(file) = files::open_to_read(path).map_err(about_path)? else { return Ok(None) };
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(told(path, io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let bytes = files::read_to_end(&file, about.len(), limit + 1)?;
    if bytes.len() as u64 > limit {
        return Err(told(path, io::ErrorKind::FileTooLarge, "too large for a session"));
    }
    Ok(Some(bytes))
}

/// `handoffs/NAME.md`, with a name that is plain everywhere.
fn is_handoff(path: &str) -> bool {
    let name = path.strip_prefix(HANDOFFS).and_then(|rest| rest.strip_prefix('/')?.strip_suffix(".md"));
    name.and_then(SessionId::parse).is_some()
}

/// How large the file of that name may be; `None` when there is none of that name.
fn limit_of(name: &str) -> Option<u64> {
    let known = FILES.iter().find(|(known, _)| *known == name).map(|(_, limit)| *limit);
    known.or_else(|| is_handoff(name).then_some(HANDOFF_BYTES))
}

impl Home {
    /// Puts a session that came from elsewhere in its place, in one step. One that is here already gives way only if
    /// it was moved away; then it is kept, and this returns where.
    pub fn adopt(&self, id: &SessionId, files: &[(String, Vec<u8>)]) -> Result<Option<PathBuf>, AdoptError> {
        check(files)?;
        let folder = self.sessions_dir();
        create_private_dir(&folder).map_err(|error| StoreError::io(&folder, error))?;
        let lock = folder.join(INCOMING_LOCK);
        let _lock = files::lock_file(&lock, lock_wait()).map_err(|error| StoreError::lock(&lock, error))?;
        sweep_incoming(&folder);
        self.sweep_removed();
        let incoming = folder.join(format!("{INCOMING_PREFIX}{id}"));
        let placed = write_all(&incoming, files)
            .map_err(AdoptError::from)
            .and_then(|()| put_in_place(&self.session(id), &incoming, &self.root().join(REPLACED)));
        placed.inspect_err(|_| {
            // The next one would sweep it, too.
            let _ = fs::remove_dir_all(&incoming);
        })
    }
}

/// Whether these can be the files of a session that hooks go on with.
fn check(files: &[(String, Vec<u8>)]) -> Result<(), AdoptError> {
    let mut room = BUNDLE_BYTES;
    let mut names = std::collections::HashSet::new();
    for (name, bytes) in files {
        let limit = limit_of(name).ok_or_else(|| AdoptError::Name(name.clone()))?;
        if !names.insert(name) {
            return Err(AdoptError::Twice(name.clone()));
        }
        let length = bytes.len() as u64;
        if length > limit.min(room) || names.len() > FILES.len() + MOST_HANDOFFS {
            return Err(AdoptError::TooLarge(name.clone()));
        }
        room -= length;
        check_state(name, bytes)?;
    }
    Ok(())
}

/// State that cannot be read would stop every hook of the session.
fn check_state(name: &str, bytes: &[u8]) -> Result<(), StoreError> {
    let path = Path::new(name);
    let text = || std::str::from_utf8(bytes).map_err(|error| StoreError::broken(path, error.to_string()));
    match name {
        "workflow.json" => WorkflowDoc::parse(path, text()?).map(drop),
        "loop.json" => LoopDoc::parse(path, text()?).map(drop),
        _ => Ok(()),
    }
}

/// What killed processes left behind: nobody is at work on it, since we have the lock.
fn sweep_incoming(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(INCOMING_PREFIX) {
            // If it cannot be removed, making ours there says why.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn write_all(incoming: &Path, files: &[(String, Vec<u8>)]) -> Result<(), StoreError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| StoreError::io(&path, error)
    };
    // A new one, or somebody else's files would come along.
    fs::DirBuilder::new().mode(0o700).create(incoming).map_err(at(incoming))?;
    if files.iter().any(|(name, _)| is_handoff(name)) {
        let handoffs = incoming.join(HANDOFFS);
        create_private_dir(&handoffs).map_err(at(&handoffs))?;
    }
    for (name, bytes) in files {
        let path = incoming.join(name);
        files::write_new(&path, bytes, PRIVATE).map_err(at(&path))?;
    }
    Ok(())
}

fn put_in_place(session: &Session, incoming: &Path, kept: &Path) -> Result<Option<PathBuf>, AdoptError> {
    match renameat_with(CWD, incoming, CWD, session.dir(), RenameFlags::NOREPLACE) {
        Ok(()) => Ok(None),
        Err(Errno::EXIST) => take_the_place_of(session, incoming, kept).map(Some),
        Err(error) => Err(StoreError::io(session.dir(), error.into()).into()),
    }
}

/// Exchanges the two folders, and keeps the one that was there.
fn take_the_place_of(session: &Session, incoming: &Path, kept: &Path) -> Result<PathBuf, AdoptError> {
    let exists = || AdoptError::Exists(session.id().clone());
    // A link or a file in its place is nothing that we have moved away.
    if !fs::symlink_metadata(session.dir()).is_ok_and(|about| about.is_dir()) {
        return Err(exists());
    }
    let lock = session.lock()?;
    let is_moved = session.workflow()?.is_some_and(|document| document.state.moved_to.is_some());
    if !is_moved {
        return Err(exists());
    }
    let io = |error| AdoptError::Store(StoreError::io(session.dir(), error));
    // Whoever waits for the old session's lock goes on with the new session, so it has to be the same lock.
    fs::hard_link(session.dir().join(".lock"), incoming.join(".lock")).map_err(io)?;
    // The new one goes to where the old one is to be kept, and then both change places: the old one is nowhere else at
    // any moment.
    create_private_dir(kept).map_err(io)?;
    let place = free_place(kept, session);
    fs::rename(incoming, &place).map_err(io)?;
    let exchanged = renameat_with(CWD, &place, CWD, session.dir(), RenameFlags::EXCHANGE);
    drop(lock);
    if let Err(error) = exchanged {
        // It is a second copy of what is elsewhere.
        let _ = fs::remove_dir_all(&place);
        return Err(io(error.into()));
    }
    Ok(place)
}

/// `ID.1`, `ID.2` and so on: nothing that was kept is replaced.
fn free_place(kept: &Path, session: &Session) -> PathBuf {
    let mut places = (1_u64..).map(|number| kept.join(format!("{}.{number}", session.id())));
    let is_free = |place: &PathBuf| fs::symlink_metadata(place).is_err();
    places.find(is_free).unwrap_or_else(|| kept.join(session.id().as_str()))
}

//! Errors of settings files, with their position, reason and a hint. They never quote the content of a file.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::{MAX_BYTES, MAX_DEPTH};

/// A position in a text, counted from 1; the column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

/// A settings file that could not be read or changed. The file is unchanged.
#[derive(Debug)]
pub struct SettingsError {
    /// The file as the caller named it.
    pub path: PathBuf,
    pub position: Option<Position>,
    pub kind: SettingsErrorKind,
}

/// Why a settings file could not be read or changed.
#[derive(Debug)]
pub enum SettingsErrorKind {
    Read(io::Error),
    Write(io::Error),
    IsFolder,
    NotAFile,
    TooLarge,
    TooDeep,
    NotUtf8,
    /// Not JSON with comments. The text is the reason.
    Syntax(String),
    /// The file contains a list, a string or another value that is not an object.
    TopLevel,
    /// A key was to be set inside the value of this key, which is not an object.
    NotAnObject(String),
    /// An item was to be added to the value of this key, which is not a list.
    NotAnArray(String),
    /// The file that the path leads to after all links.
    ReadOnlyFile(PathBuf),
    ReadOnlyFolder(PathBuf),
    /// Another process holds the lock.
    Busy,
    /// A program that ignores the lock kept writing the file while it was edited.
    KeepsChanging,
}

impl SettingsError {
    pub(crate) fn new(path: &Path, kind: SettingsErrorKind) -> Self {
        Self { path: path.to_owned(), position: None, kind }
    }

    pub(crate) fn at(path: &Path, position: Position, kind: SettingsErrorKind) -> Self {
        Self { path: path.to_owned(), position: Some(position), kind }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let path = self.path.display();
        Some(match &self.kind {
            SettingsErrorKind::Read(_) | SettingsErrorKind::Write(_) => return None,
            SettingsErrorKind::IsFolder | SettingsErrorKind::NotAFile => {
                format!("move {path} away, it has to be a file")
            }
            SettingsErrorKind::TooLarge | SettingsErrorKind::TooDeep => {
                format!("check whether {path} is the file you meant")
            }
            SettingsErrorKind::NotUtf8 => format!("save {path} as UTF-8"),
            SettingsErrorKind::Syntax(_) => format!("correct {path} in an editor; nothing was changed"),
            SettingsErrorKind::TopLevel => {
                format!("the content of {path} has to begin with {{ and end with }}")
            }
            SettingsErrorKind::NotAnObject(key) => format!("make `{key}` an object, or remove it"),
            SettingsErrorKind::NotAnArray(key) => format!("make `{key}` a list, or remove it"),
            SettingsErrorKind::ReadOnlyFile(file) => {
                format!("to allow changes: chmod u+w '{}'", file.display())
            }
            SettingsErrorKind::ReadOnlyFolder(folder) => {
                format!("to allow changes: chmod u+w '{}'", folder.display())
            }
            SettingsErrorKind::Busy => "try again when the other process has ended".to_owned(),
            SettingsErrorKind::KeepsChanging => {
                format!("close the program that keeps writing {path}, then try again")
            }
        })
    }

    /// `path`, `path:line` or `path:line:column`, as editors understand it.
    fn location(&self) -> String {
        match self.position {
            Some(Position { line, column }) => format!("{}:{line}:{column}", self.path.display()),
            None => self.path.display().to_string(),
        }
    }

    fn message(&self) -> String {
        let at = self.location();
        match &self.kind {
            SettingsErrorKind::Read(error) => format!("cannot read {at}: {error}"),
            SettingsErrorKind::Write(error) => format!("cannot write {at}: {error}"),
            SettingsErrorKind::IsFolder => format!("a folder, not a file: {at}"),
            SettingsErrorKind::NotAFile => format!("not a regular file: {at}"),
            SettingsErrorKind::TooLarge => format!("larger than {} MiB: {at}", MAX_BYTES / 1024 / 1024),
            SettingsErrorKind::TooDeep => format!("nested more than {MAX_DEPTH} levels deep: {at}"),
            SettingsErrorKind::NotUtf8 => format!("not UTF-8 text: {at}"),
            SettingsErrorKind::Syntax(what) => format!("malformed JSON in {at}: {what}"),
            SettingsErrorKind::TopLevel => format!("not a JSON object: {at}"),
            SettingsErrorKind::NotAnObject(key) => format!("`{key}` is not an object: {at}"),
            SettingsErrorKind::NotAnArray(key) => format!("`{key}` is not a list: {at}"),
            SettingsErrorKind::ReadOnlyFile(_) => format!("read-only file: {at}"),
            SettingsErrorKind::ReadOnlyFolder(_) => format!("file in a read-only folder: {at}"),
            SettingsErrorKind::Busy => format!("busy: another process is changing {at}"),
            SettingsErrorKind::KeepsChanging => format!("another program keeps writing {at}"),
        }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

/// Not derived: only some kinds have a source.
impl std::error::Error for SettingsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            SettingsErrorKind::Read(error) | SettingsErrorKind::Write(error) => Some(error),
            _ => None,
        }
    }
}

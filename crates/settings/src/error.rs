//! What can go wrong with a settings file: where, why, and what to do about it. Never with its content.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::{MAX_BYTES, MAX_DEPTH};

/// A place in a text, counted from 1; the column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

/// A settings file that could not be read or changed. It is as it was before.
#[derive(Debug)]
pub struct SettingsError {
    /// The file as the caller named it.
    pub path: PathBuf,
    pub position: Option<Position>,
    pub problem: Problem,
}

/// What is wrong.
#[derive(Debug)]
pub enum Problem {
    Read(io::Error),
    Write(io::Error),
    IsFolder,
    NotAFile,
    TooLarge,
    TooDeep,
    NotUtf8,
    /// Not JSON with comments; the text says in which way.
    Syntax(String),
    /// The file's value is a list, a string or the like.
    TopLevel,
    /// A key was to be set below this one, which has a value that cannot hold keys.
    NotAnObject(String),
    /// An item was to be added to this key, which has a value that cannot hold items.
    NotAnArray(String),
    /// The file itself, at the end of any links.
    ReadOnlyFile(PathBuf),
    ReadOnlyFolder(PathBuf),
    /// Another process holds the lock.
    Busy,
    /// A program without the lock wrote the file again and again while it was being edited.
    Unsteady,
}

impl SettingsError {
    pub(crate) fn new(path: &Path, problem: Problem) -> Self {
        Self { path: path.to_owned(), position: None, problem }
    }

    pub(crate) fn at(path: &Path, position: Position, problem: Problem) -> Self {
        Self { path: path.to_owned(), position: Some(position), problem }
    }

    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        let path = self.path.display();
        Some(match &self.problem {
            Problem::Read(_) | Problem::Write(_) => return None,
            Problem::IsFolder | Problem::NotAFile => format!("move {path} away, it has to be a file"),
            Problem::TooLarge | Problem::TooDeep => format!("check whether {path} is the file you meant"),
            Problem::NotUtf8 => format!("save {path} as UTF-8"),
            Problem::Syntax(_) => format!("correct {path} in an editor; nothing was changed"),
            Problem::TopLevel => format!("the content of {path} has to begin with {{ and end with }}"),
            Problem::NotAnObject(key) => format!("make `{key}` an object, or remove it"),
            Problem::NotAnArray(key) => format!("make `{key}` a list, or remove it"),
            Problem::ReadOnlyFile(file) => format!("to allow changes: chmod u+w '{}'", file.display()),
            Problem::ReadOnlyFolder(folder) => format!("to allow changes: chmod u+w '{}'", folder.display()),
            Problem::Busy => "try again when the other process has ended".to_owned(),
            Problem::Unsteady => format!("close the program that keeps writing {path}, then try again"),
        })
    }

    /// `path`, `path:line` or `path:line:column`, as editors understand it.
    fn place(&self) -> String {
        match self.position {
            Some(Position { line, column }) => format!("{}:{line}:{column}", self.path.display()),
            None => self.path.display().to_string(),
        }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place();
        match &self.problem {
            Problem::Read(error) => write!(f, "cannot read {place}: {error}"),
            Problem::Write(error) => write!(f, "cannot write {place}: {error}"),
            Problem::IsFolder => write!(f, "a folder, not a file: {place}"),
            Problem::NotAFile => write!(f, "not a regular file: {place}"),
            Problem::TooLarge => write!(f, "larger than {} MiB: {place}", MAX_BYTES / 1024 / 1024),
            Problem::TooDeep => write!(f, "nested more than {MAX_DEPTH} levels deep: {place}"),
            Problem::NotUtf8 => write!(f, "not UTF-8 text: {place}"),
            Problem::Syntax(what) => write!(f, "malformed JSON in {place}: {what}"),
            Problem::TopLevel => write!(f, "not a JSON object: {place}"),
            Problem::NotAnObject(key) => write!(f, "`{key}` is not an object: {place}"),
            Problem::NotAnArray(key) => write!(f, "`{key}` is not a list: {place}"),
            Problem::ReadOnlyFile(_) => write!(f, "read-only file: {place}"),
            Problem::ReadOnlyFolder(_) => write!(f, "file in a read-only folder: {place}"),
            Problem::Busy => write!(f, "busy: another process is changing {place}"),
            Problem::Unsteady => write!(f, "another program keeps writing {place}"),
        }
    }
}

impl std::error::Error for SettingsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            Problem::Read(error) | Problem::Write(error) => Some(error),
            _ => None,
        }
    }
}

//! `overtone.toml` in the root of a project: its checks, how strictly its gate is kept, and when its last stages run,
//! and what a workflow may use.
//!
//! The file belongs to the project and its version control, so it is the word of whoever wrote the repository. Hooks do not
//! read it: a workflow uses what `init` has copied from it. See [`crate::Trust`] for who may run its commands.

mod additions;
mod parse;

use std::path::{Path, PathBuf};

use overtone_core::economy::Budget;
use overtone_core::evidence::Check;
use overtone_core::registry::{DocsRule, GuardLevel, RetroRule};

use crate::{StoreError, files};

pub use additions::{AdditionError, NewCheck};

/// A file with a hundred checks has some ten kilobytes.
const MAX_BYTES: u64 = 256 * 1024;

/// What a project's file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectFile {
    /// In the order of the file.
    pub checks: Vec<Check>,
    pub guard: Option<GuardLevel>,
    pub retro: Option<RetroRule>,
    pub docs: Option<DocsRule>,
    pub budget: Budget,
    /// Keys that this version does not know. A later version may.
    pub unknown_keys: Vec<UnknownKey>,
}

/// A key that this version does not know: `checks.test.retries`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKey {
    pub name: String,
    pub line: usize,
}

/// Why a project's file cannot be used.
#[derive(Debug)]
pub enum ProjectFileError {
    Store(StoreError),
    Invalid(InvalidProjectFile),
}

/// The first thing that is wrong in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidProjectFile {
    pub path: PathBuf,
    /// Counted from 1.
    pub line: usize,
    pub problem: FileProblem,
}

/// What is wrong in a file. Keys are written as in `checks.test.run`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileProblem {
    /// It is not TOML, in the words of the parser.
    Syntax(String),
    /// The value of this key is of another type.
    WrongType { key: String, expected: ValueType },
    /// A check cannot have this name.
    CheckName(String),
    /// The check with this name has no command.
    NoCommand(String),
    /// The value of this key is not a duration, or not one that is allowed.
    Duration { key: String, given: String },
    /// The value of this key is not a stage.
    Stage { key: String, given: String },
    /// There is no guard level with this name.
    GuardLevel(String),
    /// The value of this key is not a limit.
    Amount { key: String },
    /// The value of this key is not one of the choices.
    Choice { key: String, given: String, choices: Vec<&'static str> },
}

/// The type that a value must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueType {
    Table,
    Text,
    TextList,
}

impl ProjectFile {
    pub const NAME: &'static str = "overtone.toml";

    pub fn path_in(project: &Path) -> PathBuf {
        project.join(Self::NAME)
    }

    /// What the file of this project says. `None` if it has none.
    pub fn read(project: &Path) -> Result<Option<Self>, ProjectFileError> {
        match Self::read_text(project)? {
            Some(text) => Self::parse(project, &text).map(Some),
            None => Ok(None),
        }
    }

    fn parse(project: &Path, text: &str) -> Result<Self, ProjectFileError> {
        parse::parse(text).map_err(|(line, problem)| {
            let path = Self::path_in(project);
            ProjectFileError::Invalid(InvalidProjectFile { path, line, problem })
        })
    }

    fn read_text(project: &Path) -> Result<Option<String>, ProjectFileError> {
        let path = Self::path_in(project);
        let bytes = match files::read_limited(&path, MAX_BYTES) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(None),
            Err(error) => return Err(ProjectFileError::Store(StoreError::io(&path, error))),
        };
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(ProjectFileError::Store(StoreError::broken(&path, "not UTF-8"))),
        }
    }
}

//! Adds checks to a project's file. The text that is there stays as it is, with its comments; new tables come after it.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use overtone_core::registry::Stage;

use crate::project_file::{ProjectFile, ProjectFileError};
use crate::{StoreError, files};

/// The mode of a new file, which is made to be committed.
const SHARED: u32 = 0o644;

/// A check to add, with its default time limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCheck {
    pub name: String,
    pub run: String,
    pub stages: Vec<Stage>,
    /// A comment above it. One line.
    pub comment: Option<String>,
}

/// Why checks were not added.
#[derive(Debug)]
pub enum AdditionError {
    File(ProjectFileError),
    /// The file defines its checks in a form that cannot be continued, such as an inline table. This is what is to be
    /// inserted by hand.
    NotAppendable(String),
}

impl ProjectFile {
    /// Adds checks to the project's file and creates it if it is missing. A check whose name is taken is left out. Returns the
    /// names of those that were added.
    pub fn add_checks(project: &Path, new: &[NewCheck]) -> Result<Vec<String>, AdditionError> {
        let text = Self::read_text(project).map_err(AdditionError::File)?.unwrap_or_default();
        let before = Self::parse(project, &text).map_err(AdditionError::File)?;
        let is_taken = |new: &NewCheck| before.checks.iter().any(|check| check.name == new.name);
        let added: Vec<&NewCheck> = new.iter().filter(|new| !is_taken(new)).collect();
        if added.is_empty() {
            return Ok(Vec::new());
        }
        let addition = added.iter().map(|new| new.to_toml()).collect::<Vec<_>>().join("\n");
        let appended = format!("{text}{}{addition}", separator(&text));
        let is_complete = match Self::parse(project, &appended) {
            Ok(after) => after.checks.len() == before.checks.len() + added.len(),
            Err(_) => false,
        };
        if !is_complete {
            return Err(AdditionError::NotAppendable(addition));
        }
        let path = Self::path_in(project);
        replace(&path, &appended)
            .map_err(|error| AdditionError::File(ProjectFileError::Store(StoreError::io(&path, error))))?;
        Ok(added.iter().map(|new| new.name.clone()).collect())
    }
}

/// Replaces the file, which keeps its mode.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mode = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata.mode() & 0o777,
        Err(error) if error.kind() == io::ErrorKind::NotFound => SHARED,
        Err(error) => return Err(error),
    };
    files::write_atomic(path, text.as_bytes(), mode)
}

/// An empty line between the old text and the new one.
fn separator(text: &str) -> &'static str {
    if text.is_empty() || text.ends_with("\n\n") {
        ""
    } else if text.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    }
}

impl NewCheck {
    fn to_toml(&self) -> String {
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let stages: Vec<_> = self.stages.iter().map(|stage| quoted(stage.key())).collect();
        let comment = match &self.comment {
            Some(comment) => format!("# {}\n", comment.replace(char::is_control, " ")),
            None => String::new(),
        };
        let (run, stages) = (quoted(&self.run), stages.join(", "));
        format!("{comment}[checks.{}]\nrun = {run}\nstages = [{stages}]\n", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(name: &str, run: &str) -> NewCheck {
        let (stages, comment) = (vec![Stage::Dev, Stage::Test], Some("from Makefile".to_owned()));
        NewCheck { name: name.to_owned(), run: run.to_owned(), stages, comment }
    }

    #[test]
    fn what_is_there_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = ProjectFile::path_in(folder.path());
        let text = "# ours\n[checks.test]\nrun = 'make  check' # keep\nfuture = 1\n[guard]\nlevel = 'strict'";
        files::write_atomic(&path, text.as_bytes(), SHARED).unwrap();
        let wanted = [new("test", "cargo test"), new("lint", "say \"it's\" \\ fine\t'''")];
        assert_eq!(ProjectFile::add_checks(folder.path(), &wanted).unwrap(), ["lint"]);
        let after = fs::read_to_string(&path).unwrap();
        assert!(after.starts_with(text) && after.contains("# from Makefile\n[checks.lint]\n"), "{after}");
        let file = ProjectFile::read(folder.path()).unwrap().unwrap();
        let runs: Vec<_> = file.checks.iter().map(|check| check.run.as_str()).collect();
        assert_eq!(runs, ["make  check", "say \"it's\" \\ fine\t'''"]);
        assert!(ProjectFile::add_checks(folder.path(), &wanted).unwrap().is_empty());
        assert_eq!(fs::read_to_string(&path).unwrap(), after);
    }

    #[test]
    fn a_missing_file_is_created_and_a_broken_one_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(ProjectFile::add_checks(folder.path(), &[new("test", "make test")]).unwrap(), ["test"]);
        let path = ProjectFile::path_in(folder.path());
        for text in ["[checks.test\n", "checks = { lint = { run = 'x' } }\n"] {
            files::write_atomic(&path, text.as_bytes(), SHARED).unwrap();
            assert!(ProjectFile::add_checks(folder.path(), &[new("test", "make test")]).is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}

//! The first documents of a new feature.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use overtone_core::registry::{SpecsDocs, Workflow};

use super::disk::TASKS_FILE;
use super::error::Context;
use super::{FeatureName, Shelf};

const BDD_FILE: &str = "bdd.md";

/// The properties of a new feature.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blueprint<'a> {
    pub(super) name: &'a FeatureName,
    pub(super) docs: SpecsDocs,
    pub(super) workflow: Option<Workflow>,
    pub(super) created: &'a str,
    pub(super) shelf: Shelf,
}

impl Blueprint<'_> {
    /// Writes the documents into the feature's new folder: all of them, or none.
    pub(super) fn write_into(&self, dir: &Path) -> io::Result<()> {
        let mut written: Vec<PathBuf> = Vec::new();
        for (file, text) in self.documents() {
            let path = dir.join(file);
            if let Err(error) = write_new(&path, &text) {
                for path in &written {
                    remove_own_file(path);
                }
                return Err(error);
            }
            written.push(path);
        }
        Ok(())
    }

    fn documents(&self) -> Vec<(&'static str, String)> {
        match self.docs {
            SpecsDocs::None => Vec::new(),
            SpecsDocs::Tasks => vec![(TASKS_FILE, self.tasks())],
            SpecsDocs::TasksAndBdd => vec![(TASKS_FILE, self.tasks()), (BDD_FILE, self.bdd())],
        }
    }

    fn tasks(&self) -> String {
        let Self { name, created, .. } = self;
        let mut text = format!("---\nfeature: {name}\nstatus: {}\n", self.shelf.status());
        if let Some(workflow) = self.workflow {
            let _ = writeln!(text, "workflow: {}", workflow.name());
        }
        let _ = write!(text, "created: {created}\n---\n\n# {name}\n\n");
        if let Some(workflow) = self.workflow {
            text.push_str("## Stages\n\n");
            for key in workflow.stage_keys() {
                let _ = writeln!(text, "- [ ] {key}");
            }
            text.push('\n');
        }
        text + "## Tasks\n"
    }

    /// In the format of the skill `ref-bdd-guide`.
    fn bdd(&self) -> String {
        let name = self.name;
        format!(
            "# {name}: behaviour\n\n## Feature: {name}\n\n### Scenario: <what is seen>\n\
             GIVEN <the state before>\nWHEN <one action>\nTHEN <a result that a test can observe>\n"
        )
    }
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    // `create_new` overwrites nothing and follows no symlink.
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).context("create", path)?;
    let written = file.write_all(text.as_bytes()).context("write", path);
    if written.is_err() {
        remove_own_file(path);
    }
    written
}

/// Removes a file that this process has written. A failure is ignored: the first error is the one to report.
fn remove_own_file(path: &Path) {
    let _ = fs::remove_file(path);
}

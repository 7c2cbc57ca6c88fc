//! A feature: its folder and what `tasks.md` says about it.

use std::io;
use std::path::PathBuf;

use super::disk::{TASKS_FILE, read_document};
use super::tasks::parse_bytes;
use super::{Shelf, Tasks};
use crate::front_matter::FrontMatter;

/// A feature as found on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// The name of its folder. In the archive it starts with the date.
    pub name: String,
    pub shelf: Shelf,
    pub dir: PathBuf,
    /// `None` if there is no readable `tasks.md`.
    pub tasks: Option<Tasks>,
    /// From the front matter, as written there; so is `created`.
    pub workflow: Option<String>,
    pub created: Option<String>,
}

impl Feature {
    pub(super) fn load(shelf: Shelf, name: &str, dir: PathBuf) -> io::Result<Self> {
        let document = read_document(&dir.join(TASKS_FILE))?;
        let mut feature =
            Self { name: name.to_owned(), shelf, dir, tasks: None, workflow: None, created: None };
        if let Some(document) = document {
            feature.tasks = Some(parse_bytes(&document.bytes));
            if let Some(front_matter) = FrontMatter::parse(&document.bytes) {
                feature.workflow = front_matter.get("workflow");
                feature.created = front_matter.get("created");
            }
        }
        Ok(feature)
    }
}

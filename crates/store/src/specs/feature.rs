//! A feature: its folder and what `tasks.md` says about it.

use std::io;
use std::path::PathBuf;

use super::disk::{TASKS_FILE, read_document};
use super::front_matter::FrontMatter;
use super::tasks::parse_bytes;
use super::{Shelf, Tasks};

/// A feature as found on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// The name of its folder; in the archive that begins with the date.
    pub name: String,
    pub shelf: Shelf,
    pub dir: PathBuf,
    /// None when there is no `tasks.md` that we read.
    pub tasks: Option<Tasks>,
    /// From the front matter, as written there; so is `created`.
    pub workflow: Option<String>,
    pub created: Option<String>,
}

impl Feature {
    pub(super) fn load(shelf: Shelf, name: &str, dir: PathBuf) -> io::Result<Self> {
        let document = read_document(&dir.join(TASKS_FILE))?;
        let bytes = document.as_ref().map_or(&[][..], |document| &document.bytes);
        let front = FrontMatter::of(bytes);
        Ok(Self {
            name: name.to_owned(),
            shelf,
            tasks: document.as_ref().map(|document| parse_bytes(&document.bytes)),
            workflow: front.get("workflow"),
            created: front.get("created"),
            dir,
        })
    }
}

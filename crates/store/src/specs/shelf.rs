//! Shelves: the folders that a feature moves between.

use std::fmt;

/// Where a feature is kept, in the order of listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shelf {
    InProgress,
    Paused,
    Backlog,
    Archive,
}

impl Shelf {
    pub const ALL: [Self; 4] = [Self::InProgress, Self::Paused, Self::Backlog, Self::Archive];

    /// The shelves on which a feature is kept under its own name; the archive puts a date before it.
    pub const LIVE: [Self; 3] = [Self::InProgress, Self::Paused, Self::Backlog];

    /// The folder below `specs/features/`.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::InProgress => "in-progress",
            Self::Paused => "paused",
            Self::Backlog => "backlog",
            Self::Archive => "archive",
        }
    }

    pub fn from_folder(folder: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shelf| shelf.folder() == folder)
    }

    /// The `status` in the front matter of a feature on this shelf.
    pub(super) const fn status(self) -> &'static str {
        match self {
            Self::Archive => "archived",
            live => live.folder(),
        }
    }
}

impl fmt::Display for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.folder())
    }
}

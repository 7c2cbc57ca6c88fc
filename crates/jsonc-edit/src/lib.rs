//! Edits a user's JSON file with comments in place: Claude Code's `settings.json` and `ccc.json`.
//!
//! A change inserts or removes the bytes of one entry and its comma in the *text*. Everything else is copied unchanged:
//! order, comments, unknown keys, number formats, indentation, line breaks, the byte order mark. `jsonc-parser` locates
//! the values. Its own editing tree is not used, because it spreads one-line objects over several lines, drops blank
//! lines, deletes comments next to a removed key, and edits the first of two equal keys, although the last one is used.
//!
//! A file is replaced by a rename under a lock, so a reader sees either the old or the new content, also if the process is
//! killed. No error message quotes the file, which may contain tokens.
//!
//! The meaning and location of the settings, and texts for users other than errors and hints, belong elsewhere.

mod append;
mod document;
mod error;
mod file;
mod folder_lock;
mod layout;
mod lines;
pub mod lock;
mod remove;
mod replace;
mod target;
mod timeout;
mod tree;
mod trivia;

pub use document::Document;
pub use error::{Position, SettingsError, SettingsErrorKind};
pub use file::{Changed, SettingsFile};
pub use timeout::effective_timeout;

/// Larger files are rejected. No settings file comes near this size, and every edit reads the whole file.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Files with deeper nesting are rejected, so that recursion over a value cannot exhaust the stack.
pub const MAX_DEPTH: usize = 128;

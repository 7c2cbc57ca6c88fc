//! Edits a user's JSON file with comments in place: Claude Code's `settings.json` and `ccc.json`.
//!
//! Only what is asked for changes. A change is made to the *text*, by cutting out or putting in the bytes of one
//! entry and its comma; everything else (order, comments, unknown keys, number formats, indentation, line ends,
//! the byte order mark) is not even looked at again, so it cannot get lost. `jsonc-parser` says where the values
//! are. Its own editing tree is not used: it spreads one-line objects over several lines, drops blank lines,
//! deletes comments next to a removed key, and edits the first of two equal keys, where the last one counts.
//!
//! A file is replaced by a rename under a lock, so a reader sees the old or the new content, and a process that
//! is killed at any instant leaves one of the two. No error text quotes the file: it may hold tokens.
//!
//! Not here: what the settings mean, where they are, and any text for the user beyond errors and hints.

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

/// Larger files are refused: no settings file comes near this, and every edit reads all of it.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Deeper files are refused, so that no recursion over a value can use up the stack.
pub const MAX_DEPTH: usize = 128;

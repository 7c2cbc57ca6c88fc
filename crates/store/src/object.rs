//! Small files with one JSON object, changed so that fields of other versions survive.

use std::io;
use std::path::Path;

use serde_json::{Map, Value};

use crate::files;

/// The object in a file, for reading only. A file that is missing or unreadable counts as an empty object.
pub fn read(path: &Path) -> Map<String, Value> {
    read_to_change(path).unwrap_or_default()
}

/// The object in a file that is going to be written back. A file that exists and cannot be read right now is an error,
/// since writing would destroy it.
pub fn read_to_change(path: &Path) -> io::Result<Map<String, Value>> {
    match files::read_small(path) {
        Ok(text) => Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()),
        // A link, a folder or binary data at this path is not a state file and is replaced.
        Err(error) if files::is_misplaced(&error) => Ok(Map::new()),
        Err(error) => Err(error),
    }
}

/// The object in a file with new values for some fields; all others stay, in their order. The caller holds a lock
/// that covers the file, and writes it.
pub fn with_fields<'a>(
    path: &Path,
    fields: impl IntoIterator<Item = (&'a str, Value)>,
) -> io::Result<Map<String, Value>> {
    let mut object = read_to_change(path)?;
    for (name, value) in fields {
        object.insert(name.to_owned(), value);
    }
    Ok(object)
}

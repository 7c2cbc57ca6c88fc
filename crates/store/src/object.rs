//! Small files that hold one JSON object: read whole, and changed so that the fields of other versions survive.

use std::io;
use std::path::Path;

use serde_json::{Map, Value};

use crate::files;

/// The object in a file, to look something up in; anything else counts as an empty one.
pub fn read(path: &Path) -> Map<String, Value> {
    read_to_change(path).unwrap_or_default()
}

/// The same, to be written back: what is there and cannot be read just now is an error, or it would be lost.
pub fn read_to_change(path: &Path) -> io::Result<Map<String, Value>> {
    match files::read_small(path) {
        Ok(text) => Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()),
        // Something that is no state file lies in its place, and is replaced.
        Err(error) if files::is_misplaced(&error) => Ok(Map::new()),
        Err(error) => Err(error),
    }
}

/// The object in a file with new values for some fields; all others stay, in their order. The caller holds a lock
/// that covers the file, and writes it.
pub fn with<'a>(
    path: &Path,
    fields: impl IntoIterator<Item = (&'a str, Value)>,
) -> io::Result<Map<String, Value>> {
    let mut object = read_to_change(path)?;
    for (name, value) in fields {
        object.insert(name.to_owned(), value);
    }
    Ok(object)
}

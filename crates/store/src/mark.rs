//! The mark of a home folder: a file which says that the folder is Overtone's, so that it may be deleted as a whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use crate::seal::KEY_FILE;
use crate::{Home, files, object};

const MARK: &str = ".overtone-home";
const KIND: &str = "overtone-home";

/// The names of all entries that Overtone creates at the top of a home. Code that adds one adds its name here.
const ENTRIES: [&str; 18] = [
    MARK,
    "sessions",
    "projects",
    "plugin",
    "dashboard",
    "fleet",
    "telemetry",
    "replaced",
    "config.json",
    "install.json",
    "settings.json.before-overtone",
    ".current-session-id",
    ".lock",
    KEY_FILE,
    ".doctor",
    "trust.json",
    "mirror.json",
    "mirror.lock",
];

/// Every home that was used contains at least one of these.
const CORE: [&str; 3] = ["sessions", "plugin", "install.json"];

/// The content of the mark.
#[derive(Serialize)]
struct Mark<'a> {
    kind: &'static str,
    version: u32,
    root: &'a Path,
}

/// Whose folder it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ownership {
    /// There is no such folder.
    Missing,
    /// It has the mark for this path, and contains nothing foreign.
    Marked,
    /// It has no mark, but contains nothing foreign: an earlier version created it.
    Unmarked,
    /// These entries are not ours. The list is empty for a folder that contains nothing of ours.
    Foreign(Vec<String>),
}

impl Home {
    /// Marks the folder as ours, unless something foreign is in it.
    pub fn mark(&self) -> io::Result<()> {
        let root = self.root().canonicalize()?;
        if !foreign_entries(&root)?.is_empty() {
            return Ok(());
        }
        let mark = Mark { kind: KIND, version: 1, root: &root };
        let text = serde_json::to_string_pretty(&mark)?;
        files::write_atomic(&self.mark_file(), format!("{text}\n").as_bytes(), files::PRIVATE)
    }

    fn mark_file(&self) -> PathBuf {
        self.root().join(MARK)
    }

    pub fn ownership(&self) -> io::Result<Ownership> {
        let root = match self.root().canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ownership::Missing),
            root => root?,
        };
        let foreign = foreign_entries(&root)?;
        if !foreign.is_empty() {
            return Ok(Ownership::Foreign(foreign));
        }
        if self.has_valid_mark(&root) {
            return Ok(Ownership::Marked);
        }
        let is_used = CORE.iter().any(|name| root.join(name).symlink_metadata().is_ok());
        Ok(if is_used { Ownership::Unmarked } else { Ownership::Foreign(Vec::new()) })
    }

    /// Whether there is a mark for this folder. A mark that was copied from elsewhere names another folder.
    fn has_valid_mark(&self, root: &Path) -> bool {
        let mark = object::read(&self.mark_file());
        match (mark.get("kind"), mark.get("root")) {
            (Some(Value::String(kind)), Some(Value::String(marked))) => {
                kind == KIND && Path::new(marked) == root
            }
            _ => false,
        }
    }
}

/// The entries at the top that are not ours, sorted.
fn foreign_entries(root: &Path) -> io::Result<Vec<String>> {
    let mut foreign = Vec::new();
    for entry in fs::read_dir(root)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !is_ours(&name) {
            foreign.push(name);
        }
    }
    foreign.sort_unstable();
    Ok(foreign)
}

/// Whether a name is that of an entry of ours, or of its temporary file, which a killed process may have left.
fn is_ours(name: &str) -> bool {
    if let Some(hidden) = name.strip_prefix('.')
        && let Some(entry) = hidden.strip_suffix(".tmp")
        && ENTRIES.contains(&entry)
    {
        return true;
    }
    ENTRIES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionId;

    fn home(dir: &tempfile::TempDir, name: &str) -> Home {
        Home::at(dir.path().join(name))
    }

    #[test]
    fn the_first_session_marks_the_home() {
        let dir = tempfile::tempdir().unwrap();
        let home = home(&dir, "o");
        assert_eq!(home.ownership().unwrap(), Ownership::Missing);
        home.session(&SessionId::parse("s").unwrap()).create().unwrap();
        assert_eq!(home.ownership().unwrap(), Ownership::Marked);
        files::write_atomic(&home.root().join("thesis.tex"), b"x", 0o600).unwrap();
        assert_eq!(home.ownership().unwrap(), Ownership::Foreign(vec!["thesis.tex".to_owned()]));
    }

    #[test]
    fn a_folder_with_something_else_in_it_is_never_marked() {
        let dir = tempfile::tempdir().unwrap();
        let home = home(&dir, "o");
        fs::create_dir_all(home.root().join("Documents")).unwrap();
        drop(home.lock().unwrap());
        home.session(&SessionId::parse("s").unwrap()).create().unwrap();
        home.mark().unwrap();
        assert!(!home.mark_file().exists());
        assert_eq!(home.ownership().unwrap(), Ownership::Foreign(vec!["Documents".to_owned()]));
    }

    #[test]
    fn a_mark_counts_only_where_it_was_made() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (home(&dir, "first"), home(&dir, "second"));
        drop(first.lock().unwrap());
        fs::create_dir(second.root()).unwrap();
        fs::copy(first.mark_file(), second.mark_file()).unwrap();
        assert_eq!(second.ownership().unwrap(), Ownership::Foreign(Vec::new()));
        fs::create_dir(second.sessions_dir()).unwrap();
        assert_eq!(second.ownership().unwrap(), Ownership::Unmarked);
        fs::rename(first.root(), dir.path().join("moved")).unwrap();
        assert_eq!(home(&dir, "moved").ownership().unwrap(), Ownership::Foreign(Vec::new()));
    }
}

//! The mark of a home folder. It says that the whole folder is Overtone's, so that it may be deleted as a whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{Home, files, object};

const MARK: &str = ".overtone-home";
const KIND: &str = "overtone-home";

/// Everything that this program puts at the top of a home. Whatever adds an entry there adds its name here.
const ENTRIES: [&str; 16] = [
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
    ".doctor",
    "mirror.json",
    "mirror.lock",
];

/// Entries of which at least one is in every home that was used.
const CORE: [&str; 3] = ["sessions", "plugin", "install.json"];

/// Whose folder it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ownership {
    /// There is no such folder.
    Missing,
    /// It bears the mark, for this very path, and nothing foreign is in it.
    Marked,
    /// No mark, but nothing in it is foreign: an earlier version made it.
    Unmarked,
    /// Not ours, or not ours alone: these entries are foreign. None are named for a folder that has nothing of ours.
    Foreign(Vec<String>),
}

impl Home {
    /// Marks the folder as ours, unless something foreign is in it.
    pub fn mark(&self) -> io::Result<()> {
        let root = self.root().canonicalize()?;
        if !foreign_entries(&root)?.is_empty() {
            return Ok(());
        }
        let mark = json!({ "kind": KIND, "version": 1, "root": root });
        files::write_atomic(&self.mark_file(), format!("{mark:#}\n").as_bytes(), files::PRIVATE)
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
        if self.bears_mark(&root) {
            return Ok(Ownership::Marked);
        }
        let is_used = CORE.iter().any(|name| root.join(name).symlink_metadata().is_ok());
        Ok(if is_used { Ownership::Unmarked } else { Ownership::Foreign(Vec::new()) })
    }

    /// A mark that was copied from elsewhere names another folder.
    fn bears_mark(&self, root: &Path) -> bool {
        let mark = object::read(&self.mark_file());
        let text = |name: &str| mark.get(name).and_then(Value::as_str);
        text("kind") == Some(KIND) && text("root").is_some_and(|marked| Path::new(marked) == root)
    }
}

/// The entries at the top that are none of ours, in order.
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

/// A killed process leaves at most the temporary file of an entry.
fn is_ours(name: &str) -> bool {
    let of_temporary = name.strip_prefix('.').and_then(|rest| rest.strip_suffix(".tmp"));
    ENTRIES.contains(&name) || of_temporary.is_some_and(|name| ENTRIES.contains(&name))
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

//! Identifies a process, so that it is not confused with a later one that has the same id.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Identifies a process until the machine restarts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProcessIdentity {
    pub(crate) pid: u32,
    /// The start time in the kernel's clock ticks since the machine was booted.
    start_ticks: u64,
    /// The kernel's id of the boot.
    boot: String,
}

impl ProcessIdentity {
    /// The running process with this id; `None` if there is none.
    pub(crate) fn find(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned();
        Some(Self { pid, start_ticks: start_ticks(&stat)?, boot })
    }

    /// `None` if the file was written by a version that does not record it.
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        Self::deserialize(value).ok()
    }

    pub(crate) fn is_alive(&self) -> bool {
        Self::find(self.pid).as_ref() == Some(self)
    }
}

/// The second field is the program's name, which may contain anything; it ends with the last parenthesis.
fn start_ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    // A process that has ended stays visible until its parent has waited for it.
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

/// Whether a process of this user has a file open.
pub(crate) fn has_open(pid: u32, file: &Path) -> bool {
    let Ok(file) = file.symlink_metadata() else { return false };
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    open.filter_map(|entry| entry.path().metadata().ok())
        .any(|other| (other.dev(), other.ino()) == (file.dev(), file.ino()))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_is_recognized_until_it_ends() {
        let own = ProcessIdentity::find(std::process::id()).unwrap();
        assert!(own.is_alive());
        assert_eq!(ProcessIdentity::from_json(&serde_json::to_value(&own).unwrap()), Some(own.clone()));
        let other = ProcessIdentity { start_ticks: own.start_ticks + 1, ..own.clone() };
        assert!(!other.is_alive(), "the same id, but another process");
        assert!(!ProcessIdentity { boot: "x".to_owned(), ..own }.is_alive());
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let identity = ProcessIdentity::find(child.id()).unwrap();
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(!identity.is_alive());
    }

    #[test]
    fn the_name_of_the_program_may_contain_anything() {
        let stat = "7 (a) R 1 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        assert_eq!(start_ticks(stat), Some(4711));
        assert_eq!(start_ticks("7 (a) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"), None);
        assert_eq!(start_ticks("7 (a"), None);
    }

    #[test]
    fn an_open_file_is_found() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(has_open(std::process::id(), file.path()));
        assert!(!has_open(std::process::id(), Path::new("/nonexistent")));
    }
}

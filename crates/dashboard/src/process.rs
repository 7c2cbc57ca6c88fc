//! Tells one process from another that got the same number later.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde_json::{Value, json};

/// A process, for as long as the machine runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessIdentity {
    pub(crate) pid: u32,
    /// When it began, in the kernel's ticks since the start of the machine.
    start_ticks: u64,
    /// Which start of the machine.
    boot: String,
}

impl ProcessIdentity {
    /// A living process; `None` when there is none with this number.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned();
        Some(Self { pid, start_ticks: start_ticks(&stat)?, boot })
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({ "pid": self.pid, "startTicks": self.start_ticks, "boot": self.boot })
    }

    /// As it was written down; `None` for one that a version without it wrote.
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        Some(Self {
            pid: value["pid"].as_u64()?.try_into().ok()?,
            start_ticks: value["startTicks"].as_u64()?,
            boot: value["boot"].as_str()?.to_owned(),
        })
    }

    pub(crate) fn is_alive(&self) -> bool {
        Self::of(self.pid).as_ref() == Some(self)
    }
}

/// The name of the program comes second and may hold anything, but it ends with the last parenthesis.
fn start_ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    // A process that has ended stays until its parent has seen it.
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

/// Whether a process has a file open. Only its owner can know.
pub(crate) fn has_open(pid: u32, file: &Path) -> bool {
    let Ok(wanted) = file.symlink_metadata() else { return false };
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    open.filter_map(|entry| entry.path().metadata().ok())
        .any(|about| (about.dev(), about.ino()) == (wanted.dev(), wanted.ino()))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_is_itself_until_it_ends() {
        let own = ProcessIdentity::of(std::process::id()).unwrap();
        assert!(own.is_alive());
        assert_eq!(ProcessIdentity::from_json(&own.to_json()), Some(own.clone()));
        let other = ProcessIdentity { start_ticks: own.start_ticks + 1, ..own.clone() };
        assert!(!other.is_alive(), "the same number, but another process");
        assert!(!ProcessIdentity { boot: "x".to_owned(), ..own }.is_alive());
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let identity = ProcessIdentity::of(child.id()).unwrap();
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(!identity.is_alive());
    }

    #[test]
    fn any_name_of_a_program_is_passed_over() {
        let stat = "7 (a) R 1 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        assert_eq!(start_ticks(stat), Some(4711));
        assert_eq!(start_ticks("7 (a) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"), None);
        assert_eq!(start_ticks("7 (a"), None);
    }

    #[test]
    fn an_open_file_is_seen() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(has_open(std::process::id(), file.path()));
        assert!(!has_open(std::process::id(), Path::new("/nonexistent")));
    }
}

//! All files that a program under test may change, at one moment: to restore them, and to compare two moments.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::shell::write_file;
use crate::tree;

/// The folders of a fixture that programs write to.
pub(super) const LIVE_FOLDERS: [&str; 2] = ["home", "project"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct File {
    pub bytes: Vec<u8>,
    pub mode: u32,
}

/// Files by their path below the fixture's root. Empty folders are not part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Snapshot {
    pub files: BTreeMap<PathBuf, File>,
}

impl Snapshot {
    pub(super) fn take(root: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        for folder in LIVE_FOLDERS {
            for (name, metadata) in tree::files(&root.join(folder))? {
                let path = root.join(folder).join(&name);
                let bytes = fs::read(&path).map_err(|e| Error::io("cannot read", &path, &e))?;
                let mode = metadata.permissions().mode() & 0o7777;
                files.insert(Path::new(folder).join(name), File { bytes, mode });
            }
        }
        Ok(Self { files })
    }

    /// Removes everything else and writes these files.
    pub(super) fn restore(&self, root: &Path) -> Result<()> {
        for folder in LIVE_FOLDERS {
            tree::remove(&root.join(folder))?;
        }
        self.write(root, "")
    }

    /// Writes the files below one folder over what is there.
    pub(super) fn write(&self, root: &Path, folder: &str) -> Result<()> {
        for (name, file) in self.files.iter().filter(|(name, _)| name.starts_with(folder)) {
            let path = root.join(name);
            write_file(&path, &file.bytes)?;
            fs::set_permissions(&path, Permissions::from_mode(file.mode))
                .map_err(|e| Error::io("cannot set mode", &path, &e))?;
        }
        Ok(())
    }

    pub(super) fn get(&self, name: &Path) -> Option<&File> {
        self.files.get(name)
    }
}

const TIME: &[u8] = b"0000-00-00T00:00:00.000Z";

/// Members whose value is a measured time span.
const SPANS: [&str; 2] = ["\"durationMs\":", "\"seconds\":"];

/// The member with the seal of a file, which depends on the points in time in it.
const SEALS: [&str; 2] = ["\"seal\": \"", "\"seal\":\""];

/// The content without points in time, time spans and seals, so that two runs can be compared.
pub(super) fn without_times(bytes: &[u8]) -> Vec<u8> {
    let mut text = match String::from_utf8(map_times(bytes, |_| "<time>".to_owned())) {
        Ok(text) => text,
        Err(not_text) => return not_text.into_bytes(),
    };
    for member in SPANS {
        let mut parts = text.split(member);
        let first = parts.next().unwrap_or_default().to_owned();
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        text = parts.fold(first, |text, part| text + member + part.trim_start_matches(is_number));
    }
    for member in SEALS {
        let mut parts = text.split(member);
        let first = parts.next().unwrap_or_default().to_owned();
        let is_digit = |c: char| c.is_ascii_hexdigit();
        text = parts.fold(first, |text, part| text + member + part.trim_start_matches(is_digit));
    }
    text.into_bytes()
}

/// The content with every point in time replaced.
pub(super) fn map_times(bytes: &[u8], replace: impl Fn(&str) -> String) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if starts_with_time(&bytes[at..]) {
            let time = String::from_utf8_lossy(&bytes[at..at + TIME.len()]);
            out.extend_from_slice(replace(&time).as_bytes());
            at += TIME.len();
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    out
}

fn starts_with_time(bytes: &[u8]) -> bool {
    let fits = |(form, byte): (&u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { form == byte };
    bytes.len() >= TIME.len() && TIME.iter().zip(bytes).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_spans_are_taken_out_and_nothing_else_is() {
        let text =
            br#"{"ts":"2026-02-23T14:00:00.123Z","durationMs":12.5,"n":2026,"date":"2026-02-23T14:00","seal":"0af"}"#;
        let expected = br#"{"ts":"<time>","durationMs":,"n":2026,"date":"2026-02-23T14:00","seal":""}"#;
        assert_eq!(without_times(text), expected);
    }

    #[test]
    fn restoring_brings_back_what_was_there_and_removes_the_rest() {
        let root = tempfile::tempdir().unwrap();
        write_file(&root.path().join("home/a/b"), b"1").unwrap();
        let snapshot = Snapshot::take(root.path()).unwrap();
        write_file(&root.path().join("home/a/b"), b"2").unwrap();
        write_file(&root.path().join("project/c"), b"3").unwrap();
        assert_ne!(Snapshot::take(root.path()).unwrap(), snapshot);
        snapshot.restore(root.path()).unwrap();
        assert_eq!(Snapshot::take(root.path()).unwrap(), snapshot);
    }
}

//! All files of a sandbox at one moment: to put them back, and to tell what a run did to them.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::shell::write_file;
use crate::tree;

/// What a program may change. The rest of a sandbox (the client, its transcript) only lies there.
const LIVE: [&str; 2] = ["home", "project"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    pub bytes: Vec<u8>,
    pub mode: u32,
}

/// By path below the sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Picture {
    pub files: BTreeMap<PathBuf, File>,
}

impl Picture {
    pub(crate) fn take(root: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        for part in LIVE {
            for (name, metadata) in tree::files(&root.join(part))? {
                let path = root.join(part).join(&name);
                let bytes = fs::read(&path).map_err(|e| Error::io("cannot read", &path, &e))?;
                let mode = metadata.permissions().mode() & 0o7777;
                files.insert(Path::new(part).join(name), File { bytes, mode });
            }
        }
        Ok(Self { files })
    }

    /// Makes the sandbox look like this again.
    pub(crate) fn put(&self, root: &Path) -> Result<()> {
        for part in LIVE {
            tree::remove(&root.join(part))?;
        }
        self.add(root, "")
    }

    /// Writes the files of one part, over what is there.
    pub(crate) fn add(&self, root: &Path, part: &str) -> Result<()> {
        for (name, file) in self.files.iter().filter(|(name, _)| name.starts_with(part)) {
            let path = root.join(name);
            write_file(&path, &file.bytes)?;
            fs::set_permissions(&path, Permissions::from_mode(file.mode))
                .map_err(|e| Error::io("cannot set mode", &path, &e))?;
        }
        Ok(())
    }
}

/// A text in which every moment is the same, so that two runs can be compared.
pub(crate) fn timeless(bytes: &[u8]) -> Vec<u8> {
    with_moments(bytes, |_| "<moment>".to_owned())
}

/// A text in which every moment is another one.
pub(crate) fn with_moments(bytes: &[u8], other: impl Fn(&str) -> String) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if is_moment(&bytes[at..]) {
            let moment = String::from_utf8_lossy(&bytes[at..at + MOMENT.len()]);
            out.extend_from_slice(other(&moment).as_bytes());
            at += MOMENT.len();
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    out
}

const MOMENT: &[u8] = b"0000-00-00T00:00:00.000Z";

fn is_moment(bytes: &[u8]) -> bool {
    let fits = |(form, byte): (&u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { form == byte };
    bytes.len() >= MOMENT.len() && MOMENT.iter().zip(bytes).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_all_the_same_and_nothing_else_is() {
        let text = br#"{"ts":"2026-02-23T14:00:00.123Z","n":2026,"date":"2026-02-23"}"#;
        let wanted = br#"{"ts":"<moment>","n":2026,"date":"2026-02-23"}"#;
        assert_eq!(timeless(text), wanted);
        assert_eq!(timeless(b"2026-02-23T14:00"), b"2026-02-23T14:00");
    }

    #[test]
    fn a_picture_brings_back_what_was_there_and_takes_the_rest_away() {
        let root = tempfile::tempdir().unwrap();
        write_file(&root.path().join("home/a/b"), b"1").unwrap();
        let picture = Picture::take(root.path()).unwrap();
        write_file(&root.path().join("home/a/b"), b"2").unwrap();
        write_file(&root.path().join("project/c"), b"3").unwrap();
        assert_ne!(Picture::take(root.path()).unwrap(), picture);
        picture.put(root.path()).unwrap();
        assert_eq!(Picture::take(root.path()).unwrap(), picture);
    }
}

//! Seals: keyed hashes by which Overtone recognises what it wrote itself.
//!
//! The key is a file of the home that only the user can read. A seal tells a file of ours from one that another program has
//! changed. It does not protect against a program of the same user that reads the key and seals its own content with it.

use std::fmt;
use std::fs;
use std::hash::Hasher as _;
use std::io;
use std::path::{Path, PathBuf};

use siphasher::sip128::{Hasher128 as _, SipHasher13};

use crate::files::{self, PRIVATE};
use crate::{Home, Session};

/// The name of the key in the home.
pub(crate) const KEY_FILE: &str = "seal.key";

const KEY_BYTES: usize = 16;

/// The hexadecimal digits of a seal.
const SEAL_DIGITS: usize = 32;

/// The key of a home.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SealKey([u8; KEY_BYTES]);

/// Does not print the key.
impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey")
    }
}

/// Whether a text was sealed with this key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealState {
    Valid,
    /// There is no seal where ours would be.
    Missing,
    /// The seal is for another text, or made with another key.
    Wrong,
}

/// How a JSON object is written, which decides where its seal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `{"a":1}`, without a line break at the end.
    Compact,
    /// One member per line, and a line break at the end.
    Pretty,
}

impl Layout {
    /// What is between the last member and the seal, what follows the seal, and what the object ends with when it has none.
    const fn parts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Compact => (",\"seal\":\"", "\"}", "}"),
            Self::Pretty => (",\n  \"seal\": \"", "\"\n}\n", "\n}\n"),
        }
    }

    /// The text up to the seal, and the seal. `None` if the object has no seal as its last member.
    fn split(self, object: &[u8]) -> Option<(&[u8], &[u8])> {
        let (before, after, _) = self.parts();
        let text = object.strip_suffix(after.as_bytes())?;
        let (text, seal) = text.split_at_checked(text.len().checked_sub(SEAL_DIGITS)?)?;
        Some((text.strip_suffix(before.as_bytes())?, seal))
    }
}

impl SealKey {
    /// The seal of a content, in hexadecimal digits. It is valid only for the same label, which says what the content is and
    /// what it belongs to.
    pub fn sign(&self, label: &str, content: &[u8]) -> String {
        let mut hasher = SipHasher13::new_with_key(&self.0);
        hasher.write(label.as_bytes());
        // No label contains this byte, so no label and content can be mistaken for others.
        hasher.write(&[0]);
        hasher.write(content);
        format!("{:032x}", hasher.finish128().as_u128())
    }

    pub fn verify(&self, label: &str, content: &[u8], seal: &[u8]) -> bool {
        self.sign(label, content).as_bytes() == seal
    }

    /// Adds the seal to a JSON object, as its last member. A text that is no object of this layout stays as it is.
    pub fn seal_object(&self, label: &str, layout: Layout, object: &mut Vec<u8>) {
        let (before, after, plain_end) = layout.parts();
        let Some(text) = object.strip_suffix(plain_end.as_bytes()) else { return };
        let seal = self.sign(label, text);
        object.truncate(text.len());
        for part in [before, &seal, after] {
            object.extend_from_slice(part.as_bytes());
        }
    }

    /// Checks the seal of [`seal_object`](Self::seal_object).
    pub fn check_object(&self, label: &str, layout: Layout, object: &[u8]) -> SealState {
        match layout.split(object) {
            None => SealState::Missing,
            Some((text, seal)) if self.verify(label, text, seal) => SealState::Valid,
            Some(_) => SealState::Wrong,
        }
    }
}

/// Whether a JSON object has a seal where ours would be, valid or not.
pub(crate) fn has_seal(layout: Layout, object: &[u8]) -> bool {
    layout.split(object).is_some()
}

impl Home {
    fn key_file(&self) -> PathBuf {
        self.root().join(KEY_FILE)
    }

    /// The key. If there is none, it is created, unless another process holds the home's lock: then the result is `None`,
    /// and what is written now is sealed the next time.
    pub fn seal_key(&self) -> io::Result<Option<SealKey>> {
        if let Some(key) = read_key(&self.key_file())? {
            return Ok(Some(key));
        }
        self.create()?;
        match files::try_lock_file(&self.lock_path())? {
            Some(_lock) => self.create_seal_key().map(Some),
            None => Ok(None),
        }
    }

    /// Creates the key unless there is one. The caller holds the home's lock.
    pub(crate) fn create_seal_key(&self) -> io::Result<SealKey> {
        let path = self.key_file();
        if let Some(key) = read_key(&path)? {
            return Ok(key);
        }
        let mut key = [0; KEY_BYTES];
        io::Read::read_exact(&mut fs::File::open("/dev/urandom")?, &mut key)?;
        files::write_atomic(&path, &key, PRIVATE)?;
        Ok(SealKey(key))
    }
}

/// The key in a file. A file of another length is no key.
fn read_key(path: &Path) -> io::Result<Option<SealKey>> {
    let Some(file) = files::open_to_read(path)? else { return Ok(None) };
    let bytes = files::read_to_end(&file, KEY_BYTES as u64, KEY_BYTES as u64 + 1)?;
    Ok(bytes.try_into().ok().map(SealKey))
}

impl Session {
    /// The home that the session belongs to.
    fn home(&self) -> Option<Home> {
        let root = self.dir().parent()?.parent()?;
        Some(Home::at(root.to_owned()))
    }

    /// The key that the session's files are sealed with; `None` if there is none.
    pub(crate) fn existing_seal_key(&self) -> io::Result<Option<SealKey>> {
        match self.home() {
            Some(home) => read_key(&home.key_file()),
            None => Ok(None),
        }
    }

    /// The key to seal with. See [`Home::seal_key`].
    pub fn seal_key(&self) -> io::Result<Option<SealKey>> {
        match self.home() {
            Some(home) => home.seal_key(),
            None => Ok(None),
        }
    }

    /// The label of a file of this session, for [`SealKey::sign`].
    pub fn seal_label(&self, file: &str) -> String {
        format!("{file} {}", self.id())
    }

    /// Adds a seal to the content of a small JSON file of the session, if there is a key.
    pub fn seal_file(&self, file: &str, layout: Layout, content: &mut Vec<u8>) -> io::Result<()> {
        if let Some(key) = self.seal_key()? {
            key.seal_object(&self.seal_label(file), layout, content);
        }
        Ok(())
    }

    /// Checks the content of a file that [`seal_file`](Self::seal_file) has sealed. Without a key, every seal is wrong.
    pub fn check_file(&self, file: &str, layout: Layout, content: &[u8]) -> io::Result<SealState> {
        if !has_seal(layout, content) {
            return Ok(SealState::Missing);
        }
        match self.existing_seal_key()? {
            Some(key) => Ok(key.check_object(&self.seal_label(file), layout, content)),
            None => Ok(SealState::Wrong),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::SessionId;

    fn key(byte: u8) -> SealKey {
        SealKey([byte; KEY_BYTES])
    }

    #[test]
    fn a_seal_is_valid_only_for_its_key_label_and_content() {
        let seal = key(1).sign("tree.json s", b"content");
        assert_eq!(seal.len(), SEAL_DIGITS);
        assert!(key(1).verify("tree.json s", b"content", seal.as_bytes()));
        for (key, label, content) in [
            (key(2), "tree.json s", "content"),
            (key(1), "tree.json other", "content"),
            (key(1), "tree.json s", "Content"),
            (key(1), "tree.json ", "s\0content"),
            (key(1), "", ""),
        ] {
            assert!(!key.verify(label, content.as_bytes(), seal.as_bytes()), "{label} {content}");
        }
    }

    #[test]
    fn an_object_stays_json_and_every_change_of_it_is_found() {
        for (layout, plain) in [(Layout::Compact, "{\"a\":1}"), (Layout::Pretty, "{\n  \"a\": 1\n}\n")] {
            assert_eq!(key(1).check_object("l", layout, plain.as_bytes()), SealState::Missing);
            let mut sealed = plain.as_bytes().to_vec();
            key(1).seal_object("l", layout, &mut sealed);
            let value: serde_json::Value = serde_json::from_slice(&sealed).unwrap();
            assert_eq!((&value["a"], value["seal"].as_str().unwrap().len()), (&1.into(), SEAL_DIGITS));
            assert_eq!(key(1).check_object("l", layout, &sealed), SealState::Valid);
            assert_eq!(key(2).check_object("l", layout, &sealed), SealState::Wrong);
            for at in 0..sealed.len() {
                let mut changed = sealed.clone();
                changed[at] ^= 1;
                assert_ne!(key(1).check_object("l", layout, &changed), SealState::Valid, "byte {at}");
            }
        }
    }

    #[test]
    fn what_is_no_object_is_not_sealed() {
        for text in ["", "[]", "7", "{", "x"] {
            let mut content = text.as_bytes().to_vec();
            key(1).seal_object("l", Layout::Compact, &mut content);
            assert_eq!(content, text.as_bytes());
            assert_eq!(key(1).check_object("l", Layout::Compact, &content), SealState::Missing);
        }
    }

    #[test]
    fn the_key_is_created_once_and_only_the_user_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("o"));
        let first = home.seal_key().unwrap().unwrap();
        assert_eq!(home.seal_key().unwrap(), Some(first));
        let mode = fs::metadata(home.key_file()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_ne!(Home::at(folder.path().join("p")).seal_key().unwrap(), Some(first));
        assert!(!format!("{first:?}").contains(|c: char| c.is_ascii_digit()));
    }

    #[test]
    fn nobody_waits_for_the_home_to_create_a_key() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("o"));
        home.create().unwrap();
        let held = files::try_lock_file(&home.lock_path()).unwrap().unwrap();
        assert_eq!(home.seal_key().unwrap(), None);
        drop(held);
        drop(home.lock().unwrap());
        assert!(read_key(&home.key_file()).unwrap().is_some(), "the lock of the home creates the key");
    }

    #[test]
    fn a_file_of_a_session_is_checked_with_the_key_of_its_home() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().to_owned());
        let session = |id| home.session(&SessionId::parse(id).unwrap());
        let mut content = b"{\"a\":1}".to_vec();
        session("one").seal_file("x.json", Layout::Compact, &mut content).unwrap();
        let check = |id, file| session(id).check_file(file, Layout::Compact, &content).unwrap();
        assert_eq!(check("one", "x.json"), SealState::Valid);
        assert_eq!(check("two", "x.json"), SealState::Wrong);
        assert_eq!(check("one", "y.json"), SealState::Wrong);
        fs::remove_file(home.key_file()).unwrap();
        assert_eq!(check("one", "x.json"), SealState::Wrong);
    }
}

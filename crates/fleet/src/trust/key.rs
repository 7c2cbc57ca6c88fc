//! The Ed25519 key of a machine. It is generated once and kept in a private file.

use std::fmt;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use overtone_store::{Home, create_private_dir, files};
use ring::digest::{SHA256, digest};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

use crate::hex;
use crate::machine::{fleet_dir, random_bytes};

const SEED_BYTES: usize = 32;

/// How many bytes of a key's hash are in its fingerprint: enough that no second key with the same one can be found.
const FINGERPRINT_BYTES: usize = 10;

/// A public key. It is serialized as 64 hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// Whether the signature of these bytes was made with this key.
    pub(crate) fn verifies(&self, bytes: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0).verify(bytes, signature).is_ok()
    }

    /// A short form for users to compare: `1f3a-…`, five groups of four digits.
    pub fn fingerprint(&self) -> String {
        let digits = hex::encode(&digest(&SHA256, &self.0).as_ref()[..FINGERPRINT_BYTES]);
        let groups: Vec<_> = (0..digits.len()).step_by(4).map(|at| &digits[at..at + 4]).collect();
        groups.join("-")
    }

    pub(crate) const fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl TryFrom<String> for PublicKey {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let bytes = hex::decode(&text).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        bytes.map(Self).ok_or("not a public key")
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> Self {
        hex::encode(&key.0)
    }
}

/// The private key of this machine. It never leaves its file and this value.
pub(crate) struct MachineKey {
    pair: Ed25519KeyPair,
    public: PublicKey,
}

impl fmt::Debug for MachineKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MachineKey").field("public", &self.public).finish_non_exhaustive()
    }
}

fn key_file(home: &Home) -> PathBuf {
    fleet_dir(home).join("machine.key")
}

impl MachineKey {
    /// Loads the key from the home's fleet folder, or generates it.
    pub(crate) fn load_or_create(home: &Home) -> io::Result<Self> {
        let path = key_file(home);
        if let Some(seed) = read_seed(&path)? {
            return Self::from_seed(&seed);
        }
        create_private_dir(&fleet_dir(home))?;
        let _lock = files::lock_file(&fleet_dir(home).join("machine.lock"), files::lock_timeout())?;
        // Another process may have created it meanwhile.
        if let Some(seed) = read_seed(&path)? {
            return Self::from_seed(&seed);
        }
        let seed = random_bytes(SEED_BYTES)?;
        files::write_atomic(&path, format!("{}\n", hex::encode(&seed)).as_bytes(), files::PRIVATE)?;
        Self::from_seed(&seed)
    }

    /// A key that is not stored, for connections that belong to no machine.
    pub(crate) fn temporary() -> io::Result<Self> {
        Self::from_seed(&random_bytes(SEED_BYTES)?)
    }

    pub(super) fn from_seed(seed: &[u8]) -> io::Result<Self> {
        let unusable = || io::Error::new(io::ErrorKind::InvalidData, "the machine's key cannot be used");
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| unusable())?;
        let public = <[u8; 32]>::try_from(pair.public_key().as_ref()).map_err(|_| unusable())?;
        Ok(Self { pair, public: PublicKey(public) })
    }

    pub(crate) const fn public(&self) -> &PublicKey {
        &self.public
    }

    pub(crate) fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        self.pair.sign(bytes).as_ref().to_vec()
    }
}

/// `None` if there is no such file. A file that other users may read is rejected, because they could sign as this
/// machine.
fn read_seed(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let Some(text) = files::read_small(path)? else { return Ok(None) };
    let mode = path.symlink_metadata()?.permissions().mode();
    if mode & 0o077 != 0 {
        let why = format!("{}: other users may read this key\nhint: chmod 600 {0}", path.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    match hex::decode(text.trim()) {
        Some(seed) if seed.len() == SEED_BYTES => Ok(Some(seed)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, format!("{}: not a key", path.display()))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        (dir, home)
    }

    #[test]
    fn a_key_is_generated_once_and_is_private() {
        let (_dir, home) = home();
        let key = MachineKey::load_or_create(&home).unwrap();
        assert_eq!(MachineKey::load_or_create(&home).unwrap().public(), key.public());
        let mode = fs::metadata(key_file(&home)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let signature = key.sign(b"text");
        assert!(key.public().verifies(b"text", &signature) && !key.public().verifies(b"tex", &signature));
    }

    #[test]
    fn an_invalid_key_or_one_that_others_may_read_is_rejected_and_kept() {
        let (_dir, home) = home();
        MachineKey::load_or_create(&home).unwrap();
        let text = fs::read_to_string(key_file(&home)).unwrap();
        fs::set_permissions(key_file(&home), fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(MachineKey::load_or_create(&home).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(fs::read_to_string(key_file(&home)).unwrap(), text);
        files::write_atomic(&key_file(&home), b"what is this", files::PRIVATE).unwrap();
        assert_eq!(MachineKey::load_or_create(&home).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_public_key_is_serialized_as_digits_and_shown_as_a_fingerprint() {
        let key = MachineKey::from_seed(&[7; 32]).unwrap();
        let text = String::from(key.public().clone());
        assert_eq!(PublicKey::try_from(text.clone()).unwrap(), *key.public());
        assert!(PublicKey::try_from(text[2..].to_owned()).is_err());
        assert!(PublicKey::try_from("zz".repeat(32)).is_err());
        assert_eq!(key.public().fingerprint().len(), 24);
        assert!(!format!("{key:?}").contains(&hex::encode(&[7; 32])));
    }
}

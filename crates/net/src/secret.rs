//! Tokens and keys, kept out of everything that is written or shown.

use std::fmt;
use std::path::Path;

use overtone_store::files;

const HIDDEN: &str = "****";

/// A value that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// Why a secret cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretError {
    /// The variable is not set.
    Variable(String),
    /// The file cannot be read.
    File(String),
    /// Others on this machine can read the file.
    Open,
    /// Blanks, line breaks or nothing at all.
    Unusable,
}

impl Secret {
    /// A token: printable ASCII without blanks. Surrounding white space is removed.
    pub fn new(text: &str) -> Result<Self, SecretError> {
        let text = text.trim();
        let is_usable = !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
        if is_usable { Ok(Self(text.to_owned())) } else { Err(SecretError::Unusable) }
    }

    /// The value of a header, which may contain blanks and more.
    pub fn from_header_value(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Reads a token from a file that only its owner can read.
    pub fn from_file(path: &Path) -> Result<Self, SecretError> {
        use std::os::unix::fs::PermissionsExt;
        let failed = |error: std::io::Error| SecretError::File(error.to_string());
        let about = path.symlink_metadata().map_err(failed)?;
        if about.permissions().mode() & 0o077 != 0 {
            return Err(SecretError::Open);
        }
        let text = files::read_small(path).map_err(failed)?;
        Self::new(&text.ok_or(SecretError::Unusable)?)
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The text with this secret replaced by asterisks.
    pub fn hide_in(&self, text: &str) -> String {
        text.replace(&self.0, HIDDEN)
    }
}

/// The name in `${NAME}`, if a value is nothing else.
pub fn variable_reference(value: &str) -> Option<&str> {
    let name = value.strip_prefix("${")?.strip_suffix('}')?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_secret_is_not_shown() {
        let secret = Secret::new(" 12:abc\n").unwrap();
        assert_eq!(format!("{secret:?}"), HIDDEN);
        assert_eq!(secret.hide_in("https://x/bot12:abc/y"), "https://x/bot****/y");
        assert_eq!(Secret::new("a b"), Err(SecretError::Unusable));
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        files::write_atomic(&path, b"12:abc\n", 0o600).unwrap();
        assert_eq!(Secret::from_file(&path).unwrap().reveal(), "12:abc");
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        assert_eq!(Secret::from_file(&path), Err(SecretError::Open));
        assert!(matches!(Secret::from_file(&dir.path().join("none")), Err(SecretError::File(_))));
    }

    #[test]
    fn only_a_whole_reference_is_one() {
        assert_eq!(variable_reference("${A_1}"), Some("A_1"));
        for other in ["A", "$A", "${}", "${A", "${A}x", "${a-b}"] {
            assert_eq!(variable_reference(other), None, "{other}");
        }
    }
}

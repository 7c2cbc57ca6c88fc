//! `checks.json`: the checks of a session's workflow, as the project's file defined them when the workflow started.
//!
//! A running workflow uses only this copy, so an agent that rewrites `overtone.toml` changes nothing for it. The copy is
//! sealed: one that another program has changed is an error.

use std::fs;
use std::io;
use std::path::PathBuf;

use overtone_core::evidence::Check;
use serde_json::{Value, json};

use crate::files::{self, PRIVATE};
use crate::seal::{Layout, SealState};
use crate::{Session, StoreError, check_definitions};

/// The name of the file in the session's folder.
pub const CHECKS_FILE: &str = "checks.json";

impl Session {
    fn pinned_checks_file(&self) -> PathBuf {
        self.dir().join(CHECKS_FILE)
    }

    /// Whether the workflow has checks. Cheaper than reading them.
    pub fn has_pinned_checks(&self) -> bool {
        fs::symlink_metadata(self.pinned_checks_file()).is_ok()
    }

    /// The checks of the workflow. A file that cannot be read is an error, so that a stage does not pass because of it.
    pub fn pinned_checks(&self) -> Result<Vec<Check>, StoreError> {
        let path = self.pinned_checks_file();
        let Some(text) = files::read_small(&path).map_err(|error| StoreError::io(&path, error))? else {
            return Ok(Vec::new());
        };
        let seal = self.check_file(CHECKS_FILE, Layout::Compact, text.as_bytes());
        if seal.map_err(|error| StoreError::io(&path, error))? != SealState::Valid {
            return Err(StoreError::untrusted(&path));
        }
        let document: Value =
            serde_json::from_str(&text).map_err(|error| StoreError::broken(&path, error.to_string()))?;
        match check_definitions::from_json(&document["checks"]) {
            Some(checks) => Ok(checks),
            None => Err(StoreError::broken(&path, "not the definitions of checks")),
        }
    }

    /// Fixes the checks of a workflow that starts, in place of those of the workflow before. The caller holds the lock.
    pub fn pin_checks(&self, checks: &[Check]) -> Result<(), StoreError> {
        let path = self.pinned_checks_file();
        let written = if checks.is_empty() {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            }
        } else {
            let document = json!({ "checks": check_definitions::to_json(checks) });
            let mut content = document.to_string().into_bytes();
            self.seal_file(CHECKS_FILE, Layout::Compact, &mut content)
                .and_then(|()| files::write_atomic(&path, &content, PRIVATE))
        };
        written.map_err(|error| StoreError::io(&path, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check_definitions::sample;
    use crate::{Home, SessionId};

    #[test]
    fn the_checks_of_a_workflow_replace_those_of_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let session = Home::at(folder.path().to_owned()).session(&SessionId::parse("s").unwrap());
        session.create().unwrap();
        assert!(!session.has_pinned_checks() && session.pinned_checks().unwrap().is_empty());
        let checks = [sample("test", "make test")];
        session.pin_checks(&checks).unwrap();
        assert!(session.has_pinned_checks());
        assert_eq!(session.pinned_checks().unwrap(), checks);
        session.pin_checks(&[]).unwrap();
        session.pin_checks(&[]).unwrap();
        assert!(!session.has_pinned_checks());
        session.pin_checks(&checks).unwrap();
        let pinned = fs::read_to_string(session.pinned_checks_file()).unwrap();
        let bad_name = r#"{"checks":[{"name":"../x","run":"x","stages":[],"timeoutMs":1}]}"#;
        let mut sealed = bad_name.as_bytes().to_vec();
        session.seal_file(CHECKS_FILE, Layout::Compact, &mut sealed).unwrap();
        let bad_name = String::from_utf8(sealed).unwrap();
        for broken in ["", "[]", "{}", &bad_name, &pinned.replace("make test", "true")] {
            files::write_atomic(&session.pinned_checks_file(), broken.as_bytes(), PRIVATE).unwrap();
            assert!(session.pinned_checks().is_err(), "{broken}");
        }
    }
}

//! `tree.json`: the work tree as it was when it was last looked at.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;

use overtone_core::evidence::SourceTests;
use overtone_store::files::{self, PRIVATE};
use overtone_store::seal::{Layout, SealState};
use overtone_store::{Session, StoreError, Transaction};
use serde::{Deserialize, Serialize};

use crate::evidence::work_tree::{DeclaredTests, FileState, Source, WorkTree};

/// A list of 20,000 paths with their digests has a few megabytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TreeJson {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    missing_tests: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    disabled_tests: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    missing_assertions: Vec<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    replacements: Vec<u32>,
    files: BTreeMap<String, FileJson>,
}

#[derive(Serialize, Deserialize)]
struct FileJson {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    tests: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    skipped: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    assertions: Vec<u32>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The name of the file in the session's folder.
pub(crate) const TREE_FILE: &str = "tree.json";

fn path_in(session: &Session) -> PathBuf {
    session.dir().join(TREE_FILE)
}

pub(crate) fn exists(session: &Session) -> bool {
    fs::symlink_metadata(path_in(session)).is_ok()
}

/// Whether the file has a seal that is not ours for this content, or none at all.
pub(crate) fn was_edited(session: &Session) -> bool {
    match files::read_limited(&path_in(session), MAX_BYTES) {
        Ok(Some(bytes)) => !is_ours(session, &bytes),
        Ok(None) | Err(_) => false,
    }
}

fn is_ours(session: &Session, bytes: &[u8]) -> bool {
    matches!(session.check_file(TREE_FILE, Layout::Compact, bytes), Ok(SealState::Valid))
}

/// `None` if there is no such file, or it is not one of ours.
pub(crate) fn read(session: &Session) -> Option<WorkTree> {
    let bytes = files::read_limited(&path_in(session), MAX_BYTES).ok()??;
    if !is_ours(session, &bytes) {
        return None;
    }
    let tree: TreeJson = serde_json::from_slice(&bytes).ok()?;
    let source = match tree.base {
        Some(base) => Source::Git { base },
        None => Source::Folder,
    };
    let files = tree.files.into_iter().map(|(path, file)| {
        let counts = SourceTests { tests: file.tests, skipped: file.skipped };
        let tests = DeclaredTests { counts, assertions: file.assertions };
        (path, FileState { digest: file.digest, tests })
    });
    let counts = SourceTests { tests: tree.missing_tests, skipped: tree.disabled_tests };
    let missing = DeclaredTests { counts, assertions: tree.missing_assertions };
    Some(WorkTree { source, files: files.collect(), missing, replacements: tree.replacements })
}

/// Adds the tree to a transaction under the session's lock.
pub(crate) fn put(
    transaction: &mut Transaction,
    session: &Session,
    tree: &WorkTree,
) -> Result<(), StoreError> {
    transaction.put_sealed(session, TREE_FILE, Layout::Compact, to_json(tree))
}

/// Stores the tree. The caller holds the session's lock. Without one, the stored tree is removed, so that nothing is compared with an older state.
pub(crate) fn write(session: &Session, tree: Option<&WorkTree>) -> Result<(), StoreError> {
    let path = path_in(session);
    let written = match tree {
        Some(tree) => {
            let mut content = to_json(tree);
            session
                .seal_file(TREE_FILE, Layout::Compact, &mut content)
                .and_then(|()| files::write_atomic(&path, &content, PRIVATE))
        }
        None => match files::remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
    };
    written.map_err(|error| StoreError::io(&path, error))
}

fn to_json(tree: &WorkTree) -> Vec<u8> {
    let base = match &tree.source {
        Source::Git { base } => Some(base.clone()),
        Source::Folder => None,
    };
    let files = tree.files.iter().map(|(path, state)| {
        let SourceTests { tests, skipped } = state.tests.counts;
        let (digest, assertions) = (state.digest.clone(), state.tests.assertions.clone());
        (path.clone(), FileJson { digest, tests, skipped, assertions })
    });
    let SourceTests { tests: missing_tests, skipped: disabled_tests } = tree.missing.counts;
    let missing_assertions = tree.missing.assertions.clone();
    let tree = TreeJson {
        base,
        missing_tests,
        disabled_tests,
        missing_assertions,
        replacements: tree.replacements.clone(),
        files: files.collect(),
    };
    serde_json::to_vec(&tree).unwrap_or_default()
}

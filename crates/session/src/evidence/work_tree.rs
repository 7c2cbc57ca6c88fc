//! The work tree: which files differ from the state in which the workflow began, and a fingerprint of all of them.
//!
//! With git, only files that differ from the commit at the beginning are read, and ignored files do not count. The
//! fingerprint does not change when the same content is committed. Without git, the files are found by walking the folder.

mod git;
mod stored;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use overtone_core::evidence::{
    AssertionChange, SourceTests, TreeChange, WorkflowChange, assertions_in_source, count_in_source,
};
use overtone_store::{Session, StoreError, Transaction, files};
use sha2::{Digest as _, Sha256};

pub(crate) use stored::TREE_FILE;

/// Folders of the project that are not part of the work: the documents of the workflow itself.
const IGNORED: [&str; 1] = ["specs"];

/// More files are not compared one by one. A change of that size is a fact by itself.
const MAX_FILES: usize = 20_000;

/// Larger files are identified by their size and times instead of their content.
const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;

/// How much is read altogether before only sizes and times are used.
const MAX_TOTAL_BYTES: u64 = 128 * 1024 * 1024;

/// Sources with tests are text files of a reasonable size.
const MAX_SOURCE_BYTES: u64 = 1024 * 1024;

/// The state of a file: its digest, and what it tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FileState {
    /// `None` if the file is gone.
    digest: Option<String>,
    tests: DeclaredTests,
}

/// The tests that a file declares, and a number for each of their assertions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DeclaredTests {
    counts: SourceTests,
    assertions: Vec<u32>,
}

/// Where the files of a project are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// Files that differ from this commit.
    Git { base: String },
    /// All files.
    Folder,
}

/// The work tree at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkTree {
    source: Source,
    files: BTreeMap<String, FileState>,
    /// The tests that a failed attempt has removed, and those that it has disabled, with the assertions that it has removed or
    /// changed. They are missing until they are restored or an agent explains why, although later attempts start without them.
    missing: DeclaredTests,
    /// The assertions that it has put in their place.
    replacements: Vec<u32>,
}

impl WorkTree {
    /// The work tree as the beginning of a workflow. `None` if it is too large or cannot be read.
    pub fn at_beginning(project: &Path) -> Option<Self> {
        let source = match git::head(project) {
            Some(base) => Source::Git { base },
            None => Source::Folder,
        };
        Self::read(project, source)
    }

    /// The work tree as it is now. `None` if it is too large or cannot be read.
    pub fn now(&self, project: &Path) -> Option<Self> {
        let now = Self::read(project, self.source.clone())?;
        Some(Self { missing: self.missing.clone(), replacements: self.replacements.clone(), ..now })
    }

    fn read(project: &Path, source: Source) -> Option<Self> {
        let paths = match &source {
            Source::Git { base } => git::changed_files(project, base)?,
            Source::Folder => walk::all_files(project, MAX_FILES)?,
        };
        if paths.len() > MAX_FILES {
            return None;
        }
        let mut budget = MAX_TOTAL_BYTES;
        let mut files = BTreeMap::new();
        for path in paths.into_iter().filter(|path| !is_ignored(path)) {
            let state = read_file(&project.join(&path), &path, &mut budget)?;
            files.insert(path, state);
        }
        Some(Self { source, files, missing: DeclaredTests::default(), replacements: Vec::new() })
    }

    /// The tree as the state from which the next attempt starts, if this one has failed with these changes.
    #[must_use]
    pub(crate) fn after_failure(mut self, changes: &TreeChanges) -> Self {
        let (before, after) = (changes.summary.tests_before, changes.summary.tests_after);
        self.missing = DeclaredTests {
            counts: SourceTests {
                tests: before.tests.saturating_sub(after.tests),
                skipped: after.skipped.saturating_sub(before.skipped),
            },
            assertions: changes.gone.clone(),
        };
        self.replacements = if changes.gone.is_empty() { Vec::new() } else { changes.added.clone() };
        self
    }

    /// The tree as the state from which the next agent starts.
    #[must_use]
    pub(crate) fn after_pass(mut self) -> Self {
        self.missing = DeclaredTests::default();
        self.replacements.clear();
        self
    }

    /// The fingerprint of the whole tree. Equal trees have equal fingerprints, also after a commit.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        if let Source::Git { base } = &self.source {
            hash.update(base.as_bytes());
        }
        for (path, state) in &self.files {
            hash.update(path.as_bytes());
            hash.update([0]);
            hash.update(state.digest.as_deref().unwrap_or("-").as_bytes());
            hash.update([0]);
        }
        hex(&hash.finalize())
    }

    /// What has changed since the workflow began. `None` without git, since the files at the beginning are not known then.
    pub(crate) fn workflow_change(&self) -> Option<WorkflowChange> {
        match &self.source {
            Source::Git { base } => {
                Some(WorkflowChange { base: base.clone(), files: self.files.keys().cloned().collect() })
            }
            Source::Folder => None,
        }
    }

    /// The files that differ from the beginning of the workflow.
    pub fn changed_files(&self) -> Vec<String> {
        match self.source {
            Source::Git { .. } => self.files.keys().cloned().collect(),
            Source::Folder => Vec::new(),
        }
    }

    /// What has changed since `earlier`, with the tests before and after.
    pub fn changes_since(&self, earlier: &Self, project: &Path) -> TreeChanges {
        let all: BTreeSet<&String> = self.files.keys().chain(earlier.files.keys()).collect();
        let changed: Vec<&String> =
            all.into_iter().filter(|path| self.files.get(*path) != earlier.files.get(*path)).collect();
        let unlisted: Vec<&str> = changed
            .iter()
            .filter(|path| !self.files.contains_key(**path) || !earlier.files.contains_key(**path))
            .map(|path| path.as_str())
            .collect();
        // A file that is listed in one of the two only is as it was at the beginning in the other.
        let at_beginning = match &self.source {
            Source::Git { base } => git::files_at(project, base, &unlisted),
            Source::Folder => BTreeMap::new(),
        };
        let tests_in = |tree: &Self, path: &String| match tree.files.get(path) {
            Some(state) => state.tests.clone(),
            None => match at_beginning.get(path.as_str()) {
                Some(text) => DeclaredTests::read(path, text),
                None => DeclaredTests::default(),
            },
        };
        let missing = &earlier.missing;
        let mut summary = TreeChange::default();
        let (mut before, mut after) = (missing.assertions.clone(), Vec::new());
        for path in changed {
            let (then, now) = (tests_in(earlier, path), tests_in(self, path));
            summary.tests_before += then.counts;
            summary.tests_after += now.counts;
            before.extend(then.assertions);
            after.extend(now.assertions);
            summary.files.push(path.clone());
        }
        summary.tests_before += SourceTests { tests: missing.counts.tests, skipped: 0 };
        summary.tests_after += SourceTests { tests: 0, skipped: missing.counts.skipped };
        before.sort_unstable();
        after.sort_unstable();
        earlier.compare_assertions(summary, &before, &after)
    }

    /// Compares the assertions of the changed files in this earlier tree with those of now. Both lists are sorted.
    fn compare_assertions(&self, summary: TreeChange, before: &[u32], after: &[u32]) -> TreeChanges {
        let (mut gone, added) = (without(before, after), without(after, before));
        let mut expected = before.len();
        if without(&self.missing.assertions, after).is_empty() {
            // What a failed attempt had put in the place of the missing ones may go when they are back.
            gone = without(&gone, &self.replacements);
            expected = expected.saturating_sub(self.replacements.len());
        }
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let assertions =
            AssertionChange { before: count(expected), after: count(after.len()), gone: count(gone.len()) };
        TreeChanges { summary: TreeChange { assertions, ..summary }, gone, added }
    }
}

/// What has changed between two states of a work tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeChanges {
    pub summary: TreeChange,
    /// The assertions that were removed or changed.
    gone: Vec<u32>,
    /// The assertions that are new.
    added: Vec<u32>,
}

/// The numbers of the first list that the second one does not have, each as often as it is missing. Both are sorted.
fn without(list: &[u32], other: &[u32]) -> Vec<u32> {
    let mut others = other.iter().peekable();
    let mut left = Vec::new();
    for number in list {
        while others.next_if(|other| *other < number).is_some() {}
        if others.next_if(|other| *other == number).is_none() {
            left.push(*number);
        }
    }
    left
}

/// Stores the work tree at the beginning of a workflow, for comparison with later states. Without a tree, that of an earlier
/// workflow is removed, and changes are not judged.
pub fn record_baseline(session: &Session, tree: Option<&WorkTree>) -> Result<(), StoreError> {
    stored::write(session, tree)
}

impl WorkTree {
    /// Whether a tree was stored. Cheaper than reading it.
    pub(crate) fn is_recorded(session: &Session) -> bool {
        stored::exists(session)
    }

    /// Whether another program has changed the stored tree. It is not used then.
    pub(crate) fn was_edited(session: &Session) -> bool {
        stored::was_edited(session)
    }

    /// The tree that was stored last.
    pub fn stored(session: &Session) -> Option<Self> {
        stored::read(session)
    }

    /// Stores the tree, for comparison with later states. The caller holds the session's lock.
    pub(crate) fn store(&self, session: &Session) -> Result<(), StoreError> {
        stored::write(session, Some(self))
    }

    /// Adds the tree to the state that is about to be written.
    pub(crate) fn put(&self, transaction: &mut Transaction, session: &Session) -> Result<(), StoreError> {
        stored::put(transaction, session, self)
    }
}

fn is_ignored(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    IGNORED.contains(&first)
}

/// The state of a file. `None` if it cannot even be found out whether it is there.
fn read_file(path: &Path, name: &str, budget: &mut u64) -> Option<FileState> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Some(FileState::default());
        }
        Err(_) => return None,
    };
    let mode = metadata.mode() & 0o111;
    if metadata.is_symlink() {
        let target = fs::read_link(path).unwrap_or_default();
        let digest = digest_of(target.as_os_str().as_encoded_bytes(), "link");
        return Some(FileState { digest: Some(digest), ..FileState::default() });
    }
    let length = metadata.len();
    if metadata.is_file()
        && length <= MAX_FILE_BYTES.min(*budget)
        && let Ok(Some(bytes)) = read_bytes(path)
    {
        *budget = budget.saturating_sub(length);
        return Some(FileState {
            digest: Some(digest_of(&bytes, &mode.to_string())),
            tests: tests_in(name, &bytes),
        });
    }
    let times = (metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec());
    let digest = digest_of(format!("{length} {times:?}").as_bytes(), "unread");
    Some(FileState { digest: Some(digest), ..FileState::default() })
}

fn read_bytes(path: &Path) -> io::Result<Option<Vec<u8>>> {
    files::read_limited(path, MAX_FILE_BYTES)
}

fn tests_in(name: &str, bytes: &[u8]) -> DeclaredTests {
    if bytes.len() as u64 > MAX_SOURCE_BYTES {
        return DeclaredTests::default();
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => DeclaredTests::read(name, text),
        Err(_) => DeclaredTests::default(),
    }
}

impl DeclaredTests {
    fn read(path: &str, text: &str) -> Self {
        Self { counts: count_in_source(path, text), assertions: assertions_in_source(path, text) }
    }
}

fn digest_of(bytes: &[u8], kind: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(kind.as_bytes());
    hash.update([0]);
    hash.update(bytes);
    hex(&hash.finalize()[..16])
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(project: &Path, arguments: &[&str]) {
        let identity =
            ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
        let output =
            Command::new("git").current_dir(project).args(identity).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn put(project: &Path, name: &str, text: &str) {
        let path = project.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        files::write_atomic(&path, text.as_bytes(), 0o644).unwrap();
    }

    const ONE_TEST: &str = "def test_one():\n    assert True\n";

    /// A repository with a source, a test and an ignored folder.
    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "-q"]);
        put(folder.path(), "src/a.py", "a = 1\n");
        put(folder.path(), "tests/test_a.py", ONE_TEST);
        put(folder.path(), ".gitignore", "out/\n");
        git(folder.path(), &["add", "-A"]);
        git(folder.path(), &["commit", "-qm", "first"]);
        folder
    }

    #[test]
    fn ignored_files_and_specs_are_not_part_of_the_work() {
        for project in [repository(), tempfile::tempdir().unwrap()] {
            let before = WorkTree::at_beginning(project.path()).unwrap();
            put(project.path(), "out/result", "x");
            put(project.path(), "specs/features/in-progress/x/tasks.md", "- [x] a\n");
            let after = before.now(project.path()).unwrap();
            assert_eq!(after.fingerprint(), before.fingerprint());
            assert_eq!(after.changes_since(&before, project.path()), TreeChanges::default());
        }
    }

    #[test]
    fn a_commit_does_not_change_the_fingerprint() {
        let project = repository();
        let beginning = WorkTree::at_beginning(project.path()).unwrap();
        put(project.path(), "src/a.py", "a = 2\n");
        put(project.path(), "src/new.py", "b = 1\n");
        let changed = beginning.now(project.path()).unwrap();
        assert_ne!(changed.fingerprint(), beginning.fingerprint());
        assert_eq!(changed.changed_files(), ["src/a.py", "src/new.py"]);
        git(project.path(), &["add", "-A"]);
        git(project.path(), &["commit", "-qm", "second"]);
        assert_eq!(beginning.now(project.path()).unwrap().fingerprint(), changed.fingerprint());
        put(project.path(), "src/a.py", "a = 1\n");
        fs::remove_file(project.path().join("src/new.py")).unwrap();
        assert_eq!(beginning.now(project.path()).unwrap().fingerprint(), beginning.fingerprint());
    }

    #[test]
    fn deleted_and_disabled_tests_are_counted_and_moved_ones_are_not() {
        for is_repository in [true, false] {
            let project = repository();
            if !is_repository {
                fs::remove_dir_all(project.path().join(".git")).unwrap();
            }
            let beginning = WorkTree::at_beginning(project.path()).unwrap();
            let change = || beginning.now(project.path()).unwrap().changes_since(&beginning, project.path());
            put(
                project.path(),
                "tests/test_a.py",
                &format!("import pytest\n\n@pytest.mark.skip\n{ONE_TEST}"),
            );
            assert!(change().summary.removes_tests(), "{:?}", change());
            fs::remove_file(project.path().join("tests/test_a.py")).unwrap();
            assert!(change().summary.removes_tests(), "{:?}", change());
            put(project.path(), "tests/test_b.py", ONE_TEST);
            assert!(!change().summary.removes_tests(), "{:?}", change());
            assert_eq!(change().summary.files, ["tests/test_a.py", "tests/test_b.py"]);
        }
    }

    /// Otherwise a stage that failed for removed tests would pass at the next attempt without them.
    #[test]
    fn tests_that_a_failed_attempt_removed_are_missing_until_they_are_back() {
        let project = repository();
        let beginning = WorkTree::at_beginning(project.path()).unwrap();
        fs::remove_file(project.path().join("tests/test_a.py")).unwrap();
        put(project.path(), "tests/test_b.py", &format!("@pytest.mark.skip\n{ONE_TEST}"));
        let failed = beginning.now(project.path()).unwrap();
        let change = failed.changes_since(&beginning, project.path());
        assert!(change.summary.removes_tests(), "{change:?}");
        let start = failed.clone().after_failure(&change);
        put(project.path(), "src/a.py", "a = 3\n");
        let again = start.now(project.path()).unwrap();
        let change = again.changes_since(&start, project.path());
        assert!(change.summary.removes_tests(), "{change:?}");
        let start = again.clone().after_failure(&change);
        put(project.path(), "tests/test_b.py", ONE_TEST);
        let change = start.now(project.path()).unwrap().changes_since(&start, project.path());
        assert!(!change.summary.removes_tests(), "{change:?}");
        let explained = again.after_pass();
        put(project.path(), "src/a.py", "a = 4\n");
        let change = explained.now(project.path()).unwrap().changes_since(&explained, project.path());
        assert_eq!(
            (change.summary.tests_before, change.summary.removes_tests()),
            (SourceTests { tests: 1, skipped: 1 }, false)
        );
    }

    #[test]
    fn assertions_that_were_removed_or_changed_are_gone_and_moved_ones_are_not() {
        let project = repository();
        let source = |lines: &[&str]| format!("def test_one():\n    {}\n", lines.join("\n    "));
        put(project.path(), "tests/test_a.py", &source(&["assert f(1) == 1", "assert f(2) == 2"]));
        let beginning = WorkTree::at_beginning(project.path()).unwrap();
        let assertions = || {
            let now = beginning.now(project.path()).unwrap();
            let AssertionChange { before, after, gone } =
                now.changes_since(&beginning, project.path()).summary.assertions;
            (before, after, gone)
        };
        put(project.path(), "tests/test_a.py", &source(&["assert f(1) == 1", "assert f(2) == 3"]));
        assert_eq!(assertions(), (2, 2, 1));
        let failed = beginning.now(project.path()).unwrap();
        let changes = failed.changes_since(&beginning, project.path());
        let start = failed.clone().after_failure(&changes);
        put(project.path(), "src/a.py", "a = 3\n");
        let again = start.now(project.path()).unwrap().changes_since(&start, project.path());
        assert_eq!(again.summary.assertions.gone, 1, "it is missing until it is back");
        put(project.path(), "tests/test_a.py", &source(&["pass"]));
        assert_eq!(assertions(), (2, 0, 2));
        put(
            project.path(),
            "tests/test_b.py",
            &source(&["assert f(2) == 2", "assert f(1) == 1", "assert x"]),
        );
        assert_eq!(assertions(), (2, 3, 0));
        put(project.path(), "tests/test_a.py", &source(&["assert f(1) == 1", "assert f(2) == 2"]));
        let back = start.now(project.path()).unwrap().changes_since(&start, project.path());
        assert_eq!(back.summary.assertions.gone, 0);
    }

    #[test]
    fn a_stored_tree_is_read_back() {
        let project = repository();
        let home = overtone_store::Home::at(project.path().join("out/home"));
        let session = home.session(&overtone_store::SessionId::parse("s").unwrap());
        session.create().unwrap();
        assert!(!WorkTree::is_recorded(&session));
        put(project.path(), "tests/test_a.py", "");
        record_baseline(&session, WorkTree::at_beginning(project.path()).as_ref()).unwrap();
        let stored = WorkTree::stored(&session).unwrap();
        assert_eq!(stored, WorkTree::at_beginning(project.path()).unwrap());
        let missing =
            DeclaredTests { counts: SourceTests { tests: 2, skipped: 1 }, assertions: vec![1, 7, 7] };
        let missing = WorkTree { missing, replacements: vec![3], ..stored.clone() };
        missing.store(&session).unwrap();
        assert_eq!(WorkTree::stored(&session).unwrap(), missing);
        assert_eq!(stored.now(project.path()).unwrap().fingerprint(), stored.fingerprint());
    }

    #[test]
    fn a_repository_without_a_commit_has_a_beginning() {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "-q"]);
        put(folder.path(), "a.py", "a = 1\n");
        let beginning = WorkTree::at_beginning(folder.path()).unwrap();
        put(folder.path(), "b.py", "b = 1\n");
        let now = beginning.now(folder.path()).unwrap();
        assert_eq!(now.changes_since(&beginning, folder.path()).summary.files, ["b.py"]);
    }
}

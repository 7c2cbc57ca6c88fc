//! `workflow.json` as hooks and commands use it: only what Overtone wrote itself counts.
//!
//! The file ends with a seal over everything before it, so that both change in one rename. A copy of the same bytes,
//! `workflow.sealed.json`, is replaced just before it. If the file was changed by another program, the copy is the last good
//! state. A file without a seal and without a copy is from an earlier version, and is sealed with the next write.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::files::{self, MAX_STATE_BYTES, PRIVATE};
use crate::seal::{Layout, SealKey, SealState};
use crate::{Session, StoreError, StoreErrorKind, Transaction, WorkflowDoc};

/// The file that is sealed, as part of the label of its seal.
const NAME: &str = "workflow.json";

/// The workflow of a session.
#[derive(Debug, Default)]
pub struct LoadedWorkflow {
    /// The last state that Overtone wrote. `None` if the session has no workflow.
    pub document: Option<WorkflowDoc>,
    /// Set if the file was changed by another program. The caller keeps its content and writes the document.
    pub edit: Option<Edit>,
    /// Whether Overtone has sealed the session. One that an earlier version wrote has no seals yet.
    pub is_sealed: bool,
    /// The key that the next version is sealed with, if it was read.
    pub key: Option<SealKey>,
}

/// What another program made of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    Changed(Vec<u8>),
    Removed,
}

/// What the file on disk is.
enum Found {
    Ours(WorkflowDoc),
    /// An earlier version wrote it, or a program that knows nothing of seals.
    Unsealed(WorkflowDoc),
    NotOurs,
}

impl Session {
    fn sealed_copy_file(&self) -> PathBuf {
        self.dir().join("workflow.sealed.json")
    }

    pub fn edited_workflow_file(&self) -> PathBuf {
        self.dir().join("workflow.edited.json")
    }

    /// Whether the session has a workflow. One that another program removed counts.
    pub fn has_workflow(&self) -> bool {
        // A broken link or a folder counts: reading it reports the error.
        let exists = |path: PathBuf| fs::symlink_metadata(path).is_ok();
        exists(self.workflow_file()) || exists(self.sealed_copy_file())
    }

    /// The workflow as Overtone wrote it. Fails with [`StoreErrorKind::Untrusted`] if another program changed it and there is
    /// no copy of ours.
    pub fn load_workflow(&self) -> Result<LoadedWorkflow, StoreError> {
        let path = self.workflow_file();
        let at_path = |error| StoreError::io(&path, error);
        let Some(bytes) = files::read_limited(&path, MAX_STATE_BYTES).map_err(at_path)? else {
            return self.restore(None, Edit::Removed);
        };
        let key = self.existing_seal_key().map_err(at_path)?;
        match self.identify(&path, &bytes, key)? {
            Found::Ours(document) => {
                Ok(LoadedWorkflow { document: Some(document), edit: None, is_sealed: true, key })
            }
            Found::Unsealed(document) => match self.restore(key, Edit::Changed(bytes))? {
                LoadedWorkflow { document: None, .. } => {
                    Ok(LoadedWorkflow { document: Some(document), edit: None, is_sealed: false, key })
                }
                restored => Ok(restored),
            },
            Found::NotOurs => match self.restore(key, Edit::Changed(bytes))? {
                LoadedWorkflow { document: None, .. } => Err(StoreError::untrusted(&path)),
                restored => Ok(restored),
            },
        }
    }

    /// Tells a file of ours from others. A file that is broken although nobody has changed it is an error.
    fn identify(&self, path: &Path, bytes: &[u8], key: Option<SealKey>) -> Result<Found, StoreError> {
        let seal = match key {
            Some(key) => key.check_object(&self.seal_label(NAME), Layout::Pretty, bytes),
            None => SealState::Missing,
        };
        match (seal, parse(path, bytes)) {
            (SealState::Valid, document) => document.map(Found::Ours),
            (SealState::Missing, Ok(document)) if !document.has_seal() => Ok(Found::Unsealed(document)),
            (SealState::Missing, Err(error)) if !self.has_sealed_copy() => Err(error),
            _ => Ok(Found::NotOurs),
        }
    }

    fn has_sealed_copy(&self) -> bool {
        fs::symlink_metadata(self.sealed_copy_file()).is_ok()
    }

    /// The copy of the last state. No document if there is no copy; an error if the copy is not ours either.
    fn restore(&self, key: Option<SealKey>, edit: Edit) -> Result<LoadedWorkflow, StoreError> {
        let path = self.sealed_copy_file();
        let at_path = |error| StoreError::io(&path, error);
        let Some(bytes) = files::read_limited(&path, MAX_STATE_BYTES).map_err(at_path)? else {
            return Ok(LoadedWorkflow::default());
        };
        let key = match key {
            Some(key) => Some(key),
            None => self.existing_seal_key().map_err(at_path)?,
        };
        match self.identify(&path, &bytes, key) {
            Ok(Found::Ours(document)) => {
                Ok(LoadedWorkflow { document: Some(document), edit: Some(edit), is_sealed: true, key })
            }
            _ => Err(StoreError::untrusted(&self.workflow_file())),
        }
    }

    /// Keeps what another program wrote, for [`edited_workflow`](Self::edited_workflow). The caller holds the lock.
    pub fn keep_edit(&self, edit: &Edit) -> Result<(), StoreError> {
        let path = self.edited_workflow_file();
        match edit {
            Edit::Changed(content) => {
                files::write_atomic(&path, content, PRIVATE).map_err(|error| StoreError::io(&path, error))
            }
            Edit::Removed => Ok(()),
        }
    }

    /// The state that another program wrote and that waits for the user's decision: what was kept, or the file itself if
    /// there was no copy to use instead.
    pub fn edited_workflow(&self) -> Result<Option<WorkflowDoc>, StoreError> {
        let path = self.edited_workflow_file();
        let kept =
            files::read_limited(&path, MAX_STATE_BYTES).map_err(|error| StoreError::io(&path, error))?;
        match (kept, self.load_workflow()) {
            (Some(bytes), _) => parse(&path, &bytes).map(Some),
            (None, Ok(LoadedWorkflow { edit: Some(Edit::Changed(bytes)), .. })) => {
                parse(&self.workflow_file(), &bytes).map(Some)
            }
            (None, Err(StoreError { kind: StoreErrorKind::Untrusted, .. })) => self.workflow(),
            (None, Ok(_)) => Ok(None),
            (None, Err(error)) => Err(error),
        }
    }

    /// Removes what was kept of another program's change, after the user has decided about it.
    pub fn forget_edit(&self) -> Result<(), StoreError> {
        remove_if_present(&self.edited_workflow_file())
    }

    /// Removes the copy, so that the session has no workflow when its file is moved away.
    pub(crate) fn remove_sealed_copy(&self) -> Result<(), StoreError> {
        remove_if_present(&self.sealed_copy_file())
    }
}

fn remove_if_present(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(path, error)),
        _ => Ok(()),
    }
}

fn parse(path: &Path, bytes: &[u8]) -> Result<WorkflowDoc, StoreError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| StoreError::io(path, io::Error::new(io::ErrorKind::InvalidData, error)))?;
    WorkflowDoc::parse(path, text)
}

impl Transaction {
    /// Prepares the workflow and its copy, sealed with the key, or with that of the home if none is given. The file, which
    /// counts, is replaced last, so that a change that was killed in between can be repeated. For a new workflow it is
    /// replaced first: a copy without a file means that the file was removed.
    pub fn put_workflow(
        &mut self,
        session: &Session,
        document: &WorkflowDoc,
        key: Option<SealKey>,
    ) -> Result<(), StoreError> {
        let path = session.workflow_file();
        let mut bytes = document.to_json()?;
        let key = match key {
            Some(key) => Some(key),
            None => session.seal_key().map_err(|error| StoreError::io(&path, error))?,
        };
        let Some(key) = key else { return self.put(path, &bytes) };
        key.seal_object(&session.seal_label(NAME), Layout::Pretty, &mut bytes);
        let mut paths = [session.sealed_copy_file(), path];
        if document.is_new() {
            paths.reverse();
        }
        paths.into_iter().try_for_each(|path| self.put(path, &bytes))
    }
}

#[cfg(test)]
mod tests {
    use overtone_core::engine::state::{Millis, WorkflowState};
    use overtone_core::registry::Workflow;

    use super::*;
    use crate::{Home, SessionId};

    struct Fixture {
        _folder: tempfile::TempDir,
        session: Session,
    }

    impl Fixture {
        /// A session with a sealed workflow.
        fn new() -> Self {
            let fixture = Self::without_workflow();
            fixture.put(1);
            fixture
        }

        fn without_workflow() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let session = Home::at(folder.path().to_owned()).session(&SessionId::parse("s").unwrap());
            session.create().unwrap();
            Self { _folder: folder, session }
        }

        /// Writes a workflow that can be told from others by its failures.
        fn put(&self, failures: u32) {
            let mut state = WorkflowState::new("s", Workflow::Quick, None, Millis(1));
            state.fail_count = failures;
            let mut transaction = Transaction::default();
            transaction.put_workflow(&self.session, &WorkflowDoc::new(state), None).unwrap();
            drop(transaction.commit().unwrap());
        }

        fn text(&self) -> String {
            fs::read_to_string(self.session.workflow_file()).unwrap()
        }

        fn edit(&self, text: &str) {
            files::write_atomic(&self.session.workflow_file(), text.as_bytes(), PRIVATE).unwrap();
        }

        /// The failures of the state that counts, and whether the file was edited.
        fn loaded(&self) -> (Option<u32>, bool) {
            let loaded = self.session.load_workflow().unwrap();
            (loaded.document.map(|document| document.state.fail_count), loaded.edit.is_some())
        }

        fn is_untrusted(&self) -> bool {
            let error = self.session.load_workflow().unwrap_err();
            matches!(error.kind, StoreErrorKind::Untrusted)
        }
    }

    #[test]
    fn what_overtone_wrote_counts() {
        let fixture = Fixture::new();
        assert_eq!(fixture.loaded(), (Some(1), false));
        fixture.put(2);
        assert_eq!(fixture.loaded(), (Some(2), false));
        assert_eq!(fixture.session.workflow().unwrap().unwrap().state.fail_count, 2);
        assert_eq!(Fixture::without_workflow().loaded(), (None, false));
    }

    #[test]
    fn a_changed_file_counts_for_nothing_and_the_last_state_is_used() {
        let changed = |text: String| text.replace("\"failCount\": 1", "\"failCount\": 0");
        let cases: [fn(String) -> String; 5] = [
            |text| text.replace("\"failCount\": 1", "\"failCount\": 0"),
            // Without its seal.
            |text| text.replace(",\n  \"seal\"", ",\n  \"was\""),
            |text| serde_json::from_str::<serde_json::Value>(&text).unwrap().to_string(),
            |_| "{broken".to_owned(),
            |_| String::new(),
        ];
        for case in cases {
            let fixture = Fixture::new();
            fixture.edit(&case(fixture.text()));
            assert_eq!(fixture.loaded(), (Some(1), true), "{}", fixture.text());
        }
        let fixture = Fixture::new();
        fixture.edit(&changed(fixture.text()));
        let loaded = fixture.session.load_workflow().unwrap();
        fixture.session.keep_edit(&loaded.edit.unwrap()).unwrap();
        let edited = fixture.session.edited_workflow().unwrap().unwrap();
        assert_eq!(edited.state.fail_count, 0);
        fixture.session.forget_edit().unwrap();
        fixture.session.forget_edit().unwrap();
    }

    #[test]
    fn a_removed_file_is_missed() {
        let fixture = Fixture::new();
        fs::remove_file(fixture.session.workflow_file()).unwrap();
        assert!(fixture.session.has_workflow());
        let loaded = fixture.session.load_workflow().unwrap();
        assert_eq!((loaded.edit, loaded.document.unwrap().state.fail_count), (Some(Edit::Removed), 1));
        fs::remove_file(fixture.session.sealed_copy_file()).unwrap();
        assert!(!fixture.session.has_workflow());
        assert_eq!(fixture.loaded(), (None, false));
    }

    #[test]
    fn a_change_without_a_copy_of_ours_is_the_users_decision() {
        for break_copy in [false, true] {
            let fixture = Fixture::new();
            let edited = fixture.text().replace("\"failCount\": 1", "\"failCount\": 0");
            let copy = fixture.session.sealed_copy_file();
            if break_copy {
                files::write_atomic(&copy, edited.as_bytes(), PRIVATE).unwrap();
            } else {
                fs::remove_file(&copy).unwrap();
            }
            assert_eq!(fixture.loaded(), (Some(1), false), "the file itself is ours");
            fixture.edit(&edited);
            assert!(fixture.is_untrusted());
            assert_eq!(fixture.session.edited_workflow().unwrap().unwrap().state.fail_count, 0);
        }
    }

    #[test]
    fn nothing_is_believed_when_the_key_is_gone() {
        let fixture = Fixture::new();
        let home = fixture.session.dir().parent().unwrap().parent().unwrap().to_owned();
        fs::remove_file(home.join(crate::seal::KEY_FILE)).unwrap();
        assert!(fixture.is_untrusted());
        fixture.session.seal_key().unwrap();
        assert!(fixture.is_untrusted(), "another key");
    }

    #[test]
    fn a_state_of_another_session_is_not_ours() {
        let (one, two) = (Fixture::new(), Fixture::new());
        two.put(2);
        one.edit(&two.text());
        assert_eq!(one.loaded(), (Some(1), true));
    }

    #[test]
    fn an_earlier_versions_file_is_accepted_and_sealed_with_the_next_write() {
        let fixture = Fixture::without_workflow();
        fixture.edit(r#"{"workflowType":"quick","failCount":7,"stages":{}}"#);
        assert_eq!(fixture.loaded(), (Some(7), false));
        fixture.put(8);
        fixture.edit(r#"{"workflowType":"quick","failCount":7,"stages":{}}"#);
        assert_eq!(fixture.loaded(), (Some(8), true));
    }

    #[test]
    fn a_broken_file_of_an_earlier_version_is_an_error_as_before() {
        let fixture = Fixture::without_workflow();
        fixture.edit("{broken");
        let error = fixture.session.load_workflow().unwrap_err();
        assert!(matches!(error.kind, StoreErrorKind::Broken(_)), "{error}");
    }

    #[test]
    fn a_kill_between_the_two_files_is_no_edit() {
        let fixture = Fixture::new();
        let (old, copy) = (fixture.text(), fixture.session.sealed_copy_file());
        fixture.put(2);
        fixture.edit(&old);
        assert_eq!(fixture.loaded(), (Some(1), false), "the copy is newer than the file");
        files::write_atomic(&copy, old.as_bytes(), PRIVATE).unwrap();
        fixture.put(3);
        files::write_atomic(&copy, old.as_bytes(), PRIVATE).unwrap();
        assert_eq!(fixture.loaded(), (Some(3), false), "the copy is older than the file");
    }
}

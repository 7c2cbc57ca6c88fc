//! One session's folder: its state files, its lock, its handoffs.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use overtone_core::registry::limits::QUOTED_REPORT_UNITS;
use serde_json::{Value, json};

use crate::client_process::{ClientProcess, add_client};
use crate::files::{self, PRIVATE, Replaced, lock_timeout};
use crate::home::create_private_dir;
use crate::seal::SealKey;
use crate::workflow_doc::count;
use crate::{Home, LoopDoc, SessionId, StoreError, StoreErrorKind, WorkflowDoc, clock, object};

/// The folder of one session. Creating this value reads and writes nothing.
#[derive(Debug, Clone)]
pub struct Session {
    id: SessionId,
    dir: PathBuf,
}

/// The prefix of a session's folder while it is being deleted. No session id starts like this.
pub(crate) const REMOVED_PREFIX: &str = ".removed-";

/// The longest handoff that is read to be quoted. A UTF-16 unit has at most three bytes.
const MAX_SHORT_HANDOFF_BYTES: u64 = 3 * QUOTED_REPORT_UNITS as u64;

/// The member of `session.json` that lists the processes of the client.
const CLIENTS: &str = "clients";

/// Held while state is read, changed and written back.
#[derive(Debug)]
pub struct SessionLock {
    _file: File,
}

/// How often the context was compacted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compactions {
    pub automatic: u32,
    pub manual: u32,
    /// How many stages the session had completed at the last one.
    pub completed_stages: Option<u32>,
}

impl Session {
    pub(crate) fn new(id: SessionId, dir: PathBuf) -> Self {
        Self { id, dir }
    }

    pub fn id(&self) -> &SessionId {
        &self.id
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn workflow_file(&self) -> PathBuf {
        self.dir.join("workflow.json")
    }

    pub fn loop_file(&self) -> PathBuf {
        self.dir.join("loop.json")
    }

    pub fn timeline_file(&self) -> PathBuf {
        self.dir.join("timeline.jsonl")
    }

    pub fn observations_file(&self) -> PathBuf {
        self.dir.join("observations.jsonl")
    }

    fn compactions_file(&self) -> PathBuf {
        self.dir.join("compact-count.json")
    }

    fn context_file(&self) -> PathBuf {
        self.dir.join("context.json")
    }

    /// Whether there is a folder. A link to a folder does not count. A folder that cannot be examined does, since continuing
    /// without its lock could do harm.
    pub fn exists(&self) -> bool {
        match fs::symlink_metadata(&self.dir) {
            Ok(metadata) => metadata.is_dir(),
            Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
        }
    }

    /// Creates the folder, and the home if this is its first session.
    pub fn create(&self) -> Result<(), StoreError> {
        let failed = |error| StoreError::io(&self.dir, error);
        match DirBuilder::new().mode(0o700).create(&self.dir) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.check_folder(),
            Err(_) => self.create_with_home().map_err(failed),
        }
    }

    fn create_with_home(&self) -> io::Result<()> {
        if let Some(root) = self.dir.parent().and_then(Path::parent) {
            Home::at(root.to_owned()).create()?;
        }
        create_private_dir(&self.dir)
    }

    /// Fails if the folder is a link: it would lead to other files, and nothing is written through it.
    pub(crate) fn check_folder(&self) -> Result<(), StoreError> {
        check_not_link(&self.dir).map_err(|error| StoreError::io(&self.dir, error))
    }

    /// Takes the session's lock, and waits for other hooks up to a time limit. The folder must exist.
    pub fn lock(&self) -> Result<SessionLock, StoreError> {
        self.check_folder()?;
        let path = self.dir.join(".lock");
        match files::lock_file(&path, lock_timeout()) {
            Ok(file) => Ok(SessionLock { _file: file }),
            Err(error) => Err(StoreError::lock(&path, error)),
        }
    }

    /// Like [`Self::lock`], but returns `None` if there is no folder.
    pub fn lock_if_exists(&self) -> Result<Option<SessionLock>, StoreError> {
        match self.lock() {
            Err(StoreError { kind: StoreErrorKind::Io(error), .. })
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
            {
                Ok(None)
            }
            outcome => outcome.map(Some),
        }
    }

    /// The workflow for display, as it is on disk. Decisions use [`load_workflow`](Self::load_workflow).
    pub fn workflow(&self) -> Result<Option<WorkflowDoc>, StoreError> {
        let path = self.workflow_file();
        let text = files::read_small(&path).map_err(|error| StoreError::io(&path, error))?;
        text.map(|text| WorkflowDoc::parse(&path, &text)).transpose()
    }

    pub fn looping(&self) -> Result<Option<LoopDoc>, StoreError> {
        let path = self.loop_file();
        let text = files::read_small(&path).map_err(|error| StoreError::io(&path, error))?;
        text.map(|text| LoopDoc::parse(&path, &text)).transpose()
    }

    /// Deletes the session. It is renamed first, so that a kill half-way leaves no partial session.
    pub fn remove(&self) -> Result<(), StoreError> {
        let _lock = self.lock()?;
        let removed = self.dir.with_file_name(format!("{REMOVED_PREFIX}{}-{}", self.id, std::process::id()));
        fs::rename(&self.dir, &removed).map_err(|error| StoreError::io(&self.dir, error))?;
        match fs::remove_dir_all(&removed) {
            // Another process may have swept it already.
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(&removed, error)),
            _ => Ok(()),
        }
    }

    /// Renames state files that cannot be used to `<name>.broken-<time>`, so that a new workflow can start without
    /// destroying them. Returns the new names.
    pub fn rename_broken_files(&self) -> Result<Vec<PathBuf>, StoreError> {
        let _lock = self.lock()?;
        let is_workflow_broken = is_broken(self.load_workflow())?;
        if is_workflow_broken {
            self.remove_sealed_copy()?;
        }
        let files =
            [(self.workflow_file(), is_workflow_broken), (self.loop_file(), is_broken(self.looping())?)];
        let stamp = clock::to_iso(clock::now()).replace([':', '.'], "-");
        let mut moved = Vec::new();
        for (path, is_broken) in files {
            if !is_broken || fs::symlink_metadata(&path).is_err() {
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let new_path = path.with_file_name(format!("{name}.broken-{stamp}"));
            fs::rename(&path, &new_path).map_err(|error| StoreError::io(&path, error))?;
            moved.push(new_path);
        }
        Ok(moved)
    }

    /// Saves an agent's report. `name` is relative to the session folder and new each time. The state that refers to it is
    /// written afterwards, so nobody reads a partial file.
    pub fn save_handoff(&self, name: &str, text: &str) -> Result<(), StoreError> {
        let path = self.dir.join(name);
        if let Some(folder) = path.parent() {
            check_not_link(folder).map_err(|error| StoreError::io(folder, error))?;
        }
        let mut saved = files::write_new(&path, text.as_bytes(), PRIVATE);
        // The first handoff of a session creates the folder.
        if let Err(error) = &saved
            && error.kind() == io::ErrorKind::NotFound
            && let Some(folder) = path.parent()
        {
            saved =
                create_private_dir(folder).and_then(|()| files::write_new(&path, text.as_bytes(), PRIVATE));
        }
        saved.map_err(|error| StoreError::io(&path, error))
    }

    /// The text of a short handoff, by its name in the folder of the handoffs. One that is too long to be quoted is an error.
    pub fn handoff(&self, name: &str) -> Result<Option<String>, StoreError> {
        let folder = self.dir.join("handoffs");
        let path = folder.join(name);
        let failed = |error| StoreError::io(&path, error);
        check_not_link(&folder).map_err(failed)?;
        let Some(bytes) = files::read_limited(&path, MAX_SHORT_HANDOFF_BYTES).map_err(failed)? else {
            return Ok(None);
        };
        let text = String::from_utf8(bytes);
        text.map(Some).map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))
    }

    /// Appends to an existing handoff.
    pub fn append_handoff(&self, name: &str, text: &str) -> Result<(), StoreError> {
        let path = self.dir.join(name);
        files::append_lines(&path, text).map_err(|error| StoreError::io(&path, error))
    }

    fn helpers_file(&self) -> PathBuf {
        self.dir.join("helpers")
    }

    /// Counts an agent of another kind that the workflow starts. Each one is a byte of the file, so that agents which start at
    /// the same moment need no lock.
    pub fn count_helper(&self) -> io::Result<u32> {
        files::append_bytes(&self.helpers_file(), b".")
            .map(|length| u32::try_from(length).unwrap_or(u32::MAX))
    }

    /// How many agents of other kinds the workflow has started.
    pub fn helpers(&self) -> u32 {
        match fs::symlink_metadata(self.helpers_file()) {
            Ok(metadata) => u32::try_from(metadata.len()).unwrap_or(u32::MAX),
            Err(_) => 0,
        }
    }

    /// Starts counting again, for a new workflow.
    pub fn forget_helpers(&self) -> Result<(), StoreError> {
        let path = self.helpers_file();
        match files::remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(&path, error)),
            _ => Ok(()),
        }
    }

    pub fn compactions(&self) -> Compactions {
        let fields = object::read(&self.compactions_file());
        let completed_stages =
            fields.contains_key("completedStages").then(|| count(&fields, "completedStages"));
        Compactions { automatic: count(&fields, "auto"), manual: count(&fields, "manual"), completed_stages }
    }

    /// Counts a compaction. The caller holds the lock, and drops what was replaced after it.
    pub fn count_compaction(
        &self,
        automatic: bool,
        completed_stages: Option<u32>,
    ) -> Result<Replaced, StoreError> {
        let path = self.compactions_file();
        // If the counts cannot be read right now, counting must not restart from zero.
        let mut fields = object::read_to_change(&path).map_err(|error| StoreError::io(&path, error))?;
        let name = if automatic { "auto" } else { "manual" };
        let next = count(&fields, name).saturating_add(1);
        fields.insert(name.to_owned(), json!(next));
        let total = count(&fields, "auto").saturating_add(count(&fields, "manual"));
        fields.insert("count".to_owned(), json!(total));
        fields.extend(completed_stages.map(|stages| ("completedStages".to_owned(), json!(stages))));
        fields.insert("lastAt".to_owned(), json!(clock::to_iso(clock::now())));
        let text = Value::Object(fields).to_string();
        files::replace(&path, text.as_bytes(), PRIVATE).map_err(|error| StoreError::io(&path, error))
    }

    /// The usage that the status line saw last.
    pub fn usage(&self) -> Usage {
        let fields = object::read(&self.context_file());
        Usage {
            context_percent: fields
                .get("usedPercentage")
                .and_then(Value::as_u64)
                .and_then(|n| n.try_into().ok()),
            cost_usd: fields.get("costUsd").and_then(Value::as_f64),
        }
    }

    /// Stores the usage if it has changed.
    pub fn note_usage(&self, usage: Usage) -> io::Result<()> {
        if self.usage() == usage || !self.exists() {
            return Ok(());
        }
        let lock = files::lock_file(&self.dir.join(".lock"), lock_timeout())?;
        let new = [("usedPercentage", json!(usage.context_percent)), ("costUsd", json!(usage.cost_usd))];
        let text = Value::Object(object::with_fields(&self.context_file(), new)?).to_string();
        let replaced = files::replace(&self.context_file(), text.as_bytes(), PRIVATE)?;
        drop(lock);
        drop(replaced);
        Ok(())
    }

    fn origin_file(&self) -> PathBuf {
        self.dir.join("session.json")
    }

    /// Where the session works. Empty for a session of an earlier version.
    pub fn origin(&self) -> Origin {
        let fields = object::read(&self.origin_file());
        let path = |name: &str| fields.get(name).and_then(Value::as_str).map(PathBuf::from);
        Origin { project: path("project"), transcript: path("transcript") }
    }

    /// Stores the origin if it has changed. The folder must exist.
    pub fn note_origin(&self, origin: &Origin) -> io::Result<()> {
        if self.origin() == *origin {
            return Ok(());
        }
        self.change_origin_file([
            ("project", json!(origin.project)),
            ("transcript", json!(origin.transcript)),
        ])
    }
}

impl Session {
    /// The processes of the client that [`note_client`](Self::note_client) has recorded. Entries that others wrote are
    /// skipped.
    pub fn clients(&self) -> Vec<ClientProcess> {
        let Ok(Some(key)) = self.existing_seal_key() else { return Vec::new() };
        let fields = object::read(&self.origin_file());
        let list = fields.get(CLIENTS).and_then(Value::as_array).into_iter().flatten();
        let sealed = list.filter_map(|entry| {
            let client = ClientProcess::from_json(entry)?;
            let seal = entry.get("seal")?.as_str()?;
            if self.client_seal(key, client) == seal { Some(client) } else { None }
        });
        sealed.collect()
    }

    fn client_seal(&self, key: SealKey, client: ClientProcess) -> String {
        key.sign(&self.seal_label(CLIENTS), format!("{} {}", client.pid, client.started).as_bytes())
    }

    /// Records a process of the client, so that a workflow that starts later knows it. The folder must exist.
    pub fn note_client(&self, client: ClientProcess) -> io::Result<()> {
        let mut clients = self.clients();
        if !add_client(&mut clients, client) {
            return Ok(());
        }
        let Some(key) = self.seal_key()? else { return Ok(()) };
        let entry = |client: ClientProcess| {
            let mut entry = client.to_json();
            entry["seal"] = json!(self.client_seal(key, client));
            entry
        };
        let list: Vec<_> = clients.into_iter().map(entry).collect();
        self.change_origin_file([(CLIENTS, json!(list))])
    }

    fn change_origin_file<'a>(&self, fields: impl IntoIterator<Item = (&'a str, Value)>) -> io::Result<()> {
        let lock = files::lock_file(&self.dir.join(".lock"), lock_timeout())?;
        let text = Value::Object(object::with_fields(&self.origin_file(), fields)?).to_string();
        let replaced = files::replace(&self.origin_file(), text.as_bytes(), PRIVATE)?;
        drop(lock);
        drop(replaced);
        Ok(())
    }
}

/// Fails if the folder is a link. A missing folder is no error.
fn check_not_link(folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(metadata) if metadata.is_symlink() => Err(io::Error::other("a link, not a folder")),
        _ => Ok(()),
    }
}

/// What a session has used, as reported by the client.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    pub context_percent: Option<u32>,
    pub cost_usd: Option<f64>,
}

/// Where a session works, and where the client writes its conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    pub project: Option<PathBuf>,
    pub transcript: Option<PathBuf>,
}

/// Whether the content of a state file is unusable. A file that could not be read because of the disk or its permissions is
/// not broken: it may be readable again in a moment, so this is an error.
fn is_broken<T>(read: Result<T, StoreError>) -> Result<bool, StoreError> {
    match read {
        Ok(_) => Ok(false),
        Err(StoreError { kind: StoreErrorKind::Broken(_) | StoreErrorKind::Untrusted, .. }) => Ok(true),
        Err(StoreError { kind: StoreErrorKind::Io(error), .. }) if files::is_misplaced(&error) => Ok(true),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    fn session(home: &Home, id: &str) -> Session {
        let session = home.session(&SessionId::parse(id).unwrap());
        session.create().unwrap();
        session
    }

    #[test]
    fn a_removed_session_is_gone_and_leftovers_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let (a, b) = (session(&home, "a"), session(&home, "b"));
        a.save_handoff("handoffs/01.md", "x").unwrap();
        fs::create_dir(home.sessions_dir().join(".removed-c-1")).unwrap();
        a.remove().unwrap();
        home.sweep_removed();
        let left: Vec<_> =
            fs::read_dir(home.sessions_dir()).unwrap().flatten().map(|e| e.file_name()).collect();
        assert_eq!(left, ["b"]);
        assert_eq!(home.sessions().unwrap().iter().map(Session::id).collect::<Vec<_>>(), [b.id()]);
    }

    #[test]
    fn only_a_session_with_a_folder_can_be_locked() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let existing = session(&home, "a");
        assert!(existing.lock_if_exists().unwrap().is_some());
        let missing = home.session(&SessionId::parse("b").unwrap());
        assert!(missing.lock_if_exists().unwrap().is_none() && !missing.exists());
        files::write_atomic(missing.dir(), b"a file in the way", PRIVATE).unwrap();
        assert!(missing.lock_if_exists().unwrap().is_none());
        fs::create_dir(existing.dir().join(".lock.d")).unwrap();
        fs::remove_file(existing.dir().join(".lock")).unwrap();
        fs::rename(existing.dir().join(".lock.d"), existing.dir().join(".lock")).unwrap();
        assert!(existing.lock_if_exists().is_err());
    }

    #[test]
    fn an_unreadable_file_is_not_broken() {
        let path = Path::new("workflow.json");
        let failed = |errno: Errno| Err::<(), _>(StoreError::io(path, errno.into()));
        assert!(is_broken(failed(Errno::IO)).is_err());
        assert!(is_broken(failed(Errno::ACCESS)).is_err());
        assert!(is_broken(failed(Errno::LOOP)).unwrap());
        assert!(is_broken(Err::<(), _>(StoreError::broken(path, "x"))).unwrap());
        assert!(!is_broken(Ok(())).unwrap());
    }

    #[test]
    fn fields_of_other_versions_survive_in_every_small_file() {
        let dir = tempfile::tempdir().unwrap();
        let session = session(&Home::at(dir.path().to_owned()), "s");
        let files = [session.compactions_file(), session.context_file(), session.origin_file()];
        for file in &files {
            files::write_atomic(file, br#"{"auto":4,"future":[1]}"#, PRIVATE).unwrap();
        }
        drop(session.count_compaction(true, None).unwrap());
        session.note_usage(Usage { context_percent: Some(7), cost_usd: None }).unwrap();
        session.note_origin(&Origin { project: Some("/p".into()), transcript: None }).unwrap();
        for file in &files {
            assert_eq!(object::read(file)["future"], json!([1]), "{}", file.display());
        }
        assert_eq!(session.compactions().automatic, 5);
        assert_eq!(session.usage().context_percent, Some(7));
        assert_eq!(session.origin().project, Some("/p".into()));
    }

    #[test]
    fn only_clients_that_overtone_recorded_are_known() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let (one, two) = (session(&home, "one"), session(&home, "two"));
        let client = ClientProcess { pid: 7, started: 9 };
        assert_eq!(one.clients(), []);
        one.note_client(client).unwrap();
        one.note_origin(&Origin { project: Some("/p".into()), transcript: None }).unwrap();
        one.note_client(ClientProcess { pid: 8, ..client }).unwrap();
        assert_eq!(one.clients(), [client, ClientProcess { pid: 8, ..client }]);
        assert_eq!(one.origin().project, Some("/p".into()));
        // An entry that was changed, or copied from another session, is not ours.
        let text = fs::read_to_string(one.origin_file()).unwrap();
        files::write_atomic(&two.origin_file(), text.as_bytes(), PRIVATE).unwrap();
        files::write_atomic(&one.origin_file(), text.replace(":7,", ":6,").as_bytes(), PRIVATE).unwrap();
        assert_eq!(two.clients(), []);
        assert_eq!(one.clients(), [ClientProcess { pid: 8, ..client }]);
    }

    #[test]
    fn a_link_at_the_path_of_a_small_file_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let session = session(&Home::at(dir.path().to_owned()), "s");
        std::os::unix::fs::symlink("/nonexistent/x", session.compactions_file()).unwrap();
        drop(session.count_compaction(false, None).unwrap());
        assert_eq!(session.compactions().manual, 1);
    }

    #[test]
    fn broken_state_is_renamed_and_good_state_stays() {
        let dir = tempfile::tempdir().unwrap();
        let session = session(&Home::at(dir.path().to_owned()), "s");
        assert!(session.rename_broken_files().unwrap().is_empty());
        files::write_atomic(&session.workflow_file(), b"{broken", PRIVATE).unwrap();
        files::write_atomic(&session.loop_file(), b"{}", PRIVATE).unwrap();
        let moved = session.rename_broken_files().unwrap();
        assert_eq!(moved.len(), 1);
        assert_eq!(fs::read_to_string(&moved[0]).unwrap(), "{broken");
        assert!(!session.workflow_file().exists() && session.loop_file().exists());
    }
}

//! How far each timeline was exported, and the sums: `telemetry/cursors.json`.
//!
//! It is one file, replaced atomically after the collector has accepted a batch. If the process is killed between the
//! two, that batch is sent again with the same ids; its counts are added once.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use overtone_core::engine::state::Millis;
use overtone_core::registry::EventKind;
use overtone_session::view::{Query, read_page};
use overtone_store::{Home, Log, Session, SessionId, clock, files};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::telemetry::totals::{Count, Totals};

const DAY_MS: i64 = 24 * 3600 * 1000;
const EVENTS_PER_READ: usize = 500;

/// How far a session was exported.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Cursor {
    /// Everything that ended before this offset was accepted by the collector.
    #[serde(rename = "place")]
    pub(crate) offset: u64,
    /// The offset of the first line of the workflow that has not ended yet.
    #[serde(rename = "opened")]
    pub(crate) workflow_offset: Option<u64>,
    /// How far the ledger of the session was counted.
    #[serde(rename = "usage", skip_serializing_if = "is_zero")]
    pub(crate) usage_offset: u64,
    /// Fields of other versions, which are preserved.
    #[serde(flatten)]
    pub(crate) other: Map<String, Value>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(offset: &u64) -> bool {
    *offset == 0
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ProgressState {
    /// The start time of the sums.
    since: i64,
    sessions: BTreeMap<String, Cursor>,
    totals: Totals,
    /// Fields of other versions, which are preserved.
    #[serde(flatten)]
    other: Map<String, Value>,
}

#[derive(Debug)]
pub(crate) struct ExportProgress {
    path: PathBuf,
    log: Log,
    state: ProgressState,
    /// The file lacks a change that has to be written.
    is_dirty: bool,
}

impl ExportProgress {
    /// The folder has to exist, and the caller has to hold its lock.
    pub(crate) fn open(home: &Home, log: Log) -> io::Result<Self> {
        let path = home.root().join("telemetry/cursors.json");
        let known = match files::read_small(&path)?.as_deref().map(serde_json::from_str) {
            None => None,
            Some(Ok(state)) => Some(state),
            Some(Err(error)) => {
                let broken = path.with_file_name("cursors.broken.json");
                log.write_line(&format!(
                    "broken file {}: {error}; it is kept as {}",
                    path.display(),
                    broken.display()
                ));
                fs::rename(&path, broken)?;
                None
            }
        };
        let is_new = known.is_none();
        let state = known.unwrap_or_else(|| ProgressState::initial(home));
        let mut progress = Self { path, log, state, is_dirty: is_new };
        progress.save();
        Ok(progress)
    }

    pub(crate) fn cursor(&self, session: &SessionId) -> Cursor {
        self.state.sessions.get(session.as_str()).cloned().unwrap_or_default()
    }

    pub(crate) const fn since(&self) -> Millis {
        Millis(self.state.since)
    }

    pub(crate) const fn totals(&self) -> &Totals {
        &self.state.totals
    }

    /// Records that everything up to the cursor was accepted. A new offset alone is not written to the file: reading
    /// from the older offset finds nothing to send either.
    pub(crate) fn advance(&mut self, session: &SessionId, to: &Cursor, counts: &[Count], has_sent: bool) {
        let known = self.cursor(session);
        self.is_dirty |= has_sent || !counts.is_empty() || known.workflow_offset != to.workflow_offset;
        for count in counts {
            self.state.totals.add(count);
        }
        self.state.sessions.insert(session.to_string(), Cursor { other: known.other, ..to.clone() });
        self.save();
    }

    /// Removes sessions that no longer exist.
    pub(crate) fn retain(&mut self, sessions: &[Session]) {
        let before = self.state.sessions.len();
        self.state.sessions.retain(|id, _| sessions.iter().any(|session| session.id().as_str() == id));
        self.is_dirty |= self.state.sessions.len() != before;
        self.save();
    }

    /// Writes the file if it lacks a change. If that fails it is tried again with the next change.
    fn save(&mut self) {
        if !self.is_dirty {
            return;
        }
        match self.write() {
            Ok(()) => self.is_dirty = false,
            Err(error) => self.log.write_line(&format!("cannot write {}: {error}", self.path.display())),
        }
    }

    fn write(&self) -> io::Result<()> {
        let text = serde_json::to_string(&self.state).map_err(io::Error::other)?;
        files::write_atomic(&self.path, format!("{text}\n").as_bytes(), files::PRIVATE)
    }
}

impl ProgressState {
    /// Starts the export with the workflows that began within the last day.
    fn initial(home: &Home) -> Self {
        let now = clock::now();
        let sessions = home.sessions().unwrap_or_default();
        let cursor = |session: &Session| {
            let offset =
                first_recent_workflow(&session.timeline_file(), Millis(now.0 - DAY_MS)).unwrap_or_default();
            let usage_offset =
                session.usage_file().symlink_metadata().map(|file| file.len()).unwrap_or_default();
            (session.id().to_string(), Cursor { offset, usage_offset, ..Cursor::default() })
        };
        Self { since: now.0, sessions: sessions.iter().map(cursor).collect(), ..Self::default() }
    }
}

/// The offset of the first workflow that began at or after this time; the end of the timeline if there is none.
fn first_recent_workflow(timeline: &Path, since: Millis) -> io::Result<u64> {
    let mut offset = 0;
    loop {
        let types = vec![EventKind::WorkflowStart.name().to_owned()];
        let page = read_page(timeline, &Query { types, ..Query::starting_at(offset, EVENTS_PER_READ) })?;
        for event in &page.events {
            let started = event.fields.get("ts").and_then(Value::as_str).and_then(clock::from_iso);
            if let Some(at) = started
                && at >= since
            {
                return Ok(event.offset);
            }
        }
        if page.newer == offset {
            return Ok(offset);
        }
        offset = page.newer;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_length::file_length;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        overtone_store::create_private_dir(&dir.path().join("telemetry")).unwrap();
        (dir, home)
    }

    fn open(home: &Home) -> ExportProgress {
        ExportProgress::open(home, Log::new(home, "telemetry", "telemetry/export.log")).unwrap()
    }

    fn session(home: &Home, id: &str, ages: &[i64]) -> (SessionId, Vec<u64>) {
        let session = home.session(&SessionId::parse(id).unwrap());
        session.create().unwrap();
        let mut offsets = Vec::new();
        for age in ages {
            let path = session.timeline_file();
            offsets.push(file_length(&path));
            let ts = clock::to_iso(Millis(clock::now().0 - age));
            files::append_lines(&path, &format!("{{\"ts\":\"{ts}\",\"type\":\"workflow:start\"}}\n"))
                .unwrap();
        }
        offsets.push(file_length(&session.timeline_file()));
        (session.id().clone(), offsets)
    }

    #[test]
    fn workflows_older_than_a_day_are_skipped_at_first() {
        let (_dir, home) = home();
        let (old, old_offsets) = session(&home, "old", &[3 * DAY_MS, 2 * DAY_MS]);
        let (mixed, mixed_offsets) = session(&home, "mixed", &[3 * DAY_MS, DAY_MS / 2, 0]);
        let progress = open(&home);
        assert_eq!(progress.cursor(&old).offset, old_offsets[2]);
        assert_eq!(progress.cursor(&mixed).offset, mixed_offsets[1]);
        // After that everything is exported, however late it is found.
        let (later, _) = session(&home, "later", &[2 * DAY_MS]);
        assert_eq!(open(&home).cursor(&later).offset, 0);
    }

    #[test]
    fn fields_of_other_versions_are_preserved_and_a_broken_file_is_kept() {
        let (dir, home) = home();
        let (id, _) = session(&home, "a", &[0]);
        let path = dir.path().join("telemetry/cursors.json");
        let text = r#"{"since":5,"sessions":{"a":{"place":1,"new":[2]}},"totals":{},"more":true}"#;
        files::write_atomic(&path, text.as_bytes(), files::PRIVATE).unwrap();
        let mut progress = open(&home);
        progress.advance(
            &id,
            &Cursor { offset: 9, workflow_offset: Some(4), ..Cursor::default() },
            &[],
            true,
        );
        let written: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let expected = serde_json::json!({
            "since": 5, "sessions": { "a": { "place": 9, "opened": 4, "new": [2] } }, "totals": {}, "more": true,
        });
        assert_eq!(written, expected);
        files::write_atomic(&path, b"{", files::PRIVATE).unwrap();
        assert_eq!(open(&home).cursor(&id).offset, 0);
        assert_eq!(fs::read_to_string(dir.path().join("telemetry/cursors.broken.json")).unwrap(), "{");
    }
}

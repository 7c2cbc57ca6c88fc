//! How far each timeline was exported, and the sums: `telemetry/cursors.json`.
//!
//! One file, replaced in one step after the collector has taken a batch. A kill in the moment between the two sends
//! that batch again, with the same ids; its counts are in the file once.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use overtone_engine::state::Millis;
use overtone_registry::EventKind;
use overtone_store::{Home, Log, Session, SessionId, clock, files};
use overtone_view::{Query, read_page};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::totals::{Count, Totals};

const DAY: i64 = 24 * 3600 * 1000;
const STEP: usize = 500;

/// How far a session was exported.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Cursor {
    /// What ended before this place was taken by the collector.
    pub(crate) place: u64,
    /// Where the first line of the workflow is that has not ended there.
    pub(crate) opened: Option<u64>,
    /// Fields of other versions, which stay as they are.
    #[serde(flatten)]
    pub(crate) other: Map<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct State {
    /// Since when there are sums.
    since: i64,
    sessions: BTreeMap<String, Cursor>,
    totals: Totals,
    /// Fields of other versions, which stay as they are.
    #[serde(flatten)]
    other: Map<String, Value>,
}

#[derive(Debug)]
pub(crate) struct Ledger {
    path: PathBuf,
    log: Log,
    state: State,
    /// The file is behind, though it should not be.
    is_dirty: bool,
}

impl Ledger {
    /// The folder exists, and whoever calls has its lock.
    pub(crate) fn open(home: &Home, log: Log) -> io::Result<Self> {
        let path = home.root().join("telemetry/cursors.json");
        let known = match files::read_small(&path)?.as_deref().map(serde_json::from_str) {
            None => None,
            Some(Ok(state)) => Some(state),
            Some(Err(error)) => {
                let broken = path.with_file_name("cursors.broken.json");
                log.say(&format!(
                    "broken file {}: {error}; it is kept as {}",
                    path.display(),
                    broken.display()
                ));
                fs::rename(&path, broken)?;
                None
            }
        };
        let is_new = known.is_none();
        let state = known.unwrap_or_else(|| State::first(home));
        let mut ledger = Self { path, log, state, is_dirty: is_new };
        ledger.save();
        Ok(ledger)
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

    /// Notes that everything up to here was taken. If nothing came of it the file may be behind: whoever reads from an
    /// older place finds nothing there either.
    pub(crate) fn advance(&mut self, session: &SessionId, to: &Cursor, counts: &[Count], has_sent: bool) {
        let known = self.cursor(session);
        self.is_dirty |= has_sent || !counts.is_empty() || known.opened != to.opened;
        for count in counts {
            self.state.totals.add(count);
        }
        self.state.sessions.insert(session.to_string(), Cursor { other: known.other, ..to.clone() });
        self.save();
    }

    /// Forgets sessions that are gone.
    pub(crate) fn retain(&mut self, sessions: &[Session]) {
        let before = self.state.sessions.len();
        self.state.sessions.retain(|id, _| sessions.iter().any(|session| session.id().as_str() == id));
        self.is_dirty |= self.state.sessions.len() != before;
        self.save();
    }

    /// What was sent was sent, whether it can be written down or not; it is tried again with the next change.
    fn save(&mut self) {
        if !self.is_dirty {
            return;
        }
        let text = serde_json::to_string(&self.state).map_err(io::Error::other);
        let written = text
            .and_then(|text| files::write_atomic(&self.path, format!("{text}\n").as_bytes(), files::PRIVATE));
        self.is_dirty = written.is_err();
        if let Err(error) = written {
            self.log.say(&format!("cannot write {}: {error}", self.path.display()));
        }
    }
}

impl State {
    /// From now on, and what began within the last day.
    fn first(home: &Home) -> Self {
        let now = clock::now();
        let sessions = home.sessions().unwrap_or_default();
        let cursor = |session: &Session| {
            let place = first_young(&session.timeline_file(), Millis(now.0 - DAY)).unwrap_or_default();
            (session.id().to_string(), Cursor { place, ..Cursor::default() })
        };
        Self { since: now.0, sessions: sessions.iter().map(cursor).collect(), ..Self::default() }
    }
}

/// Where the first workflow begins that is not older than this; the end, if all are.
fn first_young(timeline: &Path, since: Millis) -> io::Result<u64> {
    let mut place = 0;
    loop {
        let types = vec![EventKind::WorkflowStart.name().to_owned()];
        let page = read_page(timeline, &Query { types, ..Query::from(place, STEP) })?;
        let began = |fields: &Map<String, Value>| fields.get("ts")?.as_str().and_then(clock::from_iso);
        let is_young = |fields: &Map<String, Value>| began(fields).is_some_and(|at| at >= since);
        if let Some(seen) = page.events.iter().find(|seen| is_young(&seen.fields)) {
            return Ok(seen.place);
        }
        if page.newer == place {
            return Ok(place);
        }
        place = page.newer;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        overtone_store::create_private_dir(&dir.path().join("telemetry")).unwrap();
        (dir, home)
    }

    fn open(home: &Home) -> Ledger {
        Ledger::open(home, Log::new(home, "telemetry", "telemetry/export.log")).unwrap()
    }

    fn session(home: &Home, id: &str, ages: &[i64]) -> (SessionId, Vec<u64>) {
        let session = home.session(&SessionId::parse(id).unwrap());
        session.create().unwrap();
        let mut places = Vec::new();
        for age in ages {
            let path = session.timeline_file();
            places.push(path.metadata().map_or(0, |about| about.len()));
            let ts = clock::to_iso(Millis(clock::now().0 - age));
            files::append_lines(&path, &format!("{{\"ts\":\"{ts}\",\"type\":\"workflow:start\"}}\n"))
                .unwrap();
        }
        places.push(session.timeline_file().metadata().map_or(0, |about| about.len()));
        (session.id().clone(), places)
    }

    #[test]
    fn what_is_older_than_a_day_is_passed_over_at_first() {
        let (_dir, home) = home();
        let (old, old_places) = session(&home, "old", &[3 * DAY, 2 * DAY]);
        let (mixed, mixed_places) = session(&home, "mixed", &[3 * DAY, DAY / 2, 0]);
        let ledger = open(&home);
        assert_eq!(ledger.cursor(&old).place, old_places[2]);
        assert_eq!(ledger.cursor(&mixed).place, mixed_places[1]);
        // From then on everything counts, however late it is seen.
        let (later, _) = session(&home, "later", &[2 * DAY]);
        assert_eq!(open(&home).cursor(&later).place, 0);
    }

    #[test]
    fn fields_of_other_versions_survive_and_a_broken_file_is_kept() {
        let (dir, home) = home();
        let (id, _) = session(&home, "a", &[0]);
        let path = dir.path().join("telemetry/cursors.json");
        let text = r#"{"since":5,"sessions":{"a":{"place":1,"new":[2]}},"totals":{},"more":true}"#;
        files::write_atomic(&path, text.as_bytes(), files::PRIVATE).unwrap();
        let mut ledger = open(&home);
        ledger.advance(&id, &Cursor { place: 9, opened: Some(4), ..Cursor::default() }, &[], true);
        let written: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let wanted = serde_json::json!({
            "since": 5, "sessions": { "a": { "place": 9, "opened": 4, "new": [2] } }, "totals": {}, "more": true,
        });
        assert_eq!(written, wanted);
        files::write_atomic(&path, b"{", files::PRIVATE).unwrap();
        assert_eq!(open(&home).cursor(&id).place, 0);
        assert_eq!(fs::read_to_string(dir.path().join("telemetry/cursors.broken.json")).unwrap(), "{");
    }
}

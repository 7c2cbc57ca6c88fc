//! The audit trail of a session, `supervisor-{session}-audit.jsonl`: one line per round, without secrets.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::{SessionId, files};
use serde_json::Value;

use crate::supervision::folder::{StateFolder, append_line};

/// How long the files of a session are kept after its last round.
const RETENTION: Duration = Duration::from_hours(30 * 24);
/// Of a larger trail only the end is read.
const MAX_BYTES: usize = 16 * 1024 * 1024;

const PREFIX: &str = "supervisor-";
const SUFFIX: &str = "-audit.jsonl";

/// The audit trail of a reviewed session.
#[derive(Debug)]
pub struct AuditTrail {
    pub session: SessionId,
    /// Every round, oldest first. Malformed lines are left out.
    pub rounds: Vec<Value>,
    pub last_round: SystemTime,
}

/// Appends a round to the trail of a session and removes files of old sessions.
pub fn append_round(folder: &StateFolder, session: &SessionId, round: &Value) -> io::Result<()> {
    append_line(&folder.audit_file(session), &round.to_string())?;
    remove_old_files(&folder.path(), SystemTime::now());
    Ok(())
}

/// The rounds of a session; `None` if it was never reviewed.
pub fn read_rounds(folder: &StateFolder, session: &SessionId) -> io::Result<Option<Vec<Value>>> {
    let Some((bytes, _)) = files::read_tail(&folder.audit_file(session), MAX_BYTES)? else { return Ok(None) };
    let lines = bytes.split(|byte| *byte == b'\n');
    Ok(Some(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()))
}

/// The trails of all reviewed sessions, most recent first. Trails that cannot be read are left out.
pub fn read_trails(folder: &StateFolder) -> io::Result<Vec<AuditTrail>> {
    let mut found = Vec::new();
    for (session, last_round) in list_trails(folder)? {
        if let Ok(Some(rounds)) = read_rounds(folder, &session) {
            found.push(AuditTrail { session, rounds, last_round });
        }
    }
    found.sort_by_key(|trail| std::cmp::Reverse(trail.last_round));
    Ok(found)
}

/// The reviewed sessions with the time of their last round, unordered and without reading the rounds.
pub fn list_trails(folder: &StateFolder) -> io::Result<Vec<(SessionId, SystemTime)>> {
    let entries = match fs::read_dir(folder.path()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    Ok(entries.flatten().filter_map(|entry| session_and_last_round(&entry)).collect())
}

fn session_and_last_round(entry: &fs::DirEntry) -> Option<(SessionId, SystemTime)> {
    let name = entry.file_name().into_string().ok()?;
    let session = SessionId::parse(name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?)?;
    Some((session, entry.metadata().ok()?.modified().ok()?))
}

/// Removes files that were not changed within the retention time.
fn remove_old_files(folder: &Path, now: SystemTime) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX)
            && let Ok(metadata) = entry.metadata()
            && let Ok(modified) = metadata.modified()
            && let Ok(age) = now.duration_since(modified)
            && age > RETENTION
        {
            // Another process may have removed it already.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn rounds_are_read_back_as_written(rounds in prop::collection::vec((".{0,12}", any::<i64>(), 0.0..1e6f64), 1..5)) {
            let dir = tempfile::tempdir().unwrap();
            let folder = StateFolder::resolve(Some(dir.path().into()), None, None).unwrap();
            let session = SessionId::parse("abc").unwrap();
            folder.create().unwrap();
            let round = |(text, number, cost): &(String, i64, f64)| json!({"feedback": text, "future": {text.as_str(): [number]}, "cost_usd": cost});
            let rounds: Vec<_> = rounds.iter().map(round).collect();
            for round in &rounds {
                append_round(&folder, &session, round).unwrap();
            }
            prop_assert_eq!(read_rounds(&folder, &session).unwrap().unwrap(), rounds);
        }
    }

    #[test]
    fn malformed_lines_are_skipped_and_old_trails_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = StateFolder::resolve(Some(dir.path().into()), None, None).unwrap();
        let session = SessionId::parse("abc").unwrap();
        assert!(read_trails(&folder).unwrap().is_empty());
        assert_eq!(read_rounds(&folder, &session).unwrap(), None);
        drop(folder.lock().unwrap());
        append_round(&folder, &session, &json!({"round": 1})).unwrap();
        append_line(&folder.audit_file(&session), "torn").unwrap();
        append_round(&folder, &session, &json!({"round": 2})).unwrap();
        let rounds = read_rounds(&folder, &session).unwrap().unwrap();
        assert_eq!(rounds, [json!({"round": 1}), json!({"round": 2})]);
        assert_eq!(read_trails(&folder).unwrap().len(), 1);
        append_line(&folder.log_file(), "stays").unwrap();
        remove_old_files(&folder.path(), SystemTime::now() + RETENTION + Duration::from_mins(1));
        assert!(read_trails(&folder).unwrap().is_empty());
        assert!(folder.log_file().exists());
    }
}

//! The audit trail: a line for every round, `supervisor-{session}-audit.jsonl`, without secrets. Old ones go.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use overtone_store::{SessionId, files};
use serde_json::Value;

use crate::folder::{StateFolder, append};

/// How long the files of a session are kept after its last round.
const KEEP: Duration = Duration::from_hours(30 * 24);
/// A trail that is larger is read from its end.
const MAX_BYTES: usize = 16 * 1024 * 1024;

const PREFIX: &str = "supervisor-";
const SUFFIX: &str = "-audit.jsonl";

/// A session that was reviewed.
#[derive(Debug)]
pub struct Audited {
    pub session: SessionId,
    /// Every round, the first one first. A line that cannot be read is left out.
    pub rounds: Vec<Value>,
    pub last: SystemTime,
}

pub(crate) fn write(folder: &StateFolder, session: &SessionId, round: &Value) -> io::Result<()> {
    append(&folder.audit_file(session), &round.to_string())?;
    prune(&folder.path(), SystemTime::now());
    Ok(())
}

/// The rounds of a session; `None` if it was never reviewed.
pub fn audit(folder: &StateFolder, session: &SessionId) -> io::Result<Option<Vec<Value>>> {
    let Some((bytes, _)) = files::read_tail(&folder.audit_file(session), MAX_BYTES)? else { return Ok(None) };
    let lines = bytes.split(|byte| *byte == b'\n');
    Ok(Some(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()))
}

/// Every session that was reviewed, the last one first.
pub fn audits(folder: &StateFolder) -> io::Result<Vec<Audited>> {
    let audited = |(session, last): (SessionId, SystemTime)| {
        let rounds = audit(folder, &session).ok()??;
        Some(Audited { session, rounds, last })
    };
    let mut found: Vec<_> = trails(folder)?.into_iter().filter_map(audited).collect();
    found.sort_by_key(|session| std::cmp::Reverse(session.last));
    Ok(found)
}

/// Who was reviewed and when last, in no order, without reading the rounds.
pub fn trails(folder: &StateFolder) -> io::Result<Vec<(SessionId, SystemTime)>> {
    let entries = match fs::read_dir(folder.path()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    Ok(entries.flatten().filter_map(|entry| trail(&entry)).collect())
}

fn trail(entry: &fs::DirEntry) -> Option<(SessionId, SystemTime)> {
    let name = entry.file_name().into_string().ok()?;
    let session = SessionId::parse(name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?)?;
    Some((session, entry.metadata().ok()?.modified().ok()?))
}

/// Takes away what belongs to sessions that were not reviewed for a long time.
fn prune(folder: &Path, now: SystemTime) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let is_ours = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(PREFIX);
    let is_old = |entry: &fs::DirEntry| {
        let modified = entry.metadata().and_then(|about| about.modified());
        modified.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > KEEP))
    };
    for entry in entries.flatten().filter(|entry| is_ours(entry) && is_old(entry)) {
        // Another stop may have been faster.
        let _ = fs::remove_file(entry.path());
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
        fn rounds_read_back_as_they_were_written(rounds in prop::collection::vec((".{0,12}", any::<i64>(), 0.0..1e6f64), 1..5)) {
            let dir = tempfile::tempdir().unwrap();
            let folder = StateFolder::resolve(Some(dir.path().into()), None, None).unwrap();
            let session = SessionId::parse("abc").unwrap();
            folder.make().unwrap();
            let round = |(text, number, cost): &(String, i64, f64)| json!({"feedback": text, "future": {text.as_str(): [number]}, "cost_usd": cost});
            let rounds: Vec<_> = rounds.iter().map(round).collect();
            for round in &rounds {
                write(&folder, &session, round).unwrap();
            }
            prop_assert_eq!(audit(&folder, &session).unwrap().unwrap(), rounds);
        }
    }

    #[test]
    fn a_trail_is_read_as_it_was_written_and_old_ones_go() {
        let dir = tempfile::tempdir().unwrap();
        let folder = StateFolder::resolve(Some(dir.path().into()), None, None).unwrap();
        let session = SessionId::parse("abc").unwrap();
        assert!(audits(&folder).unwrap().is_empty());
        assert_eq!(audit(&folder, &session).unwrap(), None);
        drop(folder.lock().unwrap());
        write(&folder, &session, &json!({"round": 1})).unwrap();
        append(&folder.audit_file(&session), "torn").unwrap();
        write(&folder, &session, &json!({"round": 2})).unwrap();
        let rounds = audit(&folder, &session).unwrap().unwrap();
        assert_eq!(rounds, [json!({"round": 1}), json!({"round": 2})]);
        assert_eq!(audits(&folder).unwrap().len(), 1);
        append(&folder.log_file(), "stays").unwrap();
        prune(&folder.path(), SystemTime::now() + KEEP + Duration::from_mins(1));
        assert!(audits(&folder).unwrap().is_empty());
        assert!(folder.log_file().exists());
    }
}

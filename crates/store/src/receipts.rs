//! `receipts.jsonl`: the receipts of a session's checks, one line each, and the logs of their output.

use std::fs;
use std::path::PathBuf;

use overtone_core::engine::state::Millis;
use overtone_core::evidence::{CheckEnd, Receipt, TestCounts};
use serde::{Deserialize, Serialize};

use crate::files::{self, PRIVATE};
use crate::home::create_private_dir;
use crate::seal::{Layout, SealKey, SealState};
use crate::{Session, StoreError, clock};

const NAME: &str = "receipts.jsonl";

/// Only the newest receipts are read. A line has a few hundred bytes.
const READ_BYTES: usize = 1024 * 1024;

/// A longer file is not sorted out: it would take too long, and only its end is read anyway.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReceiptJson {
    at: String,
    check: String,
    command: String,
    #[serde(default)]
    stage: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    timed_out: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    duration_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tests: Option<TestsJson>,
    tree: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    log: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct TestsJson {
    run: u32,
    failed: u32,
    skipped: u32,
}

impl From<&Receipt> for ReceiptJson {
    fn from(receipt: &Receipt) -> Self {
        let mut line = Self {
            at: clock::to_iso(receipt.started_at),
            check: receipt.check.clone(),
            command: receipt.command.clone(),
            stage: receipt.stage.map(|key| key.to_string()),
            exit_code: None,
            signal: None,
            timed_out: false,
            error: None,
            duration_ms: receipt.duration_ms,
            tests: receipt.counts.map(|TestCounts { run, failed, skipped }| TestsJson {
                run,
                failed,
                skipped,
            }),
            tree: receipt.tree.clone(),
            log: receipt.log.clone(),
        };
        match &receipt.end {
            CheckEnd::Exited(code) => line.exit_code = Some(*code),
            CheckEnd::Signalled(signal) => line.signal = Some(*signal),
            CheckEnd::TimedOut => line.timed_out = true,
            CheckEnd::NotStarted(error) => line.error = Some(error.clone()),
        }
        line
    }
}

impl From<ReceiptJson> for Receipt {
    fn from(line: ReceiptJson) -> Self {
        let end = match (line.exit_code, line.signal, line.timed_out) {
            (Some(code), ..) => CheckEnd::Exited(code),
            (None, Some(signal), _) => CheckEnd::Signalled(signal),
            (None, None, true) => CheckEnd::TimedOut,
            (None, None, false) => CheckEnd::NotStarted(line.error.unwrap_or_default()),
        };
        Self {
            check: line.check,
            command: line.command,
            stage: line.stage.and_then(|key| key.parse().ok()),
            end,
            started_at: clock::from_iso(&line.at).unwrap_or(Millis(0)),
            duration_ms: line.duration_ms,
            counts: line.tests.map(|TestsJson { run, failed, skipped }| TestCounts { run, failed, skipped }),
            tree: line.tree,
            log: line.log,
        }
    }
}

impl Session {
    fn receipts_file(&self) -> PathBuf {
        self.dir().join(NAME)
    }

    /// The newest receipts of the session, oldest first. Lines that are not receipts of ours are skipped.
    pub fn receipts(&self) -> Result<Vec<Receipt>, StoreError> {
        let path = self.receipts_file();
        let failed = |error| StoreError::io(&path, error);
        let Some((bytes, _)) = files::read_tail(&path, READ_BYTES).map_err(failed)? else {
            return Ok(Vec::new());
        };
        let key = self.existing_seal_key().map_err(failed)?;
        let text = String::from_utf8_lossy(&bytes);
        let own = text.lines().filter(|line| self.is_own_receipt(key, line));
        let lines = own.filter_map(|line| serde_json::from_str::<ReceiptJson>(line).ok());
        Ok(lines.map(Receipt::from).collect())
    }

    fn is_own_receipt(&self, key: Option<SealKey>, line: &str) -> bool {
        let Some(key) = key else { return false };
        key.check_object(&self.seal_label(NAME), Layout::Compact, line.as_bytes()) == SealState::Valid
    }

    pub fn add_receipt(&self, receipt: &Receipt) -> Result<(), StoreError> {
        let path = self.receipts_file();
        let add = || {
            let mut line = serde_json::to_vec(&ReceiptJson::from(receipt))?;
            self.seal_file(NAME, Layout::Compact, &mut line)?;
            files::append_lines(&path, &format!("{}\n", String::from_utf8_lossy(&line)))
        };
        add().map_err(|error| StoreError::io(&path, error))
    }

    /// Held while the session's checks run and their receipts are added.
    pub fn checks_lock_file(&self) -> PathBuf {
        self.dir().join(".checks-lock")
    }

    /// Moves receipts that Overtone did not write to `receipts.edited.jsonl`, and returns how many there were. Lines that are
    /// incomplete, because their writer was killed, are left where they are.
    pub fn set_aside_foreign_receipts(&self) -> Result<usize, StoreError> {
        let path = self.receipts_file();
        if fs::symlink_metadata(&path).is_err() {
            return Ok(0);
        }
        let failed = |error| StoreError::io(&path, error);
        // While checks run, receipts are added. The next report finds the foreign ones.
        let Some(_lock) = files::try_lock_file(&self.checks_lock_file()).map_err(failed)? else {
            return Ok(0);
        };
        let Some(bytes) = files::read_limited(&path, MAX_FILE_BYTES).map_err(failed)? else { return Ok(0) };
        let key = self.existing_seal_key().map_err(failed)?;
        let text = String::from_utf8_lossy(&bytes);
        let is_foreign = |line: &&str| {
            serde_json::from_str::<ReceiptJson>(line).is_ok() && !self.is_own_receipt(key, line)
        };
        let (foreign, own): (Vec<&str>, Vec<&str>) = text.lines().partition(is_foreign);
        if foreign.is_empty() {
            return Ok(0);
        }
        let kept = self.dir().join("receipts.edited.jsonl");
        files::append_lines(&kept, &joined(&foreign)).map_err(failed)?;
        files::write_atomic(&path, joined(&own).as_bytes(), PRIVATE).map_err(failed)?;
        Ok(foreign.len())
    }

    /// Saves the output of a check. `name` is relative to the session's folder; an earlier log of that name is replaced.
    pub fn save_check_log(&self, name: &str, output: &[u8]) -> Result<(), StoreError> {
        let path = self.dir().join(name);
        let written = match path.parent() {
            Some(folder) => {
                create_private_dir(folder).and_then(|()| files::write_atomic(&path, output, PRIVATE))
            }
            None => Ok(()),
        };
        written.map_err(|error| StoreError::io(&path, error))
    }
}

fn joined(lines: &[&str]) -> String {
    lines.iter().flat_map(|line| [*line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{Home, SessionId};

    fn receipt(end: CheckEnd) -> Receipt {
        Receipt {
            check: "test".to_owned(),
            command: "make test".to_owned(),
            stage: "TEST:2".parse().ok(),
            end,
            started_at: Millis(1_700_000_000_123),
            duration_ms: 42,
            counts: Some(TestCounts { run: 3, failed: 1, skipped: 2 }),
            tree: "t".to_owned(),
            log: Some("checks/test.log".to_owned()),
        }
    }

    #[test]
    fn receipts_are_read_back_and_other_lines_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let session = Home::at(folder.path().to_owned()).session(&SessionId::parse("s").unwrap());
        session.create().unwrap();
        assert_eq!(session.receipts().unwrap(), []);
        let all = [
            receipt(CheckEnd::Exited(1)),
            receipt(CheckEnd::Signalled(9)),
            receipt(CheckEnd::TimedOut),
            receipt(CheckEnd::NotStarted("no shell".to_owned())),
            Receipt { stage: None, counts: None, log: None, ..receipt(CheckEnd::Exited(0)) },
        ];
        for one in &all {
            session.add_receipt(one).unwrap();
            files::append_lines(&session.receipts_file(), "{\"torn\n").unwrap();
        }
        assert_eq!(session.receipts().unwrap(), all);
    }

    #[test]
    fn receipts_of_others_are_not_believed_and_set_aside_once() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().to_owned());
        let session = home.session(&SessionId::parse("s").unwrap());
        session.create().unwrap();
        assert_eq!(session.set_aside_foreign_receipts().unwrap(), 0);
        session.add_receipt(&receipt(CheckEnd::Exited(1))).unwrap();
        let own = fs::read_to_string(session.receipts_file()).unwrap();
        let changed = own.replace("\"exitCode\":1", "\"exitCode\":0");
        let unsealed = format!("{}}}\n", own.split(",\"seal\"").next().unwrap());
        for foreign in [&changed, &unsealed] {
            files::append_lines(&session.receipts_file(), foreign).unwrap();
        }
        files::append_lines(&session.receipts_file(), "{\"torn\n").unwrap();
        assert_eq!(session.receipts().unwrap(), [receipt(CheckEnd::Exited(1))]);

        let running = files::try_lock_file(&session.checks_lock_file()).unwrap().unwrap();
        assert_eq!(session.set_aside_foreign_receipts().unwrap(), 0, "checks are running");
        drop(running);
        assert_eq!(session.set_aside_foreign_receipts().unwrap(), 2);
        assert_eq!(session.set_aside_foreign_receipts().unwrap(), 0);
        let kept = fs::read_to_string(session.dir().join("receipts.edited.jsonl")).unwrap();
        assert_eq!(kept, format!("{changed}{unsealed}"));
        assert_eq!(fs::read_to_string(session.receipts_file()).unwrap(), format!("{own}{{\"torn\n"));
    }
}

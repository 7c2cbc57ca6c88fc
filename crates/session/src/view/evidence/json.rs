//! Evidence as JSON, for `overtone evidence` and the dashboard. Names and shapes are stable.

use overtone_core::engine::state::SendBackReason;
use overtone_core::evidence::{CheckEnd, Receipt, TestCounts};
use overtone_store::clock;
use serde::Serialize;

use super::StageEvidence;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StageEvidenceJson {
    stage: String,
    result: Option<String>,
    attempts: u32,
    changed_files: Option<u64>,
    sent_back: Vec<SentBackJson>,
    not_accepted: Vec<&'static str>,
    untrusted: Vec<String>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct SentBackJson {
    reason: &'static str,
    count: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReceiptJson {
    check: String,
    command: String,
    stage: Option<String>,
    passed: bool,
    exit_code: Option<i32>,
    signal: Option<i32>,
    timed_out: bool,
    error: Option<String>,
    at: String,
    duration_ms: i64,
    tests: Option<TestsJson>,
    tree: String,
    log: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct TestsJson {
    run: u32,
    failed: u32,
    skipped: u32,
}

impl From<&StageEvidence> for StageEvidenceJson {
    fn from(stage: &StageEvidence) -> Self {
        let recorded = &stage.recorded;
        let sent_back =
            |(reason, count): &(SendBackReason, usize)| SentBackJson { reason: reason.key(), count: *count };
        Self {
            stage: stage.key.to_string(),
            result: stage.result.clone(),
            attempts: stage.attempts,
            changed_files: recorded.changed_files,
            sent_back: recorded.sent_back.iter().map(sent_back).collect(),
            not_accepted: recorded.not_accepted.iter().map(|reason| reason.key()).collect(),
            untrusted: recorded.untrusted.clone(),
            notes: recorded.notes.clone(),
        }
    }
}

impl From<TestCounts> for TestsJson {
    fn from(TestCounts { run, failed, skipped }: TestCounts) -> Self {
        Self { run, failed, skipped }
    }
}

impl From<&Receipt> for ReceiptJson {
    fn from(receipt: &Receipt) -> Self {
        let mut json = Self {
            check: receipt.check.clone(),
            command: receipt.command.clone(),
            stage: receipt.stage.map(|key| key.to_string()),
            passed: receipt.failure().is_none(),
            exit_code: None,
            signal: None,
            timed_out: receipt.end == CheckEnd::TimedOut,
            error: None,
            at: clock::to_iso(receipt.started_at),
            duration_ms: receipt.duration_ms,
            tests: receipt.counts.map(TestsJson::from),
            tree: receipt.tree.clone(),
            log: receipt.log.clone(),
        };
        match &receipt.end {
            CheckEnd::Exited(code) => json.exit_code = Some(*code),
            CheckEnd::Signalled(signal) => json.signal = Some(*signal),
            CheckEnd::NotStarted(error) => json.error = Some(error.clone()),
            CheckEnd::TimedOut => {}
        }
        json
    }
}

//! The evidence as JSON. Names and shapes are stable.

use std::path::PathBuf;

use overtone_core::engine::state::{Ending, SendBackReason};
use overtone_core::evidence::{CheckEnd, Receipt};
use overtone_session::view::StageEvidence;
use overtone_store::clock;
use serde::Serialize;

use super::Report;

/// The output of `overtone evidence --json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EvidenceJson<'a> {
    session: &'a str,
    project: Option<PathBuf>,
    workflow: &'a str,
    ending: Option<&'static str>,
    stages: Vec<StageJson<'a>>,
    receipts: Vec<ReceiptJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StageJson<'a> {
    stage: String,
    result: Option<&'a str>,
    attempts: u32,
    changed_files: Option<u64>,
    sent_back: Vec<SentBackJson>,
    not_accepted: Vec<&'static str>,
    untrusted: &'a [String],
    notes: &'a [String],
}

#[derive(Serialize)]
struct SentBackJson {
    reason: &'static str,
    count: usize,
}

/// A receipt.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct ReceiptJson<'a> {
    check: &'a str,
    command: &'a str,
    stage: Option<String>,
    passed: bool,
    exit_code: Option<i32>,
    signal: Option<i32>,
    timed_out: bool,
    error: Option<&'a str>,
    at: String,
    duration_ms: i64,
    tests: Option<TestsJson>,
    tree: &'a str,
    log: Option<&'a str>,
}

#[derive(Serialize)]
struct TestsJson {
    run: u32,
    failed: u32,
    skipped: u32,
}

impl<'a> EvidenceJson<'a> {
    pub(super) fn new(report: &'a Report) -> Self {
        Self {
            session: report.session.id().as_str(),
            project: report.session.origin().project,
            workflow: &report.workflow.workflow_type,
            ending: report.workflow.ending.map(Ending::key),
            stages: report.evidence.stages.iter().map(StageJson::new).collect(),
            receipts: report.evidence.receipts.iter().map(ReceiptJson::new).collect(),
        }
    }
}

impl<'a> StageJson<'a> {
    fn new(stage: &'a StageEvidence) -> Self {
        let sent_back =
            |(reason, count): &(SendBackReason, usize)| SentBackJson { reason: reason.key(), count: *count };
        Self {
            stage: stage.key.to_string(),
            result: stage.result.as_deref(),
            attempts: stage.attempts,
            changed_files: stage.changed_files,
            sent_back: stage.sent_back.iter().map(sent_back).collect(),
            not_accepted: stage.not_accepted.iter().map(|reason| reason.key()).collect(),
            untrusted: &stage.untrusted,
            notes: &stage.notes,
        }
    }
}

impl<'a> ReceiptJson<'a> {
    pub(in crate::commands) fn new(receipt: &'a Receipt) -> Self {
        let mut json = Self {
            check: &receipt.check,
            command: &receipt.command,
            stage: receipt.stage.map(|key| key.to_string()),
            passed: receipt.failure().is_none(),
            exit_code: None,
            signal: None,
            timed_out: receipt.end == CheckEnd::TimedOut,
            error: None,
            at: clock::to_iso(receipt.started_at),
            duration_ms: receipt.duration_ms,
            tests: receipt.counts.map(|counts| TestsJson {
                run: counts.run,
                failed: counts.failed,
                skipped: counts.skipped,
            }),
            tree: &receipt.tree,
            log: receipt.log.as_deref(),
        };
        match &receipt.end {
            CheckEnd::Exited(code) => json.exit_code = Some(*code),
            CheckEnd::Signalled(signal) => json.signal = Some(*signal),
            CheckEnd::NotStarted(error) => json.error = Some(error),
            CheckEnd::TimedOut => {}
        }
        json
    }
}

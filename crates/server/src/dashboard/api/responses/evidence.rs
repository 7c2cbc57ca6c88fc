//! What Overtone saw of the workflow: the receipts of its checks, and the evidence for each verdict.

use overtone_core::evidence::Receipt;
use overtone_session::view::{
    CheckOutcome, ReceiptJson, StageEvidence, StageEvidenceJson, TestsJson, WorkflowEvidence,
};
use overtone_store::Session;
use serde::Serialize;

/// Only the newest receipts are sent. A workflow has a few; a check that the user runs in a loop may have any number.
const MAX_RECEIPTS: usize = 200;

#[derive(Debug, Serialize)]
pub(crate) struct EvidenceResponse {
    stages: Vec<StageResponse>,
    receipts: Vec<ReceiptResponse>,
}

#[derive(Debug, Serialize)]
struct StageResponse {
    #[serde(flatten)]
    evidence: StageEvidenceJson,
    /// The results for the last report that depended on checks. A result may be that of an earlier run on the same files.
    checks: Vec<CheckResponse>,
}

#[derive(Debug, Serialize)]
struct CheckResponse {
    check: String,
    passed: bool,
    tests: Option<TestsJson>,
}

#[derive(Debug, Serialize)]
struct ReceiptResponse {
    #[serde(flatten)]
    receipt: ReceiptJson,
    /// A later receipt is about other files.
    stale: bool,
    /// The last lines of the output. `None` if a later run has replaced the log.
    output: Option<String>,
}

impl EvidenceResponse {
    pub(crate) fn new(session: &Session, evidence: &WorkflowEvidence) -> Self {
        let newest = evidence.receipts.len().saturating_sub(MAX_RECEIPTS);
        let receipt = |receipt: &Receipt| ReceiptResponse {
            receipt: ReceiptJson::from(receipt),
            stale: evidence.is_stale(receipt),
            output: evidence.last_lines(session, receipt),
        };
        Self {
            stages: evidence.stages.iter().map(StageResponse::from).collect(),
            receipts: evidence.receipts[newest..].iter().map(receipt).collect(),
        }
    }
}

impl From<&StageEvidence> for StageResponse {
    fn from(stage: &StageEvidence) -> Self {
        Self {
            evidence: StageEvidenceJson::from(stage),
            checks: stage.recorded.checks.iter().map(CheckResponse::from).collect(),
        }
    }
}

impl From<&CheckOutcome> for CheckResponse {
    fn from(outcome: &CheckOutcome) -> Self {
        Self {
            check: outcome.check.clone(),
            passed: outcome.passed,
            tests: outcome.counts.map(TestsJson::from),
        }
    }
}

//! The evidence as JSON. Names and shapes are stable.

use std::path::PathBuf;

use overtone_core::engine::state::Ending;
use overtone_session::view::{ReceiptJson, StageEvidenceJson};
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
    stages: Vec<StageEvidenceJson>,
    receipts: Vec<ReceiptJson>,
}

impl<'a> EvidenceJson<'a> {
    pub(super) fn new(report: &'a Report) -> Self {
        Self {
            session: report.session.id().as_str(),
            project: report.session.origin().project,
            workflow: &report.workflow.workflow_type,
            ending: report.workflow.ending.map(Ending::key),
            stages: report.evidence.stages.iter().map(StageEvidenceJson::from).collect(),
            receipts: report.evidence.receipts.iter().map(ReceiptJson::from).collect(),
        }
    }
}

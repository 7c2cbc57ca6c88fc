//! What Overtone saw of a session's current workflow: the receipts of its checks, and for each stage why reports were sent
//! back or not accepted.

mod json;
mod recorded;

use std::io;
use std::path::{Component, Path};

use overtone_core::engine::state::{Millis, StageResult, WorkflowState};
use overtone_core::evidence::Receipt;
use overtone_core::registry::StageKey;
use overtone_store::{Session, files};

use crate::evidence::last_lines;
use crate::view::history::read_history;

pub use json::{ReceiptJson, StageEvidenceJson, TestsJson};
pub use recorded::{CheckOutcome, RecordedEvidence, RecordedStage};

/// How much of a log is read to show its last lines.
const LOG_BYTES: usize = 16 * 1024;

/// The evidence for a workflow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkflowEvidence {
    pub stages: Vec<StageEvidence>,
    /// The receipts of the workflow, oldest first.
    pub receipts: Vec<Receipt>,
}

/// The evidence for one stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageEvidence {
    pub key: StageKey,
    /// The verdict, or what another version wrote in its place.
    pub result: Option<String>,
    pub attempts: u32,
    pub recorded: RecordedStage,
}

impl WorkflowEvidence {
    /// Reads the whole timeline.
    pub fn read(session: &Session, workflow: &WorkflowState) -> io::Result<Self> {
        let receipts = session.receipts().map_err(io::Error::other)?;
        let history = read_history(&session.timeline_file())?;
        Ok(Self::new(workflow, &history.evidence, receipts))
    }

    /// From what was read already. Receipts of earlier workflows are left out.
    pub fn new(workflow: &WorkflowState, recorded: &RecordedEvidence, mut receipts: Vec<Receipt>) -> Self {
        let stages = workflow.stages.iter().map(|stage| StageEvidence {
            key: stage.key,
            result: stage.result.as_ref().map(|result| StageResult::as_str(result).to_owned()),
            attempts: stage.attempts,
            recorded: recorded.stage(stage.key),
        });
        let since = workflow.created_at.unwrap_or(Millis(0));
        receipts.retain(|receipt| receipt.started_at >= since);
        Self { stages: stages.collect(), receipts }
    }

    /// Whether a later receipt is about other files than this one.
    pub fn is_stale(&self, receipt: &Receipt) -> bool {
        match self.receipts.last() {
            Some(last) => last.tree != receipt.tree,
            None => false,
        }
    }

    /// The last lines that the run of this receipt printed. `None` if its log is gone, or a later run has replaced it.
    pub fn last_lines(&self, session: &Session, receipt: &Receipt) -> Option<String> {
        let log = receipt.log.as_deref()?;
        let is_inside = Path::new(log).components().all(|part| matches!(part, Component::Normal(_)));
        let last = self.receipts.iter().rfind(|other| other.log.as_deref() == Some(log))?;
        if !is_inside || last != receipt {
            return None;
        }
        let (bytes, _) = files::read_tail(&session.dir().join(log), LOG_BYTES).ok()??;
        Some(last_lines(&String::from_utf8_lossy(&bytes)))
    }
}

#[cfg(test)]
mod tests {
    use overtone_core::engine::state::SendBackReason;
    use overtone_core::evidence::{CheckEnd, TestCounts};
    use overtone_core::registry::Workflow;
    use overtone_store::{Home, SessionId};

    use super::*;

    fn session() -> (tempfile::TempDir, Session) {
        let folder = tempfile::tempdir().unwrap();
        let session = Home::at(folder.path().to_owned()).session(&SessionId::parse("s").unwrap());
        session.create().unwrap();
        (folder, session)
    }

    fn workflow() -> WorkflowState {
        WorkflowState::new("s", Workflow::Single, None, Millis(5))
    }

    fn receipt(at: i64, tree: &str, log: &str) -> Receipt {
        Receipt {
            check: "test".to_owned(),
            command: "make test".to_owned(),
            stage: "DEV".parse().ok(),
            end: CheckEnd::Exited(0),
            started_at: Millis(at),
            duration_ms: 1,
            counts: None,
            tree: tree.to_owned(),
            log: Some(log.to_owned()),
        }
    }

    #[test]
    fn only_the_events_of_the_current_workflow_count() {
        let (_folder, session) = session();
        let sent_back = r#"{"type":"system:warning","reason":"report-sent-back","stage":"DEV","missing":"checks-failed","checks":[{"check":"test","result":"fail","run":2,"failed":1,"skipped":0}]}"#;
        let lines = [
            r#"{"type":"workflow:start"}"#,
            sent_back,
            r#"{"type":"workflow:start"}"#,
            "torn {",
            sent_back,
            sent_back,
            r#"{"type":"stage:retry","stage":"DEV","result":"fail","reason":"checks-failed"}"#,
            r#"{"type":"agent:complete","stage":"DEV","changedFiles":2,"untrusted":["lint"],"notes":["n"],"checks":[7,{"check":"test","result":"pass","run":3,"failed":0,"skipped":1},{"check":"lint","result":"pass"}]}"#,
            r#"{"type":"agent:complete","stage":"DEV","changedFiles":1,"untrusted":["lint"]}"#,
            r#"{"type":"agent:complete","stage":"REVIEW","changedFiles":9}"#,
        ];
        files::append_lines(&session.timeline_file(), &(lines.join("\n") + "\n")).unwrap();
        let evidence = WorkflowEvidence::read(&session, &workflow()).unwrap();
        let [dev] = &evidence.stages[..] else { panic!("{evidence:?}") };
        let counts = TestCounts { run: 3, failed: 0, skipped: 1 };
        let outcome = |check: &str, counts| CheckOutcome { check: check.to_owned(), passed: true, counts };
        let expected = RecordedStage {
            changed_files: Some(3),
            sent_back: vec![(SendBackReason::ChecksFailed, 2)],
            not_accepted: vec![SendBackReason::ChecksFailed],
            untrusted: vec!["lint".to_owned()],
            notes: vec!["n".to_owned()],
            checks: vec![outcome("test", Some(counts)), outcome("lint", None)],
        };
        assert_eq!(dev.recorded, expected);
    }

    #[test]
    fn a_timeline_of_another_program_cannot_grow_the_evidence() {
        let (_folder, session) = session();
        let line = |number: usize| {
            format!("{{\"type\":\"agent:complete\",\"stage\":\"DEV\",\"notes\":[\"n{number}\"]}}\n")
        };
        let failure = "{\"type\":\"stage:retry\",\"stage\":\"DEV\",\"reason\":\"nothing-run\"}\n";
        let text = (0..500).map(line).collect::<String>() + &failure.repeat(500);
        files::append_lines(&session.timeline_file(), &text).unwrap();
        let evidence = WorkflowEvidence::read(&session, &workflow()).unwrap();
        let recorded = &evidence.stages[0].recorded;
        assert_eq!((recorded.notes.len(), recorded.not_accepted.len()), (100, 100));
    }

    #[test]
    fn a_receipt_is_stale_once_a_later_one_is_about_other_files() {
        let all = ["a", "b", "b"].iter().zip(4..).map(|(tree, at)| receipt(at, tree, "checks/test.log"));
        let evidence = WorkflowEvidence::new(&workflow(), &RecordedEvidence::default(), all.collect());
        let stale: Vec<_> = evidence.receipts.iter().map(|one| evidence.is_stale(one)).collect();
        assert_eq!(stale, [false, false], "the first receipt is from before the workflow");
        let all = vec![receipt(6, "a", "x"), receipt(7, "b", "x")];
        let evidence = WorkflowEvidence::new(&workflow(), &RecordedEvidence::default(), all);
        assert!(evidence.is_stale(&evidence.receipts[0]) && !evidence.is_stale(&evidence.receipts[1]));
    }

    #[test]
    fn the_last_lines_are_those_of_the_run_that_wrote_the_log() {
        let (folder, session) = session();
        session.save_check_log("checks/test.log", b"first\n\x1b[31mlast\n").unwrap();
        files::write_atomic(&folder.path().join("outside"), b"secret", files::PRIVATE).unwrap();
        let all = vec![
            receipt(6, "a", "checks/test.log"),
            receipt(7, "b", "checks/test.log"),
            receipt(8, "b", "../../outside"),
        ];
        let evidence = WorkflowEvidence::new(&workflow(), &RecordedEvidence::default(), all);
        let lines: Vec<_> = evidence.receipts.iter().map(|one| evidence.last_lines(&session, one)).collect();
        let [None, Some(last), None] = &lines[..] else { panic!("{lines:?}") };
        assert!(
            last.starts_with("first\n") && last.ends_with("last") && !last.contains('\u{1b}'),
            "{last:?}"
        );
    }
}

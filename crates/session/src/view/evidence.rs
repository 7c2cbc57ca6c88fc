//! What Overtone saw of a session's current workflow: the receipts of its checks, and for each stage why reports were sent
//! back or not accepted.

use std::io;
use std::path::Path;

use overtone_core::engine::state::{Millis, SendBackReason, StageResult, WorkflowState};
use overtone_core::evidence::Receipt;
use overtone_core::registry::{EventKind, StageKey, WarningReason};
use overtone_store::{Session, files};
use serde_json::{Map, Value};

use crate::view::Lines;

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
    /// How many files its agents have changed, in all attempts together.
    pub changed_files: Option<u64>,
    /// Why reports were sent back, each with how often.
    pub sent_back: Vec<(SendBackReason, usize)>,
    /// Why attempts failed although their report said PASS.
    pub not_accepted: Vec<SendBackReason>,
    /// Checks that were needed and not run, because they were not trusted.
    pub untrusted: Vec<String>,
    /// What the reviewer was told to look at.
    pub notes: Vec<String>,
}

impl WorkflowEvidence {
    pub fn read(session: &Session, workflow: &WorkflowState) -> io::Result<Self> {
        let stages = workflow.stages.iter().map(|stage| StageEvidence {
            key: stage.key,
            result: stage.result.as_ref().map(|result| StageResult::as_str(result).to_owned()),
            attempts: stage.attempts,
            changed_files: None,
            sent_back: Vec::new(),
            not_accepted: Vec::new(),
            untrusted: Vec::new(),
            notes: Vec::new(),
        });
        let since = workflow.created_at.unwrap_or(Millis(0));
        let receipts = session.receipts().map_err(io::Error::other)?;
        let receipts = receipts.into_iter().filter(|receipt| receipt.started_at >= since).collect();
        let mut evidence = Self { stages: stages.collect(), receipts };
        evidence.read_timeline(&session.timeline_file())?;
        Ok(evidence)
    }

    /// Lines that are not events are skipped.
    fn read_timeline(&mut self, path: &Path) -> io::Result<()> {
        let Some(file) = files::open_regular(path)? else { return Ok(()) };
        let mut lines = Lines::new(file, 0)?;
        while let Some(line) = lines.next_line()? {
            if let Some(bytes) = line.bytes
                && let Ok(fields) = serde_json::from_slice::<Map<String, Value>>(bytes)
            {
                self.add_event(&fields);
            }
        }
        Ok(())
    }

    fn add_event(&mut self, fields: &Map<String, Value>) {
        let kind = EventKind::from_name(text(fields, "type")).ok();
        if kind == Some(EventKind::WorkflowStart) {
            self.stages.iter_mut().for_each(StageEvidence::forget_events);
            return;
        }
        let key = text(fields, "stage").parse::<StageKey>();
        let Some(stage) = self.stages.iter_mut().find(|stage| Ok(stage.key) == key) else { return };
        match kind {
            Some(EventKind::AgentComplete) => stage.add_report(fields),
            // The end of a workflow has no report.
            Some(EventKind::StageRetry) => stage.add_failure(fields),
            Some(EventKind::SystemWarning)
                if text(fields, "reason") == WarningReason::ReportSentBack.name() =>
            {
                if let Some(reason) = SendBackReason::from_key(text(fields, "missing")) {
                    stage.add_sent_back(reason);
                }
            }
            _ => {}
        }
    }
}

impl StageEvidence {
    /// The session had a workflow before, whose events are not about this one.
    fn forget_events(&mut self) {
        self.changed_files = None;
        self.sent_back.clear();
        self.not_accepted.clear();
        self.untrusted.clear();
        self.notes.clear();
    }

    fn add_report(&mut self, fields: &Map<String, Value>) {
        if let Some(count) = fields.get("changedFiles").and_then(Value::as_u64) {
            self.changed_files = Some(self.changed_files.unwrap_or(0).saturating_add(count));
        }
        extend_new(&mut self.untrusted, fields, "untrusted");
        extend_new(&mut self.notes, fields, "notes");
    }

    fn add_failure(&mut self, fields: &Map<String, Value>) {
        self.not_accepted.extend(SendBackReason::from_key(text(fields, "reason")));
    }

    fn add_sent_back(&mut self, reason: SendBackReason) {
        match self.sent_back.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => self.sent_back.push((reason, 1)),
        }
    }
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Adds the texts of a list that are not there yet.
fn extend_new(texts: &mut Vec<String>, fields: &Map<String, Value>, name: &str) {
    let list = fields.get(name).and_then(Value::as_array).into_iter().flatten();
    for item in list.filter_map(Value::as_str) {
        if !texts.iter().any(|known| known == item) {
            texts.push(item.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use overtone_core::registry::Workflow;
    use overtone_store::{Home, SessionId};

    use super::*;

    #[test]
    fn only_the_events_of_the_current_workflow_count() {
        let folder = tempfile::tempdir().unwrap();
        let session = Home::at(folder.path().to_owned()).session(&SessionId::parse("s").unwrap());
        session.create().unwrap();
        let sent_back = r#"{"type":"system:warning","reason":"report-sent-back","stage":"DEV","missing":"checks-failed"}"#;
        let lines = [
            r#"{"type":"workflow:start"}"#,
            sent_back,
            r#"{"type":"workflow:start"}"#,
            "torn {",
            sent_back,
            sent_back,
            r#"{"type":"stage:retry","stage":"DEV","result":"fail","reason":"checks-failed"}"#,
            r#"{"type":"agent:complete","stage":"DEV","changedFiles":2,"untrusted":["lint"],"notes":["n"]}"#,
            r#"{"type":"agent:complete","stage":"DEV","changedFiles":1,"untrusted":["lint"]}"#,
            r#"{"type":"agent:complete","stage":"REVIEW","changedFiles":9}"#,
        ];
        files::append_lines(&session.timeline_file(), &(lines.join("\n") + "\n")).unwrap();
        let workflow = WorkflowState::new("s", Workflow::Single, None, Millis(5));
        let evidence = WorkflowEvidence::read(&session, &workflow).unwrap();
        let [dev] = &evidence.stages[..] else { panic!("{evidence:?}") };
        assert_eq!(dev.sent_back, [(SendBackReason::ChecksFailed, 2)]);
        assert_eq!(dev.not_accepted, [SendBackReason::ChecksFailed]);
        assert_eq!((dev.changed_files, dev.untrusted.as_slice()), (Some(3), &["lint".to_owned()][..]));
        assert_eq!(dev.notes, ["n"]);
    }
}

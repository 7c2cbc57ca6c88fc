//! Collects the evidence for a report, before the session is locked: running the project's checks may take minutes.

use std::path::Path;

use overtone_claude::process::is_called_by_other;
use overtone_claude::wire::HookInput;
use overtone_core::engine::{StageReport, Trigger, stage_report};
use overtone_core::evidence::Evidence;
use overtone_store::{LoadedWorkflow, Session};

use crate::evidence::transcript::{read_activity, transcript_of};
use crate::evidence::work_tree::WorkTree;

/// What was found out for a report, and the work tree as it was seen then.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) evidence: Evidence,
    /// Files with evidence that another program has changed.
    pub(crate) edited: Vec<&'static str>,
    tree: Option<WorkTree>,
}

impl Collected {
    /// The evidence for the report that an event brings. Nothing is collected for a workflow without a recorded beginning,
    /// such as one of an earlier version, or for events that bring no report.
    pub(crate) fn for_event(
        session: &Session,
        project: Option<&Path>,
        input: &HookInput,
        trigger: &Trigger,
    ) -> Self {
        let Some(project) = project else { return Self::default() };
        if !WorkTree::is_recorded(session) {
            return Self::default();
        }
        let Ok(LoadedWorkflow { document: Some(workflow), .. }) = session.load_workflow() else {
            return Self::default();
        };
        // The checks do not run for a call that counts for nothing.
        if is_called_by_other(&workflow.clients()) {
            return Self::default();
        }
        match stage_report(&workflow.state, trigger) {
            Some(report) => Self::for_report(session, project, input, trigger, report),
            None => Self::default(),
        }
    }

    fn for_report(
        session: &Session,
        project: &Path,
        input: &HookInput,
        trigger: &Trigger,
        report: StageReport,
    ) -> Self {
        let mut edited = Vec::new();
        if WorkTree::was_edited(session) {
            edited.push("tree.json");
        }
        // Receipts that could not be sorted out are not believed either.
        if let Ok(1..) = session.set_aside_foreign_receipts() {
            edited.push("receipts.jsonl");
        }
        let earlier = WorkTree::stored(session);
        let tree = match &earlier {
            Some(earlier) => earlier.now(project),
            // There is nothing to compare with, but the next agent is judged again.
            None => WorkTree::at_beginning(project),
        };
        let mut evidence = Evidence::default();
        if report.says_pass {
            if let (Some(earlier), Some(now)) = (&earlier, &tree) {
                evidence.change = Some(now.changes_since(earlier, project));
            }
            let transcript = transcript_of(input, agent_id(trigger));
            evidence.activity = transcript.and_then(|path| read_activity(&path, report.started_at));
        }
        Self { evidence, edited, tree }
    }

    /// Stores the work tree as the state that the next agent starts from.
    pub(crate) fn store_tree(&self, session: &Session) -> Option<String> {
        let stored = self.tree.as_ref()?.store(session);
        stored.err().map(|error| error.to_string())
    }
}

fn agent_id<'a>(trigger: &Trigger<'a>) -> &'a str {
    match *trigger {
        Trigger::HandingBack { agent_id, .. } | Trigger::AgentStopped { agent_id, .. } => agent_id,
        Trigger::AgentReturned { agent_id, .. } => agent_id.unwrap_or_default(),
        _ => "",
    }
}

//! Collects the evidence for a report, before the session is locked: running the project's checks may take minutes.

use std::path::Path;

use overtone_claude::wire::HookInput;
use overtone_core::engine::{StageReport, Trigger, stage_report};
use overtone_core::evidence::Evidence;
use overtone_store::Session;

use crate::evidence::transcript::{read_activity, transcript_of};
use crate::evidence::work_tree::WorkTree;

/// What was found out for a report, and the work tree as it was seen then.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) evidence: Evidence,
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
        let Ok(Some(workflow)) = session.workflow() else { return Self::default() };
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
        let earlier = WorkTree::stored(session);
        let tree = earlier.as_ref().and_then(|earlier| earlier.now(project));
        let mut evidence = Evidence::default();
        if report.says_pass {
            if let (Some(earlier), Some(now)) = (&earlier, &tree) {
                evidence.change = Some(now.changes_since(earlier, project));
            }
            let transcript = transcript_of(input, agent_id(trigger));
            evidence.activity = transcript.and_then(|path| read_activity(&path, report.started_at));
        }
        Self { evidence, tree }
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

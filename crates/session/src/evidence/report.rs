//! Collects the evidence for a report or for the end of a workflow, before the session is locked: running the project's
//! checks may take minutes.

use std::path::Path;

use overtone_claude::process::is_called_by_other;
use overtone_claude::wire::HookInput;
use overtone_core::engine::state::WorkflowState;
use overtone_core::engine::{
    ContextNeeds, StageReport, Trigger, context_needs, depends_on_changes, repairing_stage, reports_failures,
    stage_report,
};
use overtone_core::evidence::{Activity, Check, Evidence, Receipt, WorkflowChange};
use overtone_core::registry::{Agent, StageKey};
use overtone_store::{CHECKS_FILE, Home, Session, WorkflowDoc};

use crate::evidence::checks::{CheckContext, NeededCheck, PinnedChecks, not_started};
use crate::evidence::transcript::{read_activity, transcript_of};
use crate::evidence::work_tree::{TREE_FILE, TreeChanges, WorkTree};
use crate::transcript::wait_for_report;

/// Where evidence is collected.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EvidenceContext<'a> {
    pub(crate) home: &'a Home,
    pub(crate) session: &'a Session,
    pub(crate) project: &'a Path,
}

/// What was found out, and the work tree as it was seen then.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) evidence: Evidence,
    /// The files that differ from the state after the last stage, if they were compared.
    pub(crate) changed_since_stage: Option<Vec<String>>,
    /// What has changed since the workflow began, if something depends on it.
    pub(crate) workflow_change: Option<WorkflowChange>,
    /// The checks that have succeeded on the tree as it is, for a tester that is delegated.
    pub(crate) green_checks: Vec<Receipt>,
    /// What the agent has changed, whatever its report says.
    change: Option<TreeChanges>,
    /// Files with evidence that another program has changed.
    pub(crate) edited: Vec<&'static str>,
    tree: Option<WorkTree>,
}

impl EvidenceContext<'_> {
    /// The evidence for the report that an event brings. Nothing is collected for a workflow without a recorded beginning and
    /// without checks, such as one of an earlier version, or for events that bring no report.
    pub(crate) fn for_event(&self, input: &HookInput, trigger: &Trigger) -> Collected {
        if !WorkTree::is_recorded(self.session) && !self.session.has_pinned_checks() {
            return Collected::default();
        }
        let Some(workflow) = self.workflow() else { return Collected::default() };
        match stage_report(&workflow.state, trigger) {
            Some(report) => self.for_report(&workflow.state, input, trigger, report),
            None => Collected::default(),
        }
    }

    /// The workflow, unless the call does not come from the client: nothing is done for a call that counts for nothing.
    fn workflow(&self) -> Option<WorkflowDoc> {
        let workflow = self.session.load_workflow().ok()?.document?;
        if is_called_by_other(&workflow.clients()) { None } else { Some(workflow) }
    }

    /// What is known before a stage starts or a turn ends: the files that somebody other than the agent of a stage has changed,
    /// and what the context block of the next agent names.
    pub(crate) fn before_stage(&self, trigger: &Trigger) -> Collected {
        let Some(workflow) = self.workflow() else { return Collected::default() };
        let needs = context_needs(&workflow.state, trigger);
        let is_stop = matches!(trigger, Trigger::Stopping { .. });
        let needs_change = needs.change || (is_stop && depends_on_changes(&workflow.state));
        // An agent at work changes files as well, so that nothing can be compared.
        let may_compare = workflow.state.awaits_comparison();
        if !may_compare && !needs_change && needs.checks_of.is_none() {
            return Collected::default();
        }
        let Some(earlier) = WorkTree::stored(self.session) else { return Collected::default() };
        let mut collected = Collected::default();
        let mut known = earlier;
        if may_compare {
            let Some(now) = known.now(self.project) else { return Collected::default() };
            collected.changed_since_stage = Some(now.changes_since(&known, self.project).summary.files);
            collected.tree = Some(now.clone());
            known = now;
        }
        if needs_change {
            collected.workflow_change = known.workflow_change();
        }
        collected.green_checks = self.green_checks(&workflow.state, needs, &known);
        collected
    }

    /// The checks that the next agent's stage needs and that have succeeded on this tree.
    fn green_checks(&self, workflow: &WorkflowState, needs: ContextNeeds, tree: &WorkTree) -> Vec<Receipt> {
        let Some(stage) = needs.checks_of.and_then(|key| workflow.stage(key)) else { return Vec::new() };
        let Ok(Some(pinned)) = PinnedChecks::load(self.home, self.session, self.project) else {
            return Vec::new();
        };
        let Ok(receipts) = self.session.receipts() else { return Vec::new() };
        let tree = tree.fingerprint();
        let green = |check: &Check| receipts.iter().rfind(|receipt| receipt.proves(check, &tree)).cloned();
        pinned.checks.iter().filter(|check| check.is_needed_by(stage)).filter_map(green).collect()
    }

    fn for_report(
        &self,
        workflow: &WorkflowState,
        input: &HookInput,
        trigger: &Trigger,
        report: StageReport,
    ) -> Collected {
        let mut edited = Vec::new();
        if WorkTree::was_edited(self.session) {
            edited.push(TREE_FILE);
        }
        // Receipts that could not be sorted out are not believed either.
        if let Ok(1..) = self.session.set_aside_foreign_receipts() {
            edited.push("receipts.jsonl");
        }
        let earlier = WorkTree::stored(self.session);
        let mut tree = self.read_tree(earlier.as_ref());
        let change = match (&earlier, &tree) {
            (Some(earlier), Some(now)) => Some(now.changes_since(earlier, self.project)),
            _ => None,
        };
        let mut evidence = Evidence::default();
        if report.says_pass {
            evidence.change = change.as_ref().map(|change| change.summary.clone());
            evidence.activity = activity_until_report(report, input, trigger);
            evidence.reports_failures = reports_failures(message_of(trigger));
            let stage = workflow.stage(report.key);
            self.add_checks(&mut evidence, |check| match stage {
                Some(stage) if check.is_needed_by(stage) => Some(report.key),
                _ => None,
            });
            if evidence.checks.iter().any(|check| check.is_new) {
                // A check may change files, as a formatter does. That is not the work of the next agent.
                tree = self.read_tree(earlier.as_ref());
            }
        }
        let workflow_change = tree.as_ref().and_then(WorkTree::workflow_change);
        Collected { evidence, workflow_change, change, edited, tree, ..Collected::default() }
    }

    /// The work tree as it is now. Without an earlier one there is nothing to compare with, but the next agent is judged again.
    fn read_tree(&self, earlier: Option<&WorkTree>) -> Option<WorkTree> {
        match earlier {
            Some(earlier) => earlier.now(self.project),
            None => WorkTree::at_beginning(self.project),
        }
    }

    /// The evidence for a workflow whose stages are all done.
    pub(crate) fn for_end(&self, workflow: &WorkflowState) -> Evidence {
        let mut evidence = Evidence::default();
        self.add_checks(&mut evidence, |check| repairing_stage(workflow, check));
        evidence
    }

    /// Adds the results of the checks for which `stage_of` names a stage. Checks that the user has not allowed are not run.
    fn add_checks(&self, evidence: &mut Evidence, stage_of: impl Fn(&Check) -> Option<StageKey>) {
        let pinned = match PinnedChecks::load(self.home, self.session, self.project) {
            Ok(Some(pinned)) => pinned,
            Ok(None) => return,
            Err(error) => {
                evidence.checks.push(not_started(CHECKS_FILE, None, &error.to_string()));
                return;
            }
        };
        let needed: Vec<_> = pinned
            .checks
            .iter()
            .filter_map(|check| Some(NeededCheck { check, stage: Some(stage_of(check)?) }))
            .collect();
        if pinned.is_trusted {
            let context = CheckContext { session: self.session, project: self.project };
            evidence.checks = context.results(&needed);
        } else {
            evidence.untrusted = needed.iter().map(|needed| needed.check.name.clone()).collect();
        }
    }

    /// Takes the work tree as the state that an agent starts from, so that what the user or the main agent has changed since
    /// the last report does not count as its work. Only agents whose changes are judged need it, and only if nobody else is
    /// at work.
    pub(crate) fn begin_work(&self, agent: Agent) {
        if !agent.changes_code() || !WorkTree::is_recorded(self.session) {
            return;
        }
        if !self.is_one_at_work() {
            return;
        }
        let Some(tree) = self.read_tree(WorkTree::stored(self.session).as_ref()) else { return };
        // With the earlier state, more counts as the agent's work than is, which is not held against it.
        if let Ok(Some(_lock)) = self.session.lock_if_exists()
            && self.is_one_at_work()
        {
            let _ = tree.store(self.session);
        }
    }

    fn is_one_at_work(&self) -> bool {
        match self.workflow() {
            Some(workflow) => workflow.state.active_agents.len() == 1,
            None => false,
        }
    }
}

impl Collected {
    /// The work tree to write with the new state: the state that the next agent starts from if `accepted` says that a report
    /// was accepted and whether it has passed, or the state that was compared. `workflow` is the one that was decided on: if
    /// another call has compared the tree in the meantime, agents may have changed files since this one did.
    pub(crate) fn next_tree(
        &self,
        accepted: Option<bool>,
        workflow: Option<&WorkflowState>,
    ) -> Option<WorkTree> {
        let awaits_comparison = match workflow {
            Some(workflow) => workflow.awaits_comparison(),
            None => false,
        };
        let tree = self.tree.clone()?;
        match (accepted, &self.change) {
            (Some(false), Some(change)) => Some(tree.after_failure(change)),
            (Some(_), _) => Some(tree.after_pass()),
            (None, _) if self.changed_since_stage.is_some() && awaits_comparison => Some(tree),
            (None, _) => None,
        }
    }
}

/// What the agent did until this report. `None` if nothing depends on it, or if the client does not write it down, or not in
/// time: then nothing is known, which is not held against the agent.
fn activity_until_report(report: StageReport, input: &HookInput, trigger: &Trigger) -> Option<Activity> {
    if !report.needs_activity || !Path::new(&*input.transcript_path()).exists() {
        return None;
    }
    let (agent_id, may_be_early) = match *trigger {
        Trigger::HandingBack { agent_id, .. } | Trigger::AgentStopped { agent_id, .. } => (agent_id, true),
        Trigger::AgentReturned { agent_id, .. } => (agent_id?, false),
        _ => return None,
    };
    let transcript = transcript_of(input, agent_id)?;
    let begun = report.sent_back_at.max(report.started_at);
    if may_be_early && !wait_for_report(&transcript, message_of(trigger), begun) {
        return None;
    }
    read_activity(&transcript, report.started_at)
}

fn message_of<'a>(trigger: &Trigger<'a>) -> &'a str {
    match *trigger {
        Trigger::HandingBack { message, .. } | Trigger::AgentStopped { message, .. } => message,
        Trigger::AgentReturned { content, .. } => content,
        _ => "",
    }
}

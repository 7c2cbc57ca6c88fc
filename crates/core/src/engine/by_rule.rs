//! Stages that are completed by a rule instead of an agent, because nothing is left for them to do.
//!
//! The rules are fixed when a workflow starts. By default, every stage is carried out.

use crate::evidence::sources::is_document;
use crate::messages::flow;
use crate::registry::{Agent, DocsRule, EventKind, RetroRule, Stage, StageKey};

use crate::engine::flow::{Step, next_step};
use crate::engine::marker::verdict_flag;
use crate::engine::outcome::{Effect, Outcome, Record};
use crate::engine::state::{StageResult, Status, Verdict, WorkflowState};
use crate::engine::text::titled;
use crate::engine::trigger::Facts;

/// The `by` field of a stage that was completed by a rule.
pub const RULE: &str = "rule";

/// The field of a verdict with which an agent says whether users of the project see a difference.
const VISIBLE: &str = "visible";

/// The field of a verdict with which such an agent says that it has updated the documents itself.
const DOCUMENTED: &str = "documented";

/// Why a stage is not needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// No stage has failed, rejected or been blocked.
    NoTrouble,
    /// No document has changed, and nothing that users see.
    NothingVisible,
    /// Those who changed what users see have documented it themselves, before the review.
    Documented,
}

impl Reason {
    const ALL: [Self; 3] = [Self::NoTrouble, Self::NothingVisible, Self::Documented];

    pub(crate) fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.key() == key)
    }

    const fn key(self) -> &'static str {
        match self {
            Self::NoTrouble => "no-trouble",
            Self::NothingVisible => "nothing-visible",
            Self::Documented => "documented",
        }
    }
}

/// The names of all reasons, for readers of the timeline.
pub(crate) const REASONS: [&str; 3] = [Reason::ALL[0].key(), Reason::ALL[1].key(), Reason::ALL[2].key()];

/// Completes the stages that are next and not needed. Returns a line about each for the main agent.
pub(crate) fn complete_by_rule(
    workflow: &mut WorkflowState,
    facts: &Facts,
    outcome: &mut Outcome,
) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some((key, reason)) = next_unneeded(workflow, facts) {
        let Some(stage) = workflow.stage_mut(key) else { break };
        stage.status = Status::Completed;
        stage.result = Some(StageResult::ByRule);
        stage.completed_at = Some(facts.now);
        workflow.completed_stages = workflow.completed_stages.map(|count| count.saturating_add(1));
        workflow.update_current_stage();
        let record = Record::new(EventKind::StageComplete).with("stage", key);
        let record = record.with("result", StageResult::ByRule.as_str()).with("by", RULE);
        outcome.emit(record.with("reason", reason.key()));
        if let Some(feature) = workflow.feature_name.clone() {
            outcome.push(Effect::TickStage { feature, key });
        }
        let title = titled(facts.lang, key);
        lines.push(match reason {
            Reason::NoTrouble => flow::skipped_without_trouble(facts.lang, &title),
            Reason::NothingVisible => flow::skipped_nothing_visible(facts.lang, &title),
            Reason::Documented => flow::skipped_documented(facts.lang, &title),
        });
    }
    lines
}

/// The stage that is next, if it is not needed.
fn next_unneeded(workflow: &WorkflowState, facts: &Facts) -> Option<(StageKey, Reason)> {
    if !workflow.is_open() || workflow.moved_to.is_some() {
        return None;
    }
    let Step::Delegate(keys) = next_step(workflow, &facts.settings) else { return None };
    let [key] = keys[..] else { return None };
    match key.stage {
        Stage::Retro if is_without_trouble(workflow) => Some((key, Reason::NoTrouble)),
        Stage::Docs => Some((key, reason_against_docs(workflow, facts)?)),
        _ => None,
    }
}

/// Whether RETRO is not needed.
pub(crate) fn is_without_trouble(workflow: &WorkflowState) -> bool {
    workflow.rules.retro == RetroRule::OnTrouble && !workflow.had_trouble()
}

/// Why DOCS is not needed. What is not known counts as a visible change that nobody has documented. A report that says it
/// updated the documents counts only if one has in fact changed.
fn reason_against_docs(workflow: &WorkflowState, facts: &Facts) -> Option<Reason> {
    let change = facts.workflow_change.as_ref()?;
    if !may_do_without_docs(workflow) {
        return None;
    }
    let has_changed_document = change.files.iter().any(|path| is_document(path));
    match workflow.visible_change {
        Some(false) if !has_changed_document => Some(Reason::NothingVisible),
        Some(true) if has_changed_document => Some(Reason::Documented),
        _ => None,
    }
}

/// Whether the reports alone give no reason for DOCS.
fn may_do_without_docs(workflow: &WorkflowState) -> bool {
    workflow.rules.docs == DocsRule::OnChange
        && match workflow.visible_change {
            Some(true) => workflow.documented_change == Some(true),
            Some(false) => true,
            None => false,
        }
}

/// Whether a Stop may find that DOCS is not needed, so that the changed files have to be known.
pub fn depends_on_changes(workflow: &WorkflowState) -> bool {
    workflow.is_open()
        && may_do_without_docs(workflow)
        && workflow.stages.iter().any(|stage| stage.key.stage == Stage::Docs && !stage.is_resolved())
}

/// Whether the verdict of this agent has to say if users see a difference.
pub(crate) fn has_to_say_visible(workflow: &WorkflowState, agent: Agent) -> bool {
    workflow.rules.docs == DocsRule::OnChange
        && agent.changes_code()
        && workflow.stages.iter().any(|stage| stage.key.stage == Stage::Docs)
}

/// Remembers what a report says about visible changes. One visible change is enough, and a report that does not say it
/// may be about one. Each visible change has to be documented by the agent that made it. A blocked agent has not finished
/// its change, so its next report counts.
pub(crate) fn note_visible_change(
    workflow: &mut WorkflowState,
    agent: Agent,
    message: &str,
    verdict: Option<Verdict>,
) {
    if !has_to_say_visible(workflow, agent) || verdict == Some(Verdict::Blocked) {
        return;
    }
    let says_visible = verdict_flag(message, VISIBLE).unwrap_or(true);
    workflow.visible_change = Some(says_visible || workflow.visible_change == Some(true));
    if says_visible {
        let is_documented = verdict_flag(message, DOCUMENTED) == Some(true);
        workflow.documented_change = Some(is_documented && workflow.documented_change != Some(false));
    }
}

/// Remembers that files were changed by somebody who does not say what users see of it.
pub(crate) fn note_unknown_change(workflow: &mut WorkflowState) {
    if workflow.rules.docs == DocsRule::OnChange {
        workflow.visible_change = Some(true);
        workflow.documented_change = Some(false);
    }
}

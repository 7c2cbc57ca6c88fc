//! A report is sent back: the agent can continue, so it is asked before its stage fails.

use crate::messages::flow;
use crate::registry::{Stage, StageKey, WarningReason};

use crate::engine::evidence;
use crate::engine::handoff::{handoff_head, handoff_number, next_handoff_file};
use crate::engine::outcome::{Effect, Handoff, Outcome, Permission, Record};
use crate::engine::report::{Channel, Report};
use crate::engine::state::{ActiveAgent, SendBackReason, Verdict, WorkflowState};
use crate::engine::text::{TASK_UNITS, cut};
use crate::engine::trigger::Facts;
use crate::engine::verdict::{Judgement, judge};

/// Sends a report back to an agent that can continue: for a missing verdict, for evidence that speaks against a pass, and to
/// a developer for open tasks. Nothing depends on the report of an agent without a stage, so it is never sent back.
pub(crate) fn send_back(
    workflow: &WorkflowState,
    at: usize,
    report: &Report,
    facts: &Facts,
) -> Option<Outcome> {
    if report.channel == Channel::Result {
        return None;
    }
    let active = &workflow.active_agents[at];
    let key = active.stage.filter(|key| workflow.stage(*key).is_some())?;
    let (reason, text) = match judge(report.agent.stage(), report.message) {
        Judgement::NoVerdict => {
            let choices = verdict_choices(report.agent.stage());
            (SendBackReason::NoVerdict, flow::ask_verdict(facts.lang, &choices))
        }
        Judgement::Verdict(Verdict::Pass) => pass_objection(workflow, active, key, report, facts)?,
        _ => return None,
    };
    if !active.may_be_sent_back(reason) {
        return None;
    }
    let mut next = workflow.clone();
    let mut outcome = Outcome::default();
    next.active_agents[at].sent_back_for.push(reason);
    next.active_agents[at].sent_back_at = Some(facts.now);
    let slot = next.active_agents[at].slot.clone();
    if reason == SendBackReason::NoVerdict && !report.message.trim().is_empty() {
        let file = next_handoff_file(&mut next, Some(key), report.agent);
        next.active_agents[at].handoff = Some(file.clone());
        let text = handoff_head(Some(key), report.agent, None) + report.message.trim_end() + "\n";
        outcome.push(Effect::SaveHandoff(Handoff { file, text, appends: false }));
    }
    let record = Record::warning(WarningReason::ReportSentBack);
    let record = record.with("agent", report.agent.name()).with("stage", key).with("slot", slot);
    let handoff = next.active_agents[at].handoff.as_deref().and_then(handoff_number);
    let record = record.with("missing", reason.key()).with("handoff", handoff);
    outcome.emit(record.with_some("checks", evidence::checks_field(&facts.evidence)));
    outcome.push(Effect::PutWorkflow(next));
    match report.channel {
        Channel::Handback => outcome.reply.permission = Some(Permission::Deny { reason: text }),
        Channel::Stop | Channel::Result => outcome.reply.block = Some(text),
    }
    Some(outcome)
}

/// What a report that says PASS is sent back for, if anything.
fn pass_objection(
    workflow: &WorkflowState,
    active: &ActiveAgent,
    key: StageKey,
    report: &Report,
    facts: &Facts,
) -> Option<(SendBackReason, String)> {
    if let Some(objection) = evidence::objection(workflow.stage(key)?, report.message, workflow.guard, facts)
        && active.may_be_sent_back(objection.reason)
    {
        return Some((objection.reason, objection.request));
    }
    let open = facts.open_work(workflow);
    if key.stage != Stage::Dev {
        return None;
    }
    let first = cut(open.first()?, TASK_UNITS);
    Some((SendBackReason::OpenTasks, flow::ask_tasks(facts.lang, open.len(), first)))
}

/// The markers with which an agent of this stage may end its report.
fn verdict_choices(stage: Option<Stage>) -> String {
    let bad = match stage {
        Some(Stage::Retro) => "ISSUES",
        Some(stage) if stage.is_reviewer() => "REJECT",
        _ => "FAIL",
    };
    ["PASS", bad, "BLOCKED"].map(|word| format!("`<!-- VERDICT: {{\"result\":\"{word}\"}} -->`")).join(" ")
}

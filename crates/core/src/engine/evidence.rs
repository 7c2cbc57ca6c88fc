//! What speaks against a report that says PASS.
//!
//! A report passes on what Overtone saw itself. An objection is first sent back to the agent, which still has the context to
//! repair it; when that has happened often enough, the stage fails with it.

use crate::messages::evidence as words;
use crate::registry::{Agent, GuardLevel, Stage, StageKey, TestMode};

use crate::engine::marker::verdict_field;
use crate::engine::outcome::{FieldValue, Record};
use crate::engine::quote::{cut, quoted};
use crate::engine::state::{ActiveAgent, Millis, SendBackReason, StageState, Verdict, WorkflowState};
use crate::engine::trigger::{Facts, Trigger};
use crate::engine::verdict::{Judgement, judge};
use crate::evidence::{Check, CheckFailure, CheckResult, Evidence, Receipt, TestCounts};
use crate::messages::Lang;

/// How much of an agent's explanation is passed on, in UTF-16 units.
const EXPLANATION_UNITS: usize = 300;

/// The fields of a verdict with which an agent explains what would otherwise speak against it.
const UNCHANGED: &str = "unchanged";
const REMOVED_TESTS: &str = "removed_tests";
const CHANGED_TESTS: &str = "changed_tests";

/// Why a report that says PASS is not accepted as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Objection {
    pub(crate) reason: SendBackReason,
    /// What the agent is asked to do about it.
    pub(crate) request: String,
    /// The same fact for the main agent and the next agents.
    pub(crate) finding: String,
}

impl Objection {
    /// Whether the stage fails if the agent reports the same again. Otherwise the reviewer and the user are notified.
    pub(crate) const fn is_binding(&self) -> bool {
        !matches!(self.reason, SendBackReason::FewerTests)
    }
}

/// A report of a stage, for which the driver collects evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageReport {
    pub key: StageKey,
    /// Whether the report says that the stage passes. Only then the evidence decides.
    pub says_pass: bool,
    /// Whether a pass depends on what the agent did.
    pub needs_activity: bool,
    /// When the agent was started for this attempt.
    pub started_at: Option<Millis>,
    /// When its last report of this attempt was sent back, if one was.
    pub sent_back_at: Option<Millis>,
}

/// The report that an event brings, if it is about a stage and was not processed before.
pub fn stage_report(workflow: &WorkflowState, trigger: &Trigger) -> Option<StageReport> {
    let (agent, message, agent_id) = match *trigger {
        Trigger::HandingBack { agent_type, agent_id, message }
        | Trigger::AgentStopped { agent_type, agent_id, message, .. } => {
            (Agent::from_wire(agent_type)?, message, Some(agent_id))
        }
        Trigger::AgentReturned { agent_id, subagent_type, finished: true, content, .. } => {
            (Agent::from_wire(subagent_type)?, content, agent_id)
        }
        _ => return None,
    };
    if !workflow.is_open() {
        return None;
    }
    if let Some(id) = agent_id
        && workflow.finished_agent(id).is_some()
    {
        return None;
    }
    let active = workflow.active_agents.iter().find(|active| {
        let same_id = agent_id.is_some() && active.agent_id.as_deref() == agent_id;
        same_id || (active.agent() == Some(agent) && active.agent_id.is_none())
    })?;
    let stage = workflow.stage(active.stage?)?;
    let says_pass = judge(agent.stage(), message) == Judgement::Verdict(Verdict::Pass);
    let ActiveAgent { started_at, sent_back_at, .. } = *active;
    let needs_activity = says_pass && (runs_things(stage) || stage.key.stage.is_reviewer());
    Some(StageReport { key: stage.key, says_pass, needs_activity, started_at, sent_back_at })
}

/// The first thing that speaks against a pass of this stage.
pub(crate) fn objection(
    stage: &StageState,
    message: &str,
    guard: GuardLevel,
    facts: &Facts,
) -> Option<Objection> {
    let evidence = &facts.evidence;
    let lang = facts.lang;
    failed_checks(evidence, lang)
        .or_else(|| missing_change(stage, message, evidence, lang))
        .or_else(|| removed_tests(stage, message, evidence, lang))
        .or_else(|| changed_tests(stage, message, evidence, guard, lang))
        .or_else(|| contradiction(stage, evidence, lang))
        .or_else(|| missing_activity(stage, evidence, lang))
        .or_else(|| lost_tests(evidence, lang))
}

fn failed_checks(evidence: &Evidence, lang: Lang) -> Option<Objection> {
    let failed: Vec<_> = evidence.failed_checks().collect();
    if failed.is_empty() {
        return None;
    }
    let finding = describe_results(&failed, lang);
    let outputs: String = failed.iter().map(|check| output_block(check)).collect();
    let request = words::ask_checks(lang, &finding, &outputs);
    Some(Objection { reason: SendBackReason::ChecksFailed, request, finding: format!("{finding}{outputs}") })
}

/// One line for each result.
fn describe_results(results: &[&CheckResult], lang: Lang) -> String {
    results.iter().map(|check| describe_receipt(&check.receipt, lang)).collect::<Vec<_>>().join("\n")
}

/// A stage that has to repair what a check found when the workflow was about to complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FinalFailure {
    pub(crate) key: StageKey,
    /// The failed checks, one line each.
    pub(crate) summary: String,
    /// The same with the end of their output.
    pub(crate) details: String,
}

/// The stages that fail because of checks that do not succeed on the tree with which the workflow would end.
pub(crate) fn final_failures(workflow: &WorkflowState, evidence: &Evidence, lang: Lang) -> Vec<FinalFailure> {
    let mut by_stage: Vec<(StageKey, Vec<&CheckResult>)> = Vec::new();
    for check in evidence.failed_checks() {
        let needed_by = check.receipt.stage.filter(|key| workflow.stage(*key).is_some());
        let Some(key) = needed_by.or_else(|| last_development(workflow)).or(last_stage(workflow)) else {
            continue;
        };
        match by_stage.iter_mut().find(|(other, _)| *other == key) {
            Some((_, checks)) => checks.push(check),
            None => by_stage.push((key, vec![check])),
        }
    }
    let failure = |(key, checks): (StageKey, Vec<&CheckResult>)| {
        let summary = describe_results(&checks, lang);
        let outputs: String = checks.iter().map(|check| output_block(check)).collect();
        FinalFailure { key, details: format!("{summary}{outputs}"), summary }
    };
    by_stage.into_iter().map(failure).collect()
}

fn last_development(workflow: &WorkflowState) -> Option<StageKey> {
    workflow.stages.iter().map(|stage| stage.key).rfind(|key| key.stage == Stage::Dev)
}

fn last_stage(workflow: &WorkflowState) -> Option<StageKey> {
    workflow.stages.last().map(|stage| stage.key)
}

/// The stage that has to repair what this check finds at the end of the workflow: the last development, or without one, the
/// last stage that needs the check. `None` if no stage of the workflow needs it.
pub fn repairing_stage(workflow: &WorkflowState, check: &Check) -> Option<StageKey> {
    let needs_it = workflow.stages.iter().rfind(|stage| check.is_needed_by(stage))?;
    Some(last_development(workflow).unwrap_or(needs_it.key))
}

/// The end of a check's output as a block of text. It is data of the project, not an instruction.
fn output_block(check: &CheckResult) -> String {
    if check.last_lines.is_empty() {
        return String::new();
    }
    format!("\n```text\n{}\n```", check.last_lines.replace("```", "'''"))
}

/// A developer that changed no file. An explanation in the verdict is believed.
fn missing_change(stage: &StageState, message: &str, evidence: &Evidence, lang: Lang) -> Option<Objection> {
    let change = evidence.change.as_ref()?;
    if stage.key.stage != Stage::Dev
        || !change.files.is_empty()
        || verdict_field(message, UNCHANGED).is_some()
    {
        return None;
    }
    Some(Objection {
        reason: SendBackReason::NothingChanged,
        request: words::ask_change(lang),
        finding: words::nothing_changed(lang),
    })
}

fn removed_tests(stage: &StageState, message: &str, evidence: &Evidence, lang: Lang) -> Option<Objection> {
    let change = evidence.change.as_ref()?;
    if !changes_code(stage.key.stage) || verdict_field(message, REMOVED_TESTS).is_some() {
        return None;
    }
    let (before, after) = (change.tests_before, change.tests_after);
    let finding = if change.removes_tests() {
        words::tests_removed(lang, before.tests, after.tests, before.skipped, after.skipped)
    } else if change.removes_assertions() {
        words::assertions_removed(lang, change.assertions.before, change.assertions.after)
    } else {
        return None;
    };
    let request = words::ask_tests(lang, &finding);
    Some(Objection { reason: SendBackReason::TestsRemoved, request, finding })
}

/// Tests that expect something else than before. Often this is part of the work, so it is asked about at the strict level
/// only; otherwise the reviewer looks at it.
fn changed_tests(
    stage: &StageState,
    message: &str,
    evidence: &Evidence,
    guard: GuardLevel,
    lang: Lang,
) -> Option<Objection> {
    let gone = evidence.change.as_ref()?.assertions.gone;
    if gone == 0
        || guard != GuardLevel::Strict
        || !changes_code(stage.key.stage)
        || [CHANGED_TESTS, REMOVED_TESTS].iter().any(|field| verdict_field(message, field).is_some())
    {
        return None;
    }
    let finding = words::tests_changed(lang, gone);
    let request = words::ask_changed_tests(lang, &finding);
    Some(Objection { reason: SendBackReason::TestsChanged, request, finding })
}

/// A report that says PASS, and that tests failed.
fn contradiction(stage: &StageState, evidence: &Evidence, lang: Lang) -> Option<Objection> {
    if !runs_things(stage) || !evidence.reports_failures {
        return None;
    }
    Some(Objection {
        reason: SendBackReason::Contradiction,
        request: words::ask_contradiction(lang),
        finding: words::contradiction(lang),
    })
}

/// Stages in which an agent may change code, and with it the tests that judge it.
const fn changes_code(stage: Stage) -> bool {
    matches!(stage, Stage::Dev | Stage::Debug | Stage::BuildFix | Stage::Refactor)
}

/// Whether the verdict of this stage is about something that its agent has to run.
fn runs_things(stage: &StageState) -> bool {
    matches!(stage.key.stage, Stage::Test | Stage::Qa | Stage::E2e) && stage.mode != Some(TestMode::Spec)
}

/// A judge that did not do what its verdict is about. Checks that Overtone ran itself replace what a tester runs.
fn missing_activity(stage: &StageState, evidence: &Evidence, lang: Lang) -> Option<Objection> {
    let activity = evidence.activity.as_ref()?;
    let (reason, request, finding) = if runs_things(stage) {
        if activity.last_test_failed {
            (SendBackReason::TestFailed, words::ask_green_test(lang), words::last_test_failed(lang))
        } else if activity.runs == 0 && evidence.checks.is_empty() {
            (SendBackReason::NothingRun, words::ask_run(lang), words::nothing_run(lang))
        } else {
            return None;
        }
    } else if stage.key.stage.is_reviewer() && activity.looks == 0 {
        (SendBackReason::NothingRead, words::ask_read(lang), words::nothing_read(lang))
    } else {
        return None;
    };
    Some(Objection { reason, request, finding })
}

fn lost_tests(evidence: &Evidence, lang: Lang) -> Option<Objection> {
    for check in &evidence.checks {
        if let Some((before, after)) = check.lost_tests() {
            let name = quoted(&check.receipt.check);
            let finding =
                words::fewer_tests(lang, &name, before.run, after.run, before.skipped, after.skipped);
            let request = words::ask_tests(lang, &finding);
            return Some(Objection { reason: SendBackReason::FewerTests, request, finding });
        }
    }
    None
}

/// What the reviewer has to know about a report that was accepted: what the agent explained itself.
pub(crate) fn remark(stage: &StageState, agent: Agent, message: &str, facts: &Facts) -> Option<String> {
    let change = facts.evidence.change.as_ref()?;
    let explained = |field| {
        let why = verdict_field(message, field)?;
        Some(quoted(cut(&why, EXPLANATION_UNITS)))
    };
    if stage.key.stage == Stage::Dev && change.files.is_empty() {
        return Some(words::unchanged_remark(facts.lang, agent.name(), &explained(UNCHANGED)?));
    }
    if !changes_code(stage.key.stage) {
        return None;
    }
    if change.removes_tests() || change.removes_assertions() {
        return Some(words::removed_tests_remark(facts.lang, agent.name(), &explained(REMOVED_TESTS)?));
    }
    let gone = change.assertions.gone;
    if gone == 0 {
        return None;
    }
    Some(match explained(CHANGED_TESTS) {
        Some(why) => words::changed_tests_remark(facts.lang, agent.name(), gone, &why),
        None => words::changed_tests_unexplained(facts.lang, agent.name(), gone),
    })
}

/// The receipts in the form in which they are part of a record: `test: exit 0, 12 run, 0 failed, 1 skipped`.
pub(crate) fn receipts_field(evidence: &Evidence) -> Option<FieldValue> {
    if evidence.checks.is_empty() {
        return None;
    }
    let lines = evidence.checks.iter().map(|check| describe_receipt(&check.receipt, Lang::En));
    Some(FieldValue::List(lines.collect()))
}

/// The results of the checks with their counts, one object each. Without output and commands, so that telemetry and the
/// dashboard need no other file.
pub(crate) fn checks_field(evidence: &Evidence) -> Option<FieldValue> {
    if evidence.checks.is_empty() {
        return None;
    }
    Some(FieldValue::Objects(evidence.checks.iter().map(|check| check_fields(&check.receipt)).collect()))
}

fn check_fields(receipt: &Receipt) -> Vec<(&'static str, FieldValue)> {
    let verdict = if receipt.failure().is_none() { Verdict::Pass } else { Verdict::Fail };
    let mut fields = vec![("check", receipt.check.as_str().into()), ("result", verdict.key().into())];
    if let Some(TestCounts { run, failed, skipped }) = receipt.counts {
        fields.extend([("run", run.into()), ("failed", failed.into()), ("skipped", skipped.into())]);
    }
    fields
}

/// The names of the checks that were not run, in the form in which they are part of a record.
pub(crate) fn untrusted_field(evidence: &Evidence) -> Option<FieldValue> {
    if evidence.untrusted.is_empty() { None } else { Some(FieldValue::List(evidence.untrusted.clone())) }
}

/// The record of a report with everything that was found out about it.
pub(crate) fn add_to_record(record: Record, evidence: &Evidence) -> Record {
    record
        .with_some("receipts", receipts_field(evidence))
        .with_some("checks", checks_field(evidence))
        .with_some("untrusted", untrusted_field(evidence))
        .with_some("changedFiles", changed_files(evidence))
}

/// How many files the agent has changed, if known.
fn changed_files(evidence: &Evidence) -> Option<u32> {
    let change = evidence.change.as_ref()?;
    u32::try_from(change.files.len()).ok()
}

/// The text for the user about checks that were not run because they are not trusted. They are shown once per workflow.
pub(crate) fn untrusted_notice(workflow: &mut WorkflowState, facts: &Facts) -> Option<String> {
    let names = &facts.evidence.untrusted;
    if names.is_empty() || workflow.untrusted_checks_shown {
        return None;
    }
    workflow.untrusted_checks_shown = true;
    let names: Vec<_> = names.iter().map(|name| quoted(name)).collect();
    Some(words::untrusted(facts.lang, &names.join(", ")))
}

/// One line about a receipt: the check and its result.
pub fn describe_receipt(receipt: &Receipt, lang: Lang) -> String {
    words::check(lang, &quoted(&receipt.check), &describe_result(receipt, lang))
}

/// How a run ended, with the number of tests.
pub fn describe_result(receipt: &Receipt, lang: Lang) -> String {
    let end = match receipt.failure() {
        None => words::succeeded(lang),
        Some(CheckFailure::ExitCode(code)) => words::exit_code(lang, code),
        Some(CheckFailure::Signal(signal)) => words::signalled(lang, signal),
        Some(CheckFailure::TimedOut) => words::timed_out(lang),
        Some(CheckFailure::NotStarted) => words::not_started(lang),
        Some(CheckFailure::FailedTests(_)) => words::tests_failed(lang),
        Some(CheckFailure::NoTestRun) => words::no_test_run(lang),
    };
    let counts = match receipt.counts {
        Some(TestCounts { run, failed, skipped }) => words::counts(lang, run, failed, skipped),
        None => String::new(),
    };
    format!("{end}{counts}")
}

//! Tool calls that have ended or failed: what is observed and recorded, and the answer.

use crate::messages::{context, flow, tools};
use crate::registry::{Agent, EventKind, WarningReason};

use crate::engine::agents::{
    AgentIds, find_by_call, find_by_id, identify, mark_background, position_of_reporter,
};
use crate::engine::completion;
use crate::engine::instinct::{Observation, ObservationKind, Signal, preferred_tool};
use crate::engine::notices::deliver_notices;
use crate::engine::outcome::{Effect, Outcome, Record};
use crate::engine::redact::{command_name, first_line};
use crate::engine::release::{INTERRUPTED, Released, lost_agent_record, release_failed_launch};
use crate::engine::report::{Channel, Report};
use crate::engine::state::{LoopState, Pause, WorkflowState};
use crate::engine::trigger::{Facts, Snapshot};
use crate::engine::verdict::API_ERROR;
use crate::engine::wording::mismatches;

/// How many characters of an error are kept.
const ERROR_LENGTH: usize = 300;

/// What the Agent tool returned, or a notification in its place.
pub(crate) struct AgentResult<'a> {
    pub(crate) ids: AgentIds<'a>,
    pub(crate) subagent_type: &'a str,
    pub(crate) finished: bool,
    pub(crate) content: &'a str,
    pub(crate) handback: &'a str,
}

/// Processes the report, unless it has come another way, and delivers the waiting notices to the main agent.
pub(crate) fn agent_returned(snapshot: &Snapshot, result: &AgentResult, facts: &Facts) -> Outcome {
    let mut outcome = Outcome::default();
    let Some(workflow) = &snapshot.workflow else {
        return outcome;
    };
    if !result.finished {
        outcome.effects.extend(mark_background(workflow, result.ids).map(Effect::PutWorkflow));
        return outcome;
    }
    if let Some(report) = unprocessed_report(workflow, result) {
        outcome = completion::report(workflow, &report, facts);
    }
    record_handback(workflow, result, facts, &mut outcome);
    with_notices(snapshot, outcome, facts)
}

/// Records that the client delivered a report with a warning, or withheld it.
fn record_handback(workflow: &WorkflowState, result: &AgentResult, facts: &Facts, outcome: &mut Outcome) {
    let finished = || workflow.finished_agent(result.ids.agent_id?)?.agent;
    let Some(agent) = agent_of_result(workflow, result).or_else(finished) else {
        return;
    };
    let text = match result.handback {
        "flagged" => flow::handback_flagged(facts.lang, agent.name()),
        "withheld" => flow::handback_withheld(facts.lang, agent.name()),
        _ => return,
    };
    let record = Record::warning(WarningReason::Handback);
    outcome.emit(record.with("agent", agent.name()).with("handback", result.handback));
    let mut next = outcome.workflow().unwrap_or(workflow).clone();
    next.leave_notice(text);
    outcome.push(Effect::PutWorkflow(next));
}

/// The outcome with all waiting notices for the main agent in its reply.
fn with_notices(snapshot: &Snapshot, mut outcome: Outcome, facts: &Facts) -> Outcome {
    let workflow = outcome.workflow().cloned().or_else(|| snapshot.workflow.clone());
    let current = Snapshot { workflow, looping: snapshot.looping.clone() };
    outcome.reply.model_context = deliver_notices(&current, facts, &mut outcome);
    outcome.reply.result = String::new();
    outcome
}

/// The agent by the type that the result names, or by its ids.
fn agent_of_result(workflow: &WorkflowState, result: &AgentResult) -> Option<Agent> {
    let by_id = || find_by_id(workflow, result.ids.tool_use_id, result.ids.agent_id)?.agent();
    identify(result.subagent_type, "").or_else(by_id)
}

/// The result as a report, if the agent has not reported yet.
fn unprocessed_report<'a>(workflow: &WorkflowState, result: &AgentResult<'a>) -> Option<Report<'a>> {
    let agent = agent_of_result(workflow, result)?;
    position_of_reporter(workflow, agent, result.ids)?;
    Some(Report { agent, ids: result.ids, message: result.content, channel: Channel::Result })
}

/// A shell command has ended. `workflow` is given only for commands of the main agent in a workflow that the user has
/// neither stopped nor paused.
pub(crate) fn bash_ran(
    workflow: Option<&WorkflowState>,
    command: &str,
    error: Option<&str>,
    facts: &Facts,
) -> Outcome {
    let mut outcome = Outcome::default();
    let name = command_name(command);
    if name.is_empty() {
        return outcome;
    }
    if let Some(guard) = error.and_then(|error| error_guard(workflow, &name, error, facts)) {
        outcome.reply.result.clone_from(&guard);
        outcome.reply.model_context = Some(guard);
    }
    outcome.push(Effect::Observe(command_outcome(&name, error, facts)));
    outcome.effects.extend(tool_preference(&name, facts).map(Effect::Observe));
    outcome
}

/// Programs whose failure means that something is wrong with the project, not with the command line.
const GUARDED_PROGRAMS: [&str; 18] = [
    "node", "bun", "npm", "npx", "yarn", "pnpm", "git", "python", "python3", "pip", "tsc", "eslint", "jest",
    "vitest", "cargo", "go", "make", "gradle",
];

/// An error text of at most this many characters explains nothing.
const GUARDED_ERROR_LENGTH: usize = 20;

/// The text that keeps the main agent of a workflow from working around an error of a build or test tool. Sub-agents have
/// their own instructions about failures.
fn error_guard(
    workflow: Option<&WorkflowState>,
    command: &str,
    error: &str,
    facts: &Facts,
) -> Option<String> {
    let program = command.split(' ').next()?;
    if !workflow?.is_open() || !GUARDED_PROGRAMS.contains(&program) {
        return None;
    }
    let error = first_line(error, ERROR_LENGTH);
    if error.chars().count() <= GUARDED_ERROR_LENGTH {
        return None;
    }
    Some(tools::error_guard(facts.lang, program, &error))
}

/// A failed command confirms the lesson about it, and a successful one contradicts it.
fn command_outcome(name: &str, error: Option<&str>, facts: &Facts) -> Observation {
    let seen = Observation::seen(facts.lang, ObservationKind::ErrorResolutions, name);
    match error {
        Some(error) => seen.with_evidence(&first_line(error, ERROR_LENGTH)),
        None => Observation { signal: Signal::Contradict, ..seen },
    }
}

fn tool_preference(name: &str, facts: &Facts) -> Option<Observation> {
    let program = name.split(' ').next()?;
    preferred_tool(program)?;
    Some(Observation::seen(facts.lang, ObservationKind::ToolPreferences, program))
}

/// Whether a file is Markdown, whose wording is checked.
pub fn is_markdown(path: &str) -> bool {
    let extension = path.rsplit('.').next().unwrap_or_default();
    extension.eq_ignore_ascii_case("md")
}

pub(crate) fn file_written(path: &str, text: &str, facts: &Facts) -> Outcome {
    let mut outcome = Outcome::default();
    let found = if is_markdown(path) { mismatches(text) } else { Vec::new() };
    if found.is_empty() {
        return outcome;
    }
    let lang = facts.lang;
    let lines: Vec<_> =
        found.iter().take(5).map(|m| tools::wording_mismatch(lang, m.line, m.marker, m.word)).collect();
    let text = tools::wording_found(lang, path, &lines.join(&context::list_separator(lang)));
    let trigger = format!("{} {}", found[0].marker, found[0].word);
    let seen = Observation::seen(lang, ObservationKind::WordingMismatch, trigger);
    outcome.push(Effect::Observe(seen));
    outcome.reply.result.clone_from(&text);
    outcome.reply.model_context = Some(text);
    outcome
}

/// A tool that failed.
pub(crate) struct Failure<'a> {
    pub(crate) tool: &'a str,
    pub(crate) error: &'a str,
    pub(crate) command: &'a str,
    pub(crate) tool_use_id: Option<&'a str>,
    pub(crate) agent: Option<Agent>,
    pub(crate) is_main_agent: bool,
}

/// How the failure of a tool is handled.
enum Severity {
    /// The agent is given up, and user and model are notified.
    Delegation,
    /// User and model are notified.
    Writing,
    /// The failure is recorded.
    Recorded,
    /// The failure is only observed.
    Observed,
}

/// Whether a tool starts a sub-agent. It has an old and a new name.
pub fn is_delegation(tool: &str) -> bool {
    matches!(tool, "Task" | "Agent")
}

fn severity(tool: &str) -> Severity {
    match tool {
        _ if is_delegation(tool) => Severity::Delegation,
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => Severity::Writing,
        "Bash" => Severity::Recorded,
        _ => Severity::Observed,
    }
}

/// The user interrupted a delegation. Its agent is given up, and the loop pauses.
pub(crate) fn interrupted(
    snapshot: &Snapshot,
    tool_use_id: Option<&str>,
    agent: Option<Agent>,
    facts: &Facts,
) -> Outcome {
    let mut outcome = Outcome::default();
    let Some(workflow) = &snapshot.workflow else {
        return outcome;
    };
    let Some(released) = release_failed_launch(workflow, tool_use_id, agent, facts) else {
        return outcome;
    };
    for lost in &released.lost {
        outcome.emit(lost_agent_record(lost, INTERRUPTED).under(&facts.settings));
    }
    outcome.effects.extend(released.effects);
    outcome.push(Effect::PutWorkflow(released.workflow));
    let mut looping = snapshot.looping.clone().unwrap_or_else(|| LoopState::started(facts.now));
    looping.pause(Pause::Interrupted);
    outcome.push(Effect::PutLoop(looping));
    outcome
}

pub(crate) fn tool_failed(snapshot: &Snapshot, failure: &Failure, facts: &Facts) -> Outcome {
    let workflow = snapshot.workflow.as_ref();
    if let Some(outcome) = agent_cut_off(snapshot, failure, facts) {
        return outcome;
    }
    let mut outcome = Outcome::default();
    let error = first_line(failure.error, ERROR_LENGTH);
    let severity = severity(failure.tool);
    let released = match (workflow, &severity) {
        (Some(workflow), Severity::Delegation) => {
            release_failed_launch(workflow, failure.tool_use_id, failure.agent, facts)
        }
        _ => None,
    };
    let record = Record::new(EventKind::ToolFailure).with("toolName", failure.tool).with("error", &*error);
    match severity {
        Severity::Delegation => outcome.emit(record.with("slots", released_slots(released.as_ref()))),
        Severity::Writing | Severity::Recorded => outcome.emit(record),
        Severity::Observed => {}
    }
    outcome.push(Effect::Observe(observe_failure(failure, &error, facts)));
    let lang = facts.lang;
    let (advice, notice) = match severity {
        Severity::Delegation => (
            Some(tools::delegation_failed(lang, &error)),
            Some(tools::delegation_failed_notice(lang, first_sentence(&error))),
        ),
        Severity::Writing => (
            Some(tools::write_failed(lang, failure.tool, &error)),
            Some(tools::write_failed_notice(lang, failure.tool, first_sentence(&error))),
        ),
        Severity::Recorded | Severity::Observed => (None, None),
    };
    if let Some(released) = released {
        outcome.effects.extend(released.effects);
        outcome.push(Effect::PutWorkflow(released.workflow));
    }
    outcome.reply.result = advice.clone().unwrap_or_default();
    outcome.reply.system_message = notice;
    outcome.reply.model_context = advice;
    if failure.tool == "Bash" {
        let guarded = if failure.is_main_agent && !snapshot.is_halted() { workflow } else { None };
        let name = command_name(failure.command);
        outcome.reply.model_context = error_guard(guarded, &name, bash_detail(failure.error), facts);
    }
    outcome
}

/// The first sentence says what is wrong, for the user. What follows, such as a list of all agents, is for the model.
fn first_sentence(error: &str) -> &str {
    let sentence = match error.split_once(". ") {
        Some((sentence, _)) => sentence,
        None => error,
    };
    sentence.trim_end_matches('.')
}

/// The error without its first line, which is only the exit code.
fn bash_detail(error: &str) -> &str {
    match error.split_once('\n') {
        Some((_, detail)) if !detail.trim().is_empty() => detail,
        _ => error,
    }
}

/// The slots of the agents that were given up.
fn released_slots(released: Option<&Released>) -> Vec<String> {
    released.into_iter().flat_map(|released| &released.lost).map(|agent| agent.slot.clone()).collect()
}

/// Handles an API error that ended a working agent as its report. Newer clients report it as a failure of the tool, older
/// ones as the result of the agent. `None` for other failures.
fn agent_cut_off(snapshot: &Snapshot, failure: &Failure, facts: &Facts) -> Option<Outcome> {
    let workflow = snapshot.workflow.as_ref()?;
    let call = failure.tool_use_id?;
    let cause = &failure.error[failure.error.find(API_ERROR)?..];
    let active = find_by_call(workflow, call, failure.agent)?;
    let ids = AgentIds { tool_use_id: Some(call), agent_id: active.agent_id.as_deref() };
    let report = Report { agent: active.agent()?, ids, message: cause, channel: Channel::Result };
    Some(with_notices(snapshot, completion::report(workflow, &report, facts), facts))
}

fn observe_failure(failure: &Failure, error: &str, facts: &Facts) -> Observation {
    let name = command_name(failure.command);
    if failure.tool == "Bash" && !name.is_empty() {
        return command_outcome(&name, Some(bash_detail(failure.error)), facts);
    }
    Observation::seen(facts.lang, ObservationKind::ErrorResolutions, failure.tool).with_evidence(error)
}

//! Tool use and its failures: what is observed, recorded and said.

use overtone_messages::{context, flow, tools as words};
use overtone_registry::{Agent, EventKind};

use crate::completion::{self, Channel, Released, Report};
use crate::gate::identify;
use crate::instinct::{Observation, ObservationKind, Signal};
use crate::outcome::{Effect, Outcome, Record};
use crate::prompt::deliver_notices;
use crate::redact::{command_name, first_line};
use crate::state::{LoopState, Pause, WorkflowState};
use crate::trigger::{Facts, Snapshot};
use crate::verdict::API_ERROR;
use crate::wording::mismatches;

/// Programs that a dedicated tool does better. Searching is not among them: the clients offer no Grep and no Glob.
const PREFERRED: [(&str, &str); 4] = [("cat", "Read"), ("head", "Read"), ("tail", "Read"), ("sed", "Edit")];

/// The `error` of an agent that the user interrupted.
pub const INTERRUPTED: &str = "interrupted";

/// How much of an error is kept.
const ERROR_LENGTH: usize = 300;

/// The Agent tool came back.
pub(crate) struct Returned<'a> {
    pub(crate) tool_use_id: Option<&'a str>,
    pub(crate) agent_id: Option<&'a str>,
    pub(crate) subagent_type: &'a str,
    pub(crate) finished: bool,
    pub(crate) content: &'a str,
    pub(crate) handback: &'a str,
}

/// Delivers the waiting next step to the main agent, after making up for a report that came no other way.
pub(crate) fn agent_returned(snapshot: &Snapshot, returned: &Returned, facts: &Facts) -> Outcome {
    let Some(workflow) = &snapshot.workflow else {
        return Outcome::default();
    };
    if !returned.finished {
        let marked = completion::launched_in_background(workflow, returned.tool_use_id, returned.agent_id);
        return Outcome {
            effects: marked.map(Effect::PutWorkflow).into_iter().collect(),
            ..Outcome::default()
        };
    }
    let mut outcome = reconcile(workflow, returned, facts).unwrap_or_default();
    note_handback(workflow, returned, facts, &mut outcome);
    deliver(snapshot, outcome, facts)
}

/// A report that the client delivered under a warning, or not at all, is recorded as such.
fn note_handback(workflow: &WorkflowState, returned: &Returned, facts: &Facts, outcome: &mut Outcome) {
    let active = completion::recorded(workflow, returned.tool_use_id, returned.agent_id);
    let Some(agent) = identify(returned.subagent_type, "")
        .or_else(|| active?.agent())
        .or_else(|| workflow.finished_agent(returned.agent_id?)?.agent)
    else {
        return;
    };
    let text = match returned.handback {
        "flagged" => flow::handback_flagged(facts.lang, agent.name()),
        "withheld" => flow::handback_withheld(facts.lang, agent.name()),
        _ => return,
    };
    let record = Record::new(EventKind::SystemWarning).with("reason", "handback");
    outcome.emit(record.with("agent", agent.name()).with("handback", returned.handback));
    let mut next = outcome.workflow().unwrap_or(workflow).clone();
    next.leave_notice(text);
    outcome.push(Effect::PutWorkflow(next));
}

/// The outcome with all waiting texts for the main agent.
fn deliver(snapshot: &Snapshot, mut outcome: Outcome, facts: &Facts) -> Outcome {
    let workflow = outcome.workflow().cloned().or_else(|| snapshot.workflow.clone());
    let current = Snapshot { workflow, looping: snapshot.looping.clone() };
    outcome.reply.model_context = deliver_notices(&current, facts, &mut outcome);
    outcome.reply.result = String::new();
    outcome
}

/// If the agent is still waited for, its result is the report.
fn reconcile(workflow: &WorkflowState, returned: &Returned, facts: &Facts) -> Option<Outcome> {
    let agent = identify(returned.subagent_type, "")
        .or_else(|| completion::recorded(workflow, returned.tool_use_id, returned.agent_id)?.agent())?;
    let report = Report {
        agent,
        agent_id: returned.agent_id,
        tool_use_id: returned.tool_use_id,
        message: returned.content,
        channel: Channel::Result,
    };
    completion::find_active(workflow, &report)?;
    Some(completion::report(workflow, &report, facts))
}

/// `workflow`: the one that the main agent runs the command in, unless the user has stopped or paused it.
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

/// Tools whose failure means that something is wrong with the project, not with the command line.
const GUARDED: [&str; 18] = [
    "node", "bun", "npm", "npx", "yarn", "pnpm", "git", "python", "python3", "pip", "tsc", "eslint", "jest",
    "vitest", "cargo", "go", "make", "gradle",
];

/// An error text shorter than this explains nothing.
const GUARDED_ERROR_LENGTH: usize = 20;

/// Keeps the main agent of a workflow from working around an error of a build or test tool. Sub-agents have their own
/// instructions about failures.
fn error_guard(
    workflow: Option<&WorkflowState>,
    command: &str,
    error: &str,
    facts: &Facts,
) -> Option<String> {
    workflow.filter(|workflow| workflow.is_open())?;
    let tool = command.split(' ').next().filter(|tool| GUARDED.contains(tool))?;
    let error = first_line(error, ERROR_LENGTH);
    (error.chars().count() > GUARDED_ERROR_LENGTH).then(|| words::error_guard(facts.lang, tool, &error))
}

/// A failure is a lesson; the same command going well speaks against it.
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

/// The tool that does better what a program does.
pub(crate) fn preferred_tool(program: &str) -> Option<&'static str> {
    PREFERRED.into_iter().find(|(known, _)| *known == program).map(|(_, tool)| tool)
}

/// Whether the wording of a file is checked.
pub fn is_markdown(path: &str) -> bool {
    path.rsplit('.').next().is_some_and(|end| end.eq_ignore_ascii_case("md"))
}

pub(crate) fn file_written(path: &str, text: &str, facts: &Facts) -> Outcome {
    let mut outcome = Outcome::default();
    let found = if is_markdown(path) { mismatches(text) } else { Vec::new() };
    if found.is_empty() {
        return outcome;
    }
    let lang = facts.lang;
    let lines: Vec<_> =
        found.iter().take(5).map(|m| words::wording_mismatch(lang, m.line, m.marker, m.word)).collect();
    let text = words::wording_found(lang, path, &lines.join(&context::list_separator(lang)));
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

/// How much a failure of this tool matters.
enum Severity {
    Delegation,
    Writing,
    Recorded,
    Noted,
}

/// The tool that starts a sub-agent, by its old and its new name.
pub fn is_delegation(tool: &str) -> bool {
    matches!(tool, "Task" | "Agent")
}

fn severity(tool: &str) -> Severity {
    match tool {
        _ if is_delegation(tool) => Severity::Delegation,
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => Severity::Writing,
        "Bash" => Severity::Recorded,
        _ => Severity::Noted,
    }
}

/// The user interrupted a delegation: its agent is gone, and the loop does not push against it.
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
    let Some(released) = completion::launch_failed(workflow, tool_use_id, agent, facts) else {
        return outcome;
    };
    for lost in &released.lost {
        let record = Record::new(EventKind::AgentError).with("agent", lost.name()).with("stage", lost.stage);
        outcome.emit(record.with("slot", &*lost.slot).with("error", INTERRUPTED).under(&facts.settings));
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
    if let Some(outcome) = cut_off(snapshot, failure, facts) {
        return outcome;
    }
    let mut outcome = Outcome::default();
    let error = first_line(failure.error, ERROR_LENGTH);
    let severity = severity(failure.tool);
    let released = workflow
        .filter(|_| matches!(severity, Severity::Delegation))
        .and_then(|workflow| completion::launch_failed(workflow, failure.tool_use_id, failure.agent, facts));
    let record = Record::new(EventKind::ToolFailure).with("toolName", failure.tool).with("error", &*error);
    match severity {
        Severity::Delegation => outcome.emit(record.with("slots", slots(released.as_ref()))),
        Severity::Writing | Severity::Recorded => outcome.emit(record),
        Severity::Noted => {}
    }
    outcome.push(Effect::Observe(lesson_of(failure, &error, facts)));
    let lang = facts.lang;
    let (advice, notice) = match severity {
        Severity::Delegation => (
            Some(words::delegation_failed(lang, &error)),
            Some(words::delegation_failed_notice(lang, first_sentence(&error))),
        ),
        Severity::Writing => (
            Some(words::write_failed(lang, failure.tool, &error)),
            Some(words::write_failed_notice(lang, failure.tool, first_sentence(&error))),
        ),
        Severity::Recorded | Severity::Noted => (None, None),
    };
    if let Some(released) = released {
        outcome.effects.extend(released.effects);
        outcome.push(Effect::PutWorkflow(released.workflow));
    }
    outcome.reply.result = advice.clone().unwrap_or_default();
    outcome.reply.system_message = notice;
    outcome.reply.model_context = advice;
    if failure.tool == "Bash" {
        let own = workflow.filter(|_| failure.is_main_agent && !snapshot.is_halted());
        let name = command_name(failure.command);
        outcome.reply.model_context = error_guard(own, &name, bash_detail(failure.error), facts);
    }
    outcome
}

/// The user wants to know what is wrong; what could be done instead, such as a list of all agents, is for the model.
fn first_sentence(error: &str) -> &str {
    error.split_once(". ").map_or(error, |(sentence, _)| sentence).trim_end_matches('.')
}

/// The first line is only the exit code; what follows says what went wrong.
fn bash_detail(error: &str) -> &str {
    let detail = error.split_once('\n').map_or(error, |(_, rest)| rest);
    if detail.trim().is_empty() { error } else { detail }
}

/// Which agents are no longer waited for.
fn slots(released: Option<&Released>) -> Vec<String> {
    released.into_iter().flat_map(|released| &released.lost).map(|agent| agent.slot.clone()).collect()
}

/// A working agent that the API cut off. Newer clients report it as a failure of the tool, older ones as the
/// agent's result; the agent was launched well, so its name is not to blame.
fn cut_off(snapshot: &Snapshot, failure: &Failure, facts: &Facts) -> Option<Outcome> {
    let workflow = snapshot.workflow.as_ref()?;
    let call = failure.tool_use_id?;
    let cause = &failure.error[failure.error.find(API_ERROR)?..];
    let active = completion::sent_with(workflow, call, failure.agent)?;
    let report = Report {
        agent: active.agent()?,
        agent_id: active.agent_id.as_deref(),
        tool_use_id: Some(call),
        message: cause,
        channel: Channel::Result,
    };
    Some(deliver(snapshot, completion::report(workflow, &report, facts), facts))
}

fn lesson_of(failure: &Failure, error: &str, facts: &Facts) -> Observation {
    let name = command_name(failure.command);
    if failure.tool == "Bash" && !name.is_empty() {
        return command_outcome(&name, Some(bash_detail(failure.error)), facts);
    }
    Observation::seen(facts.lang, ObservationKind::ErrorResolutions, failure.tool).with_evidence(error)
}

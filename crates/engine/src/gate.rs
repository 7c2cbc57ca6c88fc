//! Delegation: which agent is meant, whether its stage may start, and what it is told.

use overtone_messages::flow as words;
use overtone_registry::{Agent, EventKind, PLUGIN_PREFIX, Stage, StageKey, limits};

use crate::completion::recorded;
use crate::flow::{blocking, limit_reached, next_step};
use crate::outcome::{Effect, InputPatch, Outcome, Permission, Record, Reply};
use crate::state::{ActiveAgent, Ending, Status, WorkflowState};
use crate::text::{key_list, moved_text, step_text, workflow_context};
use crate::trigger::Facts;

/// What divides the context block from the original prompt.
const DIVIDER: &str = "\n\n---\n\n";

/// A call of the Agent tool.
pub(crate) struct Delegation<'a> {
    pub(crate) subagent_type: &'a str,
    pub(crate) description: &'a str,
    pub(crate) prompt: &'a str,
    pub(crate) tool_use_id: Option<&'a str>,
}

pub(crate) fn delegate(workflow: Option<&WorkflowState>, call: &Delegation, facts: &Facts) -> Outcome {
    let (Some(agent), Some(workflow)) = (identify(call.subagent_type, call.description), workflow) else {
        return Outcome::default();
    };
    if let Some(reason) = moved_text(facts.lang, workflow) {
        return deny(reason);
    }
    match workflow.ending {
        Some(Ending::Completed) => return Outcome::default(),
        Some(Ending::Aborted) => return deny(words::deny_finished(facts.lang, agent.name())),
        None => {}
    }
    // Asked again about the same call, the answer is the same and nobody is there twice.
    if let Some(known) = recorded(workflow, call.tool_use_id, None) {
        return allow(workflow, known.stage, call, facts);
    }
    let mut next = workflow.clone();
    let target = target_stage(&mut next, agent);
    if let Some(reason) = refusal(&next, agent, target, facts) {
        return deny(reason);
    }
    start(next, agent, target, call, facts)
}

/// Stages are the main agent's to delegate: only it is told the next step. Helpers of other kinds are free.
pub(crate) fn delegate_from_agent(
    workflow: Option<&WorkflowState>,
    subagent_type: &str,
    facts: &Facts,
) -> Outcome {
    let (Some(agent), Some(workflow)) = (Agent::from_wire(subagent_type), workflow) else {
        return Outcome::default();
    };
    match moved_text(facts.lang, workflow) {
        Some(reason) => deny(reason),
        None if workflow.is_open() => deny(words::deny_nested(facts.lang, agent.name())),
        None => Outcome::default(),
    }
}

/// The agent that is meant: by its type, else by the description; never by the prompt.
pub fn identify(subagent_type: &str, description: &str) -> Option<Agent> {
    if subagent_type.starts_with(PLUGIN_PREFIX) {
        return Agent::from_wire(subagent_type);
    }
    // An agent of a kind of its own (Explore, another plugin's) is not ours, whatever its description says.
    if !matches!(subagent_type, "" | "general-purpose") {
        return None;
    }
    let description = description.trim().to_lowercase();
    by_name(&description).or_else(|| by_alias(&description))
}

fn by_name(description: &str) -> Option<Agent> {
    let words = description.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.into_iter().find_map(Agent::from_name)
}

/// An alias is an everyday word, so it counts only as the label in front: "review: the parser".
fn by_alias(description: &str) -> Option<Agent> {
    let label = description.split([':', '：', '—', ',', '，', '\n']).next()?.trim();
    let label =
        label.trim_end_matches(" stage").trim_end_matches(" agent").trim_end_matches("階段").trim_end();
    Agent::ALL.into_iter().find(|agent| agent.aliases().contains(&label))
}

/// The stage that the agent is sent to. Sending a debugger or a developer after a failure opens the way back.
fn target_stage(workflow: &mut WorkflowState, agent: Agent) -> Option<StageKey> {
    if matches!(agent, Agent::Developer | Agent::Debugger) {
        open_repair(workflow);
    }
    let stage = agent.stage()?;
    let mut own = workflow.stages.iter().filter(|s| s.key.stage == stage);
    let last = own.clone().next_back().map(|s| s.key);
    own.find(|s| !s.is_resolved()).map(|s| s.key).or(last)
}

/// Opens DEV and every failed stage after it, each with its parallel group.
fn open_repair(workflow: &mut WorkflowState) {
    let failed: Vec<_> = workflow.stages.iter().filter(|s| s.is_failed()).map(|s| s.key).collect();
    for key in failed {
        let Some(repair) = workflow.repair_stage(key) else {
            continue;
        };
        let mut reopened = workflow.group_keys(key);
        reopened.push(repair);
        for key in reopened {
            if let Some(stage) = workflow.stage_mut(key).filter(|s| s.status == Status::Completed) {
                stage.reopen();
            }
        }
    }
}

fn refusal(
    workflow: &WorkflowState,
    agent: Agent,
    target: Option<StageKey>,
    facts: &Facts,
) -> Option<String> {
    if limit_reached(workflow, &facts.settings) {
        return Some(words::deny_finished(facts.lang, agent.name()));
    }
    let missing = blocking(workflow, target?);
    if missing.is_empty() {
        return None;
    }
    let step = step_text(facts.lang, &next_step(workflow, &facts.settings));
    Some(words::deny_skipped(facts.lang, &key_list(facts.lang, &missing), &step))
}

fn deny(reason: String) -> Outcome {
    let permission = Some(Permission::Deny { reason });
    Outcome { reply: Reply { permission, ..Reply::default() }, effects: Vec::new() }
}

fn start(
    mut workflow: WorkflowState,
    agent: Agent,
    target: Option<StageKey>,
    call: &Delegation,
    facts: &Facts,
) -> Outcome {
    let mut outcome = Outcome::default();
    let stage = target.or_else(|| agent.stage().map(StageKey::first));
    let slot = workflow.free_slot(agent);
    if let Some(key) = target {
        activate(&mut workflow, key, facts, &mut outcome);
    }
    outcome.emit(
        Record::new(EventKind::AgentDelegate)
            .with("agent", agent.name())
            .with("stage", stage)
            .with("slot", &*slot)
            .under(&facts.settings),
    );
    workflow.active_agents.push(ActiveAgent {
        slot,
        stage,
        started_at: Some(facts.now),
        tool_use_id: call.tool_use_id.map(str::to_owned),
        agent_id: None,
        background: false,
    });
    outcome.reply = allow(&workflow, stage, call, facts).reply;
    outcome.push(Effect::PutWorkflow(workflow));
    outcome
}

fn allow(workflow: &WorkflowState, stage: Option<StageKey>, call: &Delegation, facts: &Facts) -> Outcome {
    let patch = InputPatch {
        prompt: briefing(workflow, stage, call.prompt, facts),
        foreground: facts.settings.foreground_agents,
    };
    let permission = Some(Permission::Allow { reason: None, patch: Some(patch) });
    Outcome { reply: Reply { permission, ..Reply::default() }, effects: Vec::new() }
}

fn activate(workflow: &mut WorkflowState, key: StageKey, facts: &Facts, outcome: &mut Outcome) {
    workflow.current_stage = Some(key);
    let Some(stage) = workflow.stage_mut(key) else {
        return;
    };
    stage.attempts += 1;
    if stage.status == Status::Active {
        return;
    }
    stage.status = Status::Active;
    stage.result = None;
    stage.started_at = Some(facts.now);
    stage.completed_at = None;
    let attempt = stage.attempts;
    outcome.emit(Record::new(EventKind::StageStart).with("stage", key).with("attempt", attempt));
    announce_parallel(workflow, key, outcome);
}

/// The second member of a group to start makes it parallel.
fn announce_parallel(workflow: &WorkflowState, key: StageKey, outcome: &mut Outcome) {
    let Some((group, keys)) = workflow.template().and_then(|w| w.group_of(key)) else {
        return;
    };
    let running: Vec<_> = keys
        .iter()
        .filter(|key| workflow.stage(**key).is_some_and(|s| s.status == Status::Active))
        .map(ToString::to_string)
        .collect();
    if running.len() == 2 {
        outcome.emit(Record::new(EventKind::ParallelStart).with("group", group.name).with("stages", running));
    }
}

fn briefing(workflow: &WorkflowState, stage: Option<StageKey>, prompt: &str, facts: &Facts) -> String {
    let context = workflow_context(workflow, stage, facts, limits::CONTEXT_TEXT_UNITS);
    format!("{context}{DIVIDER}{prompt}")
}

/// The stage that an agent without an entry must have been working on: an active one of its kind, or the next
/// one that may start. Used when the record of the delegation was lost.
pub(crate) fn stage_without_record(workflow: &WorkflowState, stage: Stage) -> Option<StageKey> {
    let own = || workflow.stages.iter().filter(|s| s.key.stage == stage);
    let active = own().find(|s| s.status == Status::Active).map(|s| s.key);
    active.or_else(|| {
        let open = own().find(|s| !s.is_resolved())?.key;
        blocking(workflow, open).is_empty().then_some(open)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_decides_before_the_description() {
        assert_eq!(identify("ot:tester", "developer work"), Some(Agent::Tester));
        assert_eq!(identify("ot:unknown", "developer"), None);
        assert_eq!(identify("other:developer", "developer"), None);
    }

    #[test]
    fn descriptions_name_agents_exactly() {
        assert_eq!(identify("", "Delegate code-reviewer agent"), Some(Agent::CodeReviewer));
        assert_eq!(identify("general-purpose", "developer: add login"), Some(Agent::Developer));
        assert_eq!(identify("general-purpose", "Review: the parser"), None);
        assert_eq!(identify("general-purpose", "code review: the parser"), Some(Agent::CodeReviewer));
        assert_eq!(identify("", "DEV"), Some(Agent::Developer));
        assert_eq!(identify("", "TEST stage"), Some(Agent::Tester));
        assert_eq!(identify("Explore", "find test helpers in the developer guide"), None);
        assert_eq!(identify("general-purpose", "test the waters"), None);
    }
}

//! What the design promises, worked out once more from the registry and the files: who may be sent, what comes
//! next, and whether a session may stop. The answers of the product are held against this.

use overtone_registry::{Agent, Stage, StageKey, TestMode, limits};

use super::disk::{Disk, Flow, StageOnDisk, Status};

/// The limits that hold in a sandbox.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) iterations: u64,
    pub(crate) rounds_without_progress: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            iterations: u64::from(limits::MAX_LOOP_ITERATIONS),
            rounds_without_progress: u64::from(limits::MAX_CONSECUTIVE_ERRORS),
        }
    }
}

/// What must be said to a delegation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ruling {
    Allow,
    Deny,
    NoOpinion,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    Done,
    /// These agents: the debugger before the developer, others together.
    Send(Vec<Agent>),
    Wait,
    Person(&'static str),
}

pub(crate) fn limit_reached(flow: &Flow) -> bool {
    flow.failures - flow.forgiven_failures >= u64::from(limits::MAX_FAILURES)
        || flow.rejections - flow.forgiven_rejections >= u64::from(limits::MAX_REJECTIONS)
}

/// Whether an agent may be sent now.
pub(crate) fn gate(flow: &Flow, agent: Agent) -> Ruling {
    match flow.ending.as_deref() {
        Some("completed") => return Ruling::NoOpinion,
        Some(_) => return Ruling::Deny,
        None if limit_reached(flow) => return Ruling::Deny,
        None => {}
    }
    let opened =
        if matches!(agent, Agent::Developer | Agent::Debugger) { reopened(flow) } else { Vec::new() };
    let is_open = |stage: &StageOnDisk| !stage.is_resolved() || opened.contains(&stage.key);
    let mut own = flow.stages.iter().filter(|stage| Some(stage.key.stage) == agent.stage());
    let last = own.clone().next_back();
    let Some(target) = own.find(|stage| is_open(stage)).or(last) else { return Ruling::Allow };
    let group = flow.group(target.key);
    let in_front = flow.stages.iter().take_while(|stage| stage.key != target.key);
    let in_the_way =
        |stage: &StageOnDisk| is_open(stage) && stage.status != Status::Active && !group.contains(&stage.key);
    if in_front.into_iter().any(in_the_way) { Ruling::Deny } else { Ruling::Allow }
}

/// The stages that a repair opens again: each failed one with its group, and the DEV before it.
fn reopened(flow: &Flow) -> Vec<StageKey> {
    let failed = flow.stages.iter().filter(|stage| stage.is_failed());
    let opened = failed.filter_map(|stage| repair_stage(flow, stage.key).map(|dev| (stage.key, dev)));
    let keys = opened.flat_map(|(key, dev)| flow.group(key).into_iter().chain([dev]));
    let completed = |key: &StageKey| flow.stage(*key).is_some_and(|s| s.status == Status::Completed);
    keys.filter(completed).collect()
}

fn repair_stage(flow: &Flow, failed: StageKey) -> Option<StageKey> {
    let before = flow.stages.iter().take_while(|stage| stage.key != failed).map(|stage| stage.key);
    before.filter(|key| key.stage == Stage::Dev).last()
}

pub(crate) fn next(flow: &Flow) -> Next {
    if let Some(failed) = flow.stages.iter().find(|stage| stage.is_failed()) {
        return after_failure(flow, failed);
    }
    let Some(open) = flow.stages.iter().find(|stage| !stage.is_resolved()) else { return Next::Done };
    match agents_of(flow, open.key, Status::Pending) {
        agents if agents.is_empty() => Next::Wait,
        agents => Next::Send(agents),
    }
}

fn agents_of(flow: &Flow, key: StageKey, status: Status) -> Vec<Agent> {
    let keys = flow.group(key).into_iter();
    let chosen = keys.filter(|key| flow.stage(*key).is_some_and(|stage| stage.status == status));
    chosen.map(|key| key.stage.agent()).collect()
}

fn after_failure(flow: &Flow, failed: &StageOnDisk) -> Next {
    if !agents_of(flow, failed.key, Status::Active).is_empty() {
        return Next::Wait;
    }
    if limit_reached(flow) {
        return Next::Person("retry-limit");
    }
    let rejected = failed.result.as_deref() == Some("reject");
    let specification = flow.workflow.test_mode(failed.key) == Some(TestMode::Spec);
    match repair_stage(flow, failed.key) {
        Some(_) if rejected => Next::Send(vec![Agent::Developer]),
        Some(_) => Next::Send(vec![Agent::Debugger, Agent::Developer]),
        None if failed.key.stage.is_judge() && !specification => Next::Person("needs-person"),
        None => Next::Send(vec![failed.key.stage.agent()]),
    }
}

/// What a Stop must come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Door {
    /// Nothing is said: no workflow, or agents that will wake the session.
    Silent,
    /// The loop was stopped before.
    Stopped,
    /// It goes on, with these orders; `None` for tasks that are not ticked.
    GoOn(Option<Next>),
    /// The work is done.
    Complete,
    /// A person is asked, for this reason.
    Abort(&'static str),
    /// Too many rounds.
    Tired,
    /// Too many rounds without progress.
    Stuck,
}

/// `running`: what the client says about background agents. `idle_rounds`: how often in a row the session was
/// sent back to work and nothing came of it.
pub(crate) fn door(before: &Disk, running: Option<bool>, idle_rounds: u64, limits: &Limits) -> Door {
    let Some(flow) = before.flow.as_ref().filter(|flow| flow.is_open()) else { return Door::Silent };
    let young = running.is_none() && flow.agents.iter().any(|agent| agent.background);
    if running == Some(true) || young {
        return Door::Silent;
    }
    if before.looping.stopped {
        return Door::Stopped;
    }
    let flow = without_agents(flow);
    let open_tasks = before.tasks.as_ref().is_some_and(|tasks| !tasks.open.is_empty());
    let orders = match next(&flow) {
        Next::Person(reason) => return Door::Abort(reason),
        Next::Done if !open_tasks => return Door::Complete,
        Next::Done => None,
        next => Some(next),
    };
    if before.looping.iterations >= limits.iterations {
        Door::Tired
    } else if idle_rounds >= limits.rounds_without_progress {
        Door::Stuck
    } else {
        Door::GoOn(orders)
    }
}

/// Whoever has not reported back when the main agent stops never will: its stage is open again, unless a twin
/// of it has reported.
pub(crate) fn without_agents(flow: &Flow) -> Flow {
    let mut flow = flow.clone();
    flow.agents.clear();
    for stage in flow.stages.iter_mut().filter(|stage| stage.status == Status::Active) {
        stage.status = if stage.result.is_some() { Status::Completed } else { Status::Pending };
        match stage.result.as_deref() {
            Some("fail") => flow.failures += 1,
            Some("reject") => flow.rejections += 1,
            Some("issues") => flow.retros += 1,
            _ => {}
        }
    }
    flow
}

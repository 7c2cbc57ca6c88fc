//! What the design promises, worked out once more from the registry and the files: who may be sent, what comes
//! next, what becomes of a report, and whether a session may stop. The answers of the product are held against this.

use overtone_core::registry::{Agent, Stage, StageKey, TestMode, limits};

use super::disk::{AgentOnDisk, Disk, Flow, StageOnDisk, Status};
use super::event::{Channel, Reporter};
use super::words::{Content, Verdict};

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
    /// The user is asked what this agent needs; it is sent again with the answer.
    Ask(Agent),
    /// The workflow ends, for this reason: the user decides.
    User(&'static str),
}

pub(crate) fn limit_reached(flow: &Flow) -> bool {
    flow.failures - flow.forgiven_failures >= u64::from(limits::MAX_FAILURES)
        || flow.rejections - flow.forgiven_rejections >= u64::from(limits::MAX_REJECTIONS)
}

/// Whether an agent may be sent now.
pub(crate) fn gate(disk: &Disk, agent: Agent) -> Ruling {
    let Some(flow) = &disk.flow else { return Ruling::NoOpinion };
    match flow.ending.as_deref() {
        Some("completed") => Ruling::NoOpinion,
        None if may_start(disk, flow, agent) => Ruling::Allow,
        Some(_) | None => Ruling::Deny,
    }
}

/// Whether the main agent may go on with an agent that has reported; only a refusal is put into words.
pub(crate) fn gate_of_continued(disk: &Disk, id: &str) -> Ruling {
    let Some(flow) = &disk.flow else { return Ruling::NoOpinion };
    let is_working = flow.agents.iter().any(|agent| agent.id.as_deref() == Some(id));
    match flow.finished.iter().find(|(finished, _)| finished == id) {
        Some((_, Some(agent))) if !is_working => gate(disk, *agent),
        _ => Ruling::NoOpinion,
    }
}

fn may_start(disk: &Disk, flow: &Flow, agent: Agent) -> bool {
    if limit_reached(flow) || repair_has_to_wait(flow, agent) || waits_for_user(flow, agent) {
        return false;
    }
    let opened = opened_by(flow, agent);
    let is_good = |stage: &StageOnDisk| stage.is_resolved() && !opened.contains(&stage.key);
    let Some(target) = target(flow, agent) else {
        // Nobody changes the code while it is judged.
        let is_judged = behind_development(flow).any(|stage| stage.status == Status::Active);
        return !(changes_code(agent) && is_judged);
    };
    let group = flow.group(target.key);
    let (mut is_in_front, mut is_held_up) = (true, false);
    for stage in &flow.stages {
        is_in_front &= stage.key != target.key;
        // Whoever is at work behind it judges what it would change.
        let holds_up = (is_in_front && !is_good(stage)) || stage.status == Status::Active;
        is_held_up |= holds_up && !group.contains(&stage.key);
    }
    let debugging = flow.agents.iter().any(|other| other.agent == Agent::Debugger);
    if is_held_up || (target.key.stage == Stage::Dev && debugging) {
        return false;
    }
    !is_good(target) || may_do_again(disk, flow, agent)
}

/// All reports of a round come before the repair.
fn repair_has_to_wait(flow: &Flow, agent: Agent) -> bool {
    let failed = flow.stages.iter().find(|stage| stage.is_failed() && repairs(agent));
    failed.is_some_and(|failed| after_failure(flow, failed) == Next::Wait)
}

/// What needs the user is neither repaired nor tried again without a word of theirs.
fn waits_for_user(flow: &Flow, agent: Agent) -> bool {
    let mut own = flow.stages.iter().filter(|stage| Some(stage.key.stage) == agent.stage());
    let is_own = own.find(|stage| !stage.is_resolved()).is_some_and(StageOnDisk::is_blocked);
    !flow.user_wrote && (is_own || (repairs(agent) && flow.stages.iter().any(StageOnDisk::is_blocked)))
}

/// Agents that write code without being the developer.
pub(crate) const fn changes_code(agent: Agent) -> bool {
    matches!(agent, Agent::BuildErrorResolver | Agent::RefactorCleaner)
}

fn behind_development(flow: &Flow) -> impl Iterator<Item = &StageOnDisk> {
    flow.stages.iter().skip_while(|stage| stage.key.stage != Stage::Dev).skip(1)
}

/// The stages that have passed with other code than what such an agent leaves behind.
pub(crate) fn judged_before(flow: &Flow) -> Vec<StageKey> {
    behind_development(flow).filter(|stage| stage.is_resolved()).map(|stage| stage.key).collect()
}

const fn repairs(agent: Agent) -> bool {
    matches!(agent, Agent::Developer | Agent::Debugger)
}

/// Whether there is a reason to do a stage again that has a good verdict.
fn may_do_again(disk: &Disk, flow: &Flow, agent: Agent) -> bool {
    let found_issues =
        |stage: &StageOnDisk| stage.key.stage == Stage::Retro && stage.result.as_deref() == Some("issues");
    let issues = flow.retros < u64::from(limits::MAX_RETROS)
        && flow.stages.iter().any(|stage| stage.is_resolved() && found_issues(stage));
    let is_done = flow.stages.iter().all(StageOnDisk::is_resolved);
    match agent {
        Agent::Developer => {
            let has_tasks = has_open_tasks(disk) && !tried_tasks(disk, flow);
            flow.user_wrote || issues || (is_done && has_tasks)
        }
        Agent::Debugger => flow.stages.iter().any(StageOnDisk::is_failed),
        _ => false,
    }
}

/// Whether the developer was sent for these tasks before, and has finished none of them.
fn tried_tasks(disk: &Disk, flow: &Flow) -> bool {
    let open = disk.tasks.as_ref().map_or(0, |tasks| tasks.open_work as u64);
    open > 0 && flow.tasks_tried == Some(open)
}

fn has_open_tasks(disk: &Disk) -> bool {
    disk.tasks.as_ref().is_some_and(|tasks| !tasks.open.is_empty())
}

/// The stage that an agent would work on: its first one without a good verdict, else its last one.
pub(crate) fn target(flow: &Flow, agent: Agent) -> Option<&StageOnDisk> {
    let opened = opened_by(flow, agent);
    let mut own = flow.stages.iter().filter(|stage| Some(stage.key.stage) == agent.stage());
    let last = own.clone().next_back();
    own.find(|stage| !stage.is_resolved() || opened.contains(&stage.key)).or(last)
}

/// The stages that a repair opens again: each failed one with its group, and the DEV before it.
pub(crate) fn opened_by(flow: &Flow, agent: Agent) -> Vec<StageKey> {
    let failed = flow.stages.iter().filter(|stage| stage.is_failed() && repairs(agent));
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
    if let Some(blocked) = flow.stages.iter().find(|stage| stage.is_blocked()) {
        return Next::Ask(blocked.key.stage.agent());
    }
    if limit_reached(flow) {
        return Next::User("retry-limit");
    }
    let mut all = flow.stages.iter().filter(|stage| stage.is_failed());
    let only_rejected = all.all(|stage| stage.result.as_deref() == Some("reject"));
    let specification = flow.workflow.test_mode(failed.key) == Some(TestMode::Spec);
    match repair_stage(flow, failed.key) {
        Some(_) if only_rejected => Next::Send(vec![Agent::Developer]),
        Some(_) => Next::Send(vec![Agent::Debugger, Agent::Developer]),
        None if failed.key.stage.is_judge() && !specification => Next::User("needs-person"),
        None => Next::Send(vec![failed.key.stage.agent()]),
    }
}

/// What becomes of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reception {
    /// Nobody waits for it, or not yet.
    Ignored,
    /// The agent has to report again, because this is missing.
    SentBack(&'static str),
    /// The agent is done, with this verdict on its stage; `None` when there is nothing to judge.
    Ends(Option<Verdict>),
}

pub(crate) fn reception(disk: &Disk, reporter: &Reporter, channel: Channel, content: Content) -> Reception {
    let Some(flow) = disk.flow.as_ref().filter(|flow| flow.is_open()) else { return Reception::Ignored };
    let Some(entry) = entry(flow, reporter, channel).map(|at| &flow.agents[at]) else {
        return Reception::Ignored;
    };
    let is_stop = matches!(channel, Channel::Stop | Channel::StopBeforeHandback);
    if entry.awaits_start && is_stop {
        return Reception::Ignored;
    }
    let stage = entry.stage.filter(|key| flow.stage(*key).is_some());
    let missing = stage.and_then(|key| missing_in(disk, key, content));
    match missing.filter(|missing| !entry.sent_back_for.iter().any(|earlier| earlier == missing)) {
        Some(missing) if is_stop || channel == Channel::Handback => return Reception::SentBack(missing),
        _ if channel == Channel::StopBeforeHandback => return Reception::Ignored,
        _ => {}
    }
    Reception::Ends(match (content, stage) {
        (Content::Broken, _) | (_, None) => None,
        (Content::Verdict(verdict), Some(_)) => Some(verdict),
        (Content::Unclear, Some(_)) => Some(Verdict::Fail),
    })
}

fn missing_in(disk: &Disk, key: StageKey, content: Content) -> Option<&'static str> {
    let open_work = disk.tasks.as_ref().is_some_and(|tasks| tasks.open_work > 0);
    match content {
        Content::Unclear => Some("no-verdict"),
        Content::Verdict(Verdict::Pass) if key.stage == Stage::Dev && open_work => Some("open-tasks"),
        Content::Verdict(_) | Content::Broken => None,
    }
}

/// The record of an agent: by its id, by its call where that is named, or else one of its kind that has no id yet.
pub(crate) fn entry(flow: &Flow, reporter: &Reporter, channel: Channel) -> Option<usize> {
    let by_id = |entry: &AgentOnDisk| entry.id.as_deref() == Some(&reporter.id);
    let by_call = |entry: &AgentOnDisk| channel.names_call() && entry.call.as_deref() == Some(&reporter.call);
    let by_kind = |entry: &AgentOnDisk| {
        let is_free = entry.id.is_none() && (entry.call.is_none() || !channel.names_call());
        channel.names_kind() && entry.agent == reporter.agent && is_free
    };
    if flow.has_finished(&reporter.id) {
        return None;
    }
    if channel == Channel::Failure {
        return sent_with(flow, reporter);
    }
    let position = |is_it: &dyn Fn(&AgentOnDisk) -> bool| flow.agents.iter().position(is_it);
    position(&by_id).or_else(|| position(&by_call)).or_else(|| position(&by_kind))
}

/// Who was sent with a call. One whose call turned out to be a twin's has the call that nobody of its kind has.
pub(crate) fn sent_with(flow: &Flow, reporter: &Reporter) -> Option<usize> {
    let by_call = flow.agents.iter().position(|entry| entry.call.as_deref() == Some(&reporter.call));
    let is_free =
        |entry: &AgentOnDisk| entry.agent == reporter.agent && entry.call.is_none() && entry.id.is_some();
    let is_only_one = flow.agents.iter().filter(|entry| is_free(entry)).count() == 1;
    by_call.or_else(|| flow.agents.iter().position(is_free).filter(|_| is_only_one))
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
    /// The user decides, for this reason.
    Abort(&'static str),
    /// The user only looked at something.
    Looked,
    /// An agent needs the user.
    Blocked,
    /// The loop was paused before.
    Paused,
    /// Too many rounds.
    Tired,
    /// Too many rounds without progress.
    Stuck,
}

/// `listed`: the background agents that the client says are running. `idle_rounds`: how often in a row the session
/// was sent back to work and nothing came of it.
pub(crate) fn door(before: &Disk, listed: Option<&[String]>, idle_rounds: u64, limits: &Limits) -> Door {
    let Some(flow) = before.flow.as_ref().filter(|flow| flow.is_open()) else { return Door::Silent };
    let waits = match listed {
        // One that has reported is listed for a moment longer.
        Some(ids) => ids.iter().any(|id| !flow.has_finished(id)),
        None => flow.agents.iter().any(|agent| agent.background),
    };
    if waits {
        return Door::Silent;
    }
    if before.looping.stopped {
        return Door::Stopped;
    }
    let settled = release(flow, |_| true);
    let open_tasks = has_open_tasks_after(before, flow, &settled);
    let orders = match next(&settled) {
        Next::User(reason) => return Door::Abort(reason),
        Next::Done if !open_tasks => return Door::Complete,
        _ if before.looping.turn.as_deref() == Some("looking") => return Door::Looked,
        Next::Ask(_) => return Door::Blocked,
        _ if before.looping.paused.is_some() => return Door::Paused,
        Next::Done => None,
        next => Some(next),
    };
    if before.looping.iterations >= limits.iterations {
        Door::Tired
    } else if (orders.is_none() && tried_tasks(before, flow)) || idle_rounds >= limits.rounds_without_progress
    {
        Door::Stuck
    } else {
        Door::GoOn(orders)
    }
}

/// Whether a task is left open; the box of a stage that is done with the loss of its last agent is ticked with that.
fn has_open_tasks_after(disk: &Disk, flow: &Flow, settled: &Flow) -> bool {
    let is_ticked = |task: &String| {
        let stages = flow.stages.iter().zip(&settled.stages);
        stages
            .into_iter()
            .any(|(was, is)| is.is_resolved() && !was.is_resolved() && is.key.to_string() == *task)
    };
    disk.tasks.iter().flat_map(|tasks| &tasks.open).any(|task| !is_ticked(task))
}

/// The workflow without agents that can no longer report. The stage of such an agent is open again, unless a twin of
/// it has reported: then that verdict counts.
pub(crate) fn release(flow: &Flow, is_lost: impl Fn(&AgentOnDisk) -> bool) -> Flow {
    let mut next = flow.clone();
    next.agents.retain(|agent| !is_lost(agent));
    for lost in flow.agents.iter().filter(|agent| is_lost(agent)) {
        if let Some(key) = lost.stage {
            settle(&mut next, key);
        }
        // One that got a message and never went on can be sent another one.
        if let Some(id) = lost.id.as_ref().filter(|_| lost.awaits_start) {
            next.finished.push((id.clone(), Some(lost.agent)));
        }
    }
    next
}

/// An active stage that nobody works on any more is completed with the worst verdict that was reported, or open again.
pub(crate) fn settle(flow: &mut Flow, key: StageKey) {
    let is_worked_on = flow.agents.iter().any(|agent| agent.stage == Some(key));
    let Some(stage) = flow.stages.iter_mut().find(|stage| stage.key == key) else { return };
    if is_worked_on || stage.status != Status::Active {
        return;
    }
    let verdict = stage.result.as_deref().and_then(Verdict::from_key);
    stage.status = if verdict.is_some() { Status::Completed } else { Status::Pending };
    match verdict {
        Some(Verdict::Fail) => flow.failures += 1,
        Some(Verdict::Reject) => flow.rejections += 1,
        Some(Verdict::Issues) => flow.retros += 1,
        Some(Verdict::Pass | Verdict::Blocked) | None => {}
    }
}

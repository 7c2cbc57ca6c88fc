//! An agent reports back: verdict, convergence, retries, handoff and the next step.

use overtone_messages::flow as words;
use overtone_registry::{Agent, EventKind, Stage, StageKey};

use crate::flow::{Step, limit_reached, next_step};
use crate::gate::stage_without_record;
use crate::handoff::{handoff_head, handoff_number, next_handoff_file};
use crate::instinct::{Observation, ObservationKind, Signal};
use crate::marker::grade;
use crate::outcome::{Effect, Handoff, Outcome, Permission, Record};
use crate::redact::first_line;
use crate::state::{ActiveAgent, Hold, StageResult, StageState, Status, Verdict, WorkflowState};
use crate::suggestion::{Reason, format_size, suggest_compact};
use crate::text::{TASK_UNITS, cut, moved_text, next_step_text, titled};
use crate::trigger::Facts;
use crate::verdict::{Judgement, judge};

/// An agent's report.
pub(crate) struct Report<'a> {
    pub(crate) agent: Agent,
    pub(crate) agent_id: Option<&'a str>,
    pub(crate) tool_use_id: Option<&'a str>,
    pub(crate) message: &'a str,
    pub(crate) channel: Channel,
}

/// The way a report came, which decides how it can be sent back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    /// `SubagentHandback` is about to deliver it: refusing the call lets the agent go on.
    Handback,
    /// `SubagentStop`: blocking it lets the agent go on.
    Stop,
    /// The Agent tool's result or a notification: the agent is over.
    Result,
}

/// Why a stage counts as failed although its report does not say so.
pub const NO_VERDICT: &str = "no verdict";

/// Records that the client has started an agent, so that its report can be told from a twin's.
pub(crate) fn bind_agent(workflow: &WorkflowState, agent: Agent, agent_id: &str) -> Option<WorkflowState> {
    let mut next = workflow.clone();
    if let Some(continued) = next.active_agents.iter_mut().find(|active| active.is(None, Some(agent_id))) {
        let waited = std::mem::take(&mut continued.awaits_start);
        return waited.then_some(next);
    }
    let unbound = next.active_agents.iter_mut().find(|a| a.agent() == Some(agent) && a.agent_id.is_none())?;
    unbound.agent_id = Some(agent_id.to_owned());
    Some(next)
}

/// Which of two twins has which id is a guess until the client names a call and an id together.
fn match_up(workflow: &mut WorkflowState, tool_use_id: Option<&str>, agent_id: Option<&str>) {
    let agents = &mut workflow.active_agents;
    let by_call = agents.iter().position(|agent| agent.is(tool_use_id, None));
    let by_id = agents.iter().position(|agent| agent.is(None, agent_id));
    if let (Some(own), Some(guessed)) = (by_call, by_id)
        && own != guessed
    {
        agents[guessed].agent_id = agents[own].agent_id.take();
        agents[own].agent_id = agent_id.map(str::to_owned);
    }
}

/// A call that has returned is that of the agent it names. If that one is done, whoever was guessed to have this call has
/// another.
fn disown_call(workflow: &WorkflowState, report: &Report) -> Option<WorkflowState> {
    let mut next = workflow.clone();
    let mut agents = next.active_agents.iter_mut();
    agents.find(|agent| agent.is(report.tool_use_id, None) && agent.agent_id.is_some())?.tool_use_id = None;
    Some(next)
}

/// Who was sent with this call. One whose call turned out to be a twin's has the call for its like that nobody else
/// has.
pub(crate) fn sent_with<'a>(
    workflow: &'a WorkflowState,
    call: &str,
    meant: Option<Agent>,
) -> Option<&'a ActiveAgent> {
    let agents = &workflow.active_agents;
    let disowned = |agent: &&ActiveAgent| {
        agent.tool_use_id.is_none() && agent.agent_id.is_some() && meant.is_some() && agent.agent() == meant
    };
    let only_one = || agents.iter().find(disowned).filter(|_| agents.iter().filter(disowned).count() == 1);
    agents.iter().find(|agent| agent.is(Some(call), None)).or_else(only_one)
}

/// The entry with this call or this id: it knows an agent that was named by the description alone.
pub(crate) fn recorded<'a>(
    workflow: &'a WorkflowState,
    tool_use_id: Option<&str>,
    agent_id: Option<&str>,
) -> Option<&'a ActiveAgent> {
    workflow.active_agents.iter().find(|agent| agent.is(tool_use_id, agent_id))
}

/// The agent's entry, if it is still waited for.
pub(crate) fn find_active(workflow: &WorkflowState, report: &Report) -> Option<usize> {
    let agents = &workflow.active_agents;
    let by_id = |a: &ActiveAgent| report.agent_id.is_some() && a.agent_id.as_deref() == report.agent_id;
    let by_call =
        |a: &ActiveAgent| report.tool_use_id.is_some() && a.tool_use_id.as_deref() == report.tool_use_id;
    let unbound = |a: &ActiveAgent| {
        a.agent() == Some(report.agent)
            && (a.agent_id.is_none() || report.agent_id.is_none())
            && (a.tool_use_id.is_none() || report.tool_use_id.is_none())
    };
    agents
        .iter()
        .position(by_id)
        .or_else(|| agents.iter().position(by_call))
        .or_else(|| agents.iter().position(unbound))
}

pub(crate) fn report(workflow: &WorkflowState, report: &Report, facts: &Facts) -> Outcome {
    if report.agent_id.is_some_and(|id| workflow.finished_agent(id).is_some()) {
        let disowned = disown_call(workflow, report).map(Effect::PutWorkflow);
        return Outcome { effects: disowned.into_iter().collect(), ..Outcome::default() };
    }
    let mut next = workflow.clone();
    match_up(&mut next, report.tool_use_id, report.agent_id);
    let found = find_active(&next, report);
    if let Some(at) = found {
        // The end of the run before: the agent has not started again yet.
        if next.active_agents[at].awaits_start && report.channel == Channel::Stop {
            return Outcome::default();
        }
        if let Some(held) = hold(&next, at, report, facts) {
            return held;
        }
    }
    let active = found.map(|at| next.active_agents.remove(at));
    // A report without a name has that of the entry: the named one that comes late must not count again.
    if let Some(id) = report.agent_id.or_else(|| active.as_ref()?.agent_id.as_deref()) {
        next.remember_finished(id, Some(report.agent));
    }
    let stage = match &active {
        Some(active) => active.stage.filter(|key| next.stage(*key).is_some()),
        None => report.agent.stage().and_then(|stage| stage_without_record(&next, stage)),
    };
    let mut processor = ReportProcessor {
        workflow: next,
        facts,
        report,
        started: active,
        outcome: Outcome::default(),
        lines: Vec::new(),
        passed: None,
        lacks_verdict: false,
    };
    match judge(report.agent.stage(), report.message) {
        Judgement::Broken => processor.broken(stage),
        Judgement::Verdict(verdict) => processor.finished(stage, Some(verdict)),
        Judgement::NoVerdict => processor.finished(stage, None),
    }
    processor.close()
}

/// Sends a report back to an agent that is able to go on: once for its verdict, and once a developer for open tasks.
/// An agent without a stage decides nothing, so nothing is asked of it.
fn hold(workflow: &WorkflowState, at: usize, report: &Report, facts: &Facts) -> Option<Outcome> {
    if report.channel == Channel::Result {
        return None;
    }
    let active = &workflow.active_agents[at];
    let key = active.stage.filter(|key| workflow.stage(*key).is_some())?;
    let (hold, text) = match judge(report.agent.stage(), report.message) {
        Judgement::NoVerdict => {
            let choices = verdict_choices(report.agent.stage());
            (Hold::NoVerdict, words::ask_verdict(facts.lang, &choices))
        }
        Judgement::Verdict(Verdict::Pass) if key.stage == Stage::Dev => {
            let open = facts.open_work(workflow);
            let first = cut(open.first()?, TASK_UNITS);
            (Hold::OpenTasks, words::ask_tasks(facts.lang, open.len(), first))
        }
        _ => return None,
    };
    if active.holds.contains(&hold) {
        return None;
    }
    let mut next = workflow.clone();
    let mut outcome = Outcome::default();
    next.active_agents[at].holds.push(hold);
    let slot = next.active_agents[at].slot.clone();
    if hold == Hold::NoVerdict && !report.message.trim().is_empty() {
        let file = next_handoff_file(&mut next, Some(key), report.agent);
        next.active_agents[at].handoff = Some(file.clone());
        let text = handoff_head(Some(key), report.agent, None) + report.message.trim_end() + "\n";
        outcome.push(Effect::SaveHandoff(Handoff { file, text, appends: false }));
    }
    let record = Record::new(EventKind::SystemWarning).with("reason", "report-sent-back");
    let record = record.with("agent", report.agent.name()).with("stage", key).with("slot", slot);
    let handoff = next.active_agents[at].handoff.as_deref().and_then(handoff_number);
    outcome.emit(record.with("missing", hold.key()).with("handoff", handoff));
    outcome.push(Effect::PutWorkflow(next));
    match report.channel {
        Channel::Handback => outcome.reply.permission = Some(Permission::Deny { reason: text }),
        Channel::Stop | Channel::Result => outcome.reply.block = Some(text),
    }
    Some(outcome)
}

/// The markers that an agent of this stage may end with.
fn verdict_choices(stage: Option<Stage>) -> String {
    let bad = match stage {
        Some(Stage::Retro) => "ISSUES",
        Some(stage) if stage.is_reviewer() => "REJECT",
        _ => "FAIL",
    };
    ["PASS", bad, "BLOCKED"].map(|word| format!("`<!-- VERDICT: {{\"result\":\"{word}\"}} -->`")).join(" ")
}

/// What the processing of one report works on.
struct ReportProcessor<'a> {
    workflow: WorkflowState,
    facts: &'a Facts,
    report: &'a Report<'a>,
    started: Option<ActiveAgent>,
    outcome: Outcome,
    lines: Vec<String>,
    /// The stage that this report completed without any reservation.
    passed: Option<StageKey>,
    /// The stage fails because the report says neither way.
    lacks_verdict: bool,
}

impl ReportProcessor<'_> {
    /// An API error is no result: nothing is counted, and the stage is open again, unless a twin works on it or has
    /// done it.
    fn broken(&mut self, stage: Option<StageKey>) {
        let error = first_line(self.report.message, 300);
        let broken = self.record(EventKind::AgentError, stage).with("slot", self.slot());
        self.outcome.emit(broken.with("agentId", self.agent_id()).with("error", error));
        self.lines.push(words::agent_broke(self.facts.lang, self.report.agent.name()));
        let Some(key) = stage.filter(|key| is_abandoned(&self.workflow, *key)) else {
            return;
        };
        match self.workflow.stage(key).and_then(StageState::verdict) {
            Some(verdict) => self.settle(key, verdict),
            None => self.workflow.stage_mut(key).into_iter().for_each(StageState::reopen),
        }
    }

    /// The client's name for the agent, by which its conversation is found.
    fn agent_id(&self) -> Option<&str> {
        let recorded = self.started.as_ref().and_then(|agent| agent.agent_id.as_deref());
        self.report.agent_id.or(recorded)
    }

    /// Which of the delegated agents this was; nothing for one whose delegation was not recorded.
    fn slot(&self) -> Option<&str> {
        self.started.as_ref().map(|agent| &*agent.slot)
    }

    fn has_message(&self) -> bool {
        !self.report.message.trim().is_empty()
    }

    /// Without a verdict, a stage has failed; an agent that has no stage has simply ended.
    fn finished(&mut self, stage: Option<StageKey>, given: Option<Verdict>) {
        let spent = self.started.as_ref().and_then(|a| a.started_at).map(|at| self.facts.now.since(at));
        let verdict = given.or(stage.map(|_| Verdict::Fail));
        let kept = self.started.as_ref().and_then(|active| active.handoff.clone());
        let number = match &kept {
            Some(file) => handoff_number(file),
            None => self.has_message().then_some(self.workflow.handoff_count + 1),
        };
        let done = self
            .record(EventKind::AgentComplete, stage)
            .with("result", verdict.map(Verdict::key))
            .with_some("reason", (stage.is_some() && given.is_none()).then_some(NO_VERDICT))
            .with("durationMs", spent)
            .with("agentId", self.agent_id())
            .with("slot", self.slot())
            .with("handoff", number);
        self.outcome.emit(done);
        if self.report.agent == Agent::Grader {
            self.score();
        }
        self.save_handoff(stage, verdict, kept);
        let (Some(key), Some(verdict)) = (stage, verdict) else {
            self.lines.push(words::agent_finished(self.facts.lang, self.report.agent.name()));
            return;
        };
        if given.is_none() {
            self.lines.push(words::no_verdict(self.facts.lang, self.report.agent.name()));
        }
        if self.twin_still_working(key, verdict) {
            return;
        }
        let verdict = self.worst_so_far(key, verdict);
        self.lacks_verdict = given.is_none();
        self.settle(key, verdict);
    }

    fn score(&mut self) {
        if let Some(score) = grade(self.report.message) {
            self.outcome.emit(Record::new(EventKind::GraderScore).with("score", score));
        }
    }

    /// Two instances of one agent share a stage: it is done when the last one is, with the worst verdict.
    fn twin_still_working(&mut self, key: StageKey, verdict: Verdict) -> bool {
        if !self.workflow.active_agents.iter().any(|other| other.stage == Some(key)) {
            return false;
        }
        let worst = self.worst_so_far(key, verdict);
        if let Some(stage) = self.workflow.stage_mut(key) {
            stage.result = Some(StageResult::Verdict(worst));
        }
        self.lines.push(words::agent_finished(self.facts.lang, self.report.agent.name()));
        true
    }

    fn worst_so_far(&self, key: StageKey, verdict: Verdict) -> Verdict {
        let earlier =
            self.workflow.stage(key).filter(|s| s.status == Status::Active).and_then(StageState::verdict);
        earlier.map_or(verdict, |earlier| earlier.max(verdict))
    }

    fn settle(&mut self, key: StageKey, verdict: Verdict) {
        let now = self.facts.now;
        let Some(stage) = self.workflow.stage_mut(key) else {
            return;
        };
        stage.status = Status::Completed;
        stage.result = Some(StageResult::Verdict(verdict));
        stage.completed_at = Some(now);
        // A report without a recorded delegation is still an attempt.
        stage.attempts = stage.attempts.max(1);
        match verdict {
            Verdict::Pass | Verdict::Issues => self.complete(key, verdict),
            Verdict::Fail | Verdict::Reject => self.failed(key, verdict),
            Verdict::Blocked => self.blocked(key),
        }
        self.converge(key);
        self.workflow.settle_current_stage();
    }

    fn complete(&mut self, key: StageKey, verdict: Verdict) {
        self.workflow.completed_stages = self.workflow.completed_stages.map(|count| count.saturating_add(1));
        let stage = self.workflow.stage(key);
        let spent = stage.and_then(|s| s.started_at).map(|at| self.facts.now.since(at));
        let attempt = stage.map(|s| s.attempts);
        let done = self.record(EventKind::StageComplete, Some(key)).with("result", verdict.key());
        self.outcome.emit(done.with("attempt", attempt).with("durationMs", spent));
        if let Some(feature) = self.workflow.feature_name.clone() {
            self.outcome.push(Effect::TickStage { feature, key });
        }
        let title = titled(self.facts.lang, key);
        if verdict == Verdict::Issues {
            self.workflow.retro_count += 1;
            let (count, limit) = (self.workflow.retro_count, self.facts.settings.max_retros);
            self.lines.push(words::stage_issues(self.facts.lang, &title, count, limit));
            self.lines.push(if count < limit {
                words::issues_advice(self.facts.lang)
            } else {
                words::issues_limit(self.facts.lang)
            });
        } else {
            self.passed = Some(key);
            self.lines.push(words::stage_passed(self.facts.lang, &title));
            self.mention_open_tasks(key);
        }
        self.observe_performance(key, Signal::Contradict);
    }

    /// A developer that keeps tasks open on purpose has said whose they are; the main agent should know.
    fn mention_open_tasks(&mut self, key: StageKey) {
        let open = self.facts.open_work(&self.workflow).len();
        if key.stage == Stage::Dev && open > 0 && !self.workflow.is_finished() {
            self.lines.push(words::tasks_open(self.facts.lang, open));
        }
    }

    /// Nothing is counted against the limits: it is not the work that is at fault.
    fn blocked(&mut self, key: StageKey) {
        self.lines.push(words::stage_blocked(self.facts.lang, &titled(self.facts.lang, key)));
        let record = self.record(EventKind::SystemWarning, Some(key));
        self.outcome.emit(record.with("reason", "stage-blocked"));
    }

    fn failed(&mut self, key: StageKey, verdict: Verdict) {
        let title = titled(self.facts.lang, key);
        let settings = &self.facts.settings;
        let (line, count) = if verdict == Verdict::Reject {
            self.workflow.reject_count += 1;
            let count = self.workflow.counted_rejections();
            (
                words::stage_rejected(self.facts.lang, &title, count, settings.max_rejections),
                self.workflow.reject_count,
            )
        } else {
            self.workflow.fail_count += 1;
            let count = self.workflow.counted_failures();
            (
                words::stage_failed(self.facts.lang, &title, count, settings.max_failures),
                self.workflow.fail_count,
            )
        };
        self.lines.push(line);
        let retry = self.record(EventKind::StageRetry, Some(key)).with("result", verdict.key());
        let retry = retry.with_some("reason", self.lacks_verdict.then_some(NO_VERDICT));
        self.outcome.emit(retry.with("count", count).under(settings));
        if limit_reached(&self.workflow, settings) {
            let fatal = Record::new(EventKind::ErrorFatal).with("stage", key).with("reason", "retry-limit");
            self.outcome.emit(
                fatal
                    .with("failCount", self.workflow.fail_count)
                    .with("rejectCount", self.workflow.reject_count),
            );
        }
        self.observe_performance(key, Signal::Confirm);
    }

    /// Which stages tend to fail in this project is worth knowing; a pass speaks against it.
    fn observe_performance(&mut self, key: StageKey, signal: Signal) {
        if key.stage.is_judge() {
            let kind = ObservationKind::AgentPerformance;
            let seen = Observation::seen(self.facts.lang, kind, key.stage.key());
            self.outcome.push(Effect::Observe(Observation { signal, ..seen }));
        }
    }

    fn converge(&mut self, key: StageKey) {
        let Some((group, keys)) = self.workflow.template().and_then(|w| w.group_of(key)) else {
            return;
        };
        let all_done =
            keys.iter().all(|k| self.workflow.stage(*k).is_some_and(|s| s.status == Status::Completed));
        if !all_done {
            return;
        }
        let stages: Vec<_> = keys.iter().map(ToString::to_string).collect();
        self.outcome
            .emit(Record::new(EventKind::ParallelConverge).with("group", group.name).with("stages", stages));
        self.lines.push(words::converged(self.facts.lang, group.name));
    }

    /// A report that was sent back for its verdict stays the handoff; what came after is added to it.
    fn save_handoff(&mut self, stage: Option<StageKey>, verdict: Option<Verdict>, kept: Option<String>) {
        let agent = self.report.agent;
        if kept.is_none() && !self.has_message() {
            return;
        }
        let head = handoff_head(stage, agent, verdict);
        let body = self.report.message.trim_end();
        let handoff = if let Some(file) = kept {
            Handoff { file, text: format!("\n{head}{body}\n"), appends: true }
        } else {
            let file = next_handoff_file(&mut self.workflow, stage, agent);
            Handoff { file, text: format!("{head}{body}\n"), appends: false }
        };
        match stage.and_then(|key| self.workflow.stage_mut(key)) {
            Some(finished) => finished.handoff = Some(handoff.file.clone()),
            None => self.workflow.add_other_handoff(handoff.file.clone()),
        }
        self.outcome.push(Effect::SaveHandoff(handoff));
    }

    fn record(&self, kind: EventKind, stage: Option<StageKey>) -> Record {
        Record::new(kind).with("stage", stage).with("agent", self.report.agent.name())
    }

    /// Says what is next, suggests a compaction where it fits, and keeps the text until it can be delivered: without
    /// the next step, which may be another one by then.
    fn close(mut self) -> Outcome {
        let step = next_step(&self.workflow, &self.facts.settings);
        let said = self.lines.len();
        self.suggest(&step);
        self.workflow.leave_notice(self.lines.join("\n"));
        let next = moved_text(self.facts.lang, &self.workflow);
        self.lines.insert(said, next.unwrap_or_else(|| next_step_text(&self.workflow, self.facts)));
        self.outcome.reply.result = self.lines.join("\n");
        self.outcome.push(Effect::PutWorkflow(self.workflow));
        self.outcome
    }

    fn suggest(&mut self, step: &Step) {
        let facts = self.facts;
        let Some(stage) = self.passed else { return };
        let last = *step == Step::Done;
        // The facts are from before this stage was completed.
        let since = facts.since_compact.after_stage();
        let reason =
            suggest_compact(facts.transcript_bytes, facts.context_percent, last, since, &facts.settings);
        let bytes = facts.transcript_bytes.unwrap_or(0);
        let size = format_size(bytes);
        self.lines.push(match reason {
            None => return,
            Some(Reason::Transcript) => words::suggest_compact(facts.lang, &size),
            Some(Reason::ContextWindow(percent)) => {
                words::suggest_compact_percent(facts.lang, percent, &size)
            }
        });
        let size = i64::try_from(bytes).unwrap_or(i64::MAX);
        let suggestion = self.record(EventKind::SessionCompactSuggestion, Some(stage));
        self.outcome.emit(suggestion.with("transcriptSize", size).under(&facts.settings));
    }
}

/// What becomes of a workflow when agents are lost.
pub(crate) struct Released {
    pub(crate) workflow: WorkflowState,
    pub(crate) lost: Vec<ActiveAgent>,
    /// Everything but the workflow itself.
    pub(crate) effects: Vec<Effect>,
}

/// Gives up agents that can no longer report back. Their stages are open again, unless a twin has reported: the
/// stage is then done with that verdict, as if the twin had been the only one.
pub(crate) fn release(
    workflow: &WorkflowState,
    is_lost: impl Fn(&ActiveAgent) -> bool,
    facts: &Facts,
) -> Released {
    let mut released = Released { workflow: workflow.clone(), lost: Vec::new(), effects: Vec::new() };
    released.lost = released.workflow.release_agents(is_lost);
    if released.lost.is_empty() {
        return released;
    }
    for agent in released.lost.clone() {
        // One that never went on again has still reported, and may be continued another time.
        if let (true, Some(id)) = (agent.awaits_start, &agent.agent_id) {
            released.workflow.remember_finished(id, agent.agent());
        }
        if let Some((key, verdict)) = agent.stage.and_then(|key| verdict_of_twin(&released.workflow, key)) {
            settle_for_twin(&mut released, &agent, key, verdict, facts);
        }
    }
    released.workflow.settle_current_stage();
    released
}

/// Whether a lost agent is missed; not so when a twin does its stage or has done it.
pub(crate) fn is_missed(workflow: &WorkflowState, lost: &ActiveAgent) -> bool {
    let stage = lost.stage.and_then(|key| workflow.stage(key));
    stage.is_none_or(|stage| stage.status == Status::Pending)
}

/// An active stage that nobody works on any more.
fn is_abandoned(workflow: &WorkflowState, key: StageKey) -> bool {
    let active = workflow.stage(key).is_some_and(|stage| stage.status == Status::Active);
    active && !workflow.active_agents.iter().any(|other| other.stage == Some(key))
}

fn verdict_of_twin(workflow: &WorkflowState, key: StageKey) -> Option<(StageKey, Verdict)> {
    let stage = workflow.stage(key).filter(|_| is_abandoned(workflow, key))?;
    Some((key, stage.verdict()?))
}

fn settle_for_twin(
    released: &mut Released,
    lost: &ActiveAgent,
    key: StageKey,
    verdict: Verdict,
    facts: &Facts,
) {
    let agent = lost.agent().unwrap_or_else(|| key.stage.agent());
    let report = Report { agent, agent_id: None, tool_use_id: None, message: "", channel: Channel::Result };
    let mut processor = ReportProcessor {
        workflow: released.workflow.clone(),
        facts,
        report: &report,
        started: None,
        outcome: Outcome::default(),
        lines: Vec::new(),
        passed: None,
        lacks_verdict: false,
    };
    processor.settle(key, verdict);
    processor.workflow.leave_notice(processor.lines.join("\n"));
    released.workflow = processor.workflow;
    released.effects.append(&mut processor.outcome.effects);
}

/// An agent that failed to launch had been marked for a stage: nobody works on it.
pub(crate) fn launch_failed(
    workflow: &WorkflowState,
    tool_use_id: Option<&str>,
    meant: Option<Agent>,
    facts: &Facts,
) -> Option<Released> {
    let slot = &sent_with(workflow, tool_use_id?, meant)?.slot;
    let released = release(workflow, |agent| agent.slot == *slot, facts);
    (!released.lost.is_empty()).then_some(released)
}

/// Marks an agent as running in the background, so that a Stop does not take it for lost.
pub(crate) fn launched_in_background(
    workflow: &WorkflowState,
    tool_use_id: Option<&str>,
    agent_id: Option<&str>,
) -> Option<WorkflowState> {
    let mut next = workflow.clone();
    match_up(&mut next, tool_use_id, agent_id);
    let agent = next.active_agents.iter_mut().find(|agent| agent.is(tool_use_id, agent_id))?;
    agent.background = true;
    if agent.agent_id.is_none() {
        agent.agent_id = agent_id.map(str::to_owned);
    }
    Some(next)
}

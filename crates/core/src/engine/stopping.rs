//! The loop: whether the session may stop, or the main agent is sent back to work.

use crate::economy::{Spending, price_tag, short_count};
use crate::messages::{Lang, evidence as words, flow, looping};
use crate::registry::{Agent, EventKind, StageKey, WarningReason};

use crate::engine::budget::{begin_waiting, reached_text, stopped_loop};
use crate::engine::by_rule::complete_by_rule;
use crate::engine::completion::fail_for_final_checks;
use crate::engine::evidence;
use crate::engine::flow::{Step, next_step};
use crate::engine::guard;
use crate::engine::outcome::{Effect, Outcome, Record};
use crate::engine::release::{NO_REPORT, NO_REPORT_IN_TIME, is_missed, lost_agent_record, release};
use crate::engine::state::{Ending, LoopState, Pause, StoppedBy, Turn, WorkflowState};
use crate::engine::text::{
    TASK_UNITS, cut, duration, moved_text, progress_bar, short_name, step_for_loop, titled,
};
use crate::engine::ticks::notice_ticks;
use crate::engine::trigger::{Facts, Snapshot};

/// A background agent that has not reported for this long is given up, in milliseconds. It matters for old clients, which
/// do not say which agents are running.
const BACKGROUND_AGE_LIMIT: i64 = 2 * 3600 * 1000;

pub(crate) fn stop(snapshot: &Snapshot, background: Option<&[String]>, facts: &Facts) -> Outcome {
    guard::with_comparison(snapshot, facts, |snapshot| decide_stop(snapshot, background, facts))
}

fn decide_stop(snapshot: &Snapshot, background: Option<&[String]>, facts: &Facts) -> Outcome {
    let stored = match &snapshot.workflow {
        Some(workflow) if workflow.moved_to.is_some() => {
            return stop_moved_session(snapshot, workflow, facts);
        }
        Some(workflow) if workflow.is_open() => workflow,
        Some(workflow) if workflow.ending == Some(Ending::Completed) => return archive_late(workflow, facts),
        _ => return Outcome::default(),
    };
    // Running agents wake the session when they finish, and only the user can accept a plan.
    if facts.plan_mode || waits_for_agents(stored, background, facts) {
        return end_turn(snapshot);
    }
    let mut decision = StopDecision {
        workflow: stored.clone(),
        looping: snapshot.looping.clone().unwrap_or_else(|| LoopState::started(facts.now)),
        facts,
        outcome: Outcome::default(),
    };
    // A call that the user was asked about has ended by now, whatever the answer was.
    decision.looping.asked = None;
    decision.release_lost_agents(background.is_some());
    if let Some(record) = notice_ticks(&mut decision.workflow, facts) {
        decision.outcome.emit(record);
    }
    decision.decide(background.is_some());
    decision.finish(snapshot)
}

/// Lets the session stop without a message.
fn end_turn(snapshot: &Snapshot) -> Outcome {
    let mut outcome = Outcome::default();
    if let Some(looping) = &snapshot.looping
        && (looping.turn.is_some() || looping.asked.is_some())
    {
        let mut next = looping.clone();
        next.end_turn();
        outcome.push(Effect::PutLoop(next));
    }
    outcome
}

/// Lets the session stop, because it continues on another machine. The user is notified once.
fn stop_moved_session(snapshot: &Snapshot, workflow: &WorkflowState, facts: &Facts) -> Outcome {
    let mut outcome = Outcome::default();
    let mut looping = snapshot.looping.clone().unwrap_or_else(|| LoopState::started(facts.now));
    if looping.stopped_by != Some(StoppedBy::Moved) || !looping.announced {
        looping.stop(StoppedBy::Moved);
        looping.announced = true;
        outcome.reply.system_message = moved_text(facts.lang, workflow);
        outcome.push(Effect::PutLoop(looping));
    }
    outcome
}

/// Archives the feature of a completed workflow, in case the hook that completed it was killed before it did so.
fn archive_late(workflow: &WorkflowState, facts: &Facts) -> Outcome {
    let mut outcome = Outcome::default();
    if let Some(feature) = facts.own_feature(workflow)
        && feature.total > 0
        && feature.pending.is_empty()
    {
        outcome.push(Effect::ArchiveFeature { feature: feature.name.clone() });
    }
    outcome
}

/// Whether agents are at work. The client may list an agent as running for a moment after its report, so agents that
/// have reported do not count. If the client lists none, a background agent counts as running up to an age limit.
fn waits_for_agents(workflow: &WorkflowState, background: Option<&[String]>, facts: &Facts) -> bool {
    match background {
        Some(running) => running.iter().any(|id| workflow.finished_agent(id).is_none()),
        None => workflow.active_agents.iter().any(|agent| match agent.started_at {
            Some(at) => agent.background && facts.now.since(at) < BACKGROUND_AGE_LIMIT,
            None => false,
        }),
    }
}

/// The decision whether the main agent is sent back to work.
struct StopDecision<'a> {
    workflow: WorkflowState,
    looping: LoopState,
    facts: &'a Facts,
    outcome: Outcome,
}

impl StopDecision<'_> {
    /// Gives up all agents: the main agent stops only when no agent is running, so no further report will come.
    fn release_lost_agents(&mut self, client_lists_agents: bool) {
        let released = release(&self.workflow, |_| true, self.facts);
        self.workflow = released.workflow;
        let error = if client_lists_agents { NO_REPORT } else { NO_REPORT_IN_TIME };
        for agent in &released.lost {
            self.outcome.emit(self.with_circumstances(lost_agent_record(agent, error)));
            if is_missed(&self.workflow, agent) {
                self.workflow.leave_notice(flow::agent_lost(self.facts.lang, agent.name()));
            }
        }
        self.outcome.effects.extend(released.effects);
    }

    fn decide(&mut self, client_shows_context: bool) {
        if self.looping.stopped {
            return self.stay_stopped();
        }
        let is_read_only = self.looping.turn == Some(Turn::Looking);
        // The loop's text shows the stages that are left out. Nothing happens while the user only looks, or decides.
        if !is_read_only && self.looping.paused.is_none() {
            complete_by_rule(&mut self.workflow, self.facts, &mut self.outcome);
        }
        self.fail_unchecked_stages();
        match next_step(&self.workflow, &self.facts.settings) {
            Step::AskUser(key) => self.abort(key),
            Step::Report(key) => self.hand_over(key),
            Step::Done if self.open_tasks().is_empty() => self.complete(),
            Step::OverBudget(_) => return self.stop_for_budget(),
            _ if is_read_only => {}
            Step::Blocked(key) => self.wait_for_user(key),
            _ if self.looping.paused.is_some() => self.stay_paused(),
            step => return self.continue_loop(&step, client_shows_context),
        }
        self.looping.end_turn();
    }

    /// A workflow completes only with checks that succeed on the tree it ends with. If one does not, the stage that has to
    /// repair it fails, and the loop continues with the repair.
    fn fail_unchecked_stages(&mut self) {
        let is_completing = next_step(&self.workflow, &self.facts.settings) == Step::Done;
        if !is_completing || !self.open_tasks().is_empty() {
            return;
        }
        for failure in evidence::final_failures(&self.workflow, &self.facts.evidence, self.facts.lang) {
            let failed = fail_for_final_checks(self.workflow.clone(), &failure, self.facts);
            self.workflow = failed.workflow;
            self.outcome.effects.extend(failed.effects);
        }
    }

    fn stay_stopped(&mut self) {
        if !self.looping.announced && self.looping.stopped_by != Some(StoppedBy::Limit) {
            self.notify_user(looping::stopped_by_user(self.facts.lang));
        }
        self.looping.announced = true;
        self.looping.end_turn();
    }

    fn stay_paused(&mut self) {
        if !self.looping.announced {
            self.notify_user(looping::paused(self.facts.lang));
        }
        self.looping.announced = true;
    }

    fn wait_for_user(&mut self, key: StageKey) {
        self.notify_user(looping::blocked(self.facts.lang, &titled(self.facts.lang, key)));
    }

    /// The open tasks of the workflow's feature, without those that this Stop ticks because it settles their stage.
    fn open_tasks(&self) -> Vec<&str> {
        let is_ticked_now = |task: &str| {
            let mut effects = self.outcome.effects.iter();
            effects.any(|effect| matches!(effect, Effect::TickStage { key, .. } if key.to_string() == task))
        };
        let pending = self.facts.own_feature(&self.workflow).into_iter().flat_map(|feature| &feature.pending);
        pending.map(String::as_str).filter(|task| !is_ticked_now(task)).collect()
    }

    fn stop_for_budget(&mut self) {
        self.outcome.reply.system_message = reached_text(&self.workflow, self.facts.lang);
        self.looping = stopped_loop(std::mem::take(&mut self.looping));
    }

    fn abort(&mut self, key: StageKey) {
        let (lang, settings) = (self.facts.lang, &self.facts.settings);
        let rejected = self.workflow.counted_rejections() >= settings.max_rejections;
        self.notify_user(if rejected {
            looping::limit_rejections(lang, settings.max_rejections)
        } else {
            looping::limit_failures(lang, settings.max_failures)
        });
        self.end_aborted(key, "retry-limit");
    }

    fn hand_over(&mut self, key: StageKey) {
        self.notify_user(looping::needs_user(self.facts.lang, &titled(self.facts.lang, key)));
        self.end_aborted(key, "needs-person");
    }

    fn end_aborted(&mut self, key: StageKey, reason: &str) {
        self.workflow.ending = Some(Ending::Aborted);
        self.looping.stop(StoppedBy::Limit);
        let record =
            Record::new(EventKind::WorkflowAbort).with("workflowType", &*self.workflow.workflow_type);
        self.outcome.emit(record.with("stage", key).with("reason", reason).under(&self.facts.settings));
    }

    fn complete(&mut self) {
        let spent = match self.workflow.created_at {
            Some(created_at) => self.facts.now.since(created_at),
            None => 0,
        };
        let iterations = self.looping.iterations;
        let summary = self.summary(spent);
        self.notify_user(summary);
        let record =
            Record::new(EventKind::WorkflowComplete).with("workflowType", &*self.workflow.workflow_type);
        let record = record.with("durationMs", spent).with("failCount", self.workflow.fail_count);
        let record = record.with("rejectCount", self.workflow.reject_count);
        let receipts = evidence::receipts_field(&self.facts.evidence);
        let untrusted = evidence::untrusted_field(&self.facts.evidence);
        self.outcome.emit(record.with_some("receipts", receipts).with_some("untrusted", untrusted));
        self.outcome.emit(Record::new(EventKind::LoopComplete).with("iterations", iterations));
        if let Some(feature) = self.facts.own_feature(&self.workflow) {
            self.outcome.push(Effect::ArchiveFeature { feature: feature.name.clone() });
        }
        self.workflow.ending = Some(Ending::Completed);
        self.looping.stop(StoppedBy::Completion);
    }

    fn summary(&mut self, spent: i64) -> String {
        let lang = self.facts.lang;
        let count = self.workflow.stages.len();
        let mut lines = vec![looping::finished(lang, &self.workflow.workflow_type, count, &duration(spent))];
        lines.push(progress_bar(lang, &self.workflow));
        if self.workflow.fail_count + self.workflow.reject_count > 0 {
            lines.push(looping::retries(lang, self.workflow.fail_count, self.workflow.reject_count));
        }
        lines.extend(self.facts.spent.as_ref().and_then(|spent| describe_spending(lang, &spent.total)));
        for check in &self.facts.evidence.checks {
            lines.push(words::receipt(lang, &evidence::describe_receipt(&check.receipt, lang)));
        }
        lines.extend(evidence::untrusted_notice(&mut self.workflow, self.facts));
        if let Some(feature) = self.facts.own_feature(&self.workflow) {
            lines.push(looping::archived(lang, &feature.name));
        }
        lines.join("\n")
    }

    fn continue_loop(&mut self, step: &Step, client_shows_context: bool) {
        let settings = &self.facts.settings;
        if self.looping.iterations >= settings.max_iterations {
            return self.stop_at_limit();
        }
        if let Some(text) = self.tasks_stay_open(step) {
            return self.pause_without_progress(text);
        }
        if self.is_stuck() {
            let text = looping::limit_no_progress(self.facts.lang, settings.max_consecutive_errors);
            return self.pause_without_progress(text);
        }
        self.looping.iterations += 1;
        let text = self.loop_text(step);
        let mut record = Record::new(EventKind::LoopAdvance).with("iteration", self.looping.iterations);
        record = record.with("stage", self.workflow.current_stage);
        if self.looping.consecutive_errors > 0 {
            record = record.with("idle", self.looping.consecutive_errors);
        }
        self.outcome.emit(self.with_circumstances(record));
        if client_shows_context {
            self.outcome.reply.model_context = Some(text);
        } else {
            self.outcome.reply.block = Some(text);
        }
    }

    fn pause_without_progress(&mut self, text: String) {
        self.notify_user(text);
        self.looping.pause(Pause::NoProgress);
        self.looping.announced = true;
        self.looping.end_turn();
    }

    /// The text for the user if development was run again for the open tasks and finished none of them. Another round would
    /// not finish them either.
    fn tasks_stay_open(&self, step: &Step) -> Option<String> {
        let open = self.facts.open_work(&self.workflow);
        if *step != Step::Done || !self.workflow.tried_tasks(open.len()) {
            return None;
        }
        let first = open.first()?;
        Some(looping::tasks_stay_open(self.facts.lang, open.len(), cut(first, TASK_UNITS)))
    }

    fn stop_at_limit(&mut self) {
        let settings = &self.facts.settings;
        self.notify_user(looping::limit_iterations(self.facts.lang, settings.max_iterations));
        self.looping.stop(StoppedBy::Limit);
        self.looping.end_turn();
        let record = Record::warning(WarningReason::LoopLimit);
        self.outcome.emit(self.with_circumstances(record.with("iterations", self.looping.iterations)));
    }

    /// Adds what the decision depends on to a record: open tasks and changed limits.
    fn with_circumstances(&self, record: Record) -> Record {
        let record = record.under(&self.facts.settings);
        match self.facts.own_feature(&self.workflow) {
            Some(feature) => record.with("tasks", u32::try_from(feature.pending.len()).unwrap_or(u32::MAX)),
            None => record,
        }
    }

    /// Counts rounds without progress and returns whether there were too many in a row. The client itself ends a turn after
    /// 8 such rounds, so the limit has to be lower.
    fn is_stuck(&mut self) -> bool {
        let fingerprint = self.fingerprint();
        if self.looping.fingerprint.as_deref() == Some(&*fingerprint) {
            self.looping.consecutive_errors += 1;
        } else {
            self.looping.consecutive_errors = 0;
        }
        self.looping.fingerprint = Some(fingerprint);
        self.looping.consecutive_errors >= self.facts.settings.max_consecutive_errors
    }

    fn fingerprint(&self) -> String {
        let workflow = &self.workflow;
        let stages = workflow.stages.iter().map(|s| format!("{}{}", s.attempts, &s.status.key()[..1]));
        let tasks = match self.facts.own_feature(workflow) {
            Some(feature) => feature.checked,
            None => 0,
        };
        format!("{} t{tasks} h{}", stages.collect::<Vec<_>>().join(" "), workflow.handoff_count)
    }

    fn loop_text(&mut self, step: &Step) -> String {
        let lang = self.facts.lang;
        let mut lines =
            vec![looping::go_on(lang, self.looping.iterations, self.facts.settings.max_iterations)];
        lines.push(progress_bar(lang, &self.workflow));
        if let Some(feature) = self.facts.own_feature(&self.workflow) {
            lines.push(looping::tasks(lang, feature.checked, feature.total));
        }
        lines.append(&mut self.workflow.notices);
        let next = match (step, &*self.open_tasks()) {
            (Step::Done, open @ [first, ..]) => {
                let developer = short_name(Agent::Developer);
                looping::next_tasks(lang, open.len(), cut(first, TASK_UNITS), &developer)
            }
            (step, _) => step_for_loop(lang, step),
        };
        lines.push(next);
        lines.push(looping::how_to_stop(lang));
        lines.join("\n")
    }

    fn notify_user(&mut self, text: String) {
        self.outcome.reply.system_message = Some(text);
    }

    fn finish(mut self, snapshot: &Snapshot) -> Outcome {
        if self.looping.turn.is_none() {
            begin_waiting(&mut self.workflow, self.facts.now);
        }
        if snapshot.workflow.as_ref() != Some(&self.workflow) {
            self.outcome.push(Effect::PutWorkflow(self.workflow));
        }
        if snapshot.looping.as_ref() != Some(&self.looping) {
            self.outcome.push(Effect::PutLoop(self.looping));
        }
        self.outcome
    }
}

/// What the workflow has used, for the user. `None` if nothing is known about it.
fn describe_spending(lang: Lang, spent: &Spending) -> Option<String> {
    if spent.is_nothing() {
        return None;
    }
    let tokens = &spent.tokens;
    let cached = short_count(tokens.cache_read.saturating_add(tokens.cache_write));
    let (input, output) = (short_count(tokens.input), short_count(tokens.output));
    Some(match spent.cost.known_usd() {
        Some(_) => looping::spent(lang, &price_tag(&spent.cost), &input, &output, &cached),
        None => looping::spent_without_price(lang, &input, &output, &cached),
    })
}

//! The loop: whether the session may stop.

use overtone_messages::{flow as words, looping};
use overtone_registry::{EventKind, StageKey};

use crate::completion;
use crate::flow::{Step, next_step};
use crate::outcome::{Effect, Outcome, Record};
use crate::state::{Ending, LoopState, StoppedBy, WorkflowState};
use crate::text::{cut, duration, moved_text, progress_bar, step_text, titled};
use crate::trigger::{Facts, Feature, Snapshot};

/// A background agent that has not reported back for this long is given up (old clients do not say which run).
const BACKGROUND_AGE_LIMIT: i64 = 2 * 3600 * 1000;

/// The `error` of an agent that a Stop gave up, with and without the client's word that none is running.
pub const NO_REPORT: &str = "no-report";
pub const NO_REPORT_IN_TIME: &str = "no-report-in-time";

/// How much of a task is quoted.
const TASK_UNITS: usize = 200;

pub(crate) fn stop(snapshot: &Snapshot, background: Option<bool>, facts: &Facts) -> Outcome {
    let stored = match &snapshot.workflow {
        Some(workflow) if workflow.moved_to.is_some() => return leave(snapshot, workflow, facts),
        Some(workflow) if workflow.is_open() => workflow,
        Some(workflow) if workflow.ending == Some(Ending::Completed) => return archive_late(workflow, facts),
        _ => return Outcome::default(),
    };
    // Running agents wake the session when they finish.
    if background == Some(true) || waits_for_background(stored, background, facts) {
        return Outcome::default();
    }
    let mut door = Door {
        workflow: stored.clone(),
        looping: snapshot.looping.clone().unwrap_or_else(|| LoopState::started(facts.now)),
        facts,
        outcome: Outcome::default(),
    };
    door.release_lost_agents(background);
    door.decide(background.is_some());
    door.close(snapshot)
}

/// The work goes on elsewhere: the session may stop, and is told once where it is.
fn leave(snapshot: &Snapshot, workflow: &WorkflowState, facts: &Facts) -> Outcome {
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

/// The hook that completed the workflow may have been killed before it had put the feature away.
fn archive_late(workflow: &WorkflowState, facts: &Facts) -> Outcome {
    let left = facts.own_feature(workflow).filter(|feature| feature.total > 0 && feature.pending.is_empty());
    let effects = left.map(|feature| Effect::ArchiveFeature { feature: feature.name.clone() });
    Outcome { effects: effects.into_iter().collect(), ..Outcome::default() }
}

/// Without word from the client, a young background agent is taken to be running.
fn waits_for_background(workflow: &WorkflowState, background: Option<bool>, facts: &Facts) -> bool {
    background.is_none()
        && workflow.active_agents.iter().any(|a| {
            a.background && a.started_at.is_some_and(|at| facts.now.since(at) < BACKGROUND_AGE_LIMIT)
        })
}

/// The decision at the door.
struct Door<'a> {
    workflow: WorkflowState,
    looping: LoopState,
    facts: &'a Facts,
    outcome: Outcome,
}

impl Door<'_> {
    /// The main agent stops only when no foreground agent runs, so whoever has not reported back never will.
    fn release_lost_agents(&mut self, background: Option<bool>) {
        let released = completion::release(&self.workflow, |_| true, self.facts);
        self.workflow = released.workflow;
        for agent in &released.lost {
            let record =
                Record::new(EventKind::AgentError).with("agent", agent.name()).with("stage", agent.stage);
            let reason = if background.is_some() { NO_REPORT } else { NO_REPORT_IN_TIME };
            let record = record.with("slot", &*agent.slot).with("error", reason);
            self.outcome.emit(self.circumstances(record));
            if completion::is_missed(&self.workflow, agent) {
                self.workflow.leave_notice(words::agent_lost(self.facts.lang, agent.name()));
            }
        }
        self.outcome.effects.extend(released.effects);
    }

    fn decide(&mut self, client_shows_context: bool) {
        if self.looping.stopped {
            return self.stay_stopped();
        }
        match next_step(&self.workflow, &self.facts.settings) {
            Step::AskPerson(key) => self.abort(key),
            Step::Report(key) => self.hand_over(key),
            Step::Done if self.open_tasks().is_none() => self.complete(),
            step => self.go_on(&step, client_shows_context),
        }
    }

    fn stay_stopped(&mut self) {
        if !self.looping.announced && self.looping.stopped_by != Some(StoppedBy::Limit) {
            self.say(looping::stopped_by_user(self.facts.lang));
        }
        self.looping.announced = true;
    }

    fn open_tasks(&self) -> Option<&Feature> {
        self.facts.own_feature(&self.workflow).filter(|feature| !feature.pending.is_empty())
    }

    fn abort(&mut self, key: StageKey) {
        let (lang, settings) = (self.facts.lang, &self.facts.settings);
        let rejected = self.workflow.counted_rejections() >= settings.max_rejections;
        self.say(if rejected {
            looping::limit_rejections(lang, settings.max_rejections)
        } else {
            looping::limit_failures(lang, settings.max_failures)
        });
        self.end_aborted(key, "retry-limit");
    }

    fn hand_over(&mut self, key: StageKey) {
        self.say(looping::needs_person(self.facts.lang, &titled(self.facts.lang, key)));
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
        let spent = self.workflow.created_at.map_or(0, |at| self.facts.now.since(at));
        let iterations = self.looping.iterations;
        self.say(self.summary(spent));
        let record =
            Record::new(EventKind::WorkflowComplete).with("workflowType", &*self.workflow.workflow_type);
        let record = record.with("durationMs", spent).with("failCount", self.workflow.fail_count);
        self.outcome.emit(record.with("rejectCount", self.workflow.reject_count));
        self.outcome.emit(Record::new(EventKind::LoopComplete).with("iterations", iterations));
        if let Some(feature) = self.facts.own_feature(&self.workflow) {
            self.outcome.push(Effect::ArchiveFeature { feature: feature.name.clone() });
        }
        self.workflow.ending = Some(Ending::Completed);
        self.looping.stop(StoppedBy::Completion);
    }

    fn summary(&self, spent: i64) -> String {
        let lang = self.facts.lang;
        let count = self.workflow.stages.len();
        let mut lines = vec![looping::finished(lang, &self.workflow.workflow_type, count, &duration(spent))];
        lines.push(progress_bar(lang, &self.workflow));
        if self.workflow.fail_count + self.workflow.reject_count > 0 {
            lines.push(looping::retries(lang, self.workflow.fail_count, self.workflow.reject_count));
        }
        if let Some(feature) = self.facts.own_feature(&self.workflow) {
            lines.push(looping::archived(lang, &feature.name));
        }
        lines.join("\n")
    }

    fn go_on(&mut self, step: &Step, client_shows_context: bool) {
        let settings = &self.facts.settings;
        if self.looping.iterations >= settings.max_iterations {
            return self.stop_at_limit();
        }
        if self.stuck() {
            self.say(looping::limit_no_progress(self.facts.lang, settings.max_consecutive_errors));
            return;
        }
        self.looping.iterations += 1;
        let text = self.marching_orders(step);
        let mut record = Record::new(EventKind::LoopAdvance).with("iteration", self.looping.iterations);
        record = record.with("stage", self.workflow.current_stage);
        if self.looping.consecutive_errors > 0 {
            record = record.with("idle", self.looping.consecutive_errors);
        }
        self.outcome.emit(self.circumstances(record));
        if client_shows_context {
            self.outcome.reply.model_context = Some(text);
        } else {
            self.outcome.reply.block = Some(text);
        }
    }

    fn stop_at_limit(&mut self) {
        let settings = &self.facts.settings;
        self.say(looping::limit_iterations(self.facts.lang, settings.max_iterations));
        self.looping.stop(StoppedBy::Limit);
        let record = Record::new(EventKind::SystemWarning).with("reason", "loop-limit");
        self.outcome.emit(self.circumstances(record.with("iterations", self.looping.iterations)));
    }

    /// With what it was decided under: open tasks and changed limits.
    fn circumstances(&self, record: Record) -> Record {
        let record = record.under(&self.facts.settings);
        match self.facts.own_feature(&self.workflow) {
            Some(feature) => record.with("tasks", u32::try_from(feature.pending.len()).unwrap_or(u32::MAX)),
            None => record,
        }
    }

    /// Counts a round that changed nothing, and says when there were too many. The client ends a turn after 8
    /// such rounds by itself, so the limit must come first.
    fn stuck(&mut self) -> bool {
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
        let tasks = self.facts.own_feature(workflow).map_or(0, |feature| feature.checked);
        format!("{} t{tasks} h{}", stages.collect::<Vec<_>>().join(" "), workflow.handoff_count)
    }

    fn marching_orders(&mut self, step: &Step) -> String {
        let lang = self.facts.lang;
        let mut lines =
            vec![looping::go_on(lang, self.looping.iterations, self.facts.settings.max_iterations)];
        lines.push(progress_bar(lang, &self.workflow));
        if let Some(feature) = self.facts.own_feature(&self.workflow) {
            lines.push(looping::tasks(lang, feature.checked, feature.total));
        }
        lines.append(&mut self.workflow.notices);
        let next = match (step, self.open_tasks()) {
            (Step::Done, Some(feature)) => {
                words::tasks_left(lang, feature.pending.len(), cut(&feature.pending[0], TASK_UNITS))
            }
            (step, _) => step_text(lang, step),
        };
        // A waiting notice may end with the very same sentence.
        if !lines.iter().any(|line| line.contains(&next)) {
            lines.push(next);
        }
        lines.push(looping::how_to_stop(lang));
        lines.join("\n")
    }

    fn say(&mut self, text: String) {
        self.outcome.reply.system_message = Some(text);
    }

    fn close(mut self, snapshot: &Snapshot) -> Outcome {
        if snapshot.workflow.as_ref() != Some(&self.workflow) {
            self.outcome.push(Effect::PutWorkflow(self.workflow));
        }
        if snapshot.looping.as_ref() != Some(&self.looping) {
            self.outcome.push(Effect::PutLoop(self.looping));
        }
        self.outcome
    }
}

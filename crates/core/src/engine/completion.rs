//! An agent reports back: verdict, convergence, retries, handoff and the next step.

use crate::messages::{budget, evidence as evidence_words, flow, guard as guard_words};
use crate::registry::{Agent, EventKind, Stage, StageKey, WarningReason};

use crate::engine::agents::{AgentIds, correct_twins, disown_call, position_of_reporter};
use crate::engine::by_rule::{complete_by_rule, note_visible_change};
use crate::engine::evidence::{self, FinalFailure, Objection};
use crate::engine::flow::{Step, limit_reached, next_step, stage_without_record};
use crate::engine::guard;
use crate::engine::handoff::{handoff_head, handoff_number, next_handoff_file};
use crate::engine::instinct::{Observation, ObservationKind, Signal};
use crate::engine::marker::grade;
use crate::engine::outcome::{Effect, Handoff, Outcome, Record};
use crate::engine::place::names_file_and_line;
use crate::engine::redact::first_line;
use crate::engine::report::{Channel, Report};
use crate::engine::send_back::send_back;
use crate::engine::state::{
    ActiveAgent, SendBackReason, StageResult, StageState, Status, Verdict, WorkflowState,
};
use crate::engine::suggestion::{Reason, format_size, suggest_compact};
use crate::engine::text::{moved_text, named_files, next_step_text, titled};
use crate::engine::ticks::remember_ticks;
use crate::engine::trigger::Facts;
use crate::engine::verdict::{Judgement, judge};

/// The `reason` of a stage that failed because its report has no verdict.
pub const NO_VERDICT: &str = "no verdict";

/// The `reason` of a report that came because the budget was reached.
pub(crate) const CUT_SHORT: &str = "budget";

/// Processes a report. A report of an agent that has already reported is ignored.
pub(crate) fn report(workflow: &WorkflowState, report: &Report, facts: &Facts) -> Outcome {
    if let Some(id) = report.ids.agent_id
        && workflow.finished_agent(id).is_some()
    {
        let mut outcome = Outcome::default();
        outcome.effects.extend(disown_call(workflow, report.ids.tool_use_id).map(Effect::PutWorkflow));
        return outcome;
    }
    let mut next = workflow.clone();
    correct_twins(&mut next, report.ids);
    let position = position_of_reporter(&next, report.agent, report.ids);
    if let Some(at) = position {
        // This is the end of an earlier run: the agent that is to continue has not started again yet.
        if next.active_agents[at].awaits_start && report.channel == Channel::Stop {
            return Outcome::default();
        }
        // An agent that has to finish is asked for nothing more.
        if !next.budget.ends_work()
            && let Some(sent_back) = send_back(&next, at, report, facts)
        {
            return sent_back;
        }
    }
    let active = position.map(|at| next.active_agents.remove(at));
    remember_ticks(&mut next, facts);
    // A report without an id is remembered with that of its entry, so that the same report with its id does not count
    // again when it comes late.
    if let Some(id) = report.ids.agent_id.or_else(|| active.as_ref()?.agent_id.as_deref()) {
        next.remember_finished(id, Some(report.agent));
    }
    let stage = match &active {
        Some(active) => active.stage.filter(|key| next.stage(*key).is_some()),
        None => report.agent.stage().and_then(|stage| stage_without_record(&next, stage)),
    };
    let mut processor = ReportProcessor::new(next, report, active, facts);
    match judge(report.agent.stage(), report.message) {
        Judgement::Broken => processor.handle_api_error(stage),
        Judgement::Verdict(Verdict::Pass) => processor.handle_pass(stage),
        _ if processor.workflow.budget.ends_work() => processor.handle_cut_short(stage),
        Judgement::Verdict(verdict) => processor.handle_report(stage, Some(verdict), None),
        Judgement::NoVerdict => processor.handle_report(stage, None, Some(NO_VERDICT)),
    }
    processor.finish()
}

/// A workflow with a stage that was settled without a report.
pub(crate) struct SettledStage {
    pub(crate) workflow: WorkflowState,
    pub(crate) effects: Vec<Effect>,
}

/// Settles a stage with a verdict that was given earlier, and leaves a notice for the main agent. `agent` is the one
/// that the stage had waited for.
pub(crate) fn settle_stage(
    workflow: WorkflowState,
    agent: Agent,
    key: StageKey,
    verdict: Verdict,
    facts: &Facts,
) -> SettledStage {
    let ids = AgentIds { tool_use_id: None, agent_id: None };
    let report = Report { agent, ids, message: "", channel: Channel::Result };
    let mut processor = ReportProcessor::new(workflow, &report, None, facts);
    processor.settle(key, verdict);
    processor.workflow.leave_notice(processor.lines.join("\n"));
    SettledStage { workflow: processor.workflow, effects: processor.outcome.effects }
}

/// Fails a stage that had passed, because the project's checks do not succeed at the end of the workflow. The agent that
/// repairs it finds the details in the handoff.
pub(crate) fn fail_for_final_checks(
    workflow: WorkflowState,
    failure: &FinalFailure,
    facts: &Facts,
) -> SettledStage {
    let agent = failure.key.stage.agent();
    let ids = AgentIds { tool_use_id: None, agent_id: None };
    let message = evidence_words::final_checks_failed(facts.lang, &failure.details);
    let report = Report { agent, ids, message: &message, channel: Channel::Result };
    let mut processor = ReportProcessor::new(workflow, &report, None, facts);
    processor.failure_reason = Some(SendBackReason::ChecksFailed.key());
    processor.lines.push(evidence_words::final_checks_failed(facts.lang, &failure.summary));
    processor.save_handoff(Some(failure.key), Some(Verdict::Fail), None);
    processor.settle(failure.key, Verdict::Fail);
    processor.workflow.leave_notice(processor.lines.join("\n"));
    SettledStage { workflow: processor.workflow, effects: processor.outcome.effects }
}

/// Processes one report.
struct ReportProcessor<'a> {
    workflow: WorkflowState,
    facts: &'a Facts,
    report: &'a Report<'a>,
    /// The entry of the agent, if its delegation was recorded.
    entry: Option<ActiveAgent>,
    outcome: Outcome,
    /// The text for the main agent, line by line.
    lines: Vec<String>,
    /// The stage that this report completed with a pass.
    passed: Option<StageKey>,
    /// Why the stage fails although the report does not say so.
    failure_reason: Option<&'static str>,
    /// What Overtone saw that speaks against the report, for the handoff.
    finding: Option<String>,
    /// What the reviewer and the user have to know about a report that was accepted.
    notes: Vec<String>,
}

impl<'a> ReportProcessor<'a> {
    fn new(
        workflow: WorkflowState,
        report: &'a Report<'a>,
        entry: Option<ActiveAgent>,
        facts: &'a Facts,
    ) -> Self {
        Self {
            workflow,
            facts,
            report,
            entry,
            outcome: Outcome::default(),
            lines: Vec::new(),
            passed: None,
            failure_reason: None,
            finding: None,
            notes: Vec::new(),
        }
    }

    /// Handles a message of the client about a failed request in place of a report. Nothing is counted, and the stage is
    /// open again unless a twin works on it or has done it.
    fn handle_api_error(&mut self, stage: Option<StageKey>) {
        let error = first_line(self.report.message, 300);
        let broken = self.record(EventKind::AgentError, stage).with("slot", self.slot());
        self.outcome.emit(broken.with("agentId", self.agent_id()).with("error", error));
        self.lines.push(flow::agent_broke(self.facts.lang, self.report.agent.name()));
        let Some(key) = stage else { return };
        if !self.workflow.is_abandoned(key) {
            return;
        }
        if let Some(verdict) = self.workflow.stage(key).and_then(StageState::verdict) {
            self.settle(key, verdict);
        } else if let Some(stage) = self.workflow.stage_mut(key) {
            stage.reopen();
        }
    }

    /// The client's id of the agent, by which its conversation can be found.
    fn agent_id(&self) -> Option<&str> {
        let recorded = self.entry.as_ref().and_then(|agent| agent.agent_id.as_deref());
        self.report.ids.agent_id.or(recorded)
    }

    /// The slot of the agent. `None` if its delegation was not recorded.
    fn slot(&self) -> Option<&str> {
        self.entry.as_ref().map(|agent| &*agent.slot)
    }

    /// The number of the file in which the report is saved: that of the earlier one, if it was sent back.
    fn number_of_handoff(&self, earlier_file: Option<&str>) -> Option<u32> {
        match earlier_file {
            Some(file) => handoff_number(file),
            None if self.has_message() => Some(self.workflow.handoff_count + 1),
            None => None,
        }
    }

    fn has_message(&self) -> bool {
        !self.report.message.trim().is_empty()
    }

    /// Handles a report that says PASS. The stage passes unless there is evidence against it.
    fn handle_pass(&mut self, stage: Option<StageKey>) {
        let Some(judged) = stage.and_then(|key| self.workflow.stage(key)).cloned() else {
            return self.handle_report(stage, Some(Verdict::Pass), None);
        };
        match evidence::objection(&judged, self.report.message, self.workflow.guard, self.facts) {
            Some(objection) if objection.is_binding() && self.workflow.budget.ends_work() => {
                self.handle_cut_short(stage);
            }
            Some(objection) if objection.is_binding() => self.fail_for_evidence(stage, &objection),
            other => {
                let remark = evidence::remark(&judged, self.report.agent, self.report.message, self.facts);
                let noticed = other.map(|objection| objection.finding);
                for note in noticed.into_iter().chain(remark) {
                    self.workflow.add_review_note(note.clone());
                    self.notify_user(flow::user_notice(self.facts.lang, &note));
                    self.notes.push(note);
                }
                if let Some(note) = evidence::untrusted_notice(&mut self.workflow, self.facts) {
                    self.notify_user(flow::user_notice(self.facts.lang, &note));
                }
                self.handle_report(stage, Some(Verdict::Pass), None);
                self.note_changes_of_reader();
            }
        }
    }

    /// Handles the report of an agent that the budget left no time to complete its stage. Nothing is counted: the report is kept
    /// for the next attempt, and the stage is open again.
    fn handle_cut_short(&mut self, stage: Option<StageKey>) {
        let spent = self.entry.as_ref().and_then(|agent| agent.started_at).map(|at| self.facts.now.since(at));
        let earlier_file = self.entry.as_ref().and_then(|active| active.handoff.clone());
        let number = self.number_of_handoff(earlier_file.as_deref());
        let done = self
            .record(EventKind::AgentComplete, stage)
            .with("result", None::<&str>)
            .with("reason", CUT_SHORT)
            .with("durationMs", spent)
            .with("agentId", self.agent_id())
            .with("slot", self.slot())
            .with("handoff", number);
        self.outcome.emit(done);
        self.save_handoff(stage, None, earlier_file);
        self.lines.push(budget::cut_short(self.facts.lang, self.report.agent.name()));
        if let Some(key) = stage
            && self.workflow.is_abandoned(key)
            && let Some(stage) = self.workflow.stage_mut(key)
        {
            stage.reopen();
        }
        self.workflow.update_current_stage();
    }

    /// Notes the files that an agent without editing tools changed by a command. While other agents are at work, it is not
    /// known whose changes these are.
    fn note_changes_of_reader(&mut self) {
        let agent = self.report.agent;
        let Some(change) = &self.facts.evidence.change else { return };
        if agent.may_change_files() || !self.workflow.awaits_comparison() {
            return;
        }
        let noted = guard::note_changes(&self.workflow, agent.name(), &change.files, self.facts);
        if let Some(workflow) = noted.workflow() {
            self.workflow = workflow.clone();
        }
        let records = noted.effects.into_iter().filter(|effect| matches!(effect, Effect::Emit(_)));
        self.outcome.effects.extend(records);
        if noted.reply.model_context.is_some() {
            self.lines.push(guard_words::changed_advice(self.facts.lang, &named_files(&change.files)));
        }
        if let Some(text) = noted.reply.system_message {
            self.notify_user(text);
        }
    }

    /// Adds a line to the message for the user.
    fn notify_user(&mut self, text: String) {
        let message = &mut self.outcome.reply.system_message;
        *message = match message.take() {
            Some(earlier) => Some(format!("{earlier}\n{text}")),
            None => Some(text),
        };
    }

    fn fail_for_evidence(&mut self, stage: Option<StageKey>, objection: &Objection) {
        let name = self.report.agent.name();
        self.lines.push(evidence_words::not_accepted(self.facts.lang, name, &objection.finding));
        self.finding = Some(objection.finding.clone());
        self.handle_report(stage, Some(Verdict::Fail), Some(objection.reason.key()));
    }

    /// Handles a report with its verdict. A stage fails without one; an agent without a stage needs none. `reason` says why
    /// the stage fails although the report does not say so.
    fn handle_report(
        &mut self,
        stage: Option<StageKey>,
        given: Option<Verdict>,
        reason: Option<&'static str>,
    ) {
        let spent = self.entry.as_ref().and_then(|a| a.started_at).map(|at| self.facts.now.since(at));
        let verdict = match (given, stage) {
            (Some(verdict), _) => Some(verdict),
            (None, Some(_)) => Some(Verdict::Fail),
            (None, None) => None,
        };
        note_visible_change(&mut self.workflow, self.report.agent, self.report.message, verdict);
        let earlier_file = self.entry.as_ref().and_then(|active| active.handoff.clone());
        let number = self.number_of_handoff(earlier_file.as_deref());
        let done = self
            .record(EventKind::AgentComplete, stage)
            .with("result", verdict.map(Verdict::key))
            .with_some("reason", if stage.is_some() { reason } else { None })
            .with("durationMs", spent)
            .with("agentId", self.agent_id())
            .with("slot", self.slot())
            .with("handoff", number);
        let done = evidence::add_to_record(done, &self.facts.evidence)
            .with_some("notes", if self.notes.is_empty() { None } else { Some(self.notes.clone()) });
        self.outcome.emit(done);
        if self.report.agent == Agent::Grader
            && let Some(score) = grade(self.report.message)
        {
            self.outcome.emit(Record::new(EventKind::GraderScore).with("score", score));
        }
        self.save_handoff(stage, verdict, earlier_file);
        let (Some(key), Some(verdict)) = (stage, verdict) else {
            self.lines.push(flow::agent_finished(self.facts.lang, self.report.agent.name()));
            return;
        };
        if given.is_none() {
            self.lines.push(flow::no_verdict(self.facts.lang, self.report.agent.name()));
        }
        let verdict = self.worst_verdict(key, verdict);
        // Twins share a stage, which is done when the last one has reported, with the worst verdict.
        if self.workflow.has_agent_at(key) {
            if let Some(stage) = self.workflow.stage_mut(key) {
                stage.result = Some(StageResult::Verdict(verdict));
            }
            self.lines.push(flow::agent_finished(self.facts.lang, self.report.agent.name()));
            return;
        }
        self.failure_reason = reason;
        self.settle(key, verdict);
    }

    /// The worse one of this verdict and that of a twin that has reported before.
    fn worst_verdict(&self, key: StageKey, verdict: Verdict) -> Verdict {
        match self.workflow.stage(key) {
            Some(stage) if stage.status == Status::Active => match stage.verdict() {
                Some(earlier) => earlier.max(verdict),
                None => verdict,
            },
            _ => verdict,
        }
    }

    /// Closes a stage with its verdict.
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
            Verdict::Pass | Verdict::Issues => self.complete_stage(key, verdict),
            Verdict::Fail | Verdict::Reject => self.fail_stage(key, verdict),
            Verdict::Blocked => self.block_stage(key),
        }
        self.converge(key);
        self.workflow.update_current_stage();
    }

    fn complete_stage(&mut self, key: StageKey, verdict: Verdict) {
        self.workflow.completed_stages = self.workflow.completed_stages.map(|count| count.saturating_add(1));
        let stage = self.workflow.stage(key);
        let spent = stage.and_then(|s| s.started_at).map(|at| self.facts.now.since(at));
        let attempt = stage.map(|s| s.attempts);
        let done = self.record(EventKind::StageComplete, Some(key)).with("result", verdict.key());
        self.outcome.emit(done.with("attempt", attempt).with("durationMs", spent));
        if let Some(feature) = self.workflow.feature_name.clone() {
            self.outcome.push(Effect::TickStage { feature, key });
        }
        if key.stage == Stage::Review {
            self.workflow.review_notes.clear();
            if !self.workflow.outside.judge_again {
                self.workflow.outside.files.clear();
            }
        }
        let title = titled(self.facts.lang, key);
        if verdict == Verdict::Issues {
            self.workflow.retro_count += 1;
            let (count, limit) = (self.workflow.retro_count, self.facts.settings.max_retros);
            self.lines.push(flow::stage_issues(self.facts.lang, &title, count, limit));
            self.lines.push(if count < limit {
                flow::issues_advice(self.facts.lang)
            } else {
                flow::issues_limit(self.facts.lang)
            });
        } else {
            self.passed = Some(key);
            self.lines.push(flow::stage_passed(self.facts.lang, &title));
            self.mention_open_tasks(key);
        }
        self.observe_performance(key, Signal::Contradict);
    }

    /// Tells the main agent about tasks that the developer kept open on purpose: its report says whose they are.
    fn mention_open_tasks(&mut self, key: StageKey) {
        let open = self.facts.open_work(&self.workflow).len();
        if key.stage == Stage::Dev && open > 0 && !self.workflow.is_finished() {
            self.lines.push(flow::tasks_open(self.facts.lang, open));
        }
    }

    /// Nothing is counted against the limits, since the work is not at fault.
    fn block_stage(&mut self, key: StageKey) {
        self.workflow.was_blocked = true;
        self.lines.push(flow::stage_blocked(self.facts.lang, &titled(self.facts.lang, key)));
        let record = self.record(EventKind::SystemWarning, Some(key));
        self.outcome.emit(record.with("reason", WarningReason::StageBlocked));
    }

    fn fail_stage(&mut self, key: StageKey, verdict: Verdict) {
        let title = titled(self.facts.lang, key);
        let settings = &self.facts.settings;
        let (line, count) = if verdict == Verdict::Reject {
            self.workflow.reject_count += 1;
            let count = self.workflow.counted_rejections();
            (
                flow::stage_rejected(self.facts.lang, &title, count, settings.max_rejections),
                self.workflow.reject_count,
            )
        } else {
            self.workflow.fail_count += 1;
            self.note_failure(key);
            let count = self.workflow.counted_failures();
            (
                flow::stage_failed(self.facts.lang, &title, count, settings.max_failures),
                self.workflow.fail_count,
            )
        };
        self.lines.push(line);
        let retry = self.record(EventKind::StageRetry, Some(key)).with("result", verdict.key());
        let retry = retry.with_some("reason", self.failure_reason);
        let retry = if self.failure_reason == Some(SendBackReason::ChecksFailed.key()) {
            retry.with_some("receipts", evidence::receipts_field(&self.facts.evidence))
        } else {
            retry
        };
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

    /// Remembers the failure of a stage, and whether it is known where the fault is.
    fn note_failure(&mut self, key: StageKey) {
        let texts = [Some(self.report.message), self.finding.as_deref()];
        let names_place = texts.into_iter().flatten().any(names_file_and_line);
        if let Some(stage) = self.workflow.stage_mut(key) {
            stage.failures = stage.failures.saturating_add(1);
            stage.names_place = names_place;
        }
    }

    /// Records whether a judging stage failed, to learn which stages tend to fail in this project.
    fn observe_performance(&mut self, key: StageKey, signal: Signal) {
        if key.stage.is_judge() {
            let kind = ObservationKind::AgentPerformance;
            let seen = Observation::seen(self.facts.lang, kind, key.stage.key());
            self.outcome.push(Effect::Observe(Observation { signal, ..seen }));
        }
    }

    /// Records that a parallel group is complete once all its stages are.
    fn converge(&mut self, key: StageKey) {
        let Some((group, keys)) = self.workflow.template().and_then(|w| w.group_of(key)) else {
            return;
        };
        if !keys.iter().all(|key| self.workflow.has_status(*key, Status::Completed)) {
            return;
        }
        let stages: Vec<_> = keys.iter().map(ToString::to_string).collect();
        self.outcome
            .emit(Record::new(EventKind::ParallelConverge).with("group", group.name).with("stages", stages));
        self.lines.push(flow::converged(self.facts.lang, group.name));
    }

    /// Saves the report for the next agent. A report that was sent back for its verdict has a file already, to which the
    /// second one is appended.
    fn save_handoff(
        &mut self,
        stage: Option<StageKey>,
        verdict: Option<Verdict>,
        earlier_file: Option<String>,
    ) {
        let agent = self.report.agent;
        if earlier_file.is_none() && !self.has_message() {
            return;
        }
        let head = handoff_head(stage, agent, verdict);
        let body = match &self.finding {
            Some(finding) => {
                let seen = evidence_words::not_accepted(self.facts.lang, agent.name(), finding);
                format!("{}\n\n{seen}", self.report.message.trim_end())
            }
            None => self.report.message.trim_end().to_owned(),
        };
        let handoff = if let Some(file) = earlier_file {
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

    /// Adds the next step to the answer, suggests a compaction if one is due, and leaves a notice for the main agent. The
    /// notice has no next step, since another one may be next when it is delivered.
    fn finish(mut self) -> Outcome {
        let skipped = complete_by_rule(&mut self.workflow, self.facts, &mut self.outcome);
        self.lines.extend(skipped);
        let step = next_step(&self.workflow, &self.facts.settings);
        let line_of_step = self.lines.len();
        self.suggest_compaction(&step);
        self.workflow.leave_notice(self.lines.join("\n"));
        let next = moved_text(self.facts.lang, &self.workflow);
        self.lines.insert(line_of_step, next.unwrap_or_else(|| next_step_text(&self.workflow, self.facts)));
        self.outcome.reply.result = self.lines.join("\n");
        self.outcome.push(Effect::PutWorkflow(self.workflow));
        self.outcome
    }

    fn suggest_compaction(&mut self, step: &Step) {
        let facts = self.facts;
        let Some(stage) = self.passed else { return };
        let last = *step == Step::Done;
        // The facts were collected before this stage was completed.
        let since = facts.since_compact.after_stage();
        let reason =
            suggest_compact(facts.transcript_bytes, facts.context_percent, last, since, &facts.settings);
        let bytes = facts.transcript_bytes.unwrap_or(0);
        let size = format_size(bytes);
        self.lines.push(match reason {
            None => return,
            Some(Reason::Transcript) => flow::suggest_compact(facts.lang, &size),
            Some(Reason::ContextWindow(percent)) => flow::suggest_compact_percent(facts.lang, percent, &size),
        });
        let size = i64::try_from(bytes).unwrap_or(i64::MAX);
        let suggestion = self.record(EventKind::SessionCompactSuggestion, Some(stage));
        self.outcome.emit(suggestion.with("transcriptSize", size).under(&facts.settings));
    }
}

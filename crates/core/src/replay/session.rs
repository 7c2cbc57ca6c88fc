//! A session in memory, on which the engine decides again.

use crate::economy::Budget;
use crate::engine::commands::{self, Start};
use crate::engine::flow::{Step, next_step};
use crate::engine::settings::Settings;
use crate::engine::state::{ActiveAgent, Millis, Pause, ReachedLimit, SendBackReason, Turn, WorkflowState};
use crate::engine::suggestion::SinceCompact;
use crate::engine::{
    Effect, Facts, Feature, FeatureOrigin, Outcome, Record, RuleReason, Snapshot, StartSource, ToolCaller,
    Trigger, decide, is_delegation,
};
use crate::evidence::{Evidence, WorkflowChange};
use crate::registry::{Agent, BudgetKind, PLUGIN_PREFIX, StageKey};

use crate::replay::cause::{AgentRef, Cause, Report, SentBack, Stop};

/// The most agents at the same time. Clients run fewer, and the limit keeps the cost of a line from growing with the file.
pub(crate) const MAX_AGENTS: usize = 256;

/// The most open tasks of a feature.
const MAX_TASKS: usize = 100_000;

/// The name of a feature whose name is not recorded.
const UNNAMED_FEATURE: &str = "feature";

/// A document that has changed, where its name is not recorded.
const SOME_DOCUMENT: &str = "README.md";

/// The id of the call of agents whose launch failed.
const SHARED_CALL: &str = "together";

#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) snapshot: Snapshot,
    /// How many stages were completed at the last compaction.
    compacted_at: Option<u32>,
    now: Millis,
    /// An earlier version did not record which agent it was, so it is not certain which slots are free.
    pub(crate) is_guessed: bool,
}

impl Session {
    /// Replays an event and returns what the engine records.
    pub(crate) fn perform(&mut self, cause: &Cause, settings: Settings) -> Vec<Record> {
        self.now.0 += 1;
        let facts = Facts { now: self.now, settings, ..Facts::default() };
        match cause {
            Cause::Init { workflow, feature, feature_is_new, guard, rules, by } => {
                let start = Start {
                    session_id: "",
                    workflow: *workflow,
                    feature: feature.as_deref(),
                    feature_is_new: *feature_is_new,
                    tasks_ticked: None,
                    force: true,
                    guard: *guard,
                    rules: *rules,
                    budget: Budget::default(),
                    by: by.as_deref(),
                    now: self.now,
                };
                self.command(commands::init(&self.snapshot, &start))
            }
            Cause::StopLoop { by } => self.command(commands::stop(&self.snapshot, by, self.now)),
            Cause::ResumeLoop { by } => self.resume(by, &facts),
            Cause::HandOver { to } => self.hand_over(to),
            Cause::TakeBack => self.command(commands::take_back(&self.snapshot, self.now)),
            Cause::Start(source) => self.fire(&Trigger::SessionStarted { source: *source }, &facts),
            Cause::End { reason } => self.fire(&Trigger::SessionEnded { reason }, &facts),
            Cause::Compact { trigger } => self.fire(&Trigger::Compacting { trigger }, &facts),
            Cause::Delegate { agent, continues: None } => self.delegate(&wire_name(agent.name()), &facts),
            Cause::Delegate { agent, continues: Some(id) } => self.continue_agent(*agent, id, &facts),
            Cause::SentBack(report) => self.sent_back(report, facts),
            Cause::Interrupted(agent_ref) => self.interrupted(agent_ref, &facts),
            Cause::Report(report) => self.report(report, facts),
            Cause::Lost(agent_ref) => self.lost(agent_ref, &facts),
            Cause::ToolFailed { tool, slots } => self.tool_failed(tool, slots.as_deref(), &facts),
            Cause::Stop(stop) => self.stop(stop, facts),
            Cause::ChangedOutside { reopened } => self.reopen(reopened),
            Cause::BudgetReached { ends_work } => self.set_reached(Some(*ends_work)),
            Cause::BudgetRaised => self.set_reached(None),
            Cause::External | Cause::Nothing => Vec::new(),
        }
    }

    fn fire(&mut self, trigger: &Trigger, facts: &Facts) -> Vec<Record> {
        let outcome = decide(&self.snapshot, trigger, facts);
        self.apply(outcome)
    }

    fn command<R>(&mut self, outcome: Result<Outcome, R>) -> Vec<Record> {
        outcome.map(|outcome| self.apply(outcome)).unwrap_or_default()
    }

    fn apply(&mut self, outcome: Outcome) -> Vec<Record> {
        let mut records = Vec::new();
        for effect in outcome.effects {
            match effect {
                Effect::PutWorkflow(workflow) => self.snapshot.workflow = Some(workflow),
                Effect::PutLoop(looping) => self.snapshot.looping = Some(looping),
                Effect::Emit(record) => records.push(record),
                Effect::CountCompaction { completed_stages, .. } => {
                    self.compacted_at = completed_stages.or(self.compacted_at);
                }
                _ => {}
            }
        }
        records
    }

    /// Opens stages again. The line that says so was written by the engine, but the files that it is about are not known.
    fn reopen(&mut self, stages: &[StageKey]) -> Vec<Record> {
        if let Some(workflow) = self.workflow_mut() {
            for key in stages {
                if let Some(stage) = workflow.stage_mut(*key) {
                    stage.reopen();
                }
            }
            workflow.update_current_stage();
        }
        Vec::new()
    }

    /// Sets whether a limit of the budget is reached, and whether agents at work have to finish. How much was used is not known.
    fn set_reached(&mut self, ends_work: Option<bool>) -> Vec<Record> {
        if let Some(workflow) = self.workflow_mut() {
            workflow.budget.reached = ends_work.map(|ends_work| ReachedLimit {
                kind: BudgetKind::Agents,
                stage: None,
                limit: 0,
                used: 0,
                ends_work,
            });
        }
        Vec::new()
    }

    fn workflow_mut(&mut self) -> Option<&mut WorkflowState> {
        self.snapshot.workflow.as_mut()
    }

    fn active_mut(&mut self, slot: &str) -> Option<&mut ActiveAgent> {
        self.workflow_mut()?.active_agents.iter_mut().find(|agent| agent.slot == slot)
    }

    /// Delegates to an agent, which gets call and agent ids made of its slot, so that twins can be distinguished.
    fn delegate(&mut self, subagent_type: &str, facts: &Facts) -> Vec<Record> {
        if let Some(workflow) = &self.snapshot.workflow
            && workflow.active_agents.len() >= MAX_AGENTS
        {
            return Vec::new();
        }
        // The delegation was allowed, whatever the reason for it was.
        if let Some(workflow) = self.workflow_mut() {
            workflow.user_wrote = true;
        }
        let trigger = Trigger::Delegating { subagent_type, description: "", prompt: "", tool_use_id: None };
        let records = self.fire(&trigger, facts);
        let moment = self.now.0;
        let agents = self.workflow_mut().map(|workflow| workflow.active_agents.as_mut_slice());
        if let Some(agent) = agents.unwrap_or_default().last_mut().filter(|agent| agent.tool_use_id.is_none())
        {
            agent.tool_use_id = Some(agent.slot.clone());
            // Unlike a slot, an id is never used again.
            agent.agent_id = Some(format!("@{}@{moment}", agent.slot));
        }
        records
    }

    /// Continues an agent under the id under which it has reported.
    fn continue_agent(&mut self, agent: Agent, agent_id: &str, facts: &Facts) -> Vec<Record> {
        if let Some(workflow) = self.workflow_mut() {
            workflow.user_wrote = true;
            workflow.remember_finished(agent_id, Some(agent));
        }
        let trigger = Trigger::AgentStarted { agent_type: &wire_name(agent.name()), agent_id };
        let records = self.fire(&trigger, facts);
        let agents = self.workflow_mut().map(|workflow| workflow.active_agents.as_mut_slice());
        if let Some(agent) = agents.unwrap_or_default().last_mut() {
            agent.tool_use_id = Some(agent.slot.clone());
        }
        records
    }

    /// Replays a report that was sent back.
    fn sent_back(&mut self, report: &SentBack, mut facts: Facts) -> Vec<Record> {
        let Some(slot) = self.slot(&report.agent_ref) else { return Vec::new() };
        match report.reason {
            SendBackReason::OpenTasks => facts.feature = Some(self.feature(1, &facts)),
            reason => facts.evidence = Evidence::that_objects(reason),
        }
        let Some(agent_id) = self.active_mut(&slot).and_then(|agent| agent.agent_id.clone()) else {
            return Vec::new();
        };
        let agent_type = wire_name(report.agent.name());
        let trigger = Trigger::AgentStopped {
            agent_type: &agent_type,
            agent_id: &agent_id,
            message: &report.message,
            hands_back: false,
        };
        self.fire(&trigger, &facts)
    }

    fn interrupted(&mut self, agents: &[AgentRef], facts: &Facts) -> Vec<Record> {
        let slots: Vec<_> = agents.iter().filter_map(|agent_ref| self.slot(agent_ref)).collect();
        match &slots[..] {
            [] => Vec::new(),
            [slot] => self.interrupted_call(slot, facts),
            _ => self.interrupted_turn(&slots, facts),
        }
    }

    /// Replays a prompt in the middle of a turn, which gives up the agents in the foreground.
    fn interrupted_turn(&mut self, slots: &[String], facts: &Facts) -> Vec<Record> {
        let agents = self.workflow_mut().map(|workflow| workflow.active_agents.as_mut_slice());
        let mut backgrounds = Vec::new();
        for agent in agents.unwrap_or_default() {
            backgrounds.push((agent.slot.clone(), agent.background));
            agent.background = !slots.contains(&agent.slot);
        }
        self.snapshot.looping.get_or_insert_default().turn = Some(Turn::Working);
        let records = self.fire(&Trigger::Prompted { prompt: "" }, facts);
        for (slot, background) in backgrounds {
            if let Some(agent) = self.active_mut(&slot) {
                agent.background = background;
            }
        }
        records
    }

    fn interrupted_call(&mut self, slot: &str, facts: &Facts) -> Vec<Record> {
        let trigger = Trigger::ToolFailed {
            tool: "Agent",
            error: "",
            command: "",
            interrupted: true,
            tool_use_id: Some(slot),
            agent: None,
            caller: ToolCaller::Main,
        };
        self.fire(&trigger, facts)
    }

    /// The slot of the agent, if it is at work.
    fn slot(&mut self, agent_ref: &AgentRef) -> Option<String> {
        match agent_ref {
            AgentRef::Slot(slot) => self.active_mut(slot).map(|agent| agent.slot.clone()),
            AgentRef::Unrecorded => None,
            AgentRef::Guess { agent, stage } => {
                self.is_guessed = true;
                let agents = &self.snapshot.workflow.as_ref()?.active_agents;
                let mut own = agents.iter().filter(|other| other.agent() == Some(*agent));
                let at_stage = own.clone().find(|other| other.stage == *stage);
                at_stage.or_else(|| own.next()).map(|agent| agent.slot.clone())
            }
        }
    }

    fn report(&mut self, report: &Report, mut facts: Facts) -> Vec<Record> {
        if let Some(bytes) = report.suggested_at {
            self.set_transcript_size(bytes, &mut facts);
        }
        if let Some(reason) = report.objection {
            facts.evidence = Evidence::that_objects(reason);
        }
        if let Some(reason) = report.docs_skipped {
            self.restore_docs_reason(reason, &mut facts);
        }
        let agent_type = wire_name(report.agent.name());
        let id = report.agent_id.as_deref();
        let Some(slot) = self.slot(&report.agent_ref) else {
            let agent_id = id.unwrap_or_default();
            let message = &report.message;
            let trigger =
                Trigger::AgentStopped { agent_type: &agent_type, agent_id, message, hands_back: false };
            return self.fire(&trigger, &facts);
        };
        let has_reported = match (&self.snapshot.workflow, id) {
            (Some(workflow), Some(id)) => workflow.finished_agent(id).is_some(),
            _ => false,
        };
        if let Some(agent) = self.active_mut(&slot) {
            agent.agent_id = id.map(str::to_owned);
        }
        let trigger = Trigger::AgentReturned {
            tool_use_id: Some(&slot),
            // A report under an id that has already reported is recorded only if it came without that id.
            agent_id: if has_reported { None } else { id },
            subagent_type: &agent_type,
            finished: true,
            content: &report.message,
            handback: "",
        };
        self.fire(&trigger, &facts)
    }

    /// Restores what DOCS was skipped for: nothing that users see has changed, or it was documented.
    fn restore_docs_reason(&mut self, reason: RuleReason, facts: &mut Facts) {
        let is_documented = reason == RuleReason::Documented;
        let mut change = WorkflowChange::default();
        if is_documented {
            change.files.push(SOME_DOCUMENT.to_owned());
        }
        facts.workflow_change = Some(change);
        if let Some(workflow) = self.workflow_mut() {
            workflow.visible_change = Some(is_documented);
            workflow.documented_change = is_documented.then_some(true);
        }
    }

    /// Sets the recorded size of the transcript. Whether a compaction is due is decided by the engine.
    fn set_transcript_size(&self, bytes: u64, facts: &mut Facts) {
        facts.settings.compact_threshold_bytes = 0;
        facts.transcript_bytes = Some(bytes);
        facts.context_percent = Some(100);
        let completed = self.snapshot.workflow.as_ref().and_then(|workflow| workflow.completed_stages);
        facts.since_compact = match completed {
            Some(now) => SinceCompact::counted(now, self.compacted_at),
            None => SinceCompact::Unknown,
        };
    }

    fn lost(&mut self, agent_ref: &AgentRef, facts: &Facts) -> Vec<Record> {
        let Some(slot) = self.slot(agent_ref) else { return Vec::new() };
        let prompt = format!(
            "<task-notification><tool-use-id>{slot}</tool-use-id><status>killed</status></task-notification>"
        );
        self.fire(&Trigger::Prompted { prompt: &prompt }, facts)
    }

    fn tool_failed(&mut self, tool: &str, slots: Option<&[String]>, facts: &Facts) -> Vec<Record> {
        if is_delegation(tool) {
            self.share_call(slots);
        }
        let trigger = Trigger::ToolFailed {
            tool,
            error: "",
            command: "",
            interrupted: false,
            tool_use_id: Some(SHARED_CALL),
            agent: None,
            caller: ToolCaller::Main,
        };
        self.fire(&trigger, facts)
    }

    /// Gives the same call to all agents whose launch failed. Earlier versions do not record them, so the last agent is
    /// assumed.
    fn share_call(&mut self, slots: Option<&[String]>) {
        let Some(workflow) = &mut self.snapshot.workflow else { return };
        let last = workflow.active_agents.last().map(|agent| agent.slot.clone());
        self.is_guessed |= slots.is_none() && last.is_some();
        for agent in &mut workflow.active_agents {
            let has_failed = match slots {
                Some(slots) => slots.contains(&agent.slot),
                None => last.as_ref() == Some(&agent.slot),
            };
            if has_failed {
                agent.tool_use_id = Some(SHARED_CALL.to_owned());
            }
        }
    }

    /// Resumes the loop. Earlier versions did not record that a loop stopped at its limit, and a pause is never recorded, so
    /// the loop is stopped or paused first.
    fn resume(&mut self, by: &str, facts: &Facts) -> Vec<Record> {
        let looping = self.snapshot.looping.as_ref();
        if let Some(looping) = looping
            && !looping.stopped
            && looping.iterations >= facts.settings.max_iterations
        {
            self.fire(&Trigger::Stopping { background: Some(&[]) }, facts);
        }
        if let Some(looping) = &mut self.snapshot.looping
            && !looping.stopped
        {
            looping.pause(Pause::Interrupted);
        }
        self.command(commands::resume(&self.snapshot, &facts.settings, by, self.now))
    }

    /// A recorded move was to another machine than the one before, although all machines have the same name in a redacted
    /// copy.
    fn hand_over(&mut self, to: &str) -> Vec<Record> {
        if let Some(workflow) = self.workflow_mut() {
            workflow.moved_to = None;
        }
        self.command(commands::hand_over(&self.snapshot, to, self.now))
    }

    fn stop(&mut self, stop: &Stop, mut facts: Facts) -> Vec<Record> {
        if let Some(looping) = &mut self.snapshot.looping
            && stop.has_progress
        {
            looping.unpause();
        }
        if let Some(tasks) = self.open_tasks(stop, &facts.settings) {
            facts.feature = Some(self.feature(tasks, &facts));
        }
        facts.evidence = Evidence::that_fails_stages(&stop.failed_stages);
        if let Some(reason) = stop.docs_skipped {
            self.restore_docs_reason(reason, &mut facts);
        }
        let background = stop.client_lists_agents.then_some(&[] as &[String]);
        self.fire(&Trigger::Stopping { background }, &facts)
    }

    /// The number of open tasks. Earlier versions do not record it, but a loop that continued after the last stage had at
    /// least one, unless a check failed.
    fn open_tasks(&self, stop: &Stop, settings: &Settings) -> Option<usize> {
        let workflow = self.snapshot.workflow.as_ref()?;
        if let Some(tasks) = stop.tasks {
            return Some(usize::try_from(tasks).unwrap_or(MAX_TASKS));
        }
        let continues_for_tasks = stop.is_continued && stop.failed_stages.is_empty();
        let is_done = continues_for_tasks && next_step(workflow, settings) == Step::Done;
        if is_done && workflow.feature_name.is_some() { Some(1) } else { None }
    }

    /// The feature of the workflow with this many open tasks. A starting session gives a workflow its feature without a
    /// record, which is replayed here.
    fn feature(&mut self, tasks: usize, facts: &Facts) -> Feature {
        let own = self.snapshot.workflow.as_ref().and_then(|workflow| workflow.feature_name.clone());
        let name = own.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| UNNAMED_FEATURE.to_owned());
        let pending = vec![String::new(); tasks.min(MAX_TASKS)];
        let open_work = pending.clone();
        let (origin, total) = (FeatureOrigin::Own, pending.len());
        let feature = Feature { name, origin, checked: 0, total, pending, open_work, ticked_work: 0 };
        if own.as_deref() != Some(&feature.name) {
            let facts = Facts { feature: Some(feature.clone()), ..facts.clone() };
            self.fire(&Trigger::SessionStarted { source: StartSource::Compact }, &facts);
        }
        feature
    }
}

fn wire_name(agent: &str) -> String {
    format!("{PLUGIN_PREFIX}{agent}")
}

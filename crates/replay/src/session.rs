//! A session in memory: causes go in, the engine decides, records come out.

use overtone_engine::commands::{self, Start};
use overtone_engine::flow::{Step, next_step};
use overtone_engine::settings::Settings;
use overtone_engine::state::{ActiveAgent, Millis, Pause, Turn, WorkflowState};
use overtone_engine::suggestion::SinceCompact;
use overtone_engine::{
    Effect, Facts, Feature, FeatureOrigin, Outcome, Record, Snapshot, StartSource, Trigger, decide,
    is_delegation,
};
use overtone_registry::{Agent, PLUGIN_PREFIX};

use crate::cause::{Cause, Report, SentBack, Stop, Which};

/// More agents at once than any client runs: what a line costs must not grow with the file.
pub(crate) const MOST_AGENTS: usize = 256;

/// A feature lists no more tasks than this.
const MOST_TASKS: usize = 100_000;

/// The name of a feature that the timeline does not name.
const SOME_FEATURE: &str = "feature";

/// The call of agents that are lost together.
const TOGETHER: &str = "together";

#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) snapshot: Snapshot,
    /// How many stages were completed at the last compaction.
    compacted_at: Option<u32>,
    now: Millis,
    /// An earlier version did not say which agent it was, so which names are free is not known for certain.
    pub(crate) is_guessed: bool,
}

impl Session {
    /// What the engine writes down.
    pub(crate) fn perform(&mut self, cause: &Cause, settings: Settings) -> Vec<Record> {
        self.now.0 += 1;
        let facts = Facts { now: self.now, settings, ..Facts::default() };
        match cause {
            Cause::Init { workflow, feature, feature_is_new, by } => {
                let start = Start {
                    session_id: "",
                    workflow: *workflow,
                    feature: feature.as_deref(),
                    feature_is_new: *feature_is_new,
                    force: true,
                    by: by.as_deref(),
                    now: self.now,
                };
                self.command(commands::init(&self.snapshot, &start))
            }
            Cause::StopLoop { by } => self.command(commands::stop(&self.snapshot, by, self.now)),
            Cause::ResumeLoop { by } => self.resume(by, &facts),
            Cause::StepAside { to } => self.step_aside(to),
            Cause::ComeBack => self.command(commands::come_back(&self.snapshot, self.now)),
            Cause::Start(source) => self.fire(&Trigger::SessionStarted { source: *source }, &facts),
            Cause::End { reason } => self.fire(&Trigger::SessionEnded { reason }, &facts),
            Cause::Compact { trigger } => self.fire(&Trigger::Compacting { trigger }, &facts),
            Cause::Delegate { agent, continues: None } => self.delegate(&wire(agent.name()), &facts),
            Cause::Delegate { agent, continues: Some(id) } => self.continue_agent(*agent, id, &facts),
            Cause::SentBack(report) => self.sent_back(report, facts),
            Cause::Interrupted(which) => self.interrupted(which, &facts),
            Cause::Report(report) => self.report(report, facts),
            Cause::Lost(which) => self.lost(which, &facts),
            Cause::ToolFailed { tool, slots } => self.tool_failed(tool, slots.as_deref(), &facts),
            Cause::Stop(stop) => self.stop(stop, facts),
            Cause::Given | Cause::Nothing => Vec::new(),
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

    fn workflow_mut(&mut self) -> Option<&mut WorkflowState> {
        self.snapshot.workflow.as_mut()
    }

    fn active_mut(&mut self, slot: &str) -> Option<&mut ActiveAgent> {
        self.workflow_mut()?.active_agents.iter_mut().find(|agent| agent.slot == slot)
    }

    /// Every agent gets its slot as the name of its call and of itself, by which it is told from its twins.
    fn delegate(&mut self, subagent_type: &str, facts: &Facts) -> Vec<Record> {
        let active = self.snapshot.workflow.as_ref().map_or(0, |workflow| workflow.active_agents.len());
        if active >= MOST_AGENTS {
            return Vec::new();
        }
        // It was let through, whatever asked for it.
        self.workflow_mut().into_iter().for_each(|workflow| workflow.user_wrote = true);
        let trigger = Trigger::Delegating { subagent_type, description: "", prompt: "", tool_use_id: None };
        let records = self.fire(&trigger, facts);
        let moment = self.now.0;
        let agents = self.workflow_mut().map(|workflow| workflow.active_agents.as_mut_slice());
        if let Some(agent) = agents.unwrap_or_default().last_mut().filter(|agent| agent.tool_use_id.is_none())
        {
            agent.tool_use_id = Some(agent.slot.clone());
            // Unlike the slot, an id is never used again.
            agent.agent_id = Some(format!("@{}@{moment}", agent.slot));
        }
        records
    }

    /// An agent goes on under the id that it had reported under.
    fn continue_agent(&mut self, agent: Agent, agent_id: &str, facts: &Facts) -> Vec<Record> {
        if let Some(workflow) = self.workflow_mut() {
            workflow.user_wrote = true;
            workflow.remember_finished(agent_id, Some(agent));
        }
        let trigger = Trigger::AgentStarted { agent_type: &wire(agent.name()), agent_id };
        let records = self.fire(&trigger, facts);
        let agents = self.workflow_mut().map(|workflow| workflow.active_agents.as_mut_slice());
        if let Some(agent) = agents.unwrap_or_default().last_mut() {
            agent.tool_use_id = Some(agent.slot.clone());
        }
        records
    }

    /// A report that was not accepted as it was.
    fn sent_back(&mut self, report: &SentBack, mut facts: Facts) -> Vec<Record> {
        let Some(slot) = self.slot(&report.which) else { return Vec::new() };
        if report.has_open_tasks {
            facts.feature = Some(self.feature(1, &facts));
        }
        let Some(agent_id) = self.active_mut(&slot).and_then(|agent| agent.agent_id.clone()) else {
            return Vec::new();
        };
        let agent_type = wire(report.agent.name());
        let trigger = Trigger::AgentStopped {
            agent_type: &agent_type,
            agent_id: &agent_id,
            message: &report.message,
            hands_back: false,
        };
        self.fire(&trigger, &facts)
    }

    fn interrupted(&mut self, gone: &[Which], facts: &Facts) -> Vec<Record> {
        let slots: Vec<_> = gone.iter().filter_map(|which| self.slot(which)).collect();
        match &slots[..] {
            [] => Vec::new(),
            [slot] => self.interrupted_call(slot, facts),
            _ => self.interrupted_turn(&slots, facts),
        }
    }

    /// A prompt in the middle of a turn releases whoever works in the foreground.
    fn interrupted_turn(&mut self, slots: &[String], facts: &Facts) -> Vec<Record> {
        let agents = self.workflow_mut().map(|workflow| workflow.active_agents.as_mut_slice());
        let mut places = Vec::new();
        for agent in agents.unwrap_or_default() {
            places.push((agent.slot.clone(), agent.background));
            agent.background = !slots.contains(&agent.slot);
        }
        self.snapshot.looping.get_or_insert_default().turn = Some(Turn::Working);
        let records = self.fire(&Trigger::Prompted { prompt: "" }, facts);
        for (slot, background) in places {
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
            is_main_agent: true,
        };
        self.fire(&trigger, facts)
    }

    /// The slot of the agent, if it is one that is waited for.
    fn slot(&mut self, which: &Which) -> Option<String> {
        match which {
            Which::Slot(slot) => self.active_mut(slot).map(|agent| agent.slot.clone()),
            Which::Unrecorded => None,
            Which::Unsaid { agent, stage } => {
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
            self.suggest(bytes, &mut facts);
        }
        let agent_type = wire(report.agent.name());
        let id = report.agent_id.as_deref();
        let Some(slot) = self.slot(&report.which) else {
            let agent_id = id.unwrap_or_default();
            let message = &report.message;
            let trigger =
                Trigger::AgentStopped { agent_type: &agent_type, agent_id, message, hands_back: false };
            return self.fire(&trigger, &facts);
        };
        let is_known = self
            .snapshot
            .workflow
            .as_ref()
            .zip(id)
            .is_some_and(|(workflow, id)| workflow.finished_agent(id).is_some());
        if let Some(agent) = self.active_mut(&slot) {
            agent.agent_id = id.map(str::to_owned);
        }
        let trigger = Trigger::AgentReturned {
            tool_use_id: Some(&slot),
            // Who is written down although the name has been heard before has come back without one.
            agent_id: id.filter(|_| !is_known),
            subagent_type: &agent_type,
            finished: true,
            content: &report.message,
            handback: "",
        };
        self.fire(&trigger, &facts)
    }

    /// The transcript was as large as the line says; whether it was time for a compaction is for the engine to say.
    fn suggest(&self, bytes: u64, facts: &mut Facts) {
        facts.settings.compact_threshold_bytes = 0;
        facts.transcript_bytes = Some(bytes);
        facts.context_percent = Some(100);
        let completed = self.snapshot.workflow.as_ref().and_then(|workflow| workflow.completed_stages);
        facts.since_compact =
            completed.map_or(SinceCompact::Unknown, |now| SinceCompact::counted(now, self.compacted_at));
    }

    fn lost(&mut self, which: &Which, facts: &Facts) -> Vec<Record> {
        let Some(slot) = self.slot(which) else { return Vec::new() };
        let prompt = format!(
            "<task-notification><tool-use-id>{slot}</tool-use-id><status>killed</status></task-notification>"
        );
        self.fire(&Trigger::Prompted { prompt: &prompt }, facts)
    }

    fn tool_failed(&mut self, tool: &str, slots: Option<&[String]>, facts: &Facts) -> Vec<Record> {
        if is_delegation(tool) {
            self.gather(slots);
        }
        let trigger = Trigger::ToolFailed {
            tool,
            error: "",
            command: "",
            interrupted: false,
            tool_use_id: Some(TOGETHER),
            agent: None,
            is_main_agent: true,
        };
        self.fire(&trigger, facts)
    }

    /// Gives one call to the agents whose launch failed. Earlier versions do not say which; it will have been the
    /// last one.
    fn gather(&mut self, slots: Option<&[String]>) {
        let Some(workflow) = &mut self.snapshot.workflow else { return };
        let last = workflow.active_agents.last().map(|agent| agent.slot.clone());
        self.is_guessed |= slots.is_none() && last.is_some();
        let is_meant =
            |slot: &String| slots.map_or(last.as_ref() == Some(slot), |slots| slots.contains(slot));
        for agent in workflow.active_agents.iter_mut().filter(|agent| is_meant(&agent.slot)) {
            agent.tool_use_id = Some(TOGETHER.to_owned());
        }
    }

    /// In earlier versions, a loop that ran into its last round stopped without a word. A pause leaves no line either: a
    /// loop that was resumed had been halted.
    fn resume(&mut self, by: &str, facts: &Facts) -> Vec<Record> {
        let looping = self.snapshot.looping.as_ref();
        if looping.is_some_and(|l| !l.stopped && l.iterations >= facts.settings.max_iterations) {
            self.fire(&Trigger::Stopping { background: Some(&[]) }, facts);
        }
        if let Some(looping) = &mut self.snapshot.looping
            && !looping.stopped
        {
            looping.pause(Pause::Interrupted);
        }
        self.command(commands::resume(&self.snapshot, &facts.settings, by, self.now))
    }

    /// It was written down, so it was news; in a redacted copy, all machines have the same name.
    fn step_aside(&mut self, to: &str) -> Vec<Record> {
        if let Some(workflow) = self.workflow_mut() {
            workflow.moved_to = None;
        }
        self.command(commands::step_aside(&self.snapshot, to, self.now))
    }

    fn stop(&mut self, stop: &Stop, mut facts: Facts) -> Vec<Record> {
        if let Some(looping) = &mut self.snapshot.looping
            && stop.is_fresh
        {
            looping.unpause();
        }
        if let Some(tasks) = self.open_tasks(stop, &facts.settings) {
            facts.feature = Some(self.feature(tasks, &facts));
        }
        let background = stop.client_knows.then_some(&[] as &[String]);
        self.fire(&Trigger::Stopping { background }, &facts)
    }

    /// An earlier version does not say how many there were; without any, the work would have been done.
    fn open_tasks(&self, stop: &Stop, settings: &Settings) -> Option<usize> {
        let workflow = self.snapshot.workflow.as_ref()?;
        let unsaid = || {
            let is_done = stop.goes_on && next_step(workflow, settings) == Step::Done;
            (is_done && workflow.feature_name.is_some()).then_some(1)
        };
        stop.tasks.map(|tasks| usize::try_from(tasks).unwrap_or(MOST_TASKS)).or_else(unsaid)
    }

    /// The workflow's feature; a starting session may have given it one without a word.
    fn feature(&mut self, tasks: usize, facts: &Facts) -> Feature {
        let own = self.snapshot.workflow.as_ref().and_then(|workflow| workflow.feature_name.clone());
        let name = own.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| SOME_FEATURE.to_owned());
        let pending = vec![String::new(); tasks.min(MOST_TASKS)];
        let open_work = pending.clone();
        let (origin, total) = (FeatureOrigin::Own, pending.len());
        let feature = Feature { name, origin, checked: 0, total, pending, open_work };
        if own.as_deref() != Some(&feature.name) {
            let facts = Facts { feature: Some(feature.clone()), ..facts.clone() };
            self.fire(&Trigger::SessionStarted { source: StartSource::Compact }, &facts);
        }
        feature
    }
}

fn wire(agent: &str) -> String {
    format!("{PLUGIN_PREFIX}{agent}")
}

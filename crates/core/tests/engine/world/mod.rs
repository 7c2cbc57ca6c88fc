//! A session in memory: triggers are decided on, and effects are applied to the state.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test crate uses its own part of the world"
)]

use overtone_core::engine::commands::{self, Refusal};
use overtone_core::engine::state::{LoopState, Millis, StageResult, Status, WorkflowState};
use overtone_core::engine::{
    Effect, Facts, Feature, FeatureOrigin, Outcome, Permission, Record, Reply, Snapshot, StartSource,
    Trigger, decide,
};
use overtone_core::registry::{EventKind, StageKey, Workflow};

pub struct World {
    pub snapshot: Snapshot,
    pub facts: Facts,
    pub events: Vec<EventKind>,
    /// The timeline, with the time of each record.
    pub records: Vec<(Millis, Record)>,
    pub effects: Vec<Effect>,
    /// The texts that the main agent got.
    pub model_texts: Vec<String>,
    /// The messages of users that were accepted.
    pub accepted_messages: Vec<String>,
    /// How many stages were completed at the last compaction.
    pub compacted_at: Option<u32>,
    calls: u32,
}

impl World {
    pub fn new(workflow: Workflow) -> Self {
        let state = WorkflowState::new("s", workflow, None, Millis(0));
        let snapshot = Snapshot { workflow: Some(state), looping: Some(LoopState::started(Millis(0))) };
        let facts = Facts { session_dir: "/s".into(), ..Facts::default() };
        Self {
            snapshot,
            facts,
            events: Vec::new(),
            records: Vec::new(),
            effects: Vec::new(),
            model_texts: Vec::new(),
            accepted_messages: Vec::new(),
            compacted_at: None,
            calls: 0,
        }
    }

    /// A session in which nothing has been started yet.
    pub fn empty() -> Self {
        Self { snapshot: Snapshot::default(), ..Self::new(Workflow::Single) }
    }

    pub fn with_feature(mut self, pending: &[&str]) -> Self {
        self.workflow_mut().feature_name = Some("f".into());
        self.set_tasks(pending);
        self
    }

    pub fn set_tasks(&mut self, pending: &[&str]) {
        let pending: Vec<_> = pending.iter().map(|task| (*task).to_owned()).collect();
        let open_work = pending.clone();
        self.facts.feature = Some(Feature {
            name: "f".into(),
            origin: FeatureOrigin::Own,
            checked: 3 - pending.len(),
            total: 3,
            ticked_work: 3 - pending.len(),
            pending,
            open_work,
        });
    }

    pub fn workflow(&self) -> &WorkflowState {
        self.snapshot.workflow.as_ref().unwrap()
    }

    pub fn workflow_mut(&mut self) -> &mut WorkflowState {
        self.snapshot.workflow.as_mut().unwrap()
    }

    pub fn looping(&self) -> &LoopState {
        self.snapshot.looping.as_ref().unwrap()
    }

    pub fn fire(&mut self, trigger: &Trigger) -> Reply {
        self.facts.now.0 += 1000;
        let Outcome { reply, effects } = decide(&self.snapshot, trigger, &self.facts);
        self.apply(effects);
        self.model_texts.extend([&reply.model_context, &reply.block].into_iter().flatten().cloned());
        reply
    }

    /// Applies the outcome of a command, or returns its refusal.
    pub fn command(&mut self, outcome: Result<Outcome, Refusal>) -> Result<(), Refusal> {
        self.effects.clear();
        outcome.map(|outcome| self.apply(outcome.effects))
    }

    pub fn send_message(&mut self, text: &str) -> Result<(), Refusal> {
        let outcome = commands::message(&self.snapshot, text, "ann", self.facts.lang, self.facts.now);
        self.command(outcome)
    }

    pub fn stop_by_user(&mut self) {
        let outcome = commands::stop(&self.snapshot, "user", self.facts.now);
        self.command(outcome).unwrap();
    }

    pub fn resume(&mut self) -> Result<(), Refusal> {
        let outcome = commands::resume(&self.snapshot, &self.facts.settings, "user", self.facts.now);
        self.command(outcome)
    }

    pub fn hand_over(&mut self, to: &str) -> Result<(), Refusal> {
        let outcome = commands::hand_over(&self.snapshot, to, self.facts.now);
        self.command(outcome)
    }

    pub fn take_back(&mut self) -> Result<(), Refusal> {
        let outcome = commands::take_back(&self.snapshot, self.facts.now);
        self.command(outcome)
    }

    pub fn apply(&mut self, effects: Vec<Effect>) {
        for effect in &effects {
            match effect {
                Effect::PutWorkflow(state) => self.snapshot.workflow = Some(state.clone()),
                Effect::PutLoop(state) => self.snapshot.looping = Some(state.clone()),
                Effect::Emit(record) => {
                    self.events.push(record.kind);
                    self.records.push((self.facts.now, record.clone()));
                }
                Effect::CountCompaction { completed_stages, .. } => {
                    self.compacted_at = completed_stages.or(self.compacted_at);
                }
                _ => {}
            }
        }
        self.effects = effects;
    }

    /// Delegates and returns the call's id, or the reason of the refusal.
    pub fn delegate(&mut self, agent: &str) -> Result<String, String> {
        self.calls += 1;
        let call = format!("call-{}", self.calls);
        let kind = format!("ot:{agent}");
        let reply = self.fire(&Trigger::Delegating {
            subagent_type: &kind,
            description: "work",
            prompt: "do it",
            tool_use_id: Some(&call),
        });
        match reply.permission {
            Some(Permission::Deny { reason }) => Err(reason),
            Some(Permission::Allow { .. }) => Ok(call),
            other => panic!("{agent}: {other:?}"),
        }
    }

    /// Delegates and returns the prompt that the agent gets.
    pub fn context_of(&mut self, agent: &str) -> String {
        self.calls += 1;
        let (call, kind) = (format!("call-{}", self.calls), format!("ot:{agent}"));
        let trigger = Trigger::Delegating {
            subagent_type: &kind,
            description: "work",
            prompt: "do it",
            tool_use_id: Some(&call),
        };
        match self.fire(&trigger).permission {
            Some(Permission::Allow { patch: Some(patch), .. }) => patch.prompt,
            other => panic!("{agent}: {other:?}"),
        }
    }

    pub fn report(&mut self, agent: &str, message: &str) -> String {
        self.report_as(agent, "", message)
    }

    pub fn report_as(&mut self, agent: &str, agent_id: &str, message: &str) -> String {
        self.stopped(agent, agent_id, message).result
    }

    /// The complete reply to an agent that stops.
    pub fn stopped(&mut self, agent: &str, agent_id: &str, message: &str) -> Reply {
        let agent_type = format!("ot:{agent}");
        self.fire(&Trigger::AgentStopped { agent_type: &agent_type, agent_id, message, hands_back: false })
    }

    /// The agent delivers its report with a call of its own.
    pub fn hand_back(&mut self, agent: &str, agent_id: &str, message: &str) -> Reply {
        let agent_type = format!("ot:{agent}");
        self.fire(&Trigger::HandingBack { agent_type: &agent_type, agent_id, message })
    }

    pub fn started(&mut self, agent: &str, agent_id: &str) {
        let agent_type = format!("ot:{agent}");
        self.fire(&Trigger::AgentStarted { agent_type: &agent_type, agent_id });
    }

    pub fn prompt(&mut self, prompt: &str) -> Reply {
        self.fire(&Trigger::Prompted { prompt })
    }

    /// The last text that the main agent got, such as the advice of a refusal.
    pub fn advice(&self) -> &str {
        self.model_texts.last().map_or("", String::as_str)
    }

    pub fn returned(&mut self, agent: &str, call: &str, content: &str) -> Option<String> {
        let kind = format!("ot:{agent}");
        let trigger = Trigger::AgentReturned {
            tool_use_id: Some(call),
            agent_id: None,
            subagent_type: &kind,
            finished: true,
            content,
            handback: "",
        };
        self.fire(&trigger).model_context
    }

    /// Delegates, reports, and takes the notice as the Agent tool's result does.
    pub fn run(&mut self, agent: &str, message: &str) -> Option<String> {
        let call = self.delegate(agent).unwrap_or_else(|reason| panic!("{agent} refused: {reason}"));
        self.report(agent, message);
        self.returned(agent, &call, message)
    }

    pub fn pass(&mut self, agents: &[&str]) {
        for agent in agents {
            self.run(agent, &verdict("PASS"));
        }
    }

    pub fn stop(&mut self) -> Reply {
        self.fire(&Trigger::Stopping { background: Some(&[]) })
    }

    pub fn start(&mut self, source: StartSource) -> Reply {
        self.fire(&Trigger::SessionStarted { source })
    }

    pub fn status(&self, key: &str) -> Status {
        self.workflow().stage(stage(key)).unwrap().status
    }

    pub fn result(&self, key: &str) -> Option<&str> {
        self.workflow().stage(stage(key)).unwrap().result.as_ref().map(StageResult::as_str)
    }

    pub fn count(&self, kind: EventKind) -> usize {
        self.events.iter().filter(|event| **event == kind).count()
    }
}

pub fn stage(key: &str) -> StageKey {
    key.parse().unwrap()
}

pub fn verdict(word: &str) -> String {
    format!("work done\n<!-- VERDICT: {{\"result\":\"{word}\"}} -->")
}

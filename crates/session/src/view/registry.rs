//! The registry as JSON, for programs that show it.

use overtone_core::messages::{Lang, event_label, stage_label, workflow_purpose};
use overtone_core::registry::{Agent, EventKind, Stage, StageKey, Workflow};
use serde::Serialize;
use serde_json::Value;

use crate::view::summary::to_value;

/// All workflows, stages, agents and events, with labels in the given language.
pub fn registry(lang: Lang, version: &str) -> Value {
    to_value(&RegistryJson {
        version,
        workflows: Workflow::ALL.iter().map(|workflow| WorkflowJson::new(*workflow, lang)).collect(),
        stages: Stage::ALL.iter().map(|stage| StageJson::new(*stage, lang)).collect(),
        agents: Agent::ALL.iter().map(|agent| AgentJson::new(*agent)).collect(),
        events: EventKind::ALL.iter().map(|kind| EventJson::new(*kind, lang)).collect(),
    })
}

#[derive(Serialize)]
struct RegistryJson<'a> {
    version: &'a str,
    workflows: Vec<WorkflowJson>,
    stages: Vec<StageJson>,
    agents: Vec<AgentJson>,
    events: Vec<EventJson>,
}

#[derive(Serialize)]
struct WorkflowJson {
    name: &'static str,
    label: &'static str,
    stages: Vec<String>,
    groups: Vec<GroupJson>,
}

#[derive(PartialEq, Eq, Serialize)]
struct GroupJson {
    name: &'static str,
    stages: Vec<String>,
}

impl WorkflowJson {
    fn new(workflow: Workflow, lang: Lang) -> Self {
        let keys: Vec<_> = workflow.stage_keys().collect();
        let names = |keys: &[StageKey]| keys.iter().map(StageKey::to_string).collect::<Vec<_>>();
        let mut groups: Vec<GroupJson> = Vec::new();
        for (group, members) in keys.iter().filter_map(|key| workflow.group_of(*key)) {
            let group = GroupJson { name: group.name, stages: names(&members) };
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        Self { name: workflow.name(), label: workflow_purpose(lang, workflow), stages: names(&keys), groups }
    }
}

#[derive(Serialize)]
struct StageJson {
    id: &'static str,
    name: &'static str,
    label: &'static str,
    emoji: &'static str,
    color: &'static str,
    agent: &'static str,
}

impl StageJson {
    fn new(stage: Stage, lang: Lang) -> Self {
        let agent = stage.agent();
        Self {
            id: stage.key(),
            name: stage.label(),
            label: stage_label(lang, stage),
            emoji: stage.emoji(),
            color: agent.color(),
            agent: agent.name(),
        }
    }
}

#[derive(Serialize)]
struct AgentJson {
    name: &'static str,
    stage: Option<&'static str>,
    model: &'static str,
    color: &'static str,
}

impl AgentJson {
    fn new(agent: Agent) -> Self {
        Self {
            name: agent.name(),
            stage: agent.stage().map(Stage::key),
            model: agent.model(),
            color: agent.color(),
        }
    }
}

#[derive(Serialize)]
struct EventJson {
    #[serde(rename = "type")]
    kind: &'static str,
    category: &'static str,
    label: &'static str,
    tone: &'static str,
}

impl EventJson {
    fn new(kind: EventKind, lang: Lang) -> Self {
        Self {
            kind: kind.name(),
            category: kind.category(),
            label: event_label(lang, kind),
            tone: kind.tone().key(),
        }
    }
}

//! The tables that everything is built from, for those who draw them.

use overtone_messages::{Lang, event_label, stage_label, workflow_purpose};
use overtone_registry::{Agent, EventKind, Stage, StageKey, Workflow};
use serde_json::{Value, json};

pub fn registry(lang: Lang, version: &str) -> Value {
    json!({
        "version": version,
        "workflows": Workflow::ALL.iter().map(|workflow| of_workflow(*workflow, lang)).collect::<Vec<_>>(),
        "stages": Stage::ALL.iter().map(|stage| of_stage(*stage, lang)).collect::<Vec<_>>(),
        "agents": Agent::ALL.iter().map(|agent| of_agent(*agent)).collect::<Vec<_>>(),
        "events": EventKind::ALL.iter().map(|kind| of_event(*kind, lang)).collect::<Vec<_>>(),
    })
}

fn of_workflow(workflow: Workflow, lang: Lang) -> Value {
    let keys: Vec<_> = workflow.stage_keys().collect();
    let names = |keys: &[StageKey]| keys.iter().map(StageKey::to_string).collect::<Vec<_>>();
    let mut groups: Vec<Value> = Vec::new();
    for (group, members) in keys.iter().filter_map(|key| workflow.group_of(*key)) {
        let group = json!({ "name": group.name, "stages": names(&members) });
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    json!({ "name": workflow.name(), "label": workflow_purpose(lang, workflow), "stages": names(&keys), "groups": groups })
}

fn of_stage(stage: Stage, lang: Lang) -> Value {
    let agent = stage.agent();
    json!({
        "id": stage.key(), "name": stage.label(), "label": stage_label(lang, stage), "emoji": stage.emoji(),
        "color": agent.color(), "agent": agent.name(),
    })
}

fn of_agent(agent: Agent) -> Value {
    json!({
        "name": agent.name(), "stage": agent.stage().map(Stage::key), "model": agent.model(), "color": agent.color(),
    })
}

fn of_event(kind: EventKind, lang: Lang) -> Value {
    json!({ "type": kind.name(), "category": kind.category(), "label": event_label(lang, kind) })
}

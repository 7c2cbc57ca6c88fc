//! `workflow.json`: the engine's state in a document that may also contain fields of other versions.
//!
//! The document is kept as it was read. Writing changes only what the engine has changed, so fields and stages of a newer
//! version survive, in their order.

mod budget;

use std::path::Path;

use overtone_core::engine::state::{
    ActiveAgent, BudgetState, Ending, FinishedAgent, Millis, OutsideChanges, SendBackReason, StageResult,
    StageState, Status, WorkflowState,
};
use overtone_core::registry::{Agent, DocsRule, GuardLevel, RetroRule, StageKey, StageRules, TestMode};
use serde_json::{Map, Value, json};

use crate::client_process::{ClientProcess, add_client};
use crate::{StoreError, clock};

/// The member that [`crate::seal`] adds. It is about the bytes of the file and not part of the document.
const SEAL: &str = "seal";

/// The processes of the client that the session runs in.
const CLIENTS: &str = "clients";

/// The stages that may be completed without an agent.
const RULES: &str = "stageRules";

/// The files that were written when the workflow started.
const REQUIRED: &str = "requiredFiles";

/// A workflow with the document it came from.
#[derive(Debug, Clone)]
pub struct WorkflowDoc {
    document: Map<String, Value>,
    pub state: WorkflowState,
    source: Source,
}

/// Where a document comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// It is a new workflow.
    Nowhere,
    Text {
        /// Whether the text had a seal, wherever in it.
        has_seal: bool,
    },
}

impl WorkflowDoc {
    pub fn new(state: WorkflowState) -> Self {
        let mut document = Map::new();
        write_all(&mut document, &state);
        let written = read_state(&document, state.workflow_type.clone());
        // Adds the fields that a new workflow usually does not have.
        Self { document, state: written, source: Source::Nowhere }.with(state)
    }

    pub fn parse(path: &Path, text: &str) -> Result<Self, StoreError> {
        let mut document: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| StoreError::broken(path, error.to_string()))?;
        let source = Source::Text { has_seal: document.shift_remove(SEAL).is_some() };
        let workflow_type =
            string(&document, "workflowType").ok_or_else(|| StoreError::broken(path, "no workflowType"))?;
        // Another version may use another type for these, which writing would destroy.
        for name in ["stages", "activeAgents"] {
            match document.get(name) {
                None | Some(Value::Null | Value::Object(_)) => {}
                Some(_) => return Err(StoreError::broken(path, format!("`{name}` is not an object"))),
            }
        }
        let state = read_state(&document, workflow_type);
        Ok(Self { document, state, source })
    }

    pub(crate) fn has_seal(&self) -> bool {
        self.source == Source::Text { has_seal: true }
    }

    /// Whether the session may have no file of it yet.
    pub(crate) fn is_new(&self) -> bool {
        self.source == Source::Nowhere
    }

    /// The processes of the client that were recorded.
    pub fn clients(&self) -> Vec<ClientProcess> {
        let list = self.document.get(CLIENTS).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(ClientProcess::from_json).collect()
    }

    /// The files of the session that belong to the workflow. If one is missing, another program has removed it.
    pub fn required_files(&self) -> Vec<String> {
        strings(&self.document, REQUIRED)
    }

    pub fn set_required_files(&mut self, files: &[&str]) {
        put(&mut self.document, REQUIRED, json!(files));
    }

    /// The document without what belongs to the home it comes from. `None` if there is nothing of that.
    pub(crate) fn for_other_home(mut self) -> Option<Self> {
        // The files that are required are not moved with the session.
        let is_changed =
            [CLIENTS, REQUIRED].map(|name| self.document.shift_remove(name).is_some()).contains(&true);
        if is_changed || self.has_seal() { Some(self) } else { None }
    }

    /// Records a process of the client. Returns whether it is new.
    pub fn add_client(&mut self, client: ClientProcess) -> bool {
        let mut clients = self.clients();
        if !add_client(&mut clients, client) {
            return false;
        }
        let list = clients.into_iter().map(ClientProcess::to_json).collect();
        put(&mut self.document, CLIENTS, Value::Array(list));
        true
    }

    /// The document with `next` in place of the state it was read with.
    #[must_use]
    pub fn with(mut self, next: WorkflowState) -> Self {
        write_changes(&mut self.document, &self.state, &next);
        self.state = next;
        self
    }

    pub fn to_json(&self) -> Result<Vec<u8>, StoreError> {
        let mut bytes = serde_json::to_vec_pretty(&self.document)
            .map_err(|error| StoreError::broken(Path::new("workflow.json"), error.to_string()))?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

fn read_state(document: &Map<String, Value>, workflow_type: String) -> WorkflowState {
    WorkflowState {
        session_id: string(document, "sessionId").unwrap_or_default(),
        workflow_type,
        created_at: time(document, "createdAt"),
        current_stage: string(document, "currentStage").and_then(|key| key.parse().ok()),
        stages: object(document, "stages").filter_map(|(key, value)| read_stage(key, value)).collect(),
        active_agents: object(document, "activeAgents")
            .map(|(slot, value)| read_agent(slot, value))
            .collect(),
        fail_count: count(document, "failCount"),
        reject_count: count(document, "rejectCount"),
        retro_count: count(document, "retroCount"),
        forgiven_failures: count(document, "forgivenFailures"),
        forgiven_rejections: count(document, "forgivenRejections"),
        feature_name: string(document, "featureName"),
        notices: strings(document, "notices"),
        finished_agents: read_finished(document),
        handoff_count: count(document, "handoffCount"),
        other_handoffs: strings(document, "otherHandoffs"),
        completed_stages: optional_count(document, "completedStages"),
        ending: string(document, "ending").and_then(|key| Ending::from_key(&key)),
        user_wrote: flag(document, "userWrote"),
        tasks_tried: optional_count(document, "tasksTried"),
        tasks_ticked: optional_count(document, "tasksTicked"),
        review_notes: strings(document, "reviewNotes"),
        outside: OutsideChanges {
            files: strings(document, "changedOutside"),
            may_be_more: flag(document, "mayHaveChanged"),
            judge_again: flag(document, "judgeAgain"),
        },
        user_notices: strings(document, "userNotices"),
        guard: string(document, "guard").and_then(|name| GuardLevel::from_name(&name)).unwrap_or_default(),
        rules: read_rules(document),
        budget: budget::read(document),
        agents_started: count(document, "agentsStarted"),
        was_blocked: flag(document, "wasBlocked"),
        visible_change: field(document, "visibleChange").and_then(Value::as_bool),
        documented_change: field(document, "documentedChange").and_then(Value::as_bool),
        untrusted_checks_shown: flag(document, "untrustedChecksShown"),
        moved_to: string(document, "movedTo"),
    }
}

fn read_rules(document: &Map<String, Value>) -> StageRules {
    let Some(fields) = document.get(RULES).and_then(Value::as_object) else { return StageRules::default() };
    StageRules {
        retro: string(fields, "retro").and_then(|name| RetroRule::from_name(&name)).unwrap_or_default(),
        docs: string(fields, "docs").and_then(|name| DocsRule::from_name(&name)).unwrap_or_default(),
    }
}

fn rules_value(rules: StageRules) -> Value {
    json!({"retro": rules.retro.name(), "docs": rules.docs.name()})
}

fn read_stage(key: &str, value: &Value) -> Option<StageState> {
    let fields = value.as_object()?;
    Some(StageState {
        key: key.parse().ok()?,
        status: string(fields, "status").and_then(|s| Status::from_key(&s)).unwrap_or(Status::Pending),
        result: field(fields, "result").and_then(read_result),
        mode: string(fields, "mode").and_then(|mode| TestMode::from_key(&mode)),
        attempts: count(fields, "attempts"),
        started_at: time(fields, "startedAt"),
        completed_at: time(fields, "completedAt"),
        handoff: string(fields, "handoff"),
        last_result: field(fields, "lastResult").and_then(read_result),
        failures: count(fields, "failures"),
        names_place: flag(fields, "namesPlace"),
    })
}

/// Reads ids alone, as older versions wrote them, and ids with the agent's name.
fn read_finished(document: &Map<String, Value>) -> Vec<FinishedAgent> {
    let list = field(document, "finishedAgents").and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|value| match value {
        Value::String(id) => Some(FinishedAgent { id: id.clone(), agent: None }),
        Value::Object(fields) => Some(FinishedAgent {
            id: string(fields, "id")?,
            agent: string(fields, "agent").and_then(|name| Agent::from_name(&name)),
        }),
        _ => None,
    })
    .collect()
}

fn finished_value(state: &WorkflowState) -> Value {
    let entry = |finished: &FinishedAgent| match finished.agent {
        Some(agent) => json!({"id": finished.id, "agent": agent.name()}),
        None => json!(finished.id),
    };
    state.finished_agents.iter().map(entry).collect()
}

fn read_result(value: &Value) -> Option<StageResult> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(StageResult::from_name(text)),
        other => Some(StageResult::Other(other.to_string())),
    }
}

fn read_agent(slot: &str, value: &Value) -> ActiveAgent {
    let empty = Map::new();
    let fields = value.as_object().unwrap_or(&empty);
    ActiveAgent {
        slot: slot.to_owned(),
        stage: string(fields, "stage").and_then(|key| key.parse().ok()),
        started_at: time(fields, "startedAt"),
        tool_use_id: string(fields, "toolUseId"),
        agent_id: string(fields, "agentId"),
        background: flag(fields, "background"),
        awaits_start: flag(fields, "awaitsStart"),
        sent_back_for: strings(fields, "sentBackFor")
            .iter()
            .filter_map(|key| SendBackReason::from_key(key))
            .collect(),
        sent_back_at: time(fields, "sentBackAt"),
        handoff: string(fields, "handoff"),
    }
}

/// Writes a new document, with the fields of the specification first and in its order.
fn write_all(document: &mut Map<String, Value>, state: &WorkflowState) {
    put(document, "sessionId", json!(state.session_id));
    put(document, "workflowType", json!(state.workflow_type));
    put(document, "createdAt", iso(state.created_at));
    put(document, "currentStage", key(state.current_stage));
    let stages = state.stages.iter().map(|stage| (stage.key.to_string(), new_stage(stage))).collect();
    put(document, "stages", Value::Object(stages));
    let agents = state.active_agents.iter().map(|agent| (agent.slot.clone(), agent_value(agent))).collect();
    put(document, "activeAgents", Value::Object(agents));
    put(document, "failCount", json!(state.fail_count));
    put(document, "rejectCount", json!(state.reject_count));
    put(document, "retroCount", json!(state.retro_count));
    put(document, "featureName", json!(state.feature_name));
    put(document, "completedStages", json!(state.completed_stages));
    if !state.finished_agents.is_empty() {
        put(document, "finishedAgents", finished_value(state));
    }
    if state.guard != GuardLevel::default() {
        put(document, "guard", json!(state.guard.name()));
    }
    if state.rules != StageRules::default() {
        put(document, RULES, rules_value(state.rules));
    }
    if state.budget != BudgetState::default() {
        put(document, budget::NAME, budget::to_json(&state.budget));
    }
}

fn write_changes(document: &mut Map<String, Value>, old: &WorkflowState, new: &WorkflowState) {
    let mut changed = |name: &str, differs: bool, value: &dyn Fn() -> Value| {
        if differs {
            put(document, name, value());
        }
    };
    changed("sessionId", old.session_id != new.session_id, &|| json!(new.session_id));
    changed("workflowType", old.workflow_type != new.workflow_type, &|| json!(new.workflow_type));
    changed("createdAt", old.created_at != new.created_at, &|| iso(new.created_at));
    changed("currentStage", old.current_stage != new.current_stage, &|| key(new.current_stage));
    changed("failCount", old.fail_count != new.fail_count, &|| json!(new.fail_count));
    changed("rejectCount", old.reject_count != new.reject_count, &|| json!(new.reject_count));
    changed("retroCount", old.retro_count != new.retro_count, &|| json!(new.retro_count));
    changed("forgivenFailures", old.forgiven_failures != new.forgiven_failures, &|| {
        json!(new.forgiven_failures)
    });
    changed("forgivenRejections", old.forgiven_rejections != new.forgiven_rejections, &|| {
        json!(new.forgiven_rejections)
    });
    changed("featureName", old.feature_name != new.feature_name, &|| json!(new.feature_name));
    changed("notices", old.notices != new.notices, &|| json!(new.notices));
    changed("finishedAgents", old.finished_agents != new.finished_agents, &|| finished_value(new));
    changed("handoffCount", old.handoff_count != new.handoff_count, &|| json!(new.handoff_count));
    changed("otherHandoffs", old.other_handoffs != new.other_handoffs, &|| json!(new.other_handoffs));
    changed("completedStages", old.completed_stages != new.completed_stages, &|| json!(new.completed_stages));
    changed("userWrote", old.user_wrote != new.user_wrote, &|| json!(new.user_wrote));
    changed("tasksTried", old.tasks_tried != new.tasks_tried, &|| json!(new.tasks_tried));
    changed("tasksTicked", old.tasks_ticked != new.tasks_ticked, &|| json!(new.tasks_ticked));
    changed("reviewNotes", old.review_notes != new.review_notes, &|| json!(new.review_notes));
    let (before, after) = (&old.outside, &new.outside);
    changed("changedOutside", before.files != after.files, &|| json!(after.files));
    changed("mayHaveChanged", before.may_be_more != after.may_be_more, &|| json!(after.may_be_more));
    changed("judgeAgain", before.judge_again != after.judge_again, &|| json!(after.judge_again));
    changed("userNotices", old.user_notices != new.user_notices, &|| json!(new.user_notices));
    changed("guard", old.guard != new.guard, &|| json!(new.guard.name()));
    changed(RULES, old.rules != new.rules, &|| rules_value(new.rules));
    changed("agentsStarted", old.agents_started != new.agents_started, &|| json!(new.agents_started));
    changed(budget::NAME, old.budget != new.budget, &|| budget::to_json(&new.budget));
    changed("wasBlocked", old.was_blocked != new.was_blocked, &|| json!(new.was_blocked));
    changed("visibleChange", old.visible_change != new.visible_change, &|| json!(new.visible_change));
    changed("documentedChange", old.documented_change != new.documented_change, &|| {
        json!(new.documented_change)
    });
    changed("untrustedChecksShown", old.untrusted_checks_shown != new.untrusted_checks_shown, &|| {
        json!(new.untrusted_checks_shown)
    });
    changed("ending", old.ending != new.ending, &|| json!(new.ending.map(Ending::key)));
    match &new.moved_to {
        same if *same == old.moved_to => {}
        Some(machine) => put(document, "movedTo", json!(machine)),
        None => drop(document.shift_remove("movedTo")),
    }
    // Unchanged values are not converted to objects: another version may use another type.
    if old.stages != new.stages {
        write_stages(child(document, "stages"), old, new);
    }
    if old.active_agents != new.active_agents {
        write_agents(child(document, "activeAgents"), old, new);
    }
}

fn write_stages(stages: &mut Map<String, Value>, old: &WorkflowState, new: &WorkflowState) {
    for stage in &new.stages {
        let name = stage.key.to_string();
        match old.stage(stage.key) {
            Some(before) if before == stage => {}
            Some(before) => write_stage(child(stages, &name), before, stage),
            None => put(stages, &name, new_stage(stage)),
        }
    }
}

fn write_stage(fields: &mut Map<String, Value>, old: &StageState, new: &StageState) {
    if old.status != new.status {
        put(fields, "status", json!(new.status.key()));
    }
    if old.result != new.result {
        put(fields, "result", json!(new.result.as_ref().map(StageResult::as_str)));
    }
    if old.mode != new.mode {
        put(fields, "mode", json!(new.mode.map(TestMode::key)));
    }
    if old.attempts != new.attempts {
        put(fields, "attempts", json!(new.attempts));
    }
    if old.started_at != new.started_at {
        put(fields, "startedAt", iso(new.started_at));
    }
    if old.completed_at != new.completed_at {
        put(fields, "completedAt", iso(new.completed_at));
    }
    if old.handoff != new.handoff {
        put(fields, "handoff", json!(new.handoff));
    }
    if old.last_result != new.last_result {
        put(fields, "lastResult", json!(new.last_result.as_ref().map(StageResult::as_str)));
    }
    if old.failures != new.failures {
        put(fields, "failures", json!(new.failures));
    }
    if old.names_place != new.names_place {
        put(fields, "namesPlace", json!(new.names_place));
    }
}

fn write_agents(agents: &mut Map<String, Value>, old: &WorkflowState, new: &WorkflowState) {
    for gone in old.active_agents.iter().filter(|a| !new.active_agents.iter().any(|b| a.slot == b.slot)) {
        agents.shift_remove(&gone.slot);
    }
    for agent in &new.active_agents {
        match old.active_agents.iter().find(|a| a.slot == agent.slot) {
            Some(before) if before == agent => {}
            Some(before) => write_agent(child(agents, &agent.slot), before, agent),
            None => put(agents, &agent.slot, agent_value(agent)),
        }
    }
}

/// Writes what differs. A stage that only another version knows reads as none and is not overwritten.
fn write_agent(fields: &mut Map<String, Value>, old: &ActiveAgent, new: &ActiveAgent) {
    if old.stage != new.stage {
        put(fields, "stage", key(new.stage));
    }
    if old.started_at != new.started_at {
        put(fields, "startedAt", iso(new.started_at));
    }
    if old.tool_use_id != new.tool_use_id {
        put(fields, "toolUseId", json!(new.tool_use_id));
    }
    if old.agent_id != new.agent_id {
        put(fields, "agentId", json!(new.agent_id));
    }
    if old.background != new.background {
        put(fields, "background", json!(new.background));
    }
    if old.awaits_start != new.awaits_start {
        put(fields, "awaitsStart", json!(new.awaits_start));
    }
    if old.sent_back_for != new.sent_back_for {
        put(fields, "sentBackFor", sent_back_value(new));
    }
    if old.sent_back_at != new.sent_back_at {
        put(fields, "sentBackAt", iso(new.sent_back_at));
    }
    if old.handoff != new.handoff {
        put(fields, "handoff", json!(new.handoff));
    }
}

fn sent_back_value(agent: &ActiveAgent) -> Value {
    agent.sent_back_for.iter().map(|reason| json!(reason.key())).collect()
}

fn new_stage(stage: &StageState) -> Value {
    let mut fields = Map::new();
    put(&mut fields, "status", json!(stage.status.key()));
    put(&mut fields, "result", json!(stage.result.as_ref().map(StageResult::as_str)));
    write_stage(
        &mut fields,
        &StageState {
            status: stage.status,
            result: stage.result.clone(),
            ..StageState::pending(stage.key, None)
        },
        stage,
    );
    Value::Object(fields)
}

fn agent_value(agent: &ActiveAgent) -> Value {
    let mut fields = Map::new();
    put(&mut fields, "stage", key(agent.stage));
    put(&mut fields, "startedAt", iso(agent.started_at));
    for (name, id) in [("toolUseId", &agent.tool_use_id), ("agentId", &agent.agent_id)] {
        if let Some(id) = id {
            put(&mut fields, name, json!(id));
        }
    }
    if agent.background {
        put(&mut fields, "background", json!(true));
    }
    if agent.awaits_start {
        put(&mut fields, "awaitsStart", json!(true));
    }
    if !agent.sent_back_for.is_empty() {
        put(&mut fields, "sentBackFor", sent_back_value(agent));
    }
    if agent.sent_back_at.is_some() {
        put(&mut fields, "sentBackAt", iso(agent.sent_back_at));
    }
    if let Some(handoff) = &agent.handoff {
        put(&mut fields, "handoff", json!(handoff));
    }
    Value::Object(fields)
}

fn put(fields: &mut Map<String, Value>, name: &str, value: Value) {
    fields.insert(name.to_owned(), value);
}

/// The object under `name`. A missing or other value is replaced by an empty object.
fn child<'a>(fields: &'a mut Map<String, Value>, name: &str) -> &'a mut Map<String, Value> {
    let slot = fields.entry(name).or_insert_with(|| Value::Object(Map::new()));
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    match slot {
        Value::Object(object) => object,
        _ => unreachable!("made an object above"),
    }
}

/// A field by its name. State files have at most a few dozen fields, so comparing the names is cheaper than hashing one.
fn field<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    fields.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}

fn object<'a>(fields: &'a Map<String, Value>, name: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    field(fields, name).and_then(Value::as_object).into_iter().flatten()
}

fn string(fields: &Map<String, Value>, name: &str) -> Option<String> {
    field(fields, name)?.as_str().map(str::to_owned)
}

fn flag(fields: &Map<String, Value>, name: &str) -> bool {
    field(fields, name).and_then(Value::as_bool).unwrap_or(false)
}

fn strings(fields: &Map<String, Value>, name: &str) -> Vec<String> {
    let list = field(fields, name).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

pub(crate) fn count(fields: &Map<String, Value>, name: &str) -> u32 {
    let number = field(fields, name).and_then(Value::as_u64).unwrap_or(0);
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// `None` if the field is missing or null.
fn optional_count(fields: &Map<String, Value>, name: &str) -> Option<u32> {
    match field(fields, name)? {
        Value::Null => None,
        _ => Some(count(fields, name)),
    }
}

pub(crate) fn time(fields: &Map<String, Value>, name: &str) -> Option<Millis> {
    clock::from_iso(field(fields, name)?.as_str()?)
}

pub(crate) fn iso(at: Option<Millis>) -> Value {
    json!(at.map(clock::to_iso))
}

fn key(key: Option<StageKey>) -> Value {
    json!(key.map(|key| key.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use overtone_core::registry::Workflow;

    fn parse(text: &str) -> WorkflowDoc {
        WorkflowDoc::parse(Path::new("workflow.json"), text).unwrap()
    }

    #[test]
    fn a_new_workflow_reads_back_as_it_was() {
        for workflow in Workflow::ALL {
            let mut state = WorkflowState::new("s", workflow, Some("f"), Millis(1_000));
            state.remember_finished("of an earlier workflow", Some(Agent::Tester));
            let text = String::from_utf8(WorkflowDoc::new(state.clone()).to_json().unwrap()).unwrap();
            assert_eq!(parse(&text).state, state);
        }
    }

    #[test]
    fn types_that_writing_would_destroy_are_errors() {
        for name in ["stages", "activeAgents"] {
            let read = |value: &str| {
                let text = format!(r#"{{"workflowType":"quick","{name}":{value}}}"#);
                WorkflowDoc::parse(Path::new("workflow.json"), &text)
            };
            assert!(read("{}").is_ok() && read("null").is_ok());
            assert!(read("[]").unwrap_err().to_string().contains(name));
        }
    }

    #[test]
    fn unknown_fields_survive() {
        let text = r#"{"zeta":1,"workflowType":"standard","stages":{"NEW":{"status":"x"},"DEV":{"extra":[1],"status":"pending"}},
            "activeAgents":{"developer":{"stage":"DEV","mood":"good"}},"failCount":0,"alpha":{"deep":null}}"#;
        let doc = parse(text);
        let mut next = doc.state.clone();
        next.fail_count = 2;
        next.stages[0].status = Status::Active;
        next.active_agents[0].agent_id = Some("a1".into());
        let written: Value = serde_json::from_slice(&doc.with(next).to_json().unwrap()).unwrap();
        let keys: Vec<_> = written.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["zeta", "workflowType", "stages", "activeAgents", "failCount", "alpha"]);
        assert_eq!(written["stages"]["NEW"], json!({"status":"x"}));
        assert_eq!(written["stages"]["DEV"], json!({"extra":[1],"status":"active"}));
        assert_eq!(written["activeAgents"]["developer"]["mood"], "good");
        assert_eq!(written["failCount"], 2);
    }

    #[test]
    fn the_seal_is_not_part_of_the_document() {
        let doc = parse(r#"{"seal":"x","workflowType":"quick","stages":{}}"#);
        assert!(doc.has_seal());
        let written: Value = serde_json::from_slice(&doc.to_json().unwrap()).unwrap();
        assert_eq!(written.get("seal"), None);
        assert!(!parse(r#"{"workflowType":"quick"}"#).has_seal());
    }

    #[test]
    fn processes_of_the_client_are_recorded_beside_the_state() {
        let mut doc =
            parse(r#"{"workflowType":"quick","clients":[{"pid":1,"started":2},"of another version"]}"#);
        assert!(!doc.add_client(ClientProcess { pid: 1, started: 2 }));
        assert!(doc.add_client(ClientProcess { pid: 3, started: 4 }));
        let text = String::from_utf8(doc.to_json().unwrap()).unwrap();
        let clients = [ClientProcess { pid: 1, started: 2 }, ClientProcess { pid: 3, started: 4 }];
        assert_eq!(parse(&text).clients(), clients);
        assert_eq!(parse(r#"{"workflowType":"quick","clients":7}"#).clients(), []);
    }

    #[test]
    fn broken_documents_are_errors() {
        for text in ["", "{broken", "[]", "{}", r#"{"workflowType":7}"#] {
            assert!(WorkflowDoc::parse(Path::new("w"), text).is_err(), "{text}");
        }
    }

    #[test]
    fn results_of_another_version_are_kept() {
        let doc = parse(
            r#"{"workflowType":"x","stages":{"PLAN":{"status":"completed","result":"split in three"}}}"#,
        );
        assert_eq!(doc.state.stages[0].result, Some(StageResult::Other("split in three".into())));
        assert!(doc.state.stages[0].is_resolved());
    }
}

//! The harness of the scenarios: a session that is prepared step by step, and readable answers.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use overtone_core::registry::{Hook, Workflow};
use serde_json::{Map, Value, json};

use crate::common::{Output, TestContext, put};

pub(crate) const ID: &str = "0b6f2a52-session-under-test";

/// A session on disk. Every method writes at once.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) context: TestContext,
    state: Value,
}

impl Session {
    /// A valid session id and nothing else.
    pub(crate) fn new() -> Self {
        let session = Self { context: TestContext::for_hooks(), state: Value::Null };
        session.transcript(1)
    }

    /// A workflow with every stage still to do, in the shape of the architecture document.
    pub(crate) fn workflow(mut self, name: &str) -> Self {
        let workflow = Workflow::from_name(name).unwrap();
        let stages: Map<_, _> = workflow
            .stage_keys()
            .map(|key| {
                let mut stage = json!({ "status": "pending", "result": null });
                if let Some(mode) = workflow.test_mode(key) {
                    stage["mode"] = json!(mode.key());
                }
                (key.to_string(), stage)
            })
            .collect();
        self.state = json!({
            "sessionId": ID,
            "workflowType": name,
            "createdAt": "2026-02-23T14:00:00Z",
            "currentStage": stages.keys().next(),
            "stages": stages,
            "activeAgents": {},
            "failCount": 0,
            "rejectCount": 0,
        });
        self.save()
    }

    pub(crate) fn completed(mut self, stages: &[&str]) -> Self {
        for stage in stages {
            self.stage(stage)["status"] = json!("completed");
            self.stage(stage)["result"] = json!("pass");
        }
        self.save()
    }

    /// All stages before this one are done and its agent is at work.
    pub(crate) fn at_work(self, agent: &str, stage: &str) -> Self {
        let keys: Vec<_> = self.state["stages"].as_object().unwrap().keys().cloned().collect();
        let before: Vec<_> = keys.iter().map(String::as_str).take_while(|key| *key != stage).collect();
        self.completed(&before).active(agent, stage)
    }

    pub(crate) fn active(mut self, agent: &str, stage: &str) -> Self {
        self.stage(stage)["status"] = json!("active");
        self.state["activeAgents"][agent] = json!({ "stage": stage, "startedAt": now() });
        self.current(stage)
    }

    /// What an earlier stage left as its result.
    pub(crate) fn stage_result(mut self, stage: &str, result: &str) -> Self {
        self.stage(stage)["result"] = json!(result);
        self.save()
    }

    pub(crate) fn current(self, stage: &str) -> Self {
        self.set("currentStage", &json!(stage))
    }

    pub(crate) fn set(mut self, field: &str, value: &Value) -> Self {
        self.state[field] = value.clone();
        self.save()
    }

    /// An active feature that was begun on this machine, with this `tasks.md`.
    pub(crate) fn task_file(self, feature: &str, tasks: &str) -> Self {
        self.begin_feature(feature);
        put(&self.in_progress().join(feature).join("tasks.md"), tasks);
        self
    }

    /// Begins a feature as a user does; what only lies in the project is the repository's.
    pub(crate) fn begin_feature(&self, feature: &str) {
        self.context.run_args(&["specs", "new", feature]).succeeds();
    }

    pub(crate) fn loop_state(self, value: &Value) -> Self {
        put(&self.file("loop.json"), value.to_string());
        self
    }

    pub(crate) fn config(self, value: &Value) -> Self {
        put(&self.context.state().join("config.json"), value.to_string());
        self
    }

    pub(crate) fn pointer(self, id: &str) -> Self {
        put(&self.pointer_file(), id);
        self
    }

    /// Earlier lines of the timeline, by type; each gets the fields that every line has.
    pub(crate) fn past_events(self, types: &[&str]) -> Self {
        let line = |kind: &&str| {
            let category = kind.split(':').next();
            json!({ "ts": "2026-02-23T14:00:00.000Z", "type": kind, "category": category, "label": "x" })
        };
        let lines = types.iter().map(line).fold(String::new(), |lines, line| format!("{lines}{line}\n"));
        put(&self.file("timeline.jsonl"), lines);
        self
    }

    /// The main transcript has this many bytes (the file is sparse).
    pub(crate) fn transcript(self, bytes: u64) -> Self {
        File::create(self.transcript_file()).unwrap().set_len(bytes).unwrap();
        self
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.context.session_dir(ID).join(name)
    }

    pub(crate) fn in_progress(&self) -> PathBuf {
        self.context.project().join("specs/features/in-progress")
    }

    pub(crate) fn pointer_file(&self) -> PathBuf {
        self.context.state().join(".current-session-id")
    }

    pub(crate) fn transcript_file(&self) -> PathBuf {
        self.context.root().join("transcript.jsonl")
    }

    /// Runs a hook with the fields that every event has, and `fields` on top; a null takes a field away.
    pub(crate) fn hook(&self, name: &str, fields: Value) -> Output {
        let mut event = json!({
            "session_id": ID,
            "transcript_path": self.transcript_file(),
            "cwd": self.context.project(),
            "hook_event_name": Hook::from_name(name).unwrap().event(),
        });
        let Value::Object(fields) = fields else { panic!("the fields of an event are an object") };
        let all = event.as_object_mut().unwrap();
        all.extend(fields);
        all.retain(|_, value| !value.is_null());
        self.hook_raw(name, event.to_string())
    }

    pub(crate) fn hook_raw(&self, name: &str, stdin: impl AsRef<[u8]>) -> Output {
        self.context.hook_call(name).run(stdin)
    }

    pub(crate) fn compact(&self) -> Output {
        self.hook("pre-compact", json!({ "trigger": "auto" }))
    }

    pub(crate) fn start(&self) -> Output {
        self.hook("on-start", json!({ "source": "startup" }))
    }

    /// The main agent delegates to `ot:<agent>`.
    pub(crate) fn delegate(&self, agent: &str, prompt: &str) -> Output {
        let input =
            json!({ "description": "next", "prompt": prompt, "subagent_type": format!("ot:{agent}") });
        let call = json!({ "tool_name": "Task", "tool_input": input, "tool_use_id": "toolu_1" });
        self.hook("pre-task", call)
    }

    /// A sub-agent finishes with this last message.
    pub(crate) fn agent_stops(&self, agent: &str, message: &str) -> Output {
        self.hook("on-agent-stop", agent_stop(agent, message))
    }

    pub(crate) fn state_on_disk(&self) -> Value {
        serde_json::from_slice(&fs::read(self.file("workflow.json")).unwrap()).unwrap()
    }

    /// The recorded lines of one type, oldest first.
    pub(crate) fn events(&self, kind: &str) -> Vec<Value> {
        self.lines("timeline.jsonl").into_iter().filter(|event| event["type"] == kind).collect()
    }

    pub(crate) fn observations(&self) -> Vec<Value> {
        self.lines("observations.jsonl")
    }

    fn lines(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.file(name)).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn stage(&mut self, key: &str) -> &mut Value {
        self.state["stages"].get_mut(key).unwrap_or_else(|| panic!("the workflow has no stage {key}"))
    }

    fn save(self) -> Self {
        put(&self.file("workflow.json"), serde_json::to_vec_pretty(&self.state).unwrap());
        self
    }
}

/// The fields of a `SubagentStop`.
pub(crate) fn agent_stop(agent: &str, message: &str) -> Value {
    json!({
        "agent_id": format!("agent-of-{agent}"),
        "agent_type": format!("ot:{agent}"),
        "last_assistant_message": message,
        "stop_hook_active": false,
    })
}

/// Readable answers.
pub(crate) trait Answer {
    fn system_message(&self) -> String;
    fn has_system_message(&self) -> bool;
    fn result(&self) -> String;
    fn decision(&self) -> Option<String>;
    fn model_context(&self) -> String;
    fn updated_prompt(&self) -> String;
}

impl Answer for Output {
    #[track_caller]
    fn system_message(&self) -> String {
        string(&self.answer()["systemMessage"], "systemMessage")
    }

    #[track_caller]
    fn has_system_message(&self) -> bool {
        self.answer().get("systemMessage").is_some()
    }

    #[track_caller]
    fn result(&self) -> String {
        string(&self.answer()["result"], "result")
    }

    /// What a `PreToolUse` hook decides; none where it has no opinion.
    #[track_caller]
    fn decision(&self) -> Option<String> {
        self.answer()["hookSpecificOutput"]["permissionDecision"].as_str().map(str::to_owned)
    }

    /// What reaches the model; empty where nothing does.
    #[track_caller]
    fn model_context(&self) -> String {
        self.answer()["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
    }

    #[track_caller]
    fn updated_prompt(&self) -> String {
        let output = self.answer();
        string(&output["hookSpecificOutput"]["updatedInput"]["prompt"], "updatedInput.prompt")
    }
}

#[track_caller]
fn string(value: &Value, name: &str) -> String {
    value.as_str().unwrap_or_else(|| panic!("no {name} in the output")).to_owned()
}

#[track_caller]
pub(crate) fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[track_caller]
pub(crate) fn assert_lacks(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(!text.contains(part), "{part:?} should not be in:\n{text}");
    }
}

/// Every field of `expected` is there with its value; the program may have added fields of its own.
#[track_caller]
pub(crate) fn assert_keeps(actual: &Value, expected: &Value) {
    match expected.as_object() {
        Some(fields) => fields.iter().for_each(|(name, value)| assert_keeps(&actual[name], value)),
        None => assert_eq!(actual, expected),
    }
}

/// The length as the specification counts it.
pub(crate) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// `2026-02-23T14:00:00.000Z`, the form of `ts`.
pub(crate) fn is_timestamp(value: &Value) -> bool {
    let pattern = b"dddd-dd-ddTdd:dd:dd.dddZ";
    value.as_str().is_some_and(|text| {
        text.len() == pattern.len()
            && text.bytes().zip(pattern).all(|(byte, form)| match form {
                b'd' => byte.is_ascii_digit(),
                other => byte == *other,
            })
    })
}

/// The present time in the form of `ts` (an agent that started long ago may be taken for lost).
fn now() -> String {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seconds = elapsed.as_secs();
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    // Days to a date, counted in eras of 400 years that begin on 1 March.
    let days = seconds / 86_400 + 719_468;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = days / 146_097 * 400 + year_of_era + u64::from(month <= 2);
    let millis = elapsed.subsec_millis();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

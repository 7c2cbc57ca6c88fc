//! What the client writes to a hook's stdin, in the shapes of real sessions.

use serde_json::{Value, json};

use super::fixture::{CONTEXT_PERCENT, COST, DEVELOPER, GRADER, Place, SESSION};

const REPORT: &str = "Implemented the login messages.\n\n## HANDOFF: developer → code-reviewer\n\nAll 42 tests \
                      pass, 0 failed.\n\n<!-- VERDICT: {\"result\":\"PASS\"} -->";
const TOOL_USE: &str = "toolu_01ABCDEFGHJKMNPQRSTVWXYZ";

pub(crate) fn session_start(place: &Place) -> Value {
    // After a compaction there is a recovery text to build, which makes it the most expensive source.
    let source = if place.state.has_workflow() { "compact" } else { "startup" };
    event(place, "SessionStart", json!({ "source": source, "model": "claude-sonnet-4-5" }))
}

pub(crate) fn prompt(place: &Place) -> Value {
    event(place, "UserPromptSubmit", json!({ "prompt": "請把登入頁的錯誤訊息改成可以翻譯的，並補上測試。" }))
}

pub(crate) fn foreign_task(place: &Place) -> Value {
    before(place, "Task", &task("Explore", "Find the login page", "Where is the login page rendered?"))
}

pub(crate) fn developer_task(place: &Place) -> Value {
    before(place, "Task", &developer())
}

/// The review comes after the development, which is not done yet.
pub(crate) fn reviewer_task(place: &Place) -> Value {
    before(place, "Task", &task("ot:code-reviewer", "Review the login page", "Review the last change."))
}

pub(crate) fn agent_start(place: &Place) -> Value {
    event(place, "SubagentStart", json!({ "agent_id": DEVELOPER, "agent_type": "ot:developer" }))
}

pub(crate) fn agent_stop(place: &Place) -> Value {
    let fields = json!({
        "agent_id": DEVELOPER, "agent_type": "ot:developer",
        "agent_transcript_path": place.path("transcript-developer.jsonl"), "stop_hook_active": false,
        "last_assistant_message": REPORT, "background_tasks": [], "session_crons": [],
    });
    event(place, "SubagentStop", fields)
}

pub(crate) fn hand_back(place: &Place) -> Value {
    let fields = json!({
        "agent_id": DEVELOPER, "agent_type": "ot:developer", "tool_name": "SubagentHandback",
        "tool_input": { "message": REPORT }, "tool_use_id": "toolu_02",
    });
    event(place, "PreToolUse", fields)
}

pub(crate) fn own_command(place: &Place) -> Value {
    before(place, "Bash", &json!({ "command": "overtone status", "description": "Show the workflow" }))
}

pub(crate) fn edit_before(place: &Place) -> Value {
    before(place, "Edit", &edit(place))
}

pub(crate) fn edit_after(place: &Place) -> Value {
    let response = json!({
        "filePath": place.path("project/src/login.rs"), "oldString": "\"wrong password\"",
        "newString": "text(Message::WrongPassword)", "userModified": false, "replaceAll": false,
    });
    after(place, "Edit", &edit(place), &response)
}

pub(crate) fn quiet_command(place: &Place) -> Value {
    bash_after(place, "ls src", "List the sources", "login.rs\nmain.rs\n")
}

/// A dedicated tool would have done this better, which is recorded as a lesson.
pub(crate) fn instructive_command(place: &Place) -> Value {
    bash_after(place, "cat src/main.rs", "Read the login page", "fn main() { login(); }\n")
}

/// The result of an agent whose own stop was never reported: it completes the stage.
pub(crate) fn agent_returned(place: &Place) -> Value {
    let response = json!({
        "status": "completed", "agentId": DEVELOPER, "content": [{ "type": "text", "text": REPORT }],
        "totalToolUseCount": 12, "totalDurationMs": 84_211, "totalTokens": 31_870,
    });
    after(place, "Agent", &developer(), &response)
}

pub(crate) fn tool_failure(place: &Place) -> Value {
    let fields = json!({
        "tool_name": "Bash", "tool_input": { "command": "cargo test", "description": "Run the tests" },
        "tool_use_id": TOOL_USE, "is_interrupt": false,
        "error": "Exit code 101\nrunning 42 tests\n\nerror: test failed, to rerun pass `--lib`",
    });
    event(place, "PostToolUseFailure", fields)
}

pub(crate) fn compaction(place: &Place) -> Value {
    event(place, "PreCompact", json!({ "trigger": "auto", "custom_instructions": "" }))
}

pub(crate) fn stop(place: &Place) -> Value {
    let fields = json!({
        "stop_hook_active": false, "last_assistant_message": "The architecture is done.",
        "background_tasks": [], "session_crons": [],
    });
    event(place, "Stop", fields)
}

pub(crate) fn session_end(place: &Place) -> Value {
    event(place, "SessionEnd", json!({ "reason": "prompt_input_exit" }))
}

/// The cost and the use of the context are stored already.
pub(crate) fn statusline(place: &Place) -> Value {
    status(place, COST)
}

pub(crate) fn statusline_with_new_cost(place: &Place) -> Value {
    status(place, COST + 0.5)
}

pub(crate) fn agent_rows(place: &Place) -> Value {
    let task = json!({
        "id": GRADER, "type": "local_agent", "status": "running", "description": "Grade the architecture",
        "label": "ot:grader", "startTime": 1_772_000_000_000_u64, "tokenCount": 12_345,
        "tokenSamples": [11_000, 12_345], "cwd": place.path("project"),
    });
    session(place, json!({ "columns": 96, "tasks": [task] }))
}

fn status(place: &Place, cost: f64) -> Value {
    let fields = json!({
        "model": { "id": "claude-sonnet-4-5", "display_name": "Sonnet 4.5" },
        "workspace": { "current_dir": place.path("project"), "project_dir": place.path("project") },
        "version": "2.1.197",
        "output_style": { "name": "default" },
        "cost": {
            "total_cost_usd": cost, "total_duration_ms": 845_000, "total_api_duration_ms": 230_000,
            "total_lines_added": 156, "total_lines_removed": 23,
        },
        "context_window": {
            "total_input_tokens": 84_000, "total_output_tokens": 4_500, "context_window_size": 200_000,
            "used_percentage": CONTEXT_PERCENT, "remaining_percentage": 100 - CONTEXT_PERCENT,
        },
        "exceeds_200k_tokens": false,
    });
    session(place, fields)
}

fn before(place: &Place, tool: &str, input: &Value) -> Value {
    event(place, "PreToolUse", json!({ "tool_name": tool, "tool_input": input, "tool_use_id": TOOL_USE }))
}

fn after(place: &Place, tool: &str, input: &Value, response: &Value) -> Value {
    let fields = json!({
        "tool_name": tool, "tool_input": input, "tool_response": response, "tool_use_id": TOOL_USE,
    });
    event(place, "PostToolUse", fields)
}

fn bash_after(place: &Place, command: &str, description: &str, stdout: &str) -> Value {
    let response = json!({ "stdout": stdout, "stderr": "", "interrupted": false, "isImage": false });
    after(place, "Bash", &json!({ "command": command, "description": description }), &response)
}

fn developer() -> Value {
    let prompt = "Implement the login messages as described in specs/features/in-progress/demo/tasks.md. Keep the \
                  public API, add unit tests for every branch and run them before you report.";
    task("ot:developer", "Implement the login messages", prompt)
}

fn task(agent: &str, description: &str, prompt: &str) -> Value {
    json!({ "description": description, "prompt": prompt, "subagent_type": agent })
}

fn edit(place: &Place) -> Value {
    json!({
        "file_path": place.path("project/src/login.rs"), "old_string": "\"wrong password\"",
        "new_string": "text(Message::WrongPassword)", "replace_all": false,
    })
}

/// An event of the client: what all of them have, then its own fields.
fn event(place: &Place, name: &str, fields: Value) -> Value {
    let mut all = json!({ "permission_mode": "default", "hook_event_name": name });
    extend(&mut all, fields);
    session(place, all)
}

/// What everything from the client has, then the given fields.
fn session(place: &Place, fields: Value) -> Value {
    let mut all = json!({
        "session_id": SESSION, "transcript_path": place.transcript(), "cwd": place.path("project"),
    });
    extend(&mut all, fields);
    all
}

fn extend(all: &mut Value, fields: Value) {
    if let (Value::Object(all), Value::Object(own)) = (all, fields) {
        all.extend(own);
    }
}

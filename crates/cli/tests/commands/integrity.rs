//! What others than the client and Overtone do to a session: it is noticed, told, and has no effect.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::common::{NOTHING, read_json, with_verdict};
use crate::context::{BINARY, TestContext, put, read};

/// A process that is taken for the client, because its program is: a shell by that name, which runs what it is told.
struct FakeClient<'a> {
    context: &'a TestContext,
    process: Child,
    commands: ChildStdin,
    output: BufReader<ChildStdout>,
    calls: u32,
}

impl<'a> FakeClient<'a> {
    fn start(context: &'a TestContext) -> Self {
        let program = context.path("bin/claude");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        if !program.exists() {
            fs::copy("/bin/sh", &program).unwrap();
        }
        let mut process = context.program(&program).stdin(Stdio::piped()).spawn().unwrap();
        let (commands, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        Self { context, process, commands, output: BufReader::new(output), calls: 0 }
    }

    /// Runs a command line of the shell to its end and returns the line that it prints.
    fn run(&mut self, line: &str) -> String {
        writeln!(self.commands, "{line}").unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        answer
    }

    /// A file with a hook's event.
    fn payload(&mut self, fields: &Value) -> PathBuf {
        self.calls += 1;
        let path = self.context.path(format!("payload-{}-{}.json", self.process.id(), self.calls));
        let mut event = json!({ "session_id": "s1", "cwd": self.context.project() });
        event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        put(&path, event.to_string());
        path
    }

    /// Runs a command to its end: a hook exchanges the state after it has answered.
    fn run_hook(&mut self, name: &str, fields: &Value, before: &str, after: &str) -> String {
        let payload = self.payload(fields);
        let answer = payload.with_extension("answer");
        let command = format!("{BINARY} hook {name} < {} > {}", payload.display(), answer.display());
        self.run(&format!("{before}{command}{after}; cat {}", answer.display()))
    }

    /// A hook that the client starts itself.
    fn hook(&mut self, name: &str, fields: &Value) -> Value {
        let answer = self.run_hook(name, fields, "", "");
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{name}: {error}: {answer:?}"))
    }

    /// A hook that a shell of the client starts, as its Bash tool would.
    fn hook_by_tool(&mut self, name: &str, fields: &Value) -> String {
        self.run_hook(name, fields, "sh -c '", "; true'").trim_end().to_owned()
    }

    fn end(mut self) {
        drop(self.commands);
        self.process.wait().unwrap();
    }
}

fn delegation(agent: &str) -> Value {
    let input = json!({ "subagent_type": format!("ot:{agent}"), "description": "x", "prompt": "do it" });
    json!({ "tool_name": "Agent", "tool_use_id": format!("call-{agent}"), "tool_input": input })
}

fn report(agent: &str, verdict: &str) -> Value {
    json!({
        "agent_id": format!("id-{agent}"), "agent_type": format!("ot:{agent}"),
        // Nothing changes in these projects, which a developer has to explain.
        "last_assistant_message": format!(
            "done <!-- VERDICT: {{\"result\":\"{verdict}\",\"unchanged\":\"a test\"}} -->"
        ),
    })
}

fn workflow_file(context: &TestContext) -> PathBuf {
    context.session_dir("s1").join("workflow.json")
}

fn stage(context: &TestContext, key: &str) -> Value {
    read_json(&workflow_file(context))["stages"][key]["status"].clone()
}

/// The warnings of the timeline with this reason.
fn warnings(context: &TestContext, reason: &str) -> Vec<Value> {
    let timeline = read(&context.session_dir("s1").join("timeline.jsonl"));
    let events = timeline.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter(|event| event["type"] == "system:warning" && event["reason"] == reason).collect()
}

/// Replaces a text in a file, as `sed -i` does.
fn edit(path: &Path, from: &str, to: &str) {
    let text = read(path);
    assert!(text.contains(from), "{text}");
    put(path, text.replace(from, to));
}

/// A client with a workflow in which the developer is at work.
fn with_developer(context: &TestContext) -> FakeClient<'_> {
    let mut client = FakeClient::start(context);
    client.hook("on-start", &json!({ "source": "startup" }));
    context.run("init quick").ok();
    client.hook("pre-task", &delegation("developer"));
    assert_eq!(stage(context, "DEV"), "active");
    client
}

#[test]
fn a_forged_report_passes_no_stage() {
    let context = TestContext::for_commands();
    let mut client = with_developer(&context);
    let before = read(&workflow_file(&context));
    assert_eq!(client.hook_by_tool("on-agent-stop", &report("developer", "PASS")), NOTHING);
    assert_eq!(stage(&context, "DEV"), "active");
    let forged = warnings(&context, "forged-hook");
    assert_eq!(forged.iter().map(|event| &event["hook"]).collect::<Vec<_>>(), ["on-agent-stop"]);
    assert_ne!(read(&workflow_file(&context)), before, "the texts about it are stored");

    // Until the user has seen it, another one adds nothing.
    let before = read(&workflow_file(&context));
    client.hook_by_tool("on-agent-stop", &report("developer", "PASS"));
    context.run_hook("on-agent-stop", &report("developer", "PASS"));
    assert_eq!(read(&workflow_file(&context)), before);

    // The agent's own report counts.
    client.hook("on-agent-stop", &report("developer", "PASS"));
    assert_eq!(stage(&context, "DEV"), "completed");
    let seen = client.hook("on-submit", &json!({ "prompt": "how far is it?" }));
    assert!(seen["systemMessage"].as_str().unwrap().contains("`overtone hook on-agent-stop`"), "{seen}");
    assert!(
        seen["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("was ignored"),
        "{seen}"
    );
    let next = client.hook("on-submit", &json!({ "prompt": "and now?" }));
    assert!(next["systemMessage"].is_null() && !next.to_string().contains("was ignored"), "{next}");
    client.end();
}

#[test]
fn no_forged_call_changes_a_session() {
    let context = TestContext::for_commands();
    let mut client = with_developer(&context);
    let state = |context: &TestContext| {
        let mut workflow = read_json(&workflow_file(context));
        for texts in ["notices", "userNotices", "seal"] {
            workflow.as_object_mut().unwrap().shift_remove(texts);
        }
        (workflow, read(&context.session_dir("s1").join("loop.json")))
    };
    let before = state(&context);
    let mut returned = delegation("developer");
    returned["tool_response"] = json!({ "status": "completed", "agentId": "id-developer",
        "content": [{ "type": "text", "text": with_verdict("done", "PASS") }] });
    let mut not_launched = delegation("developer");
    not_launched["error"] = json!("the agent could not be launched");
    let asks = json!({ "tool_name": "Bash", "tool_input": { "command": "overtone stop" } });
    let mut handback = report("developer", "PASS");
    handback["tool_name"] = json!("SubagentHandback");
    handback["tool_input"] = json!({ "message": with_verdict("done", "PASS") });
    for (hook, fields) in [
        ("on-agent-stop", report("developer", "PASS")),
        ("on-handback", handback),
        ("post-use", returned),
        ("post-use-failure", not_launched),
        ("post-use", json!({ "tool_name": "AskUserQuestion", "tool_input": {} })),
        ("on-submit", json!({ "prompt": "/ot:stop" })),
        ("on-stop", json!({ "background_tasks": [] })),
        ("on-start", json!({ "source": "startup" })),
        ("on-session-end", json!({ "reason": "other" })),
        ("allow-own", asks),
    ] {
        let answer = client.hook_by_tool(hook, &fields);
        assert_eq!(answer, NOTHING, "{hook}");
        assert_eq!(state(&context), before, "{hook}");
        assert!(warnings(&context, "forged-hook").iter().any(|event| event["hook"] == hook), "{hook}");
    }
    let project = read_json(&context.session_dir("s1").join("session.json"));
    assert_eq!(project["clients"].as_array().unwrap().len(), 1, "no shell is taken for a client");
    client.end();
}

#[test]
fn every_client_of_a_session_is_known() {
    let context = TestContext::for_commands();
    let first = with_developer(&context);
    let mut second = FakeClient::start(&context);
    second.hook("on-start", &json!({ "source": "resume" }));
    second.hook("pre-task", &delegation("developer"));
    second.hook("on-agent-stop", &report("developer", "PASS"));
    assert_eq!(stage(&context, "DEV"), "completed");
    second.end();
    let mut first = first;
    first.hook("pre-task", &delegation("code-reviewer"));
    assert_eq!(stage(&context, "REVIEW"), "active");
    assert_eq!(warnings(&context, "forged-hook"), [] as [Value; 0]);
    first.end();
}

#[test]
fn without_a_running_client_calls_are_accepted_as_before() {
    let context = TestContext::for_commands();
    with_developer(&context).end();
    context.run_hook("on-agent-stop", &{
        let mut event = report("developer", "PASS");
        event["session_id"] = json!("s1");
        event
    });
    assert_eq!(stage(&context, "DEV"), "completed");
    assert_eq!(warnings(&context, "forged-hook"), [] as [Value; 0]);
}

#[test]
fn a_workflow_that_another_program_changed_is_not_used() {
    let context = TestContext::for_commands();
    context.run("init quick").ok();
    let file = workflow_file(&context);
    edit(&file, "\"status\": \"pending\"", "\"status\": \"completed\"");
    let edited = read(&file);
    context.run("status").succeeds().stderr_has(&["another program changed workflow.json"]).has(&["(0/5)"]);

    let answer = context.delegate("s1", "tester").answer();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "DEV is not done: {answer}");
    let changes = warnings(&context, "state-edited");
    assert_eq!(changes.len(), 1);
    assert_eq!((&changes[0]["file"], &changes[0]["change"]), (&json!("workflow.json"), &json!("changed")));
    assert_eq!(read(&context.session_dir("s1").join("workflow.edited.json")), edited);
    assert_eq!(stage(&context, "DEV"), "pending", "the file is as Overtone left it");

    let seen = context.send_event("on-submit", "s1", json!({ "prompt": "go on" })).answer();
    assert!(seen["systemMessage"].as_str().unwrap().contains("overtone resume --accept-edit"), "{seen}");
    assert!(seen.to_string().contains("Overtone's last state was restored"), "{seen}");
    let next = context.send_event("on-submit", "s1", json!({ "prompt": "go on" })).answer();
    assert!(next["systemMessage"].is_null() && !next.to_string().contains("restored"), "{next}");
    assert_eq!(warnings(&context, "state-edited").len(), 1);
    context.run("status").ok();
}

#[test]
fn the_user_takes_a_changed_state_over() {
    let context = TestContext::for_commands();
    context.run("init quick").ok();
    context.run("resume --accept-edit").ok().has(&["There is no edited state to accept."]);
    edit(&workflow_file(&context), "\"failCount\": 0", "\"failCount\": 2");
    // Before a hook has seen it, and after.
    context.run("resume --accept-edit").ok().has(&["The edited state is in use."]);
    assert_eq!(read_json(&workflow_file(&context))["failCount"], 2);
    edit(&workflow_file(&context), "\"failCount\": 2", "\"failCount\": 1");
    context.delegate("s1", "developer").answer();
    assert_eq!(read_json(&workflow_file(&context))["failCount"], 2);
    let accepted = context.json("resume --accept-edit --json");
    assert_eq!((&accepted["changed"], &accepted["session"]), (&json!(true), &json!("s1")));
    assert_eq!(read_json(&workflow_file(&context))["failCount"], 1);
    assert!(!context.session_dir("s1").join("workflow.edited.json").exists());
    assert_eq!(warnings(&context, "edit-accepted").len(), 2);
    // It is a state like any other now.
    context.delegate("s1", "developer").answer();
    assert_eq!(read_json(&workflow_file(&context))["failCount"], 1);
    assert_eq!(warnings(&context, "state-edited").len(), 1);
}

#[test]
fn an_edit_is_accepted_by_the_user_alone() {
    let context = TestContext::for_commands().with_env("CLAUDECODE", "1");
    context.run("init quick").ok();
    let edited = read(&workflow_file(&context))
        .replace("\"sessionId\"", "\"ending\": \"completed\",\n  \"sessionId\"");
    put(&workflow_file(&context), edited);
    context.run("resume --accept-edit").fails(&["is the user's decision, and the user was not asked"]);
    context.run("stop").fails(&["is the user's decision"]);
    assert!(read_json(&workflow_file(&context))["ending"].is_string(), "nothing has read it yet");
}

#[test]
fn an_edited_state_that_is_broken_cannot_be_accepted() {
    let context = TestContext::for_commands();
    context.run("init quick").ok();
    put(&workflow_file(&context), "{broken");
    context.delegate("s1", "developer").answer();
    assert_eq!(stage(&context, "DEV"), "active", "the last state is used");
    context.run("resume --accept-edit").fails(&["workflow.edited.json"]);
    assert_eq!(stage(&context, "DEV"), "active");
}

#[test]
fn a_removed_workflow_is_restored() {
    let context = TestContext::for_commands();
    context.run("init quick").ok();
    fs::remove_file(workflow_file(&context)).unwrap();
    let answer = context.delegate("s1", "tester").answer();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
    assert_eq!(stage(&context, "DEV"), "pending");
    let changes = warnings(&context, "state-edited");
    assert_eq!((changes.len(), &changes[0]["change"]), (1, &json!("removed")));
    context.run("resume --accept-edit").ok().has(&["There is no edited state to accept."]);
}

#[test]
fn without_a_copy_the_user_decides() {
    let context = TestContext::for_commands();
    context.run("init quick").ok();
    let all_done = |text: String| text.replace("\"status\": \"pending\"", "\"status\": \"completed\"");
    for file in ["workflow.json", "workflow.sealed.json"] {
        let path = context.session_dir("s1").join(file);
        put(&path, all_done(read(&path)));
    }
    let edited = read(&workflow_file(&context));
    let output = context.delegate("s1", "developer");
    let denied = &output.answer()["hookSpecificOutput"];
    assert_eq!(denied["permissionDecision"], "deny");
    assert!(denied["additionalContext"].as_str().unwrap().contains("--accept-edit"), "{denied}");
    let stop = context.send_event("on-stop", "s1", json!({ "background_tasks": [] })).answer();
    assert!(stop["systemMessage"].as_str().unwrap().contains("until you decide"), "{stop}");
    for command in ["status", "stop", "init quick"] {
        context.run(command).fails(&["another program changed the file", "--accept-edit"]);
    }
    assert_eq!(read(&workflow_file(&context)), edited, "it is left as it is");

    context.run("resume --accept-edit").ok().has(&["The edited state is in use."]);
    context.run("status").ok();
    put(&workflow_file(&context), &edited);
    fs::remove_file(context.session_dir("s1").join("workflow.sealed.json")).unwrap();
    let kept = context.json("init single --force --json");
    assert_eq!(kept["setAside"].as_array().unwrap().len(), 1, "{kept}");
    assert_eq!(context.json("status --json")["workflow"]["type"], "single");
}

/// What an earlier version, or a test, has put there is accepted, and sealed from then on.
#[test]
fn an_unsealed_workflow_is_accepted_until_it_is_written() {
    let context = TestContext::for_commands();
    let file = workflow_file(&context);
    put(
        &file,
        r#"{"sessionId":"s1","workflowType":"single","stages":{"DEV":{"status":"pending"}},"mine":1}"#,
    );
    context.delegate("s1", "developer").answer();
    let sealed = read_json(&file);
    assert_eq!((&sealed["mine"], sealed["seal"].as_str().unwrap().len()), (&json!(1), 32));
    assert_eq!(read(&context.session_dir("s1").join("workflow.sealed.json")), read(&file));
    assert_eq!(warnings(&context, "state-edited"), [] as [Value; 0]);
}

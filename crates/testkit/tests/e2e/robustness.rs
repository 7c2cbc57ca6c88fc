//! The session continues whatever fails, and Overtone's texts and files stay within their bounds.

use std::fs;
use std::path::{Path, PathBuf};

use overtone_core::registry::limits;
use overtone_testkit::{Actor, Client, Exit, Request, Run, Sandbox, error, text, tool};
use serde_json::{Value, json};

use crate::delegate;

const HOOKS: &str = "hooks/hooks.json";
const PROGRAM: &str = "bin/overtone-hook";

#[test]
fn an_agent_that_ends_with_an_api_error_is_delegated_again() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = sandbox.new_session();
        sandbox.put_workflow(&session, "single");
        let job = || delegate("ot:developer", "the job");
        let run = sandbox
            .script(|s| {
                s.main([job(), job(), text("done")])
                    .sub("developer", [error(500, "api_error", "boom"), text("fixed it")])
            })
            .session(&session)
            .run("go");
        let received = run.requests(Actor::Main).nth(1).new_text();
        for part in ["developer 因 API 錯誤中斷", "下一步請委派 DEVELOPER（ot:developer）。"] {
            assert!(received.contains(part), "no {part:?} in {received}");
        }
        let types = sandbox.timeline_types(&session);
        let flow: Vec<_> =
            types.iter().filter(|kind| kind.starts_with("agent:") || kind.starts_with("stage:")).collect();
        let attempt = ["stage:start", "agent:delegate"];
        assert_eq!(
            flow,
            [&attempt[..], &["agent:error"], &attempt, &["agent:complete", "stage:complete"]].concat()
        );
        let workflow = sandbox.workflow(&session);
        assert_eq!(
            (&workflow["stages"]["DEV"]["status"], &workflow["failCount"]),
            (&json!("completed"), &json!(0))
        );
    }
}

/// Puts something else in the place of our program.
fn replace_program(sandbox: &Sandbox, shell: &str) {
    sandbox.put_plugin_file(PROGRAM, &format!("#!/bin/sh\n{shell}\n"));
}

/// Gives every hook one second.
fn hurry(sandbox: &Sandbox) {
    let mut hooks: Value =
        serde_json::from_str(&fs::read_to_string(sandbox.plugin().join(HOOKS)).unwrap()).unwrap();
    let events = hooks["hooks"].as_object_mut().unwrap().values_mut();
    let groups = events.flat_map(|groups| groups.as_array_mut().unwrap());
    for hook in groups.flat_map(|group| group["hooks"].as_array_mut().unwrap()) {
        hook["timeout"] = json!(1);
    }
    sandbox.put_plugin_file(HOOKS, &hooks.to_string());
}

/// A session with hooks that are of no use ends with its result all the same. The newer client delegates nothing while the hook
/// that has to allow it fails.
fn assert_unharmed(client: &Client, outcome: &str, spoil: impl FnOnce(&Sandbox)) {
    let sandbox = Sandbox::new(client);
    spoil(&sandbox);
    let turns = [delegate("ot:developer", "the job"), text("all done"), text("all done")];
    let session = sandbox.new_session();
    sandbox.put_workflow(&session, "single");
    let run = sandbox.script(|s| s.main(turns)).session(&session).run("go");
    assert_eq!((run.exit, run.result_text()), (Exit::Code(0), "all done"));
    let is_closed = outcome != "success" && client.has_auto_mode();
    assert_eq!(run.requests(Actor::Sub("developer")).is_empty(), is_closed);
    let hooks = run.hook_events();
    assert!(!hooks.is_empty() && hooks.iter().all(|hook| hook["outcome"] == outcome), "{hooks:?}");
}

#[test]
fn a_hook_that_fails_does_not_stop_the_session() {
    for client in Client::all() {
        assert_unharmed(&client, "error", |sandbox| replace_program(sandbox, "exit 1"));
        assert_unharmed(&client, "error", |sandbox| replace_program(sandbox, "kill -9 $$"));
        assert_unharmed(&client, "error", |sandbox| fs::remove_file(sandbox.plugin().join(PROGRAM)).unwrap());
        assert_unharmed(&client, "success", |sandbox| {
            replace_program(sandbox, r#"printf '{"decision":\377'"#);
        });
    }
}

#[test]
fn a_hook_that_hangs_does_not_stop_the_session() {
    for client in Client::all() {
        assert_unharmed(&client, "cancelled", |sandbox| {
            hurry(sandbox);
            replace_program(sandbox, "exec sleep 600");
        });
    }
}

#[test]
fn a_script_receives_only_the_answer() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = sandbox.new_session();
        sandbox.put_workflow(&session, "single");
        let turns = [delegate("ot:developer", "the job"), text("the answer")];
        let run =
            sandbox.script(|s| s.main(turns)).session(&session).arg("--output-format").arg("text").run("go");
        assert_eq!((run.exit, run.stdout.as_str(), run.stderr.as_str()), (Exit::Code(0), "the answer\n", ""));
        assert!(sandbox.timeline_types(&session).contains(&"workflow:complete".to_owned()));
    }
}

/// The texts for the model in the answers of our hooks.
fn contexts(run: &Run) -> Vec<String> {
    let answers = run
        .hook_events()
        .into_iter()
        .filter_map(|hook| serde_json::from_str::<Value>(hook["stdout"].as_str()?).ok());
    let texts =
        answers.map(|answer| answer["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_owned));
    texts.flatten().collect()
}

#[track_caller]
fn assert_taken_whole(run: &Run) {
    let received: Vec<_> = run.all_requests().iter().map(Request::text).collect();
    let contexts = contexts(run);
    assert!(!contexts.is_empty());
    for context in contexts {
        assert!(context.encode_utf16().count() <= limits::MODEL_CONTEXT_UNITS, "{context}");
        assert!(
            received.iter().any(|text| text.contains(context.trim_end())),
            "the model has not seen {context}"
        );
    }
}

#[test]
fn no_text_is_longer_than_the_client_takes() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let tasks = format!("- [ ] {}\n", "測🧪".repeat(5_000)).repeat(25);
        sandbox.begin_feature("endless", &format!("## Tasks\n\n{tasks}"));
        let greeted = sandbox.run("go");
        assert!(contexts(&greeted).iter().any(|text| text.contains("endless")), "the tasks were read");
        let session = sandbox.new_session();
        sandbox.put_workflow(&session, "single");
        let turns = [delegate("ot:developer", "the job"), text("done")];
        let report = [text("報告".repeat(1_500))];
        let worked = sandbox.script(|s| s.main(turns).sub("developer", report)).session(&session).run("go");
        let resumed = sandbox.script(|s| s).resume(&session).run("go on");
        for run in [greeted, worked, resumed] {
            assert_taken_whole(&run);
        }
        assert_eq!(sandbox.workflow(&session)["stages"]["DEV"]["status"], "completed");
    }
}

/// Every file below the folder.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_in(&path) } else { vec![path] }).collect()
}

#[test]
fn the_key_of_the_client_is_never_written_down() {
    const KEY: &str = "sk-ant-api03-e2eDistinctiveKey0123456789";
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = sandbox.new_session();
        sandbox.put_workflow(&session, "single");
        let turns = [
            tool("Bash", json!({"command": "echo $ANTHROPIC_API_KEY >&2; exit 3"})),
            tool("Bash", json!({"command": "env; exit 3"})),
            tool("Write", json!({"file_path": "/proc/nowhere/x", "content": KEY})),
            delegate("ot:developer", "the job"),
            text("done"),
        ];
        let run = sandbox
            .script(|s| s.main(turns))
            .session(&session)
            .env("ANTHROPIC_API_KEY", KEY)
            .allow(["Agent", "Bash", "Write"])
            .run("go");
        assert!(run.requests(Actor::Main).new_text().contains(KEY), "the commands had the key");
        sandbox.script(|s| s).resume(&session).env("ANTHROPIC_API_KEY", KEY).run("/compact");
        let files = files_in(&sandbox.state());
        assert!(files.len() > 3, "{files:?}");
        for file in files {
            let kept = String::from_utf8_lossy(&fs::read(&file).unwrap()).contains(KEY);
            assert!(!kept, "{} has the key", file.display());
        }
    }
}

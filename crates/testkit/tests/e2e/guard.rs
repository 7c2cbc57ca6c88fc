//! Work of the project that is not done by the agent of a stage: noticed by default, denied at the strict level.

use std::fs;

use overtone_testkit::{Actor, Client, Run, Sandbox, Turn, text, tool};
use serde_json::{Value, json};

use crate::delegate;
use crate::steps::{begin, of_stages, verdict};

/// A session with a workflow that is guarded at this level.
fn begin_guarded(sandbox: &Sandbox, level: &str) -> String {
    let session = begin(sandbox, "quick", &[]);
    let mut workflow = sandbox.workflow(&session);
    workflow["guard"] = json!(level);
    sandbox.put_state(&session, "workflow.json", &workflow);
    session
}

fn write(sandbox: &Sandbox, path: &str) -> Turn {
    tool("Write", json!({"file_path": sandbox.project().join(path), "content": "x = 1\n"}))
}

fn bash(command: &str) -> Turn {
    tool("Bash", json!({"command": command, "description": "a command"}))
}

/// The violations in the timeline, with who it was and whether it was denied.
pub(crate) fn violations(sandbox: &Sandbox, session: &str) -> Vec<(String, String, bool)> {
    let events = sandbox.timeline(session);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let found = events.iter().filter(|event| event["reason"] == "gate-bypassed");
    found.map(|event| (text(&event["violation"]), text(&event["by"]), event["answer"] == "denied")).collect()
}

fn violation(name: &str, by: &str, denied: bool) -> (String, String, bool) {
    (name.to_owned(), by.to_owned(), denied)
}

fn run(sandbox: &Sandbox, session: &str, turns: Vec<Turn>) -> Run {
    let script =
        |s: overtone_testkit::Script| s.main(turns).sub("code-reviewer", [verdict("looks good", "PASS")]);
    sandbox
        .script(script)
        .session(session)
        .permission_mode("acceptEdits")
        .allow(["Agent", "Bash", "Write", "Workflow"])
        .run("build it")
}

const OUTSIDE: &str = "changed-outside-stage";

#[test]
fn the_main_agents_own_work_is_noticed_and_the_reviewer_is_informed() {
    for client in Client::all() {
        for work in [write as fn(&Sandbox, &str) -> Turn, |_, path| bash(&format!("echo 'x = 1' > {path}"))] {
            let sandbox = Sandbox::new(&client);
            let session = begin_guarded(&sandbox, "notice");
            let turns = vec![
                work(&sandbox, "lock.py"),
                delegate("ot:developer", "build it"),
                delegate("ot:code-reviewer", "review it"),
                text("done"),
            ];
            let run = run(&sandbox, &session, turns);
            assert!(sandbox.project().join("lock.py").exists(), "nothing is denied");
            assert_eq!(violations(&sandbox, &session), [violation(OUTSIDE, "main", false)]);
            let main = run.requests(Actor::Main);
            assert!(main.nth(1).new_text().contains("lock.py"), "{}", main.nth(1).new_text());
            let reviewer = run.requests(Actor::Sub("code-reviewer")).first().text();
            assert!(reviewer.contains("lock.py"), "{reviewer}");
        }
    }
}

#[test]
fn the_main_agents_own_work_is_denied_at_the_strict_level() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin_guarded(&sandbox, "strict");
        let turns = vec![
            write(&sandbox, "lock.py"),
            bash("echo 'x = 1' > lock.py"),
            bash("cat missing.py; ls > /dev/null"),
            write(&sandbox, "specs/notes.md"),
            text("done"),
        ];
        let run = run(&sandbox, &session, turns);
        assert!(!sandbox.project().join("lock.py").exists());
        assert!(sandbox.project().join("specs/notes.md").exists(), "the specs are free");
        let denied = violation(OUTSIDE, "main", true);
        assert_eq!(violations(&sandbox, &session), [denied.clone(), denied]);
        let main = run.requests(Actor::Main);
        for request in [1, 2] {
            let received = main.nth(request).new_text();
            assert!(received.contains("ot:developer"), "the next step: {received}");
        }
    }
}

#[test]
fn agents_that_may_not_change_files_are_denied_at_the_strict_level() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin_guarded(&sandbox, "strict");
        let by_command = bash("echo 'x = 1' > lock.py");
        let run = sandbox
            .script(|s| {
                s.main([
                    delegate("general-purpose", "do it all"),
                    delegate("ot:developer", "build it"),
                    delegate("ot:code-reviewer", "review it"),
                    text("done"),
                ])
                .actor(Actor::ForeignSub, [write(&sandbox, "lock.py"), text("done")])
                .sub("developer", [write(&sandbox, "built.py"), verdict("built", "PASS")])
                .sub("code-reviewer", [by_command, verdict("fixed it myself", "PASS")])
            })
            .session(&session)
            .permission_mode("acceptEdits")
            .allow(["Agent", "Bash", "Write"])
            .run("build it");
        assert!(!sandbox.project().join("lock.py").exists());
        assert!(sandbox.project().join("built.py").exists(), "the developer is free");
        let expected =
            [violation(OUTSIDE, "general-purpose", true), violation(OUTSIDE, "code-reviewer", true)];
        assert_eq!(violations(&sandbox, &session), expected);
        assert_eq!(of_stages(&sandbox, &session, "result")[..2], ["pass", "pass"]);
        assert!(!run.result_text().is_empty());
    }
}

#[test]
fn code_that_the_main_agent_changes_after_the_review_is_reviewed_again() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &["DEV", "REVIEW", "TEST"]);
        let turns = vec![
            write(&sandbox, "lock.py"),
            delegate("ot:retrospective", "look back"),
            delegate("ot:code-reviewer", "review it"),
            delegate("ot:tester", "test it"),
            text("done"),
        ];
        let run = run(&sandbox, &session, turns);
        assert_eq!(run.requests(Actor::Sub("retrospective")).len(), 0, "the review comes first");
        assert_eq!(run.requests(Actor::Sub("code-reviewer")).len(), 1);
        assert_eq!(of_stages(&sandbox, &session, "result")[..3], ["pass"; 3]);
        let events = sandbox.timeline(&session);
        let noticed = events.iter().find(|event| event["reason"] == "gate-bypassed").unwrap();
        assert_eq!(noticed["reopened"], json!(["REVIEW", "TEST"]));
    }
}

/// The way around the gate that a project's own safety relies on.
#[test]
fn skipping_git_hooks_is_noticed_or_denied() {
    for client in Client::all() {
        for (level, denied) in [("notice", false), ("strict", true)] {
            let sandbox = Sandbox::new(&client);
            let session = begin_guarded(&sandbox, level);
            let commit = "git init -q . && git -c user.name=a -c user.email=a@b commit --no-verify --allow-empty -qm x";
            let run = run(&sandbox, &session, vec![bash(commit), text("done")]);
            assert_eq!(violations(&sandbox, &session), [violation("git-hooks-skipped", "main", denied)]);
            assert_eq!(sandbox.project().join(".git").exists(), !denied);
            assert!(run.requests(Actor::Main).nth(1).new_text().contains("AskUserQuestion"));
        }
    }
}

#[test]
fn overtones_own_files_are_protected_at_the_strict_level() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin_guarded(&sandbox, "strict");
        let folder = sandbox.state().join("sessions").join(&session);
        let turns = vec![bash(&format!("rm -rf {}", folder.display())), text("done")];
        run(&sandbox, &session, turns);
        assert!(fs::metadata(folder.join("workflow.json")).is_ok());
        assert_eq!(violations(&sandbox, &session), [violation("own-files-changed", "main", true)]);
    }
}

#[test]
fn the_clients_own_workflow_tool_is_denied_at_the_strict_level() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin_guarded(&sandbox, "strict");
        let input = json!({"script": "export const meta = {name: 'x', description: 'x'}\nreturn 1"});
        let run = run(&sandbox, &session, vec![tool("Workflow", input), text("done")]);
        // Only newer clients have this tool.
        if run.requests(Actor::Main).first().tools().contains(&"Workflow") {
            assert_eq!(violations(&sandbox, &session), [violation("native-workflow", "main", true)]);
        }
    }
}

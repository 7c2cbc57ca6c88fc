//! Copies of a session and work trees: whose workflow it is, and where its documents are.

use overtone_testkit::{Actor, Client, Sandbox, text, tool};
use serde_json::json;

use super::recordings::make_repository;
use super::{usual_mode, verdict, wait_for_completion};
use crate::delegate;
use crate::steps::begin;

/// A fork has an id of its own from the start in newer clients; the older one starts it under the original's.
#[test]
fn a_fork_leaves_the_workflow_to_the_original() {
    for client in Client::all().iter().filter(|client| client.has_auto_mode()) {
        let sandbox = Sandbox::new(client);
        let session = begin(&sandbox, "quick", &["DEV"]);
        let first = sandbox.script(|s| s.main_with(|_| text("I do nothing"))).session(&session);
        let first = first.permission_mode(usual_mode(client)).terminal();
        first.type_line("hello");
        first.wait_for_screen("I do nothing");
        first.wait_until_idle();
        first.exit();
        let before = (sandbox.workflow(&session), sandbox.timeline(&session).len());

        let fork = sandbox.script(|s| s.main([text("I am a copy")])).resume(&session).arg("--fork-session");
        let fork = fork.permission_mode(usual_mode(client)).terminal();
        fork.type_line("where are we?");
        fork.wait_for_screen("I am a copy");
        fork.wait_until_idle();
        let run = fork.exit();
        let main = run.requests(Actor::Main);
        assert_eq!(main.len(), 1, "a copy is not sent on");
        assert!(main.first().text_since_answer().contains("副本"), "{}", main.first().text_since_answer());
        assert_eq!((sandbox.workflow(&session), sandbox.timeline(&session).len()), before);
    }
}

/// Agents in a work tree of their own are led to the project's documents, not to the copy's.
#[test]
fn an_agent_in_a_work_tree_gets_the_absolute_path_of_the_specs() {
    for client in Client::all().iter().filter(|client| client.has_auto_mode()) {
        let sandbox = Sandbox::new(client);
        make_repository(&sandbox);
        let session = begin(&sandbox, "single", &[]);
        let mut workflow = sandbox.workflow(&session);
        workflow["featureName"] = json!("add-lock");
        sandbox.put_state(&session, "workflow.json", &workflow);
        sandbox.put_file("specs/features/in-progress/add-lock/tasks.md", "## Tasks\n- [x] one\n");
        let isolated = json!({
            "subagent_type": "ot:developer", "description": "the job", "prompt": "build it", "isolation": "worktree",
        });
        let terminal = sandbox
            .script(|s| {
                s.main([tool("Agent", isolated)])
                    .main_with(|_| text("I wait"))
                    .sub("developer", [verdict("it is built", "PASS")])
            })
            .session(&session)
            .permission_mode(usual_mode(client))
            .terminal();
        terminal.type_line("build a lock");
        wait_for_completion(&terminal, &session);
        let run = terminal.exit();
        let received = run.requests(Actor::Sub("developer")).first().new_text();
        let specs = sandbox.project().join("specs/features/in-progress/add-lock/");
        assert!(received.contains(&*specs.to_string_lossy()), "{received}");
        assert!(!sandbox.project().join("specs/features/in-progress/add-lock").exists(), "it was archived");
    }
}

/// After the client has moved to a work tree, the workflow's documents stay in the project.
#[test]
fn a_session_in_a_work_tree_keeps_its_documents_in_the_project() {
    for client in Client::all().iter().filter(|client| client.has_auto_mode()) {
        let sandbox = Sandbox::new(client);
        make_repository(&sandbox);
        let session = begin(&sandbox, "single", &[]);
        let mut workflow = sandbox.workflow(&session);
        workflow["featureName"] = json!("add-lock");
        sandbox.put_state(&session, "workflow.json", &workflow);
        sandbox.put_file("specs/features/in-progress/add-lock/tasks.md", "## Tasks\n- [x] one\n");
        let terminal = sandbox
            .script(|s| {
                s.main([tool("EnterWorktree", json!({"name": "wt1"})), delegate("ot:developer", "build it")])
                    .main_with(|_| text("I wait"))
                    .sub("developer", [verdict("it is built", "PASS")])
            })
            .session(&session)
            .permission_mode(usual_mode(client))
            .terminal();
        terminal.type_line("build a lock in a work tree");
        wait_for_completion(&terminal, &session);
        let run = terminal.exit();
        let received = run.requests(Actor::Sub("developer")).first().new_text();
        let specs = sandbox.project().join("specs/features/in-progress/add-lock/");
        assert!(received.contains(&*specs.to_string_lossy()), "{received}");
        assert!(!sandbox.project().join("specs/features/in-progress/add-lock").exists(), "it was archived");
    }
}

//! A session that ended in any way continues where it was.

use overtone_testkit::{Actor, Client, Exit, Run, Sandbox, text, tool};
use serde_json::json;

use crate::delegate;

const HEADER: &str = "[Overtone 狀態恢復（session 續接）]";

fn resume(sandbox: &Sandbox, session: &str) -> Run {
    sandbox.script(|s| s).resume(session).run("go on")
}

/// A session of the workflow in which one agent has done its stage.
fn after_stage(sandbox: &Sandbox, workflow: &str, agent: &str) -> String {
    let session = sandbox.new_session();
    sandbox.put_workflow(&session, workflow);
    let turns = [delegate(agent, "the job"), text("done")];
    sandbox.script(|s| s.main(turns)).session(&session).run("build it");
    session
}

#[test]
fn a_resumed_session_receives_its_next_step() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = after_stage(&sandbox, "standard", "ot:planner");
        assert_eq!(sandbox.loop_state(&session)["stopped"], true, "the end of a session stops its loop");
        let run = resume(&sandbox, &session);
        let received = run.requests(Actor::Main).first().text_since_answer();
        for part in [HEADER, "下一步請委派 ARCHITECT（ot:architect）。", "01-PLAN-planner.md"] {
            assert!(received.contains(part), "no {part:?} in {received}");
        }
        let sent_on = run.requests(Actor::Main).nth(1).new_text();
        assert!(sent_on.contains("[Overtone Loop ") && sent_on.contains("ARCHITECT"), "{sent_on}");
        assert_eq!(
            sandbox.timeline_types(&session).iter().filter(|kind| *kind == "session:start").count(),
            2
        );
    }
}

#[test]
fn a_killed_client_leaves_no_agent_behind() {
    // Only its own client: the one that was given this session's id.
    let suicide = r#"grep -qa -- "$CLAUDE_CODE_SESSION_ID" /proc/$PPID/cmdline && kill -9 $PPID"#;
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = sandbox.new_session();
        sandbox.put_workflow(&session, "single");
        let killed = sandbox
            .script(|s| {
                s.main([delegate("ot:developer", "the job")])
                    .sub("developer", [tool("Bash", json!({"command": suicide}))])
            })
            .session(&session)
            .allow(["Agent", "Bash"])
            .run("build it");
        assert_eq!(killed.exit, Exit::Signal(9));
        let before = sandbox.workflow(&session);
        assert_eq!(
            (&before["stages"]["DEV"]["status"], &before["activeAgents"]["developer"]["stage"]),
            (&json!("active"), &json!("DEV"))
        );

        let run = resume(&sandbox, &session);
        let received = run.requests(Actor::Main).first().text();
        assert!(
            received.contains(HEADER)
                && received.contains("下一步請委派 DEVELOPER")
                && !received.contains("活躍 Agents"),
            "{received}"
        );
        let after = sandbox.workflow(&session);
        assert_eq!(
            (&after["stages"]["DEV"]["status"], &after["activeAgents"]),
            (&json!("pending"), &json!({}))
        );
    }
}

#[test]
fn a_finished_workflow_is_not_announced_again() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = after_stage(&sandbox, "single", "ot:developer");
        let run = resume(&sandbox, &session);
        assert_eq!((run.result_text(), run.requests(Actor::Main).len()), ("ok", 1));
        let received = run.requests(Actor::Main).first().text_since_answer();
        assert!(!received.contains(HEADER) && !received.contains("進行中"), "{received}");
        assert!(!run.hook_events().iter().any(|hook| hook["stdout"].to_string().contains('🎉')));
        let ends =
            sandbox.timeline_types(&session).iter().filter(|kind| *kind == "workflow:complete").count();
        assert_eq!(ends, 1);
    }
}

//! What sub-agents are given, and what is kept of their work.

use overtone_testkit::{Actor, Client, Sandbox, text};
use serde_json::json;

use crate::delegate;

#[test]
fn a_delegation_begins_with_the_workflow_context() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = sandbox.new_session();
        sandbox.put_workflow(&session, "single");
        let run = sandbox
            .script(|s| {
                s.main([delegate("ot:developer", "mend the door"), text("done")])
                    .sub("developer", [text("mended <!-- VERDICT: {\"result\":\"PASS\"} -->")])
            })
            .session(&session)
            .run("build it");
        let texts = run.requests(Actor::Sub("developer")).first().user_texts();
        let prompt = texts.iter().find(|text| text.starts_with("[Overtone Workflow Context]"));
        assert!(prompt.is_some_and(|text| text.ends_with("\n\n---\n\nmend the door")), "{texts:?}");
        assert!(run.requests(Actor::Main).new_text().contains("mended"));
        assert_eq!(sandbox.workflow(&session)["stages"]["DEV"]["result"], "pass");
    }
}

#[test]
fn a_reviewer_cannot_write() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = sandbox.new_session();
        sandbox.put_workflow(&session, "review-only");
        let turns = [delegate("ot:code-reviewer", "judge it"), text("done")];
        let run = sandbox.script(|s| s.main(turns)).session(&session).run("review it");
        let tools = run.requests(Actor::Sub("code-reviewer")).first().tools();
        assert!(tools.contains(&"Read"), "{tools:?}");
        for tool in ["Write", "Edit", "NotebookEdit", "Agent", "Task"] {
            assert!(!tools.contains(&tool), "{tools:?}");
        }
        let others = run.requests(Actor::Main).first().tools();
        assert!(others.contains(&"Write") && others.contains(&"Agent"), "{others:?}");
        assert_eq!(sandbox.workflow(&session)["stages"]["REVIEW"]["status"], json!("completed"));
    }
}

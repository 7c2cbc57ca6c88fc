//! Overtone restores the state that a compaction drops.

use overtone_testkit::{Actor, Client, Run, Sandbox, text, tool};
use serde_json::json;

use crate::delegate;

const HEADER: &str = "[Overtone 狀態恢復（compact 後）]";

/// What must be known again: the next step, the reports so far and the open tasks.
const RECOVERED: [&str; 4] = [HEADER, "ot:architect", "01-PLAN-planner.md", "- [ ] write the migration"];

/// The summariser gets the hook's answer as it is, in JSON; only the text for the model has line breaks.
const AS_CONTEXT: &str = "[Overtone 狀態恢復（compact 後）]\n工作流：standard\n";

/// A session whose first stage is done, with enough said in it to be compacted.
fn planned(sandbox: &Sandbox) -> String {
    let session = sandbox.new_session();
    sandbox.put_workflow(&session, "standard");
    let tasks = "## Tasks\n\n- [x] choose a table\n- [ ] write the migration\n";
    sandbox.begin_feature("add-login", tasks);
    let turns = [delegate("ot:planner", "plan it"), text("planned")];
    sandbox
        .script(|s| s.main(turns).sub("planner", [text("the plan stands")]))
        .session(&session)
        .run("add a login");
    session
}

fn compact(sandbox: &Sandbox, session: &str) -> Run {
    let summary = [text("<summary>a login is being built</summary>")];
    sandbox.script(|s| s.compaction(summary)).resume(session).run("/compact")
}

/// A run in the middle of which the client compacts by itself.
fn overflow(sandbox: &Sandbox, session: &str) -> Run {
    let full = tool("Bash", json!({"command": "echo hi"})).usage(195_000);
    let summary = [text("<summary>a login is being built</summary>")];
    sandbox
        .script(|s| s.main([full, text("done")]).compaction(summary))
        .resume(session)
        .env("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "200000")
        .run("go on")
}

#[track_caller]
fn assert_recovered(received: &str) {
    for part in RECOVERED {
        assert!(received.contains(part), "no {part:?} in {received}");
    }
}

#[track_caller]
fn assert_recorded(sandbox: &Sandbox, session: &str, trigger: &str) {
    let events = sandbox.timeline(session);
    let compactions: Vec<_> = events.iter().filter(|event| event["type"] == "session:compact").collect();
    assert_eq!(compactions.len(), 1, "{compactions:?}");
    assert_eq!(
        (&compactions[0]["trigger"], &compactions[0]["currentStage"]),
        (&json!(trigger), &json!("ARCH"))
    );
    let count = sandbox.document(session, "compact-count.json");
    assert_eq!((&count[trigger], &count["count"]), (&json!(1), &json!(1)), "{count}");
}

#[test]
fn a_compaction_by_hand_keeps_the_workflow_in_mind() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = planned(&sandbox);
        let run = compact(&sandbox, &session);
        assert_recovered(&run.requests(Actor::Compaction).first().new_text());
        assert_recorded(&sandbox, &session, "manual");
        let later = sandbox.script(|s| s).resume(&session).run("go on");
        let received = later.requests(Actor::Main).first().text();
        assert!(received.contains("a login is being built") && received.contains(AS_CONTEXT), "{received}");
        assert_recovered(&received);
    }
}

#[test]
fn a_compaction_by_itself_keeps_the_workflow_in_mind() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = planned(&sandbox);
        let run = overflow(&sandbox, &session);
        let summariser = run.requests(Actor::Compaction).first();
        assert_recovered(&summariser.new_text());
        let next = run.requests(Actor::Main).into_iter().find(|request| request.order() > summariser.order());
        let received = next.unwrap().new_text();
        assert!(received.contains(AS_CONTEXT), "{received}");
        assert_recovered(&received);
        assert_recorded(&sandbox, &session, "auto");
    }
}

#[test]
fn a_session_without_a_workflow_is_compacted_like_any_other() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = sandbox.run("add a login").session_id.clone();
        sandbox.script(|s| s).resume(&session).run("and a logout");
        let run = compact(&sandbox, &session);
        assert!(!run.requests(Actor::Compaction).first().text().contains(HEADER));
        let later = sandbox.script(|s| s.main([text("done")])).resume(&session).run("go on");
        let received = later.requests(Actor::Main).first().text();
        assert!(received.contains("a login is being built") && !received.contains(HEADER), "{received}");
        assert_eq!(later.result_text(), "done");
        assert_eq!(sandbox.document(&session, "compact-count.json")["manual"], 1);
        assert!(sandbox.workflow(&session).is_null());
    }
}

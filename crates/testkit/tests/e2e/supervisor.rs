//! The supervisor in the real client: work is sent back with the reviewer's words, and let go when it agrees.

use std::env;
use std::fs;

use overtone_testkit::{Actor, Client, Invocation, Sandbox, Script, Turn, error, text, tool};
use serde_json::json;

/// What the reviewer's prompt is known by.
const MARKER: &str = "JUDGE THE WORK";

/// A person with the supervisor on, and their own words for the reviewer.
fn supervised(client: &Client) -> Sandbox {
    let sandbox = Sandbox::new(client);
    let claude = sandbox.home().join(".claude");
    fs::create_dir_all(&claude).unwrap();
    fs::write(claude.join("SUPERVISOR.md"), MARKER).unwrap();
    let command = format!("'{}' ccc supervisor-hook", env::var("OVERTONE_BIN").unwrap());
    let hook =
        json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command, "timeout": 660}]}]}});
    fs::write(claude.join("settings.json"), hook.to_string()).unwrap();
    sandbox
}

/// A run in which the hook finds the client.
fn start(sandbox: &Sandbox, write: impl FnOnce(Script) -> Script) -> Invocation<'_> {
    let folder = sandbox.client().program().parent().unwrap();
    let path = env::join_paths([folder, "/usr/bin".as_ref(), "/bin".as_ref()]).unwrap();
    sandbox.script(write).env("PATH", path)
}

fn verdict(completed: bool, feedback: &str) -> Turn {
    tool("StructuredOutput", json!({"completed": completed, "feedback": feedback}))
}

fn rounds(sandbox: &Sandbox, session: &str) -> serde_json::Value {
    let file = sandbox.home().join(format!(".claude/ccc/supervisor-{session}.json"));
    serde_json::from_slice::<serde_json::Value>(&fs::read(file).unwrap()).unwrap()["count"].clone()
}

#[test]
fn incomplete_work_is_sent_back_and_then_let_go() {
    for client in Client::all() {
        let sandbox = supervised(&client);
        let run = start(&sandbox, |s| {
            s.main([text("done"), text("now it is")])
                .reviewer(MARKER, [verdict(false, "the door still creaks"), text("."), verdict(true, "good")])
        })
        .run("mend the door");
        let told = run.requests(Actor::Main).last().new_text();
        assert!(told.contains("the door still creaks"), "{told}");
        assert_eq!(run.requests(Actor::Main).len(), 2);
        assert_eq!(run.result_text(), "now it is");
        assert_eq!(rounds(&sandbox, &run.session_id), json!(2));
        // The reviewer sees the work itself.
        assert!(run.requests(Actor::Reviewer).first().text().contains("mend the door"));
    }
}

#[test]
fn a_review_that_cannot_be_had_lets_go() {
    for client in Client::all() {
        let sandbox = supervised(&client);
        let run = start(&sandbox, |s| {
            s.main([text("done")]).reviewer(MARKER, [error(401, "authentication_error", "no")])
        })
        .run("mend the door");
        assert_eq!(run.requests(Actor::Main).len(), 1, "nobody is sent round in circles");
        assert_eq!(run.result_text(), "done");
        assert_eq!(rounds(&sandbox, &run.session_id), json!(1));
    }
}

#[test]
fn prose_is_feedback() {
    for client in Client::all() {
        let sandbox = supervised(&client);
        let prose = || text("The hinge was never oiled.");
        let run = start(&sandbox, |s| {
            s.main([text("done"), text("oiled")]).reviewer(MARKER, [prose(), prose(), verdict(true, "good")])
        })
        .run("mend the door");
        assert!(run.requests(Actor::Main).nth(1).new_text().contains("The hinge was never oiled."));
    }
}

#[test]
fn the_loop_goes_first_and_there_is_one_decision() {
    for client in Client::all() {
        let sandbox = supervised(&client);
        let session = sandbox.new_session();
        sandbox.put_workflow(&session, "single");
        let delegate = crate::delegate("ot:developer", "mend it");
        let run = start(&sandbox, |s| {
            s.main([text("done?"), delegate, text("all done")])
                .sub("developer", [text("mended <!-- VERDICT: {\"result\":\"PASS\"} -->")])
                .reviewer(MARKER, [verdict(true, "good")])
        })
        .session(&session)
        .run("mend the door");
        // The first stop was the loop's alone: the reviewer was asked once, after the last stage.
        assert_eq!(rounds(&sandbox, &session), json!(1));
        assert_eq!(sandbox.workflow(&session)["ending"], "completed");
        assert_eq!(run.result_text(), "all done");
    }
}

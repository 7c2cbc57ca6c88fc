//! What the main agent receives when a user types something.

use overtone_testkit::{Actor, Client, Run, Sandbox};

use crate::steps::begin;

/// What our hook adds to the prompt.
fn pointer(run: &Run) -> String {
    let received = run.requests(Actor::Main).first().new_text();
    received.lines().find(|line| line.contains("UserPromptSubmit hook")).unwrap_or_default().to_owned()
}

#[test]
fn the_first_request_points_to_auto() {
    for client in Client::all() {
        let run = Sandbox::new(&client).run("build a shop");
        assert!(pointer(&run).contains("/ot:auto"), "{}", pointer(&run));
        assert!(run.requests(Actor::Main).first().new_text().contains("build a shop"));
        assert_eq!(run.result_text(), "ok");
    }
}

#[test]
fn a_running_workflow_is_told_with_its_next_step() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "standard", &["PLAN"]);
        let run = sandbox.script(|s| s).session(&session).run("what now?");
        for words in ["工作流 standard 進行中", "下一步請委派 ARCHITECT（ot:architect）。"] {
            assert!(pointer(&run).contains(words), "{}", pointer(&run));
        }
    }
}

#[test]
fn a_named_workflow_is_taken_and_an_unknown_one_is_told() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let named = sandbox.run("fix the door [workflow:quick]");
        assert!(pointer(&named).contains("/ot:quick"), "{}", pointer(&named));
        let unknown = sandbox.run("fix the door [workflow:constructor]");
        assert!(pointer(&unknown).contains("沒有名為 constructor 的工作流"), "{}", pointer(&unknown));
    }
}

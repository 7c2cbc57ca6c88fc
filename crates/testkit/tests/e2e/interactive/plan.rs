//! Plan mode: no stage is started, and no next step is sent.

use overtone_testkit::{Actor, Client, Sandbox, text, tool};
use serde_json::json;

use super::{LOOP, NEXT_STEP, assert_calm};
use crate::delegate;
use crate::steps::{begin, of_stages};

#[test]
fn plan_mode_starts_no_stage_and_sends_no_next_step() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &[]);
        let terminal = sandbox
            .script(|s| s.main([delegate("ot:developer", "build it"), text("here is the plan")]))
            .session(&session)
            .permission_mode("plan")
            .terminal();
        terminal.type_line("build a lock");
        terminal.wait_for_screen("here is the plan");
        terminal.wait_until_idle();
        let run = terminal.exit();
        assert_calm(&run.stdout);
        let main = run.requests(Actor::Main);
        assert_eq!((main.len(), main.times_received(LOOP)), (2, 0));
        let refusal = main.nth(1).new_text();
        assert!(refusal.contains("規劃模式") && !refusal.contains(NEXT_STEP), "{refusal}");
        assert!(run.requests(Actor::Sub("developer")).is_empty());
        assert_eq!(of_stages(&sandbox, &session, "status"), ["pending"; 5]);
        assert_eq!(sandbox.event_count(&session, "loop:advance"), 0);
    }
}

/// A command that the user types in plan mode brings its skill, but what the skill would start waits for the end of it.
#[test]
fn plan_mode_writes_nothing() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = sandbox.new_session();
        let run = |command: &str| tool("Bash", json!({"command": command, "description": "start"}));
        let terminal = sandbox
            .script(|s| {
                s.main([
                    run("overtone init quick --feature lock-box"),
                    run("overtone specs new lock-box"),
                    text("here is the plan"),
                ])
            })
            .session(&session)
            .permission_mode("plan")
            .terminal();
        terminal.type_line("/ot:auto build a lock");
        terminal.wait_for_screen("here is the plan");
        terminal.wait_until_idle();
        let run = terminal.exit();
        assert_calm(&run.stdout);
        assert_eq!(run.requests(Actor::Main).len(), 3);
        assert!(!sandbox.project().join("specs").exists(), "a plan changes nothing in the project");
        assert!(sandbox.workflow(&session).is_null(), "{}", sandbox.workflow(&session));
    }
}

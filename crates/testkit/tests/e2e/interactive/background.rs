//! Agents of a terminal run in the background: the next stage waits for them, and the main agent is not hurried.

use overtone_testkit::{Actor, Client, Gate, Sandbox, text};
use serde_json::json;

use super::{LOOP, assert_calm, following_steps, verdict, wait_for_completion};
use crate::delegate;
use crate::steps::begin;

#[test]
fn the_next_stage_waits_for_a_running_agent() {
    for client in Client::all().iter().filter(|client| client.has_auto_mode()) {
        for mode in ["auto", "default"] {
            println!("mode {mode}");
            let sandbox = Sandbox::new(client);
            let session = begin(&sandbox, "quick", &[]);
            let gate = Gate::closed();
            let (develop, review) =
                (delegate("ot:developer", "build it"), delegate("ot:code-reviewer", "judge it"));
            let terminal = sandbox
                .script(|s| {
                    let s = s.main([develop, review, text("I wait")]);
                    following_steps(s.sub("developer", [verdict("it is built", "PASS").behind(&gate)]))
                })
                .session(&session)
                .permission_mode(mode)
                .terminal();
            terminal.type_line("build a lock");
            terminal.wait_for_requests(Actor::Main, 3);
            terminal.wait_until_idle();
            assert_eq!(terminal.request_count(Actor::Sub("code-reviewer")), 0, "DEV was not finished");
            let stages = sandbox.workflow(&session)["stages"].clone();
            assert_eq!(
                (&stages["DEV"]["status"], &stages["REVIEW"]["status"]),
                (&json!("active"), &json!("pending"))
            );
            assert_eq!(
                terminal.times_received(Actor::Main, LOOP),
                0,
                "nobody is hurried while an agent works"
            );
            gate.open();
            wait_for_completion(&terminal, &session);
            let run = terminal.exit();
            let main = run.requests(Actor::Main);
            assert!(main.nth(2).new_text().contains("DEV"), "the refusal names what is missing");
            assert!(run.stdout.contains("Overtone：DEV 必須先完成"), "{}", run.stdout);
            assert_calm(&run.stdout);
            assert_eq!(sandbox.event_count(&session, "agent:error"), 0);
        }
    }
}

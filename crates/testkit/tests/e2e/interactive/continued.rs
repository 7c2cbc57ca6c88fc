//! An agent that goes on after its report makes another attempt of its stage.

use overtone_testkit::{Actor, Client, Gate, Request, Sandbox, Turn, text, tool};
use serde_json::json;

use super::{obedient, obey, verdict, wait_for_completion};
use crate::delegate;
use crate::steps::{begin, of_stages};

/// The id of the agent whose report or end the main agent is told of.
fn reporter(told: &str) -> Option<&str> {
    let by_message = || told.split_once("<agent-message from=\"")?.1.split('"').next();
    let by_notification = || told.split_once("<task-id>")?.1.split('<').next();
    by_message().or_else(by_notification)
}

/// Sends the failed tester on, and otherwise does what it is asked for.
fn second_chance(request: &Request) -> Turn {
    let told = request.new_text();
    match reporter(&told) {
        Some(id) if told.contains("2 failed") => tool(
            "SendMessage",
            json!({"to": id, "summary": "again", "message": "the port is free now, test again"}),
        ),
        _ => obey(request),
    }
}

#[test]
fn a_tester_that_goes_on_turns_its_stage_green() {
    for client in Client::all().iter().filter(|client| client.has_auto_mode()) {
        for mode in ["auto", "default"] {
            println!("mode {mode}");
            let sandbox = Sandbox::new(client);
            let session = begin(&sandbox, "quick", &["DEV", "REVIEW"]);
            let gate = Gate::closed();
            let failure = verdict("2 failed: the port is taken", "FAIL").behind(&gate);
            let reports = [failure, verdict("12 passed", "PASS")];
            let terminal = sandbox
                .script(|s| {
                    let s = s.main([delegate("ot:tester", "test it"), text("I wait")]);
                    obedient(s.sub("tester", reports)).main_with(second_chance)
                })
                .session(&session)
                .permission_mode(mode)
                .terminal();
            terminal.type_line("test the lock");
            terminal.wait_for_requests(Actor::Main, 2);
            terminal.wait_until_idle();
            gate.open();
            wait_for_completion(&terminal, &session);
            let run = terminal.exit();
            assert!(run.requests(Actor::Sub("developer")).is_empty(), "nothing was repaired");
            assert_eq!(of_stages(&sandbox, &session, "result"), ["pass"; 5]);
            let workflow = sandbox.workflow(&session);
            assert_eq!(
                (&workflow["stages"]["TEST"]["attempts"], &workflow["failCount"]),
                (&json!(2), &json!(1))
            );
            let continued = sandbox.timeline(&session);
            let continued = continued.iter().filter(|event| event["continues"].is_string()).count();
            assert_eq!(continued, 1);
        }
    }
}

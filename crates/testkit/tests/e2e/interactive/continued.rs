//! An agent that continues after its report makes another attempt of its stage.

use overtone_testkit::{Actor, Client, Gate, Request, Sandbox, Turn, text, tool, tools};
use serde_json::{Value, json};

use super::{agents_to_start, follow_step, following_steps, verdict, wait_for_completion};
use crate::delegate;
use crate::steps::{begin, of_stages};

/// The id of the agent whose report or end the main agent is notified of.
fn reporter(received: &str) -> Option<&str> {
    let by_message = || received.split_once("<agent-message from=\"")?.1.split('"').next();
    let by_notification = || received.split_once("<task-id>")?.1.split('<').next();
    by_message().or_else(by_notification)
}

/// Sends the failed tester on, and otherwise does what it is asked for.
fn second_chance(request: &Request) -> Turn {
    let received = request.new_text();
    match reporter(&received) {
        Some(id) if received.contains("2 failed") => tool(
            "SendMessage",
            json!({"to": id, "summary": "again", "message": "the port is free now, test again"}),
        ),
        _ => follow_step(request),
    }
}

#[test]
fn a_tester_that_continues_can_pass_its_stage() {
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
                    following_steps(s.sub("tester", reports)).main_with(second_chance)
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

/// The id of the agent whose report these words are in.
fn reporter_of(received: &str, words: &str) -> Option<String> {
    let before = received.split_once(words)?.0;
    let by_message =
        before.rsplit_once("<agent-message from=\"").and_then(|(_, rest)| rest.split('"').next());
    let by_notification = before.rsplit_once("<task-id>").and_then(|(_, rest)| rest.split('<').next());
    by_message.or(by_notification).map(str::to_owned)
}

/// Has the failure repaired, and then sends the same tester on instead of a new one: alone or with the reviewer.
fn same_tester(is_alone: bool) -> impl FnMut(&Request) -> Turn + Send {
    let mut tester = None;
    move |request| {
        let received = request.new_text();
        tester = tester.take().or_else(|| reporter_of(&received, "2 failed"));
        let (Some(id), agents) = (&tester, agents_to_start(&received)) else { return follow_step(request) };
        if !agents.iter().any(|agent| agent == "ot:tester") {
            return follow_step(request);
        }
        let message = json!({"to": id, "summary": "again", "message": "it is repaired: test again"});
        let others = agents.iter().filter(|agent| **agent != "ot:tester" && !is_alone);
        let others = others.map(|agent| delegate(agent, "judge it again"));
        tools(others.chain([tool("SendMessage", message)]))
    }
}

/// A `quick` workflow whose test fails, is repaired, and passes with the same tester.
fn repair_with_same_tester(sandbox: &Sandbox, mode: &str, is_alone: bool) -> Vec<Value> {
    let session = begin(sandbox, "quick", &[]);
    let reports = [verdict("2 failed: the lock sticks", "FAIL"), verdict("12 passed", "PASS")];
    let terminal = sandbox
        .script(|s| {
            let s = s.main([delegate("ot:developer", "build it")]);
            following_steps(s.sub("tester", reports)).main_with(same_tester(is_alone))
        })
        .session(&session)
        .permission_mode(mode)
        .terminal();
    terminal.type_line("build a lock");
    wait_for_completion(&terminal, &session);
    terminal.exit();
    assert_eq!(of_stages(sandbox, &session, "result"), ["pass"; 5]);
    sandbox.timeline(&session)
}

fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

fn continued(events: &[Value]) -> usize {
    events.iter().filter(|event| event["continues"].is_string()).count()
}

#[test]
fn a_tester_that_continues_after_a_repair_can_pass_its_stage() {
    for client in Client::all().iter().filter(|client| client.has_auto_mode()) {
        for mode in ["auto", "default"] {
            println!("mode {mode}");
            let events = repair_with_same_tester(&Sandbox::new(client), mode, true);
            let lost = of_kind(&events, "agent:error");
            assert!(lost.is_empty(), "{lost:?}");
            assert_eq!(continued(&events), 1);
        }
    }
}

/// Auto mode refuses a message beside a call that a hook has changed, after the hook has let it pass. The main agent
/// sends it again.
#[test]
fn a_message_that_the_client_refuses_can_be_sent_again() {
    for client in Client::all().iter().filter(|client| client.has_auto_mode()) {
        let events = repair_with_same_tester(&Sandbox::new(client), "auto", false);
        assert_eq!((continued(&events), of_kind(&events, "agent:error").len()), (2, 1));
        let tests = of_kind(&events, "agent:complete").into_iter().filter(|event| event["stage"] == "TEST");
        let slots: Vec<_> = tests.map(|event| &event["slot"]).collect();
        assert_eq!(slots, ["tester"; 2], "the gate knew of both");
    }
}

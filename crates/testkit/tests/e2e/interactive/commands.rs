//! `/ot:status` and `/ot:stop` do what the user asks for, and nothing more.

use overtone_testkit::{Actor, Client, Sandbox, text, tool};
use serde_json::json;

use super::{LOOP, NEXT_STEP, following_steps, usual_mode};
use crate::steps::begin;

/// A look at a loop that has paused must not set it going again.
#[test]
fn the_status_command_does_not_restart_a_paused_loop() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &["DEV"]);
        let terminal = sandbox
            .script(|s| s.main_with(|_| text("I do nothing")))
            .session(&session)
            .permission_mode(usual_mode(&client))
            .terminal();
        terminal.type_line("go on");
        terminal.wait_for_screen("I do nothing");
        terminal.wait_until_idle();
        let paused = sandbox.loop_state(&session);
        let (requests, advances) =
            (terminal.request_count(Actor::Main), sandbox.event_count(&session, "loop:advance"));
        assert!(advances > 0, "the loop has paused after some rounds: {paused}");

        terminal.type_line("/ot:status");
        terminal.wait_for_requests(Actor::Main, requests + 1);
        terminal.wait_until_idle();
        assert_eq!(sandbox.loop_state(&session)["paused"], "no-progress");
        let run = terminal.exit();
        assert_eq!(run.requests(Actor::Main).len(), requests + 1);
        assert_eq!(sandbox.event_count(&session, "loop:advance"), advances);
    }
}

#[test]
fn after_a_stop_the_model_gets_no_next_step() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let (session, mode) = (begin(&sandbox, "quick", &["DEV"]), usual_mode(&client));
        let first = sandbox
            .script(|s| following_steps(s.main([text("it is stopped"), text("good morning")])))
            .session(&session)
            .permission_mode(mode)
            .terminal();
        first.type_line("/ot:stop");
        first.wait_for_screen("it is stopped");
        first.wait_until_idle();
        first.type_line("hello");
        first.wait_for_screen("good morning");
        first.wait_until_idle();
        let run = first.exit();
        assert_eq!(run.requests(Actor::Main).len(), 2);
        let received = run.requests(Actor::Main).nth(1).text_since_answer();
        assert!(
            !received.contains(LOOP) && !received.contains(NEXT_STEP) && !received.contains("MUST"),
            "{received}"
        );

        let again = sandbox.script(|s| following_steps(s.main([text("good evening")]))).resume(&session);
        let again = again.permission_mode(mode).terminal();
        again.type_line("what now?");
        again.wait_for_screen("good evening");
        again.wait_until_idle();
        let run = again.exit();
        assert_eq!(run.requests(Actor::Main).len(), 1);
        let received = run.requests(Actor::Main).first().text_since_answer();
        assert!(
            !received.contains(LOOP) && !received.contains(NEXT_STEP) && !received.contains("MUST"),
            "{received}"
        );
        for agent in ["code-reviewer", "tester"] {
            assert!(run.requests(Actor::Sub(agent)).is_empty(), "{agent}");
        }
    }
}

/// What is the user's to decide leads to the client's question in every mode, and the timeline says who decided.
#[test]
fn a_command_for_the_user_asks_them_in_every_mode() {
    for client in Client::all() {
        for mode in client.permission_modes().iter().filter(|mode| **mode != "plan") {
            println!("mode {mode}");
            let sandbox = Sandbox::new(&client);
            let session = begin(&sandbox, "quick", &["DEV"]);
            let resume = tool("Bash", json!({"command": "overtone resume", "description": "go on"}));
            let terminal = sandbox
                .script(|s| s.main([text("it is stopped"), resume, text("as you decided")]))
                .session(&session)
                .permission_mode(mode)
                .allow([])
                .terminal();
            terminal.type_line("/ot:stop");
            terminal.wait_for_screen("it is stopped");
            terminal.wait_until_idle();
            terminal.type_line("what about the rest?");
            terminal.wait_for_screen("由你決定");
            assert_eq!(sandbox.loop_state(&session)["stopped"], true, "nothing happens before the answer");
            terminal.accept("1. Yes");
            terminal.wait_for_events("loop:start", 1);
            terminal.kill();
            let by = |kind: &str, reason: &str| {
                let events = sandbox.timeline(&session);
                let event = events.iter().find(|event| event["type"] == kind && event["reason"] == reason);
                event.map(|event| event["by"].clone())
            };
            assert_eq!(by("system:warning", "loop-stopped"), Some(json!("user")));
            assert_eq!(by("loop:start", "resumed"), Some(json!("user")));
        }
    }
}

/// Ways to run a command that the permission hook does not see.
fn around_the_hook(sandbox: &Sandbox) -> [String; 3] {
    let program = sandbox.plugin().join("bin/overtone");
    ["sh -c 'overtone stop'".into(), format!("{} stop", program.display()), "cd . && overtone stop".into()]
}

/// A command that goes around the question is refused by the program, also where the client asks about nothing.
#[test]
fn a_command_that_nobody_was_asked_about_is_refused() {
    for client in Client::all() {
        for mode in client.permission_modes().iter().filter(|mode| **mode != "plan") {
            println!("mode {mode}");
            let sandbox = Sandbox::new(&client);
            let session = begin(&sandbox, "quick", &["DEV"]);
            let turns = around_the_hook(&sandbox).map(|command| tool("Bash", json!({"command": command})));
            let terminal = sandbox
                .script(|s| s.main(turns.into_iter().chain([text("done")])))
                .session(&session)
                .permission_mode(mode)
                .allow(["Bash"])
                .terminal();
            terminal.type_line("go");
            terminal.wait_for_requests(Actor::Main, 4);
            terminal.wait_until_idle();
            let run = terminal.exit();
            assert_eq!(run.requests(Actor::Main).times_received("而使用者沒有被詢問"), 3);
            let events = sandbox.timeline(&session);
            assert!(events.iter().all(|event| event["reason"] != "loop-stopped"), "{events:?}");
        }
    }
}

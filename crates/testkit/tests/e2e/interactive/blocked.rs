//! An agent that cannot go on here: the user is asked, and nothing is repaired behind their back.

use overtone_testkit::{Actor, Client, Sandbox, text};
use serde_json::json;

use super::{LOOP, assert_calm, follow_step, following_steps, usual_mode, verdict, wait_for_completion};
use crate::delegate;
use crate::steps::{begin, of_stages};

#[test]
fn a_blocked_stage_asks_the_user_and_continues_with_the_answer() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &["DEV", "REVIEW"]);
        let terminal = sandbox
            .script(|s| {
                let s = s.main([delegate("ot:tester", "test it")]);
                let s = s.sub("tester", [verdict("no database here", "BLOCKED")]);
                following_steps(s).main_with(|request| {
                    let received = request.new_text();
                    if received.contains("the database is up") {
                        delegate("ot:tester", "test it with the database")
                    } else if received.contains("AskUserQuestion") && !received.contains(LOOP) {
                        text("where is your database?")
                    } else {
                        follow_step(request)
                    }
                })
            })
            .session(&session)
            .permission_mode(usual_mode(&client))
            .terminal();
        terminal.type_line("test the lock");
        terminal.wait_for_screen("where is your database?");
        terminal.wait_until_idle();
        let workflow = sandbox.workflow(&session);
        assert_eq!(
            (&workflow["stages"]["TEST"]["result"], &workflow["failCount"]),
            (&json!("blocked"), &json!(0))
        );
        for agent in ["debugger", "developer"] {
            assert_eq!(terminal.request_count(Actor::Sub(agent)), 0, "{agent}");
        }
        assert!(terminal.screen().contains('✋'), "{}", terminal.screen());
        assert_eq!(sandbox.event_count(&session, "loop:advance"), 0);
        terminal.type_line("the database is up");
        wait_for_completion(&terminal, &session);
        assert_calm(&terminal.exit().stdout);
        assert_eq!(of_stages(&sandbox, &session, "result"), ["pass"; 5]);
    }
}

//! A hand-back without a verdict is refused once, then it is a failure.

use overtone_testkit::{Actor, Client, Sandbox, report};
use serde_json::json;

use super::{assert_calm, developing, wait_for_completion};
use crate::steps::{begin, of_stages};

#[test]
fn a_hand_back_without_a_verdict_is_refused_once() {
    for client in Client::all().iter().filter(|client| client.has_auto_mode()) {
        let sandbox = Sandbox::new(client);
        let session = begin(&sandbox, "quick", &[]);
        let terminal =
            developing(&sandbox, &session, |s| s.sub("tester", [report("I have looked at the lock")]))
                .terminal();
        terminal.type_line("build a lock");
        wait_for_completion(&terminal, &session);
        let run = terminal.exit();
        assert_calm(&run.stdout);
        let tester = run.requests(Actor::Sub("tester"));
        assert_eq!(tester.len(), 2, "it was asked once more");
        assert!(tester.nth(1).new_text().contains("VERDICT"), "{}", tester.nth(1).new_text());
        assert_eq!(
            run.requests(Actor::Main).times_told("I have looked at the lock"),
            0,
            "it was not delivered"
        );
        assert_eq!(of_stages(&sandbox, &session, "attempts"), [1; 5]);
    }
}

#[test]
fn two_hand_backs_without_a_verdict_fail_the_stage() {
    for client in Client::all().iter().filter(|client| client.has_auto_mode()) {
        let sandbox = Sandbox::new(client);
        let session = begin(&sandbox, "quick", &[]);
        let silent = [report("I have looked at the lock"), report("I have looked again")];
        let terminal = developing(&sandbox, &session, |s| s.sub("tester", silent)).terminal();
        terminal.type_line("build a lock");
        wait_for_completion(&terminal, &session);
        terminal.exit();
        let events = sandbox.timeline(&session);
        let failed: Vec<_> = events.iter().filter(|e| e["type"] == "stage:retry").collect();
        assert_eq!(failed.len(), 1, "{failed:?}");
        assert_eq!((&failed[0]["stage"], &failed[0]["reason"]), (&json!("TEST"), &json!("no verdict")));
        assert_eq!(sandbox.workflow(&session)["failCount"], 1);
    }
}

/// Where agents end with a text, it is `SubagentStop` that sends them back, which the user does not see either.
#[test]
fn a_text_without_a_verdict_is_sent_back_out_of_sight() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &[]);
        let script = |s: overtone_testkit::Script| s.sub("tester", [report("I have looked at the lock")]);
        let terminal = developing(&sandbox, &session, script).permission_mode("default").terminal();
        terminal.type_line("build a lock");
        wait_for_completion(&terminal, &session);
        let run = terminal.exit();
        assert_eq!(run.requests(Actor::Sub("tester")).len(), 2, "it was asked once more");
        assert_calm(&run.stdout);
        assert_eq!(of_stages(&sandbox, &session, "attempts"), [1; 5]);
    }
}

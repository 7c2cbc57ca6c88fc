//! Failed and rejected work is repaired in a terminal too, whichever way the agents report.

use std::fs;

use overtone_testkit::{Client, Run, Sandbox};
use serde_json::json;

use super::{assert_calm, clients_and_modes, developing, times_sent, verdict, wait_for_completion};
use crate::steps::{begin, of_stages};

const QUALITY: [&str; 2] = ["ot:code-reviewer", "ot:tester"];

/// All handoffs of a session in one text.
fn handoffs(sandbox: &Sandbox, session: &str) -> String {
    let folder = sandbox.state().join("sessions").join(session).join("handoffs");
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.map(|file| fs::read_to_string(file.path()).unwrap()).collect::<Vec<_>>().join("\n")
}

/// The results that were recorded for a stage, in order.
fn results_of(sandbox: &Sandbox, session: &str, stage: &str) -> Vec<String> {
    let events = sandbox.timeline(session);
    let ended = events.iter().filter(|event| event["type"] == "agent:complete" && event["stage"] == stage);
    ended.map(|event| event["result"].as_str().unwrap_or_default().to_owned()).collect()
}

/// A `quick` workflow whose first test fails.
fn fail_once(sandbox: &Sandbox, session: &str, mode: &str) -> Run {
    let failure = verdict("2 failed: the lock sticks", "FAIL");
    let terminal =
        developing(sandbox, session, |s| s.sub("tester", [failure])).permission_mode(mode).terminal();
    terminal.type_line("build a lock");
    wait_for_completion(&terminal, session);
    terminal.exit()
}

fn assert_repaired(sandbox: &Sandbox, session: &str) {
    assert_eq!(results_of(sandbox, session, "TEST"), ["fail", "pass"]);
    assert!(handoffs(sandbox, session).contains("2 failed: the lock sticks"));
    let workflow = sandbox.workflow(session);
    assert_eq!((&workflow["failCount"], &workflow["rejectCount"]), (&json!(1), &json!(0)));
    assert_eq!(of_stages(sandbox, session, "result"), ["pass"; 5]);
    assert_eq!(of_stages(sandbox, session, "attempts"), [2, 2, 2, 1, 1]);
    for (kind, count) in
        [("stage:retry", 1), ("workflow:complete", 1), ("error:fatal", 0), ("agent:error", 0)]
    {
        assert_eq!(sandbox.event_count(session, kind), count, "{kind}");
    }
}

fn assert_repairs(client: &Client, mode: &str) {
    println!("mode {mode}");
    let sandbox = Sandbox::new(client);
    let session = begin(&sandbox, "quick", &[]);
    let run = fail_once(&sandbox, &session, mode);
    assert_repaired(&sandbox, &session);
    assert_eq!((times_sent(&run, &QUALITY), times_sent(&run, &["ot:retrospective"])), (2, 1));
    assert_calm(&run.stdout);
}

#[test]
fn a_failed_test_is_repaired_in_auto_mode() {
    for client in Client::all().iter().filter(|client| client.has_auto_mode()) {
        assert_repairs(client, "auto");
    }
}

#[test]
fn a_failed_test_is_repaired_in_every_other_mode() {
    for (client, mode) in clients_and_modes().iter().filter(|(_, mode)| *mode != "auto") {
        assert_repairs(client, mode);
    }
}

#[test]
fn a_rejected_review_is_reworked() {
    for (client, mode) in clients_and_modes() {
        println!("mode {mode}");
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &[]);
        let rejection = verdict("the key is printed in the log", "REJECT");
        let script = developing(&sandbox, &session, |s| s.sub("code-reviewer", [rejection]));
        let terminal = script.permission_mode(mode).terminal();
        terminal.type_line("build a lock");
        wait_for_completion(&terminal, &session);
        assert_calm(&terminal.exit().stdout);
        assert_eq!(results_of(&sandbox, &session, "REVIEW"), ["reject", "pass"]);
        assert!(handoffs(&sandbox, &session).contains("the key is printed in the log"));
        let workflow = sandbox.workflow(&session);
        assert_eq!((&workflow["failCount"], &workflow["rejectCount"]), (&json!(0), &json!(1)));
        assert_eq!(of_stages(&sandbox, &session, "result"), ["pass"; 5]);
    }
}

#[test]
fn parallel_agents_converge_once() {
    for (client, mode) in clients_and_modes() {
        println!("mode {mode}");
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &[]);
        let terminal = developing(&sandbox, &session, |s| s).permission_mode(mode).terminal();
        terminal.type_line("build a lock");
        wait_for_completion(&terminal, &session);
        let run = terminal.exit();
        for agents in [&QUALITY[..], &["ot:retrospective"], &["ot:doc-updater"]] {
            assert_eq!(times_sent(&run, agents), 1, "{agents:?}");
        }
        for kind in ["parallel:start", "parallel:converge", "workflow:complete"] {
            assert_eq!(sandbox.event_count(&session, kind), 1, "{kind}");
        }
        assert_eq!(of_stages(&sandbox, &session, "attempts"), [1; 5]);
        assert_eq!(sandbox.workflow(&session)["activeAgents"], json!({}));
    }
}

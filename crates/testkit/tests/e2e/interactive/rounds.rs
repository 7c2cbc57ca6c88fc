//! What one round of reports leads to, in a terminal: one repair for all of them, and code that has changed is judged
//! again.

use std::fs;

use overtone_testkit::{Actor, Client, Request, Sandbox, Turn, text};
use serde_json::json;

use super::{LOOP, developing, follow_step, following_steps, usual_mode, verdict, wait_for_completion};
use crate::delegate;
use crate::steps::{begin, of_stages};

/// The first line of every handoff, with its file's name, in the order in which they were written.
fn handoff_heads(sandbox: &Sandbox, session: &str) -> Vec<String> {
    let folder = sandbox.state().join("sessions").join(session).join("handoffs");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().flatten().map(|file| file.path()).collect();
    files.sort();
    let head = |file: &std::path::PathBuf| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        format!("{name}: {}", fs::read_to_string(file).unwrap().lines().next().unwrap_or_default())
    };
    files.iter().map(head).collect()
}

#[test]
fn a_rejection_and_a_failure_of_one_round_are_repaired_once() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &[]);
        let terminal = developing(&sandbox, &session, |s| {
            s.sub("code-reviewer", [verdict("the key is in the log", "REJECT")])
                .sub("tester", [verdict("2 failed: the lock sticks", "FAIL")])
        })
        .terminal();
        terminal.type_line("build a lock");
        wait_for_completion(&terminal, &session);
        let run = terminal.exit();
        let both = "依 REVIEW、TEST 的回報一次修復，然後重跑 REVIEW、TEST";
        assert_eq!(run.requests(Actor::Main).times_received(both), 1);
        let repair = run.requests(Actor::Sub("developer")).nth(1).new_text();
        for part in ["REVIEW：↩ reject · 0", "TEST：↩ fail · 0"] {
            assert!(repair.contains(part), "{part} in {repair}");
        }
        assert_eq!(of_stages(&sandbox, &session, "attempts"), [2, 2, 2, 1, 1]);
        assert_eq!(of_stages(&sandbox, &session, "result"), ["pass"; 5]);
        let workflow = sandbox.workflow(&session);
        assert_eq!((&workflow["failCount"], &workflow["rejectCount"]), (&json!(1), &json!(1)));
        let heads = handoff_heads(&sandbox, &session);
        for (stage, result) in [("REVIEW", "reject"), ("REVIEW", "pass"), ("TEST", "fail"), ("TEST", "pass")]
        {
            let head = |line: &&String| {
                line.contains(&format!("-{stage}-")) && line.contains(&format!("result: {result} "))
            };
            assert_eq!(heads.iter().filter(head).count(), 1, "{stage} {result} in {heads:?}");
        }
    }
}

/// Acts on the first issues, and otherwise does what it is asked for.
fn improve(request: &Request) -> Turn {
    let received = request.new_text();
    if received.contains("💡 值得現在改善") && received.contains("（1/3）") {
        return delegate("ot:developer", "act on the issues");
    }
    follow_step(request)
}

#[test]
fn code_that_changes_after_it_passed_is_judged_again() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &[]);
        let terminal = sandbox
            .script(|s| {
                let s = s.main([delegate("ot:developer", "build the lock")]);
                let s = s.sub("retrospective", [verdict("改善建議：鎖要能解開", "ISSUES")]);
                following_steps(s).main_with(improve)
            })
            .session(&session)
            .permission_mode(usual_mode(&client))
            .terminal();
        terminal.type_line("build a lock");
        wait_for_completion(&terminal, &session);
        terminal.exit();
        assert_eq!(of_stages(&sandbox, &session, "attempts"), [2, 2, 2, 2, 1]);
        assert_eq!(of_stages(&sandbox, &session, "result"), ["pass"; 5]);
        assert_eq!(sandbox.workflow(&session)["retroCount"], 1);
    }
}

/// Tasks are asked for while the developer is there to finish them.
#[test]
fn a_developer_with_open_tasks_is_sent_back() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "single", &[]);
        let mut workflow = sandbox.workflow(&session);
        workflow["featureName"] = json!("add-lock");
        sandbox.put_state(&session, "workflow.json", &workflow);
        let tasks = "specs/features/in-progress/add-lock/tasks.md";
        sandbox.put_file(tasks, "## Tasks\n- [x] the lock\n- [ ] oil the hinge\n");
        let file = sandbox.project().join(tasks);
        let terminal = sandbox
            .script(|s| {
                let s = s.main([delegate("ot:developer", "build the lock")]);
                following_steps(s.sub("developer", [verdict("it is built", "PASS")])).actor_with(
                    Actor::Sub("developer"),
                    move |request| {
                        assert!(request.new_text().contains("oil the hinge"), "{}", request.new_text());
                        fs::write(&file, "## Tasks\n- [x] the lock\n- [x] oil the hinge\n").unwrap();
                        verdict("oiled", "PASS")
                    },
                )
            })
            .session(&session)
            .permission_mode(usual_mode(&client))
            .terminal();
        terminal.type_line("build a lock");
        wait_for_completion(&terminal, &session);
        let run = terminal.exit();
        assert_eq!(run.requests(Actor::Sub("developer")).len(), 2);
        assert_eq!(of_stages(&sandbox, &session, "attempts"), [1]);
        let received = run.requests(Actor::Main);
        assert!(received.iter().all(|request| !request.new_text().contains(LOOP)), "the loop was not needed");
    }
}

/// A main agent that does not ask the user is refused, however often it tries.
#[test]
fn a_blocked_stage_is_not_tried_again_without_the_user() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &["DEV", "REVIEW"]);
        let mut tries = 0;
        let terminal = sandbox
            .script(|s| {
                let s = s.main([delegate("ot:tester", "test it")]);
                let s = s.sub("tester", [verdict("no database here", "BLOCKED")]);
                following_steps(s).main_with(move |request| {
                    let received = request.new_text();
                    if received.contains("the database is up") {
                        return delegate("ot:tester", "test it with the database");
                    }
                    if received.contains("AskUserQuestion") && tries < 3 {
                        tries += 1;
                        return delegate("ot:tester", "try again");
                    }
                    if tries == 3 {
                        tries += 1;
                        return text("I give in: where is your database?");
                    }
                    follow_step(request)
                })
            })
            .session(&session)
            .permission_mode(usual_mode(&client))
            .terminal();
        terminal.type_line("test the lock");
        terminal.wait_for_screen("I give in");
        terminal.wait_until_idle();
        assert_eq!(terminal.request_count(Actor::Sub("tester")), 1);
        assert_eq!(sandbox.workflow(&session)["stages"]["TEST"]["attempts"], 1);
        terminal.type_line("the database is up");
        wait_for_completion(&terminal, &session);
        terminal.exit();
        assert_eq!(of_stages(&sandbox, &session, "result"), ["pass"; 5]);
    }
}

//! Checks in a terminal: an agent in auto mode hands its report back, and the user sees what it waits for.

use overtone_testkit::{Actor, Client, Sandbox};
use serde_json::json;

use super::{assert_calm, clients_and_modes, developing, usual_mode, verdict, wait_for_completion};
use crate::checks::{NEEDS_GOOD, bash, init_with_check, runs, sent_back, write};
use crate::steps::of_stages;

const TOOLS: [&str; 5] = ["Agent", "Bash", "Read", "Write", "Edit"];

/// Settings of the user with our status line, as `overtone up` writes them.
fn put_status_line(sandbox: &Sandbox) {
    let command = format!("{} statusline", sandbox.plugin().join("bin/overtone").display());
    let status_line = json!({"type": "command", "command": command, "refreshInterval": 1});
    let folder = sandbox.home().join(".claude");
    std::fs::create_dir_all(&folder).unwrap();
    let settings = json!({"statusLine": status_line}).to_string();
    std::fs::write(folder.join("settings.json"), settings).unwrap();
}

#[test]
fn a_red_check_goes_back_to_the_same_agent_in_every_mode() {
    for (client, mode) in clients_and_modes() {
        println!("mode {mode}");
        let sandbox = Sandbox::new(&client);
        let session = init_with_check(&sandbox, "single", NEEDS_GOOD);
        let turns = [
            write(&sandbox, "src/lock.txt", "bolt"),
            verdict("done", "PASS"),
            bash("touch good"),
            verdict("done", "PASS"),
        ];
        let terminal = developing(&sandbox, &session, |s| s.sub("developer", turns))
            .permission_mode(mode)
            .allow(TOOLS)
            .terminal();
        terminal.type_line("build a lock");
        wait_for_completion(&terminal, &session);
        let run = terminal.exit();
        let developer = run.requests(Actor::Sub("developer"));
        assert_eq!(developer.len(), 4, "the same agent goes on");
        assert!(developer.nth(2).new_text().contains("the lock still sticks"));
        assert_eq!((sent_back(&sandbox, &session), runs(&sandbox)), (vec!["checks-failed".to_owned()], 2));
        assert_eq!(of_stages(&sandbox, &session, "attempts"), [1]);
        assert_calm(&run.stdout);
        assert!(run.stdout.contains("🧾 test"), "the summary has the receipt: {}", run.stdout);
    }
}

#[test]
fn three_red_runs_fail_the_stage_whichever_way_the_agent_reports() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = init_with_check(&sandbox, "single", NEEDS_GOOD);
        let red = || verdict("done", "PASS");
        let turns = [
            write(&sandbox, "src/lock.txt", "bolt"),
            red(),
            red(),
            red(),
            // Another attempt repairs it.
            bash("touch good"),
            red(),
        ];
        let terminal = developing(&sandbox, &session, |s| s.sub("developer", turns))
            .permission_mode(usual_mode(&client))
            .allow(TOOLS)
            .terminal();
        terminal.type_line("build a lock");
        wait_for_completion(&terminal, &session);
        assert_calm(&terminal.exit().stdout);
        assert_eq!(sent_back(&sandbox, &session), ["checks-failed"; 2]);
        let workflow = sandbox.workflow(&session);
        assert_eq!(
            (&workflow["failCount"], of_stages(&sandbox, &session, "attempts")),
            (&json!(1), vec![json!(2)])
        );
    }
}

#[test]
fn the_user_sees_which_check_runs() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        put_status_line(&sandbox);
        let go = sandbox.home().join("go");
        let wait = format!("until test -e {}; do sleep 0.1; done", go.display());
        let session = init_with_check(&sandbox, "single", &wait);
        let turns = [write(&sandbox, "src/lock.txt", "bolt"), verdict("done", "PASS")];
        let terminal = developing(&sandbox, &session, |s| s.sub("developer", turns))
            .permission_mode(usual_mode(&client))
            .allow(TOOLS)
            .terminal();
        terminal.type_line("build a lock");
        terminal.wait_for_screen("🧾 test");
        std::fs::write(&go, "").unwrap();
        wait_for_completion(&terminal, &session);
        assert_calm(&terminal.exit().stdout);
        assert_eq!(runs(&sandbox), 1);
    }
}

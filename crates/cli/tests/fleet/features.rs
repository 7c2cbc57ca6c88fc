//! `overtone init --feature` in a fleet: two machines do not begin the same thing unawares.

use crate::world::{Machine, Server, wait_until};

#[test]
fn a_feature_of_another_machine_is_refused_unless_wanted() {
    let server = Server::start();
    let (one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    one.start("aaaa-1", &["--feature", "login"]).ok();
    let said = two.start("bbbb-2", &["--feature", "login"]).fails(1, "one has been working on login for ");
    assert!(said.stderr.contains("--anyway"), "{said:?}");
    assert!(!two.project().join("specs/features/in-progress/login").exists());
    assert!(!two.state("sessions/bbbb-2/workflow.json").exists());
    // Another feature is free, and so is no feature at all.
    two.start("bbbb-3", &["--feature", "search"]).ok();
    two.start("bbbb-4", &[]).ok();
    two.start("bbbb-2", &["--feature", "login", "--anyway"]).ok();
    wait_until("the conflict is shown", || {
        let list = one.json(&["fleet", "list"]);
        let features = list["features"].as_array().unwrap();
        features
            .iter()
            .any(|f| f["feature"] == "login" && f["conflict"] == true && f["owner"]["name"] == "two")
    });
    assert!(one.run(&["fleet"]).ok().stdout.contains("⚠ conflict"));
}

#[test]
fn a_machine_that_is_gone_is_in_nobodys_way() {
    let server = Server::start();
    let (mut one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    one.start("aaaa-1", &["--feature", "login"]).ok();
    one.vanish();
    two.start("bbbb-2", &["--feature", "login"]).ok();
}

#[test]
fn a_start_that_fails_gives_the_feature_back() {
    let server = Server::start();
    let (one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    one.start("aaaa-1", &[]).ok();
    one.start("aaaa-1", &["--feature", "login"]).fails(1, "quick");
    two.start("bbbb-2", &["--feature", "login"]).ok();
}

#[test]
fn without_the_server_work_begins_all_the_same() {
    let mut server = Server::start();
    let machine = Machine::new();
    machine.run(&["fleet", "join", &server.url()]).ok();
    server.kill();
    let said = machine.start("aaaa-1", &["--feature", "login"]).ok();
    let told: Vec<_> = said.stderr.lines().collect();
    assert!(told.len() == 1 && told[0].contains("starting anyway"), "{said:?}");
    assert!(machine.project().join("specs/features/in-progress/login").exists());
}

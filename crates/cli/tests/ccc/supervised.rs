//! Supervised starts: the hook is in the settings while it is wanted, beside the user's own.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::world::{BINARY, Output, World, put, read};

const MINE: &str = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}"#;

#[test]
fn the_hook_comes_and_goes_and_the_users_own_stays() {
    let world = World::new();
    put(&world.settings(), MINE);
    symlink(BINARY, world.path("bin/ccc")).unwrap();
    let output = world.command(&["beta"]).env("CCC_SUPERVISOR", "1").output().unwrap();
    Output::of(&output).ok().stderr_has(&["[Supervisor Mode]", "hook-invocation.log"]);
    let stop = world.settings_value()["hooks"]["Stop"].clone();
    let command = format!("{} supervisor-hook", world.path("bin/ccc").display());
    assert_eq!(stop[0]["hooks"][0]["command"], "mine");
    assert_eq!(stop[1]["hooks"][0], json!({ "type": "command", "command": command, "timeout": 660 }));
    assert!(!world.arguments().unwrap().contains(&"--settings".to_owned()));
    let output = world.run("beta").ok();
    assert!(!output.stderr.contains("Supervisor"));
    assert!(!read(&world.settings()).contains("supervisor-hook"));
    world.run("remove beta").ok();
    assert_eq!(read(&world.settings()), MINE);
}

#[test]
fn the_configuration_can_ask_for_it_and_the_environment_can_refuse() {
    let world = World::new();
    let config = read(&world.config()).replacen('{', "{\"supervisor\": {\"enabled\": true},", 1);
    put(&world.config(), &config);
    world.run("use beta").ok();
    assert!(read(&world.settings()).contains(" ccc supervisor-hook"));
    let output = world.command(&["use", "beta"]).env("CCC_SUPERVISOR", "0").output().unwrap();
    Output::of(&output).ok();
    assert!(!read(&world.settings()).contains("supervisor-hook"));
}

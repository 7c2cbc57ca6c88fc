//! `ccc doctor`: each thing that can be wrong is found, with a hint, and what is fine is not complained about.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::world::{World, mode, put};

/// A world in which nothing is wrong.
fn healthy() -> World {
    let world = World::new();
    fs::set_permissions(world.config(), Permissions::from_mode(0o600)).unwrap();
    put(&world.path("bin/claude"), "#!/bin/sh\necho '2.1.325 (Claude Code)'\n");
    world
}

fn findings(world: &World) -> Vec<Value> {
    world.run("doctor --json").json()["findings"].as_array().unwrap().clone()
}

/// The only finding, with its place or name in what is told; everything serious makes the exit code 1.
#[track_caller]
fn finds(world: &World, name: &str, serious: bool, parts: &[&str]) {
    let found = findings(world);
    let found: Vec<_> = found.iter().filter(|finding| finding["name"] == name).collect();
    assert_eq!(found.len(), 1, "{name}: {:?}", findings(world));
    assert_eq!(found[0]["serious"], serious);
    let output = world.run("doctor");
    assert_eq!(output.code, Some(i32::from(serious)), "{output:?}");
    for part in parts {
        assert!(output.stdout.contains(part), "no {part:?} in {}", output.stdout);
    }
    assert!(name == "conflict" || output.stdout.contains("hint: "), "{output:?}");
}

#[test]
fn a_sound_set_up_is_fine() {
    let world = healthy();
    world.run("use alpha").ok();
    let output = world.run("doctor").ok();
    assert!(
        output.stdout.contains("claude 2.1.325") && output.stdout.contains("everything is fine"),
        "{output:?}"
    );
    let found = world.run("doctor --json").ok().json();
    assert_eq!((&found["healthy"], &found["client"]["version"]), (&json!(true), &json!("2.1.325")));
}

#[test]
fn faults_of_the_configuration_are_found() {
    let world = healthy();
    let write = |text: &str| {
        put(&world.config(), text);
        fs::set_permissions(world.config(), Permissions::from_mode(0o600)).unwrap();
    };
    write("{\n oops");
    finds(&world, "broken-file", true, &["ccc.json:2"]);
    write("{}");
    finds(&world, "no-providers", false, &["ccc add", "ccc migrate"]);
    write("{\"providers\": {\"a\": {}},\n\"current_provider\": \"b\"}");
    finds(&world, "bad-value", true, &["unknown provider: b", "ccc.json:2"]);
    write("{\"providers\": {\"a\": {}},\n\"supervisor\": {\n\"timeout_seconds\": \"60\"}}");
    finds(&world, "bad-value", true, &["`supervisor.timeout_seconds` is not a whole number", "ccc.json:3"]);
    write("{\"providers\": {\"a\": {}},\n\"supervisor\": {\"provider\": \"x\"}}");
    finds(&world, "bad-value", true, &["unknown provider: x", "ccc.json:2"]);
    write("{\"providers\": {\"a\": {}},\n\"supervisor\": {\"enable\": true}}");
    finds(&world, "bad-value", false, &["`supervisor.enable` is not known", "ccc schema"]);
    write(
        "{\"providers\": {\"a\": {}, \"b\": {\"env\": {\n\"X\": \"${NOT_SET_BY_ANYBODY}\"}}}, \"current_provider\": \"b\"}",
    );
    finds(&world, "unset-variable", true, &["NOT_SET_BY_ANYBODY", "ccc.json:2"]);
    write(
        "{\"providers\": {\"a\": {}, \"b\": {\"env\": {\n\"X\": \"${NOT_SET_BY_ANYBODY}\"}}}, \"current_provider\": \"a\"}",
    );
    finds(&world, "unset-variable", false, &["NOT_SET_BY_ANYBODY"]);
}

#[test]
fn a_file_that_others_can_read_is_corrected_if_wished() {
    let world = healthy();
    fs::set_permissions(world.config(), Permissions::from_mode(0o644)).unwrap();
    put(&world.path("home/.claude/ccc/isolated-99999999.json"), "{}");
    finds(&world, "not-private", false, &["mode 644", "chmod 600"]);
    finds(&world, "stale-file", false, &["isolated-99999999.json"]);
    assert_eq!(mode(&world.config()), 0o644);
    world.run("doctor --fix").ok().stderr_has(&["corrected: 2"]);
    assert_eq!(mode(&world.config()), 0o600);
    assert!(findings(&world).is_empty());
}

#[test]
fn every_file_that_may_hold_a_token_is_looked_at() {
    let world = healthy();
    let loose = |path: &std::path::Path| fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
    put(&world.settings(), "{}");
    loose(&world.settings());
    assert!(findings(&world).is_empty(), "without a token others may read it");
    put(&world.settings(), r#"{"env": {"MY_SERVICE_TOKEN": "of-my-own"}}"#);
    finds(&world, "not-private", false, &["settings.json", "mode 644", "chmod 600"]);
    fs::set_permissions(world.settings(), Permissions::from_mode(0o600)).unwrap();
    world.run("use alpha").ok();
    assert!(findings(&world).is_empty());
    for name in ["settings.backup.json", "owned.json"] {
        let path = world.path("home/.claude/ccc").join(name);
        loose(&path);
        finds(&world, "not-private", false, &[name, "ccc doctor --fix"]);
        world.run("doctor --fix").ok();
        assert_eq!(mode(&path), 0o600, "{name}");
    }
    loose(&world.path("home/.claude/ccc/owned.json"));
    world.run("use beta").ok();
    assert_eq!(
        mode(&world.path("home/.claude/ccc/owned.json")),
        0o600,
        "it is private before a token is in it"
    );
}

#[test]
fn the_client_is_looked_at() {
    let world = healthy();
    put(&world.path("bin/claude"), "#!/bin/sh\necho '1.0.3 (Claude Code)'\n");
    finds(&world, "client-too-old", false, &["1.0.3"]);
    put(&world.path("bin/claude"), "#!/bin/sh\necho 'no such library' >&2\nexit 127\n");
    finds(&world, "client-broken", true, &["no such library"]);
    fs::remove_file(world.path("bin/claude")).unwrap();
    let world = world.with("PATH", "/nowhere");
    finds(&world, "no-client", true, &["npm install"]);
}

#[test]
fn the_clients_settings_are_looked_at() {
    let world = healthy();
    put(&world.settings(), "{\n// mine\n}");
    finds(&world, "broken-file", true, &["settings.json:2"]);
    let gone = json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "/gone/ccc supervisor-hook" }] }] } });
    put(&world.settings(), &gone.to_string());
    finds(&world, "stale-hook", true, &["/gone/ccc", "settings.json:1", "ccc use"]);
    put(&world.settings(), "{}");
    world.command(&["use", "alpha"]).env("CCC_SUPERVISOR", "1").output().unwrap();
    assert!(findings(&world).is_empty());
}

#[test]
fn what_gets_in_the_way_is_named() {
    let world = healthy();
    put(&world.path("project/.claude/settings.json"), "{\"env\": {\n\"ANTHROPIC_MODEL\": \"other\"}}");
    finds(&world, "conflict", false, &["ANTHROPIC_MODEL", "settings.json:2 is set aside"]);
    let supervised = world.command(&["doctor"]).env("CCC_SUPERVISOR", "1").output().unwrap();
    let supervised = crate::world::Output::of(&supervised);
    assert_eq!(supervised.code, Some(1), "{supervised:?}");
    assert!(supervised.stdout.contains("cannot start on alpha"), "{supervised:?}");
    fs::remove_file(world.path("project/.claude/settings.json")).unwrap();
    // What is exported does not reach a client, so it gets in nobody's way.
    let world = world.with("ANTHROPIC_API_KEY", "own-key-of-mine");
    assert!(findings(&world).is_empty());
}

#[test]
fn a_pin_and_the_state_folder_are_looked_at() {
    let world = healthy();
    put(&world.path("project/.ccc.json"), r#"{"provider":"bta"}"#);
    finds(&world, "broken-file", true, &["unknown provider: bta", ".ccc.json:1", "did you mean beta?"]);
    put(&world.path("project/.ccc.json"), r#"{"provider":"beta"}"#);
    assert!(findings(&world).is_empty());
    put(&world.path("home/.claude/ccc"), "a file");
    finds(&world, "not-writable", true, &["home/.claude/ccc", "CCC_CONFIG_DIR"]);
}

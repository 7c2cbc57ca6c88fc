//! `ccc doctor`: each thing that can be wrong is found, with a hint, and what is fine is not complained about.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::context::{TestContext, mode, put};

/// A context in which nothing is wrong.
fn healthy() -> TestContext {
    let context = TestContext::with_providers();
    fs::set_permissions(context.config(), Permissions::from_mode(0o600)).unwrap();
    put(&context.path("bin/claude"), "#!/bin/sh\necho '2.1.325 (Claude Code)'\n");
    context
}

fn findings(context: &TestContext) -> Vec<Value> {
    context.run_ccc("doctor --json").json()["findings"].as_array().unwrap().clone()
}

/// The only finding, whose text has these parts; a serious finding makes the exit code 1.
#[track_caller]
fn finds(context: &TestContext, name: &str, serious: bool, parts: &[&str]) {
    let found = findings(context);
    let found: Vec<_> = found.iter().filter(|finding| finding["name"] == name).collect();
    assert_eq!(found.len(), 1, "{name}: {:?}", findings(context));
    assert_eq!(found[0]["serious"], serious);
    let output = context.run_ccc("doctor");
    assert_eq!(output.code, Some(i32::from(serious)), "{output:?}");
    for part in parts {
        assert!(output.stdout.contains(part), "no {part:?} in {}", output.stdout);
    }
    assert!(name == "conflict" || output.stdout.contains("hint: "), "{output:?}");
}

#[test]
fn a_sound_set_up_is_fine() {
    let context = healthy();
    context.run_ccc("use alpha").succeeds();
    let output = context.run_ccc("doctor").succeeds();
    assert!(
        output.stdout.contains("claude 2.1.325") && output.stdout.contains("everything is fine"),
        "{output:?}"
    );
    let found = context.run_ccc("doctor --json").succeeds().json();
    assert_eq!((&found["healthy"], &found["client"]["version"]), (&json!(true), &json!("2.1.325")));
}

#[test]
fn faults_of_the_configuration_are_found() {
    let context = healthy();
    let write = |text: &str| {
        put(&context.config(), text);
        fs::set_permissions(context.config(), Permissions::from_mode(0o600)).unwrap();
    };
    write("{\n oops");
    finds(&context, "broken-file", true, &["ccc.json:2"]);
    write("{}");
    finds(&context, "no-providers", false, &["ccc add", "ccc migrate"]);
    write("{\"providers\": {\"a\": {}},\n\"current_provider\": \"b\"}");
    finds(&context, "bad-value", true, &["unknown provider: b", "ccc.json:2"]);
    write("{\"providers\": {\"a\": {}},\n\"supervisor\": {\n\"timeout_seconds\": \"60\"}}");
    finds(
        &context,
        "bad-value",
        true,
        &["`supervisor.timeout_seconds` must be a whole number", "ccc.json:3"],
    );
    write("{\"providers\": {\"a\": {}},\n\"supervisor\": {\"provider\": \"x\"}}");
    finds(&context, "bad-value", true, &["unknown provider: x", "ccc.json:2"]);
    write("{\"providers\": {\"a\": {}},\n\"supervisor\": {\"enable\": true}}");
    finds(&context, "bad-value", false, &["unknown key `supervisor.enable`", "ccc schema"]);
    write(
        "{\"providers\": {\"a\": {}, \"b\": {\"env\": {\n\"X\": \"${NOT_SET_BY_ANYBODY}\"}}}, \"current_provider\": \"b\"}",
    );
    finds(&context, "unset-variable", true, &["NOT_SET_BY_ANYBODY", "ccc.json:2"]);
    write(
        "{\"providers\": {\"a\": {}, \"b\": {\"env\": {\n\"X\": \"${NOT_SET_BY_ANYBODY}\"}}}, \"current_provider\": \"a\"}",
    );
    finds(&context, "unset-variable", false, &["NOT_SET_BY_ANYBODY"]);
}

#[test]
fn a_file_that_others_can_read_is_corrected_if_wished() {
    let context = healthy();
    fs::set_permissions(context.config(), Permissions::from_mode(0o644)).unwrap();
    put(&context.path("home/.claude/ccc/isolated-99999999.json"), "{}");
    finds(&context, "not-private", false, &["mode 644", "chmod 600"]);
    finds(&context, "stale-file", false, &["isolated-99999999.json"]);
    assert_eq!(mode(&context.config()), 0o644);
    context.run_ccc("doctor --fix").succeeds().stderr_has(&["fixed: 2"]);
    assert_eq!(mode(&context.config()), 0o600);
    assert!(findings(&context).is_empty());
}

#[test]
fn every_file_that_may_hold_a_token_is_looked_at() {
    let context = healthy();
    let loose = |path: &std::path::Path| fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
    put(&context.settings(), "{}");
    loose(&context.settings());
    assert!(findings(&context).is_empty(), "without a token others may read it");
    put(&context.settings(), r#"{"env": {"MY_SERVICE_TOKEN": "of-my-own"}}"#);
    finds(&context, "not-private", false, &["settings.json", "mode 644", "chmod 600"]);
    fs::set_permissions(context.settings(), Permissions::from_mode(0o600)).unwrap();
    context.run_ccc("use alpha").succeeds();
    assert!(findings(&context).is_empty());
    for name in ["settings.backup.json", "owned.json"] {
        let path = context.path("home/.claude/ccc").join(name);
        loose(&path);
        finds(&context, "not-private", false, &[name, "ccc doctor --fix"]);
        context.run_ccc("doctor --fix").succeeds();
        assert_eq!(mode(&path), 0o600, "{name}");
    }
    loose(&context.path("home/.claude/ccc/owned.json"));
    context.run_ccc("use beta").succeeds();
    assert_eq!(
        mode(&context.path("home/.claude/ccc/owned.json")),
        0o600,
        "it is private before a token is in it"
    );
}

#[test]
fn the_client_is_looked_at() {
    let context = healthy();
    put(&context.path("bin/claude"), "#!/bin/sh\necho '1.0.3 (Claude Code)'\n");
    finds(&context, "client-too-old", false, &["1.0.3"]);
    put(&context.path("bin/claude"), "#!/bin/sh\necho 'no such library' >&2\nexit 127\n");
    finds(&context, "client-broken", true, &["no such library"]);
    fs::remove_file(context.path("bin/claude")).unwrap();
    let context = context.with_env("PATH", "/nowhere");
    finds(&context, "no-client", true, &["npm install"]);
}

#[test]
fn the_clients_settings_are_looked_at() {
    let context = healthy();
    put(&context.settings(), "{\n// mine\n}");
    finds(&context, "broken-file", true, &["settings.json:2"]);
    let gone = json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "/gone/ccc supervisor-hook" }] }] } });
    put(&context.settings(), gone.to_string());
    finds(&context, "stale-hook", true, &["/gone/ccc", "settings.json:1", "ccc use"]);
    put(&context.settings(), "{}");
    context.ccc_command(&["use", "alpha"]).env("CCC_SUPERVISOR", "1").output().unwrap();
    assert!(findings(&context).is_empty());
}

#[test]
fn what_gets_in_the_way_is_named() {
    let context = healthy();
    put(&context.path("project/.claude/settings.json"), "{\"env\": {\n\"ANTHROPIC_MODEL\": \"other\"}}");
    finds(&context, "conflict", false, &["ANTHROPIC_MODEL", "settings.json:2 is ignored for this start"]);
    let supervised = context.ccc_command(&["doctor"]).env("CCC_SUPERVISOR", "1").output().unwrap();
    let supervised = crate::context::ccc_output(&supervised);
    assert_eq!(supervised.code, Some(1), "{supervised:?}");
    assert!(supervised.stdout.contains("cannot start on alpha"), "{supervised:?}");
    fs::remove_file(context.path("project/.claude/settings.json")).unwrap();
    // An exported variable does not reach a client, so it is no conflict.
    let context = context.with_env("ANTHROPIC_API_KEY", "own-key-of-mine");
    assert!(findings(&context).is_empty());
}

#[test]
fn a_pin_and_the_state_folder_are_looked_at() {
    let context = healthy();
    put(&context.path("project/.ccc.json"), r#"{"provider":"bta"}"#);
    finds(&context, "broken-file", true, &["unknown provider: bta", ".ccc.json:1", "did you mean beta?"]);
    put(&context.path("project/.ccc.json"), r#"{"provider":"beta"}"#);
    assert!(findings(&context).is_empty());
    put(&context.path("home/.claude/ccc"), "a file");
    finds(&context, "not-writable", true, &["home/.claude/ccc", "CCC_CONFIG_DIR"]);
}

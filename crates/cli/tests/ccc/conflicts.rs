//! Values in settings files that win over the environment of a start: named with file and line, and never obeyed.

use serde_json::json;

use crate::world::{Output, World, put, read};

const LOCAL: &str = "{\"env\": {\"ANTHROPIC_DEFAULT_OPUS_MODEL\": \"local\", \"CLAUDE_CODE_USE_BEDROCK\": \"1\", \"OTHER\": \"x\"}}";

fn obstructed() -> World {
    let world = World::new();
    put(&world.settings(), "{\n  \"env\": {\n    \"ANTHROPIC_API_KEY\": \"own-key-of-mine\"\n  }\n}\n");
    put(
        &world.path("project/.claude/settings.json"),
        "{\"env\": {\n\"ANTHROPIC_BASE_URL\": \"https://other\"}}",
    );
    put(&world.path("project/.claude/settings.local.json"), LOCAL);
    put(&world.path("home/.claude.json"), "{\"env\": {\"ANTHROPIC_CUSTOM_HEADERS\": \"x-mine: 1\"}}");
    world
}

#[test]
fn values_that_would_win_are_set_aside_and_named_with_their_line() {
    let world = obstructed();
    let output = world.run("beta").ok().stderr_has(&[
        "warning: ANTHROPIC_API_KEY in ",
        "/home/.claude/settings.json:3 is set aside for this start",
        "warning: ANTHROPIC_BASE_URL in ",
        "/project/.claude/settings.json:2 is set aside",
        "settings.local.json:1 is set aside",
        "/home/.claude.json:1 is set aside",
        "warning: ANTHROPIC_DEFAULT_OPUS_MODEL in ",
        "settings.local.json:1 stays in force",
    ]);
    assert!(!output.stderr.contains("own-key") && !output.stderr.contains("OTHER"), "{output:?}");
    assert_eq!(output.stderr.lines().filter(|line| line.starts_with("warning: ")).count(), 5);
    let env = world.private().unwrap()["env"].clone();
    assert_eq!(env["ANTHROPIC_BASE_URL"], "https://beta.example");
    for name in ["ANTHROPIC_API_KEY", "CLAUDE_CODE_USE_BEDROCK", "ANTHROPIC_CUSTOM_HEADERS"] {
        assert_eq!(env[name], "", "{name}");
    }
    assert_eq!(env.get("ANTHROPIC_DEFAULT_OPUS_MODEL"), None);
    assert!(world.private().unwrap().get("permissions").is_none(), "they are in the shared settings");
}

#[test]
fn a_supervised_start_has_no_file_of_its_own_and_is_refused() {
    let world = obstructed();
    let output = world.command(&["beta"]).env("CCC_SUPERVISOR", "1").output().unwrap();
    Output::of(&output).fails(&[
        "cannot start on beta",
        "ANTHROPIC_API_KEY (",
        "/home/.claude/settings.json:3)",
        "/project/.claude/settings.json:2)",
        "CLAUDE_CODE_USE_BEDROCK (",
        "ccc run --isolated beta",
    ]);
    assert_eq!(world.arguments(), None);
    assert!(!read(&world.settings()).contains("supervisor-hook"), "nothing was changed");
    assert!(read(&world.config()).contains("\"current_provider\": \"alpha\""));
}

#[test]
fn a_helper_of_the_users_prints_no_key_for_a_third_party() {
    let world = World::new();
    put(&world.settings(), "{\n\"apiKeyHelper\": \"print-my-key\"}");
    world.run("beta").ok().stderr_has(&["warning: apiKeyHelper in ", "settings.json:2 is set aside"]);
    assert_eq!(world.private().unwrap()["apiKeyHelper"], "");
    let config = json!({ "providers": { "claude": {}, "own": { "apiKeyHelper": "print-its-key" } } });
    put(&world.config(), &config.to_string());
    world.forget();
    assert_eq!(world.run("claude").ok().stderr, "ccc: on claude\n", "it is for Anthropic");
    assert_eq!(world.private(), None);
    world.run("own").ok();
    assert_eq!(world.private().unwrap()["apiKeyHelper"], "print-its-key");
    assert!(!read(&world.settings()).contains("print-its-key"), "nobody else gets its key");
    let output = world.command(&["own"]).env("CCC_SUPERVISOR", "1").output().unwrap();
    Output::of(&output).fails(&["`apiKeyHelper` of own", "ccc run --isolated own"]);
}

#[test]
fn what_agrees_with_the_provider_is_no_conflict() {
    let world = World::new();
    put(&world.settings(), "{\"env\": {\"ANTHROPIC_MODEL\": \"alpha-1\", \"ANTHROPIC_API_KEY\": \"\"}}");
    assert_eq!(world.run("alpha").ok().stderr, "ccc: on alpha\n");
    assert_eq!(world.private(), None);
}

#[test]
fn a_private_file_wins_over_the_projects() {
    let world = World::new();
    put(
        &world.path("project/.claude/settings.json"),
        "{\"env\": {\"ANTHROPIC_BASE_URL\": \"https://other\"}}",
    );
    let output = world.run("run --isolated beta").ok();
    assert_eq!(output.stderr, "ccc: on beta, for this start only\n");
}

#[test]
fn what_ccc_use_has_written_does_not_move_a_start_on_another_provider() {
    let world = World::new();
    world.run("use alpha").ok();
    let shared = read(&world.settings());
    world.run("beta").ok().stderr_has(&["ANTHROPIC_BASE_URL in ", "is set aside for this start"]);
    let env = world.private().unwrap()["env"].clone();
    assert_eq!(
        (&env["ANTHROPIC_BASE_URL"], &env["ANTHROPIC_MODEL"]),
        (&json!("https://beta.example"), &json!(""))
    );
    assert_eq!(read(&world.settings()), shared, "ccc use is not undone by a start");
    let output = world.command(&["beta"]).env("CCC_SUPERVISOR", "1").output().unwrap();
    Output::of(&output).fails(&["cannot start on beta", "ccc use has put alpha there: ccc use --off"]);
    world.run("use --off").ok();
    let output = world.command(&["beta"]).env("CCC_SUPERVISOR", "1").output().unwrap();
    Output::of(&output).ok();
}

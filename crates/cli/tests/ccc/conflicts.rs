//! Values in settings files that win over the environment of a start: named with file and line, and never obeyed.

use serde_json::json;

use crate::context::{TestContext, ccc_output, put, read};

const LOCAL: &str = "{\"env\": {\"ANTHROPIC_DEFAULT_OPUS_MODEL\": \"local\", \"CLAUDE_CODE_USE_BEDROCK\": \"1\", \"OTHER\": \"x\"}}";

fn obstructed() -> TestContext {
    let context = TestContext::with_providers();
    put(&context.settings(), "{\n  \"env\": {\n    \"ANTHROPIC_API_KEY\": \"own-key-of-mine\"\n  }\n}\n");
    put(
        &context.path("project/.claude/settings.json"),
        "{\"env\": {\n\"ANTHROPIC_BASE_URL\": \"https://other\"}}",
    );
    put(&context.path("project/.claude/settings.local.json"), LOCAL);
    put(&context.path("home/.claude.json"), "{\"env\": {\"ANTHROPIC_CUSTOM_HEADERS\": \"x-mine: 1\"}}");
    context
}

#[test]
fn values_that_would_win_are_set_aside_and_named_with_their_line() {
    let context = obstructed();
    let output = context.run_ccc("beta").succeeds().stderr_has(&[
        "warning: ANTHROPIC_API_KEY in ",
        "/home/.claude/settings.json:3 is ignored for this start",
        "warning: ANTHROPIC_BASE_URL in ",
        "/project/.claude/settings.json:2 is ignored for this start",
        "settings.local.json:1 is ignored for this start",
        "/home/.claude.json:1 is ignored for this start",
        "warning: ANTHROPIC_DEFAULT_OPUS_MODEL in ",
        "settings.local.json:1 still applies",
    ]);
    assert!(!output.stderr.contains("own-key") && !output.stderr.contains("OTHER"), "{output:?}");
    assert_eq!(output.stderr.lines().filter(|line| line.starts_with("warning: ")).count(), 5);
    let env = context.private().unwrap()["env"].clone();
    assert_eq!(env["ANTHROPIC_BASE_URL"], "https://beta.example");
    for name in ["ANTHROPIC_API_KEY", "CLAUDE_CODE_USE_BEDROCK", "ANTHROPIC_CUSTOM_HEADERS"] {
        assert_eq!(env[name], "", "{name}");
    }
    assert_eq!(env.get("ANTHROPIC_DEFAULT_OPUS_MODEL"), None);
    assert!(context.private().unwrap().get("permissions").is_none(), "they are in the shared settings");
}

#[test]
fn a_supervised_start_has_no_file_of_its_own_and_is_refused() {
    let context = obstructed();
    let output = context.ccc_command(&["beta"]).env("CCC_SUPERVISOR", "1").output().unwrap();
    ccc_output(&output).fails(&[
        "cannot start on beta",
        "ANTHROPIC_API_KEY (",
        "/home/.claude/settings.json:3)",
        "/project/.claude/settings.json:2)",
        "CLAUDE_CODE_USE_BEDROCK (",
        "ccc run --isolated beta",
    ]);
    assert_eq!(context.arguments(), None);
    assert!(!read(&context.settings()).contains("supervisor-hook"), "nothing was changed");
    assert!(read(&context.config()).contains("\"current_provider\": \"alpha\""));
}

#[test]
fn a_helper_of_the_users_prints_no_key_for_a_third_party() {
    let context = TestContext::with_providers();
    put(&context.settings(), "{\n\"apiKeyHelper\": \"print-my-key\"}");
    context
        .run_ccc("beta")
        .succeeds()
        .stderr_has(&["warning: apiKeyHelper in ", "settings.json:2 is ignored for this start"]);
    assert_eq!(context.private().unwrap()["apiKeyHelper"], "");
    let config = json!({ "providers": { "claude": {}, "own": { "apiKeyHelper": "print-its-key" } } });
    put(&context.config(), config.to_string());
    context.forget();
    assert_eq!(context.run_ccc("claude").succeeds().stderr, "ccc: on claude\n", "it is for Anthropic");
    assert_eq!(context.private(), None);
    context.run_ccc("own").succeeds();
    assert_eq!(context.private().unwrap()["apiKeyHelper"], "print-its-key");
    assert!(!read(&context.settings()).contains("print-its-key"), "nobody else gets its key");
    let output = context.ccc_command(&["own"]).env("CCC_SUPERVISOR", "1").output().unwrap();
    ccc_output(&output).fails(&["`apiKeyHelper` of own", "ccc run --isolated own"]);
}

#[test]
fn what_agrees_with_the_provider_is_no_conflict() {
    let context = TestContext::with_providers();
    put(&context.settings(), "{\"env\": {\"ANTHROPIC_MODEL\": \"alpha-1\", \"ANTHROPIC_API_KEY\": \"\"}}");
    assert_eq!(context.run_ccc("alpha").succeeds().stderr, "ccc: on alpha\n");
    assert_eq!(context.private(), None);
}

#[test]
fn a_private_file_wins_over_the_projects() {
    let context = TestContext::with_providers();
    put(
        &context.path("project/.claude/settings.json"),
        "{\"env\": {\"ANTHROPIC_BASE_URL\": \"https://other\"}}",
    );
    let output = context.run_ccc("run --isolated beta").succeeds();
    assert_eq!(output.stderr, "ccc: on beta, for this start only\n");
}

#[test]
fn what_ccc_use_has_written_does_not_move_a_start_on_another_provider() {
    let context = TestContext::with_providers();
    context.run_ccc("use alpha").succeeds();
    let shared = read(&context.settings());
    context.run_ccc("beta").succeeds().stderr_has(&["ANTHROPIC_BASE_URL in ", "is ignored for this start"]);
    let env = context.private().unwrap()["env"].clone();
    assert_eq!(
        (&env["ANTHROPIC_BASE_URL"], &env["ANTHROPIC_MODEL"]),
        (&json!("https://beta.example"), &json!(""))
    );
    assert_eq!(read(&context.settings()), shared, "ccc use is not undone by a start");
    let output = context.ccc_command(&["beta"]).env("CCC_SUPERVISOR", "1").output().unwrap();
    ccc_output(&output).fails(&["cannot start on beta", "ccc use put alpha there: ccc use --off"]);
    context.run_ccc("use --off").succeeds();
    let output = context.ccc_command(&["beta"]).env("CCC_SUPERVISOR", "1").output().unwrap();
    ccc_output(&output).succeeds();
}

//! The reviewer on another provider or model.

use std::fs;

use serde_json::{Value, json};

use crate::context::TestContext;

fn config(provider: &str) -> Value {
    json!({
        "providers": {
            "kimi": {"env": {"ANTHROPIC_BASE_URL": "https://kimi.example", "ANTHROPIC_AUTH_TOKEN": "dummy-kimi-token"}},
            "open": {"env": {"ANTHROPIC_AUTH_TOKEN": "${NOT_SET_HERE}"}}
        },
        "supervisor": {"provider": provider, "model": "opus"}
    })
}

#[test]
fn another_provider_reviews_from_a_private_file() {
    let context = TestContext::for_supervisor();
    context.config(&config("kimi"));
    context.write("fake/keep_settings", "");
    context.reviewer_says(true, "");
    assert_eq!(context.stop().stdout, "{}\n");
    assert_eq!(context.option("--model").as_deref(), Some("opus"));
    let all = context.arguments().join(" ");
    assert!(!all.contains("dummy-kimi-token"), "a token is not for the list of processes: {all}");
    let settings: Value = serde_json::from_slice(&fs::read(context.path("fake/settings")).unwrap()).unwrap();
    assert_eq!(settings["env"]["ANTHROPIC_AUTH_TOKEN"], "dummy-kimi-token");
    assert_eq!(settings["disableAllHooks"], true);
    assert_eq!(fs::read_to_string(context.path("fake/settings_mode")).unwrap().trim(), "600");
    let left = context.files().into_iter().filter(|name| name.contains("isolated")).count();
    assert_eq!(left, 0, "the file is gone with the review");
    let round = &context.trail()[0];
    assert_eq!((&round["provider"], &round["model"]), (&json!("kimi"), &json!("opus")));
}

#[test]
fn a_provider_that_cannot_be_used_is_no_review() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "x");
    for name in ["nobody", "open"] {
        context.config(&config(name));
        let output = context.stop();
        output.assert_not_reviewed(name);
    }
    assert_eq!(context.reviews(), 0);
}

#[test]
fn an_isolated_session_is_reviewed_on_its_own_provider() {
    let mut context = TestContext::for_supervisor();
    let mut config = config("");
    config["supervisor"] = json!({});
    context.config(&config);
    context.write("fake/keep_settings", "");
    context.set_env("CCC_ISOLATED_PROVIDER", "kimi");
    context.reviewer_says(true, "");
    assert_eq!(context.stop().stdout, "{}\n");
    assert!(fs::read_to_string(context.path("fake/settings")).unwrap().contains("kimi.example"));
}

#[test]
fn a_session_keeps_its_provider_when_another_terminal_switches() {
    let mut context = TestContext::for_supervisor();
    let mut config = config("");
    config["supervisor"] = json!({});
    config["current_provider"] = json!("open");
    context.config(&config);
    context.write("fake/keep_settings", "");
    context.set_env("CCC_PROVIDER", "kimi");
    context.reviewer_says(true, "");
    assert_eq!(context.stop().stdout, "{}\n");
    assert!(fs::read_to_string(context.path("fake/settings")).unwrap().contains("kimi.example"));
    assert_eq!(context.trail()[0]["provider"], "kimi");
}

#[test]
fn a_session_whose_provider_was_removed_is_reviewed_in_its_own_environment() {
    let mut context = TestContext::for_supervisor();
    context.set_env("CCC_PROVIDER", "removed");
    context.set_env("ANTHROPIC_BASE_URL", "https://removed.example");
    context.reviewer_says(true, "");
    assert_eq!(context.stop().stdout, "{}\n");
    assert!(context.environment().contains("ANTHROPIC_BASE_URL=https://removed.example\n"));
}

/// The keys of the session's provider, of the terminal and of the clouds.
const FOREIGN: [(&str, &str); 5] = [
    ("ANTHROPIC_AUTH_TOKEN", "foreign-session-token"),
    ("ANTHROPIC_API_KEY", "foreign-key"),
    ("CLAUDE_CODE_USE_BEDROCK", "foreign-1"),
    ("AWS_SECRET_ACCESS_KEY", "foreign-aws"),
    ("ANTHROPIC_MODEL", "foreign-model"),
];

#[test]
fn another_provider_gets_no_key_of_the_session() {
    let mut context = TestContext::for_supervisor();
    context.config(&config("kimi"));
    context.write("fake/keep_settings", "");
    context.write("home/.claude/settings.json", r#"{"env": {"ANTHROPIC_CUSTOM_HEADERS": "x-foreign: 1"}}"#);
    for (name, value) in FOREIGN {
        context.set_env(name, value);
    }
    context.reviewer_says(true, "");
    context.stop();
    let environment = context.environment();
    assert!(!environment.contains("foreign"), "{environment}");
    assert!(environment.contains("ANTHROPIC_AUTH_TOKEN=dummy-kimi-token\n"), "{environment}");
    let settings: Value = serde_json::from_slice(&fs::read(context.path("fake/settings")).unwrap()).unwrap();
    for name in ["ANTHROPIC_API_KEY", "ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_USE_BEDROCK"] {
        assert_eq!(settings["env"][name], "", "{name}");
    }
}

#[test]
fn a_review_from_a_terminal_is_on_the_current_provider() {
    let mut context = TestContext::for_supervisor();
    let mut config = config("");
    config["supervisor"] = json!({});
    config["current_provider"] = json!("kimi");
    context.config(&config);
    context.write("fake/keep_settings", "");
    for (name, value) in FOREIGN {
        context.set_env(name, value);
    }
    context.reviewer_says(true, "");
    assert_eq!(context.ccc(&["review", "abc123"]).0, 0);
    assert!(!context.environment().contains("foreign"));
    assert!(fs::read_to_string(context.path("fake/settings")).unwrap().contains("kimi.example"));
    // A provider that cannot be used is no reason to ask another one.
    config["current_provider"] = json!("open");
    context.config(&config);
    assert_eq!(context.ccc(&["review", "abc123"]).0, 2);
    assert_eq!(context.reviews(), 1);
}

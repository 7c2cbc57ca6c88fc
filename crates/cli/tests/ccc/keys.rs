//! Keys that a terminal has exported: none of them reaches a provider that they are not for.

use serde_json::json;

use crate::context::{TOKEN_B, TestContext, put, read};

/// What a developer's terminal may have, each with a value that must not be seen again.
const EXPORTED: [(&str, &str); 12] = [
    ("ANTHROPIC_API_KEY", "sk-ant-exported-key"),
    ("ANTHROPIC_AUTH_TOKEN", "exported-token"),
    ("ANTHROPIC_BASE_URL", "https://exported.example"),
    ("ANTHROPIC_CUSTOM_HEADERS", "x-exported: 1"),
    ("CLAUDE_CODE_OAUTH_TOKEN", "exported-oauth"),
    ("CLAUDE_CODE_USE_BEDROCK", "exported-1"),
    ("CLAUDE_CODE_USE_VERTEX", "exported-2"),
    ("CLAUDE_CODE_SOMETHING_NEW_TOKEN", "exported-new"),
    ("AWS_SECRET_ACCESS_KEY", "exported-aws"),
    ("AWS_BEARER_TOKEN_BEDROCK", "exported-bedrock"),
    ("GOOGLE_APPLICATION_CREDENTIALS", "/exported/google.json"),
    ("AZURE_CLIENT_SECRET", "exported-azure"),
];

/// What has nothing to do with providers.
const KEPT: [(&str, &str); 4] = [
    ("HTTPS_PROXY", "http://proxy:1"),
    ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "1000"),
    ("GITHUB_TOKEN", "for-the-tools"),
    ("EDITOR", "vi"),
];

fn terminal() -> TestContext {
    let all = EXPORTED.iter().chain(&KEPT);
    all.fold(TestContext::with_providers(), |context, (name, value)| context.with_env(name, value))
}

#[test]
fn what_is_exported_does_not_reach_a_third_party() {
    let context = terminal();
    for (line, supervised) in [("beta", false), ("beta", true), ("run --isolated beta", false)] {
        context.forget();
        let mut command = context.ccc_command(&line.split(' ').collect::<Vec<_>>());
        let output = command.envs(supervised.then_some(("CCC_SUPERVISOR", "1"))).output().unwrap();
        let output = crate::context::ccc_output(&output).succeeds();
        let env = read(&context.path("record/env"));
        assert!(!env.contains("exported"), "{line}: {env}");
        for (name, value) in KEPT {
            assert_eq!(context.variable(name).as_deref(), Some(value), "{line}");
        }
        assert_eq!(context.variable("ANTHROPIC_BASE_URL").as_deref(), Some("https://beta.example"));
        assert_eq!(context.variable("ANTHROPIC_AUTH_TOKEN").as_deref(), Some(TOKEN_B));
        let said = "not passed on to claude: ";
        assert!(output.stderr.contains(said) && output.stderr.contains("ANTHROPIC_API_KEY"), "{output:?}");
        assert!(!output.stderr.contains("exported"), "names and no values: {output:?}");
    }
}

#[test]
fn a_cloud_keeps_the_credentials_that_it_needs_and_no_others() {
    let context = terminal();
    let config = json!({ "providers": { "bedrock": { "env": { "CLAUDE_CODE_USE_BEDROCK": "1" } } } });
    put(&context.config(), config.to_string());
    context.run_ccc("bedrock").succeeds();
    assert_eq!(context.variable("AWS_SECRET_ACCESS_KEY").as_deref(), Some("exported-aws"));
    assert_eq!(context.variable("CLAUDE_CODE_USE_BEDROCK").as_deref(), Some("1"));
    for name in ["ANTHROPIC_API_KEY", "AZURE_CLIENT_SECRET", "CLAUDE_CODE_USE_VERTEX"] {
        assert_eq!(context.variable(name), None, "{name}");
    }
}

#[test]
fn the_user_can_keep_cloud_credentials_for_tools_but_no_key_of_another_provider() {
    let context = terminal();
    let config = read(&context.config());
    let kept = r#"{"keep_env": ["AWS_SECRET_ACCESS_KEY", "ANTHROPIC_API_KEY"],"#;
    put(&context.config(), config.replacen('{', kept, 1));
    context.run_ccc("beta").succeeds();
    assert_eq!(context.variable("AWS_SECRET_ACCESS_KEY").as_deref(), Some("exported-aws"));
    assert_eq!(context.variable("AZURE_CLIENT_SECRET"), None);
    assert_eq!(context.variable("ANTHROPIC_API_KEY"), None);
    put(&context.config(), config.replacen('{', r#"{"keep_env": "AWS_PROFILE","#, 1));
    context.run_ccc("beta").fails(&["`keep_env` is not a list of strings", "ccc.json:1"]);
}

#[test]
fn anthropic_itself_gets_the_users_own_key_and_nothing_from_elsewhere() {
    let context = TestContext::without_providers()
        .with_env("ANTHROPIC_API_KEY", "sk-ant-exported-key")
        .with_env("AWS_PROFILE", "p");
    put(&context.config(), r#"{"providers": {"claude": {}}}"#);
    context.run_ccc("").succeeds();
    assert_eq!(context.variable("ANTHROPIC_API_KEY").as_deref(), Some("sk-ant-exported-key"));
    assert_eq!(context.variable("AWS_PROFILE"), None);
    // A key beside another address is the key for that address.
    let context = context.with_env("ANTHROPIC_BASE_URL", "https://exported.example");
    context.run_ccc("").succeeds();
    assert_eq!(context.variable("ANTHROPIC_API_KEY"), None);
}

#[test]
fn a_stored_login_is_not_sent_to_a_third_party() {
    let context = TestContext::with_providers();
    put(&context.path("home/.claude.json"), r#"{"primaryApiKey": "sk-ant-stored-key"}"#);
    context.run_ccc("beta").succeeds();
    assert_eq!(context.variable("ANTHROPIC_CUSTOM_HEADERS"), Some(format!("x-api-key: {TOKEN_B}")));
    // The client's notes grow with every project.
    let notes = json!({ "history": "x".repeat(5 * 1024 * 1024), "primaryApiKey": "sk-ant-stored-key" });
    put(&context.path("home/.claude.json"), notes.to_string());
    context.forget();
    context.run_ccc("beta").succeeds();
    assert_eq!(context.variable("ANTHROPIC_CUSTOM_HEADERS"), Some(format!("x-api-key: {TOKEN_B}")));
    put(&context.path("home/.claude.json"), "{}");
    put(&context.path("home/.claude/.credentials.json"), r#"{"claudeAiOauth": {"accessToken": "stored"}}"#);
    put(
        &context.config(),
        r#"{"providers": {"local": {"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}}}}"#,
    );
    context.run_ccc("local").succeeds();
    assert_eq!(context.variable("ANTHROPIC_AUTH_TOKEN").as_deref(), Some("none"));
}

#[test]
fn a_session_inside_of_another_inherits_nothing_from_it() {
    let context = TestContext::with_providers()
        .with_env("CCC_ISOLATED_PROVIDER", "alpha")
        .with_env("CCC_ISOLATED_SUPERVISOR", "1")
        .with_env("CCC_PROVIDER", "alpha")
        .with_env("ANTHROPIC_MODEL", "alpha-1");
    context.run_ccc("beta").succeeds();
    assert_eq!(context.variable("CCC_PROVIDER").as_deref(), Some("beta"));
    for name in ["CCC_ISOLATED_PROVIDER", "CCC_ISOLATED_SUPERVISOR", "ANTHROPIC_MODEL"] {
        assert_eq!(context.variable(name), None, "{name}");
    }
}

#[test]
fn what_ccc_use_writes_switches_exported_keys_off() {
    let context = TestContext::with_providers();
    context.run_ccc("use beta").succeeds();
    let env = context.settings_value()["env"].clone();
    for name in ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK"] {
        assert_eq!(env[name], "", "{name}");
    }
}

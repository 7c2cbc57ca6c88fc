//! Keys that a terminal has exported: none of them reaches a provider that they are not for.

use serde_json::json;

use crate::world::{TOKEN_B, World, put, read};

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

fn terminal() -> World {
    let all = EXPORTED.iter().chain(&KEPT);
    all.fold(World::new(), |world, (name, value)| world.with(name, value))
}

#[test]
fn what_is_exported_does_not_reach_a_third_party() {
    let world = terminal();
    for (line, supervised) in [("beta", false), ("beta", true), ("run --isolated beta", false)] {
        world.forget();
        let mut command = world.command(&line.split(' ').collect::<Vec<_>>());
        let output = command.envs(supervised.then_some(("CCC_SUPERVISOR", "1"))).output().unwrap();
        let output = crate::world::Output::of(&output).ok();
        let env = read(&world.path("record/env"));
        assert!(!env.contains("exported"), "{line}: {env}");
        for (name, value) in KEPT {
            assert_eq!(world.variable(name).as_deref(), Some(value), "{line}");
        }
        assert_eq!(world.variable("ANTHROPIC_BASE_URL").as_deref(), Some("https://beta.example"));
        assert_eq!(world.variable("ANTHROPIC_AUTH_TOKEN").as_deref(), Some(TOKEN_B));
        let said = "not passed on to claude: ";
        assert!(output.stderr.contains(said) && output.stderr.contains("ANTHROPIC_API_KEY"), "{output:?}");
        assert!(!output.stderr.contains("exported"), "names and no values: {output:?}");
    }
}

#[test]
fn a_cloud_keeps_the_credentials_that_it_needs_and_no_others() {
    let world = terminal();
    let config = json!({ "providers": { "bedrock": { "env": { "CLAUDE_CODE_USE_BEDROCK": "1" } } } });
    put(&world.config(), &config.to_string());
    world.run("bedrock").ok();
    assert_eq!(world.variable("AWS_SECRET_ACCESS_KEY").as_deref(), Some("exported-aws"));
    assert_eq!(world.variable("CLAUDE_CODE_USE_BEDROCK").as_deref(), Some("1"));
    for name in ["ANTHROPIC_API_KEY", "AZURE_CLIENT_SECRET", "CLAUDE_CODE_USE_VERTEX"] {
        assert_eq!(world.variable(name), None, "{name}");
    }
}

#[test]
fn the_user_can_keep_cloud_credentials_for_tools_but_no_key_of_another_provider() {
    let world = terminal();
    let config = read(&world.config());
    let kept = r#"{"keep_env": ["AWS_SECRET_ACCESS_KEY", "ANTHROPIC_API_KEY"],"#;
    put(&world.config(), &config.replacen('{', kept, 1));
    world.run("beta").ok();
    assert_eq!(world.variable("AWS_SECRET_ACCESS_KEY").as_deref(), Some("exported-aws"));
    assert_eq!(world.variable("AZURE_CLIENT_SECRET"), None);
    assert_eq!(world.variable("ANTHROPIC_API_KEY"), None);
    put(&world.config(), &config.replacen('{', r#"{"keep_env": "AWS_PROFILE","#, 1));
    world.run("beta").fails(&["`keep_env` is not a list of texts", "ccc.json:1"]);
}

#[test]
fn anthropic_itself_gets_the_users_own_key_and_nothing_from_elsewhere() {
    let world = World::empty().with("ANTHROPIC_API_KEY", "sk-ant-exported-key").with("AWS_PROFILE", "p");
    put(&world.config(), r#"{"providers": {"claude": {}}}"#);
    world.run("").ok();
    assert_eq!(world.variable("ANTHROPIC_API_KEY").as_deref(), Some("sk-ant-exported-key"));
    assert_eq!(world.variable("AWS_PROFILE"), None);
    // A key beside another address is the key for that address.
    let world = world.with("ANTHROPIC_BASE_URL", "https://exported.example");
    world.run("").ok();
    assert_eq!(world.variable("ANTHROPIC_API_KEY"), None);
}

#[test]
fn a_stored_login_is_not_sent_to_a_third_party() {
    let world = World::new();
    put(&world.path("home/.claude.json"), r#"{"primaryApiKey": "sk-ant-stored-key"}"#);
    world.run("beta").ok();
    assert_eq!(world.variable("ANTHROPIC_CUSTOM_HEADERS"), Some(format!("x-api-key: {TOKEN_B}")));
    // The client's notes grow with every project.
    let notes = json!({ "history": "x".repeat(5 * 1024 * 1024), "primaryApiKey": "sk-ant-stored-key" });
    put(&world.path("home/.claude.json"), &notes.to_string());
    world.forget();
    world.run("beta").ok();
    assert_eq!(world.variable("ANTHROPIC_CUSTOM_HEADERS"), Some(format!("x-api-key: {TOKEN_B}")));
    put(&world.path("home/.claude.json"), "{}");
    put(&world.path("home/.claude/.credentials.json"), r#"{"claudeAiOauth": {"accessToken": "stored"}}"#);
    put(
        &world.config(),
        r#"{"providers": {"local": {"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}}}}"#,
    );
    world.run("local").ok();
    assert_eq!(world.variable("ANTHROPIC_AUTH_TOKEN").as_deref(), Some("none"));
}

#[test]
fn a_session_inside_of_another_inherits_nothing_from_it() {
    let world = World::new()
        .with("CCC_ISOLATED_PROVIDER", "alpha")
        .with("CCC_ISOLATED_SUPERVISOR", "1")
        .with("CCC_PROVIDER", "alpha")
        .with("ANTHROPIC_MODEL", "alpha-1");
    world.run("beta").ok();
    assert_eq!(world.variable("CCC_PROVIDER").as_deref(), Some("beta"));
    for name in ["CCC_ISOLATED_PROVIDER", "CCC_ISOLATED_SUPERVISOR", "ANTHROPIC_MODEL"] {
        assert_eq!(world.variable(name), None, "{name}");
    }
}

#[test]
fn what_ccc_use_writes_switches_exported_keys_off() {
    let world = World::new();
    world.run("use beta").ok();
    let env = world.settings_value()["env"].clone();
    for name in ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK"] {
        assert_eq!(env[name], "", "{name}");
    }
}

//! `ccc migrate`: a set-up that was made by hand or by another launcher is taken over whole, once.

use serde_json::{Value, json};

use crate::context::{TOKEN_A, TOKEN_B, TestContext, mode, put, read};

const SETTINGS: &str = r#"{
  "model": "opus",
  "env": {
    "ANTHROPIC_BASE_URL": "https://api.moonshot.cn/anthropic",
    "ANTHROPIC_AUTH_TOKEN": "sk-a-0123456789-aaaaaaaaaaaaaaaa",
    "HTTPS_PROXY": "http://proxy:8080"
  }
}
"#;

fn config(context: &TestContext) -> Value {
    serde_json::from_str(&read(&context.config())).unwrap()
}

#[test]
fn settings_become_a_provider_that_comes_and_goes() {
    let context = TestContext::without_providers();
    put(&context.settings(), SETTINGS);
    let output = context.run_ccc("migrate").succeeds().stderr_has(&[
        "found moonshot:",
        "ANTHROPIC_AUTH_TOKEN=****aaaa",
        "added moonshot to ",
        "moonshot becomes the current provider",
        "ccc now manages: ANTHROPIC_BASE_URL, ANTHROPIC_AUTH_TOKEN",
    ]);
    assert_eq!(output.stdout, "");
    assert_eq!(read(&context.settings()), SETTINGS);
    let env =
        json!({ "ANTHROPIC_BASE_URL": "https://api.moonshot.cn/anthropic", "ANTHROPIC_AUTH_TOKEN": TOKEN_A });
    assert_eq!(
        config(&context),
        json!({ "providers": { "moonshot": { "env": env } }, "current_provider": "moonshot" })
    );
    assert_eq!(mode(&context.config()), 0o600);
    assert_eq!(context.run_ccc("").succeeds().stderr, "ccc: on moonshot\n");
    assert_eq!(read(&context.settings()), SETTINGS);
    context.run_ccc("add other --base-url https://other.example").succeeds();
    context.run_ccc("use other").succeeds();
    let own = context.settings_value();
    assert_eq!(
        (&own["env"]["ANTHROPIC_BASE_URL"], &own["env"]["ANTHROPIC_AUTH_TOKEN"], &own["env"]["HTTPS_PROXY"]),
        (&json!("https://other.example"), &json!(""), &json!("http://proxy:8080"))
    );
    assert_eq!(own["model"], "opus");
    context.run_ccc("use moonshot").succeeds();
    assert_eq!(context.settings_value()["env"]["ANTHROPIC_AUTH_TOKEN"], TOKEN_A);
}

#[test]
fn a_second_time_there_is_nothing_to_do() {
    let context = TestContext::without_providers();
    put(&context.settings(), SETTINGS);
    context.run_ccc("migrate").succeeds();
    let files = || {
        (
            read(&context.config()),
            read(&context.settings()),
            read(&context.path("home/.claude/ccc/owned.json")),
        )
    };
    let before = files();
    context.run_ccc("migrate").succeeds().stderr_has(&["nothing to migrate", "settings.json"]);
    assert_eq!(context.run_ccc("migrate --json").succeeds().json()["changed"], false);
    assert_eq!(files(), before);
    std::fs::remove_file(context.path("home/.claude/ccc/owned.json")).unwrap();
    context.run_ccc("migrate").succeeds().stderr_has(&["moonshot already exists"]);
    assert_eq!(files(), before);
}

#[test]
fn a_dry_run_writes_nothing() {
    let context = TestContext::without_providers();
    put(&context.settings(), SETTINGS);
    context.run_ccc("migrate --dry-run").succeeds().stderr_has(&["added moonshot to", "nothing was changed"]);
    let found = context.run_ccc("migrate --dry-run --json").succeeds().json();
    assert_eq!(found["found"][0]["env"]["ANTHROPIC_AUTH_TOKEN"], "****aaaa");
    assert_eq!((&found["changed"], &found["current"]), (&json!(false), &json!("moonshot")));
    assert!(!context.config().exists() && !context.path("home/.claude/ccc").exists());
}

#[test]
fn what_is_there_stays_with_its_comments_and_a_copy_is_kept() {
    let context = TestContext::without_providers();
    let before = "{\n  // mine\n  \"zeta\": 1.50,\n  \"providers\": {\n    \"moonshot\": { \"env\": {} } // other\n  },\n  \"current_provider\": \"moonshot\"\n}\n";
    put(&context.config(), before);
    put(&context.settings(), SETTINGS);
    context.run_ccc("migrate --name moonshot").fails(&["provider already exists: moonshot", "ccc.json:5"]);
    context.run_ccc("migrate --name list").fails(&["not a valid provider name"]);
    assert_eq!(read(&context.config()), before);
    context.run_ccc("migrate").succeeds().stderr_has(&["added moonshot-2", "ccc.backup.json"]);
    let after = read(&context.config());
    assert!(
        after.contains("// mine\n  \"zeta\": 1.50")
            && after.contains("// other")
            && after.contains("moonshot-2")
    );
    assert!(after.contains("\"current_provider\": \"moonshot\""));
    let backup = context.path("home/.claude/ccc/ccc.backup.json");
    assert_eq!((read(&backup).as_str(), mode(&backup)), (before, 0o600));
}

#[test]
fn what_another_provider_hides_is_found_too() {
    let context = TestContext::with_providers();
    put(
        &context.settings(),
        json!({ "env": { "ANTHROPIC_MODEL": "mine", "ANTHROPIC_API_KEY": TOKEN_B } }).to_string(),
    );
    context.run_ccc("use alpha").succeeds();
    context.run_ccc("migrate --name own").succeeds();
    assert_eq!(
        config(&context)["providers"]["own"]["env"],
        json!({ "ANTHROPIC_MODEL": "mine", "ANTHROPIC_API_KEY": TOKEN_B })
    );
    assert_eq!(config(&context)["current_provider"], "alpha");
    context.run_ccc("use beta").succeeds();
    assert_eq!(context.settings_value()["env"].get("ANTHROPIC_MODEL"), None);
    assert_eq!(
        context.settings_value()["env"]["ANTHROPIC_API_KEY"],
        "",
        "an exported one is not for beta either"
    );
    context.run_ccc("use own").succeeds();
    assert_eq!(
        context.settings_value()["env"],
        json!({ "ANTHROPIC_MODEL": "mine", "ANTHROPIC_API_KEY": TOKEN_B })
    );
}

#[test]
fn the_file_of_another_launcher_is_merged() {
    let context = TestContext::with_providers();
    let other = context.path("profiles.json");
    put(
        &other,
        format!(
            "{{ // theirs\n \"profiles\": {{ \"glm\": {{ \"base_url\": \"https://glm.example\", \"token\": \"{TOKEN_B}\", \"color\": \"red\" }},\n\
         \"alpha\": {{ \"baseUrl\": \"https://other.example\" }}, \"use\": {{ \"apiKey\": \"k\" }}, \"odd\": 1 }}, \"current\": \"glm\" }}"
        ),
    );
    let line = format!("migrate --from {}", other.display());
    context.run_ccc(&line).succeeds().stderr_has(&[
        "added glm to",
        "ANTHROPIC_AUTH_TOKEN=****bbbb",
        "alpha already exists and differs; yours is kept",
        "use is not a valid name",
        "odd has no usable settings",
    ]);
    let after = config(&context);
    assert_eq!(
        after["providers"]["glm"],
        json!({ "env": { "ANTHROPIC_BASE_URL": "https://glm.example", "ANTHROPIC_AUTH_TOKEN": TOKEN_B } })
    );
    assert_eq!(after["providers"]["alpha"]["env"]["ANTHROPIC_BASE_URL"], "https://alpha.example");
    assert_eq!(after["current_provider"], "alpha");
    let text = read(&context.config());
    context.run_ccc(&line).succeeds().stderr_has(&["nothing to migrate"]);
    assert_eq!(read(&context.config()), text);
    context.run_ccc("migrate --from /no/such/file").fails(&["/no/such/file"]);
}

#[test]
fn an_older_configuration_is_taken_whole_where_there_is_none() {
    let context = TestContext::without_providers();
    let old = context.path("old.json");
    put(&old, crate::context::providers().to_string());
    context
        .run_ccc(&format!("migrate --from {}", old.display()))
        .succeeds()
        .stderr_has(&["migrated `claude_args`"]);
    assert_eq!(config(&context), {
        let mut all = crate::context::providers();
        let settings = all.as_object_mut().unwrap().remove("settings");
        all["settings"] = settings.unwrap();
        all
    });
    assert_eq!(context.run_ccc("current").succeeds().stdout, "alpha\n");
}

#[test]
fn settings_that_cannot_be_used_are_refused() {
    let context = TestContext::without_providers();
    put(&context.settings(), "{\n// mine\n}");
    context.run_ccc("migrate").fails(&["settings.json:2"]);
    put(&context.settings(), "{}");
    context.run_ccc("migrate").succeeds().stderr_has(&["nothing to migrate"]);
    assert!(!context.config().exists());
}

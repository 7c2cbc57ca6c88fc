//! `ccc list|current|use|add|remove|env`.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::context::{BINARY, TOKEN_A, TestContext, ccc_output, mode, put, read};

#[test]
fn list_shows_every_provider_and_no_token() {
    let context = TestContext::with_providers();
    let output = context.run_ccc("list").succeeds();
    assert!(
        output.stdout.contains("*  alpha") && output.stdout.contains("https://beta.example"),
        "{output:?}"
    );
    let listed = context.run_ccc("list --json").succeeds().json();
    assert_eq!(listed["providers"][0]["name"], "alpha");
    assert_eq!(listed["providers"][0]["current"], true);
    assert_eq!(listed["providers"][0]["env"]["ANTHROPIC_AUTH_TOKEN"], "****aaaa");
    assert_eq!(listed["providers"][1]["current"], false);
}

#[test]
fn current_and_env_are_about_the_chosen_one() {
    let context = TestContext::with_providers();
    assert_eq!(context.run_ccc("current").succeeds().stdout, "alpha\n");
    assert_eq!(context.run_ccc("current --json").succeeds().json()["provider"], "alpha");
    let env = context.run_ccc("env beta").succeeds().stdout;
    assert_eq!(env, "ANTHROPIC_BASE_URL=https://beta.example\nANTHROPIC_AUTH_TOKEN=****bbbb\n");
    assert_eq!(context.run_ccc("env --json").succeeds().json()["env"]["ANTHROPIC_MODEL"], "alpha-1");
}

#[test]
fn an_unknown_provider_is_an_error_with_the_nearest_name() {
    let context = TestContext::with_providers();
    for line in
        ["alhpa", "use alhpa", "env alhpa", "remove alhpa", "run alhpa", "run --isolated alhpa -- -p x"]
    {
        context.run_ccc(line).fails(&["unknown provider: alhpa", "did you mean alpha?"]);
    }
    context.run_ccc("something").fails(&["unknown provider: something", "available: alpha, beta"]);
    assert_eq!(context.arguments(), None);
    assert!(!context.settings().exists());
}

#[test]
fn without_providers_it_says_how_to_add_one() {
    let context = TestContext::without_providers();
    context.run_ccc("").fails(&["no provider is selected", "ccc.json", "ccc add"]);
    context.run_ccc("list").succeeds();
    assert!(!context.config().exists());
}

#[test]
fn add_takes_the_token_from_stdin_into_a_private_file() {
    let context = TestContext::without_providers();
    let words = ["add", "kimi", "--base-url", "https://kimi.example", "--token-stdin", "--env", "X=1"];
    let mut child = context.ccc_command(&words).stdin(Stdio::piped()).spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), "{TOKEN_A}").unwrap();
    ccc_output(&child.wait_with_output().unwrap()).succeeds().stderr_has(&["added kimi"]);
    assert_eq!(mode(&context.config()), 0o600);
    let config: serde_json::Value = serde_json::from_str(&read(&context.config())).unwrap();
    let env =
        json!({ "ANTHROPIC_BASE_URL": "https://kimi.example", "ANTHROPIC_AUTH_TOKEN": TOKEN_A, "X": "1" });
    assert_eq!(config, json!({ "providers": { "kimi": { "env": env } }, "current_provider": "kimi" }));
    context.run_ccc("add kimi").fails(&["provider already exists: kimi", "ccc.json:3"]);
}

#[test]
fn add_refuses_what_cannot_work() {
    let context = TestContext::without_providers();
    context.run_ccc("add list").fails(&["not a valid provider name"]);
    context.run_ccc("add mcp").fails(&["not a valid provider name"]);
    context.run_ccc("add a/b").fails(&["not a valid provider name"]);
    context.run_ccc("add a --env nothing").fails(&["not NAME=VALUE"]);
    let output =
        context.run_ccc("add a --env ANTHROPIC_API_KEY=abcdef").fails(&["a secret on the command line"]);
    assert!(!output.stderr.contains("abcdef"));
    let output = context
        .run_ccc("add a --base-url https://ann:hunter2@a.example")
        .fails(&["a secret on the command line"]);
    assert!(!output.stderr.contains("hunter2"));
    let output = context
        .run_ccc("add a --env X_NOTE=sk-ant-0123456789abc")
        .fails(&["a secret on the command line", "X_NOTE"]);
    assert!(!output.stderr.contains("0123456789"));
    context.run_ccc("add a --token-stdin").fails(&["no token on stdin"]);
    context.run_ccc("add a --token-env MY_TOKEN --api-key").succeeds();
    assert!(read(&context.config()).contains(r#""ANTHROPIC_API_KEY": "${MY_TOKEN}""#));
}

#[test]
fn comments_unknown_keys_and_order_survive_and_the_file_becomes_private() {
    let context = TestContext::without_providers();
    let text = "{\n  // mine\n  \"zeta\": 1.50,\n  \"providers\": {\n    \"a\": { \"env\": {}, \"note\": 1e3 },\n    \
                \"b\": { \"env\": {} } // second\n  },\n  \"current_provider\": \"a\"\n}\n";
    put(&context.config(), text);
    context.run_ccc("use b").succeeds();
    assert_eq!(read(&context.config()), text.replace("_provider\": \"a\"", "_provider\": \"b\""));
    assert_eq!(mode(&context.config()), 0o600);
    context.run_ccc("remove b").succeeds();
    assert!(
        read(&context.config()).contains("\"zeta\": 1.50") && !read(&context.config()).contains("current")
    );
}

#[test]
fn the_config_folder_can_be_elsewhere() {
    let context = TestContext::with_providers();
    let elsewhere = context.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::rename(context.config(), elsewhere.join("ccc.json")).unwrap();
    for variable in ["CCC_WORK_DIR", "CCC_CONFIG_DIR"] {
        let output = context.ccc_command(&["use", "beta"]).env(variable, &elsewhere).output().unwrap();
        ccc_output(&output).succeeds();
        assert!(elsewhere.join("ccc/owned.json").exists());
        assert!(!context.path("home/.claude/ccc").exists());
        assert_eq!(context.settings_value()["env"]["ANTHROPIC_BASE_URL"], "https://beta.example");
    }
}

#[test]
fn chinese_is_its_language_unless_another_is_asked_for() {
    let context = TestContext::with_providers().with_env("OVERTONE_LANG", "");
    context
        .run_ccc("nobody")
        .stderr_has(&["未知的 provider: nobody", "可用：alpha, beta；要把参数交给 claude"]);
    put(&context.path("home/.overtone/config.json"), r#"{"language":"zh-TW"}"#);
    context.run_ccc("nobody").stderr_has(&["要把參數交給 claude"]);
    context.with_env("OVERTONE_LANG", "en").run_ccc("nobody").stderr_has(&["unknown provider: nobody"]);
}

#[test]
fn it_is_also_a_command_of_overtone() {
    let context = TestContext::with_providers();
    let mut command = Command::new(BINARY);
    let output =
        command.args(["ccc", "current"]).env_clear().env("HOME", context.path("home")).output().unwrap();
    assert_eq!(ccc_output(&output).succeeds().stdout, "alpha\n");
}

#[test]
fn help_is_there() {
    let context = TestContext::with_providers();
    let output = context.run_ccc("--help").succeeds();
    assert!(output.stdout.contains("ccc [--dry-run] [PROVIDER]"), "{output:?}");
    assert_eq!(context.run_ccc("use").code, Some(2));
    let output = context.ccc_command(&["list"]).env_remove("HOME").output().unwrap();
    ccc_output(&output).fails(&["HOME is not set"]);
}

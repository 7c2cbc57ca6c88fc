//! `ccc list|current|use|add|remove|env`.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::world::{BINARY, Output, TOKEN_A, World, mode, put, read};

#[test]
fn list_shows_every_provider_and_no_token() {
    let world = World::new();
    let output = world.run("list").ok();
    assert!(
        output.stdout.contains("*  alpha") && output.stdout.contains("https://beta.example"),
        "{output:?}"
    );
    let listed = world.run("list --json").ok().json();
    assert_eq!(listed["providers"][0]["name"], "alpha");
    assert_eq!(listed["providers"][0]["current"], true);
    assert_eq!(listed["providers"][0]["env"]["ANTHROPIC_AUTH_TOKEN"], "****aaaa");
    assert_eq!(listed["providers"][1]["current"], false);
}

#[test]
fn current_and_env_are_about_the_chosen_one() {
    let world = World::new();
    assert_eq!(world.run("current").ok().stdout, "alpha\n");
    assert_eq!(world.run("current --json").ok().json()["provider"], "alpha");
    let env = world.run("env beta").ok().stdout;
    assert_eq!(env, "ANTHROPIC_BASE_URL=https://beta.example\nANTHROPIC_AUTH_TOKEN=****bbbb\n");
    assert_eq!(world.run("env --json").ok().json()["env"]["ANTHROPIC_MODEL"], "alpha-1");
}

#[test]
fn an_unknown_provider_is_an_error_with_the_nearest_name() {
    let world = World::new();
    for line in
        ["alhpa", "use alhpa", "env alhpa", "remove alhpa", "run alhpa", "run --isolated alhpa -- -p x"]
    {
        world.run(line).fails(&["unknown provider: alhpa", "did you mean alpha?"]);
    }
    world.run("something").fails(&["unknown provider: something", "there are: alpha, beta"]);
    assert_eq!(world.arguments(), None);
    assert!(!world.settings().exists());
}

#[test]
fn without_providers_it_says_how_to_add_one() {
    let world = World::empty();
    world.run("").fails(&["no provider is chosen", "ccc.json", "ccc add"]);
    world.run("list").ok();
    assert!(!world.config().exists());
}

#[test]
fn add_takes_the_token_from_stdin_into_a_private_file() {
    let world = World::empty();
    let words = ["add", "kimi", "--base-url", "https://kimi.example", "--token-stdin", "--env", "X=1"];
    let mut child = world.command(&words).stdin(Stdio::piped()).spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), "{TOKEN_A}").unwrap();
    Output::of(&child.wait_with_output().unwrap()).ok().stderr_has(&["added kimi"]);
    assert_eq!(mode(&world.config()), 0o600);
    let config: serde_json::Value = serde_json::from_str(&read(&world.config())).unwrap();
    let env =
        json!({ "ANTHROPIC_BASE_URL": "https://kimi.example", "ANTHROPIC_AUTH_TOKEN": TOKEN_A, "X": "1" });
    assert_eq!(config, json!({ "providers": { "kimi": { "env": env } }, "current_provider": "kimi" }));
    world.run("add kimi").fails(&["provider exists already: kimi", "ccc.json:3"]);
}

#[test]
fn add_refuses_what_cannot_work() {
    let world = World::empty();
    world.run("add list").fails(&["not usable as a provider's name"]);
    world.run("add mcp").fails(&["not usable"]);
    world.run("add a/b").fails(&["not usable"]);
    world.run("add a --env nothing").fails(&["not NAME=VALUE"]);
    let output = world.run("add a --env ANTHROPIC_API_KEY=abcdef").fails(&["a secret on the command line"]);
    assert!(!output.stderr.contains("abcdef"));
    let output =
        world.run("add a --base-url https://ann:hunter2@a.example").fails(&["a secret on the command line"]);
    assert!(!output.stderr.contains("hunter2"));
    let output = world
        .run("add a --env X_NOTE=sk-ant-0123456789abc")
        .fails(&["a secret on the command line", "X_NOTE"]);
    assert!(!output.stderr.contains("0123456789"));
    world.run("add a --token-stdin").fails(&["no token on stdin"]);
    world.run("add a --token-env MY_TOKEN --api-key").ok();
    assert!(read(&world.config()).contains(r#""ANTHROPIC_API_KEY": "${MY_TOKEN}""#));
}

#[test]
fn comments_unknown_keys_and_order_survive_and_the_file_becomes_private() {
    let world = World::empty();
    let text = "{\n  // mine\n  \"zeta\": 1.50,\n  \"providers\": {\n    \"a\": { \"env\": {}, \"note\": 1e3 },\n    \
                \"b\": { \"env\": {} } // second\n  },\n  \"current_provider\": \"a\"\n}\n";
    put(&world.config(), text);
    world.run("use b").ok();
    assert_eq!(read(&world.config()), text.replace("_provider\": \"a\"", "_provider\": \"b\""));
    assert_eq!(mode(&world.config()), 0o600);
    world.run("remove b").ok();
    assert!(read(&world.config()).contains("\"zeta\": 1.50") && !read(&world.config()).contains("current"));
}

#[test]
fn the_config_folder_can_be_elsewhere() {
    let world = World::new();
    let elsewhere = world.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::rename(world.config(), elsewhere.join("ccc.json")).unwrap();
    for variable in ["CCC_WORK_DIR", "CCC_CONFIG_DIR"] {
        let output = world.command(&["use", "beta"]).env(variable, &elsewhere).output().unwrap();
        Output::of(&output).ok();
        assert!(elsewhere.join("ccc/owned.json").exists());
        assert!(!world.path("home/.claude/ccc").exists());
        assert_eq!(world.settings_value()["env"]["ANTHROPIC_BASE_URL"], "https://beta.example");
    }
}

#[test]
fn chinese_is_its_language_unless_another_is_asked_for() {
    let world = World::new().with("OVERTONE_LANG", "");
    world.run("nobody").stderr_has(&["未知的 provider: nobody", "可用：alpha, beta；要把参数交给 claude"]);
    put(&world.path("home/.overtone/config.json"), r#"{"language":"zh-TW"}"#);
    world.run("nobody").stderr_has(&["要把參數交給 claude"]);
    world.with("OVERTONE_LANG", "en").run("nobody").stderr_has(&["unknown provider: nobody"]);
}

#[test]
fn it_is_also_a_command_of_overtone() {
    let world = World::new();
    let mut command = Command::new(BINARY);
    let output =
        command.args(["ccc", "current"]).env_clear().env("HOME", world.path("home")).output().unwrap();
    assert_eq!(Output::of(&output).ok().stdout, "alpha\n");
}

#[test]
fn help_is_there() {
    let world = World::new();
    let output = world.run("--help").ok();
    assert!(output.stdout.contains("ccc [--dry-run] [PROVIDER]"), "{output:?}");
    assert_eq!(world.run("use").code, Some(2));
    let output = world.command(&["list"]).env_remove("HOME").output().unwrap();
    Output::of(&output).fails(&["HOME is not set"]);
}

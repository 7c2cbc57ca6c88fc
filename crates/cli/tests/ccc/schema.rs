//! `ccc schema`: the schema agrees with what `ccc` itself accepts and refuses.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::context::{BINARY, TestContext, providers, put, read};

fn schema(line: &str) -> Validator {
    let schema = TestContext::without_providers().run_ccc(line).succeeds().json();
    assert!(jsonschema::meta::is_valid(&schema));
    jsonschema::validator_for(&schema).unwrap()
}

/// Whether `ccc edit` would save it.
fn is_accepted(value: &Value) -> bool {
    let context = TestContext::without_providers();
    let editor = context.path("bin/editor");
    put(&context.path("edited.json"), value.to_string());
    put(&editor, format!("#!/bin/sh\ncat '{}' > \"$1\"\n", context.path("edited.json").display()));
    fs::set_permissions(&editor, Permissions::from_mode(0o755)).unwrap();
    let output = context.ccc_command(&["edit"]).env("EDITOR", &editor).output().unwrap();
    output.status.success()
}

#[test]
fn good_files_are_good_and_wrong_ones_wrong_for_both() {
    let schema = schema("schema");
    let checks = json!(["make", { "name": "t", "command": "x", "timeout_seconds": 1 }, { "changes": true }, { "name": "c", "changes": true }]);
    for good in [
        providers(),
        json!({ "$schema": "./x", "unknown": [1], "keep_env": ["AWS_PROFILE"], "providers": { "a": { "env": { "N": 1 }, "permissions": {} } } }),
        json!({ "supervisor": { "enabled": true, "max_iterations": 1, "timeout_seconds": 1, "model": "m",
            "max_budget_usd": 0.01, "checks": checks, "later": 1 } }),
    ] {
        assert!(schema.is_valid(&good), "{good}");
        assert!(is_accepted(&good), "{good}");
    }
    for wrong in [
        json!({ "providers": [] }),
        json!({ "providers": { "a": 1 } }),
        json!({ "providers": { "a": { "env": [] } } }),
        json!({ "providers": { "a": { "env": { "X": [] } } } }),
        json!({ "settings": { "env": { "X": {} } } }),
        json!({ "settings": 1 }),
        json!({ "current_provider": 1 }),
        json!({ "claude_args": "--verbose" }),
        json!({ "claude_args": [1] }),
        json!({ "keep_env": "AWS_PROFILE" }),
        json!({ "supervisor": true }),
        json!({ "supervisor": { "enabled": "yes" } }),
        json!({ "supervisor": { "max_iterations": 0 } }),
        json!({ "supervisor": { "max_iterations": 1.5 } }),
        json!({ "supervisor": { "timeout_seconds": "60" } }),
        json!({ "supervisor": { "provider": 1 } }),
        json!({ "supervisor": { "model": [] } }),
        json!({ "supervisor": { "max_budget_usd": 0 } }),
        json!({ "supervisor": { "checks": "make" } }),
        json!({ "supervisor": { "checks": [1] } }),
        json!({ "supervisor": { "checks": [{ "name": "x" }] } }),
        json!({ "supervisor": { "checks": [{ "changes": false }] } }),
        json!({ "supervisor": { "checks": [{ "command": "x", "timeout_seconds": 0 }] } }),
    ] {
        assert!(!schema.is_valid(&wrong), "{wrong}");
        assert!(!is_accepted(&wrong), "{wrong}");
    }
}

/// A text with comments as it is without them. Only whole lines are comments in what we write.
fn without_comments(text: &str) -> Value {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    serde_json::from_str(&lines.join("\n")).unwrap()
}

#[test]
fn what_ccc_writes_itself_is_good() {
    let schema = schema("schema");
    let context = TestContext::without_providers();
    context.run_ccc("add kimi --base-url https://kimi.example --token-env KIMI_KEY").succeeds();
    assert!(schema.is_valid(&serde_json::from_str(&read(&context.config())).unwrap()));
    for lang in ["en", "zh-CN", "zh-TW"] {
        let context = TestContext::without_providers().with_env("OVERTONE_LANG", lang);
        let copy = context.path("record/template");
        let editor = context.path("bin/editor");
        put(&editor, format!("#!/bin/sh\ncp \"$1\" '{}'\n", copy.display()));
        fs::set_permissions(&editor, Permissions::from_mode(0o755)).unwrap();
        context.ccc_command(&["edit"]).env("EDITOR", &editor).output().unwrap();
        assert!(schema.is_valid(&without_comments(&read(&copy))), "{lang}");
    }
}

/// The README's commands make a file that is good.
#[test]
fn the_readme_teaches_what_is_good() {
    let readme = read(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")));
    let line = readme.lines().find(|line| line.contains("ccc add")).unwrap();
    let words: Vec<_> = line.split_whitespace().skip_while(|word| *word != "add").collect();
    let context = TestContext::without_providers();
    assert!(context.ccc_command(&words).output().unwrap().status.success());
    assert!(schema("schema").is_valid(&serde_json::from_str(&read(&context.config())).unwrap()));
}

#[test]
fn a_projects_file_has_a_schema_of_its_own() {
    let schema = schema("schema --project");
    assert!(schema.is_valid(&json!({ "provider": "kimi", "more": 1 })));
    assert!(!schema.is_valid(&json!({ "provider": 1 })));
    assert!(!schema.is_valid(&json!([])));
}

#[test]
fn both_names_are_completed_and_explained() {
    let context = TestContext::without_providers();
    for shell in ["bash", "zsh", "fish"] {
        let script = context.run_ccc(&format!("completions {shell}")).succeeds().stdout;
        for word in ["ccc", "validate", "migrate", "doctor", "edit", "schema", "list"] {
            assert!(script.contains(word), "no {word} for {shell}");
        }
        let output = Command::new(BINARY).args(["completions", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(script.contains("ccc") && script.contains("migrate"), "{shell}");
    }
    let help = |words: &[&str]| {
        String::from_utf8(Command::new(BINARY).args(words).output().unwrap().stdout).unwrap()
    };
    assert!(
        help(&["--help"]).contains("ccc                  Starts Claude Code on any provider"),
        "{}",
        help(&["--help"])
    );
    assert!(help(&["help", "ccc"]).contains("ccc [--dry-run] [PROVIDER]"));
    for command in ["validate", "edit", "migrate", "doctor", "schema", "completions"] {
        assert!(help(&["ccc", command, "--help"]).contains("Examples:"), "{command}");
    }
}

/// The script for bash offers the commands when `ccc <TAB>` is typed.
#[test]
fn bash_offers_the_commands() {
    let context = TestContext::without_providers();
    put(&context.path("ccc.bash"), &context.run_ccc("completions bash").succeeds().stdout);
    let script = format!(
        "source '{}'; COMP_WORDS=(ccc ''); COMP_CWORD=1; COMP_LINE='ccc '; COMP_POINT=4; _ccc ccc '' ccc; echo \"${{COMPREPLY[@]}}\"",
        context.path("ccc.bash").display()
    );
    let output = Command::new("bash").args(["--norc", "-c", &script]).output().unwrap();
    let offered = String::from_utf8(output.stdout).unwrap();
    for command in ["list", "validate", "doctor", "run"] {
        assert!(offered.split_whitespace().any(|word| word == command), "{offered}");
    }
}

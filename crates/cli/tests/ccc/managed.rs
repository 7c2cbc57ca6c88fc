//! The administrator's settings, which win over everything: where they would send the client to another provider, they
//! are named and nothing starts.

use std::process::Command;

use crate::context::{Output, TOKEN_A, TestContext, put, read};
use crate::namespace;

const FILE: &str = "/etc/claude-code/managed-settings.json";

/// A context with `etc/`, which takes the place of the machine's while `ccc` runs.
fn with_managed_settings() -> TestContext {
    let context = TestContext::with_providers();
    context.install("bin/ccc");
    std::fs::create_dir_all(context.path("etc/claude-code")).unwrap();
    context
}

fn run(context: &TestContext, words: &[&str]) -> Option<Output> {
    let ccc = context.path("bin/ccc").display().to_string();
    let program: Vec<_> = std::iter::once(ccc.as_str()).chain(words.iter().copied()).collect();
    namespace::run(context, &context.path("etc"), "/etc", &program)
}

#[test]
fn what_the_administrator_set_is_named_with_its_line() {
    let context = with_managed_settings();
    let text = format!(
        "{{\n  \"env\": {{\n    \"ANTHROPIC_BASE_URL\": \"https://proxy.example\",\n    \
         \"ANTHROPIC_API_KEY\": \"{TOKEN_A}\"\n  }}\n}}\n"
    );
    put(&context.path("etc/claude-code/managed-settings.json"), &text);
    for words in [["beta"].as_slice(), &["run", "--isolated", "beta"]] {
        let Some(output) = run(&context, words) else { return };
        output.fails(&[
            "cannot start on beta",
            &format!("ANTHROPIC_BASE_URL ({FILE}:3)"),
            &format!("ANTHROPIC_API_KEY ({FILE}:4)"),
            "ask the administrator",
        ]);
    }
    assert_eq!(context.arguments(), None, "the token of beta is not for the administrator's server");
    assert!(!context.settings().exists());
    assert_eq!(read(&context.path("etc/claude-code/managed-settings.json")), text);
}

#[test]
fn a_file_beside_the_main_one_counts_as_well() {
    let context = with_managed_settings();
    put(
        &context.path("etc/claude-code/managed-settings.d/10-route.json"),
        "{\n\"env\": {\"CLAUDE_CODE_USE_VERTEX\": \"1\"}}",
    );
    let Some(output) = run(&context, &["beta"]) else { return };
    output.fails(&["CLAUDE_CODE_USE_VERTEX (/etc/claude-code/managed-settings.d/10-route.json:2)"]);
}

#[test]
fn a_model_of_the_administrator_is_only_named() {
    let context = with_managed_settings();
    put(&context.path("etc/claude-code/managed-settings.json"), r#"{"env": {"ANTHROPIC_MODEL": "opus"}}"#);
    let Some(output) = run(&context, &["beta"]) else { return };
    output.succeeds().stderr_has(&[&format!("warning: ANTHROPIC_MODEL in {FILE}:1 still applies")]);
}

#[test]
fn what_agrees_with_the_provider_is_not_mentioned() {
    let context = with_managed_settings();
    put(
        &context.path("etc/claude-code/managed-settings.json"),
        r#"{"env": {"ANTHROPIC_BASE_URL": "https://beta.example", "OTHER": "x"}, "model": "opus"}"#,
    );
    let Some(output) = run(&context, &["beta"]) else { return };
    assert_eq!(output.succeeds().stderr, "ccc: on beta\n");
}

#[test]
fn a_file_that_cannot_be_used_is_the_clients_business() {
    for shape in ["malformed", "folder", "pipe", "link to nowhere"] {
        let context = with_managed_settings();
        let file = context.path("etc/claude-code/managed-settings.json");
        match shape {
            "malformed" => put(&file, "{oops"),
            "folder" => std::fs::create_dir(&file).unwrap(),
            "pipe" => assert!(Command::new("mkfifo").arg(&file).status().unwrap().success()),
            _ => std::os::unix::fs::symlink("/nowhere/at/all", &file).unwrap(),
        }
        let Some(output) = run(&context, &["beta"]) else { return };
        assert_eq!(output.succeeds().stderr, "ccc: on beta\n", "{shape}");
        assert_eq!(context.variable("ANTHROPIC_BASE_URL").as_deref(), Some("https://beta.example"));
    }
}

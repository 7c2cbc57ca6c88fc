//! A review exposes no secrets: not in the process list, in files, on the terminal or to the model.

use std::fs;

use serde_json::json;

use crate::context::TestContext;

/// What checks, reviewers and servers may print, and the part of each that must not be seen again.
const PRINTED: [(&str, &str); 7] = [
    ("dummy-token-of-another-provider", "dummy-token-of-another-provider"),
    ("plain-words-as-a-key", "plain-words-as-a-key"),
    ("postgres://app:hunter2pw@db.example/prod", "hunter2pw"),
    ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN7EXAMPLE"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI"),
    ("x-api-key: sk-kimi-0123456789abcdef", "0123456789abcdef"),
    (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n-----END RSA PRIVATE KEY-----",
        "MIIEvQIBADANBgkqhkiG9w0BAQEF",
    ),
];

fn with_secrets() -> TestContext {
    let mut context = TestContext::for_supervisor();
    context.set_env("OVERTONE_LANG", "en");
    context.set_env("GLM_KEY", "plain-words-as-a-key");
    context
}

fn config(checks: &serde_json::Value) -> serde_json::Value {
    json!({
        "providers": {
            "kimi": {"env": {"ANTHROPIC_AUTH_TOKEN": "dummy-token-of-another-provider"}},
            "glm": {"env": {"ANTHROPIC_AUTH_TOKEN": "${GLM_KEY}"}}
        },
        "supervisor": {"checks": checks}
    })
}

fn all_printed() -> String {
    PRINTED.map(|(text, _)| text).join("\n")
}

/// Nothing that was written or said holds one of them.
#[track_caller]
fn assert_clean(context: &TestContext, said: &[&str]) {
    let files = context
        .files()
        .into_iter()
        .filter(|name| name.contains("ccc/supervisor") || name.contains("hook-invocation"));
    let files: Vec<_> = files.map(|name| (fs::read_to_string(context.path(&name)).unwrap(), name)).collect();
    let said = said.iter().map(|text| ((*text).to_owned(), "what was said".to_owned()));
    for (text, place) in files.into_iter().chain(said) {
        for (_, secret) in PRINTED {
            assert!(!text.contains(secret), "{secret} in {place}: {text}");
        }
    }
}

#[test]
fn a_check_that_prints_secrets_leaves_none_behind() {
    let context = with_secrets();
    context.write("project/secrets.txt", all_printed());
    context.config(&config(&json!(["cat secrets.txt; echo password=hunter2pw; exit 1"])));
    let output = context.stop();
    assert_clean(&context, &[&output.stdout, &output.stderr, &context.ccc(&["audit", "abc123", "--json"]).1]);
    assert!(context.trail()[0]["evidence"][0]["tail"].as_str().unwrap().contains("***"));

    // The same evidence for a reviewer, who is asked by stdin.
    context.config(&config(&json!(["cat secrets.txt"])));
    context.reviewer_says(true, "");
    context.stop();
    let prompt = context.prompt();
    assert!(prompt.contains("cat secrets.txt"), "{prompt}");
    assert_clean(&context, &[&prompt, &context.arguments().join(" ")]);
}

#[test]
fn the_request_is_in_no_argument() {
    let context = with_secrets();
    let line = json!({"type": "user", "message": {"role": "user", "content": "deploy it, in secret"}});
    context.write("project/t.jsonl", format!("{line}\n"));
    context.reviewer_says(true, "");
    context.stop_with("transcript_path", json!(context.path("project/t.jsonl")));
    assert!(context.prompt().contains("deploy it, in secret"));
    assert!(!context.arguments().join(" ").contains("deploy"));
}

#[test]
fn a_reviewer_that_quotes_secrets_leaves_none_behind() {
    let context = with_secrets();
    context.config(&config(&json!([])));
    context.reviewer_says(false, &format!("take these out of the code:\n{}", all_printed()));
    let output = context.stop();
    assert!(output.json()["reason"].as_str().unwrap().starts_with("take these out of the code:"));
    assert_clean(&context, &[&output.stdout, &output.stderr]);
    let raw = fs::read_to_string(context.supervisor_file("supervisor-abc123-output.jsonl")).unwrap();
    for line in raw.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
    assert_eq!(raw.lines().count(), 3);
}

#[test]
fn an_error_that_echoes_a_key_shows_none() {
    let context = with_secrets();
    context.config(&config(&json!([])));
    let echoed = format!("API Error: 401 invalid key {}", all_printed());
    context
        .reviewer_ends(&json!({"type": "result", "subtype": "success", "is_error": true, "result": echoed}));
    let output = context.stop();
    assert!(output.json()["systemMessage"].as_str().unwrap().contains("API Error: 401"));
    assert_clean(&context, &[&output.stdout, &output.stderr]);

    fs::remove_file(context.path("fake/lines.jsonl")).unwrap();
    context.write("fake/stderr", "cannot use x-api-key: sk-kimi-0123456789abcdef");
    context.write("fake/code", "3");
    let output = context.stop();
    assert!(output.json()["systemMessage"].as_str().unwrap().contains("cannot use"));
    assert_clean(&context, &[&output.stdout, &output.stderr]);
}

#[test]
fn a_line_without_secrets_is_kept_as_it_is() {
    let context = with_secrets();
    context.reviewer_says(true, "commit 3f786850e387550fdab836ed7e6dc881de23001b is fine");
    context.stop();
    let lines = fs::read_to_string(context.path("fake/lines.jsonl")).unwrap();
    assert_eq!(fs::read_to_string(context.supervisor_file("supervisor-abc123-output.jsonl")).unwrap(), lines);
}

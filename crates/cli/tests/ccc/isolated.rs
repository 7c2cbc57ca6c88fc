//! Starts that touch nothing global, and projects that name their provider.

use std::fs;

use serde_json::Value;

use crate::context::{TOKEN_B, TestContext, ccc_output, mode, put, read};

fn private(context: &TestContext) -> Value {
    serde_json::from_str(&read(&context.path("record/private.json"))).unwrap()
}

#[test]
fn a_private_file_carries_the_provider() {
    let context = TestContext::with_providers();
    let before = read(&context.config());
    context.run_ccc("run --isolated beta -- -p hi").succeeds().stderr_has(&["on beta, for this start only"]);
    let arguments = context.arguments().unwrap();
    assert_eq!(
        (arguments[0].as_str(), &arguments[2..]),
        ("--settings", ["--verbose", "-p", "hi"].map(str::to_owned).as_slice())
    );
    assert_eq!(mode(&context.path("record/private.json")), 0o600);
    assert_eq!(private(&context)["env"]["ANTHROPIC_AUTH_TOKEN"], TOKEN_B);
    assert!(!context.settings().exists());
    assert_eq!(read(&context.config()), before);
}

#[test]
fn the_provider_in_the_settings_does_not_shine_through() {
    let context = TestContext::with_providers();
    put(&context.settings(), r#"{"env":{"ANTHROPIC_MODEL":"mine"}}"#);
    context.run_ccc("use alpha").succeeds();
    let before = read(&context.settings());
    context.run_ccc("run --isolated beta").succeeds();
    assert_eq!(private(&context)["env"]["ANTHROPIC_MODEL"], "mine");
    assert_eq!(private(&context)["env"]["ANTHROPIC_BASE_URL"], "https://beta.example");
    assert_eq!(read(&context.settings()), before);
    fs::remove_file(context.settings()).unwrap();
    context.run_ccc("use beta").succeeds();
    context.run_ccc("use alpha").succeeds();
    context.run_ccc("run --isolated beta").succeeds();
    assert_eq!(private(&context)["env"]["ANTHROPIC_MODEL"], "");
}

#[test]
fn the_users_own_settings_are_merged_and_never_send_it_elsewhere() {
    let context = TestContext::with_providers();
    context.run_ccc("use alpha").succeeds();
    let mine = "{\n\"env\": {\"ANTHROPIC_BASE_URL\": \"https://mine\", \"ANTHROPIC_API_KEY\": \"mine\", \"X\": \"1\"},\n\
                \"model\": \"opus\", \"apiKeyHelper\": \"mine\"}";
    put(&context.path("project/mine.json"), mine);
    for words in [
        vec!["run", "--isolated", "beta", "--", "--settings", "mine.json", "-p", "hi"],
        vec!["run", "--isolated", "beta", "--", "-p", "hi", "--settings=mine.json"],
        vec!["run", "--isolated", "beta", "--", "--settings", mine, "-p", "hi"],
        vec!["beta", "-p", "hi", "--settings", "mine.json"],
    ] {
        context.forget();
        ccc_output(&context.ccc_command(&words).output().unwrap()).succeeds();
        let arguments = context.arguments().unwrap();
        let settings = arguments.iter().filter(|argument| argument.starts_with("--settings")).count();
        assert_eq!((settings, &arguments[2..]), (1, ["--verbose", "-p", "hi"].map(str::to_owned).as_slice()));
        let private = private(&context);
        assert_eq!(private["env"]["ANTHROPIC_BASE_URL"], "https://beta.example", "{words:?}");
        assert_eq!(
            (&private["env"]["ANTHROPIC_API_KEY"], &private["apiKeyHelper"]),
            (&"".into(), &"".into())
        );
        assert_eq!(
            (&private["env"]["X"], &private["model"]),
            (&"1".into(), &"opus".into()),
            "the rest is theirs"
        );
    }
    let words = ["beta", "--settings", "mine.json"];
    let output = context.ccc_command(&words).env("CCC_SUPERVISOR", "1").output().unwrap();
    ccc_output(&output).fails(&["cannot start on beta", "ANTHROPIC_BASE_URL (", "mine.json:2)"]);
    for broken in ["gone.json", "{oops}"] {
        let output =
            context.ccc_command(&["run", "--isolated", "beta", "--", "--settings", broken]).output().unwrap();
        ccc_output(&output).fails(&[if broken == "gone.json" { broken } else { "--settings" }]);
    }
}

#[test]
fn settings_of_the_users_that_say_nothing_of_a_route_are_passed_on_as_they_are() {
    let context = TestContext::with_providers();
    put(&context.path("project/mine.json"), r#"{"model": "opus"}"#);
    context.run_ccc("beta --settings mine.json").succeeds();
    assert_eq!(context.arguments().unwrap(), ["--verbose", "--settings", "mine.json"]);
}

#[test]
fn private_files_of_ended_processes_are_taken_away() {
    let context = TestContext::with_providers();
    for _ in 0..3 {
        context.run_ccc("run --isolated beta").succeeds();
    }
    let files = fs::read_dir(context.path("home/.claude/ccc")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.starts_with("isolated-")).count(), 1);
}

#[test]
fn a_project_names_its_provider() {
    let context = TestContext::with_providers();
    put(&context.path("project/.ccc.json"), "{\n  // for this one\n  \"provider\": \"beta\"\n}");
    fs::create_dir(context.path("project/deep")).unwrap();
    assert_eq!(context.run_ccc("current").succeeds().stdout, "beta\n");
    let output = context.ccc_command(&[]).current_dir(context.path("project/deep")).output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().contains(".ccc.json:3"));
    assert_eq!(private(&context)["env"]["ANTHROPIC_BASE_URL"], "https://beta.example");
    assert!(!context.settings().exists());
    assert_eq!(context.run_ccc("list --json").succeeds().json()["providers"][0]["current"], true);
    context.run_ccc("alpha").succeeds().stderr_has(&["ccc: on alpha\n"]);
}

#[test]
fn a_project_can_only_name_what_the_user_has() {
    let context = TestContext::with_providers();
    put(
        &context.path("project/.ccc.json"),
        r#"{"provider":"bta","env":{"ANTHROPIC_BASE_URL":"https://evil"}}"#,
    );
    context.run_ccc("").fails(&["unknown provider: bta", ".ccc.json:1", "did you mean beta?"]);
    put(&context.path("project/.ccc.json"), r#"{"provider":1}"#);
    context.run_ccc("").fails(&["`provider` is not a string", ".ccc.json:1"]);
    put(&context.path("project/.ccc.json"), "{");
    context.run_ccc("").fails(&["malformed JSON", ".ccc.json:1"]);
    assert_eq!(context.arguments(), None);
}

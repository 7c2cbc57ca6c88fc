use serde_json::json;

use crate::context::{TestContext, keys, put, read};

#[test]
fn every_key_is_listed_with_its_value() {
    let context = TestContext::for_commands();
    context.run("config list").ok().has(&["language", "zh-TW", "retention.days", "keep finished sessions"]);
    let list = context.json("config list --json");
    assert_eq!(keys(&list).len(), 29);
    assert_eq!(list["loop.maxIterations"], json!({ "value": 100, "default": 100, "set": false }));
    assert!(!context.state().exists(), "asking makes nothing");
}

#[test]
fn a_value_is_set_and_read_back() {
    let context = TestContext::for_commands().without_env("OVERTONE_LANG");
    assert_eq!(context.run("config get language").ok().stdout, "zh-TW\n");
    assert_eq!(context.run("config set language en_US").ok().stdout, "language = en\n");
    context.run("status").ok().has(&["No workflow is running."]);
    assert_eq!(
        context.json("config get language --json"),
        json!({ "value": "en", "default": "zh-TW", "set": true })
    );
    assert_eq!(
        context.json("config set limits.failures 5 --json"),
        json!({ "key": "limits.failures", "value": 5 })
    );
    assert_eq!(context.run("config set guard.level strict").ok().stdout, "guard.level = strict\n");
    context.run("init quick").ok();
    context.run("status").ok().has(&["Failures: 0/5"]);
}

#[test]
fn bad_values_and_keys_are_refused_with_what_would_do() {
    let context = TestContext::for_commands();
    context
        .run("config set language klingon")
        .fails(&["bad value for language: klingon", "zh-TW, zh-CN, en"]);
    context.run("config set limits.failures 0").fails(&["a whole number from 1 to 10000"]);
    context.run("config set compact.thresholdMb -1").fails(&["a number above 0"]);
    context.run("config set agents.foreground yes").fails(&["true, false"]);
    context
        .run("config set guard.level harsh")
        .fails(&["bad value for guard.level: harsh", "notice, strict"]);
    context
        .run("config set limits.failure 3")
        .fails(&["unknown configuration key", "did you mean limits.failures?"]);
    context.run("config get constructor").fails(&["unknown configuration key: constructor", "config list"]);
    context.run("config set language").refused_by_parser();
    assert!(!context.state().join("config.json").exists());
    let context = context.with_env("OVERTONE_LANG", "zh-TW");
    context
        .run("config set limits.failures 0")
        .fails(&["limits.failures 不接受這個值: 0", "1 到 10000 的整數"]);
}

#[test]
fn a_broken_file_is_named_left_and_does_not_stop_the_rest() {
    let context = TestContext::for_commands();
    let file = context.state().join("config.json");
    put(&file, "{broken");
    for line in ["config list", "config get language", "config set language en"] {
        context.run(line).fails(&["config.json", "left as it is"]);
    }
    assert_eq!(read(&file), "{broken");
    context.run("status").ok();
    context.run("init quick").ok();
}

#[test]
fn a_bad_value_in_the_file_is_told_and_unknown_keys_survive() {
    let context = TestContext::for_commands();
    let file = context.state().join("config.json");
    put(&file, r#"{"future":{"x":1},"limits":{"failures":"many"}}"#);
    let shown = context.run("config list");
    assert_eq!(shown.code, Some(0));
    shown.stderr_has(&["warning: limits.failures is \"many\"", "1 to 100"]);
    assert_eq!(context.json("config get limits.failures --json")["value"], json!(3));
    context.run("config set retention.days 7").ok();
    assert!(read(&file).contains("future"));
}

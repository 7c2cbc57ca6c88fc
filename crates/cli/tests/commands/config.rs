use serde_json::json;

use crate::world::{World, keys, put, read};

#[test]
fn every_key_is_listed_with_its_value() {
    let world = World::new();
    world.run("config list").ok().has(&["language", "zh-TW", "retention.days", "keep finished sessions"]);
    let list = world.json("config list --json");
    assert_eq!(keys(&list).len(), 16);
    assert_eq!(list["loop.maxIterations"], json!({ "value": 100, "default": 100, "set": false }));
    assert!(!world.state().exists(), "asking makes nothing");
}

#[test]
fn a_value_is_set_and_read_back() {
    let world = World::new().without("OVERTONE_LANG");
    assert_eq!(world.run("config get language").ok().stdout, "zh-TW\n");
    assert_eq!(world.run("config set language en_US").ok().stdout, "language = en\n");
    world.run("status").ok().has(&["No workflow is running."]);
    assert_eq!(
        world.json("config get language --json"),
        json!({ "value": "en", "default": "zh-TW", "set": true })
    );
    assert_eq!(
        world.json("config set limits.failures 5 --json"),
        json!({ "key": "limits.failures", "value": 5 })
    );
    world.run("init quick").ok();
    world.run("status").ok().has(&["Failures: 0/5"]);
}

#[test]
fn bad_values_and_keys_are_refused_with_what_would_do() {
    let world = World::new();
    world.run("config set language klingon").fails(&["bad value for language: klingon", "zh-TW, zh-CN, en"]);
    world.run("config set limits.failures 0").fails(&["a whole number from 1 to 10000"]);
    world.run("config set compact.thresholdMb -1").fails(&["a number above 0"]);
    world.run("config set agents.foreground yes").fails(&["true, false"]);
    world
        .run("config set limits.failure 3")
        .fails(&["unknown configuration key", "did you mean limits.failures?"]);
    world.run("config get constructor").fails(&["unknown configuration key: constructor", "config list"]);
    world.run("config set language").refused_by_parser();
    assert!(!world.state().join("config.json").exists());
    let world = world.with("OVERTONE_LANG", "zh-TW");
    world
        .run("config set limits.failures 0")
        .fails(&["limits.failures 不接受這個值: 0", "1 到 10000 的整數"]);
}

#[test]
fn a_broken_file_is_named_left_and_does_not_stop_the_rest() {
    let world = World::new();
    let file = world.state().join("config.json");
    put(&file, "{broken");
    for line in ["config list", "config get language", "config set language en"] {
        world.run(line).fails(&["config.json", "left as it is"]);
    }
    assert_eq!(read(&file), "{broken");
    world.run("status").ok();
    world.run("init quick").ok();
}

#[test]
fn a_bad_value_in_the_file_is_told_and_unknown_keys_survive() {
    let world = World::new();
    let file = world.state().join("config.json");
    put(&file, r#"{"future":{"x":1},"limits":{"failures":"many"}}"#);
    let shown = world.run("config list");
    assert_eq!(shown.code, Some(0));
    shown.stderr_has(&["warning: limits.failures is \"many\"", "1 to 100"]);
    assert_eq!(world.json("config get limits.failures --json")["value"], json!(3));
    world.run("config set retention.days 7").ok();
    assert!(read(&file).contains("future"));
}

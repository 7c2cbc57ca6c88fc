use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use serde_json::json;

use crate::world::{BINARY, World, keys, put};

#[test]
fn up_installs_the_plugin_and_this_program() {
    let world = World::new();
    // There is no client on the search path here: it still succeeds, says how to get one, and offers the demo.
    let told = world.run("up").ok().has(&["claude was not found: npm install", "overtone demo"]);
    assert_eq!(told.stdout.lines().count(), 5, "{}", told.stdout);
    world.run("up --files-only").ok().has(&["claude --plugin-dir ", "/ot:auto"]);
    let binary = world.state().join("plugin/bin/overtone");
    assert_eq!(fs::read(&binary).unwrap(), fs::read(BINARY).unwrap());
    assert_eq!(fs::metadata(&binary).unwrap().permissions().mode() & 0o777, 0o755);
    assert!(world.state().join("plugin/hooks/hooks.json").exists());
    assert_eq!(fs::read_dir(world.state().join("plugin/bin")).unwrap().count(), 1, "no left-overs");
    world.run("validate").ok().has(&["checked and good"]);
}

#[test]
fn up_again_changes_nothing_and_repairs_what_is_wrong() {
    let world = World::new();
    let first = world.json("up --json");
    let known =
        ["plugin", "valid", "problems", "binary", "binaryChanged", "version", "start", "language", "client"];
    assert_eq!(keys(&first)[..9], known);
    assert_eq!((&first["client"], &first["registered"]), (&json!(null), &json!(false)));
    assert_eq!((&first["valid"], &first["binaryChanged"]), (&json!(true), &json!(true)));
    let binary = world.state().join("plugin/bin/overtone");
    let inode = fs::metadata(&binary).unwrap().ino();
    assert_eq!(world.json("up --json")["binaryChanged"], json!(false));
    assert_eq!(fs::metadata(&binary).unwrap().ino(), inode);
    put(&binary, "old");
    fs::remove_file(world.state().join("plugin/agents/qa.md")).unwrap();
    world.run("validate").stderr_has(&["error: problems in the plugin (1)", "overtone up"]);
    world.run("up").ok();
    world.run("validate").ok();
    assert_eq!(fs::read(&binary).unwrap(), fs::read(BINARY).unwrap());
}

#[test]
fn a_program_that_runs_can_be_replaced_by_itself() {
    let world = World::new();
    world.run("up").ok();
    let installed = world.state().join("plugin/bin/overtone");
    let mut command = std::process::Command::new(&installed);
    let output = command.arg("up").env_clear().env("HOME", world.state().parent().unwrap()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn up_says_what_is_in_the_way() {
    let world = World::new();
    put(&world.state().join("plugin"), "a file");
    world.run("up").fails(&["plugin"]);
}

#[test]
fn down_says_what_is_in_the_way_and_what_to_do() {
    let world = World::new();
    world.run("up").ok();
    let settings = world.state().parent().unwrap().join(".claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    // A link to itself cannot be read by anybody.
    std::os::unix::fs::symlink(&settings, &settings).unwrap();
    for command in ["down", "uninstall --yes"] {
        world.run(command).fails(&["settings.json", "check the path"]);
    }
    assert!(world.state().join("plugin/hooks/hooks.json").exists(), "nothing is half gone");
}

#[test]
fn validate_finds_the_folder_and_its_problems() {
    let world = World::new();
    world.run("validate").fails(&["plugins/overtone", "overtone up"]);
    world.run("validate --plugin /nonexistent").fails(&["/nonexistent"]);
    let empty = world.project().join("plugins/overtone");
    fs::create_dir_all(&empty).unwrap();
    let told = world.run("validate");
    assert_eq!(told.code, Some(1));
    told.has(&["hooks/hooks.json: is missing"]).stderr_has(&["error: problems in the plugin"]);
    let json = world.run("validate --json");
    assert_eq!((json.code, &json.json()["valid"]), (Some(1), &json!(false)));
    assert_eq!(keys(&json.json()), ["plugin", "valid", "problems"]);
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/overtone");
    let world = world.with("CLAUDE_PLUGIN_ROOT", repository.to_str().unwrap());
    world.run("validate").ok();
}

#[test]
fn up_takes_the_language_it_is_told_and_keeps_it() {
    let world = World::new();
    world.run("up --lang zh-CN").ok();
    assert_eq!(world.json("config get language --json")["value"], json!("zh-CN"));
    world.run("up --lang klingon").fails(&["klingon", "zh-TW"]);
}

#[test]
fn uninstall_keeps_the_sessions_unless_told_otherwise() {
    let world = World::new();
    world.run("up").ok();
    put(&world.state().join("sessions/s1/timeline.jsonl"), "");
    world.run("uninstall --purge").fails(&["--yes"]);
    assert!(world.state().join("plugin").exists());
    world.run("uninstall").ok();
    assert!(!world.state().join("plugin").exists());
    assert!(world.state().join("sessions/s1/timeline.jsonl").exists());
    world.run("uninstall").ok();
    world.run("uninstall --purge --yes").ok();
    assert!(!world.state().exists());
}

#[test]
fn the_doctor_looks_at_the_state_too() {
    let world = World::new();
    world.run("up").ok();
    let names = |world: &World| {
        let report: serde_json::Value = serde_json::from_str(&world.run("doctor --json").stdout).unwrap();
        let list = report["findings"].as_array().unwrap().clone();
        list.iter().map(|finding| finding["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&world), ["no-client"]);
    world.run("doctor").ok().has(&["npm install"]);
    put(&world.state().join("config.json"), r#"{"limits":{"failures":0}}"#);
    put(&world.state().join("sessions/s1/loop.json"), "[]");
    fs::set_permissions(world.state(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(names(&world), ["no-client", "not-private", "bad-config-value", "broken-file"]);
    world.run("doctor").stderr_has(&["error: 1 problem found"]);
}

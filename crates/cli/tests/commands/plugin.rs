use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use serde_json::json;

use crate::world::{BINARY, World, keys, put};

#[test]
fn up_installs_the_plugin_and_this_program() {
    let world = World::new();
    let told = world.run("up").ok().has(&["claude --plugin-dir ", "/ot:auto"]);
    assert!(told.stdout.lines().count() <= 6, "{}", told.stdout);
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
    assert_eq!(keys(&first), ["plugin", "valid", "problems", "binary", "binaryChanged", "version", "start"]);
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

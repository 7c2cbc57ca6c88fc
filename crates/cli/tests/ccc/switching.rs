//! What a switch does to the user's `settings.json`.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use crate::world::{World, mode, put, read};

const MINE: &str = "{\n    \"model\": \"opus\",\n    \"env\": {\"HTTP_PROXY\": \"http://p\", \"ANTHROPIC_MODEL\": \"mine\"},\n    \
    \"limit\": 1.50e3,\n    \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}]}\n}\n";

#[test]
fn nothing_of_the_first_stays_and_everything_of_the_users_does() {
    let world = World::new();
    put(&world.settings(), MINE);
    world.run("use alpha").ok();
    assert_eq!(world.settings_value()["env"]["ANTHROPIC_MODEL"], "alpha-1");
    world.run("use beta").ok();
    let settings = world.settings_value();
    assert_eq!(settings["env"]["ANTHROPIC_MODEL"], "mine");
    assert_eq!(settings["env"]["ANTHROPIC_BASE_URL"], "https://beta.example");
    assert!(!read(&world.settings()).contains("alpha"));
    assert!(read(&world.settings()).contains("\"limit\": 1.50e3"));
    world.run("remove beta").ok();
    assert_eq!(read(&world.settings()), MINE);
}

#[test]
fn the_same_again_writes_nothing() {
    let world = World::new();
    put(&world.settings(), MINE);
    world.run("use alpha").ok();
    let about = |path: &str| {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(world.path(path)).unwrap().ino()
    };
    let files = ["home/.claude/settings.json", "home/.claude/ccc.json", "home/.claude/ccc/owned.json"];
    let before = files.map(about);
    world.run("use alpha").ok();
    assert_eq!(files.map(about), before);
}

#[test]
fn what_the_user_changes_meanwhile_stays() {
    let world = World::new();
    world.run("use alpha").ok();
    let changed = read(&world.settings()).replace("alpha-1", "my-own");
    put(&world.settings(), &changed);
    world.run("use beta").ok();
    assert_eq!(world.settings_value()["env"]["ANTHROPIC_MODEL"], "my-own");
}

#[test]
fn mode_and_link_survive_and_new_files_are_private() {
    let world = World::new();
    let real = world.path("dotfiles/settings.json");
    put(&real, MINE);
    fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
    symlink(&real, world.settings()).unwrap();
    world.run("beta").ok();
    assert_eq!(mode(&real), 0o640, "a start writes no secret");
    world.run("use beta").ok().stderr_has(&["holds a secret now, so only you can read it"]);
    assert!(fs::symlink_metadata(world.settings()).unwrap().is_symlink());
    assert_eq!(mode(&real), 0o600);
    assert!(!world.run("use beta").ok().stderr.contains("secret"));
    for file in ["ccc.json", "ccc/owned.json", "ccc/settings.backup.json"] {
        assert_eq!(mode(&world.path("home/.claude").join(file)), 0o600, "{file}");
    }
    assert_eq!(read(&world.path("home/.claude/ccc/settings.backup.json")), MINE);
    let fresh = World::new();
    fresh.run("use beta").ok();
    assert_eq!(mode(&fresh.settings()), 0o600);
}

#[test]
fn each_client_folder_has_its_own_memory() {
    let world = World::new();
    world.run("use alpha").ok();
    let other = world.path("other").display().to_string();
    let world = world.with("CLAUDE_CONFIG_DIR", &other);
    world.run("use beta").ok();
    assert!(read(&world.settings()).contains("alpha.example"));
    assert!(read(&world.path("other/settings.json")).contains("beta.example"));
    world.run("remove beta").ok();
    assert_eq!(read(&world.path("other/settings.json")).trim(), "{}");
}

#[test]
fn variables_are_replaced_only_where_they_are_written_so() {
    let world = World::empty().with("SECRET_OF_MINE", "s3cret-value");
    let env =
        json!({ "ANTHROPIC_AUTH_TOKEN": "${SECRET_OF_MINE}", "B": "$SECRET_OF_MINE", "N": 5, "T": true });
    put(&world.config(), &json!({ "providers": { "a": { "env": env } } }).to_string());
    let output = world.run("use a").ok();
    assert!(!output.stderr.contains("s3cret"));
    let expected =
        json!({ "ANTHROPIC_AUTH_TOKEN": "s3cret-value", "B": "$SECRET_OF_MINE", "N": "5", "T": "true" });
    assert_eq!(world.settings_value()["env"], expected);
    put(&world.config(), "{\n \"providers\": { \"a\": { \"env\": {\n  \"X\": \"${NOT_THERE}\" } } }\n}");
    world.run("a").fails(&["needs the variable NOT_THERE", "ccc.json:3", "export NOT_THERE"]);
    assert_eq!(world.arguments(), None);
}

//! What a switch does to the user's `settings.json`.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use crate::context::{TestContext, mode, put, read};

const MINE: &str = "{\n    \"model\": \"opus\",\n    \"env\": {\"HTTP_PROXY\": \"http://p\", \"ANTHROPIC_MODEL\": \"mine\"},\n    \
    \"limit\": 1.50e3,\n    \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}]}\n}\n";

#[test]
fn nothing_of_the_first_stays_and_everything_of_the_users_does() {
    let context = TestContext::with_providers();
    put(&context.settings(), MINE);
    context.run_ccc("use alpha").succeeds();
    assert_eq!(context.settings_value()["env"]["ANTHROPIC_MODEL"], "alpha-1");
    context.run_ccc("use beta").succeeds();
    let settings = context.settings_value();
    assert_eq!(settings["env"]["ANTHROPIC_MODEL"], "mine");
    assert_eq!(settings["env"]["ANTHROPIC_BASE_URL"], "https://beta.example");
    assert!(!read(&context.settings()).contains("alpha"));
    assert!(read(&context.settings()).contains("\"limit\": 1.50e3"));
    context.run_ccc("remove beta").succeeds();
    assert_eq!(read(&context.settings()), MINE);
}

#[test]
fn the_same_again_writes_nothing() {
    let context = TestContext::with_providers();
    put(&context.settings(), MINE);
    context.run_ccc("use alpha").succeeds();
    let about = |path: &str| {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(context.path(path)).unwrap().ino()
    };
    let files = ["home/.claude/settings.json", "home/.claude/ccc.json", "home/.claude/ccc/owned.json"];
    let before = files.map(about);
    context.run_ccc("use alpha").succeeds();
    assert_eq!(files.map(about), before);
}

#[test]
fn what_the_user_changes_meanwhile_stays() {
    let context = TestContext::with_providers();
    context.run_ccc("use alpha").succeeds();
    let changed = read(&context.settings()).replace("alpha-1", "my-own");
    put(&context.settings(), &changed);
    context.run_ccc("use beta").succeeds();
    assert_eq!(context.settings_value()["env"]["ANTHROPIC_MODEL"], "my-own");
}

#[test]
fn mode_and_link_survive_and_new_files_are_private() {
    let context = TestContext::with_providers();
    let real = context.path("dotfiles/settings.json");
    put(&real, MINE);
    fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
    symlink(&real, context.settings()).unwrap();
    context.run_ccc("beta").succeeds();
    assert_eq!(mode(&real), 0o640, "a start writes no secret");
    context.run_ccc("use beta").succeeds().stderr_has(&["now contains a secret, so only you can read it"]);
    assert!(fs::symlink_metadata(context.settings()).unwrap().is_symlink());
    assert_eq!(mode(&real), 0o600);
    assert!(!context.run_ccc("use beta").succeeds().stderr.contains("secret"));
    for file in ["ccc.json", "ccc/owned.json", "ccc/settings.backup.json"] {
        assert_eq!(mode(&context.path("home/.claude").join(file)), 0o600, "{file}");
    }
    assert_eq!(read(&context.path("home/.claude/ccc/settings.backup.json")), MINE);
    let fresh = TestContext::with_providers();
    fresh.run_ccc("use beta").succeeds();
    assert_eq!(mode(&fresh.settings()), 0o600);
}

#[test]
fn each_client_folder_has_its_own_memory() {
    let context = TestContext::with_providers();
    context.run_ccc("use alpha").succeeds();
    let other = context.path("other").display().to_string();
    let context = context.with_env("CLAUDE_CONFIG_DIR", &other);
    context.run_ccc("use beta").succeeds();
    assert!(read(&context.settings()).contains("alpha.example"));
    assert!(read(&context.path("other/settings.json")).contains("beta.example"));
    context.run_ccc("remove beta").succeeds();
    assert_eq!(read(&context.path("other/settings.json")).trim(), "{}");
}

#[test]
fn variables_are_replaced_only_where_they_are_written_so() {
    let context = TestContext::without_providers().with_env("SECRET_OF_MINE", "s3cret-value");
    let env =
        json!({ "ANTHROPIC_AUTH_TOKEN": "${SECRET_OF_MINE}", "B": "$SECRET_OF_MINE", "N": 5, "T": true });
    put(&context.config(), json!({ "providers": { "a": { "env": env } } }).to_string());
    let output = context.run_ccc("use a").succeeds();
    assert!(!output.stderr.contains("s3cret"));
    let expected =
        json!({ "ANTHROPIC_AUTH_TOKEN": "s3cret-value", "B": "$SECRET_OF_MINE", "N": "5", "T": "true" });
    assert_eq!(context.settings_value()["env"], expected);
    put(&context.config(), "{\n \"providers\": { \"a\": { \"env\": {\n  \"X\": \"${NOT_THERE}\" } } }\n}");
    context.run_ccc("a").fails(&["needs the variable NOT_THERE", "ccc.json:3", "export NOT_THERE"]);
    assert_eq!(context.arguments(), None);
}

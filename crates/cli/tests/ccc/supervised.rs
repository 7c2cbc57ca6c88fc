//! Supervised starts: the hook is in the settings while starts are supervised, beside the user's own.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::context::{BINARY, TestContext, ccc_output, put, read};

const MINE: &str = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}"#;

#[test]
fn the_hook_comes_and_goes_and_the_users_own_stays() {
    let context = TestContext::with_providers();
    put(&context.settings(), MINE);
    symlink(BINARY, context.path("bin/ccc")).unwrap();
    let output = context.ccc_command(&["beta"]).env("CCC_SUPERVISOR", "1").output().unwrap();
    ccc_output(&output).succeeds().stderr_has(&["[Supervisor Mode]", "hook-invocation.log"]);
    let stop = context.settings_value()["hooks"]["Stop"].clone();
    let command = format!("{} supervisor-hook", context.path("bin/ccc").display());
    assert_eq!(stop[0]["hooks"][0]["command"], "mine");
    assert_eq!(stop[1]["hooks"][0], json!({ "type": "command", "command": command, "timeout": 660 }));
    assert!(!context.arguments().unwrap().contains(&"--settings".to_owned()));
    let output = context.run_ccc("beta").succeeds();
    assert!(!output.stderr.contains("Supervisor"));
    assert!(!read(&context.settings()).contains("supervisor-hook"));
    context.run_ccc("remove beta").succeeds();
    assert_eq!(read(&context.settings()), MINE);
}

#[test]
fn the_configuration_can_ask_for_it_and_the_environment_can_refuse() {
    let context = TestContext::with_providers();
    let config = read(&context.config()).replacen('{', "{\"supervisor\": {\"enabled\": true},", 1);
    put(&context.config(), &config);
    context.run_ccc("use beta").succeeds();
    assert!(read(&context.settings()).contains(" ccc supervisor-hook"));
    let output = context.ccc_command(&["use", "beta"]).env("CCC_SUPERVISOR", "0").output().unwrap();
    ccc_output(&output).succeeds();
    assert!(!read(&context.settings()).contains("supervisor-hook"));
}

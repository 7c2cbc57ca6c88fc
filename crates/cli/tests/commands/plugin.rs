use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::context::{BINARY, TestContext, keys, put};

#[test]
fn up_installs_the_plugin_and_this_program() {
    let context = TestContext::for_commands();
    // There is no client on the search path here: it still succeeds, says how to get one, and offers the demo.
    let output = context.run("up").ok().has(&["claude was not found: npm install", "overtone demo"]);
    assert_eq!(output.stdout.lines().count(), 5, "{}", output.stdout);
    context.run("up --files-only").ok().has(&["claude --plugin-dir ", "/ot:auto"]);
    let binary = context.state().join("plugin/bin/overtone");
    assert_eq!(fs::read(&binary).unwrap(), fs::read(BINARY).unwrap());
    assert_eq!(fs::metadata(&binary).unwrap().permissions().mode() & 0o777, 0o755);
    assert!(context.state().join("plugin/hooks/hooks.json").exists());
    assert_eq!(fs::read_dir(context.state().join("plugin/bin")).unwrap().count(), 2, "no left-overs");
    context.run("validate").ok().has(&["the plugin is valid"]);
}

#[test]
fn up_names_a_client_that_cannot_be_inspected() {
    let context = TestContext::for_commands();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("claude", folder.path().join("claude")).unwrap();
    let context = context.with_env("PATH", folder.path());
    let path = folder.path().join("claude").display().to_string();
    context.run("up").succeeds().has(&["claude was not found"]).stderr_has(&["warning: ", &path]);
}

#[test]
fn up_again_changes_nothing_and_repairs_what_is_wrong() {
    let context = TestContext::for_commands();
    let first = context.json("up --json");
    let known =
        ["plugin", "valid", "problems", "binary", "binaryChanged", "version", "start", "language", "client"];
    assert_eq!(keys(&first)[..9], known);
    assert_eq!((&first["client"], &first["registered"]), (&json!(null), &json!(false)));
    assert_eq!((&first["valid"], &first["binaryChanged"]), (&json!(true), &json!(true)));
    let binary = context.state().join("plugin/bin/overtone");
    let inode = fs::metadata(&binary).unwrap().ino();
    assert_eq!(context.json("up --json")["binaryChanged"], json!(false));
    assert_eq!(fs::metadata(&binary).unwrap().ino(), inode);
    put(&binary, "old");
    fs::remove_file(context.state().join("plugin/agents/qa.md")).unwrap();
    context.run("validate").stderr_has(&["error: problems in the plugin (1)", "overtone up"]);
    context.run("up").ok();
    context.run("validate").ok();
    assert_eq!(fs::read(&binary).unwrap(), fs::read(BINARY).unwrap());
}

/// Writes an executable script. Another process writes it: while this one had it open for writing, a process that another
/// test starts could inherit the descriptor, and the script could not be executed.
fn write_script(path: &Path, line: &str) {
    let write = r#"printf '#!/bin/sh\n%s\n' "$2" > "$1" && chmod 755 "$1""#;
    let status = Command::new("sh").args(["-c", write, "sh"]).arg(path).arg(line).status().unwrap();
    assert!(status.success());
}

/// Installs with a copy of the program and a hook program beside it that prints this version.
fn up_beside(context: &TestContext, hook_version: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("overtone");
    assert!(Command::new("cp").arg(BINARY).arg(&program).status().unwrap().success());
    write_script(&folder.path().join("overtone-hook"), &format!("echo '{hook_version}'"));
    let mut command = Command::new(&program);
    command.args(["up", "--files-only", "--json"]).env_clear().env("PATH", "/usr/bin:/bin");
    let output = command.env("HOME", context.state().parent().unwrap()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_hook_program_of_the_same_build_is_installed() {
    let context = TestContext::for_commands();
    let report = up_beside(&context, overtone_hook::VERSION);
    assert_eq!(report["hookProgram"], json!("small"));
    let hook = report["hookBinary"].as_str().unwrap();
    assert!(fs::read_to_string(hook).unwrap().starts_with("#!/bin/sh"));
}

#[test]
fn a_hook_program_of_another_build_is_not_installed_and_is_reported() {
    let context = TestContext::for_commands();
    let report = up_beside(&context, "overtone-hook 0.0.1 (00000000)");
    assert_eq!(report["hookProgram"], json!("whole"));
    let hook = Path::new(report["hookBinary"].as_str().unwrap());
    assert_eq!(fs::read(hook).unwrap(), fs::read(BINARY).unwrap(), "the whole program answers instead");
    write_script(hook, "echo overtone-hook 0.0.1");
    let findings = context.run("doctor --json");
    assert!(findings.stdout.contains("hook-program-differs"), "{}", findings.stdout);
    context.run("up --files-only").ok();
    assert!(!context.run("doctor --json").stdout.contains("hook-program-differs"));
}

/// Commands are asked about by the name `overtone`. Under the other name there must be none.
#[test]
fn a_copy_under_the_hook_programs_name_has_no_commands() {
    let context = TestContext::for_commands();
    let report = up_beside(&context, "overtone-hook 0.0.1 (00000000)");
    let hook = report["hookBinary"].as_str().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(hook);
        command.args(arguments).env_clear().env("HOME", context.state().parent().unwrap());
        command.output().unwrap()
    };
    for line in ["config set limits.failures 99", "stop", "ccc list", "status", "help"] {
        let output = run(&line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{line}: {output:?}");
    }
    assert!(!context.state().join("config.json").exists());
    let version = run(&["--version"]);
    assert_eq!(String::from_utf8_lossy(&version.stdout).trim(), overtone_hook::VERSION);
    assert_eq!(run(&["hook", "on-stop"]).status.code(), Some(0), "hooks are answered");
}

#[test]
fn a_program_that_runs_can_be_replaced_by_itself() {
    let context = TestContext::for_commands();
    context.run("up").ok();
    let installed = context.state().join("plugin/bin/overtone");
    let mut command = Command::new(&installed);
    let output =
        command.arg("up").env_clear().env("HOME", context.state().parent().unwrap()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn up_says_what_is_in_the_way() {
    let context = TestContext::for_commands();
    put(&context.state().join("plugin"), "a file");
    context.run("up").fails(&["plugin"]);
}

#[test]
fn down_says_what_is_in_the_way_and_what_to_do() {
    let context = TestContext::for_commands();
    context.run("up").ok();
    let settings = context.state().parent().unwrap().join(".claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    // A link to itself cannot be read by anybody.
    std::os::unix::fs::symlink(&settings, &settings).unwrap();
    for command in ["down", "uninstall --yes"] {
        context.run(command).fails(&["settings.json", "check the path"]);
    }
    assert!(context.state().join("plugin/hooks/hooks.json").exists(), "nothing is half gone");
}

#[test]
fn validate_finds_the_folder_and_its_problems() {
    let context = TestContext::for_commands();
    context.run("validate").fails(&["plugins/overtone", "overtone up"]);
    context.run("validate --plugin /nonexistent").fails(&["/nonexistent"]);
    let empty = context.project().join("plugins/overtone");
    fs::create_dir_all(&empty).unwrap();
    let output = context.run("validate");
    assert_eq!(output.code, Some(1));
    output.has(&["hooks/hooks.json: is missing"]).stderr_has(&["error: problems in the plugin"]);
    let json = context.run("validate --json");
    assert_eq!((json.code, &json.json()["valid"]), (Some(1), &json!(false)));
    assert_eq!(keys(&json.json()), ["plugin", "valid", "problems"]);
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/overtone");
    let context = context.with_env("CLAUDE_PLUGIN_ROOT", repository.to_str().unwrap());
    context.run("validate").ok();
}

#[test]
fn up_takes_the_language_it_is_told_and_keeps_it() {
    let context = TestContext::for_commands();
    context.run("up --lang zh-CN").ok();
    assert_eq!(context.json("config get language --json")["value"], json!("zh-CN"));
    context.run("up --lang klingon").fails(&["klingon", "zh-TW"]);
}

#[test]
fn uninstall_keeps_the_sessions_unless_told_otherwise() {
    let context = TestContext::for_commands();
    context.run("up").ok();
    put(&context.state().join("sessions/s1/timeline.jsonl"), "");
    context.run("uninstall --purge").fails(&["--yes"]);
    assert!(context.state().join("plugin").exists());
    context.run("uninstall").ok();
    assert!(!context.state().join("plugin").exists());
    assert!(context.state().join("sessions/s1/timeline.jsonl").exists());
    context.run("uninstall").ok();
    context.run("uninstall --purge --yes").ok();
    assert!(!context.state().exists());
}

#[test]
fn the_doctor_looks_at_the_state_too() {
    let context = TestContext::for_commands();
    context.run("up").ok();
    let names = |context: &TestContext| {
        let report: serde_json::Value = serde_json::from_str(&context.run("doctor --json").stdout).unwrap();
        let list = report["findings"].as_array().unwrap().clone();
        list.iter().map(|finding| finding["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&context), ["no-client"]);
    context.run("doctor").ok().has(&["npm install"]);
    put(&context.state().join("config.json"), r#"{"limits":{"failures":0}}"#);
    put(&context.state().join("sessions/s1/loop.json"), "[]");
    fs::set_permissions(context.state(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(names(&context), ["no-client", "not-private", "bad-config-value", "broken-file"]);
    context.run("doctor").stderr_has(&["error: 1 problem found"]);
}

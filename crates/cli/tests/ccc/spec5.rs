//! The scenarios of the specification that are about the launch, with the program under its own name `ccc`.
//!
//! A test's name begins with `s5_` and the number of its scenario, in the order of the document.

use std::path::Path;

use serde_json::{Value, json};

use crate::namespace;
use crate::world::{Output, World, put, read};

/// Starts the installed `ccc` in supervisor mode, in the specification's own language.
fn supervised(world: &World, words: &[&str]) -> Output {
    let ccc = world.path("bin/ccc");
    let ccc = if ccc.exists() { ccc } else { world.install("bin/ccc") };
    Output::of(&world.program(&ccc).args(words).env("CCC_SUPERVISOR", "1").output().unwrap()).ok()
}

fn chinese() -> World {
    World::new().with("OVERTONE_LANG", "")
}

fn stop_hooks(settings: &Value) -> Vec<Value> {
    let groups = settings["hooks"]["Stop"].as_array().cloned().unwrap_or_default();
    groups.iter().flat_map(|group| group["hooks"].as_array().cloned().unwrap_or_default()).collect()
}

fn stop_command(world: &World) -> String {
    let hooks = stop_hooks(&world.settings_value());
    assert_eq!(hooks.len(), 1, "{hooks:?}");
    hooks[0]["command"].as_str().unwrap().to_owned()
}

#[test]
fn s5_01_the_variable_turns_it_on() {
    let world = chinese();
    let output = supervised(&world, &["beta", "-p", "hi"]);
    assert_eq!(stop_hooks(&world.settings_value()).len(), 1);
    assert_eq!(output.stdout, "from-claude\n");
    let arguments = world.arguments().unwrap();
    assert_eq!(arguments, ["--verbose", "-p", "hi"], "no --settings");
    // The client passes it on to the hook.
    assert!(read(&world.path("record/env")).contains("CCC_SUPERVISOR=1\n"));
}

#[test]
fn s5_02_without_the_variable_it_is_a_plain_start() {
    let plain = chinese();
    plain.install("bin/ccc");
    let start = |world: &World, value: Option<&str>| {
        let mut command = world.program(&world.path("bin/ccc"));
        command.arg("beta").envs(value.map(|value| ("CCC_SUPERVISOR", value)));
        Output::of(&command.output().unwrap()).ok()
    };
    let output = start(&plain, None);
    let settings = read(&plain.settings());
    assert!(!settings.contains("hooks"), "{settings}");
    assert_eq!(plain.arguments().unwrap(), ["--verbose"]);
    for other in ["", "0", "2", "true", "yes", " 1", "11"] {
        let again = start(&plain, Some(other));
        assert_eq!(
            (again.stderr, read(&plain.settings())),
            (output.stderr.clone(), settings.clone()),
            "{other:?}"
        );
    }
    assert!(!output.stderr.contains("Supervisor"));
}

#[test]
fn s5_03_one_settings_file_has_the_hook() {
    let world = chinese();
    let ccc = world.install("bin/ccc");
    put(&world.settings(), r#"{"model": "opus", "hooks": {"PreToolUse": []}}"#);
    supervised(&world, &["beta"]);
    let settings = world.settings_value();
    let command = format!("{} supervisor-hook", ccc.display());
    let hook = json!({ "type": "command", "command": command, "timeout": 660 });
    assert_eq!(settings["hooks"], json!({ "PreToolUse": [], "Stop": [{ "hooks": [hook] }] }));
    assert_eq!(
        (&settings["model"], settings.get("env")),
        (&json!("opus"), None),
        "the route is not for everybody"
    );
    assert_eq!(world.variable("ANTHROPIC_BASE_URL").as_deref(), Some("https://beta.example"));
    let files = std::fs::read_dir(world.path("home/.claude")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut others: Vec<_> = names.filter(|name| name.contains("settings")).collect();
    others.sort();
    assert_eq!(others, ["settings.json"]);
}

#[test]
fn s5_04_the_hook_is_the_absolute_path_of_ccc() {
    let world = chinese();
    let ccc = world.install("usr/local/bin/ccc");
    let command = format!("{} supervisor-hook", ccc.display());
    supervised_by(&world, &ccc);
    assert_eq!(stop_command(&world), command);
    // By its name alone, and from the folder that it is in.
    let path =
        format!("{}:{}:/usr/bin:/bin", world.path("usr/local/bin").display(), world.path("bin").display());
    let world = world.with("PATH", &path);
    for (program, folder) in
        [("ccc", "project"), ("./ccc", "usr/local/bin"), ("../local/bin/ccc", "usr/local")]
    {
        world.run("alpha").ok();
        let mut start = world.program(Path::new(program));
        start.arg("beta").env("CCC_SUPERVISOR", "1").current_dir(world.path(folder));
        Output::of(&start.output().unwrap()).ok();
        let written = stop_command(&world);
        let (file, argument) = written.split_once(' ').unwrap();
        assert_eq!(argument, "supervisor-hook");
        assert!(Path::new(file).is_absolute() && same_file(Path::new(file), &ccc), "{written}");
    }
}

fn supervised_by(world: &World, ccc: &Path) {
    Output::of(&world.program(ccc).arg("beta").env("CCC_SUPERVISOR", "1").output().unwrap()).ok();
}

fn same_file(left: &Path, right: &Path) -> bool {
    left.canonicalize().unwrap() == right.canonicalize().unwrap()
}

#[test]
fn s5_04_in_usr_local_bin_it_is_the_command_of_the_specification() {
    let world = chinese().with("CCC_SUPERVISOR", "1");
    world.install("local-bin/ccc");
    let program = ["/usr/local/bin/ccc", "beta"];
    if let Some(output) = namespace::run(&world, &world.path("local-bin"), "/usr/local/bin", &program) {
        output.ok();
        assert_eq!(stop_command(&world), "/usr/local/bin/ccc supervisor-hook");
    }
}

#[test]
fn s5_04_a_shell_starts_what_is_written() {
    let world = chinese();
    let ccc = world.install("it's my bin/ccc");
    supervised_by(&world, &ccc);
    let mut shell = world.program(Path::new("sh"));
    shell.args(["-c", &stop_command(&world)]).env("CCC_SUPERVISOR_HOOK", "1");
    assert_eq!(Output::of(&shell.output().unwrap()).ok().stdout, r#"{"decision":"","":""}"#);
}

/// The lines of the notice, in a state folder.
fn notice(state: &Path) -> String {
    let state = state.display();
    format!(
        "[Supervisor Mode] 日志文件:\n  State 目录: {state}\n  Hook 调用日志: {state}/hook-invocation.log\n  \
         Supervisor 输出日志: {state}/supervisor-{{session}}-output.jsonl\n"
    )
}

#[test]
fn s5_19_the_log_files_are_named_on_stderr() {
    let world = chinese();
    let output = supervised(&world, &["beta"]);
    assert!(output.stderr.ends_with(&notice(&world.path("home/.claude/ccc"))), "{}", output.stderr);
    assert_eq!(output.stdout, "from-claude\n");
}

#[test]
fn s5_20_the_state_folder_is_below_the_home() {
    let world = chinese().with("CCC_WORK_DIR", "");
    let output = supervised(&world, &["beta"]);
    assert!(output.stderr.contains(&notice(&world.path("home/.claude/ccc"))), "{}", output.stderr);
}

#[test]
fn s5_21_the_state_folder_is_below_the_work_dir() {
    let world = chinese();
    let work = world.path("work");
    put(&work.join("ccc.json"), &read(&world.config()));
    let world = world.with("CCC_WORK_DIR", &work.display().to_string());
    let output = supervised(&world, &["beta"]);
    assert!(output.stderr.contains(&notice(&work.join("ccc"))), "{}", output.stderr);
    assert!(!world.path("home/.claude/ccc").exists());
}

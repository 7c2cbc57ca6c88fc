//! The scenarios of the specification that are about the launch, with the program under its own name `ccc`.
//!
//! A test's name begins with `s5_` and the number of its scenario, in the order of the document.

use std::path::Path;

use serde_json::{Value, json};

use crate::context::{Output, TestContext, ccc_output, put, read};
use crate::namespace;

/// Starts the installed `ccc` in supervisor mode, in the specification's own language.
fn supervised(context: &TestContext, words: &[&str]) -> Output {
    let ccc = context.path("bin/ccc");
    let ccc = if ccc.exists() { ccc } else { context.install("bin/ccc") };
    ccc_output(&context.program(&ccc).args(words).env("CCC_SUPERVISOR", "1").output().unwrap()).succeeds()
}

fn chinese() -> TestContext {
    TestContext::with_providers().with_env("OVERTONE_LANG", "")
}

fn stop_hooks(settings: &Value) -> Vec<Value> {
    let groups = settings["hooks"]["Stop"].as_array().cloned().unwrap_or_default();
    groups.iter().flat_map(|group| group["hooks"].as_array().cloned().unwrap_or_default()).collect()
}

fn stop_command(context: &TestContext) -> String {
    let hooks = stop_hooks(&context.settings_value());
    assert_eq!(hooks.len(), 1, "{hooks:?}");
    hooks[0]["command"].as_str().unwrap().to_owned()
}

#[test]
fn s5_01_the_variable_turns_it_on() {
    let context = chinese();
    let output = supervised(&context, &["beta", "-p", "hi"]);
    assert_eq!(stop_hooks(&context.settings_value()).len(), 1);
    assert_eq!(output.stdout, "from-claude\n");
    let arguments = context.arguments().unwrap();
    assert_eq!(arguments, ["--verbose", "-p", "hi"], "no --settings");
    // The client passes it on to the hook.
    assert!(read(&context.path("record/env")).contains("CCC_SUPERVISOR=1\n"));
}

#[test]
fn s5_02_without_the_variable_it_is_a_plain_start() {
    let plain = chinese();
    plain.install("bin/ccc");
    let start = |context: &TestContext, value: Option<&str>| {
        let mut command = context.program(context.path("bin/ccc"));
        command.arg("beta").envs(value.map(|value| ("CCC_SUPERVISOR", value)));
        ccc_output(&command.output().unwrap()).succeeds()
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
    let context = chinese();
    let ccc = context.install("bin/ccc");
    put(&context.settings(), r#"{"model": "opus", "hooks": {"PreToolUse": []}}"#);
    supervised(&context, &["beta"]);
    let settings = context.settings_value();
    let command = format!("{} supervisor-hook", ccc.display());
    let hook = json!({ "type": "command", "command": command, "timeout": 660 });
    assert_eq!(settings["hooks"], json!({ "PreToolUse": [], "Stop": [{ "hooks": [hook] }] }));
    assert_eq!(
        (&settings["model"], settings.get("env")),
        (&json!("opus"), None),
        "the route is not for everybody"
    );
    assert_eq!(context.variable("ANTHROPIC_BASE_URL").as_deref(), Some("https://beta.example"));
    let files = std::fs::read_dir(context.path("home/.claude")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut others: Vec<_> = names.filter(|name| name.contains("settings")).collect();
    others.sort();
    assert_eq!(others, ["settings.json"]);
}

#[test]
fn s5_04_the_hook_is_the_absolute_path_of_ccc() {
    let context = chinese();
    let ccc = context.install("usr/local/bin/ccc");
    let command = format!("{} supervisor-hook", ccc.display());
    supervised_by(&context, &ccc);
    assert_eq!(stop_command(&context), command);
    // By its name alone, and from the folder that it is in.
    let path = format!(
        "{}:{}:/usr/bin:/bin",
        context.path("usr/local/bin").display(),
        context.path("bin").display()
    );
    let context = context.with_env("PATH", &path);
    for (program, folder) in
        [("ccc", "project"), ("./ccc", "usr/local/bin"), ("../local/bin/ccc", "usr/local")]
    {
        context.run_ccc("alpha").succeeds();
        let mut start = context.program(Path::new(program));
        start.arg("beta").env("CCC_SUPERVISOR", "1").current_dir(context.path(folder));
        ccc_output(&start.output().unwrap()).succeeds();
        let written = stop_command(&context);
        let (file, argument) = written.split_once(' ').unwrap();
        assert_eq!(argument, "supervisor-hook");
        assert!(Path::new(file).is_absolute() && same_file(Path::new(file), &ccc), "{written}");
    }
}

fn supervised_by(context: &TestContext, ccc: &Path) {
    ccc_output(&context.program(ccc).arg("beta").env("CCC_SUPERVISOR", "1").output().unwrap()).succeeds();
}

fn same_file(left: &Path, right: &Path) -> bool {
    left.canonicalize().unwrap() == right.canonicalize().unwrap()
}

#[test]
fn s5_04_in_usr_local_bin_it_is_the_command_of_the_specification() {
    let context = chinese().with_env("CCC_SUPERVISOR", "1");
    context.install("local-bin/ccc");
    let program = ["/usr/local/bin/ccc", "beta"];
    if let Some(output) = namespace::run(&context, &context.path("local-bin"), "/usr/local/bin", &program) {
        output.succeeds();
        assert_eq!(stop_command(&context), "/usr/local/bin/ccc supervisor-hook");
    }
}

#[test]
fn s5_04_a_shell_starts_what_is_written() {
    let context = chinese();
    let ccc = context.install("it's my bin/ccc");
    supervised_by(&context, &ccc);
    let mut shell = context.program(Path::new("sh"));
    shell.args(["-c", &stop_command(&context)]).env("CCC_SUPERVISOR_HOOK", "1");
    assert_eq!(ccc_output(&shell.output().unwrap()).succeeds().stdout, r#"{"decision":"","":""}"#);
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
    let context = chinese();
    let output = supervised(&context, &["beta"]);
    assert!(output.stderr.ends_with(&notice(&context.path("home/.claude/ccc"))), "{}", output.stderr);
    assert_eq!(output.stdout, "from-claude\n");
}

#[test]
fn s5_20_the_state_folder_is_below_the_home() {
    let context = chinese().with_env("CCC_WORK_DIR", "");
    let output = supervised(&context, &["beta"]);
    assert!(output.stderr.contains(&notice(&context.path("home/.claude/ccc"))), "{}", output.stderr);
}

#[test]
fn s5_21_the_state_folder_is_below_the_work_dir() {
    let context = chinese();
    let work = context.path("work");
    put(&work.join("ccc.json"), read(&context.config()));
    let context = context.with_env("CCC_WORK_DIR", work.display().to_string());
    let output = supervised(&context, &["beta"]);
    assert!(output.stderr.contains(&notice(&work.join("ccc"))), "{}", output.stderr);
    assert!(!context.path("home/.claude/ccc").exists());
}

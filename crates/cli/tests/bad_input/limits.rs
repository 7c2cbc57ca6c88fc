//! A process that may not write, has little memory, or is given an environment file that is none.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use overtone_core::registry::Hook;
use serde_json::Value;

use crate::common::{TestContext, put};
use crate::fixture::{Fixture, ID, each_hook};

/// The hook in a shell that has set a limit before, ended by `timeout` if it hangs.
fn run_limited(
    context: &TestContext,
    limit: &str,
    hook: Hook,
    payload: &[u8],
    env: &[(&str, &Path)],
) -> Output {
    let script = format!("{limit}; exec timeout -s KILL 1200 \"$0\" hook {}", hook.name());
    let mut command = Command::new("sh");
    command
        .args(["-c", &script, env!("CARGO_BIN_EXE_overtone")])
        .env_clear()
        .env("HOME", context.home())
        .env("OVERTONE_HOME", context.state())
        .env("OVERTONE_NO_DASHBOARD", "1")
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .envs(env.iter().copied())
        .current_dir(context.project())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A hook that gives up early closes its end.
    let _ = child.stdin.take().unwrap().write_all(payload);
    child.wait_with_output().unwrap()
}

/// Exactly one JSON object on one line, and success.
#[track_caller]
fn assert_answers(output: &Output) {
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    let line = stdout.strip_suffix('\n').unwrap_or_else(|| panic!("no line: {output:?}"));
    assert!(!line.contains('\n'), "{stdout}");
    let answer: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {stdout}"));
    assert!(answer.is_object(), "{stdout}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{output:?}");
}

#[test]
fn a_limit_on_file_sizes_ends_no_hook() {
    for limit in ["ulimit -f 0", "ulimit -f 1"] {
        each_hook(|hook| {
            let fixture = Fixture::changed(|context| {
                // So long that the next line does not fit into the limit.
                let line = "{\"ts\":\"2026-02-23T14:00:00.000Z\",\"type\":\"tool:failure\"}\n";
                put(&context.session_dir(ID).join("timeline.jsonl"), line.repeat(40));
            });
            let payload = fixture.event(hook).to_string();
            assert_answers(&run_limited(&fixture.context, limit, hook, payload.as_bytes(), &[]));
            fixture.assert_nothing_lost();
        });
    }
}

/// The event with ten megabytes in one text, once for each text that a hook may look at.
fn large_events(fixture: &Fixture, hook: Hook) -> Vec<String> {
    let large = "x \"quoted\" ".repeat(1024 * 1024);
    let paths = ["/prompt", "/last_assistant_message", "/error", "/tool_input/prompt", "/tool_input/message"];
    let more = ["/tool_input/content", "/tool_input/command", "/tool_response/stdout", "/unknown"];
    let mut events = Vec::new();
    for path in paths.into_iter().chain(more) {
        let mut event = fixture.event(hook);
        let (parent, name) = path.rsplit_once('/').unwrap();
        if event.pointer(path).is_some() || path == "/unknown" {
            event.pointer_mut(parent).unwrap()[name] = Value::String(large.clone());
            events.push(event.to_string());
        }
    }
    events
}

/// The memory, in kilobytes, in which a hook answers a small payload. The program itself takes most of it; one that was
/// built for debugging takes more than the 24 MB in which a release has to manage.
fn enough_memory(fixture: &Fixture) -> u32 {
    let payload = fixture.event(Hook::AllowOwn).to_string();
    let is_enough = |limit: u32| {
        let limit = format!("ulimit -v {limit}");
        let output = run_limited(&fixture.context, &limit, Hook::AllowOwn, payload.as_bytes(), &[]);
        output.status.success() && !output.stdout.is_empty()
    };
    (8..1000).map(|step| step * 1024).find(|limit| is_enough(*limit)).unwrap()
}

#[test]
fn a_large_payload_in_little_memory_gets_an_answer() {
    let enough = enough_memory(&Fixture::new());
    each_hook(|hook| {
        let fixture = Fixture::new();
        for payload in large_events(&fixture, hook) {
            assert!(payload.len() > 10_000_000, "{}", payload.len());
            for more in [8, 40] {
                let limit = format!("ulimit -v {}", enough + more * 1024);
                assert_answers(&run_limited(&fixture.context, &limit, hook, payload.as_bytes(), &[]));
            }
        }
        fixture.assert_outside_untouched();
    });
}

#[test]
fn an_environment_file_that_is_none_is_left_alone() {
    let fixture = Fixture::new();
    let pipe = fixture.context.root().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let link = fixture.context.root().join("link");
    put(&fixture.context.root().join("victim"), "mine\n");
    symlink(fixture.context.root().join("victim"), &link).unwrap();
    let payload = fixture.event(Hook::OnStart).to_string();
    for file in [&pipe, &link, Path::new("/dev/full"), Path::new("/dev/zero"), Path::new("/dev/tty")] {
        let env = [("CLAUDE_ENV_FILE", file)];
        assert_answers(&run_limited(&fixture.context, ":", Hook::OnStart, payload.as_bytes(), &env));
    }
    assert_eq!(fs::read_to_string(fixture.context.root().join("victim")).unwrap(), "mine\n");
}

#[test]
fn a_huge_environment_file_costs_nothing() {
    let fixture = Fixture::new();
    let file = fixture.context.root().join("env");
    fs::File::create(&file).unwrap().set_len(20 << 30).unwrap();
    let payload = fixture.event(Hook::OnStart).to_string();
    let env = [("CLAUDE_ENV_FILE", file.as_path())];
    assert_answers(&run_limited(
        &fixture.context,
        "ulimit -v 65536",
        Hook::OnStart,
        payload.as_bytes(),
        &env,
    ));
}

/// A session folder that is a link points to foreign files.
#[test]
fn a_session_folder_that_is_a_link_is_not_written_through() {
    each_hook(|hook| {
        let fixture = Fixture::changed(|context| {
            let (session, elsewhere) = (context.session_dir(ID), context.root().join("elsewhere"));
            fs::rename(&session, &elsewhere).unwrap();
            symlink(&elsewhere, &session).unwrap();
        });
        let output = fixture.run(hook);
        output.answer();
        fixture.assert_outside_untouched();
    });
}

#[test]
fn a_handoff_folder_that_is_a_link_is_not_written_through() {
    for hook in [Hook::OnAgentStop, Hook::OnHandback] {
        let fixture = Fixture::changed(|context| {
            let elsewhere = context.root().join("elsewhere");
            fs::create_dir(&elsewhere).unwrap();
            symlink(&elsewhere, context.session_dir(ID).join("handoffs")).unwrap();
        });
        let output = fixture.run(hook);
        output.answer();
        fixture.assert_outside_untouched();
    }
}

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::{Duration, SystemTime};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::context::{TestContext, keys, put, read};
use crate::pty::{Pty, eventually};

fn started(context: &TestContext, session: &str) {
    let event = json!({ "session_id": session, "hook_event_name": "SessionStart", "source": "startup", "cwd": context.project() });
    context.hook("on-start", &event);
}

fn looping(context: &TestContext) -> Value {
    serde_json::from_str(&read(&context.session_dir("s1").join("loop.json"))).unwrap()
}

fn with_workflow() -> TestContext {
    let context = TestContext::for_commands();
    started(&context, "s1");
    context.run("init quick").ok();
    context
}

#[test]
fn the_screen_follows_the_hooks_and_controls_sessions() {
    let context = with_workflow();
    let mut pty = Pty::start(&context.command(&["top"]), 80, 24);
    pty.sees(&["▶ running 1", "project", "quick", "0/5", "·DEV [·REVIEW|·TEST] ·RETRO ·DOCS"]);
    pty.sees(&["workflow started"]);

    context.agent("s1", "developer", None);
    pty.sees(&["▶DEV", "developer", "agent delegated"]);
    context.change_project();
    let report = "done\n<!-- VERDICT: {\"result\":\"PASS\"} -->";
    let stop = json!({ "session_id": "s1", "cwd": context.project(), "agent_id": "", "agent_type": "ot:developer",
                       "last_assistant_message": report });
    context.hook("on-agent-stop", &stop);
    pty.sees(&["✔DEV", "1/5"]);

    put(&context.session_dir("torn").join("workflow.json"), "{\"sess");
    pty.sees(&["need you 1", "torn", "broken file workflow.json"]);
    fs::remove_dir_all(context.session_dir("torn")).unwrap();
    pty.sees(&["need you 0"]);

    pty.resize(120, 40);
    let is_below = |pty: &Pty| pty.screen().lines().nth(39).is_some_and(|line| line.contains("q quit"));
    assert!(eventually(|| is_below(&pty)), "{}", pty.screen());

    pty.press("s");
    pty.sees(&["Stop project · quick? y/n"]);
    pty.press("n");
    pty.sees(&["q quit"]);
    assert_eq!(looping(&context)["stopped"], false);
    pty.press("sy");
    pty.sees(&["The loop is stopped.", "■ project", "stopped by the user"]);
    assert_eq!(
        (&looping(&context)["stopped"], &looping(&context)["stoppedBy"]),
        (&json!(true), &json!("user"))
    );
    pty.press("r");
    pty.sees(&["Resume project · quick? y/n"]);
    pty.press("y");
    pty.sees(&["The workflow continues.", "▶ project"]);
    assert_eq!(looping(&context)["stopped"], false);

    pty.press("q");
    assert_eq!(pty.ends().code(), Some(0));
}

#[test]
fn it_waits_for_the_first_session() {
    let context = TestContext::for_commands();
    let mut pty = Pty::start(&context.command(&["top"]), 60, 15);
    pty.sees(&["There are no sessions yet."]);
    assert!(!context.state().exists(), "looking makes nothing");
    started(&context, "s1");
    pty.sees(&["no workflow", "total 1"]);
    context.run("init quick").ok();
    pty.sees(&["running 1", "·DEV"]);
    pty.press("\u{3}");
    assert_eq!(pty.ends().code(), Some(0));
}

#[test]
fn a_signal_gives_the_terminal_back() {
    let context = with_workflow();
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let mut pty = Pty::start(&context.command(&["top"]), 80, 24);
        pty.sees(&["running 1"]);
        pty.signal(signal);
        assert_eq!(pty.ends().signal(), Some(signal.as_raw()));
    }
}

/// Not a test of its own: it is what [`a_panic_gives_the_terminal_back`] starts in a terminal.
#[test]
#[ignore = "needs a terminal and fails on purpose"]
fn panics_on_the_screen() {
    let _screen = overtone_top::Screen::enter().unwrap();
    panic!("fell over");
}

#[test]
fn a_panic_gives_the_terminal_back() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", "top::panics_on_the_screen"]);
    command.current_dir(std::env::temp_dir());
    let mut pty = Pty::start(&command, 80, 24);
    assert_eq!(pty.ends().code(), Some(101));
    pty.sees(&["fell over", "1 failed"]);
    let raw = pty.raw();
    let (entered, left, reported) =
        (raw.find("\u{1b}[?1049h"), raw.find("\u{1b}[?1049l"), raw.find("fell over"));
    assert!(entered.is_some() && entered < left && left < reported, "{raw:?}");
}

#[test]
fn without_colours_there_are_none() {
    let context = with_workflow();
    context.agent("s1", "developer", None);
    for (value, is_coloured) in [("1", false), ("", true)] {
        let mut command = context.command(&["top"]);
        let mut pty = Pty::start(command.env("NO_COLOR", value), 80, 24);
        pty.sees(&["▶DEV"]);
        pty.press("q");
        pty.ends();
        assert_eq!(pty.raw().contains("\u{1b}[38;5;6;"), is_coloured, "{:?}", pty.raw());
    }
}

#[test]
fn one_frame_for_scripts() {
    let context = with_workflow();
    context.agent("s1", "developer", Some("PASS"));
    let frame =
        context.run("top --once").ok().has(&["▶ running 1", "project", "✔DEV [·REVIEW|·TEST]"]).stdout;
    assert!(!frame.contains('\u{1b}') && frame.lines().count() == 4, "{frame}");
    let narrow =
        TestContext::for_commands().with_env("COLUMNS", "60").with_env("LINES", "15").run("top --once").ok();
    assert!(narrow.stdout.contains("There are no sessions yet."), "{}", narrow.stdout);
    context.run("top --once").ok();
}

#[test]
fn an_array_for_programs() {
    let context = with_workflow();
    let torn = context.session_dir("torn").join("workflow.json");
    put(&torn, "{");
    // Clocks are coarse, and the last active comes first.
    let later = SystemTime::now() + Duration::from_mins(1);
    fs::File::options().write(true).open(&torn).unwrap().set_modified(later).unwrap();
    let sessions = context.json("top --json");
    let states: Vec<_> =
        sessions.as_array().unwrap().iter().map(|s| (s["id"].as_str(), s["state"].as_str())).collect();
    assert_eq!(states, [(Some("torn"), Some("broken")), (Some("s1"), Some("running"))]);
    let names = keys(&sessions[1]);
    for name in ["project", "workflow", "stages", "activeAgents", "loop", "needsPerson", "supervisor"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert_eq!(TestContext::for_commands().json("top --json"), json!([]));
}

#[test]
fn a_pipe_is_refused_with_a_hint() {
    with_workflow().run("top").fails(&["not a terminal", "--once", "--json"]);
    with_workflow().with_env("OVERTONE_LANG", "zh-TW").run("top").fails(&["不是終端機"]);
}

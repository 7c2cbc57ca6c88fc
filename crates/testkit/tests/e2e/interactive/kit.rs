//! The driver of terminals against the real clients: what is typed arrives, and nothing is left behind.

use std::fs;

use overtone_testkit::{Actor, Client, Exit, Key, Sandbox, Terminal, report, text, tool};
use serde_json::json;

use crate::delegate;

#[test]
fn a_prompt_is_answered_on_the_screen_in_every_mode() {
    for client in Client::all() {
        for mode in client.permission_modes() {
            let sandbox = Sandbox::new(&client);
            sandbox.record_hooks();
            let session = sandbox.new_session();
            let terminal = sandbox
                .script(|s| s.main([text("the first answer"), text("the second answer")]))
                .session(&session)
                .permission_mode(mode)
                .terminal();
            terminal.type_line("the first question");
            terminal.wait_for_screen("the first answer");
            terminal.type_line("the second question");
            terminal.wait_for_screen("the second answer");
            let run = terminal.exit();
            assert_eq!((run.exit, run.requests(Actor::Main).len()), (Exit::Code(0), 2));
            assert!(run.requests(Actor::Main).nth(1).new_text().contains("the second question"));
            let recorded = sandbox.recorded();
            let stop = recorded.iter().find(|recorded| recorded.hook == "on-stop").unwrap();
            assert_eq!(
                (&stop.payload["permission_mode"], &stop.payload["session_id"]),
                (&json!(mode), &json!(session))
            );
        }
    }
}

/// In auto mode a call that the safety check objects to is not made, and any other is made without a question.
#[test]
fn the_safety_check_of_auto_mode_is_answered() {
    for client in Client::all().iter().filter(|client| client.has_auto_mode()) {
        let sandbox = Sandbox::new(client);
        let write =
            |name: &str| tool("Bash", json!({"command": format!("python3 -c 'open(\"{name}\", \"w\")'")}));
        let terminal = sandbox
            .script(|s| {
                s.main([write("first.txt"), write("second.txt").flagged("too risky"), text("finished")])
            })
            .permission_mode("auto")
            .terminal();
        terminal.type_line("write both");
        terminal.wait_for_screen("finished");
        let project = sandbox.project();
        assert!(project.join("first.txt").exists() && !project.join("second.txt").exists());
        assert_eq!(terminal.times_received(Actor::Main, "too risky"), 1);
        terminal.exit();
    }
}

#[test]
fn sub_agents_report_as_the_mode_requires() {
    for client in Client::all() {
        for mode in client.permission_modes() {
            let sandbox = Sandbox::new(&client);
            sandbox.record_hooks();
            sandbox.record_tools("SubagentHandback");
            let terminal = sandbox
                .script(|s| {
                    s.main([delegate("ot:tester", "test it"), text("I wait"), text("finished")])
                        .sub("tester", [report("all of it works")])
                })
                .permission_mode(mode)
                .terminal();
            terminal.type_line("test it");
            terminal.wait_until("report to the main agent", |t| {
                t.times_received(Actor::Main, "all of it works") > 0
            });
            let run = terminal.exit();
            assert_eq!(run.requests(Actor::Sub("tester")).len(), 1);
            let hands_back = sandbox.recorded().iter().any(|r| r.payload["tool_name"] == "SubagentHandback");
            assert_eq!(hands_back, *mode == "auto", "{mode}");
        }
    }
}

#[test]
fn escape_interrupts_and_leaves_the_client_usable() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let slow = tool("Bash", json!({"command": "for i in 1 2 3 4 5; do sleep 60; done"}));
        let terminal = sandbox.script(|s| s.main([slow, text("as you like")])).allow(["Bash"]).terminal();
        terminal.type_line("take your time");
        terminal.wait_for_screen("sleep 60");
        terminal.press(Key::Escape);
        terminal.wait_for_screen("Interrupted");
        terminal.type_line("something else");
        terminal.wait_for_screen("as you like");
        let run = terminal.exit();
        assert!(run.requests(Actor::Main).last().new_text().contains("something else"));
    }
}

/// Processes whose environment names the sandbox.
fn processes_of(sandbox: &Sandbox) -> Vec<String> {
    let home = sandbox.home().to_string_lossy().into_owned();
    let folders = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let ours = folders.filter(|folder| {
        let environment = fs::read(folder.join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(&home)
    });
    ours.map(|folder| fs::read_to_string(folder.join("cmdline")).unwrap_or_default()).collect()
}

fn busy(sandbox: &Sandbox) -> Terminal<'_> {
    let slow = tool("Bash", json!({"command": "for i in 1 2 3 4 5; do sleep 60; done"}));
    let terminal = sandbox.script(|s| s.main([slow])).allow(["Bash"]).terminal();
    terminal.type_line("take your time");
    terminal.wait_until("shell", |t| processes_of(t.sandbox()).iter().any(|line| line.contains("sleep")));
    terminal
}

#[test]
fn a_terminal_leaves_no_process_behind() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        assert_eq!(busy(&sandbox).kill().exit, Exit::Signal(9));
        assert_eq!(processes_of(&sandbox), [""; 0]);
        drop(busy(&sandbox));
        assert_eq!(processes_of(&sandbox), [""; 0]);
    }
}

#[test]
fn a_session_is_continued_in_a_new_terminal() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = sandbox.new_session();
        let first = sandbox.script(|s| s.main([text("the first answer")])).session(&session).terminal();
        first.type_line("one");
        first.wait_for_screen("the first answer");
        first.exit();
        let second = sandbox.script(|s| s.main([text("the second answer")])).resume(&session).terminal();
        second.wait_for_screen("the first answer");
        second.type_line("two");
        second.wait_for_screen("the second answer");
        assert!(second.exit().requests(Actor::Main).first().text().contains("the first answer"));
    }
}

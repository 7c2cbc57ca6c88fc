//! Which session a command is about when it runs in a terminal beside the client, and ids by their first characters.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::context::{Output, TestContext, put, read};

const SHOP: &str = "5b0e1c2a-shop";
const WIKI: &str = "9d41f07e-wiki";

/// A terminal: the environment names no session.
fn terminal() -> TestContext {
    TestContext::for_commands().without_env("OVERTONE_SESSION_ID").with_env("NO_COLOR", "1")
}

fn folder(context: &TestContext, name: &str) -> PathBuf {
    let folder = context.project().join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A session as the client starts it, with a workflow.
fn open(context: &TestContext, id: &str, project: &Path) {
    context.hook("on-start", &json!({ "session_id": id, "source": "startup", "cwd": project }));
    in_folder(context, project, &format!("init quick --session {id}")).ok();
}

fn exit(context: &TestContext, id: &str) {
    context.hook("on-session-end", &json!({ "session_id": id, "reason": "prompt_input_exit" }));
}

fn in_folder(context: &TestContext, folder: &Path, line: &str) -> Output {
    let words: Vec<_> = line.split_whitespace().collect();
    Output::new(&context.command(&words).current_dir(folder).output().unwrap())
}

/// It worked and said on stderr, in one line, which session it is about.
#[track_caller]
fn used(output: Output, parts: &[&str]) -> Output {
    assert_eq!((output.code, output.stderr.lines().count()), (Some(0), 1), "{output:?}");
    output.stderr_has(parts)
}

fn pointer(context: &TestContext) -> PathBuf {
    context.state().join(".current-session-id")
}

#[test]
fn after_exit_the_session_of_this_folder_is_used_and_named() {
    let context = terminal();
    let (shop, wiki) = (folder(&context, "shop"), folder(&context, "wiki"));
    open(&context, SHOP, &shop);
    open(&context, WIKI, &wiki);
    exit(&context, SHOP);
    exit(&context, WIKI);
    assert!(!pointer(&context).exists());
    let named = ["5b0e1c2a", "shop", "ago"];
    for line in ["status", "timeline", "stats", "replay", "timeline --json"] {
        used(in_folder(&context, &shop, line), &named);
    }
    used(in_folder(&context, &folder(&context, "shop/src/deep"), "status"), &named).has(&[SHOP]);
    used(in_folder(&context, &wiki, "status"), &["9d41f07e", "wiki"]).has(&[WIKI]);
    for line in ["status --json", "stats --json", "replay --json"] {
        let object = in_folder(&context, &shop, line).ok().json();
        assert_eq!((&object["session"], &object["project"]), (&json!(SHOP), &json!(shop)), "{line}");
    }
}

#[test]
fn tasks_are_those_of_the_sessions_project() {
    let context = terminal();
    let (shop, other) = (folder(&context, "shop"), folder(&context, "other"));
    context.hook("on-start", &json!({ "session_id": SHOP, "source": "startup", "cwd": shop }));
    in_folder(&context, &shop, &format!("init quick --feature login --session {SHOP}")).ok();
    for folder in [shop.join("specs"), other] {
        used(in_folder(&context, &folder, "status"), &["5b0e1c2a"]).has(&["login (tasks 0/"]);
    }
}

#[test]
fn after_exit_commands_change_the_session_of_this_folder() {
    let context = terminal();
    let shop = folder(&context, "shop");
    open(&context, SHOP, &shop);
    exit(&context, SHOP);
    used(in_folder(&context, &shop, "resume"), &["5b0e1c2a"]).has(&["The workflow continues"]);
    used(in_folder(&context, &shop, "message hello"), &["5b0e1c2a"]).has(&["Message saved"]);
    used(in_folder(&context, &shop, "stop"), &["5b0e1c2a"]).has(&["stopped"]);
    assert_eq!(in_folder(&context, &shop, "stop --json").ok().json()["session"], json!(SHOP));
}

#[test]
fn in_another_folder_the_last_session_is_shown_but_not_changed() {
    let context = terminal();
    let (shop, other) = (folder(&context, "shop"), folder(&context, "other"));
    open(&context, SHOP, &shop);
    let state = context.session_dir(SHOP).join("loop.json");
    let before = read(&state);
    for is_running in [true, false] {
        for line in ["status", "timeline", "stats", "replay"] {
            let shown = used(in_folder(&context, &other, line), &["No session", "5b0e1c2a", "shop", "ago"]);
            assert!(!shown.stdout.is_empty(), "{line}");
        }
        for line in ["stop", "resume", "message hello", "stop --json"] {
            let refused = in_folder(&context, &other, line);
            refused.fails(&["no session", "other", "overtone sessions", "--session ID"]);
        }
        if is_running {
            assert_eq!(read(&state), before);
            exit(&context, SHOP);
        }
    }
    in_folder(&context, &other, &format!("stop --session {SHOP}")).ok();
}

#[test]
fn the_folders_own_session_wins_over_the_one_that_started_last() {
    let context = terminal();
    let (shop, wiki) = (folder(&context, "shop"), folder(&context, "wiki"));
    open(&context, SHOP, &shop);
    open(&context, WIKI, &wiki);
    assert_eq!(read(&pointer(&context)), WIKI);
    used(in_folder(&context, &shop, "stop"), &["5b0e1c2a"]);
    let stopped = |id: &str| read(&context.session_dir(id).join("loop.json")).contains("\"stopped\": true");
    assert!(stopped(SHOP) && !stopped(WIKI));
    used(in_folder(&context, &wiki, "stop"), &["9d41f07e"]);
    let refused = in_folder(&context, &folder(&context, "third"), "init quick");
    refused.fails(&["no session", "--session"]);
}

#[test]
fn of_two_sessions_in_a_folder_the_one_that_started_last_is_used_while_it_runs() {
    let context = terminal();
    let shop = folder(&context, "shop");
    open(&context, SHOP, &shop);
    open(&context, "77777777-second", &shop);
    context.agent(SHOP, "developer", Some("PASS"));
    used(in_folder(&context, &shop, "status"), &["77777777"]);
    exit(&context, "77777777-second");
    context.agent(SHOP, "code-reviewer", Some("PASS"));
    used(in_folder(&context, &shop, "status"), &["5b0e1c2a"]);
}

#[test]
fn inside_the_client_nothing_is_looked_for() {
    let context = terminal();
    let (shop, other) = (folder(&context, "shop"), folder(&context, "other"));
    open(&context, SHOP, &shop);
    open(&context, WIKI, &other);
    for variable in ["OVERTONE_SESSION_ID", "CLAUDE_CODE_SESSION_ID"] {
        let run = |line: &str| {
            let words: Vec<_> = line.split_whitespace().collect();
            let mut command = context.command(&words);
            Output::new(&command.env(variable, SHOP).current_dir(&other).output().unwrap())
        };
        run("status").ok().has(&[SHOP]);
        run("resume").ok().has(&["nothing to resume"]);
        run("init single --force").ok();
    }
}

#[test]
fn the_first_characters_of_an_id_are_enough() {
    let context = terminal();
    let shop = folder(&context, "shop");
    for id in [SHOP, WIKI, "9d41f07e-wiki-2", "abcd", "abcd-long"] {
        open(&context, id, &shop);
    }
    for line in [
        "status --session 5b0e",
        "timeline --session 5b0e1c2a",
        "timeline 5b0e",
        "stats --session 5b0e",
        "replay 5b0e1c",
        "sessions show 5b0e",
        "stop --session 5b0e",
        "message --session 5b0e hello",
        "resume --session 5b0e",
    ] {
        context.run(line).ok();
    }
    assert_eq!(context.json("status --session 5b0e --json")["session"], json!(SHOP));
    assert_eq!(
        context.json("status --session 9d41f07e-wiki --json")["session"],
        json!(WIKI),
        "exact ids win"
    );
    assert_eq!(context.json("status --session abcd --json")["session"], json!("abcd"));
    for line in ["status --session 9d41", "sessions rm 9d41 --yes", "timeline 9d41", "stop --session 9d41"] {
        context.run(line).fails(&["9d41", "9d41f07e-wiki", "9d41f07e-wiki-2"]);
    }
    for line in
        ["status --session nope", "stop --session nope", "sessions rm nope --yes", "stats --session nope"]
    {
        context.run(line).fails(&["no such session: nope", "overtone sessions"]);
    }
    context.run("status --session 5b0").fails(&["no such session: 5b0", "4 characters"]);
    context.run("sessions rm abcd --yes").ok().has(&["Removed 1: abcd\n"]);
    context.run("sessions rm 5b0e 5b0e1c2a --yes").ok().has(&["Removed 1: 5b0e1c2a-shop"]);
}

#[test]
fn a_new_session_is_named_in_full() {
    let context = terminal();
    open(&context, "abcd-long", &context.project());
    context.run("init single --session abcd").ok();
    assert!(
        context.session_dir("abcd").join("workflow.json").exists(),
        "`init` may name a session that is new"
    );
}

#[test]
fn sessions_are_listed_with_their_projects() {
    let context = terminal();
    open(&context, SHOP, &folder(&context, "shop"));
    put(&context.session_dir("unknown").join("timeline.jsonl"), "");
    for line in ["sessions", "sessions list"] {
        context.run(line).ok().has(&["Project", "shop", SHOP]);
    }
    let list = context.json("sessions --json");
    let sessions = list["sessions"].as_array().unwrap();
    let project = |id: &str| sessions.iter().find(|s| s["id"] == id).unwrap()["project"].clone();
    assert_eq!(project(SHOP), json!(context.project().join("shop")));
    assert_eq!(project("unknown"), json!(null));
}

//! A whole workflow, from a user's request to the archive.

use std::fs;

use overtone_testkit::{Actor, Client, Run, Sandbox, Script, Turn, text, tool, tools};
use serde_json::json;

use crate::delegate;

/// What is said in one language: next step, parallel step and summary.
struct Words {
    after_plan: &'static str,
    parallel: &'static str,
    summary: &'static str,
    archived: &'static str,
}

const CHINESE: Words = Words {
    after_plan: "✅ 📋 規劃 完成。\n下一步請委派 ARCHITECT（ot:architect）。",
    parallel: "下一步請委派 CODE-REVIEWER（ot:code-reviewer）、TESTER（ot:tester），在同一則訊息中並行啟動。",
    summary: "🎉 工作流 standard 完成：8 個階段，耗時 ",
    archived: "📦 Feature add-login 已歸檔。",
};

const ENGLISH: Words = Words {
    after_plan: "Next, delegate ARCHITECT (ot:architect).",
    parallel: "Next, delegate CODE-REVIEWER (ot:code-reviewer), TESTER (ot:tester), launched in parallel in one message.",
    summary: "🎉 Workflow standard complete: 8 stages in ",
    archived: "📦 Feature add-login is archived.",
};

const STAGES: [&str; 8] = ["PLAN", "ARCH", "TEST", "DEV", "REVIEW", "TEST:2", "RETRO", "DOCS"];

const FEATURE: &str = "specs/features/in-progress/add-login";

/// The main agent does what the page of `/ot:auto` and `init` tell it.
fn by_the_book() -> Vec<Turn> {
    let ask = |agent: &str| delegate(&format!("ot:{agent}"), "a login with a password");
    vec![
        tool("Skill", json!({"skill": "ot:auto"})),
        tool("Bash", json!({"command": "overtone init standard --feature add-login"})),
        ask("planner"),
        ask("architect"),
        ask("tester"),
        ask("developer"),
        tools([ask("code-reviewer"), ask("tester")]),
        ask("retrospective"),
        ask("doc-updater"),
        text("the login is there"),
    ]
}

/// A sub-agent reads the tasks and changes a line of them.
fn editing(sandbox: &Sandbox, old: &str, new: &str) -> [Turn; 2] {
    let path = sandbox.project().join(FEATURE).join("tasks.md");
    let edit = json!({"file_path": path, "old_string": old, "new_string": new});
    [tool("Read", json!({"file_path": path})), tool("Edit", edit)]
}

fn pass() -> Turn {
    text(r#"<!-- VERDICT: {"result":"PASS"} -->"#)
}

/// The command of the project's tests.
const TESTS: &str = "sh tests/run.sh";

/// Every agent does what its stage is about, since a report alone passes nothing.
fn team(sandbox: &Sandbox, script: Script) -> Script {
    sandbox.put_file("tests/run.sh", "test -e login.py\n");
    let source = sandbox.project().join("login.py");
    let write = tool("Write", json!({"file_path": source, "content": "def login(): pass\n"}));
    script
        .main(by_the_book())
        .sub("planner", editing(sandbox, "## Tasks\n", "## Tasks\n\n- [ ] the form\n"))
        .sub("planner", [pass()])
        .sub("developer", [write])
        .sub("developer", editing(sandbox, "- [ ] the form", "- [x] the form"))
        .sub("developer", [pass()])
        .sub("code-reviewer", [tool("Read", json!({"file_path": source})), pass()])
        .sub("tester", [pass(), tool("Bash", json!({"command": TESTS})), pass()])
}

/// The stages of one kind of event, in their order; the two that run at once are put in that of the workflow.
fn stages_of(sandbox: &Sandbox, session: &str, kind: &str) -> Vec<String> {
    let events = sandbox.timeline(session);
    let of_kind = events.iter().filter(|event| event["type"] == kind);
    let mut stages: Vec<_> =
        of_kind.map(|event| event["stage"].as_str().unwrap_or_default().to_owned()).collect();
    if let Some(group) = stages.get_mut(4..6) {
        group.sort();
    }
    stages
}

fn handoffs(sandbox: &Sandbox, session: &str) -> usize {
    fs::read_dir(sandbox.state().join("sessions").join(session).join("handoffs")).unwrap().count()
}

/// The names of the archived features, without the day.
fn archived(sandbox: &Sandbox) -> Vec<String> {
    let folders = fs::read_dir(sandbox.project().join("specs/features/archive")).unwrap();
    let names = folders.map(|folder| folder.unwrap().file_name().to_string_lossy().into_owned());
    names.map(|name| name.split_once('_').unwrap().1.to_owned()).collect()
}

#[track_caller]
fn assert_complete(sandbox: &Sandbox, run: &Run) {
    let session = &run.session_id;
    for kind in ["stage:start", "stage:complete"] {
        assert_eq!(stages_of(sandbox, session, kind), STAGES, "{kind}");
    }
    let types = sandbox.timeline_types(session);
    for kind in [
        "workflow:start",
        "specs:init",
        "parallel:start",
        "parallel:converge",
        "specs:archive",
        "workflow:complete",
    ] {
        assert_eq!(types.iter().filter(|found| *found == kind).count(), 1, "{kind} in {types:?}");
    }
    assert!(!types.iter().any(|kind| kind == "loop:advance"), "nobody had to be sent on: {types:?}");
    assert_eq!(handoffs(sandbox, session), STAGES.len());
    assert_eq!(
        (archived(sandbox), sandbox.project().join(FEATURE).exists()),
        (vec!["add-login".to_owned()], false)
    );
    let workflow = sandbox.workflow(session);
    let passed = STAGES.iter().filter(|stage| workflow["stages"][**stage]["result"] == "pass").count();
    assert_eq!((passed, &workflow["featureName"]), (STAGES.len(), &json!("add-login")), "{workflow}");
}

#[track_caller]
fn assert_received(run: &Run, words: &Words) {
    let received = run.requests(Actor::Main).new_text();
    let stages = "1. PLAN → `ot:planner`";
    for part in ["overtone init <workflow>", stages, words.after_plan, words.parallel] {
        assert!(received.contains(part), "no {part:?} in {received}");
    }
    let shown: String = run.hook_events().iter().map(|hook| hook["stdout"].to_string()).collect();
    assert!(shown.contains(words.summary) && shown.contains(words.archived), "{shown}");
    assert_eq!(run.result_text(), "the login is there");
}

fn standard(language: Option<&str>, words: &Words) {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let allowed = format!("Bash({TESTS})");
        let mut invocation =
            sandbox.script(|s| team(&sandbox, s)).permission_mode("acceptEdits").allow(["Agent", &allowed]);
        if let Some(tag) = language {
            invocation = invocation.env("OVERTONE_LANG", tag);
        }
        let run = invocation.run("add a login");
        assert_complete(&sandbox, &run);
        assert_received(&run, words);
    }
}

#[test]
fn a_request_becomes_an_archived_feature() {
    standard(None, &CHINESE);
}

#[test]
fn a_request_becomes_an_archived_feature_in_english() {
    standard(Some("en"), &ENGLISH);
}

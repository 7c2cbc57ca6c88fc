//! A stage passes on what Overtone saw itself: the project's checks, the changed files, and what the agent did.

use std::fs;

use overtone_testkit::{Actor, Client, Invocation, Run, Sandbox, Script, Turn, text, tool, tools};
use serde_json::{Value, json};

use crate::delegate;
use crate::steps::{of_stages, verdict};

/// A check that succeeds when the project has the file `good`.
pub(crate) const NEEDS_GOOD: &str = "test -e good || { echo 'the lock still sticks'; exit 3; }";

/// A session whose workflow was started by `overtone init`, in a project with this file.
pub(crate) fn init(sandbox: &Sandbox, workflow: &str) -> String {
    let session = sandbox.new_session();
    sandbox.overtone(&session, &["init", workflow]);
    session
}

/// The same in a project with one check, which counts its runs outside of the project.
pub(crate) fn init_with_check(sandbox: &Sandbox, workflow: &str, run: &str) -> String {
    put_check(sandbox, run);
    sandbox.overtone("", &["trust", "--yes"]);
    init(sandbox, workflow)
}

fn put_check(sandbox: &Sandbox, run: &str) {
    let run = format!("echo run >> {}; {run}", sandbox.home().join("runs").display());
    sandbox.put_file("overtone.toml", &format!("[checks.test]\nrun = {}\n", json!(run)));
}

pub(crate) fn runs(sandbox: &Sandbox) -> usize {
    fs::read_to_string(sandbox.home().join("runs")).unwrap_or_default().lines().count()
}

/// Writes a file of the project.
pub(crate) fn write(sandbox: &Sandbox, path: &str, content: &str) -> Turn {
    tool("Write", json!({"file_path": sandbox.project().join(path), "content": content}))
}

pub(crate) fn bash(command: &str) -> Turn {
    tool("Bash", json!({"command": command, "description": "work"}))
}

fn read(sandbox: &Sandbox, path: &str) -> Turn {
    tool("Read", json!({"file_path": sandbox.project().join(path)}))
}

fn pass() -> Turn {
    verdict("done", "PASS")
}

/// A run in which agents may work.
fn working<'a>(sandbox: &'a Sandbox, session: &str, script: impl FnOnce(Script) -> Script) -> Invocation<'a> {
    let tools = ["Agent", "Bash", "Read", "Write", "Edit"];
    sandbox.script(script).session(session).allow(tools).permission_mode("acceptEdits")
}

/// The main agent delegates to the developer only.
fn develop(sandbox: &Sandbox, session: &str, developer: Vec<Turn>) -> Run {
    let main = [delegate("ot:developer", "build the lock"), text("done")];
    working(sandbox, session, |s| s.main(main).sub("developer", developer)).run("build it")
}

/// Why reports were sent back, in order.
pub(crate) fn sent_back(sandbox: &Sandbox, session: &str) -> Vec<String> {
    let events = sandbox.timeline(session);
    let warnings = events.iter().filter(|event| event["reason"] == "report-sent-back");
    warnings.map(|event| event["missing"].as_str().unwrap_or_default().to_owned()).collect()
}

fn stage(sandbox: &Sandbox, session: &str, key: &str) -> Value {
    sandbox.workflow(session)["stages"][key].clone()
}

#[test]
fn a_red_check_goes_back_to_the_same_agent_which_repairs_it() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = init_with_check(&sandbox, "single", NEEDS_GOOD);
        let turns =
            vec![write(&sandbox, "src/lock.txt", "bolt"), pass(), write(&sandbox, "good", "yes"), pass()];
        let run = develop(&sandbox, &session, turns);
        let developer = run.requests(Actor::Sub("developer"));
        assert_eq!(developer.len(), 4, "the same agent goes on");
        let received = developer.nth(2).new_text();
        assert!(received.contains("the lock still sticks") && received.contains("結束碼 3"), "{received}");
        assert_eq!(sent_back(&sandbox, &session), ["checks-failed"]);
        assert_eq!((stage(&sandbox, &session, "DEV")["result"].clone(), runs(&sandbox)), (json!("pass"), 2));
        let events = sandbox.timeline(&session);
        let report = events.iter().find(|event| event["type"] == "agent:complete").unwrap();
        assert_eq!(report["receipts"], json!(["test: passed"]));
        assert_eq!(sandbox.workflow(&session)["ending"], "completed");
        let summary = run.hook_answers("Stop").pop().unwrap();
        assert!(summary["systemMessage"].as_str().unwrap().contains("🧾 test：通過"), "{summary}");
    }
}

#[test]
fn three_red_runs_fail_the_stage() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = init_with_check(&sandbox, "single", NEEDS_GOOD);
        let turns = vec![write(&sandbox, "src/lock.txt", "bolt"), pass(), pass(), pass()];
        let run = develop(&sandbox, &session, turns);
        assert_eq!(sent_back(&sandbox, &session), ["checks-failed"; 2]);
        assert_eq!((stage(&sandbox, &session, "DEV")["result"].clone(), runs(&sandbox)), (json!("fail"), 3));
        let main = run.requests(Actor::Main);
        assert!(main.nth(1).new_text().contains("the lock still sticks"), "{}", main.nth(1).new_text());
        assert_eq!(sandbox.workflow(&session)["ending"], Value::Null);
    }
}

/// DEV, REVIEW, TEST, RETRO and DOCS by agents that do what they report.
fn honest_agents(sandbox: &Sandbox, script: Script) -> Script {
    let judge = tools([delegate("ot:code-reviewer", "judge it"), delegate("ot:tester", "test it")]);
    let main = [
        delegate("ot:developer", "build the lock"),
        judge,
        delegate("ot:retrospective", "look back"),
        delegate("ot:doc-updater", "write it down"),
        text("done"),
    ];
    script
        .main(main)
        .sub("developer", [write(sandbox, "src/lock.txt", "bolt"), pass()])
        .sub("code-reviewer", [read(sandbox, "src/lock.txt"), pass()])
        .sub("tester", [bash("make -n 2>/dev/null; echo '3 passed in 0.1s'"), pass()])
}

#[test]
fn honest_work_passes_undisturbed_and_a_check_runs_once_for_the_same_files() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = init_with_check(&sandbox, "quick", "true");
        let run = working(&sandbox, &session, |s| honest_agents(&sandbox, s)).run("build it");
        assert_eq!(sent_back(&sandbox, &session), [""; 0]);
        assert_eq!(of_stages(&sandbox, &session, "result"), ["pass"; 5]);
        assert_eq!(of_stages(&sandbox, &session, "attempts"), [1; 5]);
        assert_eq!((runs(&sandbox), sandbox.workflow(&session)["ending"].clone()), (1, json!("completed")));
        assert_eq!(run.requests(Actor::Main).len(), 5);
    }
}

#[test]
fn without_checks_honest_work_passes_undisturbed() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = init(&sandbox, "quick");
        let run = working(&sandbox, &session, |s| honest_agents(&sandbox, s)).run("build it");
        assert_eq!(sent_back(&sandbox, &session), [""; 0]);
        assert_eq!(of_stages(&sandbox, &session, "result"), ["pass"; 5]);
        assert_eq!((run.requests(Actor::Main).len(), run.result_text()), (5, "done"));
    }
}

#[test]
fn checks_that_are_not_trusted_are_not_run_and_the_user_is_shown_it_once() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        put_check(&sandbox, "exit 1");
        let session = sandbox.new_session();
        let printed = sandbox.overtone(&session, &["init", "quick"]);
        assert!(printed.contains("overtone trust"), "{printed}");
        let run = working(&sandbox, &session, |s| honest_agents(&sandbox, s)).run("build it");
        assert_eq!((runs(&sandbox), of_stages(&sandbox, &session, "result")), (0, vec![json!("pass"); 5]));
        let events = run.hook_events();
        let shown = events.iter().filter(|hook| hook["stdout"].to_string().contains("overtone trust"));
        assert_eq!(shown.count(), 1);
    }
}

#[test]
fn an_agent_that_rewrites_the_checks_changes_nothing_for_the_running_workflow() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = init_with_check(&sandbox, "single", NEEDS_GOOD);
        let turns = vec![
            bash("printf '[checks.test]\\nrun = \"true\"\\n' > overtone.toml"),
            pass(),
            write(&sandbox, "good", "yes"),
            pass(),
        ];
        develop(&sandbox, &session, turns);
        assert_eq!(sent_back(&sandbox, &session), ["checks-failed"]);
        assert_eq!((stage(&sandbox, &session, "DEV")["result"].clone(), runs(&sandbox)), (json!("pass"), 2));
    }
}

#[test]
fn the_model_cannot_trust_the_checks() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        put_check(&sandbox, "true");
        let run = sandbox
            .script(|s| {
                s.main([bash("overtone trust --yes"), bash("sh -c 'overtone trust --yes'"), text("done")])
            })
            .allow(["Bash"])
            .run("trust it");
        assert!(!sandbox.state().join("trust.json").exists());
        let main = run.requests(Actor::Main);
        assert!(main.nth(2).new_text().contains("由使用者決定"), "{}", main.nth(2).new_text());
    }
}

#[test]
fn a_developer_that_changes_nothing_is_asked_once_and_then_fails() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = init(&sandbox, "single");
        let run = develop(&sandbox, &session, vec![pass(), pass()]);
        assert_eq!(sent_back(&sandbox, &session), ["nothing-changed"]);
        assert_eq!(stage(&sandbox, &session, "DEV")["result"], "fail");
        assert!(run.requests(Actor::Sub("developer")).nth(1).new_text().contains("沒有任何檔案被修改"));
    }
}

#[test]
fn an_explanation_for_nothing_changed_is_believed_and_the_reviewer_gets_it() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = init(&sandbox, "quick");
        let why =
            text("<!-- VERDICT: {\"result\":\"PASS\",\"unchanged\":\"the bolt was there already\"} -->");
        let main =
            [delegate("ot:developer", "build it"), delegate("ot:code-reviewer", "judge it"), text("done")];
        let run = working(&sandbox, &session, |s| s.main(main).sub("developer", [why])).run("build it");
        assert_eq!(stage(&sandbox, &session, "DEV")["result"], "pass");
        let received = run.requests(Actor::Sub("code-reviewer")).first().new_text();
        assert!(received.contains("the bolt was there already"), "{received}");
    }
}

#[test]
fn a_tester_that_ran_nothing_and_a_reviewer_that_read_nothing_are_asked_once() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = init(&sandbox, "quick");
        let script = |s: Script| {
            let judge = tools([delegate("ot:code-reviewer", "judge it"), delegate("ot:tester", "test it")]);
            s.main([delegate("ot:developer", "build it"), judge, text("done")])
                .sub("developer", [write(&sandbox, "src/lock.txt", "bolt"), pass()])
                .sub("code-reviewer", [pass(), read(&sandbox, "src/lock.txt"), pass()])
                .sub("tester", [pass(), pass()])
        };
        working(&sandbox, &session, script).run("build it");
        let mut asked = sent_back(&sandbox, &session);
        asked.sort();
        assert_eq!(asked, ["nothing-read", "nothing-run"]);
        assert_eq!(stage(&sandbox, &session, "REVIEW")["result"], "pass", "it has read the change");
        assert_eq!(stage(&sandbox, &session, "TEST")["result"], "fail", "it has still run nothing");
    }
}

#[test]
fn deleted_tests_are_noticed_and_moved_ones_are_fine() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        sandbox.put_file("tests/test_lock.py", "def test_bolt():\n    assert True\n");
        let git = |arguments: &str| {
            let script = format!("git -c user.name=t -c user.email=t@example.org {arguments}");
            let mut command = std::process::Command::new("sh");
            let status = command.args(["-c", &script]).current_dir(sandbox.project()).status();
            assert!(status.unwrap().success(), "{arguments}");
        };
        git("init -q .");
        git("add -A");
        git("commit -qm first");
        let session = init(&sandbox, "single");
        let turns = vec![
            bash("rm tests/test_lock.py && echo bolt > lock.txt"),
            pass(),
            bash("printf 'def test_bolt():\\n    assert True\\n' > tests/test_bolt.py && git add -A"),
            pass(),
        ];
        let run = develop(&sandbox, &session, turns);
        assert_eq!(sent_back(&sandbox, &session), ["tests-removed"]);
        assert!(run.requests(Actor::Sub("developer")).nth(2).new_text().contains("1 → 0"));
        assert_eq!(stage(&sandbox, &session, "DEV")["result"], "pass");
    }
}

#[test]
fn a_workflow_does_not_end_with_files_on_which_a_check_fails() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = init_with_check(&sandbox, "quick", "! test -e broken");
        let judge = || tools([delegate("ot:code-reviewer", "judge it"), delegate("ot:tester", "test it")]);
        let after =
            || [delegate("ot:retrospective", "look back"), delegate("ot:doc-updater", "write it down")];
        let mut main = vec![delegate("ot:developer", "build the lock"), judge()];
        main.extend(after());
        main.extend([text("finished"), delegate("ot:developer", "repair it"), judge()]);
        main.extend(after());
        main.push(text("done"));
        let script = |s: Script| {
            s.main(main)
                .sub(
                    "developer",
                    [write(&sandbox, "src/lock.txt", "bolt"), pass(), bash("rm broken"), pass()],
                )
                .sub(
                    "code-reviewer",
                    [read(&sandbox, "src/lock.txt"), pass(), read(&sandbox, "src/lock.txt")],
                )
                .sub("doc-updater", [write(&sandbox, "broken", "oh"), pass()])
        };
        let run = working(&sandbox, &session, script).run("build it");
        let main = run.requests(Actor::Main);
        let told = main.nth(5).new_text();
        assert!(told.contains("檢查在目前的程式碼上沒有通過") && told.contains("DEVELOPER"), "{told}");
        assert_eq!((sandbox.workflow(&session)["failCount"].clone(), run.result_text()), (json!(1), "done"));
        assert_eq!(sandbox.workflow(&session)["ending"], "completed");
        assert_eq!(of_stages(&sandbox, &session, "attempts"), [2; 5]);
        let replayed = sandbox.overtone(&session, &["replay"]);
        assert!(replayed.contains("workflow.json"), "{replayed}");
    }
}

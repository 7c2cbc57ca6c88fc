//! Checks, trust and receipts, with real shell commands and the real hooks.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::with_verdict;
use crate::context::{TestContext, put, read};

/// A developer of session `s1` that can be sent back.
struct Developer<'a> {
    context: &'a TestContext,
    agent: &'static str,
    id: String,
}

impl Developer<'_> {
    fn event(&self, report: &str) -> Value {
        json!({
            "session_id": "s1", "cwd": self.context.project(), "hook_event_name": "SubagentStop",
            "agent_id": self.id, "agent_type": format!("ot:{}", self.agent), "last_assistant_message": report,
        })
    }

    /// The answer to its report.
    fn report(&self, report: &str) -> Value {
        self.context.answer("on-agent-stop", &self.event(report))
    }

    /// The answer to a report that says PASS.
    fn pass(&self) -> Value {
        self.report(&with_verdict("done", "PASS"))
    }

    /// Changes a file of the project.
    fn change(&self, text: &str) {
        put(&self.context.project().join("src/a.txt"), text);
    }
}

trait Checks {
    fn with_check(self, run: &str) -> Self;
    fn start(&self, agent: &'static str) -> Developer<'_>;
    fn runs(&self) -> usize;
    fn stage(&self, key: &str) -> Value;
    fn stop(&self) -> Value;
}

impl Checks for TestContext {
    /// A project with one trusted check, which counts its runs outside of the project, and a running workflow.
    fn with_check(self, run: &str) -> Self {
        let runs = self.path("runs");
        let run = format!("echo run >> {}; {run}", runs.display());
        put(&self.project().join("overtone.toml"), format!("[checks.test]\nrun = {}\n", json!(run)));
        self.run("trust --yes").ok();
        self.run("init quick").ok().has(&["Checks", "test"]);
        self
    }

    /// The main agent delegates, and the agent starts.
    fn start(&self, agent: &'static str) -> Developer<'_> {
        self.delegate("s1", agent);
        let id = self.next_agent_id(agent);
        self.send_event(
            "on-agent-start",
            "s1",
            json!({ "agent_id": id, "agent_type": format!("ot:{agent}") }),
        );
        Developer { context: self, agent, id }
    }

    fn runs(&self) -> usize {
        fs::read_to_string(self.path("runs")).unwrap_or_default().lines().count()
    }

    fn stage(&self, key: &str) -> Value {
        self.json("status --json")["workflow"]["stages"]
            .as_array()
            .unwrap()
            .iter()
            .find(|stage| stage["key"] == key)
            .unwrap()
            .clone()
    }

    fn stop(&self) -> Value {
        let event = json!({
            "session_id": "s1", "cwd": self.project(), "hook_event_name": "Stop", "background_tasks": [],
        });
        self.answer("on-stop", &event)
    }
}

fn file(context: &TestContext) -> PathBuf {
    context.project().join("overtone.toml")
}

/// A check that succeeds when the project has the file `good`.
const NEEDS_GOOD: &str = "test -e good || { echo 'good is missing'; exit 3; }";

#[test]
fn a_red_check_is_sent_back_with_its_output_and_a_repaired_one_passes_with_a_receipt() {
    let context = TestContext::for_commands().with_check(NEEDS_GOOD);
    let developer = context.start("developer");
    developer.change("one");
    let answer = developer.pass();
    let reason = answer["reason"].as_str().unwrap();
    assert_eq!(answer["decision"], "block");
    assert!(reason.contains("failed with exit code 3") && reason.contains("good is missing"), "{reason}");
    put(&context.project().join("good"), "");
    let answer = developer.pass();
    assert_eq!(answer.get("decision"), None, "{answer}");
    assert_eq!((context.stage("DEV")["result"].as_str(), context.runs()), (Some("pass"), 2));
    let evidence = context.json("evidence --json");
    let receipts = evidence["receipts"].as_array().unwrap();
    assert_eq!(
        (receipts.len(), &receipts[0]["exitCode"], &receipts[1]["passed"]),
        (2, &json!(3), &json!(true))
    );
    assert_eq!(receipts[1]["stage"], "DEV");
    let log = read(&context.session_dir("s1").join("checks/test.log"));
    assert_eq!(log, "", "the last run printed nothing");
    let timeline = context.run("timeline --type agent:complete --json").ok().stdout;
    assert!(timeline.contains("\"receipts\":[\"test: passed\"]"), "{timeline}");
    assert!(timeline.contains(r#""checks":[{"check":"test","result":"pass"}]"#), "{timeline}");
    context.run("replay").ok().has(&["no difference"]);
}

#[test]
fn three_red_runs_fail_the_stage_and_the_repair_gets_the_evidence() {
    let context = TestContext::for_commands().with_check(NEEDS_GOOD);
    let developer = context.start("developer");
    developer.change("one");
    for _ in 0..2 {
        assert_eq!(developer.pass()["decision"], "block");
    }
    let answer = developer.pass();
    assert_eq!(answer.get("decision"), None);
    assert!(answer["result"].as_str().unwrap().contains("exit code 3"), "{answer}");
    assert_eq!((context.stage("DEV")["result"].as_str(), context.runs()), (Some("fail"), 3));
    let handoff = context.stage("DEV")["handoff"].as_str().unwrap().to_owned();
    let text = read(&context.session_dir("s1").join(handoff));
    assert!(text.contains("good is missing"), "{text}");
    context.run("evidence").ok().has(&["sent back 2 times: checks failed", "not accepted: checks failed"]);
}

#[test]
fn a_check_does_not_run_again_on_the_same_files() {
    let context = TestContext::for_commands().with_check("true");
    let developer = context.start("developer");
    developer.change("one");
    developer.pass();
    assert_eq!(context.runs(), 1);
    let tester = context.start("tester");
    let reviewer = context.start("code-reviewer");
    tester.pass();
    reviewer.pass();
    assert_eq!((context.runs(), context.stage("TEST")["result"].as_str()), (1, Some("pass")));
    for agent in ["retrospective", "doc-updater"] {
        context.start(agent).pass();
    }
    let summary = context.stop();
    let summary = summary["systemMessage"].as_str().unwrap();
    assert!(summary.contains("🧾 test: passed"), "{summary}");
    assert_eq!(
        (context.runs(), context.json("status --json")["workflow"]["ending"].clone()),
        (1, json!("completed"))
    );
    context.run("evidence --report").ok().has(&[
        "## Overtone evidence",
        "| DEV | pass | 1 | 1 file changed<br>`test`: passed |",
        "| `test` | `echo run",
    ]);
    assert_eq!(context.json("evidence --report json"), context.json("evidence --json"));
}

#[test]
fn a_workflow_does_not_end_with_files_on_which_the_checks_fail() {
    let context = TestContext::for_commands().with_check("! test -e bad");
    let developer = context.start("developer");
    developer.change("one");
    developer.pass();
    for agent in ["code-reviewer", "tester", "retrospective"] {
        context.start(agent).pass();
    }
    let writer = context.start("doc-updater");
    put(&context.project().join("bad"), "");
    writer.pass();
    let answer = context.stop();
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(text.contains("test: failed with exit code 1") && text.contains("DEVELOPER"), "{text}");
    assert_eq!(context.stage("DEV")["result"], "fail");
    assert_eq!(context.json("status --json")["workflow"]["ending"], Value::Null);
    let developer = context.start("developer");
    fs::remove_file(context.project().join("bad")).unwrap();
    developer.pass();
    for agent in ["code-reviewer", "tester", "retrospective", "doc-updater"] {
        context.start(agent).pass();
    }
    context.stop();
    assert_eq!(context.json("status --json")["workflow"]["ending"], "completed");
    context.run("replay").ok().has(&["no difference"]);
}

#[test]
fn checks_that_are_not_trusted_do_not_run_and_that_is_said_once() {
    let context = TestContext::for_commands();
    let runs = context.path("runs");
    put(&file(&context), format!("[checks.test]\nrun = 'echo run >> {}; exit 1'\n", runs.display()));
    context.run("init quick").ok().has(&["not trusted, so not run: overtone trust"]);
    context.run("status").ok().has(&["test (not trusted"]);
    let developer = context.start("developer");
    developer.change("one");
    let answer = developer.pass();
    assert!(answer["systemMessage"].as_str().unwrap().contains("overtone trust"), "{answer}");
    assert_eq!((context.stage("DEV")["result"].as_str(), context.runs()), (Some("pass"), 0));
    let tester = context.start("tester");
    assert_eq!(tester.pass().get("systemMessage"), None, "it is said once");
    context.run("evidence").ok().has(&["not run, not trusted: test"]);
    // Trust during a workflow helps.
    context.run("trust --yes").ok();
    let reviewer = context.start("code-reviewer");
    reviewer.report(&with_verdict("no", "REJECT"));
    let developer = context.start("developer");
    developer.change("two");
    assert_eq!(developer.pass()["decision"], "block");
    assert_eq!(context.runs(), 1);
}

#[test]
fn a_running_workflow_keeps_the_checks_that_it_started_with() {
    let context = TestContext::for_commands().with_check(NEEDS_GOOD);
    let developer = context.start("developer");
    developer.change("one");
    put(&file(&context), "[checks.test]\nrun = 'true'\n[guard]\nlevel = 'notice'\n");
    assert_eq!(developer.pass()["decision"], "block");
    fs::remove_file(file(&context)).unwrap();
    assert_eq!(developer.pass()["decision"], "block");
    assert_eq!(context.runs(), 2);
}

#[test]
fn what_the_user_changes_between_two_stages_is_not_the_agents_work() {
    let context = TestContext::for_commands();
    context.run("init quick").ok();
    put(&context.project().join("mine.txt"), "by hand");
    let developer = context.start("developer");
    let answer = developer.pass();
    assert!(answer["reason"].as_str().unwrap().contains("no file has changed"), "{answer}");
    let explained = "<!-- VERDICT: {\"result\":\"PASS\",\"unchanged\":\"it was there already\"} -->";
    let answer = developer.report(explained);
    assert_eq!(answer.get("decision"), None);
    assert!(answer["systemMessage"].as_str().unwrap().contains("it was there already"), "{answer}");
    assert_eq!(context.stage("DEV")["result"], "pass");
    context.run("evidence").ok().has(&["Notes", "it was there already"]);
}

#[test]
fn tests_that_a_failed_attempt_deleted_are_missing_at_the_next_one() {
    let context = TestContext::for_commands();
    let test = context.project().join("tests/test_a.py");
    put(&test, "def test_one():\n    assert True\n");
    context.run("init quick").ok();
    let developer = context.start("developer");
    fs::remove_file(&test).unwrap();
    assert!(developer.pass()["reason"].as_str().unwrap().contains("Tests were removed"));
    developer.pass();
    assert_eq!(context.stage("DEV")["result"], "fail");
    let developer = context.start("developer");
    developer.change("another change");
    assert!(developer.pass()["reason"].as_str().unwrap().contains("Tests were removed"));
    put(&test, "def test_one():\n    assert True\n");
    developer.pass();
    assert_eq!(context.stage("DEV")["result"], "pass");
}

#[test]
fn trust_is_asked_for_kept_private_and_for_exactly_these_definitions() {
    let context = TestContext::for_commands();
    context.run("trust").fails(&["no checks to trust", "overtone checks detect --write"]);
    put(&file(&context), "[checks.test]\nrun = 'make test'\n");
    let refused = context.run("trust");
    assert_eq!(refused.code, Some(1));
    let refused = refused.has(&["make test"]);
    refused.stderr_has(&["there is no terminal to ask on", "overtone trust --yes"]);
    assert!(!context.state_file("trust.json").exists());
    context.run("trust --json").fails(&["no terminal"]);
    context.run("checks").ok().has(&["make test", "DEV, TEST", "not run yet", "overtone trust"]);
    context.run("trust --yes").ok().has(&["make test", "Trusted."]);
    let mode = fs::metadata(context.state_file("trust.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    context.run("trust").ok().has(&["trusted already"]);
    assert_eq!(context.json("checks --json")["trusted"], true);
    put(&file(&context), "[checks.test]\nrun = 'make test'\ntimeout = '1m'\n");
    assert_eq!(context.json("checks --json")["changed"], true);
    context.run("checks").ok().has(&["changed", "have changed since you trusted them"]);
    assert_eq!(context.json("trust --yes --json")["changed"], true);
    assert_eq!(context.json("trust --revoke --json")["changed"], true);
    context.run("trust --revoke").ok().has(&["Nothing was trusted"]);
    assert_eq!(context.json("checks --json")["trusted"], false);
}

#[test]
fn a_hidden_part_of_a_command_is_shown() {
    let context = TestContext::for_commands();
    put(&file(&context), "[checks.test]\nrun = \"make test\\u202E\\necho two\"\n");
    context.run("trust --yes").ok().has(&["make test\\u{202e}", "echo two"]);
}

#[test]
fn the_model_cannot_trust_by_itself() {
    let context =
        TestContext::for_commands().with_env("CLAUDECODE", "1").with_env("CLAUDE_CODE_ENTRYPOINT", "cli");
    put(&file(&context), "[checks.test]\nrun = 'true'\n");
    context.start_session("s1");
    context.run("trust --yes").fails(&["the user's decision"]);
    let ask = |command: &str| {
        context.answer(
            "allow-own",
            &json!({
                "session_id": "s1", "cwd": context.project(), "hook_event_name": "PreToolUse",
                "tool_name": "Bash", "tool_input": { "command": command },
            }),
        )
    };
    let answer = ask("overtone trust --yes");
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask");
    context.run("trust --revoke").fails(&["the user's decision"]);
    context.run("trust --yes").ok().has(&["Trusted."]);
    context.run("trust --yes").fails(&["the user's decision"]);
    // The question in a session with a workflow is remembered by its loop.
    context.run("init quick").ok();
    context.run("trust --revoke").fails(&["the user's decision"]);
    ask("overtone trust --revoke");
    context.run("trust --revoke").ok().has(&["Trust revoked"]);
    context.run("checks run").fails(&["the user's decision"]);
    ask("overtone checks run");
    context.run("checks run").fails(&["not trusted", "overtone trust"]);
}

#[test]
fn a_broken_file_is_reported_and_does_not_keep_a_workflow_from_starting() {
    let context = TestContext::for_commands();
    let cases = [
        ("[checks.test\n", "line 1: not valid TOML"),
        ("[checks.test]\nrun = 7\n", "line 2: checks.test.run should be a text"),
        ("[checks.test]\n", "line 1: the check test has no command"),
        ("[checks.Test]\nrun = 'x'\n", "line 1: not a name for a check: Test"),
        ("[checks.test]\nrun = 'x'\ntimeout = 'soon'\n", "line 3: bad value for checks.test.timeout: soon"),
        ("[checks.test]\nrun = 'x'\nstages = ['dev']\n", "line 3: no such stage in checks.test.stages: dev"),
        ("[guard]\nlevel = 'harsh'\n", "line 2: no such guard level: harsh"),
    ];
    for (text, message) in cases {
        put(&file(&context), text);
        context.run("checks").fails(&["overtone.toml", message]);
        context.run("trust --yes").fails(&[message]);
        let started = context.run("init quick --force").succeeds();
        started.has(&["none: ", message]).stderr_has(&["warning: ", message]);
    }
    let started = context.run("init quick --force --json").succeeds().json();
    assert!(started["checksError"].as_str().unwrap().contains("harsh"), "{started}");
    put(&file(&context), "[checks.test]\nrun = 'x'\nretries = 3\n[later]\n");
    let listed = context.run("checks").succeeds();
    listed.stderr_has(&["line 3: unknown key checks.test.retries", "line 4: unknown key later"]);
}

#[test]
fn the_strictest_guard_level_counts_and_trust_remembers_it() {
    let context = TestContext::for_commands();
    let level =
        |context: &TestContext| context.run("init quick --force --json").succeeds().json()["guard"].clone();
    assert_eq!(level(&context), "notice");
    put(&file(&context), "[guard]\nlevel = 'strict'\n");
    context.run("init quick --force").ok().has(&["Guard", "strict"]);
    context.run("trust --yes").ok();
    fs::remove_file(file(&context)).unwrap();
    assert_eq!(level(&context), "strict", "an agent that removes the file does not lower it");
    put(&file(&context), "[guard\n");
    assert_eq!(level(&context), "strict");
    context.run("trust --revoke").ok();
    fs::remove_file(file(&context)).unwrap();
    assert_eq!(level(&context), "notice");
    context.run("config set guard.level strict").ok();
    put(&file(&context), "[guard]\nlevel = 'notice'\n");
    assert_eq!(level(&context), "strict", "a project cannot lower the user's own level");
    let workflow = read(&context.session_dir("s1").join("workflow.json"));
    assert!(workflow.contains("\"guard\": \"strict\""), "{workflow}");
}

#[test]
fn checks_are_proposed_and_written_without_touching_the_rest() {
    let context = TestContext::for_commands();
    context.run("checks detect").ok().has(&["Nothing to propose"]);
    context.run("init single").ok();
    put(&context.project().join("Makefile"), "test:\n\tcargo test\n");
    put(&context.project().join("Cargo.toml"), "[package]\n[lints.clippy]\n");
    context.run("init single --force").ok().has(&["overtone checks detect"]);
    context.run("checks detect").ok().has(&["make test", "Makefile", "cargo clippy", "--write"]);
    assert!(!file(&context).exists());
    put(&file(&context), "# mine\n[checks.lint]\nrun = 'x' # keep\n");
    let written = context.json("checks detect --write --json");
    assert_eq!(written["added"], json!(["test"]));
    let text = read(&file(&context));
    assert!(
        text.starts_with("# mine\n[checks.lint]\nrun = 'x' # keep\n\n# from Makefile\n[checks.test]"),
        "{text}"
    );
    context.run("checks detect --write").ok().has(&["nothing was changed"]);
    put(&file(&context), "checks = { lint = { run = 'x' } }\n");
    let refused = context.run("checks detect --write");
    refused.fails_with(1, "cannot add checks at the end").stderr_has(&["[checks.test]\nrun = \"make test\""]);
}

#[test]
fn checks_run_on_request_with_their_output() {
    let context = TestContext::for_commands();
    context.run("checks run").fails(&["No checks", "overtone checks detect --write"]);
    put(
        &file(&context),
        "[checks.good]\nrun = 'printf \"\\033[31mred\\nno line break\"'\n[checks.bad]\nrun = 'echo boom; exit 2'\n",
    );
    let output = context.run("checks run good").succeeds();
    let output = output.stderr_has(&["▶ good: printf"]);
    assert_eq!(output.stdout, "[31mred\nno line break\ngood: passed · 0s\n");
    let output = context.run("checks run");
    assert_eq!(
        (output.code, output.stdout.contains("boom\nbad: failed with exit code 2 · 0s\n")),
        (Some(1), true)
    );
    let output = context.run("checks run bad --json");
    assert_eq!((output.code, &output.json()["passed"]), (Some(1), &json!(false)));
    context.run("checks run goood").fails(&["no such check: goood", "did you mean good?"]);
    assert!(!context.session_dir("s1").exists(), "without a session, nothing is kept");
    context.run("init quick").ok();
    context.run("checks run good").succeeds();
    context.run("checks").ok().has(&["passed, 0s ago"]);
}

/// A session whose agent waits for its check. The check ends when the file `go` appears.
fn waiting(context: &TestContext) -> std::process::Child {
    let pid = context.path("pid");
    let run = format!("echo $$ > {}; until test -e go; do sleep 0.05; done", pid.display());
    put(&file(context), format!("[checks.slow]\nrun = '{run}'\n"));
    context.run("trust --yes").ok();
    context.run("init quick").ok();
    let developer = context.start("developer");
    developer.change("one");
    let mut hook = context.command(&["hook", "on-agent-stop"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = hook.stdin.take().unwrap();
    let event = developer.event(&with_verdict("done", "PASS")).to_string();
    std::io::Write::write_all(&mut stdin, event.as_bytes()).unwrap();
    while fs::read_to_string(&pid).unwrap_or_default().trim().is_empty() {
        assert!(hook.try_wait().unwrap().is_none(), "the hook has ended");
        thread::sleep(Duration::from_millis(5));
    }
    hook
}

#[test]
fn the_user_sees_which_check_is_running() {
    let context = TestContext::for_commands();
    let hook = waiting(&context);
    assert_eq!(context.json("status --json")["runningCheck"]["name"], "slow");
    context.run("status").ok().has(&["running slow · "]);
    let line = json!({ "session_id": "s1", "model": {}, "workspace": {} }).to_string();
    context.run_with_stdin("statusline", line.clone()).ok().has(&["🧾 slow "]);
    put(&context.project().join("go"), "");
    let output = hook.wait_with_output().unwrap();
    assert!(output.status.success() && !String::from_utf8_lossy(&output.stdout).contains("block"));
    assert_eq!(context.stage("DEV")["result"], "pass");
    assert_eq!(context.json("status --json")["runningCheck"], Value::Null);
    assert!(!context.run_with_stdin("statusline", line).ok().stdout.contains("slow"));
}

#[test]
fn a_killed_hook_leaves_no_running_check() {
    let context = TestContext::for_commands();
    let mut hook = waiting(&context);
    let pid = read(&context.path("pid")).trim().to_owned();
    hook.kill().unwrap();
    hook.wait().unwrap();
    let is_running = || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    while is_running() {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(context.json("status --json")["runningCheck"], Value::Null);
    // The report was not accepted, and the next one is judged again.
    assert_eq!(context.stage("DEV")["status"], "active");
}

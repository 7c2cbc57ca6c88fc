//! Lean agents, and stages that are left to a rule.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::context::{TestContext, put, read};

/// The tools that the front matter of an installed agent names.
fn tools(context: &TestContext, agent: &str) -> Option<String> {
    let text = read(&context.state().join(format!("plugin/agents/{agent}.md")));
    let head = text.split("\n---\n").next().unwrap_or_default();
    let line = head.lines().find(|line| line.starts_with("tools:") || line.starts_with("disallowedTools:"));
    line.map(str::to_owned)
}

#[test]
fn lean_agents_carry_only_the_tools_of_their_jobs() {
    let context = TestContext::for_commands();
    context.run("up --files-only").ok();
    assert_eq!(tools(&context, "developer"), None, "as specified");
    context.run("up --files-only --economy lean").ok().has(&["Agents", "lean"]);
    for (agent, expected) in [
        ("developer", "tools: [Read, Edit, Write, Bash]"),
        ("code-reviewer", "tools: [Read, Bash]"),
        ("qa", "tools: [Read, Write, Bash]"),
    ] {
        assert_eq!(tools(&context, agent).as_deref(), Some(expected));
    }
    context.run("validate").ok();
    assert_eq!(context.json("up --files-only --json")["economy"], "lean", "the choice is remembered");
    context.run("up --economy cheap").fails(&["bad value for economy: cheap", "standard, lean"]);
}

#[test]
fn a_change_of_economy_rewrites_the_installed_agents() {
    let context = TestContext::for_commands();
    context.run("config set economy lean").ok().has(&["economy = lean", "not installed yet"]);
    assert!(!context.state().join("plugin").exists());
    context.run("up --files-only").ok();
    context.run("config set economy standard").ok().has(&["now standard", "Restart Claude Code"]);
    assert_eq!(tools(&context, "developer"), None);
    let program = context.state().join("plugin/bin/overtone");
    assert!(program.exists(), "the programs stay");
}

#[test]
fn doctor_knows_both_economies() {
    let context = TestContext::for_commands();
    let names = |context: &TestContext| context.run("doctor --json").stdout;
    context.run("up --files-only --economy lean").ok();
    for name in ["plugin-stale", "plugin-file", "other-economy"] {
        assert!(!names(&context).contains(name), "{name}");
    }
    put(&context.state().join("config.json"), r#"{"economy":"standard"}"#);
    assert!(names(&context).contains("the installed agents are lean, but economy is set to standard"));
    context.run("up --files-only").ok();
    assert!(!names(&context).contains("other-economy"));
    let agent = context.state().join("plugin/agents/qa.md");
    put(&agent, read(&agent).replace("# QA", "# Q"));
    assert!(names(&context).contains("plugin-stale"));
}

#[test]
fn inside_the_client_a_start_says_what_the_workflows_page_says() {
    let context = TestContext::for_commands();
    let told = context.run("init quick --force").ok().has(&[
        "1. DEV → `ot:developer`: every task",
        "2. in parallel (group `quality`), all in one message:",
        "   - TEST (mode `verify`) → `ot:tester`: everything run",
        "On `REJECT` you MUST delegate `ot:developer`",
        "On `BLOCKED` you MUST ask the user",
        "On `ISSUES` from RETRO",
        "→ Next, delegate DEVELOPER (ot:developer).",
    ]);
    assert!(!told.stdout.contains("You MUST delegate each stage"), "the page of /ot:auto says it");
    let brief =
        context.run("init quick --force --brief").ok().has(&["🔍 Review + 🧪 Test", "→ Next, delegate"]);
    assert!(!brief.stdout.contains("On `REJECT`"));
    let context = context.without_env("OVERTONE_SESSION_ID");
    let in_terminal = context.run("init quick --force --session s1").ok();
    assert!(!in_terminal.stdout.contains("ot:developer"), "{}", in_terminal.stdout);
}

fn git(project: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
    let run = Command::new("git").current_dir(project).args(identity).args(arguments).output().unwrap();
    assert!(run.status.success(), "{run:?}");
}

/// A project under version control, with a workflow in which both stages are left to their rules.
fn with_rules() -> TestContext {
    let context = TestContext::for_commands();
    git(&context.project(), &["init", "-q"]);
    git(&context.project(), &["commit", "-q", "--allow-empty", "-m", "first"]);
    context.run("config set stages.retro on-trouble").ok();
    context.run("config set stages.docs on-change").ok();
    context.run("init quick --feature lock").ok().has(&["By rule", "RETRO on-trouble, DOCS on-change"]);
    context
}

const INVISIBLE: &str = r#"<!-- VERDICT: {"result":"PASS","visible":false} -->"#;

#[test]
fn stages_that_are_not_needed_are_shown_as_skipped() {
    let context = with_rules();
    context.run_agent("s1", "developer", INVISIBLE);
    context.agent("s1", "code-reviewer", Some("PASS"));
    context.agent("s1", "tester", Some("PASS"));
    let status = context.json("status --json");
    let results: Vec<_> = status["workflow"]["stages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|stage| stage["result"].clone())
        .collect();
    assert_eq!(results, ["pass", "pass", "pass", "skipped", "skipped"]);
    context.run("status").ok().has(&["⏩🔁Retrospective → ⏩📝Docs", "(5/5)"]);
    let skipped = context.run("timeline --type stage:complete").ok();
    skipped.has(&["RETRO", "by=rule", "reason=no-trouble", "reason=nothing-visible"]);
    let tasks = read(&context.feature("in-progress/lock/tasks.md"));
    assert!(!tasks.contains("- [ ] RETRO") && !tasks.contains("- [ ] DOCS"), "{tasks}");
    context.run("replay").ok();
    context.hook("on-stop", &json!({ "session_id": "s1", "background_tasks": [], "cwd": context.project() }));
    assert_eq!(context.json("status --json")["workflow"]["ending"], "completed");
}

#[test]
fn a_change_with_its_documents_does_not_need_the_last_stage() {
    let context = with_rules();
    put(&context.project().join("README.md"), "# Lock\n");
    let documented = r#"<!-- VERDICT: {"result":"PASS","visible":true,"documented":true} -->"#;
    context.run_agent("s1", "developer", documented);
    context.agent("s1", "code-reviewer", Some("PASS"));
    context.agent("s1", "tester", Some("PASS"));
    context.run("timeline --type stage:complete").ok().has(&["DOCS", "by=rule", "reason=documented"]);
    context.run("replay").ok();
}

#[test]
fn a_changed_document_needs_the_last_stage() {
    let context = with_rules();
    put(&context.project().join("README.md"), "# Lock\n");
    context.run_agent("s1", "developer", INVISIBLE);
    context.agent("s1", "code-reviewer", Some("PASS"));
    context.agent("s1", "tester", Some("PASS"));
    let status = context.json("status --json");
    assert_eq!(
        (&status["workflow"]["stages"][3]["result"], &status["workflow"]["stages"][4]["result"]),
        (&json!("skipped"), &json!(null))
    );
}

/// The prompt that an agent is started with.
fn prompt_of(context: &TestContext, agent: &str) -> String {
    let answer = context.delegate("s1", agent).json();
    answer["hookSpecificOutput"]["updatedInput"]["prompt"].as_str().unwrap().to_owned()
}

#[test]
fn reviewer_and_tester_are_told_what_is_known_about_the_change() {
    let context = TestContext::for_commands();
    git(&context.project(), &["init", "-q"]);
    put(&context.project().join("overtone.toml"), "[checks.unit]\nrun = 'true'\n");
    git(&context.project(), &["add", "-A"]);
    git(&context.project(), &["commit", "-qm", "first"]);
    context.run("trust --yes").ok();
    context.run("init quick").ok();
    put(&context.project().join("lock.rs"), "fn lock() {}\n");
    context.agent("s1", "developer", Some("PASS"));
    let reviewer = prompt_of(&context, "code-reviewer");
    assert!(reviewer.contains("(git diff ") && reviewer.contains("lock.rs"), "{reviewer}");
    let tester = prompt_of(&context, "tester");
    assert!(tester.contains("do not run them again") && tester.contains("unit"), "{tester}");
    // Checks that were not run are not green.
    context.run("trust --revoke").ok();
    context.run("init quick --force").ok();
    context.agent("s1", "developer", Some("PASS"));
    assert!(!prompt_of(&context, "tester").contains("do not run them again"));
}

#[test]
fn rules_are_fixed_at_the_start_and_a_project_skips_nothing_that_the_user_wants() {
    let context = TestContext::for_commands();
    let file = context.project().join("overtone.toml");
    let rules = |context: &TestContext| {
        let started = context.json("init quick --force --json");
        (started["retro"].clone(), started["docs"].clone())
    };
    assert_eq!(rules(&context), (json!("always"), json!("always")));
    put(&file, "[stages]\nretro = 'on-trouble'\ndocs = 'on-change'\n");
    assert_eq!(rules(&context), (json!("on-trouble"), json!("on-change")));
    let workflow = read(&context.session_dir("s1").join("workflow.json"));
    assert!(workflow.contains("\"retro\": \"on-trouble\""), "{workflow}");
    context.run("config set stages.retro always").ok();
    assert_eq!(rules(&context), (json!("always"), json!("on-change")));
    put(&file, "[stages]\ndocs = 'always'\n");
    context.run("config set stages.docs on-change").ok();
    assert_eq!(rules(&context), (json!("always"), json!("always")), "a project may ask for more");
    put(&file, "[stages]\nretro = 'never'\n");
    context.run("checks").fails(&["line 2: bad value for stages.retro: never", "always, on-trouble"]);
    fs::remove_file(&file).unwrap();
}

/// What an agent gets when it starts, besides its prompt.
fn start_context(context: &TestContext, agent: &str, id: &str) -> String {
    let fields = json!({ "agent_id": id, "agent_type": format!("ot:{agent}") });
    let answer = context.send_event("on-agent-start", "s1", fields).json();
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn an_agent_need_not_read_the_earlier_reports() {
    let context = TestContext::for_commands();
    context.run("init quick").ok();
    context.run_agent("s1", "developer", "Locked with care.\n<!-- VERDICT: {\"result\":\"PASS\"} -->");
    context.delegate("s1", "tester");
    let got = start_context(&context, "tester", "t1");
    assert!(got.ends_with("\n\n### 01-DEV-developer.md\n  Locked with care."), "{got}");
    // A report that cannot be read is left to the agent.
    fs::remove_dir_all(context.state().join("sessions/s1/handoffs")).unwrap();
    context.delegate("s1", "code-reviewer");
    assert!(!start_context(&context, "code-reviewer", "c1").contains("### 01"));
}

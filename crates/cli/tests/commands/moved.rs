use overtone_core::engine::commands::{Refusal, hand_over, take_back};
use overtone_core::engine::{Outcome, Snapshot};
use overtone_session::hooks::{DocumentMode, update_session};
use overtone_store::{Home, Session, SessionId, clock};
use serde_json::{Value, json};

use crate::context::{TestContext, read};

fn session(context: &TestContext) -> (Home, Session) {
    let home = Home::at(context.state());
    let session = home.session(&SessionId::parse("s1").unwrap());
    (home, session)
}

/// What another machine has done here.
fn done(context: &TestContext, decide: impl FnOnce(&Snapshot) -> Result<Outcome, Refusal>) {
    let (home, session) = session(context);
    let problems = update_session(&home, &session, None, DocumentMode::Update, decide).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
}

fn moved() -> TestContext {
    let context = TestContext::for_commands().with_env("NO_COLOR", "1");
    context.run("init quick").ok();
    context.agent("s1", "developer", Some("PASS"));
    done(&context, |snapshot| hand_over(snapshot, "workshop", clock::now()));
    context
}

fn hook(context: &TestContext, name: &str, mut payload: Value) -> Value {
    payload["session_id"] = json!("s1");
    payload["cwd"] = json!(context.project());
    context.answer(name, &payload)
}

fn delegate(context: &TestContext) -> Value {
    let input = json!({ "subagent_type": "ot:code-reviewer", "description": "x", "prompt": "go" });
    let call = json!({ "tool_name": "Agent", "tool_use_id": "t9", "tool_input": input });
    hook(context, "pre-task", call)["hookSpecificOutput"].clone()
}

fn state(context: &TestContext, file: &str) -> Value {
    serde_json::from_str(&read(&context.session_dir("s1").join(file))).unwrap()
}

#[test]
fn nothing_is_delegated_and_the_session_may_stop() {
    let context = moved();
    let answer = delegate(&context);
    assert_eq!(answer["permissionDecision"], "deny");
    let reason = answer["permissionDecisionReason"].as_str().unwrap();
    let advice = answer["additionalContext"].as_str().unwrap();
    assert!(reason.contains("moved to workshop") && advice.contains("overtone fleet pull s1"), "{answer}");
    let before = (state(&context, "workflow.json"), state(&context, "loop.json"));
    assert_eq!((&before.0["movedTo"], &before.1["stoppedBy"]), (&json!("workshop"), &json!("moved")));
    for said in [true, false, false] {
        let answer = hook(&context, "on-stop", json!({ "background_tasks": [] }));
        assert_eq!(
            answer["systemMessage"].as_str().is_some_and(|text| text.contains("workshop")),
            said,
            "{answer}"
        );
        assert!(answer.get("decision").is_none() && answer.get("hookSpecificOutput").is_none(), "{answer}");
    }
    assert_eq!(state(&context, "workflow.json"), before.0);
}

#[test]
fn prompts_and_starts_say_where_it_is() {
    let context = moved();
    for (name, payload) in
        [("on-submit", json!({ "prompt": "go on" })), ("on-start", json!({ "source": "resume" }))]
    {
        let answer = hook(&context, name, payload);
        let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(text.contains("continues on workshop") && text.lines().count() == 1, "{name}: {text}");
        let shown = answer["systemMessage"].as_str().unwrap_or_default();
        assert_eq!(shown.contains("moved to workshop"), name == "on-start", "{name}: {shown}");
    }
    assert_eq!(state(&context, "loop.json")["stoppedBy"], "moved", "a start does not wake the loop");
}

#[test]
fn every_display_says_it() {
    let context = moved();
    context.run("status").ok().has(&["moved to workshop", "→ This session continues on workshop"]);
    let status = context.json("status --json");
    assert_eq!(status["workflow"]["movedTo"], "workshop");
    assert_eq!((&status["loop"]["stopped"], &status["loop"]["stoppedBy"]), (&json!(true), &json!("moved")));
    let line = context.run_with_stdin("statusline", r#"{"session_id":"s1"}"#).ok().stdout;
    assert_eq!(line, "quick · ⇢ moved to workshop 1/5\n");
    context.run("top --once").ok().has(&["moved to workshop"]);
    context.run("sessions list").ok().has(&["stopped"]);
    context.run("replay").ok();
}

#[test]
fn what_is_to_be_done_is_done_elsewhere() {
    let context = moved();
    for line in ["resume", "stop", "message hello", "resume --json"] {
        context.run(line).fails(&["continues on workshop", "hint: overtone fleet pull s1"]);
    }
    context.run("init single").fails(&["continues on workshop", "--force"]);
    assert_eq!(state(&context, "workflow.json")["movedTo"], "workshop");
}

#[test]
fn who_comes_back_goes_on() {
    let context = moved();
    done(&context, |snapshot| take_back(snapshot, clock::now()));
    assert!(state(&context, "workflow.json").get("movedTo").is_none());
    let timeline = read(&context.session_dir("s1").join("timeline.jsonl"));
    let last: Value = serde_json::from_str(timeline.lines().next_back().unwrap()).unwrap();
    assert_eq!((&last["reason"], &last["from"]), (&json!("session-pulled"), &json!("workshop")));
    let answer = hook(&context, "on-stop", json!({ "background_tasks": [] }));
    assert!(answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("CODE-REVIEWER"));
    assert_eq!(delegate(&context)["permissionDecision"], "allow");
    context.run("status").ok().has(&["running"]);
    context.run("replay").ok();
}

/// Takes the session from one home to another.
fn take(from: &TestContext, to: &TestContext, machine: &str) {
    done(from, |snapshot| hand_over(snapshot, machine, clock::now()));
    let files = session(from).1.bundle().unwrap();
    let (home, session) = session(to);
    home.adopt(session.id(), &files).unwrap();
    done(to, |snapshot| take_back(snapshot, clock::now()));
}

#[test]
fn a_session_goes_to_another_home_and_comes_back() {
    let (here, there) = (TestContext::for_commands(), TestContext::for_commands());
    let prompt = |context: &TestContext| {
        let answer = hook(context, "on-submit", json!({ "prompt": "hello" }));
        answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
    };
    here.run("init quick").ok();
    here.agent("s1", "developer", Some("PASS"));
    here.run("message mind the gap").ok();
    take(&here, &there, "there");
    assert!(!prompt(&here).contains("mind the gap"));
    assert!(prompt(&there).contains("mind the gap"));
    there.agent("s1", "code-reviewer", Some("PASS"));
    there.agent("s1", "tester", Some("PASS"));
    take(&there, &here, "here");
    assert!(!prompt(&here).contains("mind the gap"), "heard once, wherever");
    here.run("status").ok().has(&["(3/5)", "running"]);
    there.run("resume").fails(&["continues on here"]);
    let handoffs = std::fs::read_dir(here.session_dir("s1").join("handoffs")).unwrap().count();
    assert_eq!(handoffs, 3);
    here.run("replay").ok();
}

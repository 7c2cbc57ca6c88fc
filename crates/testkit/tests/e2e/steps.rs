//! After every stage the main agent receives the next step exactly once, wherever the agents run.

use overtone_testkit::{Actor, Client, Request, Run, Sandbox, Script, Turn, text, tool, tools};
use serde_json::{Value, json};

use crate::delegate;

/// What is said when the stages of `quick` before these are done.
pub(crate) const REVIEW_AND_TEST: &str =
    "下一步請委派 CODE-REVIEWER（ot:code-reviewer）、TESTER（ot:tester），在同一則訊息中並行啟動。";
pub(crate) const RETRO: &str = "下一步請委派 RETROSPECTIVE（ot:retrospective）。";
pub(crate) const DOCS: &str = "下一步請委派 DOC-UPDATER（ot:doc-updater）。";
pub(crate) const ALL_DONE: &str = "🎉 所有階段已完成。";

/// The last words of an agent with this verdict.
pub(crate) fn verdict(report: &str, result: &str) -> Turn {
    text(format!("{report} <!-- VERDICT: {{\"result\":\"{result}\"}} -->"))
}

/// A delegation that the main agent does not wait for, where the settings let it.
pub(crate) fn in_background(agent: &str) -> Turn {
    let input = json!({
        "subagent_type": agent, "description": "the job", "prompt": "the job", "run_in_background": true,
    });
    tool("Agent", input)
}

/// A new session with a workflow whose stages in `done` have passed.
pub(crate) fn begin(sandbox: &Sandbox, workflow: &str, done: &[&str]) -> String {
    let session = sandbox.new_session();
    sandbox.put_workflow(&session, workflow);
    let mut document = sandbox.workflow(&session);
    for stage in done {
        let stage = &mut document["stages"][stage];
        assert!(stage.is_object(), "{workflow} has no such stage");
        stage["status"] = json!("completed");
        stage["result"] = json!("pass");
    }
    sandbox.put_state(&session, "workflow.json", &document);
    session
}

/// One field of every stage, in the workflow's order.
pub(crate) fn of_stages(sandbox: &Sandbox, session: &str, field: &str) -> Vec<Value> {
    let workflow = sandbox.workflow(session);
    let stages = workflow["stages"].as_object().into_iter().flatten();
    stages.map(|(_, stage)| stage[field].clone()).collect()
}

/// Stages may run beside the main agent.
pub(crate) fn allow_background(sandbox: &Sandbox) {
    sandbox.put_config(&json!({"agents": {"foreground": false}}));
}

/// The stages of `quick` after the first, with the sentences that ask for them: with an agent's report, or by the loop
/// where the main agent wants to stop before the report has reached it.
const FOLLOWING: [([&str; 2], &[&str]); 3] = [
    ([REVIEW_AND_TEST, "下一步：CODE-REVIEWER、TESTER，並行進行。"], &["ot:code-reviewer", "ot:tester"]),
    ([RETRO, "下一步：RETROSPECTIVE。"], &["ot:retrospective"]),
    ([DOCS, "下一步：DOC-UPDATER。"], &["ot:doc-updater"]),
];

/// A main agent that follows the next step and does nothing else.
fn following_steps(script: Script, start: fn(&str) -> Turn) -> Script {
    let follow_step = move |request: &Request| {
        let received = request.new_text();
        match FOLLOWING.iter().find(|(sentences, _)| sentences.iter().any(|words| received.contains(words))) {
            Some((_, agents)) => tools(agents.iter().map(|agent| start(agent))),
            None => text("done"),
        }
    };
    script.main([start("ot:developer")]).main_with(follow_step)
}

fn assert_each_step_received_once(run: &Run) {
    let main = run.requests(Actor::Main);
    for (sentences, _) in FOLLOWING {
        let times: usize = sentences.iter().map(|words| main.times_received(words)).sum();
        assert_eq!(times, 1, "{sentences:?}");
    }
    assert_eq!(main.times_received(ALL_DONE), 1);
}

#[test]
fn the_next_step_is_in_the_next_request() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &[]);
        // Unless the settings allow it, a stage runs in the foreground, whatever the main agent asks for.
        let run = sandbox.script(|s| following_steps(s, in_background)).session(&session).run("go");
        let main = run.requests(Actor::Main);
        for (index, sentence) in [REVIEW_AND_TEST, RETRO, DOCS, ALL_DONE].into_iter().enumerate() {
            assert!(main.nth(index + 1).new_text().contains(sentence), "{sentence}");
        }
        assert_each_step_received_once(&run);
        assert_eq!((main.len(), run.result_text()), (5, "done"));
        assert_eq!(of_stages(&sandbox, &session, "result"), ["pass"; 5]);
    }
}

#[test]
fn reports_of_background_agents_lead_to_the_next_step() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        allow_background(&sandbox);
        let session = begin(&sandbox, "quick", &[]);
        let run = sandbox.script(|s| following_steps(s, in_background)).session(&session).run("go");
        assert!(run.requests(Actor::Main).nth(1).new_text().contains("agentId"), "it was not waited for");
        assert_each_step_received_once(&run);
        assert_eq!(of_stages(&sandbox, &session, "result"), ["pass"; 5]);
    }
}

#[test]
fn the_client_chooses_where_agents_run_if_the_settings_allow_it() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        allow_background(&sandbox);
        let session = begin(&sandbox, "quick", &[]);
        let plain = |agent: &str| delegate(agent, "the job");
        let run = sandbox.script(|s| following_steps(s, plain)).session(&session).run("go");
        assert_each_step_received_once(&run);
        assert_eq!(of_stages(&sandbox, &session, "result"), ["pass"; 5]);
    }
}

//! Hard budgets: an agent makes at most one more request, nothing is lost, and only the user raises a limit.

use overtone_testkit::{Actor, Client, Request, Sandbox, Script, Turn, Usage, report, text, tool, tools};
use serde_json::{Value, json};

use crate::delegate;
use crate::steps::of_stages;

/// Each request takes so many tokens.
pub(crate) const TOKENS: u64 = 1500;

pub(crate) fn costly(turn: Turn) -> Turn {
    turn.tokens(Usage { input: TOKENS - 10, output: 10, cache_read: 0, cache_write: 0 })
}

/// A workflow that may use as many tokens as this many requests.
pub(crate) fn init_for_requests(sandbox: &Sandbox, workflow: &str, requests: u64) -> String {
    let session = sandbox.new_session();
    let budget = format!("{}tokens", requests * TOKENS);
    sandbox.overtone(&session, &["init", workflow, "--budget", &budget]);
    session
}

/// A developer who never stops: two more calls, whatever the answer is.
pub(crate) fn stubborn_developer(script: Script) -> Script {
    script.actor_with(Actor::Sub("developer"), |_| {
        let read = tool("Read", json!({"file_path": "README.md"}));
        costly(tools([text("half of it is done"), bash("echo one more"), read]))
    })
}

fn bash(command: &str) -> Turn {
    tool("Bash", json!({"command": command}))
}

/// A main agent that ends its turn as it is told to.
pub(crate) fn obedient_main(request: &Request) -> Turn {
    let received = request.new_text();
    let is_over = received.contains("預算已用完");
    costly(text(if is_over { "budget reached: DEV is open" } else { "I wait" }))
}

/// What `overtone budget --json` says.
pub(crate) fn budget(sandbox: &Sandbox, session: &str) -> Value {
    serde_json::from_str(&sandbox.overtone(session, &["budget", "--json"])).unwrap()
}

pub(crate) fn raise(sandbox: &Sandbox, session: &str, amounts: &[&str]) {
    let arguments = [&["budget", "raise"], amounts, &["--session", session]].concat();
    sandbox.overtone("", &arguments);
}

#[test]
fn an_agent_makes_one_request_past_the_limit_and_the_last_text_says_so() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = init_for_requests(&sandbox, "single", 4);
        let run = sandbox
            .script(|s| {
                let s = s.main([costly(delegate("ot:developer", "build it"))]);
                stubborn_developer(s.main_with(obedient_main))
            })
            .session(&session)
            .allow(["Agent", "Bash", "Read"])
            .run("build it");
        // The main agent's first request and three of the developer reach the limit.
        assert_eq!(run.requests(Actor::Sub("developer")).len(), 4);
        assert_eq!(run.requests(Actor::Main).len(), 2);
        assert_eq!(run.result_text(), "budget reached: DEV is open");
        let budget = budget(&sandbox, &session);
        assert_eq!(
            (&budget["reached"]["kind"], &budget["reached"]["limit"]),
            (&json!("tokens"), &json!(6000))
        );
        let workflow = sandbox.workflow(&session);
        assert_eq!((&workflow["ending"], &workflow["failCount"]), (&Value::Null, &json!(0)), "{workflow}");
        assert!(workflow["stages"]["DEV"]["handoff"].is_string(), "its report is kept: {workflow}");
    }
}

#[test]
fn a_raised_budget_lets_the_workflow_continue() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = init_for_requests(&sandbox, "single", 3);
        let stopped = sandbox
            .script(|s| {
                let s = s.main([costly(delegate("ot:developer", "build it"))]);
                stubborn_developer(s.main_with(obedient_main))
            })
            .session(&session)
            .allow(["Agent", "Bash", "Read"])
            .run("build it");
        assert_eq!(stopped.result_text(), "budget reached: DEV is open");
        raise(&sandbox, &session, &["1Mtokens"]);
        let write = tool("Write", json!({"file_path": sandbox.project().join("a.txt"), "content": "x"}));
        let passed = report("it is built <!-- VERDICT: {\"result\":\"PASS\"} -->");
        sandbox
            .script(|s| {
                let s = s.main([costly(delegate("ot:developer", "finish it")), costly(text("done"))]);
                s.sub("developer", [costly(write), costly(passed)])
            })
            .resume(&session)
            .allow(["Agent", "Write"])
            .permission_mode("acceptEdits")
            .run("continue");
        let workflow = sandbox.workflow(&session);
        assert_eq!(workflow["ending"], "completed", "{workflow}");
        assert_eq!(of_stages(&sandbox, &session, "attempts"), [2]);
    }
}

#[test]
fn agents_of_other_kinds_count() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = sandbox.new_session();
        sandbox.overtone(&session, &["init", "single", "--budget", "2agents"]);
        let helpers = || (0..3).map(|_| delegate("general-purpose", "look around"));
        let run = sandbox
            .script(|s| s.main([tools(helpers()), text("done")]).actor(Actor::ForeignSub, [text("looked")]))
            .session(&session)
            .allow(["Agent"])
            .run("look around");
        assert_eq!(run.requests(Actor::ForeignSub).len(), 2);
        assert!(run.requests(Actor::Main).new_text().contains("Overtone：預算已用完"));
        assert_eq!(budget(&sandbox, &session)["reached"]["kind"], "agents");
    }
}

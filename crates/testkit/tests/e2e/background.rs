//! Agents in the background: the main agent is not asked to continue while they work, and their work counts.

use overtone_testkit::{Actor, Client, Request, Sandbox, Turn, error, text, tool, tools};
use serde_json::json;

use crate::steps::{ALL_DONE, RETRO, allow_background, begin, in_background, of_stages, verdict};

/// Longer than the main agent takes to end its turn.
const WHILE: u64 = 3000;

#[test]
fn the_loop_waits_silently_for_a_running_agent() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        allow_background(&sandbox);
        let session = begin(&sandbox, "single", &[]);
        let run = sandbox
            .script(|s| {
                s.main([in_background("ot:developer"), text("I wait"), text("done")])
                    .sub("developer", [verdict("fixed it", "PASS").delay(WHILE)])
            })
            .session(&session)
            .run("go");
        let main = run.requests(Actor::Main);
        assert_eq!((main.times_received("[Overtone Loop "), main.times_received(ALL_DONE)), (0, 1));
        assert!(main.nth(2).new_text().contains("<task-notification>"));
        assert!(main.nth(2).new_text().contains(ALL_DONE));
        assert_eq!((main.len(), run.result_text()), (3, "done"));
        assert_eq!(sandbox.event_count(&session, "loop:advance"), 0);
        assert_eq!(sandbox.event_count(&session, "agent:error"), 0);
        assert_eq!(of_stages(&sandbox, &session, "result"), ["pass"]);
        assert_eq!(sandbox.workflow(&session)["ending"], "completed");
    }
}

#[test]
fn a_group_converges_after_its_last_notification() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        allow_background(&sandbox);
        let session = begin(&sandbox, "quick", &["DEV", "RETRO", "DOCS"]);
        let both = tools([in_background("ot:code-reviewer"), in_background("ot:tester")]);
        let run = sandbox
            .script(|s| {
                s.main([both])
                    .main_with(|_| text("I wait"))
                    .sub("code-reviewer", [verdict("well made", "PASS").delay(WHILE)])
                    .sub("tester", [verdict("12 passed", "PASS").delay(2 * WHILE)])
            })
            .session(&session)
            .run("go");
        let main = run.requests(Actor::Main);
        assert_eq!((main.times_received("[Overtone Loop "), main.times_received(RETRO)), (0, 0));
        // On a slow machine both agents may have ended before the first notification arrives, which then brings all texts.
        let converged = "🔀 並行群組 quality 已全部完成。";
        assert_eq!((main.times_received(converged), main.times_received(ALL_DONE)), (1, 1));
        for kind in ["parallel:start", "parallel:converge", "workflow:complete"] {
            assert_eq!(sandbox.event_count(&session, kind), 1, "{kind}");
        }
        let workflow = sandbox.workflow(&session);
        assert_eq!((&workflow["activeAgents"], &workflow["ending"]), (&json!({}), &json!("completed")));
    }
}

#[test]
fn a_background_agent_that_fails_leaves_its_stage_open() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        allow_background(&sandbox);
        let session = begin(&sandbox, "single", &[]);
        let broken = error(500, "api_error", "boom").delay(WHILE);
        let run = sandbox
            .script(|s| {
                s.main([in_background("ot:developer"), text("I wait")])
                    .main([in_background("ot:developer"), text("I wait"), text("done")])
                    .sub("developer", [broken, verdict("fixed it", "PASS").delay(WHILE)])
            })
            .session(&session)
            .run("go");
        let main = run.requests(Actor::Main);
        assert_eq!(sandbox.event_count(&session, "agent:error"), 1);
        let received = main.nth(2).new_text();
        for words in ["⚠️ developer ", "下一步請委派 DEVELOPER（ot:developer）。"] {
            assert!(received.contains(words), "{received}");
        }
        assert_eq!(run.requests(Actor::Sub("developer")).len(), 2);
        assert_eq!(sandbox.workflow(&session)["ending"], "completed");
    }
}

/// Ends the agent that the request tells of.
fn end_agent(request: &Request) -> Turn {
    let received = request.new_text();
    let id = received.split_once("agentId: ").unwrap().1.split_whitespace().next().unwrap();
    tool("TaskStop", json!({"task_id": id}))
}

#[test]
fn a_background_agent_that_is_killed_releases_its_stage() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        allow_background(&sandbox);
        let session = begin(&sandbox, "single", &[]);
        let mut later = [in_background("ot:developer"), text("I wait")].into_iter();
        let mut first = true;
        let answer = move |request: &Request| {
            if std::mem::take(&mut first) {
                return end_agent(request);
            }
            later.next().unwrap_or_else(|| text("done"))
        };
        sandbox
            .script(|s| {
                s.main([in_background("ot:developer")])
                    .main_with(answer)
                    .actor_with(Actor::Sub("developer"), |_| verdict("fixed it", "PASS").delay(WHILE))
            })
            .session(&session)
            .run("go");
        assert_eq!(sandbox.event_count(&session, "agent:delegate"), 2);
        assert_eq!(of_stages(&sandbox, &session, "result"), ["pass"]);
        assert_eq!(sandbox.workflow(&session)["ending"], "completed");
    }
}

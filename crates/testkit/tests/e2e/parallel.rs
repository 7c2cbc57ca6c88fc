//! Two stages at once: their hooks run at the same time, and the state must hold both.

use overtone_testkit::{Actor, Client, Sandbox, text, tools};
use serde_json::json;

use crate::delegate;
use crate::steps::{RETRO, begin, of_stages, verdict};

#[test]
fn stages_of_a_group_run_together_and_converge_once() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &["DEV"]);
        let both = tools([delegate("ot:code-reviewer", "judge it"), delegate("ot:tester", "test it")]);
        let turns = [
            both,
            delegate("ot:retrospective", "look back"),
            delegate("ot:doc-updater", "write"),
            text("done"),
        ];
        // Both are asked before either has answered.
        let run = sandbox
            .script(|s| {
                s.main(turns)
                    .sub("code-reviewer", [verdict("well made", "PASS").delay(2000)])
                    .sub("tester", [verdict("12 passed", "PASS").delay(2000)])
            })
            .session(&session)
            .run("go");
        let main = run.requests(Actor::Main);
        assert_eq!(main.times_received(RETRO), 1);
        let received = main.nth(1).new_text();
        for words in ["well made", "12 passed", "🔀 並行群組 quality 已全部完成。", RETRO] {
            assert!(received.contains(words), "{words} in {received}");
        }
        for agent in ["code-reviewer", "tester", "retrospective", "doc-updater"] {
            assert_eq!(run.requests(Actor::Sub(agent)).len(), 1, "{agent}");
        }
        for (kind, count) in [("parallel:start", 1), ("parallel:converge", 1), ("stage:complete", 4)] {
            assert_eq!(sandbox.event_count(&session, kind), count, "{kind}");
        }
        assert_eq!(of_stages(&sandbox, &session, "result"), ["pass"; 5]);
        let workflow = sandbox.workflow(&session);
        assert_eq!((&workflow["activeAgents"], &workflow["ending"]), (&json!({}), &json!("completed")));
    }
}

#[test]
fn a_group_member_that_is_left_out_is_asked_for() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &["DEV"]);
        let turns =
            [delegate("ot:tester", "test it"), delegate("ot:retrospective", "look back"), text("done")];
        let run = sandbox.script(|s| s.main(turns)).session(&session).run("go");
        let main = run.requests(Actor::Main);
        let missing = "下一步請委派 CODE-REVIEWER（ot:code-reviewer）。";
        assert!(main.nth(1).new_text().contains(missing));
        assert!(main.nth(2).new_text().contains("⛔ 不可跳過必要階段：REVIEW 尚未完成。"));
        assert!(run.requests(Actor::Sub("retrospective")).is_empty());
        assert_eq!(sandbox.event_count(&session, "parallel:converge"), 0);
    }
}

#[test]
fn twins_share_a_stage_and_the_worst_verdict_counts() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "debug", &["DEBUG", "DEV"]);
        let twins = tools([delegate("ot:tester", "test the lock"), delegate("ot:tester", "test the door")]);
        let reports = [verdict("1 failed", "FAIL"), verdict("12 passed", "PASS").delay(2000)];
        let run = sandbox
            .script(|s| s.main([twins, text("done")]).sub("tester", reports))
            .session(&session)
            .run("go");
        let stage = &sandbox.workflow(&session)["stages"]["TEST"];
        assert_eq!((&stage["status"], &stage["result"]), (&json!("completed"), &json!("fail")));
        assert_eq!(sandbox.workflow(&session)["failCount"], 1);
        assert_eq!(sandbox.event_count(&session, "stage:start"), 1);
        assert!(run.requests(Actor::Main).nth(1).new_text().contains("❌ 🧪 測試 失敗（1/3）。"));
    }
}

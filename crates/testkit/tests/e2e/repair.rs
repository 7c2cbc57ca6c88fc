//! A failed stage is repaired and run again, never passed over.

use std::fs;

use overtone_testkit::{Actor, Client, Run, Sandbox, Turn, text, tools};
use serde_json::json;

use crate::delegate;
use crate::steps::{RETRO, begin, of_stages, verdict};

fn judge() -> Turn {
    tools([delegate("ot:code-reviewer", "judge it"), delegate("ot:tester", "test it")])
}

/// A `quick` workflow whose first test fails.
fn failing_once(sandbox: &Sandbox, session: &str) -> Run {
    let turns = [
        delegate("ot:developer", "build the lock"),
        judge(),
        delegate("ot:debugger", "find the cause"),
        delegate("ot:developer", "fix the lock"),
        judge(),
        delegate("ot:retrospective", "look back"),
        delegate("ot:doc-updater", "write it down"),
        text("done"),
    ];
    let script = |s: overtone_testkit::Script| {
        s.main(turns)
            .sub("tester", [verdict("2 failed: the lock sticks", "FAIL"), verdict("12 passed", "PASS")])
            .sub("debugger", [verdict("the bolt is too long", "PASS")])
    };
    sandbox.script(script).session(session).run("build it")
}

#[test]
fn a_failed_test_is_repaired_and_run_again() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &[]);
        let run = failing_once(&sandbox, &session);
        let main = run.requests(Actor::Main);
        let way_back = "下一步請委派 DEBUGGER（ot:debugger）找出原因，再委派 DEVELOPER（ot:developer）修復，然後重跑 TEST。";
        assert!(main.nth(2).new_text().contains("❌ 🧪 測試 失敗（1/3）。"));
        assert_eq!((main.times_received(way_back), main.times_received(RETRO)), (1, 1));
        assert_eq!((main.len(), run.result_text()), (8, "done"));

        let workflow = sandbox.workflow(&session);
        assert_eq!((&workflow["failCount"], &workflow["rejectCount"]), (&json!(1), &json!(0)));
        assert_eq!(workflow["ending"], "completed");
        assert_eq!(of_stages(&sandbox, &session, "result"), ["pass"; 5]);
        assert_eq!(of_stages(&sandbox, &session, "attempts"), [2, 2, 2, 1, 1]);
        for (kind, count) in
            [("stage:retry", 1), ("stage:start", 8), ("agent:delegate", 9), ("error:fatal", 0)]
        {
            assert_eq!(sandbox.event_count(&session, kind), count, "{kind}");
        }
        assert_eq!(sandbox.event_count(&session, "workflow:complete"), 1);
    }
}

#[test]
fn a_repair_prompt_names_the_reports() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &[]);
        let run = failing_once(&sandbox, &session);
        let folder = sandbox.state().join("sessions").join(&session).join("handoffs");
        let received = run.requests(Actor::Sub("developer")).nth(1).new_text();
        assert!(received.contains(&folder.display().to_string()), "{received}");
        for words in ["the lock sticks", "the bolt is too long"] {
            let files = fs::read_dir(&folder).unwrap().flatten();
            let report =
                files.map(|file| file.path()).find(|path| fs::read_to_string(path).unwrap().contains(words));
            let name = report.unwrap().file_name().unwrap().to_string_lossy().into_owned();
            assert!(received.contains(&name), "{name} in {received}");
        }
    }
}

#[test]
fn at_the_limit_the_user_is_asked_and_the_session_may_end() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "debug", &["DEBUG", "DEV"]);
        let test = || delegate("ot:tester", "test it");
        let fix = || delegate("ot:developer", "fix it");
        let turns = [test(), fix(), test(), fix(), test(), fix(), text("I give up")];
        let failures = std::iter::repeat_n(verdict("1 failed", "FAIL"), 3);
        let run = sandbox.script(|s| s.main(turns).sub("tester", failures)).session(&session).run("fix it");
        let main = run.requests(Actor::Main);
        assert!(main.nth(5).new_text().contains("⛔ 🧪 測試 已達重試上限。"));
        assert!(main.nth(6).new_text().contains("不可再委派 developer"));
        assert_eq!(run.requests(Actor::Sub("developer")).len(), 2);
        assert_eq!((main.len(), run.result_text()), (7, "I give up"));
        assert_eq!(sandbox.workflow(&session)["ending"], "aborted");
        for kind in ["error:fatal", "workflow:abort"] {
            assert_eq!(sandbox.event_count(&session, kind), 1, "{kind}");
        }
        let last = run.hook_answers("Stop").pop().unwrap();
        assert!(last["systemMessage"].as_str().is_some_and(|text| text.contains("需要你決定")), "{last}");
    }
}

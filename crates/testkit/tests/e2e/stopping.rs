//! The loop: the session continues until every stage is done, and no longer.

use overtone_core::registry::Workflow;
use overtone_testkit::{Actor, Client, Exit, Run, Sandbox, Turn, text};
use serde_json::Value;

use crate::delegate;
use crate::steps::{begin, of_stages};

const LOOP: &str = "[Overtone Loop ";

/// The stages' agents in their order, with an early "done" before each of them and one at the end.
fn impatient(workflow: &str) -> Vec<Turn> {
    let keys = Workflow::from_name(workflow).unwrap().stage_keys();
    let jobs = keys.map(|key| delegate(&format!("ot:{}", key.stage.agent().name()), "the job"));
    jobs.flat_map(|job| [text("done, I think"), job]).chain([text("really done")]).collect()
}

/// The messages for the user at every stop of the session.
fn shown_at_stop(run: &Run) -> Vec<Option<String>> {
    let message = |answer: Value| answer["systemMessage"].as_str().map(str::to_owned);
    run.hook_answers("Stop").into_iter().map(message).collect()
}

fn assert_looped_to_the_end(client: &Client, workflow: &str, stages: usize) {
    let sandbox = Sandbox::new(client);
    let session = begin(&sandbox, workflow, &[]);
    let run = sandbox.script(|s| s.main(impatient(workflow))).session(&session).run("go");
    let main = run.requests(Actor::Main);
    for round in 0..stages {
        let received = main.nth(2 * round + 1).new_text();
        assert!(received.contains(&format!("{LOOP}{}/100]", round + 1)), "{received}");
    }
    assert_eq!((main.times_received(LOOP), main.len()), (stages, 2 * stages + 1));
    assert_eq!((run.exit, run.result_text()), (Exit::Code(0), "really done"));

    let (last, earlier) = shown_at_stop(&run).split_last().map(|(l, e)| (l.clone(), e.to_vec())).unwrap();
    assert!(
        last.is_some_and(|text| text.starts_with(&format!("🎉 工作流 {workflow} 完成：{stages} 個階段")))
    );
    assert!(earlier.iter().all(Option::is_none), "{earlier:?}");
    assert_eq!(of_stages(&sandbox, &session, "result"), vec!["pass"; stages]);
    assert_eq!(sandbox.workflow(&session)["ending"], "completed");
    assert_eq!(sandbox.loop_state(&session)["stoppedBy"], "completion");
    assert_eq!(sandbox.event_count(&session, "loop:advance"), stages);
    for kind in ["loop:complete", "workflow:complete"] {
        assert_eq!(sandbox.event_count(&session, kind), 1, "{kind}");
    }
}

#[test]
fn a_stop_before_the_end_continues_with_the_next_stage() {
    for client in Client::all() {
        assert_looped_to_the_end(&client, "quick", 5);
    }
}

/// The client ends a turn by itself after 8 rounds without a tool.
#[test]
fn eleven_stages_stay_below_the_clients_own_limit() {
    for client in Client::all() {
        assert_looped_to_the_end(&client, "full", 11);
    }
}

#[test]
fn without_progress_the_session_may_end() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "single", &[]);
        let run = sandbox.script(|s| s.main_with(|_| text("no"))).session(&session).run("go");
        let main = run.requests(Actor::Main);
        assert_eq!((main.len(), main.times_received(LOOP)), (4, 3));
        assert_eq!((run.exit, run.result_text()), (Exit::Code(0), "no"));
        let last = shown_at_stop(&run).pop().flatten();
        assert!(last.is_some_and(|text| text.contains("連續 3 次沒有進展")));
        assert!(sandbox.workflow(&session)["ending"].is_null(), "it can be taken up again");

        let again = sandbox.script(|s| s.main(impatient("single"))).resume(&session).run("go on");
        assert!(again.requests(Actor::Main).nth(1).new_text().contains(LOOP));
        assert_eq!(sandbox.workflow(&session)["ending"], "completed");
    }
}

#[test]
fn a_finished_workflow_adds_nothing() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "single", &[]);
        let turns = [delegate("ot:developer", "the job"), text("done")];
        sandbox.script(|s| s.main(turns)).session(&session).run("go");
        let state = || {
            let mut workflow = sandbox.workflow(&session);
            // Each process of the client is recorded.
            for member in ["clients", "seal"] {
                workflow.as_object_mut().unwrap().shift_remove(member);
            }
            (workflow, sandbox.event_count(&session, "workflow:complete"))
        };
        let before = state();
        let run = sandbox.script(|s| s.main([text("my pleasure")])).resume(&session).run("thanks");
        let main = run.requests(Actor::Main);
        assert_eq!((main.len(), main.times_received(LOOP)), (1, 0));
        assert_eq!((shown_at_stop(&run), run.result_text()), (vec![None], "my pleasure"));
        assert_eq!(state(), before);
    }
}

//! Two sessions at once, in the same project and the same home.

use std::thread;

use overtone_testkit::{Actor, Client, Run, Sandbox, text};

use crate::delegate;

fn run_workflow(sandbox: &Sandbox, session: &str, workflow: &str, agent: &'static str) -> Run {
    sandbox.put_workflow(session, workflow);
    let turns = [delegate(&format!("ot:{agent}"), "the job").delay(200), text("done")];
    sandbox.script(|s| s.main(turns)).session(session).run("go")
}

fn delegated(sandbox: &Sandbox, session: &str) -> Vec<String> {
    let events = sandbox.timeline(session);
    let delegations = events.iter().filter(|event| event["type"] == "agent:delegate");
    delegations.map(|event| event["agent"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn two_sessions_are_recorded_separately() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let (first, second) = (sandbox.new_session(), sandbox.new_session());
        let (one, two) = thread::scope(|scope| {
            let one = scope.spawn(|| run_workflow(&sandbox, &first, "single", "developer"));
            let two = scope.spawn(|| run_workflow(&sandbox, &second, "diagnose", "debugger"));
            (one.join().unwrap(), two.join().unwrap())
        });
        assert_eq!(sandbox.sessions(), [first.as_str(), second.as_str()]);
        for (run, session, agent) in [(&one, &first, "developer"), (&two, &second, "debugger")] {
            assert_eq!(run.session_id, *session);
            assert!(run.all_requests().iter().all(|request| request.session() == session));
            assert_eq!(run.requests(Actor::Sub(agent)).len(), 1);
            assert_eq!(delegated(&sandbox, session), [agent]);
            assert_eq!(sandbox.workflow(session)["sessionId"], session.as_str());
            let types = sandbox.timeline_types(session);
            for kind in ["session:start", "stage:complete", "workflow:complete"] {
                assert_eq!(types.iter().filter(|found| *found == kind).count(), 1, "{kind} in {types:?}");
            }
        }
    }
}

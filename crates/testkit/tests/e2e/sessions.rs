//! Two sessions at once, in the same project and the same home; and how a session ends.

use std::fs;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use overtone_testkit::{Actor, Client, Invocation, Run, Sandbox, text};

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

/// How often an event of this type is on record.
fn count(sandbox: &Sandbox, session: &str, kind: &str) -> usize {
    sandbox.timeline_types(session).iter().filter(|found| *found == kind).count()
}

#[test]
fn two_sessions_do_not_mix() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let (first, second) = (sandbox.new_session(), sandbox.new_session());
        let (one, two) = thread::scope(|scope| {
            let one = scope.spawn(|| run_workflow(&sandbox, &first, "single", "developer"));
            let two = scope.spawn(|| run_workflow(&sandbox, &second, "diagnose", "debugger"));
            (one.join().unwrap(), two.join().unwrap())
        });
        assert_eq!(sandbox.sessions(), [first.as_str(), second.as_str()]);
        for (run, session, agent, own, other) in [
            (&one, &first, "developer", "工作流 single 進行中", "diagnose 進行中"),
            (&two, &second, "debugger", "工作流 diagnose 進行中", "single 進行中"),
        ] {
            assert_eq!(run.session_id, *session);
            assert!(run.all_requests().iter().all(|request| request.session() == session));
            assert_eq!(run.requests(Actor::Sub(agent)).len(), 1);
            for request in &run.requests(Actor::Main) {
                let received = request.text();
                assert!(received.contains(own) && !received.contains(other), "{received}");
            }
            assert_eq!(delegated(&sandbox, session), [agent]);
            assert_eq!(sandbox.workflow(session)["sessionId"], session.as_str());
            for kind in ["session:start", "stage:complete", "workflow:complete"] {
                assert_eq!(count(&sandbox, session, kind), 1, "{kind}");
            }
        }
    }
}

/// The session that `overtone` takes for the current one.
fn pointer(sandbox: &Sandbox) -> Option<String> {
    fs::read_to_string(sandbox.state().join(".current-session-id")).ok().map(|id| id.trim().to_owned())
}

/// A session that signals its start, and ends on a signal of the test.
struct Held<'a> {
    invocation: Invocation<'a>,
    began: Receiver<()>,
    finish: Sender<()>,
}

fn held<'a>(sandbox: &'a Sandbox, session: &str) -> Held<'a> {
    let ((tell, began), (finish, received)) = (channel(), channel());
    // A closed channel is fine: the other side has failed, and this one must not wait for it.
    let answer = move |_: &_| {
        let _ = tell.send(());
        let _ = received.recv();
        text("done")
    };
    Held { invocation: sandbox.script(|s| s.main_with(answer)).session(session), began, finish }
}

#[test]
fn a_session_that_ends_clears_only_its_own_pointer() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let (older, newer) = (sandbox.new_session(), sandbox.new_session());
        thread::scope(|scope| {
            let one = held(&sandbox, &older);
            let first = scope.spawn(|| one.invocation.run("go"));
            one.began.recv().unwrap();
            assert_eq!(pointer(&sandbox).as_deref(), Some(older.as_str()));
            let two = held(&sandbox, &newer);
            let second = scope.spawn(|| two.invocation.run("go"));
            two.began.recv().unwrap();
            one.finish.send(()).unwrap();
            first.join().unwrap();
            assert_eq!(count(&sandbox, &older, "session:end"), 1);
            assert_eq!(pointer(&sandbox).as_deref(), Some(newer.as_str()));
            two.finish.send(()).unwrap();
            second.join().unwrap();
        });
        assert_eq!((count(&sandbox, &newer, "session:end"), pointer(&sandbox)), (1, None));
    }
}

#[test]
fn the_end_of_a_session_with_an_open_workflow_is_recorded() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = sandbox.new_session();
        sandbox.put_workflow(&session, "single");
        sandbox.script(|s| s).session(&session).run("go");
        assert_eq!((count(&sandbox, &session, "session:end"), pointer(&sandbox)), (1, None));
        assert_eq!(sandbox.loop_state(&session)["stopped"], true);
        assert_eq!(count(&sandbox, &session, "workflow:complete"), 0);
    }
}

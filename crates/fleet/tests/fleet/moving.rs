//! Orders from other machines, and sessions that move between machines.

use crate::support::{self, Servers, TestMachine, block_on, open, read_or_empty, snapshot};
use overtone_fleet::{
    MachineInfo, OrderCommand, OrderOutcome, Pull, PullError, Share, send_order_with_timeout,
};
use overtone_store::{Session, SessionId};
use overtone_testkit::wait_until;
use serde_json::{Value, json};
use std::time::Duration;

fn timeline(session: &Session) -> Vec<Value> {
    read_or_empty(&session.timeline_file()).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn order(machine: &TestMachine, session: &str, command: OrderCommand) -> OrderOutcome {
    block_on(async {
        let link = open(&machine.settings).await;
        support::order(&link, &machine.machine().id, session, command, "ann").await
    })
}

fn pull(to: &TestMachine, session: &str, take_over: bool) -> Result<overtone_fleet::PullSummary, PullError> {
    let project = to.dir.path().join("project");
    let (machine, session) = (to.machine(), SessionId::parse(session).unwrap());
    let pull = Pull {
        home: &to.home,
        machine: &machine,
        session: &session,
        project: &project,
        user: "ann",
        take_over,
    };
    block_on(async {
        let link = to.link().await;
        pull.run(&link).await
    })
}

fn is_shown(machine: &TestMachine, session: &str) -> bool {
    block_on(async {
        let snapshot = snapshot(&machine.settings).await;
        snapshot
            .sessions
            .iter()
            .any(|state| state.session == session && state.machine == machine.machine().id)
    })
}

#[test]
fn an_order_is_executed_once_recorded_and_answered() {
    let servers = Servers::one();
    let machine = TestMachine::new(&servers.settings("a"), "one");
    machine.workflow("s");
    let _relay = machine.relay();
    wait_until("it is shown", || is_shown(&machine, "s"));
    assert_eq!(
        order(&machine, "s", OrderCommand::Message { text: "look at the tests".into() }),
        OrderOutcome::Done
    );
    assert_eq!(order(&machine, "s", OrderCommand::Stop), OrderOutcome::Done);
    assert_eq!(order(&machine, "s", OrderCommand::Stop), OrderOutcome::Done);
    assert_eq!(order(&machine, "s", OrderCommand::Resume), OrderOutcome::Done);
    assert!(matches!(order(&machine, "none", OrderCommand::Stop), OrderOutcome::Refused(_)));
    let session = machine.session("s");
    let traces = timeline(&session);
    let by = |line: &&Value| line["by"].as_str().is_some_and(|by| by.ends_with("ann@one"));
    let reasons: Vec<_> = traces.iter().filter(by).map(|line| line["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["message", "loop-stopped", "resumed"]);
    let notices = session.workflow().unwrap().unwrap().state.notices;
    assert!(notices.len() == 1 && notices[0].contains("look at the tests"), "{notices:?}");
}

#[test]
fn an_order_to_a_machine_that_is_gone_is_refused() {
    let servers = Servers::one();
    let machine = TestMachine::new(&servers.settings("a"), "one");
    assert_eq!(order(&machine, "s", OrderCommand::Stop), OrderOutcome::Gone);
    // With a heartbeat but no relay, the order is withdrawn.
    let reply = block_on(async {
        let link = open(&machine.settings).await;
        let id = machine.machine().id;
        link.publish_heartbeat(&MachineInfo::new(&machine.machine(), "0.0.0", "x")).await.unwrap();
        // No answer ever arrives, so any timeout will do.
        send_order_with_timeout(&link, &id, "s", OrderCommand::Stop, "ann", Duration::from_millis(200))
            .await
            .unwrap()
    });
    assert_eq!(reply, OrderOutcome::Withdrawn);
}

#[test]
fn a_session_moves_completely_and_the_old_owner_hands_it_over() {
    let servers = Servers::one();
    let mut settings = servers.settings("a");
    settings.share = Share::Full;
    let (one, two) = (TestMachine::new(&settings, "one"), TestMachine::new(&settings, "two"));
    one.workflow("s");
    (0..700).for_each(|n| one.append("s", n));
    one.session("s").save_handoff("handoffs/01-DEV-developer.md", "what was done").unwrap();
    let relay = one.relay();
    wait_until("it is shown", || is_shown(&one, "s"));
    let pulled = pull(&two, "s", false).unwrap();
    assert_eq!(
        (pulled.from.as_str(), pulled.handoffs, pulled.is_full, pulled.is_cut),
        ("one", 1, true, false)
    );
    let (here, there) = (two.session("s"), one.session("s"));
    let (ours, theirs) = (read_or_empty(&here.timeline_file()), read_or_empty(&there.timeline_file()));
    assert!(ours.starts_with(&theirs), "the timeline is the same, and goes on");
    assert_eq!(timeline(&here).last().unwrap()["reason"], "session-pulled");
    assert_eq!(read_or_empty(&here.dir().join("handoffs/01-DEV-developer.md")), "what was done");
    let state = |session: &Session| session.workflow().unwrap().unwrap().state;
    assert_eq!((state(&there).moved_to.as_deref(), state(&here).moved_to), (Some("two"), None));
    assert_eq!(here.origin().project.unwrap(), two.dir.path().join("project"));
    // The old owner refuses orders for it, and names the new owner.
    let refused = order(&one, "s", OrderCommand::Stop);
    assert!(matches!(&refused, OrderOutcome::Refused(reason) if reason.contains("two")), "{refused:?}");
    drop(relay);
    // And back again.
    let _relay = two.relay();
    wait_until("it is shown", || is_shown(&two, "s"));
    let _old = one.relay();
    pull(&one, "s", false).unwrap();
    assert_eq!(state(&one.session("s")).moved_to, None);
    wait_until("the other steps aside", || state(&two.session("s")).moved_to.as_deref() == Some("one"));
}

#[test]
fn a_session_of_an_offline_machine_is_pulled_only_with_take_over() {
    let servers = Servers::one();
    let settings = servers.settings("a");
    let (one, two) = (TestMachine::new(&settings, "one"), TestMachine::new(&settings, "two"));
    one.workflow("s");
    (0..5).for_each(|n| one.append("s", n));
    let relay = one.relay();
    wait_until("it is shown", || is_shown(&one, "s"));
    drop(relay);
    block_on(async {
        let link = open(&settings).await;
        link.heartbeats.delete(&one.machine().id).await.unwrap();
    });
    assert!(matches!(pull(&two, "s", false), Err(PullError::Gone { name }) if name == "one"));
    let pulled = pull(&two, "s", true).unwrap();
    assert_eq!((pulled.events, pulled.is_full), (5, false));
    let last = timeline(&two.session("s")).pop().unwrap();
    assert_eq!((&last["reason"], &last["from"]), (&json!("session-pulled"), &json!("one")));
    // The old owner continues offline for a while, and then reconnects.
    one.append("s", 5);
    let relay = one.relay();
    let moved = || one.session("s").workflow().unwrap().unwrap().state.moved_to;
    wait_until("it steps aside", || moved().as_deref() == Some("two"));
    drop(relay);
    assert_eq!(timeline(&one.session("s")).last().unwrap()["reason"], "session-moved");
}

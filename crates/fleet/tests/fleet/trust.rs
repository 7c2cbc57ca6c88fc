//! Signatures, with a real server that an attacker controls.

use crate::support::{self, Servers, TestMachine, block_on, read_or_empty, snapshot};
use overtone_fleet::{
    FleetSnapshot, Invited, Link, MachineInfo, Membership, Order, OrderCommand, OrderOutcome, RefusalReason,
    RefusedOrder, Settings, TeamError, refused_orders, session_claim_key,
};
use overtone_store::SessionId;
use overtone_testkit::wait_until;

fn message(text: &str) -> Order {
    Order {
        session: "s".to_owned(),
        command: OrderCommand::Message { text: text.to_owned() },
        user: "ann".to_owned(),
    }
}

async fn put(link: &Link, subject: String, payload: bytes::Bytes) {
    link.context.publish(subject, payload).await.unwrap().await.unwrap();
}

/// Two machines of a team. The first one has a session.
fn team(settings: &Settings) -> (TestMachine, TestMachine) {
    let (one, two) = (TestMachine::new(settings, "one"), TestMachine::new(settings, "two"));
    one.workflow("s");
    (one, two)
}

/// Moves the session to this machine.
fn pull(to: &TestMachine) {
    let (machine, session) = (to.machine(), SessionId::parse("s").unwrap());
    let pull = overtone_fleet::Pull {
        home: &to.home,
        machine: &machine,
        session: &session,
        project: to.dir.path(),
        user: "ann",
        take_over: false,
    };
    block_on(async { pull.run(&to.link().await).await.unwrap() });
}

fn wait_until_listed(machine: &TestMachine) {
    wait_until("it is shown", || !block_on(snapshot(&machine.settings)).sessions.is_empty());
}

fn notices(machine: &TestMachine) -> Vec<String> {
    machine.session("s").workflow().unwrap().unwrap().state.notices
}

fn reasons(machine: &TestMachine) -> Vec<RefusalReason> {
    refused_orders(&machine.home).orders.iter().map(|order: &RefusedOrder| order.reason).collect()
}

#[test]
fn an_order_is_executed_once_by_the_machine_that_it_is_signed_for() {
    let servers = Servers::one();
    let (one, two) = team(&servers.settings("a"));
    let relay = one.relay();
    wait_until_listed(&one);
    let thief = TestMachine::outside(&one.settings, "two");
    let (id, orders) = (one.machine().id, |link: &Link| link.names.orders_subject(&one.machine().id));
    block_on(async {
        let link = two.link().await;
        let first = link.keyring.seal_order(&id, "0123456789abcdef", &message("first"));
        // One order for another machine, and one that was changed.
        let misdirected =
            link.keyring.seal_order(&two.machine().id, "1123456789abcdef", &message("misdirected"));
        let changed = String::from_utf8(first.to_vec()).unwrap().replace("first", "worse");
        let strange = thief.keyring().seal_order(&id, "2123456789abcdef", &message("strange"));
        for payload in [first.clone(), misdirected, changed.into(), strange, first.clone()] {
            put(&link, orders(&link), payload).await;
        }
        assert_eq!(support::order(&link, &id, "s", message("last").command, "ann").await, OrderOutcome::Done);
    });
    let texts = notices(&one);
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts[0].contains("first") && texts[1].contains("last"), "{texts:?}");
    assert_eq!(
        reasons(&one),
        [RefusalReason::Malformed, RefusalReason::Forged, RefusalReason::UnknownSender]
    );
    // Also after a restart.
    drop(relay);
    let _relay = one.relay();
    block_on(async {
        let link = two.link().await;
        let again = link.keyring.seal_order(&id, "0123456789abcdef", &message("first"));
        put(&link, orders(&link), again).await;
        assert_eq!(support::order(&link, &id, "s", OrderCommand::Stop, "ann").await, OrderOutcome::Done);
    });
    assert_eq!(notices(&one).len(), 2);
}

#[test]
fn invalid_order_ids_of_a_member_are_refused() {
    let servers = Servers::one();
    let (one, two) = team(&servers.settings("a"));
    let relay = one.relay();
    wait_until_listed(&one);
    block_on(async {
        let (link, id) = (two.link().await, one.machine().id);
        for strange in ["a\nb", "", &"x".repeat(70 * 1024), "short", "../../../../x", "äöüäöüäö"] {
            put(&link, link.names.orders_subject(&id), link.keyring.seal_order(&id, strange, &message("x")))
                .await;
        }
        put(&link, link.names.orders_subject(&id), b"\xff\xfe"[..].into()).await;
        put(&link, link.names.orders_subject(&id), b"{\"v\":2,\"kind\":"[..].into()).await;
        assert_eq!(support::order(&link, &id, "s", OrderCommand::Stop, "ann").await, OrderOutcome::Done);
    });
    assert_eq!(notices(&one), [""; 0]);
    let mut expected = vec![RefusalReason::BadId; 6];
    expected.extend([RefusalReason::Malformed; 2]);
    assert_eq!(reasons(&one), expected);
    let refused = refused_orders(&one.home);
    assert_eq!(refused.orders[0].from.as_deref(), Some("two"));
    assert_eq!((relay.status().restarts, relay.status().is_connected), (0, true));
}

#[test]
fn a_replayed_claim_does_not_change_the_owner() {
    let servers = Servers::one();
    let settings = servers.settings("a");
    let (one, two) = team(&settings);
    let (_first, _second) = (one.relay(), two.relay());
    wait_until_listed(&one);
    let key = session_claim_key("s");
    let claim = |machine: &TestMachine| {
        block_on(async { machine.link().await.claims.get(&key).await.unwrap().unwrap() })
    };
    let moved_to = |machine: &TestMachine| machine.session("s").workflow().unwrap().unwrap().state.moved_to;
    // Move the session there and back again.
    pull(&two);
    let of_two = claim(&one);
    pull(&one);
    wait_until("it is shown where it is", || {
        block_on(snapshot(&settings)).sessions.iter().any(|state| state.machine == one.machine().id)
    });
    assert_eq!(moved_to(&one), None);
    // An attacker stores the old claim of the second machine again, or deletes the claim: the owner does not change.
    let before = claim(&one);
    block_on(async { one.link().await.claims.put(&key, of_two.clone()).await.unwrap() });
    wait_until("the owner has it back", || claim(&one) != of_two);
    block_on(async { one.link().await.claims.delete(&key).await.unwrap() });
    wait_until("the owner claims it again", || {
        block_on(async { one.link().await.claims.get(&key).await.unwrap() }).is_some_and(|now| now != before)
    });
    let owner =
        block_on(async { overtone_fleet::find_claim(&one.link().await, &key).await.unwrap().unwrap() });
    assert_eq!(owner.claim.machine, one.machine().id);
    assert_eq!((moved_to(&one), moved_to(&two).as_deref()), (None, Some("one")));
}

/// The relay of the owner was busy, so the replayed claim is the first one that it sees after the pull.
#[test]
fn a_claim_replayed_right_after_a_pull_does_not_change_the_owner() {
    let servers = Servers::one();
    let settings = servers.settings("a");
    let (one, two) = team(&settings);
    let (first, _second) = (one.relay(), two.relay());
    wait_until_listed(&one);
    let key = session_claim_key("s");
    pull(&two);
    let of_two = block_on(async { one.link().await.claims.get(&key).await.unwrap().unwrap() });
    drop(first);
    pull(&one);
    block_on(async { one.link().await.claims.put(&key, of_two.clone()).await.unwrap() });
    let _first = one.relay();
    wait_until("the owner has it back", || {
        block_on(async { one.link().await.claims.get(&key).await.unwrap().unwrap() }) != of_two
    });
    assert_eq!(one.session("s").workflow().unwrap().unwrap().state.moved_to, None);
}

#[test]
fn team_lists_are_changed_by_members_only_and_restored_when_lost() {
    let servers = Servers::one();
    let settings = servers.settings("a");
    let (one, two) = team(&settings);
    let thief = TestMachine::outside(&settings, "thief");
    block_on(async {
        let link = one.link().await;
        assert_eq!(link.keyring.members().len(), 2);
        // A machine outside of the team cannot add itself.
        let outside = thief.link().await;
        assert_eq!(outside.keyring.membership(), Membership::Outsider);
        outside.publish_machine_info(&MachineInfo::new(&thief.machine(), "0.0.0", "x")).await.unwrap();
        let unknown = FleetSnapshot::fetch(&link).await.unwrap().unknown_machines;
        assert_eq!((unknown.len(), unknown[0].invited), (1, Invited::NotByUs));
        assert!(matches!(outside.admit(&unknown[0]).await, Err(TeamError::NotAMember)));
        for (key, value) in [("roster.3", "{}"), ("roster.3", r#"{"v":2,"kind":"roster"}"#)] {
            link.team.put(key, value.into()).await.unwrap();
        }
        assert_eq!(two.link().await.keyring.members().len(), 2);
        // A change by a member replaces the invalid list.
        let third = link.admit(&unknown[0]).await.unwrap();
        assert_eq!((third.name.as_str(), two.link().await.keyring.members().len()), ("thief", 3));
        // The server loses the lists, and the next machine that connects restores them.
        link.context.delete_stream("KV_a_team").await.unwrap();
        let again = two.link().await;
        assert_eq!((again.keyring.membership(), again.keyring.members().len()), (Membership::Member, 3));
        assert_eq!(one.link().await.keyring.membership(), Membership::Member);
    });
}

#[test]
fn forged_heartbeats_are_rejected() {
    let servers = Servers::one();
    let (one, two) = team(&servers.settings("a"));
    block_on(async {
        let (link, id) = (two.link().await, one.machine().id);
        let own = MachineInfo::new(&one.machine(), "0.0.0", "x");
        // Even a member cannot sign the heartbeat of another machine.
        link.publish_heartbeat(&own).await.unwrap();
        assert!(!overtone_fleet::is_present(&link, &id).await.unwrap());
        link.heartbeats.put(&id, serde_json::to_vec(&own).unwrap().into()).await.unwrap();
        assert!(!overtone_fleet::is_present(&link, &id).await.unwrap());
        one.link().await.publish_heartbeat(&own).await.unwrap();
        assert!(overtone_fleet::is_present(&link, &id).await.unwrap());
    });
}

#[test]
fn sessions_of_an_unknown_machine_are_not_listed() {
    let servers = Servers::one();
    let settings = servers.settings("a");
    let (one, _two) = team(&settings);
    let thief = TestMachine::outside(&settings, "one");
    thief.workflow("evil");
    thief.append("evil", 0);
    let _relays = [one.relay(), thief.relay()];
    wait_until_listed(&one);
    wait_until("the stranger is listed", || block_on(snapshot(&settings)).unknown_machines.len() == 1);
    let seen = block_on(snapshot(&settings));
    let ids: Vec<_> = seen.sessions.iter().map(|state| state.session.as_str()).collect();
    assert_eq!((ids, seen.machines.len()), (vec!["s"], 2), "{seen:?}");
    assert_eq!(
        (seen.unknown_machines[0].id.clone(), seen.unknown_machines[0].shown_name()),
        (thief.machine().id, None)
    );
    let lines = block_on(async {
        overtone_fleet::fetch_timeline(&one.link().await, &thief.machine().id, "evil").await.unwrap()
    });
    assert_eq!(lines, Vec::new());
    assert!(read_or_empty(&one.home.root().join("fleet/machine.key")).len() > 60);
}

#[test]
fn a_snapshot_takes_few_requests_for_a_thousand_sessions() {
    let servers = Servers::one();
    let settings = servers.settings("a");
    let (one, _two) = team(&settings);
    let _relay = one.relay();
    wait_until_listed(&one);
    let requests = || {
        block_on(async {
            let link = one.link().await;
            let before = link.client.statistics().out_messages.load(std::sync::atomic::Ordering::Relaxed);
            let snapshot = FleetSnapshot::fetch(&link).await.unwrap();
            let after = link.client.statistics().out_messages.load(std::sync::atomic::Ordering::Relaxed);
            (snapshot.sessions.len(), after - before)
        })
    };
    let (_, few) = requests();
    (0..1_000).for_each(|number| one.workflow(&format!("s{number:04}")));
    let mut many = (0, 0);
    wait_until("all are there", || {
        many = requests();
        many.0 == 1_001
    });
    assert!(many.1 <= few + 4, "{few} requests for one session, {} for {}", many.1, many.0);
}

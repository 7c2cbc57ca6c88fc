//! Signatures and what they guard, with a real server in the hands of somebody else.

use crate::support::{self, Servers, Station, block_on, picture, text, until};
use overtone_fleet::{
    Deed, Invited, Link, MachineInfo, Membership, NotChanged, Order, Picture, Reason, RefusedOrder, Reply,
    Settings, refused_orders, session_claim,
};
use overtone_store::SessionId;

fn message(text: &str) -> Order {
    Order { session: "s".to_owned(), deed: Deed::Message { text: text.to_owned() }, user: "ann".to_owned() }
}

async fn put(link: &Link, subject: String, payload: bytes::Bytes) {
    link.context.publish(subject, payload).await.unwrap().await.unwrap();
}

/// Two machines of a team; the first relays a session.
fn team(settings: &Settings) -> (Station, Station) {
    let (one, two) = (Station::new(settings, "one"), Station::new(settings, "two"));
    one.workflow("s");
    (one, two)
}

fn shown(station: &Station) {
    until("it is shown", || !block_on(picture(&station.settings)).sessions.is_empty());
}

fn notices(station: &Station) -> Vec<String> {
    station.session("s").workflow().unwrap().unwrap().state.notices
}

fn reasons(station: &Station) -> Vec<Reason> {
    refused_orders(&station.home).orders.iter().map(|order: &RefusedOrder| order.reason).collect()
}

#[test]
fn an_order_counts_once_for_the_machine_that_it_was_signed_for() {
    let servers = Servers::one();
    let (one, two) = team(&servers.settings("a"));
    let relay = one.relay();
    shown(&one);
    let thief = Station::outside(&one.settings, "two");
    let (id, orders) = (one.machine().id, |link: &Link| link.names.orders_for(&one.machine().id));
    block_on(async {
        let link = two.link().await;
        let first = link.keyring.seal_order(&id, "0123456789abcdef", &message("first"));
        // For another machine, and changed on the way.
        let misdirected =
            link.keyring.seal_order(&two.machine().id, "1123456789abcdef", &message("misdirected"));
        let changed = String::from_utf8(first.to_vec()).unwrap().replace("first", "worse");
        let strange = thief.keyring().seal_order(&id, "2123456789abcdef", &message("strange"));
        for payload in [first.clone(), misdirected, changed.into(), strange, first.clone()] {
            put(&link, orders(&link), payload).await;
        }
        assert_eq!(support::order(&link, &id, "s", message("last").deed, "ann").await, Reply::Done);
    });
    let texts = notices(&one);
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts[0].contains("first") && texts[1].contains("last"), "{texts:?}");
    assert_eq!(reasons(&one), [Reason::Malformed, Reason::Forged, Reason::UnknownSender]);
    // Also after a restart, which forgets nothing.
    drop(relay);
    let _relay = one.relay();
    block_on(async {
        let link = two.link().await;
        let again = link.keyring.seal_order(&id, "0123456789abcdef", &message("first"));
        put(&link, orders(&link), again).await;
        assert_eq!(support::order(&link, &id, "s", Deed::Stop, "ann").await, Reply::Done);
    });
    assert_eq!(notices(&one).len(), 2);
}

#[test]
fn no_number_of_an_order_stops_a_machine_even_if_a_member_signs_it() {
    let servers = Servers::one();
    let (one, two) = team(&servers.settings("a"));
    let relay = one.relay();
    shown(&one);
    block_on(async {
        let (link, id) = (two.link().await, one.machine().id);
        for strange in ["a\nb", "", &"x".repeat(70 * 1024), "short", "../../../../x", "äöüäöüäö"] {
            put(&link, link.names.orders_for(&id), link.keyring.seal_order(&id, strange, &message("x")))
                .await;
        }
        put(&link, link.names.orders_for(&id), b"\xff\xfe"[..].into()).await;
        put(&link, link.names.orders_for(&id), b"{\"v\":2,\"kind\":"[..].into()).await;
        assert_eq!(support::order(&link, &id, "s", Deed::Stop, "ann").await, Reply::Done);
    });
    assert_eq!(notices(&one), [""; 0]);
    let mut wanted = vec![Reason::BadId; 6];
    wanted.extend([Reason::Malformed; 2]);
    assert_eq!(reasons(&one), wanted);
    let refused = refused_orders(&one.home);
    assert_eq!(refused.orders[0].from.as_deref(), Some("two"));
    assert_eq!((relay.status().restarts, relay.status().is_connected), (0, true));
}

#[test]
fn an_earlier_claim_that_is_put_there_again_takes_nothing_away() {
    let servers = Servers::one();
    let settings = servers.settings("a");
    let (one, two) = team(&settings);
    let (_first, _second) = (one.relay(), two.relay());
    shown(&one);
    let key = session_claim("s");
    let claim =
        |station: &Station| block_on(async { station.link().await.claims.get(&key).await.unwrap().unwrap() });
    let pull = |to: &Station| {
        let (machine, session) = (to.machine(), SessionId::parse("s").unwrap());
        let pull = overtone_fleet::Pull {
            home: &to.home,
            machine: &machine,
            session: &session,
            project: to.dir.path(),
            user: "ann",
            take_over: false,
        };
        block_on(async { pull.run(&to.link().await).await.unwrap() })
    };
    let moved_to = |station: &Station| station.session("s").workflow().unwrap().unwrap().state.moved_to;
    // There and back again.
    pull(&two);
    let of_two = claim(&one);
    pull(&one);
    until("it is shown where it is", || {
        block_on(picture(&settings)).sessions.iter().any(|state| state.machine == one.machine().id)
    });
    assert_eq!(moved_to(&one), None);
    // Somebody puts the claim of two there again, or takes it away: the owner stays the owner.
    let before = claim(&one);
    block_on(async { one.link().await.claims.put(&key, of_two.clone()).await.unwrap() });
    until("the owner has it back", || claim(&one) != of_two);
    block_on(async { one.link().await.claims.delete(&key).await.unwrap() });
    until("the owner claims it again", || {
        block_on(async { one.link().await.claims.get(&key).await.unwrap() }).is_some_and(|now| now != before)
    });
    let owner = block_on(async { overtone_fleet::look(&one.link().await, &key).await.unwrap().unwrap() });
    assert_eq!(owner.claim.machine, one.machine().id);
    assert_eq!((moved_to(&one), moved_to(&two).as_deref()), (None, Some("one")));
}

#[test]
fn the_lists_of_the_team_cannot_be_changed_from_outside_and_come_back_when_lost() {
    let servers = Servers::one();
    let settings = servers.settings("a");
    let (one, two) = team(&settings);
    let thief = Station::outside(&settings, "thief");
    block_on(async {
        let link = one.link().await;
        assert_eq!(link.keyring.members().len(), 2);
        // Somebody without a key of the team is no member, and cannot make itself one.
        let outside = thief.link().await;
        assert_eq!(outside.keyring.membership(), Membership::Outsider);
        outside.introduce(&MachineInfo::new(&thief.machine(), "0.0.0", "x")).await.unwrap();
        let unknown = Picture::take(&link).await.unwrap().unknown;
        assert_eq!((unknown.len(), unknown[0].invited), (1, Invited::NotByUs));
        assert!(matches!(outside.admit(&unknown[0]).await, Err(NotChanged::NotAMember)));
        for (key, value) in [("roster.3", "{}"), ("roster.3", r#"{"v":2,"kind":"roster"}"#)] {
            link.team.put(key, value.into()).await.unwrap();
        }
        assert_eq!(two.link().await.keyring.members().len(), 2);
        // A member's change takes the place of what was put there.
        let third = link.admit(&unknown[0]).await.unwrap();
        assert_eq!((third.name.as_str(), two.link().await.keyring.members().len()), ("thief", 3));
        // The server loses everything: whoever comes next brings the lists back.
        link.context.delete_stream("KV_a_team").await.unwrap();
        let again = two.link().await;
        assert_eq!((again.keyring.membership(), again.keyring.members().len()), (Membership::Member, 3));
        assert_eq!(one.link().await.keyring.membership(), Membership::Member);
    });
}

#[test]
fn a_forged_sign_of_life_and_an_answer_of_somebody_else_do_not_count() {
    let servers = Servers::one();
    let (one, two) = team(&servers.settings("a"));
    block_on(async {
        let (link, id) = (two.link().await, one.machine().id);
        let own = MachineInfo::new(&one.machine(), "0.0.0", "x");
        // By another machine of the team, too, nobody is made to be there.
        link.give_sign_of_life(&own).await.unwrap();
        assert!(!overtone_fleet::is_present(&link, &id).await.unwrap());
        link.pulse.put(&id, serde_json::to_vec(&own).unwrap().into()).await.unwrap();
        assert!(!overtone_fleet::is_present(&link, &id).await.unwrap());
        one.link().await.give_sign_of_life(&own).await.unwrap();
        assert!(overtone_fleet::is_present(&link, &id).await.unwrap());
    });
}

#[test]
fn what_a_stranger_tells_is_in_no_list_and_no_timeline() {
    let servers = Servers::one();
    let settings = servers.settings("a");
    let (one, _two) = team(&settings);
    let thief = Station::outside(&settings, "one");
    thief.workflow("evil");
    thief.append("evil", 0);
    let _relays = [one.relay(), thief.relay()];
    shown(&one);
    until("the stranger is listed", || block_on(picture(&settings)).unknown.len() == 1);
    let seen = block_on(picture(&settings));
    let ids: Vec<_> = seen.sessions.iter().map(|state| state.session.as_str()).collect();
    assert_eq!((ids, seen.machines.len()), (vec!["s"], 2), "{seen:?}");
    assert_eq!((seen.unknown[0].id.clone(), seen.unknown[0].shown_name()), (thief.machine().id, None));
    let lines = block_on(async {
        overtone_fleet::timeline(&one.link().await, &thief.machine().id, "evil").await.unwrap()
    });
    assert_eq!(lines, Vec::new());
    assert!(text(&one.home.root().join("fleet/machine.key")).len() > 60);
}

#[test]
fn a_list_takes_as_many_requests_for_a_thousand_sessions_as_for_one() {
    let servers = Servers::one();
    let settings = servers.settings("a");
    let (one, _two) = team(&settings);
    let _relay = one.relay();
    shown(&one);
    let requests = || {
        block_on(async {
            let link = one.link().await;
            let before = link.client.statistics().out_messages.load(std::sync::atomic::Ordering::Relaxed);
            let picture = Picture::take(&link).await.unwrap();
            let after = link.client.statistics().out_messages.load(std::sync::atomic::Ordering::Relaxed);
            (picture.sessions.len(), after - before)
        })
    };
    let (_, few) = requests();
    (0..1_000).for_each(|number| one.workflow(&format!("s{number:04}")));
    let mut many = (0, 0);
    until("all are there", || {
        many = requests();
        many.0 == 1_001
    });
    assert!(many.1 <= few + 4, "{few} requests for one session, {} for {}", many.1, many.0);
}

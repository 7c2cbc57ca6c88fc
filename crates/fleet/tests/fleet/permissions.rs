//! Teams on one server: the example of the manual lets each team do all of its own work, and nothing of another's.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{self, LOOK_EVERY, PATIENCE, Servers, Station, block_on, open, told, until};
use overtone_fleet::{
    Complaints, Deed, Link, Machine, Names, NotPulled, Picture, Pull, Pulled, Reply, Settings,
    connect_listening,
};
use overtone_store::SessionId;
use tokio::time::{sleep, timeout};

/// For what never comes, so any limit will do.
const NEVER: Duration = Duration::from_millis(300);

/// The part of the manual between the fences, as people copy it.
fn example() -> String {
    let page = include_str!("../../../../docs/fleet.md");
    let (_, rest) = page.split_once("```conf\n").unwrap();
    rest.split_once("\n```").unwrap().0.to_owned()
}

/// With the same permissions, but without the wall between accounts.
fn in_one_account() -> String {
    let example = example();
    let users = |team: &str| {
        let (_, rest) = example.split_once(&format!("{team}: {{")).unwrap();
        let (_, rest) = rest.split_once("users: [").unwrap();
        rest.split_once("\n    ]").unwrap().0.to_owned()
    };
    format!(
        "accounts {{\n  ALL: {{\n    jetstream: enabled\n    users: [{}\n{}\n{{ user: ready, password: ready }} ]\n }}\n}}\nno_auth_user: ready",
        users("TEAM_A"),
        users("TEAM_B")
    )
}

/// With an account more, through which the test sees that the server is up.
fn apart() -> String {
    let ready = "accounts {\n  READY: { jetstream: enabled, users: [ { user: ready, password: ready } ] }";
    example().replacen("accounts {", ready, 1) + "\nno_auth_user: ready"
}

fn server(config: &str) -> Servers {
    Servers::one_with(&config.lines().collect::<Vec<_>>())
}

fn settings(servers: &Servers, user: &str, prefix: &str) -> Settings {
    let port = servers.nodes[0].port;
    Settings {
        urls: vec![format!("nats://{user}:secret-{user}@127.0.0.1:{port}")],
        names: Names::new(prefix).unwrap(),
        ..servers.settings("none")
    }
}

fn machine(station: &Station) -> Machine {
    Machine::of(&station.home, station.settings.machine_name.as_deref()).unwrap()
}

fn picture(settings: &Settings) -> Picture {
    block_on(support::picture(settings))
}

fn pull(to: &Station, session: &str) -> Result<Pulled, NotPulled> {
    let (machine, session, project) = (machine(to), SessionId::parse(session).unwrap(), to.dir.path());
    let pull =
        Pull { home: &to.home, machine: &machine, session: &session, project, by: "ann", take_over: false };
    block_on(async {
        let link = open(&to.settings).await;
        pull.run(&link).await
    })
}

/// Everything that a team does, with the permissions of the manual and no others.
fn works_for(servers: &Servers, user: &str, prefix: &str) {
    let settings = settings(servers, user, prefix);
    let (one, two) = (Station::new(&settings, "one"), Station::new(&settings, "two"));
    one.workflow("s");
    (0..30).for_each(|n| one.append("s", n));
    let (relay, _other) = (one.relay(), two.relay());
    until("it is shown", || {
        let picture = picture(&settings);
        picture.machines.iter().filter(|view| view.is_present).count() == 2 && !picture.sessions.is_empty()
    });
    until("every event is there", || told(&settings).unwrap_or_default().into_values().flatten().eq(0..30));
    let complaints = Complaints::default();
    let reply = block_on(async {
        let client = connect_listening(&settings, "test", &complaints).await.unwrap();
        let link = Box::pin(Link::with(client, &settings)).await.unwrap();
        link.try_out("m").await.unwrap();
        support::order(&link, &machine(&one).id, "s", Deed::Stop, "ann").await
    });
    assert_eq!((reply, complaints.all()), (Reply::Done, Vec::new()));
    assert_eq!(pull(&two, "s").unwrap().from, "one");
    until("nothing is wrong", || relay.status().problem.is_none());
}

/// Waits until the server has dealt with everything that this client said, and has sent it all that there was for it:
/// it refuses what comes next, and says so in the same order.
async fn settle(client: &async_nats::Client, complaints: &Complaints) {
    static REFUSED: AtomicUsize = AtomicUsize::new(0);
    let subject = format!("nobody.may.{}.", REFUSED.fetch_add(1, Ordering::Relaxed)) + "say";
    client.publish(subject.clone(), "".into()).await.unwrap();
    client.flush().await.unwrap();
    let is_refused = async {
        while !complaints.all().iter().any(|text| text.to_lowercase().contains(&subject)) {
            sleep(LOOK_EVERY).await;
        }
    };
    timeout(PATIENCE, is_refused).await.expect("the server refuses it");
}

/// What another team's user gets to hear of this one, and gets to say.
fn is_closed_to(servers: &Servers, user: &str, prefix: &str) {
    let owner = if prefix == "team-a" { "ann" } else { "bob" };
    let (theirs, ours) = (settings(servers, owner, prefix), settings(servers, user, "team-x"));
    let complaints = Complaints::default();
    block_on(async {
        let link = open(&theirs).await;
        let client = connect_listening(&ours, "thief", &complaints).await.unwrap();
        let mut thief = async_nats::jetstream::new(client.clone());
        thief.set_timeout(NEVER);
        // Reading: subjects, inboxes, streams, buckets, consumers.
        for subject in [format!("{prefix}.>"), "_INBOX.>".to_owned(), "$KV.>".to_owned(), ">".to_owned()] {
            let mut heard = client.subscribe(subject.clone()).await.unwrap();
            settle(&client, &complaints).await;
            link.claims.put("session.x", "secret".into()).await.unwrap();
            settle(&client, &complaints).await;
            let next = timeout(NEVER, futures_util::StreamExt::next(&mut heard)).await;
            assert!(!matches!(next, Ok(Some(_))), "{user} hears {subject}: {next:?}");
        }
        assert!(thief.get_stream(theirs.names.events_stream()).await.is_err());
        assert!(thief.get_key_value(theirs.names.claims_bucket()).await.is_err());
        // Writing: events, orders, values.
        let before = link.orders.get_info().await.unwrap().state.messages;
        for subject in [
            theirs.names.events_of("m", "s"),
            theirs.names.orders_for("m"),
            format!("$KV.{}.session.x", theirs.names.claims_bucket()),
        ] {
            client.publish(subject, "forged".into()).await.unwrap();
        }
        settle(&client, &complaints).await;
        assert_eq!(link.orders.get_info().await.unwrap().state.messages, before);
        assert_eq!(link.claims.get("session.x").await.unwrap().unwrap(), "secret");
        assert_eq!(link.events.get_info().await.unwrap().state.messages, 0);
        link.claims.delete("session.x").await.unwrap();
    });
    assert!(
        complaints.all().iter().any(|text| text.to_lowercase().contains("permissions violation")),
        "{complaints:?}"
    );
}

#[test]
fn the_example_of_the_manual_keeps_teams_apart() {
    let servers = server(&apart());
    is_closed_to(&servers, "bob", "team-a");
    is_closed_to(&servers, "ann", "team-b");
    works_for(&servers, "ann", "team-a");
    works_for(&servers, "bob", "team-b");
}

#[test]
fn its_permissions_alone_guard_subjects_and_buckets() {
    let servers = server(&in_one_account());
    is_closed_to(&servers, "bob", "team-a");
    works_for(&servers, "ann", "team-a");
    assert!(picture(&settings(&servers, "bob", "team-b")).machines.is_empty());
}

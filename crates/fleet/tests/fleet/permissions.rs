//! Teams on one server: the configuration that we write lets each team do all of its own work, and nothing of another's.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{
    self, LOOK_EVERY, Node, PATIENCE, Servers, Station, block_on, free_port, open, told, until,
};
use overtone_fleet::{
    Complaints, Deed, Link, Machine, Names, NotPulled, Picture, Pull, Pulled, Reply, ServerConfig,
    ServerFiles, Settings, connect_listening,
};
use overtone_store::{SessionId, files};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

/// For what never comes, so any limit will do.
const NEVER: Duration = Duration::from_millis(300);

/// A server that runs with a configuration of ours, as it was written.
struct Written {
    servers: Servers,
    files: ServerFiles,
}

impl Written {
    fn start() -> Self {
        let (dir, port) = (tempfile::tempdir().unwrap(), free_port());
        let files = config(&dir, port).write().unwrap();
        let arguments = vec!["-c".to_owned(), files.config.display().to_string()];
        Self { servers: Servers { nodes: vec![Node::start(arguments, port)], dir }, files }
    }

    /// The settings of a machine that has got the files of a team, and reaches for the names of one.
    fn settings(&self, team: &str, prefix: &str) -> Settings {
        let login = self.files.logins.iter().find(|(name, _)| name == team).map(|(_, path)| path.clone());
        let port = self.servers.nodes[0].port;
        Settings {
            urls: vec![format!("tls://127.0.0.1:{port}")],
            login,
            ca: Some(self.files.ca.clone()),
            names: Names::new(prefix).unwrap(),
            ..self.servers.settings("none")
        }
    }
}

fn config(dir: &TempDir, port: u16) -> ServerConfig {
    let teams = ["team-a", "team.b"].map(|prefix| Names::new(prefix).unwrap());
    let folder = dir.path().join("nats");
    ServerConfig { hosts: vec!["127.0.0.1".to_owned()], port, teams: teams.to_vec(), folder }
}

/// With the same permissions, but without the wall between accounts.
fn in_one_account() -> Written {
    let (dir, port) = (tempfile::tempdir().unwrap(), free_port());
    let written = config(&dir, port).write().unwrap();
    let text = support::text(&written.config);
    let (head, accounts) = text.split_once("accounts {\n").unwrap();
    let user = |part: &str| {
        let (_, rest) = part.split_once("users: [ ").unwrap();
        rest.split_once(" ]\n  }\n").unwrap().0.to_owned()
    };
    let (first, second) = accounts.split_once("\"team_b\": {").unwrap();
    let all = format!(
        "{head}accounts {{ ALL: {{ jetstream: enabled, users: [ {}\n{} ] }} }}\n",
        user(first),
        user(second)
    );
    files::write_atomic(&written.config, all.as_bytes(), 0o600).unwrap();
    let arguments = vec!["-c".to_owned(), written.config.display().to_string()];
    Written { servers: Servers { nodes: vec![Node::start(arguments, port)], dir }, files: written }
}

fn machine(station: &Station) -> Machine {
    station.machine()
}

fn picture(settings: &Settings) -> Picture {
    block_on(support::picture(settings))
}

fn pull(to: &Station, session: &str) -> Result<Pulled, NotPulled> {
    let (machine, session, project) = (machine(to), SessionId::parse(session).unwrap(), to.dir.path());
    let pull =
        Pull { home: &to.home, machine: &machine, session: &session, project, user: "ann", take_over: false };
    block_on(async {
        let link = to.link().await;
        pull.run(&link).await
    })
}

/// Everything that a team does, with the permissions that were written and no others.
fn works_for(written: &Written, team: &str) {
    let settings = written.settings(team, team);
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
        let link = Box::pin(Link::with(client, &settings, &one.keyring())).await.unwrap();
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
fn is_closed_to(written: &Written, other: &str, prefix: &str) {
    let (theirs, ours) = (written.settings(prefix, prefix), written.settings(other, "team-x"));
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
            assert!(!matches!(next, Ok(Some(_))), "{other} hears {subject}: {next:?}");
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
fn the_configuration_keeps_teams_apart() {
    let written = Written::start();
    is_closed_to(&written, "team.b", "team-a");
    is_closed_to(&written, "team-a", "team.b");
    works_for(&written, "team-a");
    works_for(&written, "team.b");
}

#[test]
fn its_permissions_alone_guard_subjects_and_buckets() {
    let written = in_one_account();
    is_closed_to(&written, "team.b", "team-a");
    works_for(&written, "team-a");
    assert!(picture(&written.settings("team.b", "team.b")).machines.is_empty());
}

#[test]
fn nobody_gets_in_without_the_login_or_without_encryption() {
    let written = Written::start();
    let right = written.settings("team-a", "team-a");
    block_on(open(&right));
    let port = written.servers.nodes[0].port;
    let wrong_login = written.servers.dir.path().join("wrong.login");
    files::write_atomic(&wrong_login, b"team-a:guessed\n", 0o600).unwrap();
    for wrong in [
        Settings { login: None, ..right.clone() },
        Settings { login: Some(wrong_login), ..right.clone() },
        Settings { ca: None, ..right.clone() },
        Settings { urls: vec![format!("nats://127.0.0.1:{port}")], ca: None, ..right },
    ] {
        assert!(block_on(support::try_open(&wrong)).is_err(), "{wrong:?}");
    }
}

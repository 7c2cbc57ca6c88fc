//! Several teams on one server: with the generated configuration each team can work, but cannot access another team.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{self, POLL_INTERVAL, Servers, TIMEOUT, TestMachine, block_on, open, published_events};
use overtone_fleet::{
    FleetSnapshot, Link, Names, OrderCommand, OrderOutcome, Pull, PullError, PullSummary, ServerConfig,
    ServerErrors, ServerFiles, Settings, connect_recording_errors,
};
use overtone_store::{SessionId, files};
use overtone_testkit::nats::{NatsServer, free_port};
use overtone_testkit::wait_until;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

/// For messages that never arrive, so any timeout will do.
const SHORT_TIMEOUT: Duration = Duration::from_millis(300);

/// A server that runs with the generated configuration.
struct ConfiguredServer {
    servers: Servers,
    files: ServerFiles,
}

impl ConfiguredServer {
    fn start() -> Self {
        let (dir, port) = (tempfile::tempdir().unwrap(), free_port());
        let files = config(&dir, port).write().unwrap();
        let arguments = vec!["-c".to_owned(), files.config.display().to_string()];
        Self {
            servers: Servers { nodes: vec![NatsServer::start_with_arguments(port, arguments)], dir },
            files,
        }
    }

    /// The settings of a machine with the login of `team` and the names of `prefix`.
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

/// A server with the same permissions, but with all users in one account.
fn start_in_one_account() -> ConfiguredServer {
    let (dir, port) = (tempfile::tempdir().unwrap(), free_port());
    let written = config(&dir, port).write().unwrap();
    let text = support::read_or_empty(&written.config);
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
    ConfiguredServer {
        servers: Servers { nodes: vec![NatsServer::start_with_arguments(port, arguments)], dir },
        files: written,
    }
}

fn snapshot(settings: &Settings) -> FleetSnapshot {
    block_on(support::snapshot(settings))
}

fn pull(to: &TestMachine, session: &str) -> Result<PullSummary, PullError> {
    let (machine, session, project) = (to.machine(), SessionId::parse(session).unwrap(), to.dir.path());
    let pull =
        Pull { home: &to.home, machine: &machine, session: &session, project, user: "ann", take_over: false };
    block_on(async {
        let link = to.link().await;
        pull.run(&link).await
    })
}

/// Checks that a team can do everything with the generated permissions.
fn assert_team_works(written: &ConfiguredServer, team: &str) {
    let settings = written.settings(team, team);
    let (one, two) = (TestMachine::new(&settings, "one"), TestMachine::new(&settings, "two"));
    one.workflow("s");
    (0..30).for_each(|n| one.append("s", n));
    let (relay, _other) = (one.relay(), two.relay());
    wait_until("it is shown", || {
        let snapshot = snapshot(&settings);
        snapshot.machines.iter().filter(|view| view.is_present).count() == 2 && !snapshot.sessions.is_empty()
    });
    wait_until("every event is there", || {
        published_events(&settings).unwrap_or_default().into_values().flatten().eq(0..30)
    });
    let server_errors = ServerErrors::default();
    let reply = block_on(async {
        let client = connect_recording_errors(&settings, "test", &server_errors).await.unwrap();
        let link = Box::pin(Link::with_client(client, &settings, &one.keyring())).await.unwrap();
        link.check_read_write("m").await.unwrap();
        support::order(&link, &one.machine().id, "s", OrderCommand::Stop, "ann").await
    });
    assert_eq!((reply, server_errors.all()), (OrderOutcome::Done, Vec::new()));
    assert_eq!(pull(&two, "s").unwrap().from, "one");
    wait_until("nothing is wrong", || relay.status().problem.is_none());
}

/// Waits until the server has processed all messages of this client. A rejected publish serves as the marker, because
/// errors are sent in order.
async fn wait_for_server(client: &async_nats::Client, server_errors: &ServerErrors) {
    static REFUSED: AtomicUsize = AtomicUsize::new(0);
    let subject = format!("nobody.may.{}.", REFUSED.fetch_add(1, Ordering::Relaxed)) + "say";
    client.publish(subject.clone(), "".into()).await.unwrap();
    client.flush().await.unwrap();
    let is_refused = async {
        while !server_errors.all().iter().any(|text| text.to_lowercase().contains(&subject)) {
            sleep(POLL_INTERVAL).await;
        }
    };
    timeout(TIMEOUT, is_refused).await.expect("the server refuses it");
}

/// Checks that the user of another team can neither read nor write the data of this one.
fn assert_isolated_from(written: &ConfiguredServer, other: &str, prefix: &str) {
    let (theirs, ours) = (written.settings(prefix, prefix), written.settings(other, "team-x"));
    let server_errors = ServerErrors::default();
    block_on(async {
        let link = open(&theirs).await;
        let client = connect_recording_errors(&ours, "thief", &server_errors).await.unwrap();
        let mut thief = async_nats::jetstream::new(client.clone());
        thief.set_timeout(SHORT_TIMEOUT);
        // Reading: subjects, inboxes, streams, buckets, consumers.
        for subject in [format!("{prefix}.>"), "_INBOX.>".to_owned(), "$KV.>".to_owned(), ">".to_owned()] {
            let mut heard = client.subscribe(subject.clone()).await.unwrap();
            wait_for_server(&client, &server_errors).await;
            link.claims.put("session.x", "secret".into()).await.unwrap();
            wait_for_server(&client, &server_errors).await;
            let next = timeout(SHORT_TIMEOUT, futures_util::StreamExt::next(&mut heard)).await;
            assert!(!matches!(next, Ok(Some(_))), "{other} hears {subject}: {next:?}");
        }
        assert!(thief.get_stream(theirs.names.events_stream()).await.is_err());
        assert!(thief.get_key_value(theirs.names.claims_bucket()).await.is_err());
        // Writing: events, orders, values.
        let before = link.orders.get_info().await.unwrap().state.messages;
        for subject in [
            theirs.names.events_subject("m", "s"),
            theirs.names.orders_subject("m"),
            format!("$KV.{}.session.x", theirs.names.claims_bucket()),
        ] {
            client.publish(subject, "forged".into()).await.unwrap();
        }
        wait_for_server(&client, &server_errors).await;
        assert_eq!(link.orders.get_info().await.unwrap().state.messages, before);
        assert_eq!(link.claims.get("session.x").await.unwrap().unwrap(), "secret");
        assert_eq!(link.events.get_info().await.unwrap().state.messages, 0);
        link.claims.delete("session.x").await.unwrap();
    });
    assert!(
        server_errors.all().iter().any(|text| text.to_lowercase().contains("permissions violation")),
        "{server_errors:?}"
    );
}

#[test]
fn the_configuration_isolates_teams() {
    let written = ConfiguredServer::start();
    assert_isolated_from(&written, "team.b", "team-a");
    assert_isolated_from(&written, "team-a", "team.b");
    assert_team_works(&written, "team-a");
    assert_team_works(&written, "team.b");
}

#[test]
fn the_permissions_alone_protect_subjects_and_buckets() {
    let written = start_in_one_account();
    assert_isolated_from(&written, "team.b", "team-a");
    assert_team_works(&written, "team-a");
    assert!(snapshot(&written.settings("team.b", "team.b")).machines.is_empty());
}

#[test]
fn connections_without_login_or_encryption_are_rejected() {
    let written = ConfiguredServer::start();
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

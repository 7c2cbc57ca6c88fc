//! The mirror with real servers and relays: the files of all machines in one home, each line once.

use std::path::PathBuf;

use crate::support::{Servers, Station, block_on, event, open, text, until};
use overtone_fleet::{
    Claim, Insist, Machine, MachineInfo, Mirror, MirrorSetup, Pull, Share, claim, feature_claim, state_key,
    timeline,
};
use overtone_store::{Home, SessionId};
use overtone_view::TOLD_FILE;
use serde_json::{Value, json};

/// Somebody who only looks.
struct Watcher(Station);

impl Watcher {
    fn new(settings: &overtone_fleet::Settings) -> Self {
        Self(Station::new(settings, "watcher"))
    }

    fn own_home(&self) -> Home {
        self.0.home.clone()
    }

    fn start(&self) -> Mirror {
        Mirror::start(MirrorSetup { home: self.own_home(), settings: self.0.settings.clone() }).unwrap()
    }

    fn file(&self, session: &str, name: &str) -> PathBuf {
        let id = SessionId::parse(session).unwrap();
        Mirror::home(&self.own_home()).session(&id).dir().join(name)
    }

    fn timeline(&self, session: &str) -> String {
        text(&self.file(session, "timeline.jsonl"))
    }

    fn json(&self, session: &str, name: &str) -> Value {
        serde_json::from_str(&text(&self.file(session, name))).unwrap_or_default()
    }

    fn sessions(&self) -> Vec<String> {
        let sessions = Mirror::home(&self.own_home()).sessions().unwrap();
        let mut names: Vec<_> = sessions.iter().map(|session| session.id().to_string()).collect();
        names.sort();
        names
    }
}

fn machine(station: &Station) -> Machine {
    station.machine()
}

fn full(servers: &Servers) -> overtone_fleet::Settings {
    overtone_fleet::Settings { share: Share::Full, ..servers.settings("a") }
}

/// As it is on the server, line by line.
fn told(station: &Station, session: &str) -> String {
    let batches = block_on(async {
        let link = open(&station.settings).await;
        timeline(&link, &machine(station).id, session).await.unwrap()
    });
    batches.iter().flat_map(|batch| &batch.lines).map(|line| line.clone() + "\n").collect()
}

fn own(station: &Station, session: &str) -> String {
    text(&station.session(session).timeline_file())
}

#[test]
fn sessions_of_all_machines_are_there_byte_for_byte() {
    let servers = Servers::one();
    let settings = full(&servers);
    let (one, two) = (Station::new(&settings, "one"), Station::new(&settings, "two"));
    one.workflow("s.1");
    two.workflow("t");
    (0..700).for_each(|n| one.append("s.1", n));
    (0..5).for_each(|n| two.append("t", n));
    one.session("s.1").save_handoff("handoffs/01-DEV-developer.md", "what was done").unwrap();
    let watcher = Watcher::new(&settings);
    // One is told of before the mirror is there, the other after it.
    let _first = one.relay();
    until("it was told", || told(&one, "s.1") == own(&one, "s.1"));
    let mirror = watcher.start();
    let _second = two.relay();
    until("all is there", || {
        watcher.timeline("s.1") == own(&one, "s.1") && watcher.timeline("t") == own(&two, "t")
    });
    (5..50).for_each(|n| two.append("t", n));
    until("what came later, too", || watcher.timeline("t") == own(&two, "t"));
    until("the state is the same", || {
        watcher.json("t", "workflow.json")
            == serde_json::from_str::<Value>(&text(&two.session("t").workflow_file())).unwrap()
    });
    assert_eq!(
        watcher.json("s.1", "session.json")["machine"],
        json!({ "id": machine(&one).id, "name": "one" })
    );
    assert_eq!(watcher.json("s.1", TOLD_FILE)["state"], "running");
    until("messages of agents", || {
        text(&watcher.file("s.1", "handoffs/01-DEV-developer.md")) == "what was done"
    });
    until("both machines are seen", || mirror.machines().iter().filter(|view| view.is_present).count() == 2);
    assert_eq!(mirror.owner("t"), Some((machine(&two).id, "two".to_owned())));
    until("all is well", || {
        let status = mirror.status();
        (status.is_connected, status.foreign, status.problem) == (true, 0, None)
    });
}

#[test]
fn without_texts_it_is_what_was_told() {
    let servers = Servers::one();
    let station = Station::new(&servers.settings("a"), "one");
    station.workflow("s");
    (0..20).for_each(|n| station.append("s", n));
    let watcher = Watcher::new(&station.settings);
    let (_relay, _mirror) = (station.relay(), watcher.start());
    until("all is there", || watcher.timeline("s").lines().count() == 20);
    assert_eq!(watcher.timeline("s"), told(&station, "s"));
}

#[test]
fn one_that_was_killed_writes_nothing_twice() {
    let servers = Servers::one();
    let station = Station::new(&full(&servers), "one");
    station.workflow("s");
    let watcher = Watcher::new(&station.settings);
    let _relay = station.relay();
    for round in 0..3 {
        (round * 40..(round + 1) * 40).for_each(|n| station.append("s", n));
        let mirror = watcher.start();
        until("all is there", || watcher.timeline("s") == own(&station, "s"));
        drop(mirror);
        // A kill before the notes were written leaves more in the file than they say.
        let strange = format!("{}\n", event("s", 9999));
        overtone_store::files::append_lines(&watcher.file("s", "timeline.jsonl"), &strange).unwrap();
        (round == 1)
            .then(|| std::fs::remove_file(watcher.own_home().root().join("fleet/mirror/mirror.json")));
        // A file that has lost something is fetched anew.
        (round == 2).then(|| std::fs::remove_file(watcher.file("s", "timeline.jsonl")));
    }
    let _mirror = watcher.start();
    until("all is there again", || watcher.timeline("s") == own(&station, "s"));
}

#[test]
fn a_server_that_is_killed_is_found_again() {
    let mut servers = Servers::one();
    let station = Station::new(&full(&servers), "one");
    station.workflow("s");
    station.append("s", 0);
    let watcher = Watcher::new(&station.settings);
    let (_relay, mirror) = (station.relay(), watcher.start());
    until("it is there", || watcher.timeline("s") == own(&station, "s"));
    // The first attempt may have failed, and its problem is cleared only after the files are there.
    until("it is connected", || mirror.status().is_connected);
    servers.nodes[0].kill();
    (1..30).for_each(|n| station.append("s", n));
    until("it says what is wrong", || mirror.status().problem.is_some());
    assert!(mirror.link().is_none());
    servers.nodes[0].restart();
    until("all is there", || watcher.timeline("s") == own(&station, "s"));
    until("all is well", || mirror.status().problem.is_none());
}

#[test]
fn streams_that_were_deleted_are_followed_again() {
    let servers = Servers::one();
    let station = Station::new(&full(&servers), "one");
    station.workflow("s");
    (0..20).for_each(|n| station.append("s", n));
    let watcher = Watcher::new(&station.settings);
    let (_relay, _mirror) = (station.relay(), watcher.start());
    until("it is there", || watcher.timeline("s") == own(&station, "s"));
    block_on(async {
        let link = open(&station.settings).await;
        link.context.delete_stream(link.names.events_stream()).await.unwrap();
        link.context.delete_key_value(link.names.sessions_bucket()).await.unwrap();
    });
    (20..30).for_each(|n| station.append("s", n));
    until("all is there again", || {
        watcher.timeline("s") == own(&station, "s") && watcher.json("s", TOLD_FILE)["state"] == "running"
    });
}

#[test]
fn a_moved_session_is_shown_once_and_a_deleted_one_no_more() {
    let servers = Servers::one();
    let settings = full(&servers);
    let (one, two) = (Station::new(&settings, "one"), Station::new(&settings, "two"));
    one.workflow("s");
    one.workflow("gone");
    (0..30).for_each(|n| one.append("s", n));
    let watcher = Watcher::new(&settings);
    let (_first, _second, mirror) = (one.relay(), two.relay(), watcher.start());
    until("both are there", || {
        watcher.timeline("s") == own(&one, "s") && watcher.sessions() == ["gone", "s"]
    });
    let (project, session) = (two.dir.path().join("project"), SessionId::parse("s").unwrap());
    let here = machine(&two);
    let pull = Pull {
        home: &two.home,
        machine: &here,
        session: &session,
        project: &project,
        user: "ann",
        take_over: false,
    };
    block_on(async { pull.run(&two.link().await).await }).unwrap();
    (30..40).for_each(|n| two.append("s", n));
    one.session("gone").remove().unwrap();
    until("it goes on there", || {
        watcher.json("s", "session.json")["machine"]["name"] == "two"
            && watcher.timeline("s") == own(&two, "s")
    });
    until("the other one is gone", || watcher.sessions() == ["s"]);
    assert_eq!(mirror.owner("s").unwrap().1, "two");
}

#[test]
fn what_is_foreign_is_counted_and_disturbs_nothing() {
    let servers = Servers::one();
    let station = Station::new(&full(&servers), "one");
    station.workflow("s");
    let watcher = Watcher::new(&station.settings);
    let (_relay, mirror) = (station.relay(), watcher.start());
    until("it is there", || watcher.sessions() == ["s"]);
    block_on(async {
        let link = open(&station.settings).await;
        for bytes in ["no JSON", r#"{"v":9,"new":true}"#] {
            let subject = link.names.events_of("stranger", "x");
            link.context.publish(subject, bytes.into()).await.unwrap().await.unwrap();
        }
        link.sessions.put(state_key("stranger", "x"), r#"{"v":8}"#.into()).await.unwrap();
        link.sessions.put(state_key("stranger", "../y"), "[]".into()).await.unwrap();
        link.claims.put("session.x", "?".into()).await.unwrap();
        link.pulse.put("stranger", "{}".into()).await.unwrap();
    });
    station.append("s", 0);
    until("the rest goes on", || watcher.timeline("s") == own(&station, "s"));
    until("they are counted", || {
        let status = mirror.status();
        (status.foreign, status.later, status.problem) == (6, Some(9), None)
    });
    assert_eq!(watcher.sessions(), ["s"]);
}

#[test]
fn two_machines_at_one_feature_are_seen() {
    let servers = Servers::one();
    let settings = servers.settings("a");
    let station = Station::new(&settings, "one");
    station.workflow("s");
    let file = station.session("s").workflow_file();
    let mut state: Value = serde_json::from_str(&text(&file)).unwrap();
    state["featureName"] = json!("login");
    overtone_store::files::write_atomic(&file, state.to_string().as_bytes(), 0o600).unwrap();
    let origin = overtone_store::Origin { project: Some("/nowhere/shop".into()), transcript: None };
    station.session("s").note_origin(&origin).unwrap();
    let other = Station::new(&settings, "other");
    block_on(async {
        let link = other.link().await;
        link.give_sign_of_life(&MachineInfo::new(&other.machine(), "0.0.0", "x")).await.unwrap();
        let key = feature_claim("shop", "login");
        claim(&link, &key, Claim::by(&other.machine(), Some("t")), Insist::No, 0).await.unwrap();
    });
    let watcher = Watcher::new(&settings);
    let (_relay, mirror) = (station.relay(), watcher.start());
    until("both are seen", || mirror.features().iter().any(overtone_fleet::FeatureWork::is_contested));
    let features = mirror.features();
    let names: Vec<_> =
        features[0].workers.iter().map(|worker| (worker.name.as_str(), worker.has_claim)).collect();
    assert_eq!((features[0].feature.as_str(), names), ("login", vec![("other", true), ("one", false)]));
}

#[test]
fn there_is_one_keeper() {
    let servers = Servers::one();
    let watcher = Watcher::new(&servers.settings("a"));
    let mirror = watcher.start();
    let second =
        Mirror::start(MirrorSetup { home: watcher.own_home(), settings: watcher.0.settings.clone() });
    assert_eq!(second.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    drop(mirror);
    watcher.start();
}

//! The mirror with real servers and relays: every line of all machines is copied once.

use std::path::PathBuf;

use crate::support::{Servers, TestMachine, block_on, event, open, read_or_empty};
use overtone_fleet::{
    Claim, MachineInfo, Mirror, MirrorSetup, Pull, Share, TakeOver, claim, feature_claim_key, fetch_timeline,
    state_key,
};
use overtone_session::view::COPY_SUMMARY_FILE;
use overtone_store::{Home, SessionId};
use overtone_testkit::wait_until;
use serde_json::{Value, json};

/// A machine that keeps a mirror.
struct MirrorOwner(TestMachine);

impl MirrorOwner {
    fn new(settings: &overtone_fleet::Settings) -> Self {
        Self(TestMachine::new(settings, "watcher"))
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
        read_or_empty(&self.file(session, "timeline.jsonl"))
    }

    fn json(&self, session: &str, name: &str) -> Value {
        serde_json::from_str(&read_or_empty(&self.file(session, name))).unwrap_or_default()
    }

    fn sessions(&self) -> Vec<String> {
        let sessions = Mirror::home(&self.own_home()).sessions().unwrap();
        let mut names: Vec<_> = sessions.iter().map(|session| session.id().to_string()).collect();
        names.sort();
        names
    }
}

fn full(servers: &Servers) -> overtone_fleet::Settings {
    overtone_fleet::Settings { share: Share::Full, ..servers.settings("a") }
}

/// The lines of a session on the server.
fn published_timeline(machine: &TestMachine, session: &str) -> String {
    let batches = block_on(async {
        let link = open(&machine.settings).await;
        fetch_timeline(&link, &machine.machine().id, session).await.unwrap()
    });
    batches.iter().flat_map(|batch| &batch.lines).map(|line| line.clone() + "\n").collect()
}

fn local_timeline(machine: &TestMachine, session: &str) -> String {
    read_or_empty(&machine.session(session).timeline_file())
}

#[test]
fn sessions_of_all_machines_are_copied_byte_for_byte() {
    let servers = Servers::one();
    let settings = full(&servers);
    let (one, two) = (TestMachine::new(&settings, "one"), TestMachine::new(&settings, "two"));
    one.workflow("s.1");
    two.workflow("t");
    (0..700).for_each(|n| one.append("s.1", n));
    (0..5).for_each(|n| two.append("t", n));
    one.session("s.1").save_handoff("handoffs/01-DEV-developer.md", "what was done").unwrap();
    let owner = MirrorOwner::new(&settings);
    // One session is published before the mirror starts, the other one after it.
    let _first = one.relay();
    wait_until("it was published", || published_timeline(&one, "s.1") == local_timeline(&one, "s.1"));
    let mirror = owner.start();
    let _second = two.relay();
    wait_until("all is there", || {
        owner.timeline("s.1") == local_timeline(&one, "s.1")
            && owner.timeline("t") == local_timeline(&two, "t")
    });
    (5..50).for_each(|n| two.append("t", n));
    wait_until("what came later, too", || owner.timeline("t") == local_timeline(&two, "t"));
    wait_until("the state is the same", || {
        owner.json("t", "workflow.json")
            == serde_json::from_str::<Value>(&read_or_empty(&two.session("t").workflow_file())).unwrap()
    });
    assert_eq!(
        owner.json("s.1", "session.json")["machine"],
        json!({ "id": one.machine().id, "name": "one" })
    );
    assert_eq!(owner.json("s.1", COPY_SUMMARY_FILE)["state"], "running");
    wait_until("messages of agents", || {
        read_or_empty(&owner.file("s.1", "handoffs/01-DEV-developer.md")) == "what was done"
    });
    wait_until("both machines are seen", || {
        mirror.machines().iter().filter(|view| view.is_present).count() == 2
    });
    assert_eq!(mirror.owner("t"), Some((two.machine().id, "two".to_owned())));
    wait_until("all is well", || {
        let status = mirror.status();
        (status.is_connected, status.unreadable, status.problem) == (true, 0, None)
    });
}

#[test]
fn redacted_timelines_are_copied_as_published() {
    let servers = Servers::one();
    let machine = TestMachine::new(&servers.settings("a"), "one");
    machine.workflow("s");
    (0..20).for_each(|n| machine.append("s", n));
    let owner = MirrorOwner::new(&machine.settings);
    let (_relay, _mirror) = (machine.relay(), owner.start());
    wait_until("all is there", || owner.timeline("s").lines().count() == 20);
    assert_eq!(owner.timeline("s"), published_timeline(&machine, "s"));
}

#[test]
fn a_restarted_mirror_writes_no_line_twice() {
    let servers = Servers::one();
    let machine = TestMachine::new(&full(&servers), "one");
    machine.workflow("s");
    let owner = MirrorOwner::new(&machine.settings);
    let _relay = machine.relay();
    for round in 0..3 {
        (round * 40..(round + 1) * 40).for_each(|n| machine.append("s", n));
        let mirror = owner.start();
        wait_until("all is there", || owner.timeline("s") == local_timeline(&machine, "s"));
        drop(mirror);
        // A crash before the positions are saved leaves more lines in the file than recorded.
        let strange = format!("{}\n", event("s", 9999));
        overtone_store::files::append_lines(&owner.file("s", "timeline.jsonl"), &strange).unwrap();
        (round == 1).then(|| std::fs::remove_file(owner.own_home().root().join("fleet/mirror/mirror.json")));
        // A file that is too short is fetched again.
        (round == 2).then(|| std::fs::remove_file(owner.file("s", "timeline.jsonl")));
    }
    let _mirror = owner.start();
    wait_until("all is there again", || owner.timeline("s") == local_timeline(&machine, "s"));
}

#[test]
fn the_mirror_reconnects_to_a_restarted_server() {
    let mut servers = Servers::one();
    let machine = TestMachine::new(&full(&servers), "one");
    machine.workflow("s");
    machine.append("s", 0);
    let owner = MirrorOwner::new(&machine.settings);
    let (_relay, mirror) = (machine.relay(), owner.start());
    wait_until("it is there", || owner.timeline("s") == local_timeline(&machine, "s"));
    // The first attempt may have failed, and its problem is cleared only after the files are there.
    wait_until("it is connected", || mirror.status().is_connected);
    servers.nodes[0].kill();
    (1..30).for_each(|n| machine.append("s", n));
    wait_until("it says what is wrong", || mirror.status().problem.is_some());
    assert!(mirror.link().is_none());
    servers.nodes[0].restart();
    wait_until("all is there", || owner.timeline("s") == local_timeline(&machine, "s"));
    wait_until("all is well", || mirror.status().problem.is_none());
}

#[test]
fn deleted_streams_are_followed_again() {
    let servers = Servers::one();
    let machine = TestMachine::new(&full(&servers), "one");
    machine.workflow("s");
    (0..20).for_each(|n| machine.append("s", n));
    let owner = MirrorOwner::new(&machine.settings);
    let (_relay, _mirror) = (machine.relay(), owner.start());
    wait_until("it is there", || owner.timeline("s") == local_timeline(&machine, "s"));
    block_on(async {
        let link = open(&machine.settings).await;
        link.context.delete_stream(link.names.events_stream()).await.unwrap();
        link.context.delete_key_value(link.names.sessions_bucket()).await.unwrap();
    });
    (20..30).for_each(|n| machine.append("s", n));
    wait_until("all is there again", || {
        owner.timeline("s") == local_timeline(&machine, "s")
            && owner.json("s", COPY_SUMMARY_FILE)["state"] == "running"
    });
}

#[test]
fn a_moved_session_is_listed_once_and_a_deleted_one_is_removed() {
    let servers = Servers::one();
    let settings = full(&servers);
    let (one, two) = (TestMachine::new(&settings, "one"), TestMachine::new(&settings, "two"));
    one.workflow("s");
    one.workflow("gone");
    (0..30).for_each(|n| one.append("s", n));
    let owner = MirrorOwner::new(&settings);
    let (_first, _second, mirror) = (one.relay(), two.relay(), owner.start());
    wait_until("both are there", || {
        owner.timeline("s") == local_timeline(&one, "s") && owner.sessions() == ["gone", "s"]
    });
    let (project, session) = (two.dir.path().join("project"), SessionId::parse("s").unwrap());
    let here = two.machine();
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
    wait_until("it goes on there", || {
        owner.json("s", "session.json")["machine"]["name"] == "two"
            && owner.timeline("s") == local_timeline(&two, "s")
    });
    wait_until("the other one is gone", || owner.sessions() == ["s"]);
    assert_eq!(mirror.owner("s").unwrap().1, "two");
}

#[test]
fn unreadable_messages_are_counted_and_skipped() {
    let servers = Servers::one();
    let machine = TestMachine::new(&full(&servers), "one");
    machine.workflow("s");
    let owner = MirrorOwner::new(&machine.settings);
    let (_relay, mirror) = (machine.relay(), owner.start());
    wait_until("it is there", || owner.sessions() == ["s"]);
    block_on(async {
        let link = open(&machine.settings).await;
        for bytes in ["no JSON", r#"{"v":9,"new":true}"#] {
            let subject = link.names.events_subject("stranger", "x");
            link.context.publish(subject, bytes.into()).await.unwrap().await.unwrap();
        }
        link.sessions.put(state_key("stranger", "x"), r#"{"v":8}"#.into()).await.unwrap();
        link.sessions.put(state_key("stranger", "../y"), "[]".into()).await.unwrap();
        link.claims.put("session.x", "?".into()).await.unwrap();
        link.heartbeats.put("stranger", "{}".into()).await.unwrap();
    });
    machine.append("s", 0);
    wait_until("the rest goes on", || owner.timeline("s") == local_timeline(&machine, "s"));
    wait_until("they are counted", || {
        let status = mirror.status();
        (status.unreadable, status.newer_version, status.problem) == (6, Some(9), None)
    });
    assert_eq!(owner.sessions(), ["s"]);
}

#[test]
fn two_machines_on_one_feature_are_contested() {
    let servers = Servers::one();
    let settings = servers.settings("a");
    let machine = TestMachine::new(&settings, "one");
    machine.workflow("s");
    let file = machine.session("s").workflow_file();
    let mut state: Value = serde_json::from_str(&read_or_empty(&file)).unwrap();
    state["featureName"] = json!("login");
    overtone_store::files::write_atomic(&file, state.to_string().as_bytes(), 0o600).unwrap();
    let origin = overtone_store::Origin { project: Some("/nowhere/shop".into()), transcript: None };
    machine.session("s").note_origin(&origin).unwrap();
    let other = TestMachine::new(&settings, "other");
    block_on(async {
        let link = other.link().await;
        link.publish_heartbeat(&MachineInfo::new(&other.machine(), "0.0.0", "x")).await.unwrap();
        let key = feature_claim_key("shop", "login");
        claim(&link, &key, Claim::new(&other.machine(), Some("t")), TakeOver::Never, 0).await.unwrap();
    });
    let owner = MirrorOwner::new(&settings);
    let (_relay, mirror) = (machine.relay(), owner.start());
    wait_until("both are seen", || mirror.features().iter().any(overtone_fleet::FeatureWork::is_contested));
    let features = mirror.features();
    let names: Vec<_> =
        features[0].workers.iter().map(|worker| (worker.name.as_str(), worker.has_claim)).collect();
    assert_eq!((features[0].feature.as_str(), names), ("login", vec![("other", true), ("one", false)]));
}

#[test]
fn a_home_has_one_mirror() {
    let servers = Servers::one();
    let owner = MirrorOwner::new(&servers.settings("a"));
    let mirror = owner.start();
    let second = Mirror::start(MirrorSetup { home: owner.own_home(), settings: owner.0.settings.clone() });
    assert_eq!(second.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    drop(mirror);
    owner.start();
}

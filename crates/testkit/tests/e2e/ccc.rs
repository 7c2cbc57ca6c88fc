//! `ccc` with the real clients: the provider that was asked for gets the requests, with its own token, and no other.

use std::fs;
use std::thread;

use overtone_testkit::{Actor, Client, Mock, Run, Sandbox, Script, text, tool};
use serde_json::{Value, json};

const TOKENS: [&str; 2] = ["token-of-a", "token-of-b"];

/// Two providers, each a server of its own.
struct Two {
    sandbox: Sandbox,
    mocks: [Mock; 2],
}

impl Two {
    fn new(client: &Client) -> Self {
        let sandbox = Sandbox::new(client);
        let mocks =
            ["from a", "from b"].map(|words| Mock::start(Script::default().main_with(move |_| text(words))));
        sandbox.put_providers(&[("a", &mocks[0], TOKENS[0]), ("b", &mocks[1], TOKENS[1])]);
        Self { sandbox, mocks }
    }

    fn start(&self, words: &[&str], which: usize) -> Run {
        self.sandbox.ccc(words).run("hello", &self.mocks[which])
    }

    /// The run was answered by this provider, asked with its token, and the other one was not asked at all.
    #[track_caller]
    fn assert_on(&self, run: &Run, which: usize) {
        assert_answered(run, which);
        let other = self.mocks[1 - which].take();
        assert!(other.is_empty(), "{} requests went to the wrong provider", other.len());
    }

    fn files(&self) -> [Option<String>; 2] {
        let config = self.sandbox.home().join(".claude/ccc.json");
        [self.sandbox.settings_file(), config].map(|file| fs::read_to_string(file).ok())
    }
}

#[track_caller]
fn assert_answered(run: &Run, which: usize) {
    assert_eq!(run.result_text(), ["from a", "from b"][which], "{}", run.stderr);
    assert!(!run.all_requests().is_empty());
    assert!(run.all_requests().iter().all(|request| request.has_token(TOKENS[which])), "a foreign token");
}

#[test]
fn one_after_the_other_each_start_reaches_its_provider() {
    for client in Client::all() {
        let two = Two::new(&client);
        for (words, which) in [("a", 0), ("b", 1), ("a", 0)] {
            two.assert_on(&two.start(&[words], which), which);
        }
        // Without a name it is the current one, and arguments reach the client.
        two.assert_on(&two.start(&[], 0), 0);
        let session = two.sandbox.new_session();
        let run = two.sandbox.ccc(&["b"]).arg("--session-id").arg(&session).run("hello", &two.mocks[1]);
        assert_eq!(run.session_id, session);
        two.assert_on(&run, 1);
    }
}

#[test]
fn a_key_in_the_environment_does_not_go_to_the_provider() {
    for client in Client::all() {
        let two = Two::new(&client);
        let launch = two.sandbox.ccc(&["b"]).env("ANTHROPIC_BASE_URL", two.mocks[0].url());
        two.assert_on(&launch.env("ANTHROPIC_AUTH_TOKEN", "my-own").run("hello", &two.mocks[1]), 1);
    }
}

#[test]
fn two_at_once_reach_two_providers_and_change_nothing() {
    for client in Client::all() {
        let two = Two::new(&client);
        let settings = "{\n  \"env\": { \"ANTHROPIC_MODEL\": \"mine\" }, \"n\": 1.50\n}";
        fs::write(two.sandbox.settings_file(), settings).unwrap();
        let before = two.files();
        let start = |name, which| two.start(&["run", "--isolated", name, "--"], which);
        let (a, b) = thread::scope(|scope| {
            let a = scope.spawn(|| start("a", 0));
            let b = start("b", 1);
            (a.join().unwrap(), b)
        });
        assert_answered(&a, 0);
        assert_answered(&b, 1);
        assert_eq!(two.files(), before);
        assert_eq!(a.requests(Actor::Main).first().body()["model"], "mine");
    }
}

#[test]
fn the_provider_of_the_settings_does_not_shine_through() {
    for client in Client::all() {
        let two = Two::new(&client);
        let file = two.sandbox.home().join(".claude/ccc.json");
        let mut config: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        config["providers"]["a"]["env"]["ANTHROPIC_MODEL"] = json!("model-of-a");
        fs::write(&file, config.to_string()).unwrap();
        let model = |run: &Run| run.requests(Actor::Main).first().body()["model"].clone();
        let run = two.start(&["a"], 0);
        assert_eq!(model(&run), "model-of-a");
        let before = two.files();
        let run = two.start(&["run", "--isolated", "b", "--"], 1);
        two.assert_on(&run, 1);
        assert_ne!(model(&run), "model-of-a");
        assert_eq!(two.files(), before);
    }
}

#[test]
fn a_project_with_a_pin_reaches_its_provider() {
    for client in Client::all() {
        let two = Two::new(&client);
        two.sandbox.put_file(".ccc.json", r#"{"provider": "b"}"#);
        let before = two.files();
        two.assert_on(&two.start(&[], 1), 1);
        assert_eq!(two.files(), before);
        two.assert_on(&two.start(&["a"], 0), 0);
    }
}

/// The settings are on `a`; the session, and so its reviewer, is not.
#[test]
fn the_reviewer_of_a_private_start_is_on_the_same_provider() {
    for client in Client::all() {
        let two = Two::new(&client);
        two.start(&["a"], 0);
        let verdict = json!({"completed": true, "feedback": "good"});
        let judge = Mock::start(
            Script::default().main([text("from b")]).reviewer("JUDGE", [tool("StructuredOutput", verdict)]),
        );
        fs::write(two.sandbox.home().join(".claude/SUPERVISOR.md"), "JUDGE THE WORK").unwrap();
        two.sandbox.put_providers(&[("a", &two.mocks[0], TOKENS[0]), ("b", &judge, TOKENS[1])]);
        let launch = two.sandbox.ccc(&["run", "--isolated", "b", "--"]).env("CCC_SUPERVISOR", "1");
        let run = launch.run("hello", &judge);
        assert!(run.requests(Actor::Main).iter().all(|request| request.has_token(TOKENS[1])));
        let strayed = two.mocks[0].take();
        assert!(strayed.is_empty(), "the reviewer sent the session to another provider");
        assert!(!run.requests(Actor::Reviewer).is_empty());
        assert_answered(&run, 1);
    }
}

//! `ccc` with the real clients: the provider that was asked for gets the requests, with its own token, and no other.

use std::fs;
use std::thread;

use overtone_testkit::{Actor, Client, Exit, Mock, Run, Sandbox, Script, text, tool};
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
fn consecutive_starts_reach_their_providers() {
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

/// What a developer's terminal may have exported: the other server, and keys for it, for Anthropic and for clouds.
fn exported(two: &Two) -> Vec<(&'static str, String)> {
    let plain = [
        ("ANTHROPIC_AUTH_TOKEN", "my-own-token"),
        ("ANTHROPIC_API_KEY", "sk-ant-my-own-key"),
        ("CLAUDE_CODE_OAUTH_TOKEN", "my-own-login"),
        ("CLAUDE_CODE_USE_BEDROCK", "1"),
        ("AWS_ACCESS_KEY_ID", "AKIAMYOWN"),
        ("AWS_SECRET_ACCESS_KEY", "my-own-aws"),
        ("AWS_REGION", "eu-west-1"),
        ("ANTHROPIC_CUSTOM_HEADERS", "x-my-own: 1"),
    ];
    let mut all: Vec<_> = plain.map(|(name, value)| (name, value.to_owned())).into();
    all.push(("ANTHROPIC_BASE_URL", two.mocks[0].url()));
    all.push(("ANTHROPIC_BEDROCK_BASE_URL", two.mocks[0].url()));
    all
}

#[test]
fn keys_in_the_environment_do_not_go_to_the_provider() {
    for client in Client::all() {
        let two = Two::new(&client);
        for words in [["b"].as_slice(), &["run", "--isolated", "b", "--"]] {
            let launch = two.sandbox.ccc(words);
            let launch =
                exported(&two).into_iter().fold(launch, |launch, (name, value)| launch.env(name, value));
            let run = launch.run("hello", &two.mocks[1]);
            two.assert_on(&run, 1);
            assert!(run.all_requests().iter().all(|request| request.header("x-my-own").is_none()));
        }
        // One of them alone is enough to do harm.
        for (name, value) in exported(&two) {
            two.assert_on(&two.sandbox.ccc(&["b"]).env(name, value).run("hello", &two.mocks[1]), 1);
        }
    }
}

#[test]
fn logins_that_the_client_has_stored_do_not_go_to_the_provider() {
    for client in Client::all() {
        let two = Two::new(&client);
        let (global, login) =
            (two.sandbox.home().join(".claude.json"), two.sandbox.home().join(".claude/.credentials.json"));
        let oauth = json!({"claudeAiOauth": {
            "accessToken": "sk-ant-oat01-dummy", "refreshToken": "sk-ant-ort01-dummy", "expiresAt": 9_999_999_999_999_u64,
            "scopes": ["user:inference", "user:profile"], "subscriptionType": "max"
        }});
        fs::write(global, json!({"primaryApiKey": "sk-ant-stored-dummy-key"}).to_string()).unwrap();
        fs::write(login, oauth.to_string()).unwrap();
        for words in [["b"].as_slice(), &["run", "--isolated", "b", "--"]] {
            two.assert_on(&two.start(words, 1), 1);
        }
        // A server that needs no token gets none of the user's.
        let file = two.sandbox.home().join(".claude/ccc.json");
        let open = json!({"providers": {"open": {"env": {"ANTHROPIC_BASE_URL": two.mocks[1].url()}}}});
        fs::write(file, open.to_string()).unwrap();
        let run = two.start(&["open"], 1);
        assert_eq!(run.result_text(), "from b", "{}", run.stderr);
        assert!(run.all_requests().iter().all(|request| request.has_token("none")));
    }
}

#[test]
fn a_key_helper_of_the_user_does_not_reach_the_provider() {
    for client in Client::all() {
        let two = Two::new(&client);
        fs::write(two.sandbox.settings_file(), r#"{"apiKeyHelper": "echo key-of-mine"}"#).unwrap();
        for words in [["b"].as_slice(), &["run", "--isolated", "b", "--"]] {
            two.assert_on(&two.start(words, 1), 1);
        }
    }
}

/// Each settings file that the client reads wins over the environment.
#[test]
fn settings_with_another_server_do_not_win() {
    for client in Client::all() {
        let two = Two::new(&client);
        let env =
            json!({"env": {"ANTHROPIC_BASE_URL": two.mocks[0].url(), "ANTHROPIC_AUTH_TOKEN": TOKENS[0]}});
        let (home, project) = (two.sandbox.home(), two.sandbox.project());
        for file in [
            home.join(".claude.json"),
            home.join(".claude/settings.json"),
            project.join(".claude/settings.json"),
            project.join(".claude/settings.local.json"),
        ] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            let before = fs::read(&file).ok();
            fs::write(&file, env.to_string()).unwrap();
            let run = two.start(&["b"], 1);
            assert!(run.stderr.contains(&format!("{}:", file.display())), "{}", run.stderr);
            two.assert_on(&run, 1);
            let run = two.sandbox.ccc(&["b"]).env("CCC_SUPERVISOR", "1").run("hello", &two.mocks[1]);
            assert_eq!(run.exit, Exit::Code(1), "{}", run.stderr);
            assert!(run.stderr.contains(&format!("{}:", file.display())), "{}", run.stderr);
            assert!(run.all_requests().is_empty() && two.mocks[0].take().is_empty());
            match before {
                Some(before) => fs::write(&file, before).unwrap(),
                None => fs::remove_file(&file).unwrap(),
            }
        }
    }
}

#[test]
fn a_settings_argument_of_the_user_does_not_win() {
    for client in Client::all() {
        let two = Two::new(&client);
        two.start(&["a"], 0);
        let env =
            json!({"env": {"ANTHROPIC_BASE_URL": two.mocks[0].url(), "ANTHROPIC_API_KEY": "key-of-mine"}});
        two.sandbox.put_file("mine.json", &env.to_string());
        for words in [
            vec!["run", "--isolated", "b", "--", "--settings", "mine.json"],
            vec!["b", "--settings", "mine.json"],
            vec!["b", "--settings=mine.json"],
        ] {
            two.assert_on(&two.start(&words, 1), 1);
        }
    }
}

/// Two terminals: what happens in the one does not move the other, unless it is `ccc use`, which says so.
#[test]
fn a_running_session_stays_on_its_provider() {
    for client in Client::all() {
        let Two { sandbox, mocks: [a, b] } = Two::new(&client);
        let answers_of_a = a.url();
        let terminal = sandbox.ccc(&["a"]).terminal(a);
        terminal.type_line("first");
        terminal.wait_for_screen("from a");
        let run = sandbox.ccc(&["b"]).run("hello", &b);
        assert_answered(&run, 1);
        let settings = fs::read_to_string(sandbox.settings_file()).unwrap_or_default();
        assert!(!settings.contains("token-of") && !settings.contains(&answers_of_a), "{settings}");
        terminal.type_line("second");
        terminal.wait_for_requests(Actor::Main, 2);
        terminal.wait_until_idle();
        assert!(b.take().is_empty(), "the other terminal's session has moved");
        assert!(terminal.requests().iter().all(|request| request.has_token(TOKENS[0])));

        let (exit, said) = sandbox.ccc_output(&["use", "b"]);
        assert_eq!(exit, Exit::Code(0), "{said}");
        let folder = sandbox.project().display().to_string();
        let follower = said.lines().find(|line| line.contains(&folder)).unwrap_or_else(|| panic!("{said}"));
        assert!(follower.contains('a'), "{said}");
        terminal.kill();
    }
}

#[test]
fn two_simultaneous_starts_reach_two_providers_and_change_nothing() {
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
fn an_isolated_start_ignores_the_provider_of_the_settings() {
    for client in Client::all() {
        let two = Two::new(&client);
        let file = two.sandbox.home().join(".claude/ccc.json");
        let mut config: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        config["providers"]["a"]["env"]["ANTHROPIC_MODEL"] = json!("model-of-a");
        fs::write(&file, config.to_string()).unwrap();
        let model = |run: &Run| run.requests(Actor::Main).first().body()["model"].clone();
        let run = two.start(&["a"], 0);
        assert_eq!(model(&run), "model-of-a");
        assert!(two.sandbox.ccc_command(&["use", "a"]));
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
        assert!(two.sandbox.ccc_command(&["use", "a"]));
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

//! The supervisor in the real client, started by `ccc`: work is sent back with the reviewer's words, let go when it
//! agrees, and let go as well when there is no review to be had.

use std::fs;
use std::path::Path;
use std::process::Command;

use overtone_testkit::{Actor, Client, Launch, Mock, Request, Run, Sandbox, Script, Turn, error, text, tool};
use serde_json::{Value, json};

/// What the reviewer's prompt is known by.
const MARKER: &str = "JUDGE THE WORK";

const GUARD: &str = r#"{"decision":"","":""}"#;

/// A home with a provider and a prompt of the user's own for the reviewer.
struct Scene {
    sandbox: Sandbox,
    mock: Mock,
}

impl Scene {
    fn new(client: &Client, write: impl FnOnce(Script, &Sandbox) -> Script) -> Self {
        let sandbox = Sandbox::new(client);
        let script = write(Script::default().reviewer(MARKER, []), &sandbox);
        let mock = Mock::start(script);
        sandbox.put_providers(&[("a", &mock, "token-a")]);
        fs::write(sandbox.home().join(".claude/SUPERVISOR.md"), MARKER).unwrap();
        Self { sandbox, mock }
    }

    /// A scene where the main agent and the reviewer take these turns.
    fn with_turns<const M: usize, const R: usize>(
        client: &Client,
        main: [Turn; M],
        reviewer: [Turn; R],
    ) -> Self {
        Self::new(client, |script, _| script.main(main).actor(Actor::Reviewer, reviewer))
    }

    fn supervised(&self) -> Launch<'_> {
        self.sandbox.ccc(&["a"]).env("CCC_SUPERVISOR", "1")
    }

    fn run(&self, launch: Launch<'_>) -> Run {
        launch.run("fix the door", &self.mock)
    }

    fn state(&self, file: &str) -> String {
        fs::read_to_string(self.sandbox.home().join(".claude/ccc").join(file)).unwrap()
    }

    fn rounds(&self, run: &Run) -> Value {
        let record = self.state(&format!("supervisor-{}.json", run.session_id));
        serde_json::from_str::<Value>(&record).unwrap()["count"].clone()
    }

    /// How many clients were started by the user, and how many as a reviewer.
    fn starts(&self) -> (usize, usize) {
        let started = self.sandbox.clients_started();
        let reviewers = started.iter().filter(|(_, is_reviewer)| *is_reviewer).count();
        (started.len() - reviewers, reviewers)
    }
}

fn verdict(completed: bool, feedback: &str) -> Turn {
    tool("StructuredOutput", json!({"completed": completed, "feedback": feedback}))
}

/// A reviewer that gives this answer every time it is asked, and no second one in the same conversation.
fn always(mut turn: impl FnMut() -> Turn + Send + 'static) -> impl FnMut(&Request) -> Turn + Send + 'static {
    move |request| if request.text_since_answer().contains(MARKER) { turn() } else { text(".") }
}

/// How many conversations the reviewers had.
fn conversations(run: &Run) -> usize {
    let mut sessions: Vec<_> = run.requests(Actor::Reviewer).iter().map(Request::session).collect();
    sessions.sort_unstable();
    sessions.dedup();
    sessions.len()
}

/// The session ended after its first answer, and the user was shown that there was no review, and why.
#[track_caller]
fn assert_not_reviewed(scene: &Scene, run: &Run, kind: &str, reason: &str) {
    assert_eq!(run.requests(Actor::Main).len(), 1, "nobody is sent round in circles");
    assert_eq!(run.result_text(), "done");
    let received: Vec<_> = run.hook_answers("Stop");
    assert_eq!(received.len(), 1, "{received:?}");
    let message = received[0]["systemMessage"].as_str().unwrap_or_else(|| panic!("{received:?}"));
    assert!(message.contains("无法审查") && message.contains(reason), "{message}");
    assert_eq!((scene.rounds(run), scene.starts()), (json!(1), (1, 1)));
    let log = scene.state("hook-invocation.log");
    assert!(log.contains(&format!("not_reviewed={kind}")), "{log}");
}

#[test]
fn incomplete_work_is_sent_back_until_the_reviewer_agrees() {
    for client in Client::all() {
        let scene = Scene::with_turns(
            &client,
            [text("done"), text("now it is")],
            [verdict(false, "the door still creaks"), verdict(true, "good")],
        );
        let run = scene.run(scene.supervised());
        let received = run.requests(Actor::Main).last().new_text();
        assert!(received.contains("the door still creaks"), "{received}");
        assert_eq!((run.requests(Actor::Main).len(), run.result_text()), (2, "now it is"));
        assert_eq!((scene.rounds(&run), scene.starts(), conversations(&run)), (json!(2), (1, 2), 2));
        // The reviewer sees the work itself, on the same provider.
        let review = run.requests(Actor::Reviewer);
        assert!(review.first().text().contains("fix the door") && review.first().text().contains("done"));
        assert!(run.all_requests().iter().all(|request| request.has_token("token-a")));
        assert!(run.stderr.contains("[Supervisor Mode] 日志文件:"), "{}", run.stderr);
    }
}

/// A client that does not know the switch, or a plugin that ignores it.
const KEEP_HOOKS_ON: &str = r#"
if [ "$CCC_SUPERVISOR_HOOK" = 1 ]; then
  for argument do
    [ -f "$argument" ] && sed -i 's/"disableAllHooks": *true/"disableAllHooks": false/' "$argument"
  done
  set -- --include-hook-events "$@"
fi
"#;

#[test]
fn a_reviewer_with_hooks_meets_the_guard_and_no_third_client_is_started() {
    for client in Client::all() {
        let scene = Scene::with_turns(
            &client,
            [text("done"), text("now it is")],
            [verdict(false, "it creaks"), verdict(true, "good")],
        );
        let stops = scene.sandbox.home().join("stops");
        let own = format!("echo \"${{CCC_SUPERVISOR_HOOK:-0}}\" >>'{}'", stops.display());
        let hooks = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": own}]}]}});
        fs::write(scene.sandbox.settings_file(), hooks.to_string()).unwrap();
        scene.sandbox.before_client(KEEP_HOOKS_ON);
        let run = scene.run(scene.supervised());

        // Each of the two stops of the session, and the stop of each reviewer, has run the user's own hook.
        let mut stops: Vec<_> = fs::read_to_string(&stops).unwrap().lines().map(str::to_owned).collect();
        stops.sort();
        assert_eq!(stops, ["0", "0", "1", "1"]);
        let raw = scene.state(&format!("supervisor-{}-output.jsonl", run.session_id));
        let answers: Vec<_> =
            raw.lines().filter_map(stop_answer).filter(|answer| !answer.is_empty()).collect();
        assert_eq!(answers, [GUARD, GUARD], "{raw}");
        assert_eq!((scene.starts(), conversations(&run), scene.rounds(&run)), ((1, 2), 2, json!(2)));
        assert_eq!(run.result_text(), "now it is");
    }
}

/// What a Stop hook answered, if the line of the stream is about one.
fn stop_answer(line: &str) -> Option<String> {
    let line: Value = serde_json::from_str(line).ok()?;
    let is_answer = line["subtype"] == "hook_response" && line["hook_event"] == "Stop";
    is_answer.then(|| line["stdout"].as_str().unwrap_or_default().trim().to_owned())
}

#[test]
fn a_silent_reviewer_is_killed() {
    for client in Client::all() {
        let silent = verdict(false, "too late").delay(3_600_000);
        let scene = Scene::with_turns(&client, [text("done")], [silent]);
        let run = scene.run(scene.supervised().env("CCC_SUPERVISOR_TIMEOUT", "5"));
        assert_not_reviewed(&scene, &run, "timeout", "5 秒");
        let (reviewer, _) = scene.sandbox.clients_started()[1];
        assert!(!Path::new(&format!("/proc/{reviewer}")).exists(), "it is still there");
    }
}

#[test]
fn a_killed_reviewer_lets_the_session_stop() {
    for client in Client::all() {
        let scene = Scene::new(&client, |script, sandbox| {
            let started = sandbox.bin().join("started");
            let kill = move |_: &Request| {
                let text = fs::read_to_string(&started).unwrap();
                let reviewer = text.lines().rev().find_map(|line| line.strip_suffix(" 1")).unwrap();
                assert!(Command::new("kill").args(["-9", reviewer]).status().unwrap().success());
                unread_text()
            };
            script.main([text("done")]).actor_with(Actor::Reviewer, kill)
        });
        let run = scene.run(scene.supervised());
        assert_not_reviewed(&scene, &run, "no-result", "signal: 9");
    }
}

fn unread_text() -> Turn {
    text("nobody is there to read it")
}

#[test]
fn a_broken_connection_lets_the_session_stop() {
    for client in Client::all() {
        let scene = Scene::new(&client, |script, _| {
            let broken = |_: &Request| verdict(false, &"never to be read ".repeat(100)).cut();
            script.main([text("done")]).actor_with(Actor::Reviewer, broken)
        });
        let run = scene.run(scene.supervised().env("CLAUDE_CODE_MAX_RETRIES", "0"));
        assert_not_reviewed(&scene, &run, "reviewer-error", "API Error");
        assert!(!run.requests(Actor::Reviewer).is_empty());
    }
}

#[test]
fn a_provider_error_lets_the_session_stop() {
    for client in Client::all() {
        let scene = Scene::with_turns(&client, [text("done")], [error(401, "authentication_error", "no")]);
        let run = scene.run(scene.supervised());
        assert_not_reviewed(&scene, &run, "reviewer-error", "401");
    }
}

#[test]
fn an_answer_in_prose_is_feedback() {
    for client in Client::all() {
        let prose = || text("The hinge was never oiled.");
        let scene = Scene::with_turns(
            &client,
            [text("done"), text("oiled")],
            [prose(), prose(), verdict(true, "good")],
        );
        let run = scene.run(scene.supervised());
        assert!(run.requests(Actor::Main).nth(1).new_text().contains("The hinge was never oiled."));
        assert_eq!((run.result_text(), scene.rounds(&run)), ("oiled", json!(2)));
    }
}

#[test]
fn truncated_json_is_feedback_and_never_a_pass() {
    for client in Client::all() {
        let half = || text(r#"{"completed": true, "feedb"#);
        let scene = Scene::with_turns(
            &client,
            [text("done"), text("again")],
            [half(), half(), verdict(true, "good")],
        );
        let run = scene.run(scene.supervised());
        assert!(run.requests(Actor::Main).nth(1).new_text().contains(r#"{"completed": true, "feedb"#));
        assert_eq!((run.result_text(), scene.rounds(&run)), ("again", json!(2)));
    }
}

/// A reviewer that never agrees, and finds something else every time.
fn stubborn(script: Script) -> Script {
    let mut round = 0;
    let find = move || {
        round += 1;
        verdict(false, &format!("it still creaks, number {round}"))
    };
    script.actor_with(Actor::Reviewer, always(find))
}

#[test]
fn a_reviewer_that_never_agrees_is_asked_ten_times() {
    for client in Client::all() {
        let scene = Scene::new(&client, |script, _| stubborn(script).main_with(|_| text("done")));
        // The client's own limit is lifted: this one is ours.
        let run = scene.run(scene.supervised().env("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0"));
        assert_eq!(run.requests(Actor::Main).len(), 11);
        assert_eq!((scene.rounds(&run), scene.starts(), conversations(&run)), (json!(10), (1, 10), 10));
        assert_eq!(run.requests(Actor::Main).times_received("it still creaks"), 10);
        assert!(scene.state("hook-invocation.log").contains("iteration limit reached"));
        assert_eq!(run.result_text(), "done");
    }
}

#[test]
fn the_clients_own_limit_can_end_the_rounds_earlier() {
    for client in Client::all() {
        let scene = Scene::new(&client, |script, _| stubborn(script).main_with(|_| text("done")));
        let run = scene.run(scene.supervised());
        let rounds = scene.rounds(&run).as_u64().unwrap();
        assert!((8..=10).contains(&rounds), "{rounds}");
        assert_eq!(u64::try_from(scene.starts().1).unwrap(), rounds);
    }
}

#[test]
fn repeated_feedback_ends_the_rounds() {
    for client in Client::all() {
        let scene = Scene::new(&client, |script, _| {
            let same = always(|| verdict(false, "it still creaks"));
            script.main_with(|_| text("done")).actor_with(Actor::Reviewer, same)
        });
        let run = scene.run(scene.supervised());
        assert_eq!((run.requests(Actor::Main).len(), scene.starts()), (3, (1, 3)));
        let last = run.hook_answers("Stop").pop().unwrap();
        let message = last["systemMessage"].as_str().unwrap_or_else(|| panic!("{last}"));
        assert!(message.contains("没有进展") && message.contains("it still creaks"), "{message}");
    }
}

#[test]
fn the_loop_decides_before_the_supervisor() {
    for client in Client::all() {
        let scene = Scene::new(&client, |script, _| {
            script
                .main([text("done?"), crate::delegate("ot:developer", "fix it"), text("all done")])
                .sub("developer", [text("fixed it <!-- VERDICT: {\"result\":\"PASS\"} -->")])
                .actor(Actor::Reviewer, [verdict(true, "good")])
        });
        let session = scene.sandbox.new_session();
        scene.sandbox.put_workflow(&session, "single");
        let plugin = scene.sandbox.plugin().display().to_string();
        let launch = ["--plugin-dir", &plugin, "--allowedTools", "Agent", "--session-id", &session];
        let run = scene.run(launch.iter().fold(scene.supervised(), |launch, word| launch.arg(word)));
        // The first stop was the loop's alone: the reviewer was asked once, after the last stage.
        assert_eq!((scene.rounds(&run), scene.starts()), (json!(1), (1, 1)));
        assert_eq!(scene.sandbox.workflow(&session)["ending"], "completed");
        assert_eq!(run.result_text(), "all done");
    }
}

/// Order, numbers and spaces are unusual on purpose: they are the user's own.
const SETTINGS: &str =
    "{\n    \"zeta\": 1.50,\n  \"hooks\": {\"Stop\": []},\n\t\"env\": {\"HTTP_PROXY\":\"\"}\n}";

#[test]
fn an_unsupervised_start_removes_the_hook() {
    for client in Client::all() {
        let scene = Scene::new(&client, |script, _| {
            script.main_with(|_| text("done")).actor_with(Actor::Reviewer, always(|| verdict(true, "good")))
        });
        let settings = scene.sandbox.settings_file();
        fs::write(&settings, SETTINGS).unwrap();
        let plain = || scene.run(scene.sandbox.ccc(&["a"]));
        plain();
        let before = fs::read_to_string(&settings).unwrap();

        let run = scene.run(scene.supervised());
        assert!(!run.requests(Actor::Reviewer).is_empty());
        assert!(fs::read_to_string(&settings).unwrap().contains("supervisor-hook"));
        let log = scene.state("hook-invocation.log");

        let run = plain();
        assert_eq!(fs::read_to_string(&settings).unwrap(), before);
        assert!(run.requests(Actor::Reviewer).is_empty() && run.hook_answers("Stop").is_empty());
        assert_eq!((scene.state("hook-invocation.log"), scene.starts()), (log, (3, 1)));
        // Without ccc there is nothing left either once the provider is gone.
        let removed = scene.sandbox.ccc_command(&["remove", "a"]);
        assert_eq!((removed, fs::read_to_string(&settings).unwrap()), (true, SETTINGS.to_owned()));
    }
}

//! The kit against the real clients: it knows each actor, and each option does what it says.

use std::time::Duration;

use overtone_testkit::{Actor, Client, Exit, Request, Sandbox, error, text, tool, tools};
use serde_json::json;

use crate::delegate;

#[test]
fn a_compaction_request_has_its_own_actor() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        // Twice: the client refuses to compact a few messages.
        let first = sandbox.script(|s| s.main([text("the first answer")])).run("one");
        sandbox.script(|s| s).resume(&first.session_id).run("two");
        let manual = sandbox
            .script(|s| s.compaction([text("<summary>what was said</summary>")]))
            .resume(&first.session_id)
            .run("/compact");
        assert!(manual.requests(Actor::Main).is_empty());
        assert!(manual.requests(Actor::Compaction).first().text().contains("the first answer"));
        let later = sandbox.script(|s| s).resume(&first.session_id).run("three");
        assert!(later.requests(Actor::Main).first().text().contains("what was said"));
    }
}

#[test]
fn a_full_context_is_compacted_automatically() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let first = sandbox.script(|s| s.main([text("the first answer")])).run("one");
        let full = tool("Bash", json!({"command": "echo hi"})).usage(195_000);
        let run = sandbox
            .script(|s| s.main([full, text("done")]).compaction([text("<summary>what was said</summary>")]))
            .resume(&first.session_id)
            .env("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "200000")
            .run("two");
        assert!(!run.requests(Actor::Compaction).is_empty());
        assert!(run.requests(Actor::Main).last().new_text().contains("what was said"));
        assert_eq!(run.result_text(), "done");
    }
}

#[test]
fn a_foreign_sub_agent_is_not_the_main_agent() {
    for client in Client::all() {
        let run = Sandbox::new(&client)
            .script(|s| {
                s.main([delegate("general-purpose", "look around"), text("done")])
                    .actor(Actor::ForeignSub, [text("looked")])
            })
            .run("look");
        assert!(run.requests(Actor::ForeignSub).first().text().contains("look around"));
        assert!(run.requests(Actor::Main).new_text().contains("looked"));
    }
}

#[test]
fn a_forked_reviewer_is_identified_by_its_prompt() {
    let schema =
        r#"{"type":"object","properties":{"completed":{"type":"boolean"}},"required":["completed"]}"#;
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let first = sandbox.run("one");
        let fork = sandbox
            .script(|s| s.reviewer("JUDGE:", [tool("StructuredOutput", json!({"completed": true}))]))
            .resume(&first.session_id)
            .arg("--fork-session")
            .arg("--json-schema")
            .arg(schema)
            .run("JUDGE: is it done?");
        assert!(fork.requests(Actor::Main).is_empty());
        assert_eq!(fork.result_text(), r#"{"completed":true}"#);
        assert_ne!(fork.session_id, first.session_id);
        assert_eq!(fork.requests(Actor::Reviewer).first().session(), fork.session_id);
    }
}

#[test]
fn the_results_of_all_tool_calls_of_a_turn_are_sent() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        sandbox.put_file("src/door.txt", "it creaks");
        let read = tool("Read", json!({"file_path": sandbox.project().join("src/door.txt")}));
        let echo = tool("Bash", json!({"command": "echo $OVERTONE_TEST-$HOME"}));
        let answer = |request: &Request| text(format!("saw: {}", request.new_text().contains("it creaks")));
        let run = sandbox
            .script(|s| s.main([tools([text("looking"), read, echo])]).main_with(answer))
            .env("OVERTONE_TEST", "inside")
            .allow(["Read", "Bash"])
            .run("look");
        let received = run.requests(Actor::Main).last().new_text();
        assert!(received.contains(&format!("inside-{}", sandbox.home().display())), "{received}");
        assert_eq!(run.result_text(), "saw: true");
    }
}

#[test]
fn a_tool_that_the_user_has_not_allowed_is_refused() {
    for client in Client::all() {
        let write = || tool("Write", json!({"file_path": "note.txt", "content": "x"}));
        let sandbox = Sandbox::new(&client);
        sandbox.script(|s| s.main([write(), text("done")])).run("write");
        assert!(!sandbox.project().join("note.txt").exists());
        sandbox.script(|s| s.main([write(), text("done")])).permission_mode("acceptEdits").run("write");
        assert!(sandbox.project().join("note.txt").exists());
    }
}

#[test]
fn an_error_of_the_api_ends_the_run() {
    for client in Client::all() {
        let run = Sandbox::new(&client).script(|s| s.main([error(500, "api_error", "boom")])).run("go");
        assert_eq!(run.exit, Exit::Code(1));
        assert!(run.result_text().starts_with("API Error: 500 boom"), "{}", run.result_text());
        assert_eq!(run.requests(Actor::Main).len(), 1);
    }
}

#[test]
fn a_client_that_does_not_end_is_killed() {
    for client in Client::all() {
        let never = text("too late").delay(3_600_000);
        let sandbox = Sandbox::new(&client);
        let run = sandbox.script(|s| s.main([never])).timeout(Duration::from_secs(5)).run_or_kill("go");
        assert_eq!((run.exit, run.result_text()), (Exit::TimedOut, ""));
    }
}

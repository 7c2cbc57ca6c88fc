//! `/supervisor` and `/supervisoroff` in the real client: they switch the session in which they are typed.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use overtone_testkit::{Actor, Client, Invocation, Sandbox, Script, Turn, text, tool};
use serde_json::json;

const MARKER: &str = "JUDGE THE WORK";

/// A home in which `overtone up` was run; the kit passes the plugin itself to the client.
fn sandbox(client: &Client) -> Sandbox {
    let sandbox = Sandbox::new(client);
    let elsewhere = tempfile::tempdir().unwrap();
    let done = Command::new(env::var_os("OVERTONE_BIN").unwrap())
        .arg("up")
        .env_clear()
        .env("HOME", elsewhere.path())
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    let commands = sandbox.home().join(".claude/commands");
    fs::create_dir_all(&commands).unwrap();
    for name in ["supervisor.md", "supervisoroff.md"] {
        fs::copy(elsewhere.path().join(".claude/commands").join(name), commands.join(name)).unwrap();
    }
    fs::write(sandbox.home().join(".claude/SUPERVISOR.md"), MARKER).unwrap();
    sandbox
}

fn start(sandbox: &Sandbox, write: impl FnOnce(Script) -> Script) -> Invocation<'_> {
    let folder = sandbox.client().program().parent().unwrap();
    let path = env::join_paths([folder, Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
    sandbox.script(write).env("PATH", path)
}

fn verdict(completed: bool, feedback: &str) -> Turn {
    tool("StructuredOutput", json!({"completed": completed, "feedback": feedback}))
}

#[test]
fn a_session_is_switched_on_and_off_by_its_commands() {
    for client in Client::all() {
        let sandbox = sandbox(&client);
        let session = sandbox.new_session();
        let on = start(&sandbox, |s| s.main([text("it is on")])).session(&session).run("/supervisor");
        let received = on.requests(Actor::Main).first().text();
        assert!(received.contains(&session), "the command's own words reach the conversation: {received}");
        assert_eq!(on.requests(Actor::Main).len(), 1, "the turn of the command is not reviewed");

        let work = start(&sandbox, |s| {
            s.main([text("done"), text("now it is")])
                .reviewer(MARKER, [verdict(false, "the door still creaks"), text("."), verdict(true, "good")])
        })
        .resume(&session)
        .run("fix the door");
        assert!(work.requests(Actor::Main).last().new_text().contains("the door still creaks"));
        assert_eq!(work.result_text(), "now it is");

        start(&sandbox, |s| s.main([text("it is off")])).resume(&session).run("/supervisoroff");
        let free = start(&sandbox, |s| s.main([text("as you like")])).resume(&session).run("go on");
        assert_eq!(free.requests(Actor::Main).len(), 1);
        assert_eq!(free.requests(Actor::Reviewer).len(), 0);

        let other = start(&sandbox, |s| s.main([text("hello")])).run("hello");
        assert_eq!(other.requests(Actor::Reviewer).len(), 0, "only the session in which it was typed");
    }
}

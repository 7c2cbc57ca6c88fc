//! Unexpected files in the home: reading them takes bounded memory and time.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::json;

use crate::context::TestContext;

/// Something else where a timeline is expected.
#[derive(Debug, Clone, Copy)]
enum Odd {
    Sparse,
    Endless,
    Pipe,
    Link,
    Folder,
    Device,
    Socket,
}

const ALL: [Odd; 7] =
    [Odd::Sparse, Odd::Endless, Odd::Pipe, Odd::Link, Odd::Folder, Odd::Device, Odd::Socket];

impl Odd {
    fn put(self, path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(path);
        match self {
            Self::Sparse => File::create(path).unwrap().set_len(20 << 30).unwrap(),
            Self::Endless => fs::write(path, vec![b'x'; 300 << 20]).unwrap(),
            Self::Pipe => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
            Self::Link => symlink("/dev/zero", path).unwrap(),
            Self::Folder => fs::create_dir(path).unwrap(),
            // Only root may make one; a link to it is the nearest that others can do.
            Self::Device => {
                let made =
                    Command::new("mknod").arg(path).args(["c", "1", "5"]).stderr(Stdio::null()).status();
                if !made.is_ok_and(|made| made.success()) {
                    symlink("/dev/zero", path).unwrap();
                }
            }
            Self::Socket => drop(std::os::unix::net::UnixListener::bind(path).unwrap()),
        }
    }
}

/// The command with 128 MB of memory, ended if it hangs.
fn run_bounded(context: &TestContext, arguments: &str) -> Output {
    let script = format!("ulimit -v 131072; exec timeout -s KILL 1200 \"$0\" {arguments}");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_overtone")]).env_clear();
    for (name, value) in context.command::<&str>(&[]).get_envs() {
        command.env(name, value.unwrap());
    }
    command.env("OVERTONE_SESSION_ID", "odd").current_dir(context.path("project")).stdin(Stdio::null());
    command.output().unwrap()
}

#[test]
fn commands_end_in_bounded_memory() {
    for odd in ALL {
        let context = TestContext::for_dashboard();
        context.begin("odd", "quick");
        odd.put(&context.path("overtone/sessions/odd/timeline.jsonl"));
        for arguments in [
            "status",
            "timeline",
            "timeline --limit 0 --json",
            "stats",
            "stats --all",
            "replay",
            "replay --redact",
            "sessions",
            "sessions show odd",
            "statusline",
            "doctor",
        ] {
            let output = run_bounded(&context, arguments);
            assert!(output.status.code().is_some_and(|code| code < 100), "{odd:?} {arguments}: {output:?}");
            assert!(
                !String::from_utf8_lossy(&output.stderr).contains("panicked"),
                "{odd:?} {arguments}: {output:?}"
            );
        }
    }
}

#[test]
fn hooks_end_with_an_answer() {
    for odd in ALL {
        let context = TestContext::for_dashboard();
        context.begin("odd", "quick");
        for file in ["timeline.jsonl", "observations.jsonl", "loop.json", "context.json"] {
            odd.put(&context.path("overtone/sessions/odd").join(file));
        }
        context.delegate("odd", "developer", "built <!-- VERDICT: {\"result\":\"PASS\"} -->");
        let stop = json!({"session_id": "odd", "hook_event_name": "Stop", "cwd": context.path("project")});
        assert!(context.hook("on-stop", &stop).is_object(), "{odd:?}");
    }
}

#[test]
fn the_server_answers_in_bounded_memory() {
    let context = TestContext::for_dashboard();
    context.begin("good", "quick");
    for odd in ALL {
        let session = format!("odd-{odd:?}").to_lowercase();
        context.begin(&session, "quick");
        odd.put(&context.path(format!("overtone/sessions/{session}/timeline.jsonl")));
        odd.put(&context.path(format!("transcripts/{session}/subagents/agent-x.jsonl")));
    }
    let server = context.serve();
    assert_eq!(server.get("/api/sessions").ok()["total"], 1 + ALL.len());
    for odd in ALL {
        let session = format!("odd-{odd:?}").to_lowercase();
        assert_eq!(server.get(&format!("/api/sessions/{session}")).status, 200, "{odd:?}");
        for query in ["", "?direction=newer", "?direction=newer&cursor=5", "?q=word", "?cursor=1000000000"] {
            let page = server.get(&format!("/api/sessions/{session}/timeline{query}"));
            assert!([200, 500].contains(&page.status), "{odd:?} {query}: {page:?}");
        }
    }
    assert_eq!(server.get("/api/stats").ok()["sessions"], 1 + ALL.len());
    let mut listener = server.listen("");
    context.delegate("good", "developer", "built <!-- VERDICT: {\"result\":\"PASS\"} -->");
    assert_eq!(listener.next_of("timeline").data["session"], "good");
    // A hook starts a new line after a torn one, and the new event is sent.
    let append = |session: &str| {
        use std::io::Write;
        let path = context.path(format!("overtone/sessions/{session}/timeline.jsonl"));
        let line = "\n{\"type\":\"tool:failure\",\"mark\":1}\n";
        File::options().append(true).open(path).unwrap().write_all(line.as_bytes()).unwrap();
    };
    for session in ["odd-sparse", "odd-endless"] {
        append(session);
        let last = crate::context::until(|| {
            let page = server.get(&format!("/api/sessions/{session}/timeline")).ok();
            page["events"].as_array().unwrap().last().cloned()
        });
        assert_eq!(last["mark"], 1, "{session}");
    }
    let peak = server.peak_memory();
    assert!(peak < 200, "{peak} MiB");
}

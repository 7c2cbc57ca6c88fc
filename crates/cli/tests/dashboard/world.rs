//! A private home with a server of its own.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http::{Listener, Response, request};

/// Long enough for a machine that has other things to do.
const PATIENCE: Duration = Duration::from_mins(10);

pub(crate) struct World {
    root: TempDir,
}

/// A running server, which ends with the test.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let root = TempDir::with_prefix("overtone-dashboard-").unwrap();
        for folder in ["home", "project"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        Self { root }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    pub(crate) fn put(&self, below: &str, text: impl AsRef<[u8]>) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_overtone"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.path("home"))
            .env("OVERTONE_HOME", self.path("overtone"))
            .env("OVERTONE_NO_DASHBOARD", "1")
            .env("OVERTONE_TEST_PATIENCE", "600")
            .env("OVERTONE_LANG", "en")
            .env("PATH", "/usr/bin:/bin")
            .current_dir(self.path("project"))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub(crate) fn serve(&self) -> Server {
        self.serve_with(&[])
    }

    /// The one that shows every machine.
    pub(crate) fn serve_fleet(&self) -> Server {
        self.serve_below("overtone/fleet/mirror", &["--fleet"])
    }

    pub(crate) fn serve_with(&self, arguments: &[&str]) -> Server {
        self.serve_below("overtone", arguments)
    }

    /// On the port that another server had.
    pub(crate) fn serve_on(&self, port: u16) -> Server {
        self.serve_at("overtone", port, &[])
    }

    fn serve_below(&self, home: &str, arguments: &[&str]) -> Server {
        self.serve_at(home, 0, arguments)
    }

    fn serve_at(&self, home: &str, port: u16, arguments: &[&str]) -> Server {
        let port = port.to_string();
        let arguments = [&["dashboard", "--foreground", "--port", &port], arguments].concat();
        let child = self.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let about = self.path(&format!("{home}/dashboard/server.json"));
        let address = until(|| {
            let about: Value = serde_json::from_slice(&fs::read(&about).ok()?).ok()?;
            let is_ours = about["pid"].as_u64() == Some(u64::from(child.id()));
            is_ours.then(|| about["address"].as_str().unwrap().to_owned())
        });
        let token =
            fs::read_to_string(self.path(&format!("{home}/dashboard/token"))).unwrap().trim().to_owned();
        Server { child, address, token }
    }

    /// A hook, as the client would call it.
    pub(crate) fn hook(&self, name: &str, payload: &Value) -> Value {
        let mut command = self.command(&["hook", name]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    }

    pub(crate) fn begin(&self, session: &str, workflow: &str) {
        self.hook("on-start", &json!({
            "session_id": session, "hook_event_name": "SessionStart", "source": "startup",
            "cwd": self.path("project"), "transcript_path": self.path(&format!("transcripts/{session}.jsonl")),
        }));
        let done = self.run(&["init", workflow, "--session", session]);
        assert!(done.status.success(), "{done:?}");
    }

    /// An agent is sent and reports back.
    pub(crate) fn delegate(&self, session: &str, agent: &str, report: &str) {
        let input = json!({"subagent_type": format!("ot:{agent}"), "description": "work", "prompt": "do it"});
        let call = json!({
            "session_id": session, "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_use_id": agent,
            "tool_input": input, "cwd": self.path("project"),
        });
        self.hook("pre-task", &call);
        let who = json!({"session_id": session, "agent_id": format!("id-{agent}"), "agent_type": format!("ot:{agent}"), "cwd": self.path("project")});
        let mut started = who.clone();
        started["hook_event_name"] = json!("SubagentStart");
        self.hook("on-agent-start", &started);
        let mut stopped = who;
        stopped["hook_event_name"] = json!("SubagentStop");
        stopped["last_assistant_message"] = json!(report);
        self.hook("on-agent-stop", &stopped);
    }

    /// Adds events to a timeline as a hook would.
    pub(crate) fn events(&self, session: &str, from: usize, count: usize) {
        let path = self.path(&format!("overtone/sessions/{session}/timeline.jsonl"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = fs::File::options().append(true).create(true).open(path).unwrap();
        for number in from..from + count {
            let event = json!({"ts": "2026-01-01T00:00:00.000Z", "type": "tool:failure", "category": "tool", "n": number});
            file.write_all(format!("{event}\n").as_bytes()).unwrap();
        }
    }
}

impl Server {
    pub(crate) fn port(&self) -> u16 {
        self.address.rsplit(':').next().unwrap().parse().unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// At once, as a crash would.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// With the token.
    pub(crate) fn get(&self, path: &str) -> Response {
        let token = format!("Bearer {}", self.token);
        request(&self.address, "GET", path, &[("Authorization", &token)], "")
    }

    /// As any other user of the machine can.
    pub(crate) fn get_as_stranger(&self, path: &str) -> Response {
        request(&self.address, "GET", path, &[], "")
    }

    /// A change, with the token.
    pub(crate) fn change(&self, method: &str, path: &str, body: &Value) -> Response {
        let token = format!("Bearer {}", self.token);
        request(&self.address, method, path, &[("Authorization", &token)], &body.to_string())
    }

    pub(crate) fn listen(&self, query: &str) -> Listener {
        self.listen_from(query, None)
    }

    /// Comes back after this event.
    pub(crate) fn listen_from(&self, query: &str, last: Option<&str>) -> Listener {
        Listener::join(&self.address, &self.token, query, last)
    }

    /// In MiB.
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1024
    }

    pub(crate) fn ended(&mut self) -> bool {
        until(|| self.child.try_wait().unwrap()).success()
    }
}

/// Waits for something to be there.
#[track_caller]
pub(crate) fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "it never came");
        thread::sleep(Duration::from_millis(10));
    }
}

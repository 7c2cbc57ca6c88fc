//! The helpers of the dashboard tests: a server, and sessions as the hooks make them.

use std::fs;
use std::io::Write;
use std::process::{Child, Stdio};

use overtone_testkit::wait_for;
use serde_json::{Value, json};

pub(crate) use crate::common::TestContext;
use crate::http::{Listener, Response, request};

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

impl TestContext {
    pub(crate) fn for_dashboard() -> Self {
        let context = Self::new();
        let home = context.path("overtone");
        context.with_env("OVERTONE_HOME", home).with_env("PATH", "/usr/bin:/bin")
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
        let about = self.path(format!("{home}/dashboard/server.json"));
        let address = wait_for(|| {
            let about: Value = serde_json::from_slice(&fs::read(&about).ok()?).ok()?;
            let is_ours = about["pid"].as_u64() == Some(u64::from(child.id()));
            is_ours.then(|| about["address"].as_str().unwrap().to_owned())
        });
        let token =
            fs::read_to_string(self.path(format!("{home}/dashboard/token"))).unwrap().trim().to_owned();
        Server { child, address, token }
    }

    /// Runs a hook as the client does; `null` if it printed no JSON.
    pub(crate) fn hook(&self, name: &str, payload: &Value) -> Value {
        serde_json::from_str(&self.run_hook(name, payload).stdout).unwrap_or_default()
    }

    /// A session with a workflow.
    pub(crate) fn start_workflow(&self, session: &str, workflow: &str) {
        self.start_session(session);
        self.run_args(&["init", workflow, "--session", session]).succeeds();
    }

    /// Adds events to a timeline as a hook would.
    pub(crate) fn events(&self, session: &str, from: usize, count: usize) {
        let path = self.path(format!("overtone/sessions/{session}/timeline.jsonl"));
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
        wait_for(|| self.child.try_wait().unwrap()).success()
    }
}

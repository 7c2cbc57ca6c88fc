//! A server with three notification services, and sessions as the client makes them.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use overtone_testkit::wait_until;
use serde_json::{Value, json};

use crate::common::{TestContext, with_verdict};
use crate::service::Service;

pub(crate) const TOKEN: &str = "4711:very-secret-telegram-token";
pub(crate) const SECRET: &str = "very-secret-webhook-key";
pub(crate) const NTFY_TOKEN: &str = "tk_very-secret-ntfy-token";
pub(crate) const COLLECTOR_TOKEN: &str = "very-secret-collector-token";
pub(crate) const CHAT: i64 = 1001;
const AUTHORITIES: &str = "authorities.pem";

pub(crate) struct RemoteFixture {
    context: TestContext,
    pub(crate) telegram: Service,
    pub(crate) webhook: Service,
    pub(crate) ntfy: Service,
    server: Option<Child>,
}

impl Deref for RemoteFixture {
    type Target = TestContext;

    fn deref(&self) -> &TestContext {
        &self.context
    }
}

impl Drop for RemoteFixture {
    fn drop(&mut self) {
        self.kill();
    }
}

impl RemoteFixture {
    /// With all three channels, each with all events.
    pub(crate) fn new() -> Self {
        let mut context = TestContext::new();
        context.create_folders(&["state", "bin"]);
        let (state, bin) = (context.path("state"), context.path("bin"));
        context.set_env("OVERTONE_HOME", state);
        // There is no claude there.
        context.set_env("PATH", bin);
        let authorities = context.path(AUTHORITIES);
        context.set_env("SSL_CERT_FILE", authorities);
        context.set_env("COLLECTOR_TOKEN", COLLECTOR_TOKEN);
        context.set_env("OVERTONE_REMOTE_BACKOFF_MS", "20");
        context.set_env("OVERTONE_TELEMETRY_BACKOFF_MS", "20");
        let (telegram, webhook, ntfy) = (Service::start(), Service::start(), Service::start());
        let fixture = Self { context, telegram, webhook, ntfy, server: None };
        for (name, secret) in [("telegram", TOKEN), ("webhook", SECRET), ("ntfy", NTFY_TOKEN)] {
            fixture.put_secret(name, secret, 0o600);
        }
        fixture.configure(&fixture.all_channels());
        fixture
    }

    pub(crate) fn put_secret(&self, name: &str, secret: &str, mode: u32) {
        let path = self.state_file(format!("{name}.secret"));
        fs::write(&path, format!("{secret}\n")).unwrap();
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn all_channels(&self) -> Value {
        json!({
            "budgetUsd": 5,
            "telegram": { "tokenFile": "telegram.secret", "chats": [CHAT], "base": self.telegram.url() },
            "webhook": { "url": format!("{}/hook/path", self.webhook.url()), "secretFile": "webhook.secret" },
            "ntfy": { "base": self.ntfy.url(), "topic": "my-topic", "tokenFile": "ntfy.secret" },
        })
    }

    /// Limits that are reached soon.
    pub(crate) fn configure(&self, remote: &Value) {
        let config = json!({
            "remote": remote, "limits": { "failures": 1 }, "loop": { "maxIterations": 2, "maxConsecutiveErrors": 7 },
        });
        fs::write(self.state_file("config.json"), config.to_string()).unwrap();
    }

    /// No channel, but a collector that wants a token from the environment.
    pub(crate) fn configure_collector(&self, url: &str) {
        let headers = json!({ "authorization": "${COLLECTOR_TOKEN}" });
        let config = json!({ "telemetry": { "endpoint": url, "headers": headers } });
        fs::write(self.state_file("config.json"), config.to_string()).unwrap();
    }

    /// Only these events for one channel.
    pub(crate) fn configure_events(&self, channel: &str, events: &Value) {
        let mut remote = self.all_channels();
        remote[channel]["events"] = events.clone();
        self.configure(&remote);
    }

    /// The file with further certificate authorities that are trusted.
    pub(crate) fn authorities(&self) -> PathBuf {
        self.path(AUTHORITIES)
    }

    /// A session with a workflow of one stage.
    pub(crate) fn session(&self, id: &str) {
        self.start_session(id);
        self.run_args(&["init", "review-only", "--session", id]).succeeds();
    }

    /// The reviewer goes to work and comes back.
    pub(crate) fn review(&self, id: &str, verdict: &str) {
        let kind = "ot:code-reviewer";
        let input = json!({ "subagent_type": kind, "description": "x", "prompt": "secret-prompt" });
        self.send_event(
            "pre-task",
            id,
            json!({ "tool_name": "Agent", "tool_use_id": "t", "tool_input": input }),
        );
        let message = with_verdict("secret-answer", verdict);
        let fields = json!({ "agent_id": "", "agent_type": kind, "last_assistant_message": message });
        self.send_event("on-agent-stop", id, fields);
    }

    /// The main agent wants to stop.
    pub(crate) fn stop_turn(&self, id: &str) {
        self.send_event("on-stop", id, json!({ "stop_hook_active": false }));
    }

    /// A session from its beginning to the end of its workflow.
    pub(crate) fn finished(&self, id: &str) {
        self.session(id);
        self.review(id, "PASS");
        self.stop_turn(id);
        let last = self.timeline(id).into_iter().rev().find(|event| event["category"] == "workflow");
        assert_eq!(last.unwrap()["type"], "workflow:complete");
    }

    pub(crate) fn spent(&self, id: &str, dollars: f64) {
        let about = json!({ "session_id": id, "cost": { "total_cost_usd": dollars } });
        self.run_with_stdin("statusline", about.to_string()).succeeds();
    }

    /// The supervisor finds no reviewer and lets the session go.
    pub(crate) fn supervisor_gives_up(&self, id: &str) {
        let fields = json!({
            "session_id": id, "cwd": self.path("project"), "transcript_path": self.path("transcript.jsonl"),
            "stop_hook_active": false,
        });
        self.run_with_stdin("ccc supervisor-hook", fields.to_string()).succeeds();
    }

    pub(crate) fn timeline(&self, id: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.state_file(format!("sessions/{id}/timeline.jsonl"))).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Starts the server as the hooks do, and waits until it can be asked.
    pub(crate) fn serve(&mut self) {
        assert!(self.server.is_none());
        let errors = File::options().create(true).append(true).open(self.path("stderr")).unwrap();
        let mut command = self.command(&["dashboard", "--serve", "--port", "0"]);
        self.server = Some(command.stdout(Stdio::null()).stderr(errors).spawn().unwrap());
        wait_until("the server", || self.address().is_some());
    }

    fn address(&self) -> Option<SocketAddr> {
        let text = fs::read_to_string(self.state_file("dashboard/server.json")).ok()?;
        let about: Value = serde_json::from_str(&text).ok()?;
        let is_own = about["pid"].as_u64() == self.server.as_ref().map(|child| u64::from(child.id()));
        about["address"].as_str()?.parse().ok().filter(|_| is_own)
    }

    /// Without any warning.
    pub(crate) fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }

    /// As a user stops it.
    pub(crate) fn end(&mut self) {
        self.run_args(&["dashboard", "--stop"]).succeeds();
        let mut server = self.server.take().unwrap();
        assert!(server.wait().unwrap().success());
    }

    /// What the server answers to a question of the page.
    pub(crate) fn get(&self, path: &str) -> String {
        use std::io::Read;
        let address = self.address().unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let token = fs::read_to_string(self.state_file("dashboard/token")).unwrap();
        let question = format!(
            "GET {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
            token.trim()
        );
        stream.write_all(question.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    pub(crate) fn outbox(&self) -> Value {
        let text = fs::read_to_string(self.state_file("dashboard/outbox.json")).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// All logs of the server and the commands.
    pub(crate) fn logs(&self) -> String {
        let state = ["dashboard/remote.log", "dashboard/actions.jsonl", "telemetry/export.log"];
        let paths = [self.path("stderr")].into_iter().chain(state.map(|name| self.state_file(name)));
        paths.map(|path| fs::read_to_string(path).unwrap_or_default()).collect()
    }
}

pub(crate) fn assert_no_secrets(text: &str) {
    for secret in [TOKEN, SECRET, NTFY_TOKEN, "very-secret", "hook/path"] {
        assert!(!text.contains(secret), "{secret} is in: {text}");
    }
}

//! A home with sessions, and a server that it is told to.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use overtone_store::files::append_lines;
use serde_json::json;

use super::Load;
use crate::error::{Error, Result};
use crate::sandbox::Sandbox;
use crate::shell::write_file;

const STARTING: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Place {
    pub(super) sandbox: Sandbox,
    server: Server,
}

impl Place {
    pub(super) fn create(folder: &Path, binary: &Path) -> Result<Self> {
        let server = Server::start(&folder.join("server"))?;
        let place = Self { sandbox: Sandbox::create(folder.to_owned(), binary)?, server };
        place.join()?;
        Ok(place)
    }

    fn join(&self) -> Result<()> {
        let url = format!("nats://127.0.0.1:{}", self.server.port);
        let config = json!({ "fleet": { "url": url, "name": "loaded" } }).to_string();
        write_file(&self.sandbox.overtone_home().join("config.json"), config.as_bytes())
    }

    pub(super) fn stop_server(&mut self) {
        self.server.stop();
    }

    /// Sessions in which things have happened already.
    pub(super) fn fill(&self, load: Load) -> Result<()> {
        for session in 0..load.sessions {
            let lines: String = (0..load.waiting).map(|_| event(None)).collect();
            self.append(session, &lines)?;
        }
        Ok(())
    }

    pub(super) fn append(&self, session: usize, lines: &str) -> Result<()> {
        let path = self.timeline(session);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| Error::io("cannot create folder", folder, &e))?;
        }
        append_lines(&path, lines).map_err(|e| Error::io("cannot write", &path, &e))
    }

    fn timeline(&self, session: usize) -> PathBuf {
        self.sandbox.session(&format!("session-{session:04}")).join("timeline.jsonl")
    }
}

/// As long as a real one, on the average. The number comes out again on the other side.
pub(super) fn event(number: Option<usize>) -> String {
    let event = json!({
        "ts": "2026-01-01T00:00:00.000Z", "type": "agent:complete", "category": "agent", "label": "代理完成",
        "agent": "developer", "stage": "DEV", "slot": "developer", "agentId": "a1b2c3d4e5f60718", "result": "pass",
        "durationMs": 61_234, "handoff": 3, "total": number,
    });
    format!("{event}\n")
}

#[derive(Debug)]
struct Server {
    port: u16,
    child: Child,
}

impl Server {
    fn start(folder: &Path) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let address = listener.and_then(|listener| listener.local_addr());
        let port = address.map_err(|e| Error::new(format!("no free port: {e}")))?.port();
        let mut command = Command::new("nats-server");
        command.args(["-js", "-a", "127.0.0.1", "-p", &port.to_string(), "-sd"]).arg(folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|e| Error::new(format!("cannot start nats-server: {e}")))?;
        let server = Self { port, child };
        server.wait()?;
        Ok(server)
    }

    fn wait(&self) -> Result<()> {
        let begun = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err() {
            if begun.elapsed() > STARTING {
                return Err(Error::new("nats-server does not come up"));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn stop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

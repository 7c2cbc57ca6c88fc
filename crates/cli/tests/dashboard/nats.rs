//! A real `nats-server` on loopback, which ends with the test.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::context::until;
use crate::nats_server;

pub(crate) struct Nats {
    child: Child,
    port: u16,
    _store: TempDir,
}

impl Nats {
    pub(crate) fn start() -> Self {
        let store = TempDir::with_prefix("overtone-nats-").unwrap();
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let mut command = Command::new(nats_server::program());
        command.args(["-js", "-a", "127.0.0.1", "-p", &port.to_string(), "-sd"]).arg(store.path());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until(|| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok());
        Self { child, port, _store: store }
    }

    /// The settings of a machine with this name.
    pub(crate) fn config(&self, name: &str) -> String {
        let url = format!("nats://127.0.0.1:{}", self.port);
        serde_json::json!({ "fleet": { "url": url, "name": name } }).to_string()
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.kill();
    }
}

//! The dashboard as a process of its own, and a minimal client.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::background::Background;
use crate::error::{Error, Result};
use crate::measure::millis_since;

const START_TIMEOUT: Duration = Duration::from_mins(5);

pub(super) struct Dashboard {
    pub(super) process: Background,
    address: String,
    token: String,
    /// From its start to its first answer.
    pub(super) start_millis: f64,
}

impl Dashboard {
    pub(super) fn start(binary: &Path, folder: &Path) -> Result<Self> {
        let begun = Instant::now();
        let home = folder.join("overtone");
        let mut command = Command::new(binary);
        command.args(["dashboard", "--foreground", "--port", "0"]);
        command.env_clear().env("HOME", folder).env("OVERTONE_HOME", &home);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = Background::start(&mut command)?;
        let address = wait_for_address(process.0.id(), &home.join("dashboard/server.json"))?;
        let path = home.join("dashboard/token");
        let token = fs::read_to_string(&path).map_err(|e| Error::io("cannot read", &path, &e))?;
        let mut dashboard = Self { process, address, token: token.trim().to_owned(), start_millis: 0.0 };
        dashboard.time("/api/status")?;
        dashboard.start_millis = millis_since(begun);
        Ok(dashboard)
    }

    /// Sends a request, with these header lines besides the necessary ones.
    pub(super) fn request(&self, path: &str, headers: &str) -> Result<TcpStream> {
        let failed = |e: std::io::Error| Error::new(format!("cannot ask the dashboard: {e}"));
        let mut stream = TcpStream::connect(&self.address).map_err(failed)?;
        let (host, token) = (&self.address, &self.token);
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).map_err(failed)?;
        Ok(stream)
    }

    /// How long an answer takes, in milliseconds.
    pub(super) fn time(&self, path: &str) -> Result<f64> {
        let (begun, mut answer) = (Instant::now(), Vec::new());
        let read = self.request(path, "Connection: close\r\n")?.read_to_end(&mut answer);
        read.map_err(|e| Error::new(format!("cannot ask the dashboard: {e}")))?;
        if !answer.starts_with(b"HTTP/1.1 200") {
            return Err(Error::new(format!("the dashboard refused {path}")));
        }
        Ok(millis_since(begun))
    }
}

/// Polls often: the time counts as a part of the start.
fn wait_for_address(process: u32, path: &Path) -> Result<String> {
    let begun = Instant::now();
    while begun.elapsed() < START_TIMEOUT {
        let text = fs::read_to_string(path).unwrap_or_default();
        let server: Value = serde_json::from_str(&text).unwrap_or_default();
        if let Some(address) = server["address"].as_str()
            && server["pid"] == process
        {
            return Ok(address.to_owned());
        }
        thread::sleep(Duration::from_millis(1));
    }
    Err(Error::new("the dashboard did not start"))
}

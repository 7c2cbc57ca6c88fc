//! The server as a child process, and what the system says about it.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::error::{Error, Result};

const PATIENCE: Duration = Duration::from_secs(30);
/// On Linux.
const TICKS_PER_SECOND: f64 = 100.0;

pub(super) struct Server {
    child: Child,
    pub(super) address: String,
    token: String,
    /// From its start to its first answer, in milliseconds.
    pub(super) took: f64,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    pub(super) fn start(binary: &Path, folder: &Path) -> Result<Self> {
        let begun = Instant::now();
        let child = Command::new(binary)
            .args(["dashboard", "--foreground", "--port", "0"])
            .env_clear()
            .env("HOME", folder)
            .env("OVERTONE_HOME", folder.join("overtone"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| Error::io("cannot start", binary, &error))?;
        let mut server = Self { child, address: String::new(), token: String::new(), took: 0.0 };
        server.address = server.find(&folder.join("overtone/dashboard/server.json"))?;
        let token = folder.join("overtone/dashboard/token");
        let text = fs::read_to_string(&token).map_err(|error| Error::io("cannot read", &token, &error))?;
        text.trim().clone_into(&mut server.token);
        server.get("/api/status")?;
        server.took = millis(begun);
        Ok(server)
    }

    fn find(&self, about: &Path) -> Result<String> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let text = fs::read_to_string(about).unwrap_or_default();
            let about: Value = serde_json::from_str(&text).unwrap_or_default();
            if about["pid"].as_u64() == Some(u64::from(self.child.id())) {
                return Ok(about["address"].as_str().unwrap_or_default().to_owned());
            }
            thread::sleep(Duration::from_millis(1));
        }
        Err(Error::new("the dashboard did not start"))
    }

    pub(super) fn connect(&self, path: &str, close: bool) -> Result<TcpStream> {
        let failed = |error: std::io::Error| Error::new(format!("cannot ask the dashboard: {error}"));
        let mut stream = TcpStream::connect(&self.address).map_err(failed)?;
        let close = if close { "Connection: close\r\n" } else { "" };
        let (host, token) = (&self.address, &self.token);
        let text =
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n{close}\r\n");
        stream.write_all(text.as_bytes()).map_err(failed)?;
        Ok(stream)
    }

    fn get(&self, path: &str) -> Result<usize> {
        let mut bytes = Vec::new();
        let read = self.connect(path, true)?.read_to_end(&mut bytes);
        read.map_err(|error| Error::new(format!("cannot ask the dashboard: {error}")))?;
        if !bytes.starts_with(b"HTTP/1.1 200") {
            return Err(Error::new(format!("the dashboard refused {path}")));
        }
        Ok(bytes.len())
    }

    /// How long an answer takes, in milliseconds.
    pub(super) fn time(&self, path: &str) -> Result<f64> {
        let begun = Instant::now();
        self.get(path)?;
        Ok(millis(begun))
    }

    /// In MiB.
    pub(super) fn peak_memory(&self) -> Result<f64> {
        let path = format!("/proc/{}/status", self.child.id());
        let text =
            fs::read_to_string(&path).map_err(|error| Error::io("cannot read", Path::new(&path), &error))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes: f64 = line
            .and_then(|rest| rest.split_whitespace().next())
            .and_then(|number| number.parse().ok())
            .unwrap_or(f64::MAX);
        Ok(kilobytes / 1024.0)
    }

    /// What it has used so far.
    pub(super) fn processor_seconds(&self) -> Result<f64> {
        Ok(self.ticks()? / TICKS_PER_SECOND)
    }

    /// The share of a processor that it uses while nobody asks for anything.
    pub(super) fn busy_during(&self, time: Duration) -> Result<f64> {
        let before = self.ticks()?;
        thread::sleep(time);
        Ok((self.ticks()? - before) / TICKS_PER_SECOND / time.as_secs_f64())
    }

    fn ticks(&self) -> Result<f64> {
        let path = format!("/proc/{}/stat", self.child.id());
        let text =
            fs::read_to_string(&path).map_err(|error| Error::io("cannot read", Path::new(&path), &error))?;
        let fields = text.rsplit(") ").next().unwrap_or_default();
        let number = |place: usize| fields.split(' ').nth(place).and_then(|text| text.parse::<f64>().ok());
        Ok(number(11).unwrap_or(0.0) + number(12).unwrap_or(0.0))
    }
}

pub(super) fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

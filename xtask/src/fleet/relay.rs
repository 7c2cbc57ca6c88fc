//! `overtone relay` as a process of its own, and what it uses.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use super::place::Place;
use crate::error::{Error, Result};

#[derive(Debug)]
pub(super) struct Relay {
    child: Child,
}

impl Relay {
    pub(super) fn start(place: &Place) -> Result<Self> {
        let mut command = place.sandbox.command(&["relay"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|e| Error::new(format!("cannot start the relay: {e}")))?;
        Ok(Self { child })
    }

    /// In mebibytes.
    pub(super) fn peak_memory(&self) -> Result<f64> {
        let text = self.read("status")?;
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse::<f64>().ok());
        kib.map(|kib| kib / 1024.0).ok_or_else(|| Error::new("the relay has ended"))
    }

    /// How busy one processor is with it, in per cent.
    pub(super) fn busy_during(&self, time: Duration) -> Result<f64> {
        let before = self.nanoseconds()?;
        thread::sleep(time);
        Ok((self.nanoseconds()? - before) / 10_000_000.0 / time.as_secs_f64())
    }

    /// Of all its threads.
    fn nanoseconds(&self) -> Result<f64> {
        let tasks = format!("/proc/{}/task", self.child.id());
        let tasks = fs::read_dir(&tasks).map_err(|e| Error::new(format!("the relay has ended: {e}")))?;
        let spent = |path: std::path::PathBuf| -> Option<f64> {
            let text = fs::read_to_string(path.join("schedstat")).ok()?;
            text.split(' ').next()?.parse().ok()
        };
        Ok(tasks.flatten().filter_map(|task| spent(task.path())).sum())
    }

    fn read(&self, name: &str) -> Result<String> {
        let path = format!("/proc/{}/{name}", self.child.id());
        fs::read_to_string(&path).map_err(|e| Error::new(format!("the relay has ended: {e}")))
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

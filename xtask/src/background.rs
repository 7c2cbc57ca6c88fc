//! Work that runs at the same time: a program in the background with what it has used, and threads.

use std::fs;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};

/// The unit of times in `/proc/PID/stat`: `USER_HZ`, which is 100 on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// A process that ends, at the latest, when this is dropped.
#[derive(Debug)]
pub(crate) struct Background(pub(crate) Child);

impl Background {
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let started = command.spawn();
        let failed = |e| Error::new(format!("cannot start {}: {e}", command.get_program().display()));
        started.map(Self).map_err(failed)
    }

    pub(crate) fn stop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    fn read(&self, name: &str) -> Result<String> {
        let path = format!("/proc/{}/{name}", self.0.id());
        fs::read_to_string(&path).map_err(|e| Error::new(format!("cannot read {path}: {e}")))
    }

    pub(crate) fn peak_memory_mib(&self) -> Result<f64> {
        let status = self.read("status")?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse::<f64>().ok());
        kib.map(|kib| kib / 1024.0).ok_or_else(|| Error::new("a background process has ended"))
    }

    /// The processor time of all its threads so far.
    pub(crate) fn cpu_seconds(&self) -> Result<f64> {
        let stat = self.read("stat")?;
        // The fields after the program's name, which may contain anything.
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        let ticks = |index: usize| fields.get(index).and_then(|ticks| ticks.parse::<f64>().ok());
        let (Some(user), Some(system)) = (ticks(11), ticks(12)) else {
            return Err(Error::new(format!("no times in {stat:?}")));
        };
        Ok((user + system) / TICKS_PER_SECOND)
    }

    /// How much of one processor it uses during this time.
    pub(crate) fn cpu_percent_during(&self, time: Duration) -> Result<f64> {
        let before = self.cpu_seconds()?;
        thread::sleep(time);
        Ok((self.cpu_seconds()? - before) / time.as_secs_f64() * 100.0)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Runs `work` in so many threads at once. After all have ended, returns the first error, if there is one.
pub(crate) fn in_parallel<T: Send>(
    threads: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let work = &work;
    thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|number| scope.spawn(move || work(number))).collect();
        let ended: Vec<_> = started.into_iter().map(thread::ScopedJoinHandle::join).collect();
        ended
            .into_iter()
            .map(|end| end.unwrap_or_else(|_| Err(Error::new("a thread has panicked"))))
            .collect()
    })
}

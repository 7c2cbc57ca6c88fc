//! What this machine itself takes to start so many processes at once, when they do nothing.
//!
//! With more processes than processors everybody waits for a processor, a lock's holder too. Without this figure one
//! could not tell that wait from the one for the lock.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use super::Size;
use crate::error::{Error, Result};
use crate::figures::{Bar, Figure, percentile, to_float};

const NOTHING: &str = "/bin/true";

/// Enough to see the crowd in full swing.
const ROUNDS: usize = 20;

pub(super) fn figures(size: Size) -> Result<[Figure; 2]> {
    let begun = Instant::now();
    let mut took = everybody(size.workers)?;
    took.sort_by(f64::total_cmp);
    let rate = to_float(took.len()) / begun.elapsed().as_secs_f64();
    Ok([
        Figure::new(
            format!("{NOTHING} in such a crowd, start to end (p99)"),
            percentile(&took, 990),
            Bar::None,
            "ms",
        ),
        Figure::new(format!("{NOTHING} in such a crowd, starts a second"), rate, Bar::None, ""),
    ])
}

fn everybody(workers: usize) -> Result<Vec<f64>> {
    thread::scope(|scope| {
        let workers: Vec<_> =
            (0..workers).map(|_| scope.spawn(|| (0..ROUNDS).map(|_| start()).collect())).collect();
        let mut all = Vec::new();
        for worker in workers {
            let times: Result<Vec<f64>> = worker.join().map_err(|_| Error::new("a worker has panicked"))?;
            all.extend(times?);
        }
        Ok(all)
    })
}

fn start() -> Result<f64> {
    let begun = Instant::now();
    let mut command = Command::new(Path::new(NOTHING));
    let status =
        command.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.map_err(|e| Error::new(format!("cannot run {NOTHING}: {e}")))?;
    Ok(begun.elapsed().as_secs_f64() * 1000.0)
}

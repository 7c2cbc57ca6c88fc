//! Runs a program to its end and notices one that never comes to it.

use std::collections::HashMap;
use std::io::{self, Read as _};
use std::process::{Child, Command, Output};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::sandbox::feed;

/// Twice the longest wait of a process: whoever takes longer waits for something that does not come.
const DEADLOCK: Duration = Duration::from_mins(20);
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The processes that are under way.
#[derive(Debug, Default)]
pub(super) struct Watch {
    running: Mutex<HashMap<u32, Instant>>,
    ended: AtomicBool,
    stuck: AtomicUsize,
}

impl Watch {
    /// Runs a command with a payload on its stdin.
    pub(super) fn run(&self, command: &mut Command, payload: &Value) -> Result<Output> {
        let mut child = feed(command, payload)?;
        let id = child.id();
        self.with(|running| running.insert(id, Instant::now()));
        let said = listen(&mut child);
        // Before it is waited for: until then nobody else can have its number.
        self.with(|running| running.remove(&id));
        let status = child.wait();
        let lost = |e: io::Error| Error::new(format!("a process is lost: {e}"));
        let (stdout, stderr) = said.map_err(lost)?;
        Ok(Output { status: status.map_err(lost)?, stdout, stderr })
    }

    /// Lets `act` go on while somebody looks after the processes that it starts.
    pub(super) fn during<T>(&self, act: impl FnOnce() -> T) -> T {
        thread::scope(|scope| {
            scope.spawn(|| {
                while !self.ended.load(Ordering::Relaxed) {
                    self.end_stuck();
                    thread::sleep(LOOK_EVERY);
                }
            });
            let result = act();
            self.ended.store(true, Ordering::Relaxed);
            result
        })
    }

    /// How many had to be ended.
    pub(super) fn stuck(&self) -> usize {
        self.stuck.load(Ordering::Relaxed)
    }

    fn end_stuck(&self) {
        self.with(|running| {
            let is_stuck = |started: &Instant| started.elapsed() > DEADLOCK;
            for (id, _) in running.iter().filter(|(_, started)| is_stuck(started)) {
                self.stuck.fetch_add(1, Ordering::Relaxed);
                // It may have ended in this very moment, which is as good.
                let _ = kill(Pid::from_raw(id.cast_signed()), Signal::SIGKILL);
            }
            running.retain(|_, started| !is_stuck(started));
        });
    }

    fn with<T>(&self, act: impl FnOnce(&mut HashMap<u32, Instant>) -> T) -> T {
        act(&mut self.running.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// All that it says. What is said on stderr is short, so it does not have to be read at the same time.
fn listen(child: &mut Child) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    if let Some(pipe) = &mut child.stdout {
        pipe.read_to_end(&mut stdout)?;
    }
    if let Some(pipe) = &mut child.stderr {
        pipe.read_to_end(&mut stderr)?;
    }
    Ok((stdout, stderr))
}

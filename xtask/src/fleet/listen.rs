//! Somebody who listens to all events, and notes when they come: `overtone fleet tail` as people start it.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Load;
use super::place::{Place, event};
use crate::error::{Error, Result};
use crate::figures::to_float;

/// Whoever is silent for so long has nothing more to say.
const SILENCE: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub(super) struct Listener {
    child: Child,
    heard: Receiver<(Instant, String)>,
    counted: Cell<usize>,
}

impl Listener {
    pub(super) fn start(place: &Place) -> Result<Self> {
        let mut command = place.sandbox.command(&["fleet", "tail", "--json"]);
        let lost = |e: std::io::Error| Error::new(format!("cannot listen: {e}"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(lost)?;
        let (sender, heard) = channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                // Nobody waits any more when this fails.
                for line in BufReader::new(stdout).lines().map_while(std::io::Result::ok) {
                    let _ = sender.send((Instant::now(), line));
                }
            });
        }
        let stderr = child.stderr.take();
        let listener = Self { child, heard, counted: Cell::new(0) };
        // What it says first is that it listens, or why it cannot.
        let mut said = String::new();
        stderr.map(|stderr| BufReader::new(stderr).read_line(&mut said)).transpose().map_err(lost)?;
        if said.is_empty() || said.starts_with("error") {
            return Err(Error::new(format!("cannot listen: {said}")));
        }
        Ok(listener)
    }

    fn next(&self) -> Result<(Instant, String)> {
        let heard = self.heard.recv_timeout(SILENCE);
        let heard = heard.map_err(|error| match error {
            RecvTimeoutError::Timeout => Error::new(format!("only {} events have come", self.counted.get())),
            RecvTimeoutError::Disconnected => Error::new("the listener has ended"),
        })?;
        self.counted.set(self.counted.get() + 1);
        Ok(heard)
    }

    /// How many of so many come in a second, from the first to the last.
    pub(super) fn rate_of(&self, count: usize) -> Result<f64> {
        let (begun, _) = self.next()?;
        let mut last = begun;
        while self.counted.get() < count {
            last = self.next()?.0;
        }
        Ok(to_float(count) / last.duration_since(begun).as_secs_f64())
    }

    /// Lets things happen, evenly, and says how long each took to come, in milliseconds, the shortest first.
    pub(super) fn lags(&self, place: &Place, load: Load) -> Result<Vec<f64>> {
        let count = load.per_second * load.seconds;
        let pause = Duration::from_secs(1) / u32::try_from(load.per_second).unwrap_or(u32::MAX);
        let written = thread::scope(|scope| {
            let writing = scope.spawn(|| write(place, load.sessions, count, pause));
            writing.join().map_err(|_| Error::new("a thread has panicked"))?
        })?;
        let mut lags = Vec::with_capacity(count);
        while lags.len() < count {
            let (at, line) = self.next()?;
            let lag = |number: usize| Some(at.duration_since(*written.get(&number)?).as_secs_f64() * 1000.0);
            lags.extend(number(&line).and_then(lag));
        }
        lags.sort_by(f64::total_cmp);
        Ok(lags)
    }

    /// More than was written is as wrong as less.
    pub(super) fn findings(&self, load: Load) -> Option<String> {
        self.counted.set(self.counted.get() + self.heard.try_iter().count());
        let wanted = load.sessions * load.waiting + load.per_second * load.seconds;
        (self.counted.get() != wanted)
            .then(|| format!("{} events have come, not {wanted}", self.counted.get()))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn write(place: &Place, sessions: usize, count: usize, pause: Duration) -> Result<HashMap<usize, Instant>> {
    let begun = Instant::now();
    let mut written = HashMap::new();
    for number in 0..count {
        let due = begun + pause * u32::try_from(number).unwrap_or(u32::MAX);
        thread::sleep(due.saturating_duration_since(Instant::now()));
        written.insert(number, Instant::now());
        place.append(number * 7 % sessions, &event(Some(number)))?;
    }
    Ok(written)
}

fn number(line: &str) -> Option<usize> {
    let event: Value = serde_json::from_str(line).ok()?;
    event["total"].as_u64().and_then(|number| usize::try_from(number).ok())
}

//! Somebody who listens to all events, and notes when they come.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use overtone_fleet::{Batch, Link, tail};
use serde_json::Value;

use super::Load;
use super::place::{Place, event};
use crate::error::{Error, Result};
use crate::figures::to_float;

/// Whoever is silent for so long has nothing more to say.
const SILENCE: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub(super) struct Listener {
    heard: Receiver<(Instant, Batch)>,
    counted: std::cell::Cell<usize>,
}

impl Listener {
    pub(super) fn start(place: &Place) -> Result<Self> {
        let settings = place.settings()?;
        let (ready, is_ready) = channel();
        let (sender, heard) = channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| Error::new(format!("cannot listen: {e}")))?;
        thread::spawn(move || {
            runtime.block_on(async {
                let events = async { tail(&Link::open(&settings, "listener").await?, None).await };
                let mut events = match Box::pin(events).await {
                    Ok(events) => Box::pin(events),
                    Err(error) => return drop(ready.send(Err(error.to_string()))),
                };
                // Nobody waits any more when this fails; so below.
                let _ = ready.send(Ok(()));
                while let Some(event) = events.next().await {
                    let Ok(event) = event else { continue };
                    if sender.send((Instant::now(), event.batch)).is_err() {
                        return;
                    }
                }
            });
        });
        let begun = is_ready.recv().map_err(|_| Error::new("the listener has ended"))?;
        begun.map_err(Error::new)?;
        Ok(Self { heard, counted: std::cell::Cell::new(0) })
    }

    fn next(&self) -> Result<(Instant, Batch)> {
        let heard = self.heard.recv_timeout(SILENCE);
        let (at, batch) = heard.map_err(|error| match error {
            RecvTimeoutError::Timeout => Error::new(format!("only {} events have come", self.counted.get())),
            RecvTimeoutError::Disconnected => Error::new("the listener has ended"),
        })?;
        self.counted.set(self.counted.get() + batch.lines.len());
        Ok((at, batch))
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
            let (at, batch) = self.next()?;
            let numbers = batch.lines.iter().filter_map(|line| number(line));
            let lag = |number: usize| Some(at.duration_since(*written.get(&number)?).as_secs_f64() * 1000.0);
            lags.extend(numbers.filter_map(lag));
        }
        lags.sort_by(f64::total_cmp);
        Ok(lags)
    }

    /// More than was written is as wrong as less.
    pub(super) fn findings(&self, load: Load) -> Option<String> {
        while let Ok((_, batch)) = self.heard.try_recv() {
            self.counted.set(self.counted.get() + batch.lines.len());
        }
        let wanted = load.sessions * load.waiting + load.per_second * load.seconds;
        (self.counted.get() != wanted)
            .then(|| format!("{} events have come, not {wanted}", self.counted.get()))
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

//! Many who listen while much happens: how late they hear it, and whether they hear all of it once.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use super::Load;
use super::home::name;
use super::server::Server;
use crate::error::{Error, Result};

/// How many sessions the events are spread over.
const AT_WORK: usize = 20;
const PATIENCE: Duration = Duration::from_mins(1);

pub(super) struct Heard {
    pub(super) p95: f64,
    pub(super) lost: f64,
    pub(super) repeated: f64,
}

/// What one listener has heard.
#[derive(Default)]
struct Ear {
    latencies: Vec<f32>,
    numbers: Vec<u32>,
}

pub(super) fn run(server: &Server, folder: &Path, load: &Load) -> Result<Heard> {
    let total = load.per_second * load.seconds;
    let (zero, ready) = (Instant::now(), Barrier::new(load.listeners + 1));
    let ears = thread::scope(|scope| {
        let listeners: Vec<_> =
            (0..load.listeners).map(|_| scope.spawn(|| listen(server, total, zero, &ready))).collect();
        ready.wait();
        let written = write(folder, load, zero);
        let ears: Vec<_> = listeners.into_iter().map(thread::ScopedJoinHandle::join).collect();
        written.map(|()| ears)
    })?;
    let ears: Vec<Ear> = ears.into_iter().flatten().collect::<Result<_>>()?;
    Ok(judge(&ears, load.listeners * total))
}

/// Listens until everything was heard, or nothing more comes.
fn listen(server: &Server, total: usize, zero: Instant, ready: &Barrier) -> Result<Ear> {
    let stream = server.connect("/api/events", false);
    let stream = stream.and_then(|stream| {
        let set = stream.set_read_timeout(Some(PATIENCE));
        set.map(|()| stream).map_err(|error| Error::new(error.to_string()))
    });
    let mut lines = stream.map(BufReader::new);
    let mut line = String::new();
    if let Ok(lines) = &mut lines {
        while !line.starts_with(": overtone") && lines.read_line(&mut line).is_ok_and(|count| count > 0) {
            if !line.starts_with(": overtone") {
                line.clear();
            }
        }
    }
    ready.wait();
    let (mut lines, mut ear) = (lines?, Ear::default());
    while ear.numbers.len() < total {
        line.clear();
        if !lines.read_line(&mut line).is_ok_and(|count| count > 0) {
            break;
        }
        ear.hear(&line, zero);
    }
    Ok(ear)
}

impl Ear {
    fn hear(&mut self, line: &str, zero: Instant) {
        let field = |name: &str| {
            let rest = line.split_once(name)?.1;
            rest[..rest.find(|c: char| !c.is_ascii_digit())?].parse::<u64>().ok()
        };
        if let (Some(number), Some(at)) = (field("\"n\":"), field("\"at\":")) {
            let late = zero.elapsed().saturating_sub(Duration::from_micros(at));
            self.latencies.push(late.as_secs_f32() * 1000.0);
            self.numbers.push(u32::try_from(number).unwrap_or(u32::MAX));
        }
    }
}

/// Writes the events at an even pace, one at a time, as hooks do.
fn write(folder: &Path, load: &Load, zero: Instant) -> Result<()> {
    let open = |number: usize| {
        let path = folder.join("overtone/sessions").join(name(number)).join("timeline.jsonl");
        File::options().append(true).open(&path).map_err(|error| Error::io("cannot open", &path, &error))
    };
    let mut files = (0..AT_WORK).map(open).collect::<Result<Vec<_>>>()?;
    let (begun, pace) =
        (Instant::now(), Duration::from_secs(1) / u32::try_from(load.per_second).unwrap_or(1));
    for number in 0..load.per_second * load.seconds {
        let due = pace * u32::try_from(number).unwrap_or(u32::MAX);
        thread::sleep(due.saturating_sub(begun.elapsed()));
        let at = zero.elapsed().as_micros();
        let line = format!(
            "{{\"ts\":\"2026-01-01T00:00:00.000Z\",\"type\":\"tool:failure\",\"category\":\"tool\",\"n\":{number},\"at\":{at}}}\n"
        );
        let written = files[number % AT_WORK].write_all(line.as_bytes());
        written.map_err(|error| Error::new(format!("cannot write an event: {error}")))?;
    }
    Ok(())
}

#[allow(clippy::cast_precision_loss, reason = "counts of a short run")]
fn judge(ears: &[Ear], expected: usize) -> Heard {
    let mut latencies: Vec<f32> = ears.iter().flat_map(|ear| ear.latencies.iter().copied()).collect();
    latencies.sort_by(f32::total_cmp);
    let p95 = latencies.get(latencies.len() * 95 / 100).copied().unwrap_or(f32::MAX);
    let mut different = 0;
    for ear in ears {
        let mut numbers = ear.numbers.clone();
        numbers.sort_unstable();
        numbers.dedup();
        different += numbers.len();
    }
    let heard: usize = ears.iter().map(|ear| ear.numbers.len()).sum();
    Heard { p95: f64::from(p95), lost: (expected - different) as f64, repeated: (heard - different) as f64 }
}

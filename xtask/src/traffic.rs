//! Sessions on disk, and events that arrive at an even pace: the load that the dashboard and the relay are put under.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use overtone_store::files::append_lines;
use serde_json::json;

use crate::error::{Error, Result};
use crate::shell::write_file;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// A tenth of the load: a first look, not a figure to quote
    #[arg(long)]
    pub(crate) quick: bool,
    /// Try this program instead of building the dist binary
    #[arg(long, value_name = "FILE")]
    pub(crate) binary: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) sessions: usize,
    /// Events on disk in each session before anything starts.
    pub(crate) events_each: usize,
    pub(crate) per_second: usize,
    pub(crate) seconds: usize,
}

/// An event as long as the average real one. Listeners read the number with [`event_number`].
pub(crate) fn event_line(number: Option<usize>) -> String {
    let event = json!({
        "ts": "2026-01-01T00:00:00.000Z", "type": "agent:complete", "category": "agent", "label": "代理完成",
        "agent": "developer", "stage": "DEV", "slot": "developer", "agentId": "a1b2c3d4e5f60718", "result": "pass",
        "durationMs": 61_234, "handoff": 3, "total": number,
    });
    format!("{event}\n")
}

/// The number in a line that came from [`event_line`], whatever is around it.
pub(crate) fn event_number(line: &str) -> Option<usize> {
    let (_, rest) = line.split_once("\"total\":")?;
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    rest[..end].parse().ok()
}

fn session_name(number: usize) -> String {
    format!("session-{number:04}")
}

/// Makes sessions with these files; `{session}` in a text is replaced by the session's id.
pub(crate) fn fill_home(home: &Path, sessions: usize, files: &[(&str, &str)]) -> Result<()> {
    for session in (0..sessions).map(session_name) {
        for (file, text) in files {
            let path = home.join("sessions").join(&session).join(file);
            write_file(&path, text.replace("{session}", &session).as_bytes())?;
        }
    }
    Ok(())
}

/// Appends numbered events at an even pace, one at a time, spread over the first `sessions`. Returns when each was written.
pub(crate) fn write_events(home: &Path, sessions: usize, load: Load) -> Result<Vec<Instant>> {
    let pause = Duration::from_secs(1) / u32::try_from(load.per_second).unwrap_or(u32::MAX);
    let mut due = Instant::now();
    let mut written = Vec::new();
    for number in 0..load.per_second * load.seconds {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        due += pause;
        let path = home.join("sessions").join(session_name(number * 7 % sessions)).join("timeline.jsonl");
        written.push(Instant::now());
        append_lines(&path, &event_line(Some(number))).map_err(|e| Error::io("cannot write", &path, &e))?;
    }
    Ok(written)
}

/// The milliseconds from the writing of each event to its reception.
pub(crate) fn delays(written: &[Instant], received: &[(usize, Instant)]) -> Vec<f64> {
    let millis = |from: Instant, to: Instant| to.saturating_duration_since(from).as_secs_f64() * 1000.0;
    received.iter().filter_map(|(number, at)| Some(millis(*written.get(*number)?, *at))).collect()
}

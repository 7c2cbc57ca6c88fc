//! `cargo xtask proof load`: the dashboard under load, held to its limits. Everything is on this machine and ends by itself.

mod dashboard;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::background::in_parallel;
use crate::error::{Error, Result};
use crate::measure::{Limit, Report, percentile, to_float};
use crate::traffic::{Load, Options, delays, event_number, fill_home, write_events};
use crate::{dist, shell, tree};
use dashboard::Dashboard;

const FULL: Load = Load { sessions: 1000, events_each: 2000, per_second: 500, seconds: 20 };
const QUICK: Load = Load { sessions: 100, events_each: 2000, per_second: 500, seconds: 2 };

const LISTENERS: usize = 200;
/// How many sessions the new events are spread over.
const BUSY_SESSIONS: usize = 20;
const STARTS: usize = 7;
const REQUESTS: usize = 50;
const IDLE: Duration = Duration::from_secs(10);
/// A listener that receives nothing for so long has missed events.
const SILENCE: Duration = Duration::from_mins(5);

const OVERVIEW: &str = "/api/sessions";
const STATISTICS: &str = "/api/stats";

pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = dist::chosen(options.binary.as_deref())?;
    let load = if options.quick { QUICK } else { FULL };
    let folder = shell::target_dir()?.join("load");
    tree::remove(&folder)?;
    eprintln!("load: {} sessions with {} events each", load.sessions, load.events_each);
    write_sessions(&folder.join("overtone"), load)?;
    let report = measure(&binary, &folder, load)?;
    tree::remove(&folder)?;
    report.finish(true)
}

/// Sessions that have come to their end, as a busy team leaves them.
fn write_sessions(home: &Path, load: Load) -> Result<()> {
    let done = json!({ "status": "completed", "result": "pass", "attempts": 1 });
    let workflow = json!({
        "sessionId": "{session}", "workflowType": "quick", "createdAt": "2026-01-01T00:00:00.000Z",
        "currentStage": "REVIEW", "stages": { "DEV": done, "REVIEW": done, "TEST": done }, "ending": "completed",
    });
    let kinds = ["stage:start", "agent:delegate", "agent:complete", "stage:complete", "tool:failure"];
    let line = |(number, kind): (usize, &&str)| {
        let (minute, second) = (number / 60 % 60, number % 60);
        let category = kind.split(':').next().unwrap_or_default();
        format!(
            r#"{{"ts":"2026-01-01T00:{minute:02}:{second:02}.000Z","type":"{kind}","category":"{category}","label":"x","stage":"DEV","agent":"developer","result":"pass","durationMs":{number}}}"#
        ) + "\n"
    };
    let timeline: String = (0..load.events_each).zip(kinds.iter().cycle()).map(line).collect();
    let files = [
        ("workflow.json", workflow.to_string()),
        ("loop.json", r#"{"iteration":3,"stopped":true,"consecutiveErrors":0}"#.to_owned()),
        ("session.json", r#"{"project":"/nonexistent/project"}"#.to_owned()),
        ("timeline.jsonl", timeline),
    ];
    let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    fill_home(home, load.sessions, &files)
}

fn measure(binary: &Path, folder: &Path, load: Load) -> Result<Report> {
    let mut report = Report::default();
    let start = |_| Ok(Dashboard::start(binary, folder)?.start_millis);
    let mut starts = (0..STARTS).map(start).collect::<Result<Vec<f64>>>()?;
    report.add("start (median)", percentile(&mut starts, 50), "ms", Limit::Max(300.0));
    measure_statistics(binary, folder, &mut report)?;

    let dashboard = Dashboard::start(binary, folder)?;
    let mut overviews = (0..REQUESTS).map(|_| dashboard.time(OVERVIEW)).collect::<Result<Vec<f64>>>()?;
    report.add("overview (median)", percentile(&mut overviews, 50), "ms", Limit::Max(100.0));
    report.add("overview (slowest)", percentile(&mut overviews, 100), "ms", Limit::Max(100.0));
    eprintln!("load: {LISTENERS} listeners, {} events a second, {} s", load.per_second, load.seconds);
    measure_listeners(&dashboard, &folder.join("overtone"), load, &mut report)?;
    report.add("memory (peak)", dashboard.process.peak_memory_mib()?, "MiB", Limit::Max(60.0));
    eprintln!("load: {} s of rest", IDLE.as_secs());
    report.add("processor at rest", dashboard.process.cpu_percent_during(IDLE)?, "%", Limit::Max(0.5));
    Ok(report)
}

/// What statistics over all sessions cost a server that has just started: for one client, and for ten at once.
fn measure_statistics(binary: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let dashboard = Dashboard::start(binary, folder)?;
    report.add("first statistics", dashboard.time(STATISTICS)?, "ms", Limit::Max(1000.0));
    report.add("statistics again", dashboard.time(STATISTICS)?, "ms", Limit::Max(100.0));
    drop(dashboard);
    let dashboard = Dashboard::start(binary, folder)?;
    let before = dashboard.process.cpu_seconds()?;
    let times = in_parallel(11, |client| dashboard.time(if client < 10 { STATISTICS } else { OVERVIEW }))?;
    report.add("overview meanwhile", times[10], "ms", Limit::Max(1000.0));
    let cpu_seconds = dashboard.process.cpu_seconds()? - before;
    report.add("processor for ten at once", cpu_seconds, "s", Limit::Max(4.0));
    Ok(())
}

fn measure_listeners(dashboard: &Dashboard, home: &Path, load: Load, report: &mut Report) -> Result<()> {
    let ready = Barrier::new(LISTENERS + 1);
    let total = load.per_second * load.seconds;
    let (written, received) = thread::scope(|scope| {
        let listeners: Vec<_> =
            (0..LISTENERS).map(|_| scope.spawn(|| listen(dashboard, total, &ready))).collect();
        ready.wait();
        let written = write_events(home, BUSY_SESSIONS.min(load.sessions), load);
        let received: Vec<_> = listeners.into_iter().map(thread::ScopedJoinHandle::join).collect();
        (written, received)
    });
    let written = written?;
    let (mut all_delays, mut lost, mut repeated) = (Vec::new(), 0, 0);
    for received in received {
        let received = received.map_err(|_| Error::new("a listener has panicked"))??;
        all_delays.extend(delays(&written, &received));
        let mut numbers: Vec<usize> = received.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        lost += total - numbers.len();
        repeated += received.len() - numbers.len();
    }
    report.add("disk to listener (p95)", percentile(&mut all_delays, 95), "ms", Limit::Max(100.0));
    report.add("events lost", to_float(lost), "", Limit::Max(0.0));
    report.add("events repeated", to_float(repeated), "", Limit::Max(0.0));
    Ok(())
}

/// Listens until all events were received, or no more come. Waits for the others before the first one, also after an error.
fn listen(dashboard: &Dashboard, total: usize, ready: &Barrier) -> Result<Vec<(usize, Instant)>> {
    let connection = connect(dashboard);
    ready.wait();
    let (mut stream, mut line, mut received) = (connection?, String::new(), Vec::new());
    while received.len() < total && stream.read_line(&mut line).is_ok_and(|length| length > 0) {
        if let Some(number) = event_number(&line) {
            received.push((number, Instant::now()));
        }
        line.clear();
    }
    Ok(received)
}

/// Subscribes to all events, and reads until the server has said that it listens.
fn connect(dashboard: &Dashboard) -> Result<impl BufRead> {
    let failed = |e: std::io::Error| Error::new(format!("cannot listen to the dashboard: {e}"));
    let stream = dashboard.request("/api/events", "")?;
    stream.set_read_timeout(Some(SILENCE)).map_err(failed)?;
    let (mut stream, mut line) = (BufReader::new(stream), String::new());
    while !line.starts_with(": overtone") {
        line.clear();
        if stream.read_line(&mut line).map_err(failed)? == 0 {
            return Err(Error::new("the dashboard has closed the connection"));
        }
    }
    Ok(stream)
}

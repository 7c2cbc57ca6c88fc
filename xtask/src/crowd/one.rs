//! The crowd on one session: everything at once, and then every mark is looked for.

use std::path::Path;
use std::thread;
use std::time::Instant;

use overtone_core::registry::Hook;
use serde_json::{Value, json};

use super::Size;
use super::follow::Watch;
use super::ground;
use super::marks::Mark;
use super::order;
use super::probe::{self, Waits};
use super::story;
use super::tally::Tally;
use super::traces::Traces;
use super::work::{self, CYCLE, SESSION};
use crate::error::{Error, Result};
use crate::figures::{Bar, Figure, Report, percentile, to_float};
use crate::sandbox::Sandbox;

/// The bar for the wait for the session's lock, at 99 of 100.
const WAIT_MILLIS: f64 = 50.0;

pub(super) fn look(binary: &Path, folder: &Path, size: Size) -> Result<Report> {
    let sandbox = Sandbox::create(folder.to_owned(), binary)?;
    prepare(&sandbox)?;
    let starts = size.workers * size.rounds;
    eprintln!("crowd: {} processes at once on one session, {} rounds each", size.workers, size.rounds);
    let watch = Watch::default();
    let begun = Instant::now();
    let lock = sandbox.session(SESSION).join(".lock");
    let (tally, waits) = watch.during(|| probe::during(&lock, || everybody(&sandbox, &watch, size)));
    let tally = tally?;
    let seconds = begun.elapsed().as_secs_f64();
    let settled = settle(&sandbox)?;
    let mut report = Report { figures: figures(&tally, &waits, &watch, seconds), ..Report::default() };
    report.figures.extend(ground::figures(size)?);
    report.notes.push(format!(
        "one session: {starts} starts by {} processes at once in {seconds:.0} s; the lock was asked for {} times more",
        size.workers,
        waits.count()
    ));
    let traces = Traces::read(&sandbox)?;
    report.findings.extend(traces.check(&tally, &settled));
    let steps = order::largest_steps_back(&traces.timeline);
    report.figures.extend(order::figures(&steps));
    report.findings.extend(tally.findings);
    Ok(report)
}

fn figures(tally: &Tally, waits: &Waits, watch: &Watch, seconds: f64) -> Vec<Figure> {
    let mut took = tally.took.clone();
    took.sort_by(f64::total_cmp);
    vec![
        Figure::new("lock wait (median)", waits.percentile(500), Bar::None, "ms"),
        Figure::new("lock wait (p99)", waits.percentile(990), Bar::AtMostWhenQuiet(WAIT_MILLIS), "ms"),
        Figure::new("lock wait (longest)", waits.percentile(1000), Bar::None, "ms"),
        Figure::new("start to end (p99)", percentile(&took, 990), Bar::None, "ms"),
        Figure::new("starts a second", to_float(took.len()) / seconds, Bar::None, ""),
        Figure::count("starts that gave the lock up", tally.gave_up.len(), Bar::AtMostWhenQuiet(0.0)),
        Figure::count("processes that never ended", watch.stuck(), Bar::AtMost(0.0)),
    ]
}

/// A session with a workflow whose testers may be sent again and again, and limits that nobody reaches.
fn prepare(sandbox: &Sandbox) -> Result<()> {
    sandbox.hook(Hook::OnStart, &sandbox.event(SESSION, Hook::OnStart, json!({ "source": "startup" })))?;
    for arguments in [
        &["init", "quick", "--session", SESSION][..],
        &["config", "set", "loop.maxIterations", "10000"],
        &["config", "set", "loop.maxConsecutiveErrors", "7"],
        &["config", "set", "limits.failures", "10000"],
    ] {
        sandbox.succeed(arguments)?;
    }
    story::agent(sandbox, SESSION, "developer", "PASS").map(drop)
}

/// What it took to bring the session to rest.
pub(super) struct Settled {
    pub(super) resumed: bool,
    /// The last Stop sent the main agent on.
    pub(super) advanced: bool,
}

/// Resumes the loop and stops once more, so that agents without a report are given up and nothing is under way.
fn settle(sandbox: &Sandbox) -> Result<Settled> {
    let said = sandbox.succeed(&["resume", "--json", "--session", SESSION])?;
    let stop = json!({ "stop_hook_active": false, "background_tasks": [] });
    let answer = sandbox.hook(Hook::OnStop, &sandbox.event(SESSION, Hook::OnStop, stop))?;
    Ok(Settled {
        resumed: serde_json::from_str::<Value>(&said).is_ok_and(|answer| answer["changed"] == true),
        advanced: answer["hookSpecificOutput"]["additionalContext"].is_string(),
    })
}

fn everybody(sandbox: &Sandbox, watch: &Watch, size: Size) -> Result<Tally> {
    thread::scope(|scope| {
        let workers: Vec<_> = (0..size.workers)
            .map(|worker| scope.spawn(move || work_through(sandbox, watch, worker, size.rounds)))
            .collect();
        let mut all = Tally::default();
        for worker in workers {
            let tally = worker.join().map_err(|_| Error::new("a worker has panicked"))??;
            all = all.join(tally);
        }
        Ok(all)
    })
}

fn work_through(sandbox: &Sandbox, watch: &Watch, worker: usize, rounds: usize) -> Result<Tally> {
    let mut tally = Tally::default();
    for round in 0..rounds {
        let (step, mark) = (work::step(worker, round), Mark { worker, round });
        let mut start = work::start(sandbox, step, mark);
        let begun = Instant::now();
        let output = watch.run(&mut start.command, &start.payload)?;
        let took = begun.elapsed().as_secs_f64() * 1000.0;
        tally.add(step, mark, work::read(step, &output), took);
        if worker == 0 && (round + 1) % CYCLE == 0 {
            eprintln!("crowd: round {} of {rounds}", round + 1);
        }
    }
    Ok(tally)
}

//! `cargo xtask fleet`: the relay under load with a real server, and what it costs the hooks, which is nothing.

mod cost;
mod listen;
mod place;
mod relay;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::Result;
use crate::figures::{Bar, Figure, Report};
use crate::{dist, shell, tools, tree};
use listen::Listener;
use place::Place;
use relay::Relay;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// A tenth of the sessions and of the time: a first look, not a figure to quote
    #[arg(long)]
    quick: bool,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
    /// Let times decide the exit code too; for a quiet machine
    #[arg(long)]
    strict: bool,
    /// Try this program instead of building the dist binary
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

/// What is laid on the relay.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) sessions: usize,
    /// That wait in each of them when the relay starts.
    pub(crate) waiting: usize,
    pub(crate) per_second: usize,
    pub(crate) seconds: usize,
}

const FULL: Load = Load { sessions: 1_000, waiting: 200, per_second: 500, seconds: 20 };
const QUICK: Load = Load { sessions: 100, waiting: 200, per_second: 200, seconds: 3 };

const REST: Duration = Duration::from_secs(10);

pub(crate) fn run(options: &Options) -> Result<()> {
    tools::require("nats-server")?;
    tools::require("strace")?;
    let binary = dist::chosen(options.binary.as_deref())?;
    let report = look(&binary, if options.quick { QUICK } else { FULL })?;
    report.print(options.json);
    report.decide(options.strict)
}

fn look(binary: &Path, load: Load) -> Result<Report> {
    let folder = shell::target_dir()?.join("fleet");
    tree::remove(&folder)?;
    let mut report = Report::default();
    under_load(binary, &folder, load, &mut report)?;
    cost::look(binary, &folder.join("cost"), &mut report)?;
    report.figures.push(Figure::count("things wrong", report.findings.len(), Bar::AtMost(0.0)));
    tree::remove(&folder)?;
    Ok(report)
}

fn under_load(binary: &Path, folder: &Path, load: Load, report: &mut Report) -> Result<()> {
    let place = Place::create(&folder.join("load"), binary)?;
    eprintln!("fleet: {} sessions with {} events each", load.sessions, load.waiting);
    place.fill(load)?;
    let listener = Listener::start(&place)?;
    let relay = Relay::start(&place)?;
    let waiting = load.sessions * load.waiting;
    let rate = listener.rate_of(waiting)?;
    eprintln!("fleet: {} events a second, {} s", load.per_second, load.seconds);
    let lags = listener.lags(&place, load)?;
    eprintln!("fleet: {} s of rest", REST.as_secs());
    let busy = relay.busy_during(REST)?;
    report.findings.extend(listener.findings(load));
    report.notes.push(format!(
        "{} sessions, {waiting} events waiting, then {} a second",
        load.sessions, load.per_second
    ));
    report.figures.extend([
        Figure::new("events a second through one relay", rate, Bar::AtLeastWhenQuiet(20_000.0), ""),
        Figure::new("disk to listener (median)", crate::figures::percentile(&lags, 500), Bar::None, "ms"),
        Figure::new(
            "disk to listener (p95)",
            crate::figures::percentile(&lags, 950),
            Bar::AtMostWhenQuiet(200.0),
            "ms",
        ),
        Figure::new("memory of the relay, at its peak", relay.peak_memory()?, Bar::AtMost(60.0), "MiB"),
        Figure::new("processor at rest", busy, Bar::None, "%"),
    ]);
    Ok(())
}

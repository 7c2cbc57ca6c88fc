//! `cargo xtask load`: the dashboard under load, against its bars. Everything is on this machine and ends by itself.

mod home;
mod listeners;
mod server;

use std::time::Duration;

use crate::error::{Error, Result};
use crate::{dist, shell, tree};
use server::Server;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// A tenth of the load: a first look, not a figure to quote
    #[arg(long)]
    quick: bool,
}

/// What is laid on the server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) sessions: usize,
    pub(crate) events_each: usize,
    pub(crate) listeners: usize,
    pub(crate) per_second: usize,
    pub(crate) seconds: usize,
}

/// A figure and what it may be at most.
struct Figure {
    what: &'static str,
    found: f64,
    bar: f64,
    unit: &'static str,
}

const STARTS: usize = 7;
const LOOKS: usize = 50;
const STATISTICS: &str = "/api/stats";
const IDLE: Duration = Duration::from_secs(10);

pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = dist::build()?.path;
    let part = if options.quick { 10 } else { 1 };
    let load = Load {
        sessions: 1000 / part,
        events_each: 2000,
        listeners: 200,
        per_second: 500,
        seconds: 20 / part,
    };
    let folder = shell::target_dir()?.join("load");
    tree::remove(&folder)?;
    eprintln!("load: {} sessions with {} events each", load.sessions, load.events_each);
    home::make(&folder, &load)?;
    let figures = measure(&binary, &folder, &load)?;
    tree::remove(&folder)?;
    report(&figures)
}

fn measure(binary: &std::path::Path, folder: &std::path::Path, load: &Load) -> Result<Vec<Figure>> {
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        starts.push(Server::start(binary, folder)?.took);
    }
    let statistics = Statistics::measure(binary, folder)?;
    let server = Server::start(binary, folder)?;
    let mut looks = Vec::new();
    for _ in 0..LOOKS {
        looks.push(server.time("/api/sessions")?);
    }
    eprintln!("load: {} listeners, {} events a second, {} s", load.listeners, load.per_second, load.seconds);
    let heard = listeners::run(&server, folder, load)?;
    let memory = server.peak_memory()?;
    eprintln!("load: {} s of rest", IDLE.as_secs());
    let busy = server.busy_during(IDLE)?;
    Ok(vec![
        Figure { what: "start (median)", found: median(&mut starts), bar: 300.0, unit: "ms" },
        Figure { what: "overview (median)", found: median(&mut looks), bar: 100.0, unit: "ms" },
        Figure { what: "overview (slowest)", found: last(&looks), bar: 100.0, unit: "ms" },
        Figure { what: "first statistics", found: statistics.first, bar: 1000.0, unit: "ms" },
        Figure { what: "statistics again", found: statistics.again, bar: 100.0, unit: "ms" },
        Figure { what: "overview meanwhile", found: statistics.overview, bar: 1000.0, unit: "ms" },
        Figure { what: "processor for ten at once", found: statistics.processor, bar: 4.0, unit: "s" },
        Figure { what: "disk to listener (p95)", found: heard.p95, bar: 100.0, unit: "ms" },
        Figure { what: "events lost", found: heard.lost, bar: 0.0, unit: "" },
        Figure { what: "events repeated", found: heard.repeated, bar: 0.0, unit: "" },
        Figure { what: "memory (peak)", found: memory, bar: 60.0, unit: "MiB" },
        Figure { what: "processor at rest", found: busy * 100.0, bar: 0.5, unit: "%" },
    ])
}

/// What statistics over all sessions cost a server that has just started.
struct Statistics {
    first: f64,
    again: f64,
    /// The overview, while ten ask for statistics for the first time.
    overview: f64,
    processor: f64,
}

impl Statistics {
    fn measure(binary: &std::path::Path, folder: &std::path::Path) -> Result<Self> {
        let server = Server::start(binary, folder)?;
        let first = server.time(STATISTICS)?;
        let again = server.time(STATISTICS)?;
        drop(server);
        let server = Server::start(binary, folder)?;
        let before = server.processor_seconds()?;
        let overview = std::thread::scope(|scope| {
            let all: Vec<_> = (0..10).map(|_| scope.spawn(|| server.time(STATISTICS))).collect();
            let overview = server.time("/api/sessions");
            for one in all {
                one.join().map_err(|_| Error::new("a question for statistics panicked"))??;
            }
            overview
        })?;
        Ok(Self { first, again, overview, processor: server.processor_seconds()? - before })
    }
}

fn median(millis: &mut [f64]) -> f64 {
    millis.sort_by(f64::total_cmp);
    millis.get(millis.len() / 2).copied().unwrap_or_default()
}

/// Of a sorted list.
fn last(millis: &[f64]) -> f64 {
    millis.last().copied().unwrap_or_default()
}

fn report(figures: &[Figure]) -> Result<()> {
    println!("{:<26} {:>10} {:>10}", "", "found", "bar");
    for figure in figures {
        let mark = if figure.found <= figure.bar { "" } else { "  OVER" };
        println!("{:<26} {:>10.1} {:>10.1} {}{mark}", figure.what, figure.found, figure.bar, figure.unit);
    }
    let over = figures.iter().filter(|figure| figure.found > figure.bar).count();
    if over == 0 {
        return Ok(());
    }
    Err(Error::new(format!("{over} bars of the dashboard are exceeded")).hint("is the machine quiet?"))
}

//! `cargo xtask proof fleet`: the relay under load with a real server, and what it costs the hooks, which is nothing.

mod hook_cost;

use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::background::Background;
use crate::error::{Error, Result};
use crate::measure::{Limit, Report, percentile, to_float};
use crate::sandbox::Sandbox;
use crate::shell::write_file;
use crate::traffic::{Load, Options, delays, event_line, event_number, fill_home, write_events};
use crate::{dist, shell, tools, tree};

const FULL: Load = Load { sessions: 1_000, events_each: 200, per_second: 500, seconds: 20 };
const QUICK: Load = Load { sessions: 100, events_each: 200, per_second: 200, seconds: 3 };

const IDLE: Duration = Duration::from_secs(10);
/// If no event comes for so long, it is lost.
const SILENCE: Duration = Duration::from_mins(5);
const SERVER_TIMEOUT: Duration = Duration::from_mins(5);

pub(crate) fn run(options: &Options) -> Result<()> {
    tools::require("nats-server")?;
    tools::require("strace")?;
    let binary = dist::chosen(options.binary.as_deref())?;
    let folder = shell::target_dir()?.join("fleet");
    tree::remove(&folder)?;
    let mut report = Report::default();
    measure_relay(&binary, &folder.join("load"), if options.quick { QUICK } else { FULL }, &mut report)?;
    hook_cost::measure(&binary, &folder.join("cost"), &mut report)?;
    tree::remove(&folder)?;
    report.finish(true)
}

fn measure_relay(binary: &Path, folder: &Path, load: Load, report: &mut Report) -> Result<()> {
    let machine = Machine::create(folder, binary)?;
    let home = machine.sandbox.overtone_home();
    eprintln!("fleet: {} sessions with {} events each", load.sessions, load.events_each);
    let timeline = event_line(None).repeat(load.events_each);
    fill_home(&home, load.sessions, &[("timeline.jsonl", &timeline)])?;
    let listener = Listener::start(&machine)?;
    let relay = machine.start_relay()?;
    let waiting = listener.receive(load.sessions * load.events_each)?;
    let times: Vec<Instant> = waiting.iter().map(|(at, _)| *at).collect();
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return Err(Error::new("there are no events to send"));
    };
    let rate = to_float(times.len()) / last.duration_since(*first).as_secs_f64();
    report.add("events a second through one relay", rate, "", Limit::Min(20_000.0));

    eprintln!("fleet: {} events a second, {} s", load.per_second, load.seconds);
    let written = write_events(&home, load.sessions, load)?;
    let lines = listener.receive(written.len())?;
    let received: Vec<_> = lines.iter().filter_map(|(at, line)| Some((event_number(line)?, *at))).collect();
    let mut delays = delays(&written, &received);
    report.add("disk to listener (median)", percentile(&mut delays, 50), "ms", Limit::None);
    report.add("disk to listener (p95)", percentile(&mut delays, 95), "ms", Limit::Max(200.0));
    report.add("memory of the relay (peak)", relay.peak_memory_mib()?, "MiB", Limit::Max(60.0));
    eprintln!("fleet: {} s of rest", IDLE.as_secs());
    report.add("processor at rest", relay.cpu_percent_during(IDLE)?, "%", Limit::None);
    let mut numbers: Vec<usize> = received.into_iter().map(|(number, _)| number).collect();
    numbers.sort_unstable();
    if !numbers.into_iter().eq(0..written.len()) || listener.events.try_recv().is_ok() {
        report.errors.push("not every event has come exactly once".to_owned());
    }
    Ok(())
}

/// A home that belongs to a fleet with a server of its own.
struct Machine {
    sandbox: Sandbox,
    server: Background,
}

impl Machine {
    fn create(folder: &Path, binary: &Path) -> Result<Self> {
        let (server, port) = start_server(&folder.join("server"))?;
        let machine = Self { sandbox: Sandbox::create(folder.to_owned(), binary)?, server };
        let fleet = json!({ "fleet": { "url": format!("nats://127.0.0.1:{port}"), "name": "loaded" } });
        write_file(&machine.sandbox.overtone_home().join("config.json"), fleet.to_string().as_bytes())?;
        Ok(machine)
    }

    fn start_relay(&self) -> Result<Background> {
        let mut command = self.sandbox.command(&["relay"]);
        Background::start(command.stdout(Stdio::null()).stderr(Stdio::null()))
    }
}

fn start_server(folder: &Path) -> Result<(Background, u16)> {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    let port = free.map_err(|e| Error::new(format!("no free port: {e}")))?.port();
    let mut command = Command::new("nats-server");
    command.env("PATH", tools::path()?);
    command.args(["-js", "-a", "127.0.0.1", "-p", &port.to_string(), "-sd"]).arg(folder);
    let server = Background::start(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()))?;
    let begun = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        if begun.elapsed() > SERVER_TIMEOUT {
            return Err(Error::new("nats-server does not start"));
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok((server, port))
}

/// `overtone fleet tail`, which prints all events of the fleet, and when each line came.
struct Listener {
    _process: Background,
    events: Receiver<(Instant, String)>,
}

impl Listener {
    fn start(machine: &Machine) -> Result<Self> {
        let mut command = machine.sandbox.command(&["fleet", "tail", "--json"]);
        let mut process = Background::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
        let (Some(stdout), Some(stderr)) = (process.0.stdout.take(), process.0.stderr.take()) else {
            return Err(Error::new("a listener has no output"));
        };
        let (sender, events) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(std::io::Result::ok) {
                // This fails when nobody receives any more.
                let _ = sender.send((Instant::now(), line));
            }
        });
        // The first line says that it listens, or why it cannot.
        let mut first = String::new();
        let read = BufReader::new(stderr).read_line(&mut first);
        read.map_err(|e| Error::new(format!("cannot read what the listener says: {e}")))?;
        if first.is_empty() || first.starts_with("error") {
            return Err(Error::new(format!("cannot listen: {first}")));
        }
        Ok(Self { _process: process, events })
    }

    fn receive(&self, count: usize) -> Result<Vec<(Instant, String)>> {
        let mut received = Vec::new();
        while received.len() < count {
            let event = self.events.recv_timeout(SILENCE);
            let missing = |_| Error::new(format!("only {} of {count} events have come", received.len()));
            received.push(event.map_err(missing)?);
        }
        Ok(received)
    }
}

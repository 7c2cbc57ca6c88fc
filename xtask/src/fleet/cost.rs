//! What a hook costs on a machine without a fleet, with a relay, and with a relay whose server is gone: the same.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use overtone_core::registry::Hook;
use serde_json::{Value, json};

use super::place::Place;
use super::relay::Relay;
use crate::error::{Error, Result};
use crate::figures::{Bar, Figure, Report, percentile, to_float};
use crate::sandbox::{Sandbox, feed};
use crate::shell::write_file;

const SESSION: &str = "cost";
const STARTS: usize = 300;

/// Slower than without by so much at most; what is measured twice differs by as much.
const SLOWER: f64 = 1.1;

/// A hook that writes, and one that only looks.
fn hooks() -> [(Hook, Value); 2] {
    let task = json!({ "tool_name": "Task", "tool_input": { "subagent_type": "ot:tester", "prompt": "x" } });
    [(Hook::PreCompact, json!({ "trigger": "auto" })), (Hook::PreTask, task)]
}

pub(super) fn look(binary: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    eprintln!("fleet: {STARTS} starts of hooks without a fleet, with one, and with one whose server is gone");
    let alone = Sandbox::create(folder.join("alone"), binary)?;
    // All have a configuration, or the ones that do would pay for reading it.
    write_file(&alone.overtone_home().join("config.json"), br#"{"language":"en"}"#)?;
    let joined = Place::create(&folder.join("joined"), binary)?;
    let mut cut_off = Place::create(&folder.join("cut-off"), binary)?;
    let _relays = [Relay::start(&joined)?, Relay::start(&cut_off)?];
    cut_off.stop_server();
    let places = [("alone", &alone), ("with a relay", &joined.sandbox), ("server gone", &cut_off.sandbox)];
    for (_, place) in places {
        place.hook(Hook::OnStart, &place.event(SESSION, Hook::OnStart, json!({ "source": "startup" })))?;
        place.succeed(&["init", "quick", "--session", SESSION])?;
    }
    for (hook, fields) in hooks() {
        compare(&places, hook, &fields, report)?;
    }
    Ok(())
}

fn compare(places: &[(&str, &Sandbox); 3], hook: Hook, fields: &Value, report: &mut Report) -> Result<()> {
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..STARTS {
        for ((_, place), times) in places.iter().zip(&mut times) {
            times.push(time(place, hook, fields)?);
        }
    }
    let fast = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        percentile(&times, 100)
    });
    let alone_calls = calls(places[0].1, hook, fields)?;
    for ((name, place), time) in places.iter().zip(fast).skip(1) {
        let what = format!("{} {name}, against alone", hook.name());
        report.figures.push(Figure::new(what, time / fast[0], Bar::AtMostWhenQuiet(SLOWER), "x"));
        let calls = calls(place, hook, fields)?;
        if calls != alone_calls {
            let finding = format!("{} {name}: {calls} system calls, {alone_calls} alone", hook.name());
            report.findings.push(finding);
        }
    }
    report.figures.push(Figure::new(
        format!("{} in system calls", hook.name()),
        to_float(alone_calls),
        Bar::None,
        "",
    ));
    Ok(())
}

fn time(place: &Sandbox, hook: Hook, fields: &Value) -> Result<f64> {
    let payload = place.event(SESSION, hook, fields.clone());
    let begun = Instant::now();
    let child = feed(&mut place.command(&["hook", hook.name()]), &payload)?;
    child.wait_with_output().map_err(|e| Error::new(format!("a hook is lost: {e}")))?;
    Ok(begun.elapsed().as_secs_f64() * 1000.0)
}

/// By name, so that a wait more or less for a lock does not count.
fn calls(place: &Sandbox, hook: Hook, fields: &Value) -> Result<usize> {
    let payload = place.event(SESSION, hook, fields.clone());
    let log = place.home().join("calls");
    let mut command: Command = place.command_of(Path::new("strace"), &["-f", "-qq", "-o"]);
    command.arg(&log).arg(place.binary()).args(["hook", hook.name()]);
    let child = feed(&mut command, &payload)?;
    child.wait_with_output().map_err(|e| Error::new(format!("a hook is lost: {e}")))?;
    let text = std::fs::read_to_string(&log).map_err(|e| Error::io("cannot read", &log, &e))?;
    Ok(text.lines().filter(|line| !line.contains("flock(") && !line.contains("nanosleep(")).count())
}

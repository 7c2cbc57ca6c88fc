//! What a hook costs on a machine without a fleet, with a relay, and with a relay whose server is gone: the same.

use std::path::Path;
use std::time::Instant;

use overtone_core::registry::Hook;
use serde_json::{Value, json};

use super::Machine;
use crate::dist;
use crate::error::{Error, Result};
use crate::measure::{Limit, Report, millis_since, percentile, to_float};
use crate::sandbox::{Sandbox, feed};
use crate::shell::write_file;

const SESSION: &str = "cost";
const STARTS: usize = 300;
/// How much slower than without a fleet: two measurements of the same thing differ by as much.
const MAX_RATIO: f64 = 1.1;

pub(super) fn measure(binary: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    eprintln!("fleet: {STARTS} starts of hooks without a fleet, with one, and with one whose server is gone");
    let alone = Sandbox::create(folder.join("alone"), binary)?;
    // The others have a configuration, too, and reading it takes time.
    write_file(&alone.overtone_home().join("config.json"), br#"{"language":"en"}"#)?;
    let joined = Machine::create(&folder.join("joined"), binary)?;
    let mut cut_off = Machine::create(&folder.join("cut-off"), binary)?;
    let _relays = [joined.start_relay()?, cut_off.start_relay()?];
    cut_off.server.stop();
    let homes = [("alone", &alone), ("with a relay", &joined.sandbox), ("server gone", &cut_off.sandbox)];
    for (_, home) in homes {
        home.hook(Hook::OnStart, &home.event(SESSION, Hook::OnStart, json!({ "source": "startup" })))?;
        home.succeed(&["init", "quick", "--session", SESSION])?;
    }
    // A hook that writes, and one that only reads.
    let task = json!({ "tool_name": "Task", "tool_input": { "subagent_type": "ot:tester", "prompt": "x" } });
    compare(homes, Hook::PreCompact, &json!({ "trigger": "auto" }), report)?;
    compare(homes, Hook::PreTask, &task, report)
}

fn compare(homes: [(&str, &Sandbox); 3], hook: Hook, fields: &Value, report: &mut Report) -> Result<()> {
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..STARTS {
        for ((_, home), times) in homes.iter().zip(&mut times) {
            let begun = Instant::now();
            home.hook(hook, &home.event(SESSION, hook, fields.clone()))?;
            times.push(millis_since(begun));
        }
    }
    // The tenth percentile: the rest of the machine slows the others down.
    let times = times.map(|mut times| percentile(&mut times, 10));
    let calls_alone = count_system_calls(homes[0].1, hook, fields)?;
    report.add(format!("{}, system calls", hook.name()), to_float(calls_alone), "", Limit::None);
    for ((name, home), time) in homes.iter().zip(times).skip(1) {
        let ratio = time / times[0];
        report.add(format!("{} {name}, against alone", hook.name()), ratio, "x", Limit::Max(MAX_RATIO));
        let calls = count_system_calls(home, hook, fields)?;
        if calls != calls_alone {
            let error = format!("{} {name}: {calls} system calls, {calls_alone} alone", hook.name());
            report.errors.push(error);
        }
    }
    Ok(())
}

/// Without those for locks, whose number depends on how long others have them.
fn count_system_calls(home: &Sandbox, hook: Hook, fields: &Value) -> Result<usize> {
    let log = home.home().join("calls");
    let mut command = home.command_of(Path::new("strace"), &["-f", "-qq", "-o"]);
    command.arg(&log).arg(dist::hook_program(home.binary())).args(["hook", hook.name()]);
    let traced = feed(&mut command, &home.event(SESSION, hook, fields.clone()).to_string())?;
    traced.wait_with_output().map_err(|e| Error::new(format!("cannot trace a hook: {e}")))?;
    let calls = std::fs::read_to_string(&log).map_err(|e| Error::io("cannot read", &log, &e))?;
    Ok(calls.lines().filter(|line| !line.contains("flock(") && !line.contains("nanosleep(")).count())
}

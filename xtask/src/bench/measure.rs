//! The measurements: system calls and memory by strace and GNU time, instructions by callgrind, times by hyperfine.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::cases::Class;
use super::subject::{Subject, TRUE};
use crate::error::{Error, Result};
use crate::tools;

/// What is the same in every run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub calls: usize,
    pub processes: usize,
    /// The memory that the program requested from the kernel for itself. It counts what was given back, too.
    pub requested_kib: usize,
    /// The most that was in memory at once, the program's file included. The tool's own start counts, too: about 1 MiB.
    pub peak_kib: usize,
    /// `None` for an interpreter or a program that becomes another one.
    pub instructions: Option<usize>,
}

/// In seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub p10: f64,
    pub median: f64,
    pub p90: f64,
    /// The 10th percentile against that of `/bin/true` in the same run of hyperfine.
    pub to_true: f64,
}

pub(crate) fn install_tools() -> Result<()> {
    ["strace", "valgrind", "/usr/bin/time"].into_iter().try_for_each(tools::require)
}

/// Returns the counts and what the program printed. Fails unless it does what it is measured for.
pub(crate) fn count(subject: &Subject, scratch: &Path) -> Result<(Counts, String)> {
    let file = scratch.join("output.txt");
    let path = file.display().to_string();
    let read = || fs::read_to_string(&file).map_err(|e| Error::io("cannot read", &file, &e));
    let printed = subject.check_under("strace", &["-f", "-o", &path])?;
    let mut counts = read_strace(&read()?);
    subject.run_under("/usr/bin/time", &["-f", "%M", "-o", &path])?;
    let peak = read()?.trim().parse();
    counts.peak_kib = peak.map_err(|e| Error::new(format!("no peak of {}: {e}", subject.label())))?;
    if let Some(Class::Reading | Class::Writing) = subject.class {
        counts.instructions = Some(instructions(subject)?);
    }
    Ok((counts, printed))
}

/// Counts everything after the first line, which is the start of the program.
fn read_strace(log: &str) -> Counts {
    let (mut counts, mut processes) = (Counts::default(), BTreeSet::new());
    let (mut requested, mut heap_end) = (0, 0);
    for line in log.lines().skip(1) {
        let Some((process, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        processes.insert(process);
        if call.starts_with(['+', '-', '<']) {
            continue; // an exit, a signal, or the second half of a call
        }
        counts.calls += 1;
        if call.starts_with("mmap(") && call.contains("PROT_WRITE") && call.contains("MAP_ANONYMOUS") {
            let length = call.split(", ").nth(1).unwrap_or_default();
            requested += length.parse::<usize>().unwrap_or_default();
        } else if let Some((arguments, end)) = call.split_once("= 0x")
            && arguments.starts_with("brk(")
        {
            let end = usize::from_str_radix(end, 16).unwrap_or_default();
            if !arguments.starts_with("brk(NULL)") {
                requested += end.saturating_sub(heap_end);
            }
            heap_end = end;
        }
    }
    counts.processes = processes.len();
    counts.requested_kib = requested.div_ceil(1024);
    counts
}

/// Callgrind prints `==123== Collected : 147802`.
fn instructions(subject: &Subject) -> Result<usize> {
    let output = subject.run_under("valgrind", &["--tool=callgrind", "--callgrind-out-file=/dev/null"])?;
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find_map(|line| line.split_once("Collected :"));
    line.and_then(|(_, count)| count.trim().parse().ok())
        .ok_or_else(|| Error::new(format!("no instruction count for {}: {text}", subject.label())))
}

/// The `hyperfine` on PATH, if it can give a program its stdin, else a private copy that is built once.
pub(crate) fn hyperfine() -> Result<PathBuf> {
    tools::crate_program("hyperfine", "1.20.0", |program| {
        match Command::new(program).arg("--help").output() {
            Ok(help) => String::from_utf8_lossy(&help.stdout).contains("--input"),
            Err(_) => false,
        }
    })
}

/// Times the program and, in the same run, `/bin/true`. Both are started directly, without a shell, with the same input
/// and environment and after the same preparation.
pub(crate) fn time(hyperfine: &Path, subject: &Subject, runs: u32, scratch: &Path) -> Result<Times> {
    let (file, runs) = (scratch.join("times.json"), runs.to_string());
    let mut command = subject.surround(&hyperfine.display().to_string())?;
    command.args(["--shell=none", "--style=none", "--warmup=10", "--runs", &runs, "--export-json"]);
    command.arg(&file).arg("--input").arg(subject.stdin());
    if subject.writes() {
        let xtask = env::current_exe().map_err(|e| Error::new(format!("cannot find xtask: {e}")))?;
        let (xtask, fixture) = (xtask.display().to_string(), subject.fixture().display().to_string());
        command.arg("--prepare").arg(quote(&[&xtask, "proof", "bench", "--restore", &fixture]));
    }
    let line = subject.command_line();
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let output = command.arg(TRUE).arg(quote(&line)).output();
    let output = output.map_err(|e| Error::new(format!("cannot run hyperfine: {e}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Error::new(format!("cannot time {}: {said}", subject.label())));
    }
    subject.restore()?;
    let text = fs::read(&file).map_err(|e| Error::io("cannot read", &file, &e))?;
    read_times(&text).ok_or_else(|| Error::new(format!("hyperfine has no times of {}", subject.label())))
}

fn quote(line: &[&str]) -> String {
    line.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect::<Vec<_>>().join(" ")
}

fn read_times(export: &[u8]) -> Option<Times> {
    let export: Value = serde_json::from_slice(export).ok()?;
    let sorted = |index: usize| {
        let times = export["results"][index]["times"].as_array()?;
        let mut times: Vec<f64> = times.iter().filter_map(Value::as_f64).collect();
        times.sort_by(f64::total_cmp);
        Some(times)
    };
    let percentile = |sorted: &[f64], percent: usize| sorted.get(sorted.len() * percent / 100).copied();
    let (nothing, own) = (sorted(0)?, sorted(1)?);
    let p10 = percentile(&own, 10)?;
    let (median, p90) = (percentile(&own, 50)?, percentile(&own, 90)?);
    Some(Times { p10, median, p90, to_true: p10 / percentile(&nothing, 10)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_processes_and_requested_memory_are_read_from_a_trace() {
        let log = "7 execve(\"./x\", [\"./x\"], 0x7ffd /* 9 vars */) = 0\n\
                   7 brk(NULL) = 0x1000\n7 brk(0x3000) = 0x3000\n\
                   7 mmap(NULL, 65536, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f\n\
                   7 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7e\n\
                   7 wait4(-1,  <unfinished ...>\n8 exit_group(0) = ?\n8 +++ exited with 0 +++\n\
                   7 <... wait4 resumed>0x7ffd, 0, NULL) = 8\n7 --- SIGCHLD {si_signo=SIGCHLD} ---\n";
        let expected = Counts { calls: 6, processes: 2, requested_kib: 72, ..Counts::default() };
        assert_eq!(read_strace(log), expected);
    }

    #[test]
    fn times_are_compared_with_those_of_the_same_run() {
        let times = |factor: u32| (1..=100).rev().map(|n| f64::from(n * factor)).collect::<Vec<_>>();
        let export = serde_json::json!({ "results": [{ "times": times(1) }, { "times": times(3) }] });
        let times = read_times(export.to_string().as_bytes()).unwrap();
        assert!((times.p10 - 33.0).abs() < 1e-9 && (times.median - 153.0).abs() < 1e-9);
        assert!((times.p90 - 273.0).abs() < 1e-9 && (times.to_true - 3.0).abs() < 1e-9);
        assert!(read_times(b"{}").is_none());
    }
}

//! Peak resident memory of a hook, exactly.
//!
//! `wait4` and `getrusage` would not do: Linux counts the memory of the parent that called exec into the child's
//! maximum, so every small program seems as large as its starter. The high-water mark in `/proc` is the
//! program's own, but is gone at exit. Hence the child is stopped in the moment of its exit and read there.

use std::fs;
use std::io::Write as _;
use std::process::{Child, Stdio};

use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use super::subject::{Subject, Subjects};
use crate::error::{Error, Result};

/// The peak of each subject in KiB; none for the baseline, which does not wait for its stdin.
pub(crate) fn measure(subjects: &mut Subjects) -> Result<Vec<Option<u64>>> {
    (0..subjects.len())
        .map(|index| {
            let (subject, _) = subjects.prepare(index)?;
            match subject.payload() {
                Some(path) => {
                    let payload = fs::read(path).map_err(|e| Error::io("cannot read payload", path, &e))?;
                    peak(subject, &payload).map(Some)
                }
                None => Ok(None),
            }
        })
        .collect()
}

fn peak(subject: &Subject, payload: &[u8]) -> Result<u64> {
    let failed = |cause: &dyn std::fmt::Display| {
        Error::new(format!("cannot read the memory of {}: {cause}", subject.label()))
            .hint("this needs ptrace, which some containers forbid")
    };
    let mut command = subject.command()?;
    command.stdin(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|e| failed(&e))?;
    let outcome = trace(&mut child, payload);
    // Whatever happened, the child is not left behind; after an orderly exit this only reaps it.
    if outcome.is_err() {
        let _ = child.kill();
    }
    child.wait().map_err(|e| failed(&e))?;
    outcome.map_err(|e| failed(&e))
}

/// The payload is held back until the child is under observation, so it cannot end too early.
fn trace(child: &mut Child, payload: &[u8]) -> std::io::Result<u64> {
    let pid = Pid::from_raw(i32::try_from(child.id()).map_err(std::io::Error::other)?);
    ptrace::seize(pid, Options::PTRACE_O_TRACEEXIT)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(payload)?;
    }
    loop {
        match waitpid(pid, None)? {
            WaitStatus::PtraceEvent(..) => break,
            WaitStatus::Stopped(_, signal) => ptrace::cont(pid, signal)?,
            other => return Err(std::io::Error::other(format!("it ended unseen: {other:?}"))),
        }
    }
    let status = fs::read_to_string(format!("/proc/{pid}/status"));
    ptrace::cont(pid, None::<Signal>)?;
    high_water_mark(&status?).ok_or_else(|| std::io::Error::other("no VmHWM in its status"))
}

fn high_water_mark(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_peak_of_a_real_program_is_read() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let peak = trace(&mut child, b"x").unwrap();
        assert!(child.wait().unwrap().success());
        assert!((100..50_000).contains(&peak), "{peak} KiB");
    }
}

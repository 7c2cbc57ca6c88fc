//! A hook that is killed at an exact point: at its n-th entry to or return from the kernel after it began to read
//! its payload. A killer that waited by the clock could not repeat itself.

use std::fs;
use std::io::{self, Write as _};
use std::process::{Child, Command, Output, Stdio};

use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use serde_json::Value;

use crate::error::{Error, Result};

/// Runs a hook and kills it at that point. Returns its output if it ended before.
pub(crate) fn run(command: &mut Command, payload: &Value, point: usize) -> Result<Option<Output>> {
    let failed = |e: &io::Error| {
        Error::new(format!("cannot kill a hook at a point: {e}"))
            .hint("this needs ptrace, which some containers forbid")
    };
    let mut child = command.stdin(Stdio::piped()).spawn().map_err(|e| failed(&e))?;
    match trace(&mut child, payload.to_string().as_bytes(), point) {
        Ok(true) => end(&mut child).map(|()| None).map_err(|e| failed(&e)),
        Ok(false) => child.wait_with_output().map(Some).map_err(|e| failed(&e)),
        Err(error) => {
            // It is not left behind, whatever went wrong; the first error is the one to tell.
            let _ = end(&mut child);
            Err(failed(&error))
        }
    }
}

/// Kills the child, which is ours and not reaped yet, so its id is still its own. One under observation stops once
/// more on its way out, with its files and locks still open: only after that it is gone.
fn end(child: &mut Child) -> io::Result<()> {
    let pid = pid_of(child)?;
    child.kill()?;
    while let WaitStatus::PtraceEvent(..) | WaitStatus::PtraceSyscall(_) | WaitStatus::Stopped(..) =
        waitpid(pid, None)?
    {
        ptrace::cont(pid, None)?;
    }
    Ok(())
}

fn pid_of(child: &Child) -> io::Result<Pid> {
    i32::try_from(child.id()).map(Pid::from_raw).map_err(io::Error::other)
}

/// Lets the child go on from stop to stop; whether it came as far as `point`. The payload is held back until it is
/// under observation, so that counting begins at the same place every time.
fn trace(child: &mut Child, payload: &[u8], point: usize) -> io::Result<bool> {
    let pid = pid_of(child)?;
    ptrace::seize(pid, Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_TRACEEXIT)?;
    ptrace::interrupt(pid)?;
    waitpid(pid, None)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(payload)?;
    }
    let mut seen: Option<usize> = None;
    loop {
        ptrace::syscall(pid, None)?;
        match waitpid(pid, None)? {
            // Gone after this; `Child` reaps it.
            WaitStatus::PtraceEvent(_, _, event) if event == libc::PTRACE_EVENT_EXIT => {
                ptrace::detach(pid, None)?;
                return Ok(false);
            }
            WaitStatus::PtraceSyscall(_) => {
                seen = seen.map(|count| count + 1).or_else(|| reads_payload(pid).then_some(0));
            }
            _ => {}
        }
        if seen.is_some_and(|count| count >= point) {
            return Ok(true);
        }
    }
}

/// Whether the stopped process is about to read its stdin.
fn reads_payload(pid: Pid) -> bool {
    let call = fs::read_to_string(format!("/proc/{pid}/syscall")).unwrap_or_default();
    let mut words = call.split_whitespace();
    words.next() == Some(&libc::SYS_read.to_string()) && words.next() == Some("0x0")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cat() -> Command {
        let mut command = Command::new("cat");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    #[test]
    fn an_early_point_kills_and_a_late_one_does_not() {
        let payload = serde_json::json!({"a": 1});
        assert!(run(&mut cat(), &payload, 0).unwrap().is_none());
        let output = run(&mut cat(), &payload, 100_000).unwrap().unwrap();
        assert!(output.status.success());
        assert_eq!(output.stdout, br#"{"a":1}"#);
    }
}

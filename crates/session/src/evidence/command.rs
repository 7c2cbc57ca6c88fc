//! Runs a program with a time limit and kills everything it started when the limit is reached.

use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// How long to wait before asking again whether a program has ended. It grows from the first to the second value, so that
/// short programs are noticed at once and long ones cost nothing.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// A program in its own process group.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    child: Child,
}

impl ProcessGroup {
    pub(crate) fn spawn(command: &mut Command) -> io::Result<Self> {
        Ok(Self { child: command.process_group(0).spawn()? })
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits until the program ends, or kills the whole group at the deadline. `None` means that it was killed.
    pub(crate) fn wait_until(&mut self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        let mut pause = FIRST_PAUSE;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(status));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.kill();
                self.child.wait()?;
                return Ok(None);
            }
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Kills the group. Programs that it has left running in the background are killed too.
    pub(crate) fn kill(&self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // The group may be gone already.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// The standard output of a program that succeeds within the time limit and prints at most `max` bytes. `None` otherwise. The
/// caller sets the standard input.
pub(crate) fn read_output(command: &mut Command, limit: Duration, max: u64) -> Option<Vec<u8>> {
    let deadline = Instant::now() + limit;
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut group = ProcessGroup::spawn(command).ok()?;
    let stdout = group.child().stdout.take()?;
    let reader = thread::spawn(move || {
        let mut output = Vec::new();
        let read = stdout.take(max + 1).read_to_end(&mut output);
        read.map(|_| output)
    });
    let status = group.wait_until(deadline).ok()?;
    let output = reader.join().ok()?.ok()?;
    match status {
        Some(status) if status.success() && output.len() as u64 <= max => Some(output),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        command
    }

    #[test]
    fn output_counts_only_if_the_program_succeeds() {
        let minute = Duration::from_mins(1);
        assert_eq!(read_output(&mut shell("printf abc"), minute, 10).as_deref(), Some(&b"abc"[..]));
        assert_eq!(read_output(&mut shell("printf abc; exit 1"), minute, 10), None);
        assert_eq!(read_output(&mut shell("printf abcd"), minute, 3), None);
        assert_eq!(read_output(&mut Command::new("/nowhere/program"), minute, 3), None);
    }

    #[test]
    fn everything_in_the_group_is_killed_at_the_deadline() {
        let folder = tempfile::tempdir().unwrap();
        let pid_file = folder.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; wait", pid_file.display());
        let mut group = ProcessGroup::spawn(&mut shell(&script)).unwrap();
        let pid = loop {
            let text = std::fs::read_to_string(&pid_file).unwrap_or_default();
            if let Ok(pid) = text.trim().parse::<i32>() {
                break Pid::from_raw(pid).unwrap();
            }
            thread::sleep(FIRST_PAUSE);
        };
        assert!(rustix::process::test_kill_process(pid).is_ok());
        assert_eq!(group.wait_until(Instant::now()).unwrap(), None);
        // The child of the killed shell is adopted and reaped by another process.
        while rustix::process::test_kill_process(pid).is_ok() {
            let state =
                std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
            if state.contains(") Z ") {
                break;
            }
            thread::sleep(FIRST_PAUSE);
        }
    }
}

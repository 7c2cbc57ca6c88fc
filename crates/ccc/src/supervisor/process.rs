//! Runs programs with a time limit. Their child processes are killed together with them.

use std::io::{self, PipeReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use overtone_store::effective_timeout;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::supervisor::interrupt;

const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// How long to wait for the last output of a program that has exited. A process that it left behind may keep the pipe
/// open.
const OUTPUT_TIMEOUT: Duration =
    if cfg!(test) { Duration::from_mins(10) } else { Duration::from_millis(500) };

/// How a program exited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The exit code; `None` if a signal ended it.
    Exit(Option<i32>),
    TimedOut,
}

#[derive(Debug)]
pub(crate) struct ProcessOutput {
    pub(crate) ending: Ending,
    /// The end of stdout and stderr together, in the order of writing.
    pub(crate) tail: String,
}

/// Runs a shell command in a folder and keeps at most `max_tail` bytes of its output.
pub(crate) fn run_shell(
    line: &str,
    folder: &Path,
    limit: Duration,
    max_tail: usize,
) -> io::Result<ProcessOutput> {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder);
    run(command, limit, max_tail)
}

pub(crate) fn run(mut command: Command, limit: Duration, max_tail: usize) -> io::Result<ProcessOutput> {
    let (reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).process_group(0);
    let mut child = command.spawn()?;
    // The command owns write ends of the pipe, which would keep the reader waiting.
    drop(command);
    let tail = spawn_tail_reader(reader, max_tail);
    let ending = wait(&mut child, limit)?;
    let bytes = tail.recv_timeout(effective_timeout(OUTPUT_TIMEOUT)).unwrap_or_default();
    Ok(ProcessOutput { ending, tail: String::from_utf8_lossy(&bytes).into_owned() })
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<Ending> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ending::Exit(status.code()));
        }
        if start.elapsed() >= limit || interrupt::is_requested() {
            kill_group(child);
            child.wait()?;
            return Ok(Ending::TimedOut);
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Kills a program that was started as the leader of a process group, and all its children.
pub(crate) fn kill_group(child: &mut Child) {
    // Both may fail if the program has just exited.
    if let Some(leader) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(leader, Signal::KILL);
    }
    let _ = child.kill();
}

/// Reads the pipe in a separate thread, since a pipe that nobody closes would block forever.
fn spawn_tail_reader(mut pipe: PipeReader, max_tail: usize) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let (mut tail, mut piece) = (Vec::new(), [0; 8 * 1024]);
        while let Ok(count @ 1..) = pipe.read(&mut piece) {
            tail.extend_from_slice(&piece[..count]);
            tail.drain(..tail.len().saturating_sub(max_tail));
        }
        // After a timeout, nobody receives it any more.
        let _ = sender.send(tail);
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str, limit: Duration) -> (Ending, String) {
        let output = run_shell(line, Path::new("/"), limit, 6).unwrap();
        (output.ending, output.tail)
    }

    #[test]
    fn the_end_of_both_outputs_is_kept() {
        let long = Duration::from_mins(10);
        assert_eq!(
            shell("echo 12345; echo abc >&2; exit 3", long),
            (Ending::Exit(Some(3)), "5\nabc\n".into())
        );
        assert_eq!(shell("kill -9 $$", long).0, Ending::Exit(None));
    }

    #[test]
    fn a_program_that_exceeds_the_limit_is_killed_with_its_children() {
        // On a busy machine it may be killed before it has printed anything; then it gets more time.
        let mut limits = (0..10).map(|doubled| Duration::from_millis(300) * 2_u32.pow(doubled));
        let child: i32 = limits
            .find_map(|limit| {
                let (ending, tail) = shell("sleep 86400 & echo $!; wait", limit);
                assert_eq!(ending, Ending::TimedOut);
                tail.trim().parse().ok()
            })
            .unwrap();
        // The system has to reap the orphan first.
        let started = Instant::now();
        while rustix::process::test_kill_process(Pid::from_raw(child).unwrap()).is_ok() {
            assert!(started.elapsed() < Duration::from_mins(10), "{child} is still there");
            thread::sleep(POLL_INTERVAL);
        }
    }
}

//! Runs other programs with a time limit. What they started goes with them.

use std::io::{self, PipeReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use overtone_store::patience;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::interrupt;

const LOOK_EVERY: Duration = Duration::from_millis(5);
/// How long to wait for the last output of a program that has ended; one that it left behind may keep the pipe.
const LAST_OUTPUT: Duration = if cfg!(test) { Duration::from_mins(10) } else { Duration::from_millis(500) };

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// `None` when a signal ended it.
    Exit(Option<i32>),
    TooLate,
}

#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) ending: Ending,
    /// The end of its output and of its errors, in the order in which they came.
    pub(crate) tail: String,
}

/// Lets a shell carry a line out in a folder.
pub(crate) fn run_shell(line: &str, folder: &Path, limit: Duration, keep: usize) -> io::Result<Done> {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder);
    run(command, limit, keep)
}

pub(crate) fn run(mut command: Command, limit: Duration, keep: usize) -> io::Result<Done> {
    let (reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).process_group(0);
    let mut child = command.spawn()?;
    // The command holds our ends of the pipe, which would keep the reader waiting.
    drop(command);
    let tail = tail_of(reader, keep);
    let ending = wait(&mut child, limit)?;
    let bytes = tail.recv_timeout(patience(LAST_OUTPUT)).unwrap_or_default();
    Ok(Done { ending, tail: String::from_utf8_lossy(&bytes).into_owned() })
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<Ending> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ending::Exit(status.code()));
        }
        if start.elapsed() >= limit || interrupt::is_seen() {
            end_group(child);
            child.wait()?;
            return Ok(Ending::TooLate);
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// Ends a program that was started as the leader of a group, and all that it started.
pub(crate) fn end_group(child: &mut Child) {
    let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // It may have ended in this very moment.
    let _ = leader.map(|leader| kill_process_group(leader, Signal::KILL));
    let _ = child.kill();
}

/// Reads in a thread of its own, so that a pipe which nobody closes cannot hold us.
fn tail_of(mut pipe: PipeReader, keep: usize) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let (mut tail, mut piece) = (Vec::new(), [0; 8 * 1024]);
        while let Ok(count @ 1..) = pipe.read(&mut piece) {
            tail.extend_from_slice(&piece[..count]);
            tail.drain(..tail.len().saturating_sub(keep));
        }
        // Nobody listens any more when it took too long.
        let _ = sender.send(tail);
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str, limit: Duration) -> (Ending, String) {
        let done = run_shell(line, Path::new("/"), limit, 6).unwrap();
        (done.ending, done.tail)
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
    fn what_takes_too_long_is_ended_with_its_children() {
        // On a busy machine it may be ended before it has said anything; then it gets more time.
        let mut limits = (0..10).map(|doubled| Duration::from_millis(300) * 2_u32.pow(doubled));
        let child: i32 = limits
            .find_map(|limit| {
                let (ending, tail) = shell("sleep 86400 & echo $!; wait", limit);
                assert_eq!(ending, Ending::TooLate);
                tail.trim().parse().ok()
            })
            .unwrap();
        // The orphan has to be collected by the system first.
        let begun = Instant::now();
        while rustix::process::test_kill_process(Pid::from_raw(child).unwrap()).is_ok() {
            assert!(begun.elapsed() < Duration::from_mins(10), "{child} is still there");
            thread::sleep(LOOK_EVERY);
        }
    }
}

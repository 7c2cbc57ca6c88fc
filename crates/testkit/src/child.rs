//! One child process with a time limit.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// It was killed because its time was up.
    TimedOut,
}

/// A child that has ended, with its output.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) exit: Exit,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a command to its end, or kills it (and no other process) when the time is up.
///
/// Its output goes to files in `folder`, not to pipes: a grandchild that outlives it would keep a pipe open,
/// and the reader waiting.
pub(crate) fn run(command: &mut Command, limit: Duration, folder: &Path) -> io::Result<Ended> {
    let (out, err) = (folder.join("stdout"), folder.join("stderr"));
    let child = command
        .stdin(Stdio::null())
        .stdout(File::create_new(&out)?)
        .stderr(File::create_new(&err)?)
        .spawn()?;
    let exit = wait(child, limit)?;
    Ok(Ended { exit, stdout: read(&out)?, stderr: read(&err)? })
}

fn wait(mut child: Child, limit: Duration) -> io::Result<Exit> {
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(exit_of(status));
        }
        thread::sleep(POLL_INTERVAL);
    }
    child.kill()?;
    child.wait()?;
    Ok(Exit::TimedOut)
}

pub(crate) fn exit_of(status: ExitStatus) -> Exit {
    match status.code() {
        Some(code) => Exit::Code(code),
        None => Exit::Signal(status.signal().unwrap_or_default()),
    }
}

fn read(path: &Path) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str, limit: Duration) -> Ended {
        let folder = tempfile::tempdir().unwrap();
        run(Command::new("/bin/sh").args(["-c", line]), limit, folder.path()).unwrap()
    }

    #[test]
    fn output_and_exit_code_are_kept() {
        let ended = shell("echo out; echo err >&2; exit 3", Duration::from_mins(1));
        assert_eq!(
            (ended.exit, ended.stdout.as_str(), ended.stderr.as_str()),
            (Exit::Code(3), "out\n", "err\n")
        );
    }

    #[test]
    fn a_child_that_hangs_is_killed() {
        let ended = shell("exec sleep 600", Duration::from_millis(200));
        assert_eq!(ended.exit, Exit::TimedOut);
    }

    #[test]
    fn a_grandchild_does_not_keep_the_kit_waiting() {
        let ended = shell("sleep 5 & echo gone; kill -9 $$", Duration::from_mins(1));
        assert_eq!((ended.exit, ended.stdout.as_str()), (Exit::Signal(9), "gone\n"));
    }
}

//! Runs a process with input and a timeout, and measures its time.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::error::HookError;

/// Far more than any hook needs.
pub(super) const TIMEOUT: Duration = Duration::from_secs(5);

/// The result of a process.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// From the start to the end of the process.
    pub(super) took: Duration,
}

pub(super) fn run(name: &str, command: &mut Command, input: &str) -> Result<Finished, HookError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let start_error =
        |error: io::Error| HookError::CannotStart { program: program.clone(), error: error.to_string() };
    let start = Instant::now();
    let mut child = spawn(command).map_err(&start_error)?;
    // A process that does not read its input reports the reason in its output.
    let _ = child.stdin.take().map(|mut pipe| pipe.write_all(input.as_bytes()));
    let Some((stdout, stderr)) = read_outputs(&mut child) else {
        // The result of the kill does not matter.
        let _ = child.kill().and_then(|()| child.wait());
        return Err(HookError::NoAnswer { name: name.to_owned() });
    };
    let status = child.wait().map_err(start_error)?;
    Ok(Finished { status, stdout, stderr, took: start.elapsed() })
}

fn spawn(command: &mut Command) -> io::Result<Child> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// Reads everything from both channels; `None` after the timeout.
fn read_outputs(child: &mut Child) -> Option<(String, String)> {
    let (mut stdout, mut stderr) = (child.stdout.take()?, child.stderr.take()?);
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        // A broken pipe ends the text; the receiver is only gone after the timeout.
        let _ = stdout.read_to_end(&mut out);
        let _ = stderr.read_to_end(&mut err);
        let _ = sender.send((lossy(&out), lossy(&err)));
    });
    receiver.recv_timeout(TIMEOUT).ok()
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_and_exit_are_seen() {
        let ended = run("sh", Command::new("sh").args(["-c", "cat; echo oh >&2; exit 3"]), "in").unwrap();
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("in", "oh\n"));
        assert_eq!(ended.status.code(), Some(3));
    }

    #[test]
    fn what_cannot_start_is_named() {
        let error = run("x", &mut Command::new("/nonexistent/overtone"), "").unwrap_err();
        assert!(matches!(error, HookError::CannotStart { program, .. } if program.contains("nonexistent")));
    }
}

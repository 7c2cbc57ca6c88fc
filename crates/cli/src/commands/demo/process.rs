//! One process: started, fed, waited for with a limit, and its time taken.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::stop::Problem;

/// Far more than any hook needs.
pub(super) const DEADLINE: Duration = Duration::from_secs(5);

/// What a process did.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// From the start to the end of the process.
    pub(super) took: Duration,
}

pub(super) fn run(name: &str, command: &mut Command, input: &str) -> Result<Ended, Problem> {
    let program = command.get_program().to_string_lossy().into_owned();
    let cannot =
        |error: io::Error| Problem::CannotStart { program: program.clone(), error: error.to_string() };
    let start = Instant::now();
    let mut child = spawn(command).map_err(&cannot)?;
    // A process that does not read has a reason, which its output tells.
    let _ = child.stdin.take().map(|mut pipe| pipe.write_all(input.as_bytes()));
    let Some((stdout, stderr)) = outputs(&mut child) else {
        // It has not ended by itself; what it makes of that is of no interest.
        let _ = child.kill().and_then(|()| child.wait());
        return Err(Problem::NoAnswer { name: name.to_owned() });
    };
    let status = child.wait().map_err(cannot)?;
    Ok(Ended { status, stdout, stderr, took: start.elapsed() })
}

fn spawn(command: &mut Command) -> io::Result<Child> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// All it prints on both channels, or nothing when that takes too long.
fn outputs(child: &mut Child) -> Option<(String, String)> {
    let (mut stdout, mut stderr) = (child.stdout.take()?, child.stderr.take()?);
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        // A broken pipe ends the text; the receiver is gone only after the deadline.
        let _ = stdout.read_to_end(&mut out);
        let _ = stderr.read_to_end(&mut err);
        let _ = sender.send((lossy(&out), lossy(&err)));
    });
    receiver.recv_timeout(DEADLINE).ok()
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
        let problem = run("x", &mut Command::new("/nonexistent/overtone"), "").unwrap_err();
        assert!(matches!(problem, Problem::CannotStart { program, .. } if program.contains("nonexistent")));
    }
}

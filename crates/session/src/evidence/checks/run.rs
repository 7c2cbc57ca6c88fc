//! Runs one check, in its own process group and with a time limit.
//!
//! A check may outlive neither its time limit nor the program that runs it. If this program is killed, nothing of it is left
//! to end the check, so a second, tiny shell waits on a pipe: when the pipe closes without a word, it kills the group.

use std::io::{self, PipeWriter, Read as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use overtone_core::evidence::{Check, CheckEnd};

use crate::evidence::checks::output::Output;
use crate::evidence::command::ProcessGroup;

/// How long to wait for the rest of the output once the group has ended. A program that has left the group may keep the
/// pipe open for ever.
const REST_OF_OUTPUT: Duration = Duration::from_secs(2);

/// Waits for a line. If none comes before the pipe closes, it kills the process group that it is given.
const WATCHER: &str = r#"read -r _ || kill -s KILL -- "-$1""#;

/// Waits for a line before it runs the command, so that the command never runs without a watcher: if this program is killed
/// before it has started one, the pipe closes without a line.
const GATED: &str = r#"read -r _ || exit 125; exec sh -c "$1" < /dev/null"#;

/// A check that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    pub end: CheckEnd,
    pub duration: Duration,
    pub output: Output,
}

/// Runs a check in the project's folder and waits for its end. `on_output` gets what it prints, as it comes.
pub fn run_check(check: &Check, project: &Path, on_output: impl FnMut(&[u8]) + Send + 'static) -> Finished {
    let started = Instant::now();
    let output = Arc::new(Mutex::new(Output::default()));
    let end = match run_group(check, project, started, &output, on_output) {
        Ok(Some(status)) => end_of(status),
        Ok(None) => CheckEnd::TimedOut,
        Err(error) => CheckEnd::NotStarted(error.to_string()),
    };
    let output = output.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Finished { end, duration: started.elapsed(), output }
}

fn run_group(
    check: &Check,
    project: &Path,
    started: Instant,
    output: &Arc<Mutex<Output>>,
    on_output: impl FnMut(&[u8]) + Send + 'static,
) -> io::Result<Option<ExitStatus>> {
    let (reader, writer) = io::pipe()?;
    let (gate, mut opener) = io::pipe()?;
    let mut command = Command::new("sh");
    command
        .args(["-c", GATED, "overtone-check", &check.run])
        .current_dir(project)
        .env("OVERTONE_CHECK", &check.name);
    command.stdin(gate).stdout(writer.try_clone()?).stderr(writer);
    let mut group = ProcessGroup::spawn(&mut command)?;
    // The command holds the writing ends of the pipe, which has to close when the check ends.
    drop(command);
    let watcher = Watcher::start(group.child().id());
    opener.write_all(b"\n")?;
    drop(opener);
    let end_of_output = collect(reader, Arc::clone(output), on_output);
    let status = group.wait_until(started + check.timeout);
    // What the check left running in the background ends with it.
    group.kill();
    // Without the end, what has come so far is the output.
    let _ = end_of_output.recv_timeout(REST_OF_OUTPUT);
    drop(watcher);
    status
}

/// Reads the output in another thread. The receiver gets a message when it is complete.
fn collect(
    mut reader: io::PipeReader,
    output: Arc<Mutex<Output>>,
    mut on_output: impl FnMut(&[u8]) + Send + 'static,
) -> Receiver<()> {
    let (done, end_of_output) = mpsc::channel();
    thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        loop {
            let length = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            on_output(&buffer[..length]);
            output.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..length]);
        }
        // What it has not passed on yet comes before the end.
        drop(on_output);
        // The receiver may have stopped waiting.
        let _ = done.send(());
    });
    end_of_output
}

fn end_of(status: ExitStatus) -> CheckEnd {
    match (status.code(), status.signal()) {
        (Some(code), _) => CheckEnd::Exited(code),
        (None, Some(signal)) => CheckEnd::Signalled(signal),
        (None, None) => CheckEnd::NotStarted("no exit status".to_owned()),
    }
}

/// The shell that ends the check if this process is killed.
struct Watcher {
    shell: Option<(Child, PipeWriter)>,
}

impl Watcher {
    /// Without a watcher the check runs all the same; it is then not ended if this process is killed.
    fn start(group: u32) -> Self {
        let start = || {
            let (reader, writer) = io::pipe()?;
            let mut command = Command::new("sh");
            command.args(["-c", WATCHER, "overtone-check-watcher", &group.to_string()]);
            command.stdin(reader).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
            Ok::<_, io::Error>((command.spawn()?, writer))
        };
        Self { shell: start().ok() }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if let Some((mut child, mut writer)) = self.shell.take() {
            // The line tells the shell that the check has ended.
            let _ = writer.write_all(b"\n");
            drop(writer);
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(run: &str, timeout: Duration) -> Check {
        Check { name: "test".to_owned(), run: run.to_owned(), stages: Vec::new(), timeout }
    }

    fn run(script: &str) -> Finished {
        run_check(&check(script, Duration::from_mins(10)), Path::new("/"), |_| {})
    }

    #[test]
    fn both_streams_and_the_end_are_reported() {
        let finished = run("echo out; echo err >&2; exit 3");
        assert_eq!((finished.end, finished.output.to_text().as_str()), (CheckEnd::Exited(3), "out\nerr\n"));
        assert_eq!(run("kill -9 $$").end, CheckEnd::Signalled(9));
        assert_eq!(run("test \"$OVERTONE_CHECK\" = test && ! read -r line").end, CheckEnd::Exited(0));
        let nowhere = run_check(&check("true", Duration::from_mins(10)), Path::new("/nowhere"), |_| {});
        assert!(matches!(nowhere.end, CheckEnd::NotStarted(_)), "{nowhere:?}");
    }

    #[test]
    fn a_program_left_in_the_background_ends_with_the_check() {
        // The sleeping program keeps the pipe open, so this would wait for it.
        let finished = run("sleep 600 & echo started");
        assert_eq!(finished.output.to_text(), "started\n");
        assert!(finished.duration < Duration::from_mins(5), "{:?}", finished.duration);
    }

    #[test]
    fn a_check_is_killed_at_its_time_limit() {
        let finished =
            run_check(&check("echo before; sleep 600", Duration::from_millis(300)), Path::new("/"), |_| {});
        assert_eq!(finished.end, CheckEnd::TimedOut);
    }

    #[test]
    fn the_watcher_kills_the_group_when_its_pipe_closes() {
        let mut command = Command::new("sleep");
        let mut group = ProcessGroup::spawn(command.arg("600")).unwrap();
        let mut watcher = Watcher::start(group.child().id());
        // As if this process had been killed: the pipe closes and nothing was written.
        let (mut shell, writer) = watcher.shell.take().unwrap();
        drop(writer);
        shell.wait().unwrap();
        let status = group.wait_until(Instant::now() + Duration::from_mins(5)).unwrap().unwrap();
        assert_eq!(status.signal(), Some(9));
    }
}

//! Runs the reviewer: a fork of the session that is asked for a verdict.

use std::io::{BufRead, BufReader, Read, Write};
use std::iter;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use overtone_claude::install::Client;
use overtone_store::{SessionId, effective_timeout};

use crate::supervisor::interrupt;
use crate::supervisor::process::kill_group;
use crate::supervisor::progress;
use crate::supervisor::review::NoReview;
use crate::supervisor::route::Route;
use crate::supervisor::secrets::Secrets;
use crate::supervisor::stream::{ResultLine, StreamLine, parse_line};
use overtone_store::supervision::append_line;

/// The JSON schema of the answer.
const SCHEMA: &str = r#"{"type":"object","properties":{"completed":{"type":"boolean"},"feedback":{"type":"string"}},"required":["completed","feedback"]}"#;

/// How long a reviewer may take to exit after its result.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How long to wait for the stderr output of a reviewer that has exited.
const STDERR_TIMEOUT: Duration = Duration::from_millis(200);

/// Longer lines are split.
const MAX_LINE_BYTES: u64 = 16 * 1024 * 1024;

/// The input of a review.
#[derive(Debug)]
pub(crate) struct Reviewer<'a> {
    pub(crate) session: &'a SessionId,
    pub(crate) prompt: String,
    /// The session's project. The client finds a session only in the project in which it was started.
    pub(crate) project: Option<PathBuf>,
    /// The file to which the raw lines are appended.
    pub(crate) output: PathBuf,
    /// The settings, without hooks, and the environment of the reviewer's provider.
    pub(crate) route: &'a Route,
    pub(crate) secrets: &'a Secrets,
    pub(crate) model: Option<&'a str>,
    pub(crate) budget: Option<f64>,
    pub(crate) deadline: Instant,
    /// The time limit that is reported to the user.
    pub(crate) timeout: Duration,
}

impl Reviewer<'_> {
    pub(crate) fn run(&self, client: &Client) -> Result<ResultLine, NoReview> {
        let mut child = self.command(client.program()).spawn().map_err(NoReview::CannotStart)?;
        self.send_prompt(child.stdin.take());
        let (lines, errors) =
            (spawn_line_reader(child.stdout.take()), spawn_line_reader(child.stderr.take()));
        let result = self.read_result(&lines);
        let status = wait_or_kill(&mut child, if result.is_ok() { EXIT_TIMEOUT } else { Duration::ZERO });
        match result? {
            Some(result) => Ok(result),
            None => Err(NoReview::NoResult(self.secrets.redact(&describe_exit(status, &errors)))),
        }
    }

    /// Writes the prompt to stdin, since every user of the machine can read arguments. A separate thread does so because a
    /// reviewer that does not read would block.
    fn send_prompt(&self, pipe: Option<ChildStdin>) {
        let prompt = self.prompt.clone();
        thread::spawn(move || {
            if let Some(mut pipe) = pipe {
                // It fails if the reviewer has exited, which is detected when its output ends.
                let _ = pipe.write_all(prompt.as_bytes());
            }
        });
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .args(["-p", "--fork-session", "--resume", self.session.as_str(), "--verbose"])
            .args(["--output-format", "stream-json", "--json-schema", SCHEMA])
            .arg("--settings")
            .arg(self.route.settings())
            .args(self.options())
            .env("CCC_SUPERVISOR_HOOK", "1")
            // Newer clients refuse to start inside another one.
            .env_remove("CLAUDECODE")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Its tools may still run when it is killed; they are killed with it.
            .process_group(0);
        self.route.apply(&mut command);
        if let Some(project) = self.project.as_deref().filter(|project| project.is_dir()) {
            command.current_dir(project);
        }
        command
    }

    fn options(&self) -> Vec<String> {
        let model = self.model.map(|model| ["--model".to_owned(), model.to_owned()]);
        let budget = self.budget.map(|dollars| ["--max-budget-usd".to_owned(), format!("{dollars:.4}")]);
        model.into_iter().chain(budget).flatten().collect()
    }

    /// Processes the lines until the output ends and returns the result line, if there was one. After the result, the
    /// remaining lines are awaited for a short time only.
    fn read_result(&self, lines: &Receiver<String>) -> Result<Option<ResultLine>, NoReview> {
        let mut deadline = self.deadline;
        let mut result = None;
        loop {
            let wait = deadline.saturating_duration_since(Instant::now()).min(interrupt::POLL_INTERVAL);
            match lines.recv_timeout(wait) {
                Ok(line) => {
                    if let Some(found) = self.process_line(&line) {
                        deadline = deadline.min(Instant::now() + EXIT_TIMEOUT);
                        result = Some(found);
                    }
                }
                Err(mpsc::RecvTimeoutError::Timeout) if interrupt::is_requested() => {
                    return Err(NoReview::Interrupted);
                }
                Err(mpsc::RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
                Err(mpsc::RecvTimeoutError::Timeout) if result.is_none() => {
                    return Err(NoReview::TimedOut(self.timeout));
                }
                Err(_) => return Ok(result),
            }
        }
    }

    /// Stores the redacted line, prints its texts, and returns the result if the line contains it.
    fn process_line(&self, line: &str) -> Option<ResultLine> {
        let line = &self.secrets.redact(line);
        if let Err(error) = append_line(&self.output, line) {
            progress::print(&format!(
                "[overtone/supervisor] cannot write {}: {error}",
                self.output.display()
            ));
        }
        match parse_line(line) {
            StreamLine::Text(texts) => texts.iter().for_each(|text| progress::print(text)),
            StreamLine::Result(result) => return Some(result),
            StreamLine::Other => {}
        }
        None
    }
}

/// Reads lines in a separate thread, so that waiting for a silent reviewer can time out.
fn spawn_line_reader(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let Some(mut pipe) = pipe.map(BufReader::new) else { return };
        loop {
            let mut bytes = Vec::new();
            let read = pipe.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes);
            let line = String::from_utf8_lossy(bytes.trim_ascii_end()).into_owned();
            // The end of the output or an error; or nobody receives any more.
            if !matches!(read, Ok(1..)) || sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Waits for the reviewer to exit and kills it after the timeout.
fn wait_or_kill(child: &mut Child, timeout: Duration) -> Option<ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < timeout {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        thread::sleep(POLL_INTERVAL);
    }
    kill_group(child);
    child.wait().ok()
}

/// The exit status of the reviewer and the last line of its stderr.
fn describe_exit(status: Option<ExitStatus>, errors: &Receiver<String>) -> String {
    let lines = iter::from_fn(|| errors.recv_timeout(effective_timeout(STDERR_TIMEOUT)).ok());
    let line = lines.filter(|line| !line.trim().is_empty()).last();
    let status = status.map(|status| status.to_string());
    [status, line].into_iter().flatten().collect::<Vec<_>>().join(": ")
}

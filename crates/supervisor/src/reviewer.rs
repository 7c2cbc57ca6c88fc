//! The reviewer's process: a fork of the session that is asked for a verdict.

use std::io::{BufRead, BufReader, Read, Write};
use std::iter;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use overtone_install::Client;
use overtone_store::{SessionId, patience};

use crate::folder::append;
use crate::interrupt;
use crate::narrate;
use crate::process::end_group;
use crate::review::NoReview;
use crate::route::Route;
use crate::secrets::Secrets;
use crate::stream::{Line, ResultLine, read_line};

/// What the answer must look like.
const SCHEMA: &str = r#"{"type":"object","properties":{"completed":{"type":"boolean"},"feedback":{"type":"string"}},"required":["completed","feedback"]}"#;

/// A reviewer that has given its result may take this long to end.
const GRACE: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How long to wait for what a reviewer that has ended wrote to stderr.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// A longer line is read in pieces.
const MAX_LINE: u64 = 16 * 1024 * 1024;

/// A review to be.
#[derive(Debug)]
pub(crate) struct Reviewer<'a> {
    pub(crate) session: &'a SessionId,
    pub(crate) prompt: String,
    /// The client looks for a session in the project it was started in.
    pub(crate) project: Option<PathBuf>,
    /// Where the raw lines go.
    pub(crate) output: PathBuf,
    /// Settings and environment: without hooks, and on the reviewer's provider.
    pub(crate) route: &'a Route,
    pub(crate) secrets: &'a Secrets,
    pub(crate) model: Option<&'a str>,
    pub(crate) budget: Option<f64>,
    /// When it must have ended, and how long that is for a person.
    pub(crate) deadline: Instant,
    pub(crate) timeout: Duration,
}

impl Reviewer<'_> {
    pub(crate) fn run(&self, client: &Client) -> Result<ResultLine, NoReview> {
        let mut child = self.command(client.program()).spawn().map_err(NoReview::CannotStart)?;
        self.ask(child.stdin.take());
        let (lines, errors) = (lines_of(child.stdout.take()), lines_of(child.stderr.take()));
        let listened = self.listen(&lines);
        let status = end(&mut child, if listened.is_ok() { GRACE } else { Duration::ZERO });
        listened?.ok_or_else(|| NoReview::NoResult(self.secrets.hide(&last_words(status, &errors))))
    }

    /// Gives the prompt, from a thread of its own: a reviewer that does not read must not hold us. It is not an
    /// argument, since every user of the machine can read those.
    fn ask(&self, pipe: Option<ChildStdin>) {
        let prompt = self.prompt.clone();
        thread::spawn(move || {
            // A reviewer that has ended says so itself.
            let _ = pipe.map(|mut pipe| pipe.write_all(prompt.as_bytes()));
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
            // Newer clients refuse to start inside of another one.
            .env_remove("CLAUDECODE")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Its tools may still run when it has to end; they go with it.
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

    /// Passes the lines on until they end. After the result, only a moment is waited for more.
    fn listen(&self, lines: &Receiver<String>) -> Result<Option<ResultLine>, NoReview> {
        let mut deadline = self.deadline;
        let mut result = None;
        loop {
            let wait = deadline.saturating_duration_since(Instant::now()).min(interrupt::LOOK_EVERY);
            match lines.recv_timeout(wait) {
                Ok(line) => {
                    if let Some(found) = self.pass_on(&line) {
                        deadline = deadline.min(Instant::now() + GRACE);
                        result = Some(found);
                    }
                }
                Err(mpsc::RecvTimeoutError::Timeout) if interrupt::is_seen() => {
                    return Err(NoReview::Interrupted);
                }
                Err(mpsc::RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
                Err(mpsc::RecvTimeoutError::Timeout) if result.is_none() => {
                    return Err(NoReview::TooLate(self.timeout));
                }
                Err(_) => return Ok(result),
            }
        }
    }

    /// The line is kept as it is, apart from secrets in it.
    fn pass_on(&self, line: &str) -> Option<ResultLine> {
        let line = &self.secrets.hide(line);
        if let Err(error) = append(&self.output, line) {
            narrate::say(&format!("[overtone/supervisor] cannot write {}: {error}", self.output.display()));
        }
        match read_line(line) {
            Line::Text(texts) => texts.iter().for_each(|text| narrate::say(text)),
            Line::Result(result) => return Some(result),
            Line::Other => {}
        }
        None
    }
}

/// Reads from a thread of its own, so that a silent reviewer can be given up.
fn lines_of(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let Some(mut pipe) = pipe.map(BufReader::new) else { return };
        loop {
            let mut bytes = Vec::new();
            let read = pipe.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes);
            let line = String::from_utf8_lossy(bytes.trim_ascii_end()).into_owned();
            // The end, an error, or nobody who listens.
            if !read.is_ok_and(|count| count > 0) || sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Waits for the reviewer to end, and ends it when it does not.
fn end(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < patience {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        thread::sleep(LOOK_EVERY);
    }
    end_group(child);
    child.wait().ok()
}

/// How the reviewer ended, with the last line that it wrote to stderr.
fn last_words(status: Option<ExitStatus>, errors: &Receiver<String>) -> String {
    let lines = iter::from_fn(|| errors.recv_timeout(patience(LAST_WORDS)).ok());
    let line = lines.filter(|line| !line.trim().is_empty()).last();
    let status = status.map(|status| status.to_string());
    [status, line].into_iter().flatten().collect::<Vec<_>>().join(": ")
}

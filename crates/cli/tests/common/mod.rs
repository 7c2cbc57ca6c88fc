//! A private world for the binary under test, and one way to run a hook in it.
//!
//! Nothing here knows a scenario: only folders, a child process and what came back from it. Every run prints
//! what went in and out; the test harness shows it when the test fails.

#![allow(dead_code, reason = "each test crate uses its own part")]

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, thread};

use serde_json::Value;
use tempfile::TempDir;

/// Only there so that a hanging hook fails its own test instead of stopping the whole suite.
const WATCHDOG: Duration = Duration::from_mins(20);

/// How long the program waits for locks and input, in seconds, instead of its own limits.
const PATIENCE: (&str, &str) = ("OVERTONE_TEST_PATIENCE", "600");

/// What a hook prints when it has nothing to say.
pub(crate) const NOTHING: &str = r#"{"result":""}"#;

/// A temporary root with a home, a state folder and a project side by side.
#[derive(Debug)]
pub(crate) struct Sandbox {
    root: TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let root = TempDir::with_prefix("overtone-test-").unwrap();
        for folder in ["home", "state", "project"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        Self { root }
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The value of `OVERTONE_HOME`.
    pub(crate) fn state(&self) -> PathBuf {
        self.root().join("state")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    pub(crate) fn session_dir(&self, id: &str) -> PathBuf {
        self.state().join("sessions").join(id)
    }

    /// Runs a command in the project, with a clean environment.
    pub(crate) fn command(&self, words: &[&str]) -> std::process::Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_overtone"));
        command.args(words).env_clear().env("HOME", self.home()).env("OVERTONE_HOME", self.state());
        command.env(PATIENCE.0, PATIENCE.1).current_dir(self.project()).stdin(Stdio::null()).output().unwrap()
    }

    /// A call of `overtone hook <name>` with a clean environment.
    pub(crate) fn call(&self, hook: &str) -> Call {
        let call =
            Call { hook: hook.to_owned(), project: self.project(), env: Vec::new(), leave_stdin_open: false };
        call.env("HOME", self.home())
            .env("OVERTONE_HOME", self.state())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env(PATIENCE.0, PATIENCE.1)
    }
}

/// Puts a file where its folder may not exist yet.
pub(crate) fn put(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Puts a folder where the program expects a file: an error that binds root, too.
pub(crate) fn put_folder_for_file(path: &Path) {
    if path.exists() {
        fs::remove_file(path).unwrap();
    }
    fs::create_dir_all(path).unwrap();
}

/// Puts a symbolic link that points to itself: whoever follows it gets an error other than "not found".
pub(crate) fn put_link_loop(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(path, path).unwrap();
}

/// One run to be.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    hook: String,
    project: PathBuf,
    env: Vec<(String, OsString)>,
    leave_stdin_open: bool,
}

impl Call {
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self = self.without(name);
        self.env.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.env.retain(|(other, _)| other != name);
        self
    }

    /// The program gives up as early as it does for users.
    pub(crate) fn with_real_limits(self) -> Self {
        self.without(PATIENCE.0)
    }

    /// The writing end stays open until the child has finished, as some clients leave it.
    pub(crate) fn leave_stdin_open(mut self) -> Self {
        self.leave_stdin_open = true;
        self
    }

    pub(crate) fn run(self, stdin: impl AsRef<[u8]>) -> Output {
        let stdin = stdin.as_ref();
        let mut child = Command::new(env!("CARGO_BIN_EXE_overtone"))
            .args(["hook", &self.hook])
            .env_clear()
            .env("OVERTONE_NO_DASHBOARD", "1")
            .envs(self.env)
            .current_dir(&self.project)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();

        let input = feed(child.stdin.take().unwrap(), stdin.to_vec(), self.leave_stdin_open);
        let stdout = drain(child.stdout.take().unwrap());
        let stderr = drain(child.stderr.take().unwrap());
        let (Ok(stdout), Ok(stderr)) = (stdout.recv_timeout(WATCHDOG), stderr.recv_timeout(WATCHDOG)) else {
            child.kill().unwrap();
            panic!("`overtone hook {}` still held its output open after {WATCHDOG:?}", self.hook);
        };
        let code = child.wait().unwrap().code();
        drop(input.join().unwrap());

        let output = Output { code, stdout: text(stdout), stderr: text(stderr) };
        output.show(&self.hook, stdin);
        output
    }
}

/// Writes from a thread of its own, for the child may answer (or die) before it has read everything.
fn feed(mut pipe: ChildStdin, bytes: Vec<u8>, leave_open: bool) -> thread::JoinHandle<Option<ChildStdin>> {
    thread::spawn(move || {
        // A child that refuses an oversized input closes the pipe early: its output tells, not this error.
        let _ = pipe.write_all(&bytes);
        leave_open.then_some(pipe)
    })
}

fn drain(mut pipe: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("the hook printed something that is not UTF-8")
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    fn show(&self, hook: &str, stdin: &[u8]) {
        let input = String::from_utf8_lossy(&stdin[..stdin.len().min(2000)]);
        let Self { code, stdout, stderr } = self;
        println!("=== overtone hook {hook} < {input}\nexit {code:?}\nstdout: {stdout}\nstderr: {stderr}");
    }

    /// The printed object. A hook must end with 0 and print exactly one object on one line, whatever happened.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "a hook always ends with 0; stderr: {}", self.stderr);
        let line = self.stdout.strip_suffix('\n').unwrap_or(&self.stdout);
        assert!(!line.contains('\n'), "more than one line on stdout: {line}");
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| {
            panic!("stdout is not JSON ({error}): {line:?}; stderr: {}", self.stderr)
        });
        assert!(value.is_object(), "stdout is not a JSON object: {line}");
        value
    }

    /// The hook had nothing to say, byte for byte.
    #[track_caller]
    pub(crate) fn assert_says_nothing(&self) {
        self.json();
        assert_eq!(self.stdout.trim_end(), NOTHING, "stderr: {}", self.stderr);
    }

    /// Something went wrong and the log line of the place says so.
    #[track_caller]
    pub(crate) fn assert_logged(&self, place: &str) {
        let prefix = format!("[overtone/{place}");
        assert!(
            self.stderr.lines().any(|line| line.starts_with(&prefix)),
            "no stderr line begins with {prefix}: {:?}",
            self.stderr
        );
    }
}

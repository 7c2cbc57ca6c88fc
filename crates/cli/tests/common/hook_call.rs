//! One run of a hook with its own environment and a watchdog. Input and output are printed, so that the test harness shows
//! them when a test fails.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::context::{TEST_PATIENCE, TestContext};
use super::output::Output;

/// Lets a hook that hangs fail its own test instead of stopping the whole suite.
const WATCHDOG: Duration = Duration::from_mins(20);

impl TestContext {
    /// For hooks: Overtone's folder is `state`, beside the home, and texts are in the default language.
    pub(crate) fn for_hooks() -> Self {
        let context = Self::new();
        context.create_folders(&["state"]);
        let state = context.path("state");
        context.with_env("OVERTONE_HOME", state).without_env("OVERTONE_LANG")
    }

    /// A run of `overtone hook <name>`.
    pub(crate) fn hook_call(&self, name: &str) -> HookCall {
        HookCall { name: name.to_owned(), command: self.command(&["hook", name]), leave_stdin_open: false }
    }
}

#[derive(Debug)]
pub(crate) struct HookCall {
    name: String,
    command: Command,
    leave_stdin_open: bool,
}

impl HookCall {
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// The program gives up as early as it does for users.
    pub(crate) fn with_real_limits(self) -> Self {
        self.without(TEST_PATIENCE.0)
    }

    /// The writing end stays open until the child has finished, as some clients leave it.
    pub(crate) fn leave_stdin_open(mut self) -> Self {
        self.leave_stdin_open = true;
        self
    }

    pub(crate) fn run(mut self, stdin: impl AsRef<[u8]>) -> Output {
        let stdin = stdin.as_ref();
        let mut child = self.command.stdin(Stdio::piped()).spawn().unwrap();
        let input = feed(child.stdin.take().unwrap(), stdin.to_vec(), self.leave_stdin_open);
        let stdout = drain(child.stdout.take().unwrap());
        let stderr = drain(child.stderr.take().unwrap());
        let (Ok(stdout), Ok(stderr)) = (stdout.recv_timeout(WATCHDOG), stderr.recv_timeout(WATCHDOG)) else {
            child.kill().unwrap();
            panic!("`overtone hook {}` still held its output open after {WATCHDOG:?}", self.name);
        };
        let status = child.wait().unwrap();
        drop(input.join().unwrap());

        let output = Output::new(&std::process::Output { status, stdout, stderr });
        let input = String::from_utf8_lossy(&stdin[..stdin.len().min(2000)]);
        let Output { code, stdout, stderr } = &output;
        println!(
            "=== overtone hook {} < {input}\nexit {code:?}\nstdout: {stdout}\nstderr: {stderr}",
            self.name
        );
        output
    }
}

/// Writes from a thread of its own, because the child may answer or end before it has read everything.
fn feed(mut pipe: ChildStdin, bytes: Vec<u8>, leave_open: bool) -> thread::JoinHandle<Option<ChildStdin>> {
    thread::spawn(move || {
        // A child that rejects an oversized input closes the pipe early; its output is what counts.
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

//! A private home and project for the binary under test. Every area of tests uses it and adds its own helpers.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use serde_json::Value;
use tempfile::TempDir;

use super::output::Output;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_overtone");

/// How long the program waits for locks and input, in seconds, instead of its own limits.
pub(crate) const TEST_PATIENCE: (&str, &str) = ("OVERTONE_TEST_PATIENCE", "600");

/// A temporary folder with `home` and `project` in it, and the environment that the binary is started with.
#[derive(Debug)]
pub(crate) struct TestContext {
    folder: TempDir,
    root: PathBuf,
    env: BTreeMap<String, OsString>,
    /// How often each agent was started.
    agent_starts: Mutex<BTreeMap<String, u32>>,
}

impl TestContext {
    /// Texts are in English, no dashboard is started, and everything else of the environment is cleared but PATH.
    pub(crate) fn new() -> Self {
        let folder = TempDir::with_prefix("overtone-test-").unwrap();
        let root = folder.path().to_owned();
        Self::with_root(folder, root)
    }

    /// As [`new`](Self::new), with everything below a folder of this name.
    pub(crate) fn below(name: &str) -> Self {
        let folder = TempDir::with_prefix("overtone-test-").unwrap();
        let root = folder.path().join(name);
        Self::with_root(folder, root)
    }

    fn with_root(folder: TempDir, root: PathBuf) -> Self {
        let mut context = Self { folder, root, env: BTreeMap::new(), agent_starts: Mutex::default() };
        context.create_folders(&["home", "project"]);
        context.set_env("HOME", context.home());
        context.set_env("PATH", std::env::var_os("PATH").unwrap_or_default());
        context.set_env("OVERTONE_LANG", "en");
        context.set_env("OVERTONE_NO_DASHBOARD", "1");
        context.set_env(TEST_PATIENCE.0, TEST_PATIENCE.1);
        context
    }

    pub(crate) fn with_env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.set_env(name, value);
        self
    }

    pub(crate) fn without_env(mut self, name: &str) -> Self {
        self.env.remove(name);
        self
    }

    pub(crate) fn set_env(&mut self, name: &str, value: impl AsRef<OsStr>) {
        self.env.insert(name.to_owned(), value.as_ref().to_owned());
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn path(&self, below: impl AsRef<Path>) -> PathBuf {
        self.root.join(below)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// Overtone's own folder.
    pub(crate) fn state(&self) -> PathBuf {
        match self.env.get("OVERTONE_HOME") {
            Some(home) => PathBuf::from(home),
            None => self.path("home/.overtone"),
        }
    }

    /// A path in Overtone's own folder.
    pub(crate) fn state_file(&self, below: impl AsRef<Path>) -> PathBuf {
        self.state().join(below)
    }

    pub(crate) fn session_dir(&self, id: &str) -> PathBuf {
        self.state().join("sessions").join(id)
    }

    /// Removes the seal of a session's workflow and the copy that Overtone keeps of it: what a test makes of `workflow.json`
    /// then is a file of an earlier version, and not a change by another program.
    pub(crate) fn forget_seal(&self, session: &str) {
        let (file, copy) = ("workflow.json", "workflow.sealed.json");
        let [file, copy] = [file, copy].map(|name| self.session_dir(session).join(name));
        let mut workflow = read_json(&file);
        workflow.as_object_mut().unwrap().shift_remove("seal");
        put(&file, format!("{workflow:#}\n"));
        let _ = fs::remove_file(copy);
    }

    pub(crate) fn create_folders(&self, folders: &[&str]) {
        for folder in folders {
            fs::create_dir_all(self.path(folder)).unwrap();
        }
    }

    /// Writes a file below the root, with its folder.
    pub(crate) fn write(&self, below: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        put(&self.path(below), content);
    }

    /// Any program in this environment, in the project.
    pub(crate) fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(&self.env)
            .current_dir(self.project())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = self.program(BINARY);
        command.args(arguments);
        command
    }

    /// Runs a command line without quotes to its end.
    pub(crate) fn run(&self, line: &str) -> Output {
        self.run_args(&line.split_whitespace().collect::<Vec<_>>())
    }

    pub(crate) fn run_args<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Output {
        Output::new(&self.command(arguments).output().unwrap())
    }

    pub(crate) fn run_with_stdin(&self, line: &str, stdin: impl AsRef<[u8]>) -> Output {
        run_with_stdin(self.command(&line.split_whitespace().collect::<Vec<_>>()), stdin.as_ref())
    }

    /// Runs a hook as the client does.
    pub(crate) fn run_hook(&self, name: &str, event: &Value) -> Output {
        self.run_with_stdin(&format!("hook {name}"), event.to_string())
    }

    /// As in the client, each start of an agent has an id of its own.
    pub(crate) fn next_agent_id(&self, agent: &str) -> String {
        let mut starts = self.agent_starts.lock().unwrap();
        let count = starts.entry(agent.to_owned()).or_default();
        *count += 1;
        if *count == 1 { format!("id-{agent}") } else { format!("id-{agent}-{count}") }
    }

    /// The text with the temporary folder replaced by `placeholder`.
    pub(crate) fn filter_paths(&self, text: &str, placeholder: &str) -> String {
        text.replace(self.folder.path().to_str().unwrap(), placeholder)
    }
}

/// Runs a command with this input. The input is written from a thread of its own, because the child may end before it has
/// read everything.
pub(crate) fn run_with_stdin(mut command: Command, stdin: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let (mut pipe, bytes) = (child.stdin.take().unwrap(), stdin.to_vec());
    let writer = thread::spawn(move || {
        let _ = pipe.write_all(&bytes);
    });
    let output = Output::new(&child.wait_with_output().unwrap());
    writer.join().unwrap();
    output
}

/// Writes a file, with its folder.
pub(crate) fn put(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

pub(crate) fn read_json(path: &Path) -> Value {
    serde_json::from_str(&read(path)).unwrap()
}

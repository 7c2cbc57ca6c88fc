//! A private home with a project, and the program run in it as the client would run it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use overtone_core::registry::Hook;
use serde_json::{Value, json};

use crate::dist;
use crate::error::{Error, Result};

/// Replaces the program's limits for locks and input in debug builds, so that a busy machine does not decide a run.
/// It is only there to end a wait that would never end: ten minutes.
const PATIENCE: (&str, &str) = ("OVERTONE_TEST_PATIENCE", "600");

/// Everything lies below one folder; nothing is inherited from whoever runs this.
#[derive(Debug, Clone)]
pub(crate) struct Sandbox {
    root: PathBuf,
    binary: PathBuf,
}

impl Sandbox {
    pub(crate) fn create(root: PathBuf, binary: &Path) -> Result<Self> {
        let sandbox = Self { root, binary: binary.to_owned() };
        for folder in [sandbox.overtone_home(), sandbox.project()] {
            fs::create_dir_all(&folder).map_err(|e| Error::io("cannot create folder", &folder, &e))?;
        }
        Ok(sandbox)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(crate) fn overtone_home(&self) -> PathBuf {
        self.home().join(".overtone")
    }

    pub(crate) fn binary(&self) -> &Path {
        &self.binary
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    pub(crate) fn session(&self, id: &str) -> PathBuf {
        self.overtone_home().join("sessions").join(id)
    }

    /// The program with arguments, in the project, with nothing on stdin and nothing shown. Hooks run in the hook
    /// program, as the client starts them.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        if arguments.first() == Some(&"hook") {
            return self.command_of(&dist::hook_program(&self.binary), arguments);
        }
        self.command_of(&self.binary, arguments)
    }

    /// The same surroundings for another program, such as another version or a tool around it.
    pub(crate) fn command_of(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.project())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.home())
            .env("OVERTONE_HOME", self.overtone_home())
            .env("OVERTONE_NO_DASHBOARD", "1")
            .env("CLAUDE_PROJECT_DIR", self.project())
            .env(PATIENCE.0, PATIENCE.1)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end, which must be a success, and returns what it printed.
    pub(crate) fn succeed(&self, arguments: &[&str]) -> Result<String> {
        let output = self.command(arguments).output();
        let output = output.map_err(|e| Error::new(format!("cannot run {arguments:?}: {e}")))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(Error::new(format!("{arguments:?} ended with {}: {}", output.status, said.trim())))
    }

    /// Runs a hook to its end and returns its answer; anything but exit code 0 and one JSON value is an error.
    pub(crate) fn hook(&self, hook: Hook, payload: &Value) -> Result<Value> {
        let name = hook.name();
        let child = feed(&mut self.command(&["hook", name]), &payload.to_string())?;
        let output =
            child.wait_with_output().map_err(|e| Error::new(format!("cannot wait for {name}: {e}")))?;
        if !output.status.success() {
            return Err(Error::new(format!("{name} ended with {}", output.status)));
        }
        serde_json::from_slice(&output.stdout).map_err(|e| Error::new(format!("{name}: {e}: {output:?}")))
    }

    /// What the client writes to a hook's stdin.
    pub(crate) fn event(&self, session: &str, hook: Hook, fields: Value) -> Value {
        let transcript = self.root.join(format!("{session}.jsonl"));
        client_input(session, &transcript, &self.project(), Some(hook), fields)
    }
}

/// What the client writes to a program's stdin: the fields that it always sends, those of every hook, then its own.
pub(crate) fn client_input(
    session: &str,
    transcript: &Path,
    project: &Path,
    hook: Option<Hook>,
    fields: Value,
) -> Value {
    let mut input = json!({ "session_id": session, "transcript_path": transcript, "cwd": project });
    if let Some(hook) = hook {
        input["permission_mode"] = json!("default");
        input["hook_event_name"] = json!(hook.event());
    }
    if let (Value::Object(all), Value::Object(own)) = (&mut input, fields) {
        all.extend(own);
    }
    input
}

/// Starts a command with a text on its stdin. A program that does not read it is not an error here.
pub(crate) fn feed(command: &mut Command, text: &str) -> Result<Child> {
    let mut child = command
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|e| Error::new(format!("cannot start {}: {e}", command.get_program().display())))?;
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(text.as_bytes());
    }
    Ok(child)
}

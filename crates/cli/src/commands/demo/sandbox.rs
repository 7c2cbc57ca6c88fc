//! The temporary folder with a home and a project. Every process of the demo is started through it.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use overtone_core::engine::state::WorkflowState;
use overtone_core::messages::Lang;
use overtone_core::registry::Hook;
use overtone_store::config::{Config, keys};
use overtone_store::{Home, SessionId};
use serde_json::Value;
use tempfile::TempDir;

use super::error::HookError;
use super::payload::{self, SESSION, TRANSCRIPT};
use super::process;
use crate::ui::error::{CommandError, CommandResult};

#[derive(Debug)]
pub(super) struct Sandbox {
    lang: Lang,
    /// Removed when it is dropped.
    folder: TempDir,
    /// The same path without symbolic links: specs behind one are not read.
    root: PathBuf,
    program: PathBuf,
}

/// The answer of a hook and its duration.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) hook: Hook,
    pub(super) json: Value,
    pub(super) took: Duration,
}

impl Sandbox {
    pub(super) fn new(lang: Lang) -> CommandResult<Self> {
        let io_error = |error: io::Error| CommandError::io(lang, &env::temp_dir(), &error);
        let folder = tempfile::Builder::new().prefix("overtone-demo-").tempdir().map_err(io_error)?;
        let root = folder.path().canonicalize().map_err(io_error)?;
        let program = env::current_exe().map_err(io_error)?;
        let sandbox = Self { lang, folder, root, program };
        fs::create_dir(sandbox.project()).map_err(io_error)?;
        // The demo starts no server.
        Config::set(&sandbox.home(), keys::DASHBOARD_ENABLED, false)
            .map_err(|error| CommandError::new(error.to_string()))?;
        Ok(sandbox)
    }

    pub(super) fn project(&self) -> PathBuf {
        self.root.join("login-page")
    }

    pub(super) const fn lang(&self) -> Lang {
        self.lang
    }

    /// Where the client writes the conversation of an agent.
    pub(super) fn agent_transcript(&self, agent_id: &str) -> PathBuf {
        let folder = self.root.join(TRANSCRIPT).with_extension("");
        folder.join("subagents").join(format!("agent-{agent_id}.jsonl"))
    }

    fn home(&self) -> Home {
        Home::at(self.root.join("overtone"))
    }

    /// The state on disk; `None` if it is missing or unreadable.
    pub(super) fn workflow(&self) -> Option<WorkflowState> {
        let session = self.home().session(&SessionId::parse(SESSION)?);
        session.workflow().ok()?.map(|document| document.state)
    }

    /// Sends an event to its hook, as the client does.
    pub(super) fn run_hook(&self, hook: Hook, payload: &Value) -> Result<Answer, HookError> {
        let input = payload::event_json(hook, &self.project(), payload).to_string();
        let (stdout, took) = self.run(hook.name(), &["hook", hook.name()], &input)?;
        let unreadable = |_| HookError::NotJson { name: hook.name().to_owned(), text: stdout.clone() };
        let json = serde_json::from_str(&stdout).map_err(unreadable)?;
        Ok(Answer { hook, json, took })
    }

    /// Runs an `overtone` command line, as the Bash tool does.
    pub(super) fn run_command_line(&self, line: &str) -> Result<String, HookError> {
        let words: Vec<_> = line.split_whitespace().skip(1).collect();
        self.run(line, &words, "").map(|(stdout, _)| stdout)
    }

    fn run(&self, name: &str, arguments: &[&str], input: &str) -> Result<(String, Duration), HookError> {
        let ended = process::run(name, self.command().args(arguments), input)?;
        let name = name.to_owned();
        if !ended.status.success() {
            return Err(HookError::BadExit { name, status: ended.status.to_string() });
        }
        if !ended.stderr.is_empty() {
            return Err(HookError::Complained { name, text: ended.stderr });
        }
        Ok((ended.stdout, ended.took))
    }

    /// The environment is cleared, so nothing of the user's is touched.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(self.project()).env_clear().env("OVERTONE_NO_DASHBOARD", "1");
        command.env("HOME", &self.root).env("OVERTONE_HOME", self.home().root());
        command.env("TMPDIR", &self.root).env("OVERTONE_LANG", self.lang.tag());
        command.env("CLAUDE_PROJECT_DIR", self.project()).env("CLAUDE_CODE_SESSION_ID", SESSION);
        command
    }

    /// Leaves the folder in place.
    pub(super) fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    pub(super) fn remove(self) -> CommandResult {
        let path = self.folder.path().to_owned();
        self.folder.close().map_err(|error| CommandError::io(self.lang, &path, &error))
    }
}

/// The folder of the archived feature, relative to the project.
pub(super) fn archived_folder(project: &Path) -> Option<String> {
    let archive = Path::new("specs/features/archive");
    let entry = fs::read_dir(project.join(archive)).ok()?.find_map(Result::ok)?;
    Some(archive.join(entry.file_name()).display().to_string())
}

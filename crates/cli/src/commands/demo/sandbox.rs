//! The temporary folder with a home and a project, and the only way to start this program in it.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use overtone_engine::state::WorkflowState;
use overtone_messages::Lang;
use overtone_registry::Hook;
use overtone_store::config::Config;
use overtone_store::{Home, SessionId};
use serde_json::Value;
use tempfile::TempDir;

use super::payload::{self, SESSION};
use super::process;
use super::stop::Problem;
use crate::ui::error::Failure;

#[derive(Debug)]
pub(super) struct Sandbox {
    lang: Lang,
    /// Removed when it is dropped.
    folder: TempDir,
    /// The same, without symbolic links: specs are not looked for behind one.
    root: PathBuf,
    program: PathBuf,
}

/// What a hook said, and how long it took.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) hook: Hook,
    pub(super) json: Value,
    pub(super) took: Duration,
}

impl Sandbox {
    pub(super) fn new(lang: Lang) -> Result<Self, Failure> {
        let cannot = |error: io::Error| Failure::io(lang, &env::temp_dir(), &error);
        let folder = tempfile::Builder::new().prefix("overtone-demo-").tempdir().map_err(cannot)?;
        let root = folder.path().canonicalize().map_err(cannot)?;
        let program = env::current_exe().map_err(cannot)?;
        let sandbox = Self { lang, folder, root, program };
        fs::create_dir(sandbox.project()).map_err(cannot)?;
        // A demo starts no server.
        Config::set(&sandbox.home(), "dashboard.enabled", "false")
            .map_err(|error| Failure::new(error.to_string()))?;
        Ok(sandbox)
    }

    pub(super) fn project(&self) -> PathBuf {
        self.root.join("login-page")
    }

    fn home(&self) -> Home {
        Home::at(self.root.join("overtone"))
    }

    /// The state on disk, if there is one that can be read.
    pub(super) fn workflow(&self) -> Option<WorkflowState> {
        let session = self.home().session(&SessionId::parse(SESSION)?);
        session.workflow().ok()?.map(|document| document.state)
    }

    /// Sends an event to its hook, as the client does.
    pub(super) fn call(&self, hook: Hook, payload: &Value) -> Result<Answer, Problem> {
        let input = payload::complete(hook, &self.project(), payload).to_string();
        let (stdout, took) = self.run(hook.name(), &["hook", hook.name()], &input)?;
        let unreadable = |_| Problem::NotJson { name: hook.name().to_owned(), text: stdout.clone() };
        let json = serde_json::from_str(&stdout).map_err(unreadable)?;
        Ok(Answer { hook, json, took })
    }

    /// Runs a command line of ours, as the Bash tool does.
    pub(super) fn command_line(&self, line: &str) -> Result<String, Problem> {
        let words: Vec<_> = line.split_whitespace().skip(1).collect();
        self.run(line, &words, "").map(|(stdout, _)| stdout)
    }

    fn run(&self, name: &str, arguments: &[&str], input: &str) -> Result<(String, Duration), Problem> {
        let ended = process::run(name, self.command().args(arguments), input)?;
        let name = name.to_owned();
        if !ended.status.success() {
            return Err(Problem::BadExit { name, status: ended.status.to_string() });
        }
        if !ended.stderr.is_empty() {
            return Err(Problem::Complained { name, text: ended.stderr });
        }
        Ok((ended.stdout, ended.took))
    }

    /// Nothing of the person's environment gets in, so nothing of theirs is touched.
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

    pub(super) fn remove(self) -> Result<(), Failure> {
        let path = self.folder.path().to_owned();
        self.folder.close().map_err(|error| Failure::io(self.lang, &path, &error))
    }
}

/// The folder of the archived feature, relative to the project.
pub(super) fn archived(project: &Path) -> Option<String> {
    let archive = Path::new("specs/features/archive");
    let entry = fs::read_dir(project.join(archive)).ok()?.find_map(Result::ok)?;
    Some(archive.join(entry.file_name()).display().to_string())
}

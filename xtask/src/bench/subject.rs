//! The programs that are measured, each with its fixture, and how one of them is started.

use std::cell::Cell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use overtone_core::registry::Hook;

use super::cases::Entry;
use super::fixture::{OVERTONE_HOME, Place, SESSION};
use super::role::Role;
use crate::error::{Error, Result};

/// A program with everything it needs.
#[derive(Debug)]
pub(crate) struct Subject {
    pub role: Role,
    program: PathBuf,
    place: Place,
    home: PathBuf,
    stdin: Option<PathBuf>,
    /// What its starts are undone by; a switch is undone by the next one.
    pub snapshot: Option<usize>,
    /// Which of the two providers the next switch is to.
    to_second: Cell<bool>,
}

impl Subject {
    pub(crate) fn new(role: Role, program: PathBuf, place: Place) -> Self {
        let home = place.path("home");
        Self { role, program, place, home, stdin: None, snapshot: None, to_second: Cell::new(false) }
    }

    #[must_use]
    pub(crate) fn reading(mut self, stdin: PathBuf) -> Self {
        self.stdin = Some(stdin);
        self
    }

    #[must_use]
    pub(crate) fn at_home(mut self, home: PathBuf) -> Self {
        self.home = home;
        self
    }

    #[must_use]
    pub(crate) fn undone_by(mut self, snapshot: usize) -> Self {
        self.snapshot = Some(snapshot);
        self
    }

    pub(crate) fn label(&self) -> String {
        self.role.label()
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// What it is given to read, as bytes.
    pub(crate) fn payload(&self) -> Result<Vec<u8>> {
        let Some(path) = &self.stdin else { return Ok(Vec::new()) };
        fs::read(path).map_err(|e| Error::io("cannot read payload", path, &e))
    }

    /// The client's settings, as they are now.
    pub(crate) fn settings(&self) -> Option<String> {
        fs::read_to_string(self.home.join(".claude/settings.json")).ok()
    }

    /// The command as the client would start it: payload on stdin, a private home, nothing inherited.
    pub(crate) fn command(&self) -> Result<Command> {
        self.command_under(&[])
    }

    /// The same, run by another program.
    pub(crate) fn command_under(&self, wrapper: &[&str]) -> Result<Command> {
        let mut command = match wrapper {
            [] => Command::new(&self.program),
            [program, arguments @ ..] => {
                let mut command = Command::new(program);
                command.args(arguments).arg(&self.program);
                command
            }
        };
        self.add_arguments(&mut command, !wrapper.is_empty());
        self.set_environment(&mut command);
        command.stdin(self.open_stdin()?).stdout(Stdio::null());
        Ok(command)
    }

    fn add_arguments(&self, command: &mut Command, is_watched: bool) {
        match self.role {
            Role::Baseline(_) => {}
            Role::Rival(rival) => _ = command.args(rival.options()).arg(self.place.beside(rival.file_name())),
            Role::Case(case, _) => _ = command.args(case.entry.arguments()),
            Role::Stop(..) => _ = command.arg("supervisor-hook"),
            // A tool loses sight of a program that becomes another one.
            Role::Switch(_) => _ = command.args(is_watched.then_some("use")).arg(self.next_provider()),
        }
    }

    fn next_provider(&self) -> &'static str {
        self.to_second.set(!self.to_second.get());
        if self.to_second.get() { "b" } else { "a" }
    }

    fn set_environment(&self, command: &mut Command) {
        let project = self.place.path("project");
        command
            .current_dir(&project)
            .env_clear()
            .env("OVERTONE_NO_DASHBOARD", "1")
            .env("PATH", self.search_path())
            .env("HOME", &self.home)
            .env("OVERTONE_HOME", self.place.path(OVERTONE_HOME))
            .env("CLAUDE_PROJECT_DIR", &project)
            .env("CLAUDE_CODE_SESSION_ID", SESSION);
        match self.role {
            Role::Case(case, _) if case.entry == Entry::Hook(Hook::OnStart) => {
                command.env("CLAUDE_ENV_FILE", self.place.path("env.sh"));
            }
            Role::Stop(stop, _) => _ = command.envs(stop.variable()),
            _ => {}
        }
    }

    /// For `ccc`, its own folder comes first: the client is there.
    fn search_path(&self) -> String {
        let system = "/usr/local/bin:/usr/bin:/bin";
        match (self.role, self.program.parent()) {
            (Role::Stop(..) | Role::Switch(_), Some(bin)) => format!("{}:{system}", bin.display()),
            _ => system.to_owned(),
        }
    }

    fn open_stdin(&self) -> Result<Stdio> {
        let Some(path) = &self.stdin else {
            return Ok(Stdio::null());
        };
        let file = File::open(path).map_err(|e| Error::io("cannot read payload", path, &e))?;
        Ok(file.into())
    }
}
